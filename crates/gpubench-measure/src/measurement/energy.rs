//! The energy of a call, from the device's energy counter over many calls in one window.

use std::num::NonZeroU32;
use std::time::Duration;

use gpubench::catalog::{Execution, Role};

use super::case::ReadyCase;
use gpubench_contract::units::time;
use gpubench_device::telemetry::EnergyReading;
use gpubench_protocol::window::{MOST_LAUNCHES, repeats_in_graphs};

/// Time that the calls should take together. The counter moves every 20 to 100 ms.
const BUSY: Duration = Duration::from_secs(1);

/// Least time that they must take.
const LEAST_BUSY: Duration = Duration::from_millis(200);

/// Notice about a device without an energy counter.
pub(super) const NO_COUNTER: &str = "the energy of a call is unknown: the device has no energy counter";

/// Notice about a case whose calls cannot be repeated.
pub(super) const CHANGES_INPUTS: &str =
    "the energy of a call is unknown: each call changes its inputs, so calls cannot be repeated back to back";

/// The energy of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallEnergy {
    /// In joules.
    pub per_call_j: f64,
    /// The part that other work may have used, in joules.
    pub resolution_j: f64,
}

/// Returns how often a window can repeat its work on the same tensors if it should do so `wanted`
/// times. Host code may not be able to be in a graph.
pub(super) fn repeats_at_most(case: &ReadyCase<'_>, wanted: u32) -> NonZeroU32 {
    let steps = u32::try_from(case.recording.plan.steps.len()).unwrap_or(u32::MAX);
    let steps = steps.max(1);
    match case.recording.execution {
        Execution::Sealed => repeats_in_graphs(wanted, steps),
        Execution::Hosted | Execution::HostedSync => {
            NonZeroU32::new(wanted.min(MOST_LAUNCHES / steps)).unwrap_or(NonZeroU32::MIN)
        }
    }
}

/// Whether each call reads and changes a tensor, so that calls cannot be repeated on the same ones.
pub(super) fn changes_inputs(case: &ReadyCase<'_>) -> bool {
    case.recording.tensors.iter().any(|tensor| tensor.role == Role::InOut)
}

/// Returns how often a window of `window_ns` is repeated so that the counter can follow, or a
/// notice that says why it cannot. `at_most` returns how often it can be repeated, and `within` is
/// the time limit of a window.
pub(super) fn repeats(
    window_ns: f64,
    within: Duration,
    at_most: impl Fn(u32) -> NonZeroU32,
) -> Result<NonZeroU32, String> {
    let busy = BUSY.min(within / 4);
    let wanted = (busy.as_nanos() as f64 / window_ns.max(1.0)).ceil().max(1.0);
    let repeats = at_most(wanted as u32);
    let busy_ns = window_ns * f64::from(repeats.get());
    let least_ns = LEAST_BUSY.as_nanos() as f64;
    if busy_ns < least_ns {
        let (busy, least) = (time(busy_ns), time(least_ns));
        return Err(format!(
            "the energy of a call is unknown: as many calls as fit a window take {busy}, and the energy counter needs {least}"
        ));
    }
    Ok(repeats)
}

/// Returns the energy of a call, from the readings before and after a window in which `calls` calls
/// took `busy_ns`. `None` if the counter went back.
pub(super) fn energy([before, after]: [EnergyReading; 2], busy_ns: f64, calls: f64) -> Option<CallEnergy> {
    let per_call_j = (after.joules - before.joules) / calls;
    let covered_ns = after.at.saturating_duration_since(before.at).as_nanos() as f64;
    let other = (1.0 - busy_ns / covered_ns.max(1.0)).clamp(0.0, 1.0);
    (per_call_j > 0.0 && per_call_j.is_finite()).then_some(CallEnergy {
        per_call_j,
        resolution_j: per_call_j * other,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::simulated_case::Stage;
    use super::*;

    #[test]
    fn calls_are_repeated_for_a_second_or_as_often_as_possible() {
        let at_most = |wanted: u32| NonZeroU32::new(wanted.min(400)).unwrap();
        let within = Duration::from_secs(10);
        let calls = |window_ns| repeats(window_ns, within, at_most).map(NonZeroU32::get);
        assert_eq!(calls(5e6), Ok(200));
        assert_eq!(calls(1e6), Ok(400));
        assert_eq!(calls(3e9), Ok(1));
        let hurried = repeats(5e6, Duration::from_millis(400), at_most).unwrap_err();
        assert!(hurried.contains("take 100.0 ms"), "{hurried}");
        let short = calls(3_000.0).unwrap_err();
        assert!(
            short.contains("take 1.200 ms") && short.contains("needs 200.0 ms"),
            "{short}"
        );
    }

    #[test]
    fn the_energy_is_divided_by_the_calls_and_the_rest_of_the_time_is_its_resolution() {
        let at = Instant::now();
        let reading = |joules, after_ms| EnergyReading {
            joules,
            at: at + Duration::from_millis(after_ms),
        };
        let found = energy([reading(1_000.0, 0), reading(1_500.0, 1_250)], 1e9, 200.0).unwrap();
        assert_eq!(found.per_call_j, 2.5);
        assert!((found.resolution_j - 0.5).abs() < 1e-9, "{found:?}");
        assert_eq!(energy([reading(1_000.0, 0), reading(900.0, 1_250)], 1e9, 200.0), None);
    }

    #[test]
    fn a_window_of_a_fifth_of_a_second_is_long_enough_and_calls_fill_a_second_whatever_their_time() {
        let within = Duration::from_secs(10);
        let calls = |window_ns: f64, most: u32| {
            let at_most = |wanted: u32| NonZeroU32::new(wanted.min(most)).unwrap();
            repeats(window_ns, within, at_most).map(NonZeroU32::get)
        };
        assert_eq!(calls(2e8, 1), Ok(1));
        assert!(calls(199e6, 1).is_err());
        assert_eq!(calls(3e8, 100), Ok(4));
    }

    #[test]
    fn a_call_that_needs_no_energy_has_none() {
        let at = Instant::now();
        for joules in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let readings = [0.0, joules].map(|joules| EnergyReading { joules, at });
            assert_eq!(energy(readings, 1e9, 10.0), None, "{joules}");
        }
    }

    fn stage(execution: Execution, role: Role, steps: usize) -> Stage {
        let span = gpubench::plan::Span {
            buffer: gpubench::plan::BufferId::Tensor(0),
            offset: 0,
            len: 4,
        };
        Stage::of(1).with(|recording| {
            recording.execution = execution;
            recording.tensors[0].role = role;
            recording.plan.steps = vec![gpubench::plan::Step::Memset { target: span, value: 0 }; steps];
        })
    }

    #[test]
    fn only_calls_that_change_their_inputs_cannot_be_repeated() {
        for (role, changes) in [
            (Role::Input, false),
            (Role::Constant, false),
            (Role::Output, false),
            (Role::Scratch, false),
            (Role::InOut, true),
        ] {
            assert_eq!(
                changes_inputs(&stage(Execution::Sealed, role, 1).case()),
                changes,
                "{role:?}"
            );
        }
    }

    #[test]
    fn a_call_is_repeated_as_often_as_its_launches_fit() {
        for (execution, steps, most) in [
            (Execution::Hosted, 0, MOST_LAUNCHES),
            (Execution::Hosted, 1, MOST_LAUNCHES),
            (Execution::HostedSync, 4, MOST_LAUNCHES / 4),
            (Execution::Sealed, 4, repeats_in_graphs(u32::MAX, 4).get()),
        ] {
            let stage = stage(execution, Role::Output, steps);
            let repeats = |wanted| repeats_at_most(&stage.case(), wanted).get();
            assert_eq!(repeats(u32::MAX), most, "{execution:?} {steps}");
            assert_eq!((repeats(3), repeats(0)), (3, 1), "{execution:?} {steps}");
        }
    }
}
