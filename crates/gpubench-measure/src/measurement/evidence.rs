//! Collects the evidence of an arm.

use std::ops::Range;

use super::case::ReadyCase;
use super::pool::ReadyWorker;
use super::protocol::Protocol;
use crate::clients::{Start, WorkerClient};
use crate::verdict::{
    ControlWindows, Ending, Evidence, Execution, Judgement, TimeUse, WindowEvidence, judge, open_sandbox,
};
use gpubench_protocol::window::Gate;
use gpubench_protocol::wire::Claim;
use gpubench_sandbox::Confinement;

/// The evidence of an arm so far.
#[derive(Debug)]
pub(super) struct EvidenceBuilder<'a> {
    case: &'a ReadyCase<'a>,
    protocol: &'a Protocol<'a>,
    pub(super) windows: Vec<WindowEvidence>,
    /// The warm-up windows of each worker.
    pub(super) warm_ups: Vec<Range<usize>>,
    /// The overhead of an empty measurement, as each worker claims it.
    pub(super) overheads_ns: Vec<f64>,
    pub(super) execution: Execution,
    open_sandboxes: Vec<String>,
    pub(super) ending: Ending,
    /// Number of the last window that this worker had to begin; 0 before its first.
    pub(super) last_call: u32,
}

impl<'a> EvidenceBuilder<'a> {
    pub(super) fn new(case: &'a ReadyCase<'a>, protocol: &'a Protocol<'a>) -> Self {
        EvidenceBuilder {
            case,
            protocol,
            windows: Vec::new(),
            warm_ups: Vec::new(),
            overheads_ns: Vec::new(),
            execution: match case.recording.execution {
                gpubench::catalog::Execution::Sealed => Execution::Sealed,
                gpubench::catalog::Execution::Hosted | gpubench::catalog::Execution::HostedSync => Execution::Hosted(
                    Confinement::Open("the worker did not report that it is closed".to_owned()),
                ),
            },
            open_sandboxes: Vec::new(),
            ending: Ending::Stopped,
            last_call: 0,
        }
    }

    /// Begins the windows of the next worker.
    pub(super) fn begin_turn(&mut self) {
        self.last_call = 0;
        let windows = self.windows.len();
        self.warm_ups.push(windows..windows);
    }

    /// Takes a worker after its set-up. Returns `None` if the set-up of its host code failed.
    pub(super) fn admit(&mut self, ready: ReadyWorker) -> Option<WorkerClient> {
        let ReadyWorker {
            worker,
            confinement,
            start,
        } = ready;
        self.note_confinement(confinement);
        match start {
            Start::Refused(message) => {
                self.ending = Ending::SetUpFailed { message };
                None
            }
            Start::Ready(overhead_ns) => {
                let overhead_ns = Some(overhead_ns).filter(|ns| ns.is_finite() && *ns >= 0.0);
                self.overheads_ns.extend(overhead_ns);
                Some(worker)
            }
        }
    }

    /// Notes a worker's confinement. The case has that of its least confined worker.
    fn note_confinement(&mut self, confinement: Confinement) {
        if self.execution == Execution::Sealed {
            return self.note_sandbox("native kernels", &confinement);
        }
        let is_first = self.warm_ups.len() < 2;
        if is_first || self.execution == Execution::Hosted(Confinement::Closed) {
            self.execution = Execution::Hosted(confinement);
        }
    }

    /// Notes the sandbox of some user code. An open one makes the grade `advisory`.
    pub(super) fn note_sandbox(&mut self, whose: &str, confinement: &Confinement) {
        if let Confinement::Open(reason) = confinement {
            let open = open_sandbox(whose, reason);
            if !self.open_sandboxes.contains(&open) {
                self.open_sandboxes.push(open);
            }
        }
    }

    /// Notes that host code of another contestant lives at the same time, which makes the grade
    /// `advisory`: it could slow this one down.
    pub(super) fn note_hosted_rival(&mut self, name: &str) {
        let reason = format!("host code of {name} could disturb it in the same contest");
        self.open_sandboxes.push(reason);
    }

    /// Counts the last window as warm-up of the current worker.
    pub(super) fn end_warm_up_window(&mut self) {
        let windows = self.windows.len();
        if let Some(warm_up) = self.warm_ups.last_mut() {
            warm_up.end = windows;
        }
    }

    /// Notes that the samples of the last timed windows were thrown away.
    pub(super) fn throw_away(&mut self, samples: usize) {
        let with_samples = self.windows.iter_mut().rev();
        let with_samples =
            with_samples.filter(|window| window.facts.kind.is_timed() && window.time_use == TimeUse::Counts);
        with_samples
            .take(samples)
            .for_each(|window| window.time_use = TimeUse::ThrownAway);
    }

    /// Notes that the last window measured energy.
    pub(super) fn end_energy_window(&mut self) {
        if let Some(last) = self.windows.last_mut() {
            last.time_use = TimeUse::Energy;
        }
    }

    /// Returns the last window.
    pub(super) fn last_window(&self) -> Option<&WindowEvidence> {
        self.windows.last()
    }

    /// Returns the worker's claim for the last window.
    pub(super) fn last_claim(&self) -> Option<&Claim> {
        self.windows.last()?.claim.as_deref()
    }

    /// Judges the last window alone.
    pub(super) fn judge_last(&self) -> Judgement {
        let last = &self.windows[self.windows.len().saturating_sub(1)..];
        let evidence = self.of_windows(last, ControlWindows::default(), Ending::Stopped);
        judge(&evidence, None)
    }

    /// Returns the evidence of all windows so far.
    pub(super) fn of_all_windows<'e>(&'e self, control: ControlWindows<'e>, ending: Ending) -> Evidence<'e> {
        Evidence {
            warm_ups: &self.warm_ups,
            ..self.of_windows(&self.windows, control, ending)
        }
    }

    fn of_windows<'e>(
        &'e self,
        windows: &'e [WindowEvidence],
        control: ControlWindows<'e>,
        ending: Ending,
    ) -> Evidence<'e> {
        Evidence {
            tensors: &self.case.recording.tensors,
            calls: self.case.calls.count,
            scratch: &self.case.recording.plan.scratch,
            windows,
            ending,
            worker: self.warm_ups.len(),
            last_call: self.last_call,
            measurand: self.protocol.reading.measurand,
            execution: &self.execution,
            gate: Gate::of(self.case.recording.execution),
            clock_bound: self.protocol.clock_bound,
            floor_ns: self.case.floor_ns.map(|ns| ns * f64::from(self.case.calls.count.get())),
            warm_ups: &[],
            control,
            other_clients: None,
            open_sandboxes: &self.open_sandboxes,
        }
    }
}
