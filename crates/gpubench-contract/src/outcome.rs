//! The words for how a case ends: verdict, cause and grade, and why sampling stopped.
//!
//! The words are part of the schema. A word is never renamed or reused; new ones may be added.

use std::fmt;

use super::words::{shown_by_word, words};

words! {
    /// How a case ended.
    pub enum Verdict {
        /// Every output of every call was correct, complete at the end of the call, and unchanged
        /// afterwards.
        Pass = "pass",
        /// An output differs from the expected one by more than its tolerance, or the kernel wrote
        /// outside its buffers.
        WrongOutput = "wrong-output",
        /// An output was not complete at the end of the call, or changed afterwards.
        LateWrite = "late-write",
        /// The worker's claimed times disagree with the referee's clock by more than the bound.
        /// Only a GPU has such a clock. If the first measurement of a case ends like this, the case
        /// is measured a second time, and the second measurement counts.
        TimeMismatch = "time-mismatch",
        /// A sample is too short to move the declared bytes at the device's peak bandwidth. This
        /// needs a GPU: the CPU device has no known peak bandwidth.
        BelowFloor = "below-floor",
        /// The kernel faulted, or its process ended. With `--sanitize`: compute-sanitizer found an
        /// error in the kernel, even if the outputs are right.
        Crashed = "crashed",
        /// A call did not end within `--timeout`.
        Timeout = "timeout",
        /// The worker sent something impossible, sent nothing where it had to, or kept working
        /// after its call had ended. If it seems to have kept working, the case is measured a
        /// second time, and the second measurement counts.
        ProtocolViolation = "protocol-violation",
        /// The case did not run: a requirement is not met, or the benchmark skipped itself.
        Skipped = "skipped",
        /// The case could not be judged: the benchmark function, its plan, a generator, the
        /// reference, a compiler or this tool failed. Also if its check is too weak, or if `--deny`
        /// or `--require-grade` rejects it.
        Error = "error",
    }
}

impl Verdict {
    /// Whether the case counts as failed: everything but [`Verdict::Pass`] and
    /// [`Verdict::Skipped`].
    pub const fn is_failure(self) -> bool {
        !matches!(self, Verdict::Pass | Verdict::Skipped)
    }
}

words! {
    /// Why a case did not pass.
    pub enum Cause {
        /// The output still holds the noise that the tool wrote there before the call. An in-out
        /// tensor still holds its input.
        Unwritten = "unwritten",
        /// The output is the correct answer to the previous call.
        Stale = "stale",
        /// The output is the correct answer to the first call of the case.
        Cached = "cached",
        /// Part of the output still holds the noise that the tool wrote there before the call.
        Partial = "partial",
        /// Every element has the same value, and the expected ones differ.
        Constant = "constant",
        /// Elements are NaN or infinite where finite numbers are expected.
        NonFinite = "non-finite",
        /// Elements differ by more than the tolerance, and no other cause fits.
        Mismatch = "mismatch",
        /// The digest of the output right after the call differs from the digest of the output that
        /// was checked later.
        Incomplete = "incomplete",
        /// Bytes of an output changed after the call had ended.
        Late = "late",
        /// The call took less time than the declared bytes need at peak bandwidth.
        BelowBandwidth = "below-bandwidth",
        /// The kernel read or wrote memory outside a buffer. It faulted, or it changed bytes of a
        /// redzone, the noise around a buffer.
        OutOfBounds = "out-of-bounds",
        /// The kernel wrote to an input or a constant.
        InputWritten = "input-written",
        /// Threads of a block wait at a barrier that other threads never reach.
        BarrierDivergence = "barrier-divergence",
        /// An integer was divided by zero.
        DivisionByZero = "division-by-zero",
        /// A thread used more stack than it has.
        StackOverflow = "stack-overflow",
        /// The kernel executed an instruction that does not exist.
        IllegalInstruction = "illegal-instruction",
        /// The kernel stopped itself: a trap or a failed `assert`.
        Trap = "trap",
        /// The kernel accessed an address that is not a multiple of the access's size. Only a GPU
        /// reports it.
        MisalignedAccess = "misaligned-access",
        /// Threads accessed the same shared memory without a barrier between them, and one of them
        /// wrote. Only `--sanitize racecheck` finds it.
        DataRace = "data-race",
        /// The kernel read memory that nobody had written. Only `--sanitize initcheck` finds it.
        UninitializedRead = "uninitialized-read",
        /// compute-sanitizer found an error for which there is no other word.
        SanitizerFinding = "sanitizer-finding",
        /// The GPU reported a failed launch without a reason.
        LaunchFailed = "launch-failed",
        /// The GPU reported a memory error while the kernel ran.
        EccError = "ecc-error",
        /// The call of a hosted benchmark returned an error or panicked.
        CallFailed = "call-failed",
        /// A hosted benchmark made a context current that is not the device's primary one.
        ForeignContext = "foreign-context",
        /// The function of a hosted benchmark failed or panicked, or did not declare exactly one
        /// call. Or its own library is missing, cannot be opened, or lacks the function.
        SetupFailed = "setup-failed",
        /// A signal killed the worker, but no fault of the kernel was the reason.
        Killed = "killed",
        /// The worker process exited.
        Exited = "exited",
        /// The tensors do not fit into the device's memory.
        OutOfMemory = "out-of-memory",
        /// The call took longer than `--timeout`.
        Slow = "slow",
        /// The reported time is shorter than the referee's clock allows.
        ClaimTooShort = "claim-too-short",
        /// A message from the worker is malformed, out of order or missing.
        BadMessage = "bad-message",
        /// A claimed time is zero, negative, not a number, longer than its window or, on a GPU,
        /// shorter than the time between two events with nothing between them.
        BadClaim = "bad-claim",
        /// Control windows took longer while the worker was alive, or an output changed in them.
        /// Two measurements found this. If only the first found it, the case passes with the grade
        /// `unverified`.
        WorksBetweenWindows = "works-between-windows",
        /// `--audit` saw a launch of a kernel that the launch plan does not have, or not so often.
        UnplannedLaunch = "unplanned-launch",
        /// The device does not have what the benchmark requires, or cannot run what the kernel
        /// uses.
        Unsupported = "unsupported",
        /// Reserved: the benchmark is marked `ignore`.
        Ignored = "ignored",
        /// The benchmark function failed or panicked while it described its launches.
        RecordingFailed = "recording-failed",
        /// The benchmark function did not return within `--reference-timeout`.
        RecordingTimeout = "recording-timeout",
        /// A submission cannot be read, or does not say how it is launched.
        SubmissionInvalid = "submission-invalid",
        /// The plan is impossible. For example, it has an unknown kernel, a block with too many
        /// threads, a range outside its buffer, or a launch that the device cannot do.
        PlanInvalid = "plan-invalid",
        /// The benchmark function described two different calls when it ran twice.
        NotReproducible = "not-reproducible",
        /// A kernel source, or one instantiation in it, does not compile. The message quotes the
        /// compiler. Cases that do not use it still run.
        CompileFailed = "compile-failed",
        /// A disk was full while kernels were compiled.
        DiskFull = "disk-full",
        /// No compiler for the device's kernels was found.
        CompilerMissing = "compiler-missing",
        /// The reference or the check failed, panicked or crashed.
        ReferenceFailed = "reference-failed",
        /// The reference or the check did not return within `--reference-timeout`.
        ReferenceTimeout = "reference-timeout",
        /// An input generator failed, panicked or crashed.
        GeneratorFailed = "generator-failed",
        /// An input generator did not return within `--reference-timeout`.
        GeneratorTimeout = "generator-timeout",
        /// The check cannot tell right from wrong. In every call all outputs had one and the same
        /// value, so a kernel that ignores its inputs would pass, or all elements of an output were
        /// NaN or infinite as expected. Or an output's tolerance accepts zeros, and the answers to
        /// other inputs, or one of them if nobody wrote it. Set a tighter tolerance, or use inputs
        /// that change the answer more.
        BlindCheck = "blind-check",
        /// The case has a notice about its check or its audit, and `--deny notices` is set.
        DeniedNotice = "denied-notice",
        /// The grade of the case is lower than `--require-grade` asks for.
        GradeTooLow = "grade-too-low",
        /// The condition of `requires(if = ..)` does not hold for the axes, or the benchmark
        /// skipped itself.
        NotApplicable = "not-applicable",
        /// The process that runs the crate's CPU code ended while it was needed.
        AuthorFailed = "author-failed",
        /// The referee could not do its part.
        RefereeFailed = "referee-failed",
        /// Every GPU that could have measured the case failed: it can no longer be opened.
        DeviceLost = "device-lost",
        /// The sanitizer or the profiler failed, so it is unknown what it would have found.
        ObserverFailed = "observer-failed",
        /// The worker could not be started or set up.
        WorkerFailed = "worker-failed",
        /// Reserved: the run was interrupted before the case had a verdict.
        Interrupted = "interrupted",
        /// This tool failed. Please report it.
        Internal = "internal",
    }
}

impl Cause {
    /// Returns the verdicts that a case with this cause can have. Empty if the cause is reserved.
    pub const fn verdicts(self) -> &'static [Verdict] {
        match self {
            Cause::Unwritten
            | Cause::Stale
            | Cause::Cached
            | Cause::Partial
            | Cause::Constant
            | Cause::NonFinite
            | Cause::Mismatch => &[Verdict::WrongOutput],
            Cause::OutOfBounds => &[Verdict::WrongOutput, Verdict::Crashed],
            Cause::Late | Cause::Incomplete => &[Verdict::LateWrite],
            Cause::ClaimTooShort => &[Verdict::TimeMismatch],
            Cause::BelowBandwidth => &[Verdict::BelowFloor],
            Cause::InputWritten
            | Cause::BarrierDivergence
            | Cause::DivisionByZero
            | Cause::StackOverflow
            | Cause::IllegalInstruction
            | Cause::Trap
            | Cause::MisalignedAccess
            | Cause::DataRace
            | Cause::UninitializedRead
            | Cause::SanitizerFinding
            | Cause::LaunchFailed
            | Cause::EccError
            | Cause::CallFailed
            | Cause::Killed
            | Cause::Exited => &[Verdict::Crashed],
            Cause::Slow => &[Verdict::Timeout],
            Cause::BadMessage
            | Cause::BadClaim
            | Cause::ForeignContext
            | Cause::WorksBetweenWindows
            | Cause::UnplannedLaunch => &[Verdict::ProtocolViolation],
            Cause::NotApplicable => &[Verdict::Skipped],
            Cause::Unsupported => &[Verdict::Skipped, Verdict::Error, Verdict::Crashed],
            Cause::SetupFailed
            | Cause::OutOfMemory
            | Cause::RecordingFailed
            | Cause::RecordingTimeout
            | Cause::SubmissionInvalid
            | Cause::PlanInvalid
            | Cause::NotReproducible
            | Cause::CompileFailed
            | Cause::CompilerMissing
            | Cause::DiskFull
            | Cause::ReferenceFailed
            | Cause::ReferenceTimeout
            | Cause::GeneratorFailed
            | Cause::GeneratorTimeout
            | Cause::BlindCheck
            | Cause::DeniedNotice
            | Cause::GradeTooLow
            | Cause::AuthorFailed
            | Cause::RefereeFailed
            | Cause::DeviceLost
            | Cause::ObserverFailed
            | Cause::WorkerFailed
            | Cause::Internal => &[Verdict::Error],
            Cause::Ignored | Cause::Interrupted => &[],
        }
    }

    /// Whether a case with this verdict can have this cause.
    pub fn comes_with(self, verdict: Verdict) -> bool {
        self.verdicts().contains(&verdict)
    }
}

words! {
    /// How far the times of a case can be trusted.
    pub enum Grade {
        /// The worker replayed a plan with no user code in its process, and the referee's clock on
        /// the GPU agreed within the bound.
        Sealed = "sealed",
        /// User code launched the kernels inside a closed sandbox. The referee's clock agreed
        /// within the bound, every claim was possible, and nothing ran between calls.
        Sandboxed = "sandboxed",
        /// The times could not be checked fully, for one of four reasons: the referee's clock could
        /// not check them, only the first of two measurements failed, something disturbed the
        /// control windows, or the sandbox around user code could not be closed. Times of the CPU
        /// device are always unverified.
        Unverified = "unverified",
    }
}

impl Grade {
    /// Whether times of this grade are at least as trustworthy as those of `least`.
    pub fn meets(self, least: Grade) -> bool {
        let trust = |grade| match grade {
            Grade::Unverified => 0,
            Grade::Sandboxed => 1,
            Grade::Sealed => 2,
        };
        trust(self) >= trust(least)
    }

    /// Returns the grade of the two that is worth less.
    #[must_use]
    pub fn lower(self, other: Grade) -> Grade {
        if self.meets(other) { other } else { self }
    }
}

words! {
    /// Why sampling stopped. The reasons are ordered from the most to the least conclusive one.
    pub enum StopReason {
        /// The coefficient of variation fell below its target.
        TargetCv = "target-cv",
        /// The 95 % confidence interval of the median is narrow enough.
        MedianInterval = "median-interval",
        /// The 95 % confidence interval of the median lies within one step of the clock that times
        /// the calls.
        ClockTick = "clock-tick",
        /// The coefficient of variation no longer changes, so more samples would not lower it.
        Plateau = "plateau",
        /// `--max-samples` was reached.
        MaxSamples = "max-samples",
        /// The sampled calls of a worker took its share of `--sample-time`.
        SampleTime = "sample-time",
        /// `--max-time` has passed.
        MaxTime = "max-time",
    }
}

shown_by_word!(Verdict, Cause, Grade, StopReason);

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    fn assert_words_agree<T>(all: &[T], word: impl Fn(&T) -> &'static str)
    where
        T: Serialize + for<'a> Deserialize<'a> + fmt::Debug + PartialEq,
    {
        for value in all {
            let json = serde_json::to_value(value).unwrap();
            assert_eq!(json, word(value));
            assert_eq!(&serde_json::from_value::<T>(json).unwrap(), value);
            assert_eq!(
                kebab_case(&format!("{value:?}")),
                word(value),
                "the word is the variant's name"
            );
        }
    }

    fn kebab_case(name: &str) -> String {
        let mut word = String::new();
        for letter in name.chars() {
            if letter.is_uppercase() && !word.is_empty() {
                word.push('-');
            }
            word.extend(letter.to_lowercase());
        }
        word
    }

    #[test]
    fn json_and_display_use_the_words_of_the_schema() {
        assert_words_agree(Verdict::ALL, |verdict| verdict.as_str());
        assert_words_agree(Cause::ALL, |cause| cause.as_str());
        assert_words_agree(Grade::ALL, |grade| grade.as_str());
        assert_words_agree(StopReason::ALL, |reason| reason.as_str());
    }

    #[test]
    fn a_description_is_the_documentation_on_one_line() {
        let late = "An output was not complete at the end of the call, or changed afterwards.";
        assert_eq!(Verdict::LateWrite.describe(), late);
        let texts = Cause::ALL.iter().map(|cause| cause.describe());
        for text in texts.chain(Grade::ALL.iter().map(|grade| grade.describe())) {
            assert!(
                text.ends_with('.') && !text.contains("  ") && !text.contains('\n'),
                "{text}"
            );
        }
    }

    #[test]
    fn every_failure_has_a_cause_and_success_has_none() {
        for verdict in Verdict::ALL {
            let has_a_cause = Cause::ALL.iter().any(|cause| cause.comes_with(*verdict));
            assert_eq!(has_a_cause, *verdict != Verdict::Pass, "{verdict}");
        }
    }

    #[test]
    fn only_pass_and_skipped_do_not_fail_a_run() {
        let harmless: Vec<_> = Verdict::ALL.iter().filter(|verdict| !verdict.is_failure()).collect();
        assert_eq!(harmless, [&Verdict::Pass, &Verdict::Skipped]);
    }

    #[test]
    fn display_honours_width() {
        assert_eq!(format!("[{:<6}]", Verdict::Pass), "[pass  ]");
    }

    #[test]
    fn a_grade_meets_itself_and_every_lower_one() {
        for (position, grade) in Grade::ALL.iter().enumerate() {
            for (least, other) in Grade::ALL.iter().enumerate() {
                assert_eq!(grade.meets(*other), position <= least, "{grade} and {other}");
            }
        }
    }
}
