//! The measurement settings of a run, resolved for its device.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::decision::DecisionRule;
use crate::broker::audit::Doorbells;
use crate::broker::device::counters::Counters;
use crate::broker::device::environment::DeviceSetup;
use crate::broker::options::{CaseOptions, MasterSeed, ObserverChoice, RunOptions};
use gpubench_contract::{ContestShare, ThresholdSource};
use gpubench_device::{Backend, ClockBound, DeviceOrder, Facts};
use gpubench_diagnostic::InternalError;
use gpubench_measure::clients::{Interrupt, MetricRequest, ObserverProgram, Output};
use gpubench_measure::clock_lock::ClockLock;
use gpubench_measure::measurement::{Energy, Expectations, Protocol, RunMode};
use gpubench_protocol::window::Seeds;
use gpubench_protocol::wire::Begin;
use gpubench_stats::{InterimAnalyses, StopRule, WarmUpRule, WorkerCountRule};
use gpubench_store::compare::Threshold;

/// How many times longer an observed call may take. Profilers repeat it, and sanitizers check every
/// access.
const OBSERVED: u32 = 30;

/// Time limit of a window that a person debugs: none that anybody notices.
const DEBUGGED_WITHIN: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long calls are audited.
const AUDITED_FOR: Duration = Duration::from_millis(200);

/// The measurement settings of a run.
pub(in crate::broker) struct RunSettings<'a> {
    pub(in crate::broker) options: &'a RunOptions,
    pub(in crate::broker) mode: RunMode,
    pub(in crate::broker) seeds: Seeds,
    /// Bytes to flush before each cold call.
    pub(in crate::broker) flush_bytes: u64,
    pub(in crate::broker) interrupt: &'a Interrupt,
    /// The locked clock in MHz.
    locked_mhz: Option<u32>,
    /// What counts on the device.
    pub(in crate::broker) counters: Counters,
    /// The program that observes the calls.
    observer: Option<ObserverProgram>,
    /// The device.
    pub(in crate::broker) device: DeviceOrder,
    /// Its facts.
    pub(in crate::broker) facts: &'a Facts,
    clock_bound: ClockBound,
    /// For windows that are not timed.
    no_clock: ClockBound,
}

/// Whether a case is measured together with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::broker) enum Company {
    /// It is measured alone.
    Alone,
    /// It is measured alternately with others.
    Others,
}

/// What a run uses of its device besides measuring on it.
pub(in crate::broker) struct DeviceTools<'a> {
    /// The lock of its clocks, if there is one.
    pub(in crate::broker) clocks: Option<&'a ClockLock>,
    /// What counts on it.
    pub(in crate::broker) counters: Counters,
    /// The program that observes the calls.
    pub(in crate::broker) observer: Option<ObserverProgram>,
}

impl<'a> RunSettings<'a> {
    /// Returns the settings of a run with these seeds.
    pub(in crate::broker) fn new(
        options: &'a RunOptions,
        seeds: Seeds,
        device: DeviceOrder,
        facts: &'a Facts,
        tools: DeviceTools<'_>,
        interrupt: &'a Interrupt,
    ) -> RunSettings<'a> {
        let mode = RunMode::from(options.action);
        RunSettings {
            options,
            mode,
            seeds,
            flush_bytes: options.measurement.flushed_bytes(facts),
            interrupt,
            locked_mhz: tools.clocks.map(ClockLock::megahertz),
            counters: tools.counters,
            observer: tools.observer,
            device,
            facts,
            clock_bound: if mode.is_timed() {
                facts.clock_bound.clone()
            } else {
                ClockBound::Absent("nothing is timed".into())
            },
            no_clock: ClockBound::Absent("nothing is timed".into()),
        }
    }

    /// Whether cases are tested and nobody watches them: no other program, and no person who reads
    /// what they print.
    pub(in crate::broker) fn tests_unwatched(&self) -> bool {
        self.mode == RunMode::Test && self.observer.is_none() && self.output() == Output::Captured
    }

    /// Returns the device of cases that run side by side. What is counted runs in one thread.
    pub(in crate::broker) fn device_of_lanes(&self) -> DeviceOrder {
        match self.mode {
            RunMode::Test => self.device,
            RunMode::Measure | RunMode::Profile(_) | RunMode::Audit(_) => self.device.with_one_thread(),
        }
    }

    /// Returns the referee's settings.
    pub(in crate::broker) fn begin(&self) -> Begin {
        Begin {
            master_seed: *self.seeds.master(),
            flush_bytes: self.flush_bytes,
            flush_kind: self.options.measurement.flush,
            reserved: 0,
        }
    }

    /// Returns what the run has set on the device.
    pub(in crate::broker) fn setup(&self) -> DeviceSetup {
        DeviceSetup {
            flush: self.options.measurement.flush,
            flush_bytes: self.flush_bytes,
            locked_mhz: self.locked_mhz,
        }
    }

    /// Returns the protocol of a case whose calls are counted instead of timed.
    pub(in crate::broker) fn counting_protocol<'p>(
        &'p self,
        case: &CaseOptions,
        metric: MetricRequest<'p>,
    ) -> Protocol<'p> {
        Protocol {
            metric,
            energy: Energy::Ignored,
            // The first call of a process does what later ones need not do.
            warm_up: WarmUpRule {
                max_windows: 1,
                ..WarmUpRule::default()
            },
            worker_count: WorkerCountRule::exactly(case.workers),
            within: case
                .window_within
                .saturating_mul(Backend::for_facts(self.facts).counting_takes),
            observer: None,
            // One thread runs the blocks in order: a kernel may depend on it.
            device: self.device.with_one_thread(),
            ..self.protocol_for(case, Company::Alone)
        }
    }

    /// Returns the protocol of a case that is checked and not measured, because its calls have
    /// nothing to write.
    pub(in crate::broker) fn checking_protocol(&self, case: &CaseOptions) -> Protocol<'_> {
        Protocol {
            mode: RunMode::Test,
            energy: Energy::Ignored,
            worker_count: self.one_worker_for_each_schedule(),
            clock_bound: &self.no_clock,
            ..self.protocol_for(case, Company::Alone)
        }
    }

    /// Returns the protocol of the calls that are audited: those of one worker, one after another.
    /// `doorbells` counts what they submit.
    pub(in crate::broker) fn audit_protocol<'p>(
        &'p self,
        case: &CaseOptions,
        doorbells: &'p Doorbells<'p>,
    ) -> Protocol<'p> {
        Protocol {
            mode: RunMode::Audit(AUDITED_FOR),
            energy: Energy::Ignored,
            worker_count: WorkerCountRule::exactly(NonZeroUsize::MIN),
            clock_bound: &self.no_clock,
            submissions: Some(doorbells),
            ..self.protocol_for(case, Company::Alone)
        }
    }

    /// Returns the protocol of a case.
    pub(in crate::broker) fn protocol_for(&self, case: &CaseOptions, company: Company) -> Protocol<'_> {
        let stop = StopRule {
            step: self.facts.clock_tick_ns,
            ..case.stopping.clone()
        };
        Protocol {
            mode: self.mode,
            metric: MetricRequest::default(),
            worker_count: self.worker_count(case, company),
            warm_up: WarmUpRule {
                step: self.facts.clock_tick_ns,
                device_time: case.warmup_time,
                ..WarmUpRule::default()
            },
            stop: match company {
                // The spread of samples does not tell how precise the ratio of pairs is.
                Company::Others => StopRule { plateau: None, ..stop },
                Company::Alone => stop,
            },
            energy: case.energy,
            rest: case.rest,
            within: match self.observer {
                None => case.window_within,
                Some(_) if self.options.is_debugged() => DEBUGGED_WITHIN,
                Some(_) => case.window_within.saturating_mul(OBSERVED),
            },
            reference_within: case.reference_within,
            kernels_run_in: self.facts.kernels_run_in,
            device: self.device,
            schedules: self.schedules(),
            observer: self.observer.as_ref(),
            submissions: None,
            evidence: self.options.measurement.evidence,
            output: self.output(),
            clock_bound: &self.clock_bound,
            seeds: &self.seeds,
            interrupt: self.interrupt,
        }
    }

    /// Returns where the output of workers goes. A profiler talks to the user.
    fn output(&self) -> Output {
        match self.options.observer {
            Some(ObserverChoice::Profiler(..) | ObserverChoice::Debugger(_)) => Output::Shown,
            Some(ObserverChoice::Sanitizer(_)) | None => self.options.output.user_output,
        }
    }

    /// Returns the seeds of the thread orders that a test tries: the requested one, else the
    /// device's.
    fn schedules(&self) -> &[u64] {
        match &self.options.measurement.schedule {
            Some(schedule) => std::slice::from_ref(schedule),
            None if self.options.is_debugged() => &[0],
            None => Backend::for_facts(self.facts).schedules,
        }
    }

    fn one_worker_for_each_schedule(&self) -> WorkerCountRule {
        WorkerCountRule::exactly(NonZeroUsize::new(self.schedules().len()).unwrap_or(NonZeroUsize::MIN))
    }

    fn worker_count(&self, case: &CaseOptions, company: Company) -> WorkerCountRule {
        let CaseOptions { workers, analyses, .. } = *case;
        match (company, analyses) {
            _ if self.mode == RunMode::Test => self.one_worker_for_each_schedule(),
            _ if !self.mode.is_timed() => WorkerCountRule::exactly(NonZeroUsize::MIN),
            (Company::Others, _) => WorkerCountRule::exactly(analyses.first(workers)),
            (Company::Alone, InterimAnalyses::Once) => WorkerCountRule::exactly(workers),
            (Company::Alone, InterimAnalyses::UntilDecided) => {
                match Backend::for_facts(self.facts).words().unverified {
                    None => WorkerCountRule::until_known(workers),
                    // Unverified times are not worth twice the run time.
                    Some(_) => WorkerCountRule::five_of(workers),
                }
            }
        }
    }

    /// Returns what the records say about a contest: its number, and how its ranking is decided.
    pub(in crate::broker) fn contest_share(&self, number: usize, case: &CaseOptions) -> ContestShare {
        ContestShare {
            number: number as u64,
            confidence: self.options.results.judging.confidence.fraction(),
            analyses: case.analyses.most() as u64,
        }
    }

    /// Returns what the rounds of alternating cases decide.
    pub(in crate::broker) fn question(&self, case: &CaseOptions) -> DecisionRule {
        DecisionRule {
            analyses: case.analyses,
            confidence: self.options.results.judging.confidence,
            threshold: Threshold {
                value: case.noise_threshold,
                source: ThresholdSource::Floor,
            },
            step: self.facts.clock_tick_ns,
        }
    }

    /// Returns what the samples of a case are compared with.
    pub(in crate::broker) fn expectations(&self, case: &CaseOptions) -> Expectations {
        Expectations {
            target_cv: case.stopping.target_cv,
            peak_bandwidth: self.facts.peak_bandwidth,
            peak_arithmetic: self.facts.peak_arithmetic,
            criteria: case.criteria,
            shared_everywhere: match self.facts.device.capability {
                0 => Some(self.facts.device.shared_per_block),
                _ => None,
            },
        }
    }
}

/// Returns the seeds of a run. Draws a master seed if none is given.
///
/// # Errors
/// The operating system provides no random seed.
pub(in crate::broker) fn seeds(wanted: MasterSeed) -> Result<Seeds, InternalError> {
    match wanted {
        MasterSeed::Pinned(master) => Ok(Seeds::new(master)),
        MasterSeed::Fresh => {
            Seeds::from_os().map_err(InternalError::because("the operating system gives no random seed"))
        }
    }
}
