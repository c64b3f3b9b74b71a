//! The wall time of a call that does nothing: what a window adds to the time of a call that the
//! worker's stream does not hold back.

use super::arm::Context;
use super::error::MeasureError;
use super::protocol::Protocol;
use crate::verdict::WindowEvidence;
use gpubench_protocol::window::{Gate, WindowKind, WindowOwner};
use gpubench_stats::median;

/// Number of windows with an empty call.
const EMPTY_CALLS: usize = 9;

/// Whether the empty call of a case is timed. It needs the control worker, since the user's code
/// could slow it down in its own process.
pub(super) fn are_timed(gate: Gate, protocol: &Protocol<'_>) -> bool {
    gate == Gate::Host && protocol.takes_times()
}

/// Returns the median wall time of an empty call in nanoseconds, from windows after the end of the
/// workers under test. `None` if the control worker fails.
///
/// # Errors
/// If anything but the control worker fails.
pub(super) fn median_ns(context: &mut Context<'_>) -> Result<Option<f64>, MeasureError> {
    let mut times_ns = Vec::with_capacity(EMPTY_CALLS);
    for _ in 0..EMPTY_CALLS {
        let window = context.run_in_control_worker(WindowKind::Empty, WindowOwner::default())?;
        times_ns.extend(window.as_ref().and_then(WindowEvidence::elapsed_ns));
    }
    Ok(median(&times_ns).filter(|_| times_ns.len() == EMPTY_CALLS))
}

#[cfg(test)]
mod tests {
    use super::super::control_lease::ControlLease;
    use super::super::run_mode::RunMode;
    use super::super::simulated_case::{Stage, claim, fault, right_facts, until_closed, worker};
    use super::*;
    use crate::clients::ControlWorker;
    use gpubench_contract::MetricKind;
    use gpubench_protocol::wire::WindowOrder;

    #[test]
    fn empty_calls_are_timed_only_for_times_from_outside() {
        for (gate, mode, kind, are_timed) in [
            (Gate::Host, RunMode::Measure, MetricKind::Time, true),
            (Gate::Host, RunMode::Test, MetricKind::Time, false),
            (Gate::Host, RunMode::Measure, MetricKind::Memory, false),
            (Gate::Stream, RunMode::Measure, MetricKind::Time, false),
        ] {
            let stage = Stage::of(1);
            let mut protocol = Protocol {
                mode,
                ..stage.protocol()
            };
            protocol.metric.kind = kind;
            assert_eq!(
                super::are_timed(gate, &protocol),
                are_timed,
                "{gate:?} {mode:?} {kind:?}"
            );
        }
    }

    #[test]
    fn the_time_of_an_empty_call_is_the_median_of_nine_or_unknown() {
        let stage = Stage::of(1);
        let (protocol, case) = (stage.protocol(), stage.case());
        for (right, expected) in [(EMPTY_CALLS, Some(5e3)), (EMPTY_CALLS - 1, None), (0, None)] {
            let claims = move |order: &WindowOrder| {
                let number = order.window - WindowKind::control_window(0) + 1;
                if number as usize <= right {
                    claim(order, 1e3 * f64::from(number))
                } else {
                    fault(order)
                }
            };
            let mut control = ControlWorker::simulated(worker(claims));
            let released = until_closed(
                &protocol,
                &case,
                |order| right_facts(order, 1),
                |context| {
                    let mut context = Context {
                        control: ControlLease::of(&mut control),
                        ..context
                    };
                    assert_eq!(median_ns(&mut context).unwrap(), expected, "{right}");
                },
            );
            assert!(released.iter().all(|order| order.kind == WindowKind::Empty));
        }
    }
}
