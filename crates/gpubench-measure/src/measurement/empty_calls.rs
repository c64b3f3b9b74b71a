//! The wall time of a call that does nothing: what a window adds to the time of a call that the
//! worker's stream does not hold back.

use super::arm::Context;
use super::case::CasesInTurns;
use super::error::MeasureError;
use super::protocol::Protocol;
use crate::verdict::WindowEvidence;
use gpubench_protocol::window::{Gate, WindowKind, WindowOwner};
use gpubench_stats::median;

/// Number of windows with an empty call.
const EMPTY_CALLS: usize = 9;

/// Whether the empty call of a case is timed. It needs the control worker, since the user's code
/// could slow it down in its own process.
pub(super) fn are_timed(turns: &CasesInTurns<'_>, protocol: &Protocol<'_>) -> bool {
    let is_from_outside = Gate::new(turns.source.recording.execution) == Gate::Host;
    is_from_outside && protocol.takes_times()
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
