//! The control windows of an arm: who runs them, and when.

use std::num::NonZeroU32;
use std::time::Duration;

use super::control_lease::ControlLease;
use super::protocol::Protocol;
use super::run::{RunControls, WorkerRun};
use crate::verdict::{Execution, Surroundings, WindowEvidence};
use gpubench_protocol::window::{ControlPace, MadeCalls, Seeds, WindowId};

/// Number of control windows after the end of the worker under test.
pub(super) const AFTERWARDS: usize = 8;

/// Least number of control windows of a case and of each worker.
const FEWEST: [usize; 2] = [8, 2];

/// Number of control windows of a case and of each worker that is enough if time allows.
const ENOUGH: [usize; 2] = [40, 6];

/// The same if a sample has several calls. They share the bound, so it may be wider.
const ENOUGH_FOR_SEVERAL_CALLS: [usize; 2] = [20, 4];

/// Number of a worker's control windows after which they become sparse. The others only show that
/// the machine has not changed.
const MANY: usize = 8;

/// Most time that a case with slow windows spends on control windows beyond [`FEWEST`].
const PATIENCE: Duration = Duration::from_secs(2);

/// The process that runs control windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// None: the referee's clock does not check the claims.
    Nobody,
    /// The worker under test. It runs only the tool's host code, and its process adds the same time
    /// to both kinds of window.
    Worker,
    /// The control worker. Host code could manipulate control windows in its own process.
    ControlWorker,
}

impl Runner {
    /// Returns the runner for a kind of execution.
    pub(super) fn new(protocol: &Protocol<'_>, execution: &Execution) -> Runner {
        match (protocol.is_clocked(), execution) {
            (false, _) => Runner::Nobody,
            (true, Execution::Sealed) => Runner::Worker,
            (true, Execution::Hosted(_)) => Runner::ControlWorker,
        }
    }
}

/// When an arm has control windows, and those after the end of its last worker.
#[derive(Debug)]
pub(super) struct Controls {
    pub(super) runner: Runner,
    /// Control windows after the end of the worker under test.
    pub(super) afterwards: Vec<WindowEvidence>,
    since: u32,
    /// Time spent on the additional control windows so far.
    pub(super) caught_up_for: Duration,
}

impl Controls {
    pub(super) fn by(runner: Runner) -> Controls {
        Controls {
            runner,
            afterwards: Vec::new(),
            since: 0,
            caught_up_for: Duration::ZERO,
        }
    }

    /// Whether more control windows are possible.
    pub(super) fn can_continue(&self, lease: &ControlLease<'_>) -> bool {
        match self.runner {
            Runner::Nobody => false,
            Runner::Worker => true,
            Runner::ControlWorker => lease.is_there(),
        }
    }

    /// Whether the key draws a control window before the window at `place` of a worker. Counts that
    /// window.
    pub(super) fn is_next(&mut self, seeds: &Seeds, place: WindowId, run: &WorkerRun) -> bool {
        let pace = match run.controls.windows.len() {
            ..MANY => ControlPace::Usual,
            _ => ControlPace::Sparse,
        };
        let is_next = seeds.control_comes_first(place, self.since, pace);
        // The window at `place` is the first one after this control window.
        self.since = if is_next { 1 } else { self.since + 1 };
        is_next
    }

    /// Whether the last of some workers, of which there are `workers` initially, needs more control
    /// windows than the key has drawn. A sample has `calls` calls.
    pub(super) fn needs_more(&self, runs: &[WorkerRun], workers: usize, calls: NonZeroU32) -> bool {
        let turns = u32::try_from(runs.len().min(workers)).unwrap_or(u32::MAX);
        let patience = PATIENCE * turns / u32::try_from(workers).unwrap_or(u32::MAX);
        let each = |[of_case, of_worker]: [usize; 2]| of_case.div_ceil(workers.max(runs.len())).max(of_worker);
        let enough = match calls {
            NonZeroU32::MIN => ENOUGH,
            _ => ENOUGH_FOR_SEVERAL_CALLS,
        };
        let windows = runs.last().map_or(0, |run| run.controls.windows.len());
        windows < each(FEWEST) || windows < each(enough) && self.caught_up_for < patience
    }

    /// Returns what the judge sees of the workers' surroundings.
    pub(super) fn surroundings<'s>(
        &'s self,
        lease: &'s ControlLease<'_>,
        other_clients: Option<u32>,
    ) -> Surroundings<'s> {
        Surroundings {
            controls_afterwards: &self.afterwards,
            shortest_claim_ns: lease.shortest_claim_ns,
            loss: lease.loss.as_deref().filter(|_| self.runner == Runner::ControlWorker),
            rivals: lease.rivals,
            other_clients,
        }
    }
}

impl RunControls {
    /// Adds a control window.
    pub(super) fn add(&mut self, window: WindowEvidence) {
        match window.facts.kind.made_calls() {
            MadeCalls::All => self.windows.push(window),
            MadeCalls::First => self.singles.push(window),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::super::simulated_case::Stage;
    use super::*;
    use crate::clients::MetricRequest;
    use gpubench_contract::MetricKind;
    use gpubench_device::ClockBound;
    use gpubench_protocol::window::WindowKind;
    use gpubench_protocol::wire::WindowFacts;
    use gpubench_sandbox::Confinement;

    fn run(controls: usize) -> WorkerRun {
        let window = WindowEvidence::new(Box::new(WindowFacts::zeroed()), None);
        let mut run = WorkerRun::default();
        run.controls.windows = vec![window; controls];
        run
    }

    #[test]
    fn control_windows_are_drawn_now_and_then_and_seldom_once_there_are_many() {
        let seeds = Seeds::new([1; 32]);
        for (so_far, fewest, most) in [(0, 60, 150), (MANY - 1, 60, 150), (MANY, 20, 60)] {
            let mut controls = Controls::by(Runner::Worker);
            let run = run(so_far);
            let place = |window| WindowId { case: 0, window };
            let drawn = (1..=400).filter(|window| controls.is_next(&seeds, place(*window), &run));
            let drawn = drawn.count();
            assert!((fewest..=most).contains(&drawn), "{drawn} of 400 after {so_far}");
        }
    }

    #[test]
    fn control_windows_are_never_further_apart_than_twice_the_average() {
        for (so_far, farthest) in [(0, 8), (MANY, 24)] {
            let mut controls = Controls::by(Runner::Worker);
            let run = run(so_far);
            let seeds = Seeds::new([1; 32]);
            let drawn: Vec<u32> = (1..=2_000)
                .filter(|window| {
                    controls.is_next(
                        &seeds,
                        WindowId {
                            case: 0,
                            window: *window,
                        },
                        &run,
                    )
                })
                .collect();
            let apart = drawn.windows(2).map(|pair| pair[1] - pair[0]);
            assert_eq!(apart.max(), Some(farthest), "windows between those after {so_far}");
        }
    }

    #[test]
    fn a_worker_gets_its_share_of_control_windows_while_there_is_patience() {
        let (one, several) = (NonZeroU32::MIN, NonZeroU32::new(5).unwrap());
        let (soon, at_last) = (Duration::ZERO, PATIENCE);
        for (calls, workers, windows, spent, needs_more) in [
            (one, 1, 7, at_last, true),
            (one, 1, 8, at_last, false),
            (one, 1, 39, soon, true),
            (one, 1, 40, soon, false),
            (several, 1, 19, soon, true),
            (several, 1, 20, soon, false),
            (one, 5, 7, soon, true),
            (one, 5, 8, soon, false),
            (one, 20, 1, at_last, true),
            (one, 20, 5, soon, true),
            (one, 20, 6, soon, false),
            // Further workers have their share of the case's, too.
            (one, 3, 13, soon, true),
            (one, 3, 14, soon, false),
            // A fifth of the patience is the first worker's.
            (one, 5, 7, PATIENCE / 5, false),
        ] {
            let controls = Controls {
                caught_up_for: spent,
                ..Controls::by(Runner::Worker)
            };
            let found = controls.needs_more(&[run(windows)], workers, calls);
            assert_eq!(
                found, needs_more,
                "{windows} of {workers} workers, {calls} calls, after {spent:?}"
            );
        }
    }

    #[test]
    fn the_loss_of_the_control_worker_matters_only_where_it_was_needed() {
        let lost = "the control worker ended";
        let mut lease = ControlLease::absent();
        lease.loss = Some(lost.to_owned());
        for (runner, loss) in [
            (Runner::Nobody, None),
            (Runner::Worker, None),
            (Runner::ControlWorker, Some(lost)),
        ] {
            let controls = Controls::by(runner);
            assert_eq!(controls.surroundings(&lease, Some(3)).loss, loss, "{runner:?}");
            assert_eq!(controls.surroundings(&lease, Some(3)).other_clients, Some(3));
            assert_eq!(controls.can_continue(&lease), runner == Runner::Worker, "{runner:?}");
        }
    }

    #[test]
    fn control_windows_of_hosted_cases_run_in_a_process_without_host_code() {
        let (clocked, unclocked) = (ClockBound::Exclusive, ClockBound::Absent("it is simulated".into()));
        let stage = Stage::of(1);
        let hosted = [Confinement::Closed, Confinement::Open("no filter".to_owned())].map(Execution::Hosted);
        let executions = [Execution::Sealed].into_iter().chain(hosted);
        for (execution, runner) in executions.zip([Runner::Worker, Runner::ControlWorker, Runner::ControlWorker]) {
            for (clock_bound, kind, expected) in [
                (&clocked, MetricKind::Time, runner),
                (&unclocked, MetricKind::Time, Runner::Nobody),
                (&clocked, MetricKind::Instructions, Runner::Nobody),
            ] {
                let metric = MetricRequest {
                    kind,
                    ..MetricRequest::default()
                };
                let protocol = Protocol {
                    clock_bound,
                    metric,
                    ..stage.protocol()
                };
                assert_eq!(Runner::new(&protocol, &execution), expected, "{execution:?} {kind:?}");
            }
        }
    }

    #[test]
    fn a_control_window_goes_to_the_list_of_its_kind() {
        let mut controls = RunControls::default();
        for (kind, number) in [
            (WindowKind::Control, 2),
            (WindowKind::SingleControl, 3),
            (WindowKind::Empty, 4),
        ] {
            for _ in 0..number {
                let facts = WindowFacts {
                    kind,
                    ..WindowFacts::zeroed()
                };
                controls.add(WindowEvidence::new(Box::new(facts), None));
            }
        }
        let kinds = |windows: &[WindowEvidence]| -> Vec<WindowKind> {
            windows.iter().map(|window| window.facts.kind).collect()
        };
        assert_eq!(kinds(&controls.singles), [WindowKind::SingleControl; 3]);
        let all = [vec![WindowKind::Control; 2], vec![WindowKind::Empty; 4]].concat();
        assert_eq!(kinds(&controls.windows), all);
    }

    #[test]
    fn the_judge_gets_what_the_control_worker_and_the_rivals_left() {
        let mut lease = ControlLease::absent();
        (lease.rivals, lease.shortest_claim_ns) = (2, Some(640.0));
        let mut controls = Controls::by(Runner::ControlWorker);
        controls.afterwards = run(3).controls.windows;
        let Surroundings {
            controls_afterwards,
            shortest_claim_ns,
            loss,
            rivals,
            other_clients,
        } = controls.surroundings(&lease, Some(7));
        assert_eq!(
            (controls_afterwards.len(), shortest_claim_ns, loss),
            (3, Some(640.0), None)
        );
        assert_eq!((rivals, other_clients), (2, Some(7)));
    }
}
