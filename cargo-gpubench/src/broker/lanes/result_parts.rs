//! The parts of a case's result, and the record that they make.

use std::collections::BTreeMap;

use gpubench::catalog::Execution;

use super::context::LaneContext;
use crate::broker::recording::preparation::PreparedCase;
use gpubench_contract::{BenchmarkComplete, CallAudit, Counts, KernelUse};
use gpubench_measure::measurement::{CaseFailure, Figures, Outcome};

/// The parts of a case's result.
pub(super) struct ResultParts<'r> {
    pub(super) outcome: Outcome,
    /// What was measured, and of which case. `None` if nothing was.
    pub(super) figures: Option<(&'r PreparedCase, Figures<'r>)>,
    pub(super) kernels: Option<Vec<KernelUse>>,
    pub(super) own_library_sha256: Option<String>,
    /// Hardware metrics by name, if they were read.
    pub(super) hardware: Option<BTreeMap<String, f64>>,
    pub(super) audit: Option<CallAudit>,
}

impl From<CaseFailure> for ResultParts<'_> {
    /// The parts of a case that was not measured.
    fn from(failure: CaseFailure) -> Self {
        ResultParts {
            outcome: failure.into(),
            figures: None,
            kernels: None,
            own_library_sha256: None,
            hardware: None,
            audit: None,
        }
    }
}

impl ResultParts<'_> {
    /// Returns the number of samples.
    pub(super) fn sample_count(&self) -> usize {
        self.figures.as_ref().map_or(0, |(_, figures)| figures.sample_count())
    }

    /// Returns the record of these parts, with the rest of `unmeasured`.
    pub(super) fn record(self, context: LaneContext<'_>, unmeasured: BenchmarkComplete) -> BenchmarkComplete {
        let Some((prepared, figures)) = self.figures else {
            return self.outcome.record(unmeasured);
        };
        let is_timed = context.settings.mode.is_timed();
        let record = figures.record(self.outcome, unmeasured);
        BenchmarkComplete {
            event_overhead_ns: record.event_overhead_ns.filter(|_| is_timed),
            conservation: record.conservation.filter(|_| is_timed),
            counts: counts(context, prepared, record.counts, self.hardware),
            kernels: self.kernels,
            own_library_sha256: self.own_library_sha256,
            audit: self.audit,
            ..record
        }
    }
}

/// Returns the counts of a result and its hardware metrics, with what counted them and what was
/// counted.
fn counts(
    context: LaneContext<'_>,
    prepared: &PreparedCase,
    counted: Option<Counts>,
    hardware: Option<BTreeMap<String, f64>>,
) -> Option<Counts> {
    let counters = &context.settings.counters;
    let counted = counted.map(|mut counts| {
        if counts.memory.is_empty() {
            counts.counted_by = counters.instructions.clone().unwrap_or_default();
            prepared.machine_code.note(&mut counts);
        } else {
            counts.counted_by = counted_memory(prepared.recorded.recording.execution).to_owned();
        }
        counts
    });
    let Some(hardware) = hardware else { return counted };
    let counts = counted.unwrap_or_else(|| Counts {
        counted_by: counters.hardware.clone().unwrap_or_default(),
        ..Counts::default()
    });
    Some(Counts { hardware, ..counts })
}

/// Returns what counted memory: only host code allocates some.
fn counted_memory(execution: Execution) -> &'static str {
    if execution.is_hosted() {
        "the activity records of CUPTI"
    } else {
        "the plan of the call"
    }
}
