//! Cases that are ready to be measured, alone or alternately.

use std::fmt::Debug;
use std::path::PathBuf;

use gpubench::catalog::Recording;

use super::protocol::Protocol;
use super::wrong_call::WrongCallKeeper;
use gpubench_contract::Launching;
use gpubench_device::{FrozenFile, KernelHost};
use gpubench_protocol::window::WindowCalls;
use gpubench_protocol::wire::SourceModule;

/// A case that is ready to be measured.
#[derive(Debug)]
pub struct ReadyCase<'a> {
    /// Number in the run.
    pub number: u64,
    /// Position of the benchmark in its catalog.
    pub benchmark: u32,
    /// The encoded request of the recording.
    pub request: &'a [u8],
    /// The validated recording.
    pub recording: &'a Recording,
    /// The encoded recording.
    pub encoded: &'a [u8],
    /// Compiled kernels of the plan, by position of their source.
    pub modules: &'a [SourceModule],
    /// Compiled kernels of the generators, and of a reference that is a plan.
    pub own_modules: &'a [SourceModule],
    /// The calls of its windows.
    pub calls: WindowCalls,
    /// The least time that a call can take, in nanoseconds, if known.
    pub floor_ns: Option<f64>,
    /// The name of the windows in a profiler, if they are annotated.
    pub annotation: Option<&'a str>,
    /// The cdylib of the case.
    pub library: CaseLibrary<'a>,
}

impl ReadyCase<'_> {
    /// Whether a call has parts that a worker can time one by one, or whose work on a device it may
    /// be able to record.
    pub(super) fn has_parts(&self, protocol: &Protocol<'_>) -> bool {
        if self.recording.execution.may_wait() {
            return protocol.kernels_run_in == KernelHost::Referee;
        }
        self.calls.mode.launching() == Launching::Alone && self.recording.plan.steps.len() > 1
    }
}

/// The user's code, for hosted workers.
#[derive(Clone, Copy, Debug)]
pub struct CaseLibrary<'a> {
    /// The libraries that the cdylib needs, then the cdylib.
    pub files: &'a [FrozenFile],
    /// Folders to search for shared libraries that it loads at run time.
    pub search: &'a [PathBuf],
}

/// Cases that are measured alternately, window by window. A case alone is a list of one. All have
/// the same tensors. Each writes outputs and scratch of its own.
#[derive(Clone, Copy, Debug)]
pub struct CasesInTurns<'a> {
    /// The cases, at most [`MAX_ARMS`](gpubench_protocol::wire::MAX_ARMS).
    pub arms: &'a [TurnCase<'a>],
    /// The case whose inputs and reference all of them use.
    pub source: &'a ReadyCase<'a>,
    /// Decides the number of rounds of several cases. Without it there is one round for each
    /// worker.
    pub question: Option<&'a dyn StoppingQuery>,
}

/// A case that is measured alternately with others.
#[derive(Clone, Copy, Debug)]
pub struct TurnCase<'a> {
    /// The case.
    pub case: &'a ReadyCase<'a>,
    /// What it is in the measurement.
    pub entrant: Entrant<'a>,
}

/// What a case is in a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Entrant<'a> {
    /// Its name in messages about the others: `the candidate`.
    pub name: &'a str,
    /// Why it is measured.
    pub standing: Standing,
    /// Keeps the tensors of its first call with a wrong output, if they are wanted.
    pub keeper: Option<&'a dyn WrongCallKeeper>,
}

/// Why a case is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is judged itself.
    Judged,
    /// Others are compared with it. When no judged case is left, it is not measured further.
    Compared,
}

impl<'a> CasesInTurns<'a> {
    /// Returns the sizes of the scratch allocations of each case, in bytes.
    pub(super) fn scratch(&self) -> impl Iterator<Item = &'a [u64]> {
        self.arms.iter().map(|arm| &arm.case.recording.plan.scratch[..])
    }

    /// Returns the name of a judged case with host code that lives together with the judged case at
    /// `position`.
    pub(super) fn hosted_rival_of(&self, position: usize) -> Option<&'a str> {
        let is_judged = |arm: &TurnCase<'_>| arm.entrant.standing == Standing::Judged;
        let arms = self.arms.iter().enumerate();
        let mut rivals = arms.filter(|(other, arm)| *other != position && is_judged(arm));
        let hosted = rivals.find(|(_, arm)| arm.case.recording.execution.is_hosted());
        hosted
            .filter(|_| is_judged(&self.arms[position]))
            .map(|(_, arm)| arm.entrant.name)
    }

    /// Returns the name of another case whose code lives in a process of its own, and could disturb
    /// the case at `position`: host code, or kernels of the CPU device.
    pub(super) fn rival_with_code_of(&self, position: usize, kernels_run_in: KernelHost) -> Option<&'a str> {
        let mut rivals = self.arms.iter().enumerate().filter(|(other, _)| *other != position);
        let lives = |case: &ReadyCase<'_>| kernels_run_in == KernelHost::Author || case.recording.execution.is_hosted();
        let rival = rivals.find(|(_, arm)| lives(arm.case));
        rival.map(|(_, arm)| arm.entrant.name)
    }

    /// Whether a worker runs the user's host code.
    pub(super) fn holds_host_code(&self) -> bool {
        self.arms.iter().any(|arm| arm.case.recording.execution.is_hosted())
    }
}

/// Decides after a round whether several cases need more rounds.
pub trait StoppingQuery: Debug {
    /// Returns how many rounds to reach after `rounds`, given the samples of each worker of each
    /// case that has not failed. Returns `None` if the result is decided or more rounds would not
    /// help.
    fn next(&self, rounds: usize, arms: &[Vec<&[f64]>]) -> Option<usize>;

    /// Returns the largest number of rounds for cases that begin with `first`.
    fn most(&self, first: usize) -> usize;
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::Execution;
    use gpubench::plan::{BufferId, Span, Step};

    use super::super::simulated_case::Stage;
    use super::*;
    use gpubench_contract::Mode;

    fn stage(execution: Execution, steps: usize) -> Stage {
        let span = Span {
            buffer: BufferId::Tensor(0),
            offset: 0,
            len: 4,
        };
        Stage::of(1).with(|recording| {
            recording.execution = execution;
            recording.plan.steps = vec![Step::Memset { target: span, value: 0 }; steps];
        })
    }

    #[test]
    fn only_calls_of_several_steps_and_calls_timed_from_outside_have_parts() {
        use KernelHost::{Author, Referee};
        for (execution, steps, mode, kernels_run_in, has_parts) in [
            (Execution::Sealed, 1, Mode::Cold, Referee, false),
            (Execution::Sealed, 2, Mode::Cold, Referee, true),
            (Execution::Sealed, 2, Mode::Cold, Author, true),
            (Execution::Sealed, 2, Mode::Graph, Referee, false),
            (Execution::Hosted, 0, Mode::Cold, Referee, false),
            (Execution::HostedSync, 0, Mode::Cold, Referee, true),
            (Execution::HostedSync, 0, Mode::Cold, Author, false),
        ] {
            let stage = stage(execution, steps);
            let mut case = stage.case();
            case.calls.mode = mode;
            let protocol = Protocol {
                kernels_run_in,
                ..stage.protocol()
            };
            assert_eq!(
                case.has_parts(&protocol),
                has_parts,
                "{execution:?} {steps} {mode} {kernels_run_in:?}"
            );
        }
    }

    /// The rivals of each of several cases: one with host code that is judged, and one whose code
    /// is in a process of its own.
    fn rivals(arms: &[(Execution, Standing)], kernels_run_in: KernelHost) -> Vec<[Option<&'static str>; 2]> {
        const NAMES: [&str; 3] = ["first", "second", "third"];
        let stages: Vec<Stage> = arms.iter().map(|(execution, _)| stage(*execution, 1)).collect();
        let cases: Vec<ReadyCase<'_>> = stages.iter().map(Stage::case).collect();
        let standings = arms.iter().map(|(_, standing)| *standing);
        let turns: Vec<TurnCase<'_>> = cases
            .iter()
            .zip(standings)
            .zip(NAMES)
            .map(|((case, standing), name)| TurnCase {
                case,
                entrant: Entrant {
                    name,
                    standing,
                    keeper: None,
                },
            })
            .collect();
        let all = CasesInTurns {
            arms: &turns,
            source: &cases[0],
            question: None,
        };
        let named = |rival: Option<&str>| rival.map(|rival| NAMES.into_iter().find(|name| *name == rival).unwrap());
        (0..arms.len())
            .map(|position| {
                [
                    named(all.hosted_rival_of(position)),
                    named(all.rival_with_code_of(position, kernels_run_in)),
                ]
            })
            .collect()
    }

    #[test]
    fn a_rival_is_another_case_whose_code_could_disturb_this_one() {
        use Execution::{Hosted, HostedSync, Sealed};
        use KernelHost::{Author, Referee};
        use Standing::{Compared, Judged};
        let (first, second) = (Some("first"), Some("second"));
        assert_eq!(rivals(&[(Hosted, Judged)], Author), [[None, None]]);
        assert_eq!(
            rivals(&[(Sealed, Judged), (Sealed, Judged)], Referee),
            [[None, None]; 2]
        );
        assert_eq!(
            rivals(&[(Sealed, Judged), (Sealed, Judged)], Author),
            [[None, second], [None, first]]
        );
        assert_eq!(
            rivals(&[(Sealed, Judged), (HostedSync, Judged)], Referee),
            [[second, second], [None, None]]
        );
        assert_eq!(
            rivals(&[(Hosted, Judged), (Sealed, Judged), (Hosted, Judged)], Referee),
            [[Some("third"), Some("third")], [first, first], [first, first]]
        );
        // An old revision of a case was agreed to, and is itself not judged.
        assert_eq!(
            rivals(&[(Sealed, Judged), (Hosted, Compared)], Referee),
            [[None, second], [None, None]]
        );
        assert_eq!(
            rivals(&[(Hosted, Judged), (Hosted, Compared)], Referee),
            [[None, second], [None, first]]
        );
    }
}
