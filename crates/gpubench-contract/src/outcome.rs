//! The words for how a case ends: verdict, cause and grade, and why its sampling stopped.
//!
//! The words are part of the machine contract: a word is never renamed or reused, new ones may be
//! added.

use std::fmt;

use super::words::{shown_by_word, words};

words! {
    /// How a case ended.
    pub enum Verdict {
        /// Every window's outputs were right, sealed and on time.
        Pass = "pass",
        /// An output differs from the expected one beyond its tolerance, or bytes were written that
        /// are none of the call's.
        WrongOutput = "wrong-output",
        /// An output was still written after the call had been declared done.
        LateWrite = "late-write",
        /// The claimed times and the referee's clock disagree by more than the stated bound.
        TimeMismatch = "time-mismatch",
        /// A sample is shorter than the declared bytes need at the device's peak bandwidth.
        BelowFloor = "below-floor",
        /// The kernel or its worker came to a violent end.
        Crashed = "crashed",
        /// The call did not end within the allowed time.
        Timeout = "timeout",
        /// The worker did not keep to the protocol of a window.
        ProtocolViolation = "protocol-violation",
        /// The case was not run, for the reason in the message.
        Skipped = "skipped",
        /// The case could not be judged: its author's code, its plan, its kernels or this tool
        /// failed first.
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
    /// Why a case did not pass, or was skipped.
    pub enum Cause {
        /// Elements still hold the poison they were given before the call.
        Unwritten = "unwritten",
        /// The output is the right answer to the call before.
        Stale = "stale",
        /// The output is the right answer to the case's first call.
        Cached = "cached",
        /// Part of the output was written and right, the rest was left.
        Partial = "partial",
        /// Every element has the same value where the expected ones differ.
        Constant = "constant",
        /// Elements are NaN or infinite where the expected ones are finite.
        NonFinite = "non-finite",
        /// Elements differ from the expected ones beyond the tolerance.
        Mismatch = "mismatch",
        /// The digest made right behind the call is not that of the output that was checked.
        Incomplete = "incomplete",
        /// `late-write`: bytes of an output changed between two looks after the call had ended.
        Late = "late",
        /// `below-floor`: less time than the declared bytes need at peak bandwidth.
        BelowBandwidth = "below-bandwidth",
        /// Memory outside of a buffer was read or written.
        OutOfBounds = "out-of-bounds",
        /// An input was written.
        InputWritten = "input-written",
        /// Threads of a block waited at a barrier that others never reach.
        BarrierDivergence = "barrier-divergence",
        /// An integer was divided by zero.
        DivisionByZero = "division-by-zero",
        /// A thread's stack did not suffice.
        StackOverflow = "stack-overflow",
        /// The kernel executed an instruction that does not exist.
        IllegalInstruction = "illegal-instruction",
        /// The kernel stopped itself: a trap or a failed assertion.
        Trap = "trap",
        /// An address that is no multiple of the access's size was read or written.
        MisalignedAccess = "misaligned-access",
        /// The GPU gave the kernel up without saying why.
        LaunchFailed = "launch-failed",
        /// The GPU's memory was found damaged while the kernel ran.
        EccError = "ecc-error",
        /// A hosted benchmark's call returned an error or panicked.
        CallFailed = "call-failed",
        /// A hosted benchmark made another context than the device's primary one current.
        ForeignContext = "foreign-context",
        /// A hosted benchmark's function failed or panicked while it set itself up.
        SetupFailed = "setup-failed",
        /// The worker was killed by a signal that its kernel did not raise.
        Killed = "killed",
        /// The worker ended by itself.
        Exited = "exited",
        /// Memory did not suffice.
        OutOfMemory = "out-of-memory",
        /// The kernel did not end within the allowed time.
        Slow = "slow",
        /// More time passed on the referee's clock than the worker claims.
        ClaimTooShort = "claim-too-short",
        /// A worker's message is malformed, out of order or missing.
        BadMessage = "bad-message",
        /// A claimed time is negative, not finite, longer than the window or shorter than what
        /// nothing takes.
        BadClaim = "bad-claim",
        /// The worker went on when no call was under way, and windows that it had no part in showed
        /// it as long as it lived.
        WorksBetweenWindows = "works-between-windows",
        /// The device does not have or support what the benchmark needs.
        Unsupported = "unsupported",
        /// The benchmark is marked `ignore` and was not asked for.
        Ignored = "ignored",
        /// The benchmark function failed or panicked while it described its launches.
        RecordingFailed = "recording-failed",
        /// The benchmark function did not return in time.
        RecordingTimeout = "recording-timeout",
        /// The launch plan asks for something impossible.
        PlanInvalid = "plan-invalid",
        /// A second recording of the same case gave another plan.
        NotReproducible = "not-reproducible",
        /// A kernel source does not compile.
        CompileFailed = "compile-failed",
        /// No compiler was found that could build the kernels.
        CompilerMissing = "compiler-missing",
        /// The CPU reference panicked or returned something of another shape.
        ReferenceFailed = "reference-failed",
        /// The CPU reference did not return in time.
        ReferenceTimeout = "reference-timeout",
        /// An input generator panicked, crashed or returned something of another shape.
        GeneratorFailed = "generator-failed",
        /// An input generator did not return in time.
        GeneratorTimeout = "generator-timeout",
        /// The check cannot tell the kernel from one that writes the same value everywhere: every
        /// output had one value in every call, others were expected, and the tolerance let it pass.
        BlindCheck = "blind-check",
        /// The case has a notice about its check, which the run denies.
        DeniedNotice = "denied-notice",
        /// The grade of the case is lower than the run requires.
        GradeTooLow = "grade-too-low",
        /// The benchmark skipped itself, or what it requires of its axes does not hold.
        NotApplicable = "not-applicable",
        /// The author process ended while it was needed.
        AuthorFailed = "author-failed",
        /// The referee could not do its part.
        RefereeFailed = "referee-failed",
        /// The worker could not be started or set up.
        WorkerFailed = "worker-failed",
        /// The run was interrupted before the case had a verdict.
        Interrupted = "interrupted",
        /// This tool failed; a defect worth reporting.
        Internal = "internal",
    }
}

words! {
    /// How far the times of a case can be trusted.
    pub enum Grade {
        /// The worker replayed a launch plan; no user host code was loaded while the clock ran.
        Sealed = "sealed",
        /// User host code launched the kernels, and the referee's clock agrees within the stated
        /// bound.
        Bracketed = "bracketed",
        /// The clock could not be checked, as always on the CPU device.
        Advisory = "advisory",
    }
}

impl Grade {
    /// Whether times of this grade can be trusted at least as far as those of another.
    pub fn meets(self, least: Grade) -> bool {
        let trust = |grade| match grade {
            Grade::Advisory => 0,
            Grade::Bracketed => 1,
            Grade::Sealed => 2,
        };
        trust(self) >= trust(least)
    }
}

words! {
    /// Why sampling stopped, from the reason that says the most of the samples to the one that says
    /// the least.
    pub enum StopReason {
        /// The coefficient of variation fell below its target.
        TargetCv = "target-cv",
        /// The 95 % interval of the median is narrow enough.
        MedianInterval = "median-interval",
        /// The 95 % interval of the median lies within one step of the clock.
        ClockTick = "clock-tick",
        /// The coefficient of variation has stopped moving: more samples would not change it.
        Plateau = "plateau",
        /// The largest number of samples was reached.
        MaxSamples = "max-samples",
        /// The time for sampling was used up.
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
    fn json_and_display_use_the_words_of_the_contract() {
        assert_words_agree(Verdict::ALL, |verdict| verdict.as_str());
        assert_words_agree(Cause::ALL, |cause| cause.as_str());
        assert_words_agree(Grade::ALL, |grade| grade.as_str());
        assert_words_agree(StopReason::ALL, |reason| reason.as_str());
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
}
