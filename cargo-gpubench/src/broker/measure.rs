//! One case from its buffers to its judgement: warm-up, samples, early checks, and the windows that tell one failure from another.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gpubench::catalog::Recording;

use super::null_windows::{NullSide, Pacing, cast};
use crate::clients::{
    AuthorClient, AuthorProblem, BufferGrant, CaseOrder, HostedLaunch, Interrupt, NullWorker, Output, RefereeClient,
    RoleFailure, Start, WorkerClient, WorkerLaunch,
};
use crate::device::{ClockBound, CodeHome, KernelPart};
use crate::sandbox::Confinement;
use crate::stats::{Balance, StopReason, StopRule, WarmUpRule};
use crate::verdict::{Ending, Evidence, Execution, Judgement, NullWindows, Verdict, WindowEvidence, balance, judge};
use crate::window::{ConductError, Conducted, Conductor, Duties, NullPace, Place, Seeds, WindowKind};
use crate::wire::DeviceOrder;

/// Windows that follow a wrong output to tell what kind of wrong it is: from the third call on, the first call is not the one before.
const DIAGNOSIS: u32 = 2;

/// A case that can be measured.
#[derive(Debug)]
pub struct ReadyCase<'a> {
    /// Number in the run.
    pub number: u64,
    /// Position of the benchmark in its catalog.
    pub benchmark: u32,
    /// The encoded request it was recorded for.
    pub request: &'a [u8],
    /// The validated recording.
    pub recording: &'a Recording,
    /// Its encoding.
    pub encoded: &'a [u8],
    /// Compiled kernels of the plan by position of their source.
    pub modules: &'a [(u32, PathBuf)],
    /// The same of its generators and of a reference that is a plan.
    pub own_modules: &'a [(u32, PathBuf)],
    /// The least time a call can take, in nanoseconds, where it is known.
    pub floor_ns: Option<f64>,
    /// The name its windows are marked with for a profiler, where they are.
    pub annotation: Option<&'a str>,
    /// The cdylib that it comes from.
    pub library: CaseLibrary<'a>,
}

/// Where a hosted worker finds the user's code.
#[derive(Clone, Copy, Debug)]
pub struct CaseLibrary<'a> {
    /// The cdylib.
    pub file: &'a Path,
    /// Where it finds the shared libraries that it needs.
    pub search: &'a [PathBuf],
}

/// How cases are measured.
#[derive(Debug)]
pub struct Protocol<'a> {
    /// When the warm-up is over.
    pub warm_up: WarmUpRule,
    /// When there are samples enough.
    pub stop: StopRule,
    /// How long a window may take.
    pub within: Duration,
    /// How long a generator or a reference may take.
    pub reference_within: Duration,
    /// Who runs kernels of generators and references.
    pub kernels_run_in: CodeHome,
    /// The device.
    pub device: DeviceOrder,
    /// What becomes of what user code prints.
    pub output: Output,
    /// Whether the referee's clock bounds the worker's claims.
    pub clock_bound: &'a ClockBound,
    /// How much the tool's own part of a window depends on the kernel.
    pub kernel_part: KernelPart,
    /// Other processes that compute on the device, where that is known.
    pub other_clients: Option<u32>,
    /// The run's keys.
    pub seeds: &'a Seeds,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// The verdict on it.
    pub judgement: Judgement,
    /// Every window, warm-up and early checks included.
    pub windows: Vec<WindowEvidence>,
    /// Warm-up windows among them, at the start.
    pub warm_up: usize,
    /// Windows of the null worker, interleaved with the sampled ones.
    pub null_windows: Vec<WindowEvidence>,
    /// Windows of the null worker behind the end of the worker under test; none of a case that failed before.
    pub null_alone: Vec<WindowEvidence>,
    /// What the referee's clock says of the claims, where it bounds them.
    pub balance: Option<Balance>,
    /// Samples in nanoseconds.
    pub samples_ns: Vec<f64>,
    /// Host times of the sampled windows in nanoseconds.
    pub host_ns: Vec<f64>,
    /// Overhead of an empty measurement as the worker claims it.
    pub event_overhead_ns: Option<f64>,
    /// Why sampling stopped.
    pub stop: Option<StopReason>,
}

/// Why a case could not be measured for no fault of its kernels.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A window could not be conducted.
    #[error(transparent)]
    Conduct(#[from] ConductError),
    /// The author could not take its buffers.
    #[error("the author process cannot take the case")]
    Attach(#[source] AuthorProblem),
    /// The referee could not make the buffers.
    #[error("the referee cannot open the case")]
    Open(#[source] RoleFailure),
    /// The worker could not be started or set up.
    #[error("the worker cannot be set up")]
    Worker(#[source] RoleFailure),
}

/// Measures a case. `progress` is shown the samples so far, in nanoseconds, after each. The null worker is needed where the referee's clock bounds claims; its failure costs
/// the case its grade, and nothing else.
///
/// # Errors
/// When it fails for no fault of its kernels.
pub fn measure(
    case: &ReadyCase<'_>,
    protocol: &Protocol<'_>,
    referee: &mut RefereeClient,
    author: &mut AuthorClient,
    null_worker: &mut NullWorker,
    progress: &mut dyn FnMut(&[f64]),
) -> Result<Measured, MeasureError> {
    let interrupt = protocol.interrupt;
    let duties = Duties::new(case.recording, protocol.kernels_run_in);
    let order = CaseOrder {
        case: case.number,
        cast: cast(protocol.clock_bound),
        duties,
        encoded: case.encoded,
        modules: case.own_modules,
    };
    let opened = referee.open_case(&order, interrupt).map_err(MeasureError::Open)?;
    let hosted = HostedLaunch {
        library: case.library.file,
        library_path: case.library.search,
        benchmark: case.benchmark,
        request: case.request,
        guarded: [referee.child().id(), author.child().id()],
    };
    let is_hosted = case.recording.execution == gpubench::catalog::Execution::Hosted;
    let launch = WorkerLaunch {
        hosted: is_hosted.then_some(&hosted),
        device: protocol.device,
        layouts: &opened.layouts,
        modules: case.modules,
        annotation: case.annotation,
        recording: case.encoded,
        page: opened.page.as_fd(),
        buffers: &opened.buffers,
    };
    let worker = WorkerClient::spawn(&launch, protocol.output);
    let mut null = NullSide::set_up(null_worker, &opened, case.encoded);
    let grant = BufferGrant {
        benchmark: case.benchmark,
        request: case.request,
        recording: case.encoded,
        layouts: &opened.layouts[..case.recording.tensors.len()],
        kernels_run_in: duties.kernels_run_in(),
        modules: case.own_modules,
        descriptors: &opened.author_descriptors,
    };
    if duties.needs_author() {
        author.attach(&grant, interrupt).map_err(MeasureError::Attach)?;
    }
    // The buffers are the roles' now; a descriptor kept here would be one more that could be taken.
    drop(opened);
    let mut conductor = Conductor {
        last_inputs: None,
        referee,
        author,
        duties,
        reference_within: protocol.reference_within,
        within: protocol.within,
        interrupt,
    };
    conductor.prepare_decoys()?;

    null.ready(protocol)?;
    let mut sampling = Sampling::new(case, protocol, null);
    let ready = worker.and_then(|mut worker| {
        if is_hosted {
            sampling.execution = Execution::Hosted(worker.confinement(protocol.within, interrupt)?);
        }
        let start = worker.ready(protocol.within, interrupt)?;
        Ok((worker, start))
    });
    match ready {
        Ok((_, Start::Refused(message))) => sampling.ending = Ending::SetUpFailed { message },
        Ok((mut worker, Start::Ready(ready))) => {
            sampling.event_overhead_ns = Some(ready.event_overhead_ns).filter(|ns| ns.is_finite() && *ns >= 0.0);
            sampling.run(&mut conductor, &mut worker, progress)?;
            // It is killed and waited for: in what follows it has no part.
            drop(worker);
            if sampling.stop.is_some() {
                sampling.null.go_on_alone(&mut conductor)?;
            }
        }
        // A kernel module's constructor may end the process or never return: that is the kernel's doing, not ours.
        Err(RoleFailure::Ended { end, log, .. }) => sampling.ending = Ending::WorkerEnded { end, log },
        Err(RoleFailure::Silent { within, .. }) => sampling.ending = Ending::TimedOut { within },
        Err(failure) => return Err(MeasureError::Worker(failure)),
    }
    sampling.null.hand_back(protocol)?;
    let measured = sampling.finish();
    if duties.needs_author() {
        conductor.author.detach(interrupt).map_err(MeasureError::Attach)?;
    }
    conductor.referee.close_case(interrupt).map_err(MeasureError::Open)?;
    Ok(measured)
}

/// The windows of a case so far.
struct Sampling<'a> {
    case: &'a ReadyCase<'a>,
    protocol: &'a Protocol<'a>,
    null: NullSide<'a>,
    windows: Vec<WindowEvidence>,
    warm_up: usize,
    samples_ns: Vec<f64>,
    host_ns: Vec<f64>,
    event_overhead_ns: Option<f64>,
    execution: Execution,
    ending: Ending,
    /// Number of the window that was begun last; 0 before the first.
    last_call: u32,
    stop: Option<StopReason>,
}

/// Whether there is to be another window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Another,
    Enough,
}

impl<'a> Sampling<'a> {
    fn new(case: &'a ReadyCase<'a>, protocol: &'a Protocol<'a>, null: NullSide<'a>) -> Sampling<'a> {
        Sampling {
            case,
            protocol,
            null,
            windows: Vec::new(),
            warm_up: 0,
            samples_ns: Vec::new(),
            host_ns: Vec::new(),
            event_overhead_ns: None,
            execution: match case.recording.execution {
                gpubench::catalog::Execution::Sealed => Execution::Sealed,
                gpubench::catalog::Execution::Hosted => {
                    Execution::Hosted(Confinement::Open("the worker did not say that it is closed".to_owned()))
                }
            },
            ending: Ending::Stopped,
            last_call: 0,
            stop: None,
        }
    }

    fn run(
        &mut self,
        conductor: &mut Conductor<'_>,
        worker: &mut WorkerClient,
        progress: &mut dyn FnMut(&[f64]),
    ) -> Result<(), ConductError> {
        if self.warm_up(conductor, worker)? == Next::Another {
            self.sample(conductor, worker, progress)?;
        }
        if self.last_is_wrong() {
            self.diagnose(conductor, worker)?;
        }
        Ok(())
    }

    /// Windows of the same kind as the sampled ones, until their running median settles. They are checked like all others.
    fn warm_up(&mut self, conductor: &mut Conductor<'_>, worker: &mut WorkerClient) -> Result<Next, ConductError> {
        let mut elapsed_ns = Vec::new();
        let started = Instant::now();
        loop {
            if self.last_call > 0 {
                self.null_turn(conductor, NullPace::Usual)?;
            }
            if self.window(conductor, worker, WindowKind::Timed)? == Next::Enough {
                return Ok(Next::Enough);
            }
            self.warm_up += 1;
            elapsed_ns.extend(
                self.windows
                    .last()
                    .and_then(|window| Some(window.claim.as_deref()?.elapsed_ns)),
            );
            if self.protocol.warm_up.decide(&elapsed_ns, started.elapsed()).is_some() {
                return Ok(Next::Another);
            }
        }
    }

    fn sample(
        &mut self,
        conductor: &mut Conductor<'_>,
        worker: &mut WorkerClient,
        progress: &mut dyn FnMut(&[f64]),
    ) -> Result<(), ConductError> {
        let started = Instant::now();
        // At least one window in a case checks early: the first may be due at once.
        let mut since_early = u32::MAX;
        let mut pacing = Pacing::new();
        self.null.begin();
        loop {
            self.null_turn(conductor, pacing.pace())?;
            let kind = self.protocol.seeds.kind(self.next_place(), since_early);
            if self.window(conductor, worker, kind)? == Next::Enough {
                return Ok(());
            }
            match kind {
                WindowKind::EarlyCheck => since_early = 0,
                WindowKind::Timed | WindowKind::Null => {
                    since_early = since_early.saturating_add(1);
                    self.keep_sample();
                    progress(&self.samples_ns);
                }
            }
            self.stop = self.protocol.stop.decide(&self.samples_ns, started.elapsed());
            if self.stop.is_none() {
                pacing.heed(self.samples_ns.len(), || self.bound_is_precise());
                continue;
            }
            if !self.waits_for_bound(started.elapsed()) {
                return Ok(());
            }
            self.stop = None;
            pacing.hurry();
        }
    }

    /// Whether more windows would tell more of the claims. The limits on samples and time hold all the same.
    fn waits_for_bound(&self, sampled_for: Duration) -> bool {
        let at_limit = matches!(self.stop, Some(StopReason::MaxSamples | StopReason::MaxTime));
        let in_time = sampled_for < self.protocol.stop.max_time;
        self.null.is_there() && in_time && !at_limit && !self.bound_is_precise()
    }

    fn bound_is_precise(&self) -> bool {
        balance(&self.evidence(&self.windows, Ending::Stopped)).is_some_and(|balance| balance.is_precise())
    }

    fn null_turn(&mut self, conductor: &mut Conductor<'_>, pace: NullPace) -> Result<(), ConductError> {
        let place = self.next_place();
        self.null.take_turn(conductor, self.protocol, place, pace)
    }

    fn next_place(&self) -> Place {
        Place {
            case: self.case.number,
            window: self.windows.len() as u32 + 1,
        }
    }

    /// A few more windows behind a wrong output.
    fn diagnose(&mut self, conductor: &mut Conductor<'_>, worker: &mut WorkerClient) -> Result<(), ConductError> {
        for _ in 0..DIAGNOSIS {
            self.window(conductor, worker, WindowKind::Timed)?;
            if self.ending != Ending::Stopped {
                // What comes of the worker afterwards does not matter: it has failed already.
                self.ending = Ending::Stopped;
                break;
            }
        }
        Ok(())
    }

    fn window(
        &mut self,
        conductor: &mut Conductor<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Next, ConductError> {
        let number = self.windows.len() as u32 + 1;
        self.last_call = number;
        match conductor.conduct(worker, number, kind)? {
            Conducted::Ended(evidence) => self.windows.push(evidence),
            Conducted::Lost(evidence, ending) => {
                self.windows.extend(evidence);
                self.ending = ending;
                return Ok(Next::Enough);
            }
        }
        let last = &self.windows[self.windows.len() - 1..];
        match self.judge(last, Ending::Stopped).verdict {
            Verdict::Pass => Ok(Next::Another),
            _ => Ok(Next::Enough),
        }
    }

    fn last_is_wrong(&self) -> bool {
        let last = &self.windows[self.windows.len().saturating_sub(1)..];
        self.ending == Ending::Stopped && self.judge(last, Ending::Stopped).verdict == Verdict::WrongOutput
    }

    fn keep_sample(&mut self) {
        if let Some(claim) = self.windows.last().and_then(|window| window.claim.as_deref()) {
            self.samples_ns.push(claim.elapsed_ns);
            self.host_ns.push(claim.host_ns);
        }
    }

    fn judge(&self, windows: &[WindowEvidence], ending: Ending) -> Judgement {
        judge(&self.evidence(windows, ending))
    }

    fn evidence<'e>(&'e self, windows: &'e [WindowEvidence], ending: Ending) -> Evidence<'e> {
        let Recording { tensors, plan, .. } = self.case.recording;
        let Protocol {
            clock_bound,
            kernel_part,
            other_clients,
            ..
        } = *self.protocol;
        Evidence {
            tensors,
            scratch: &plan.scratch,
            windows,
            ending,
            last_call: self.last_call,
            execution: &self.execution,
            clock_bound,
            floor_ns: self.case.floor_ns,
            warm_up: self.warm_up,
            null: NullWindows {
                windows: &self.null.windows,
                alone: &self.null.alone,
                loss: self.null.loss.as_deref(),
            },
            kernel_part,
            other_clients,
        }
    }

    fn finish(self) -> Measured {
        let evidence = self.evidence(&self.windows, self.ending.clone());
        let (judgement, balance) = (judge(&evidence), balance(&evidence));
        let Sampling {
            windows,
            warm_up,
            null,
            samples_ns,
            host_ns,
            event_overhead_ns,
            stop,
            ..
        } = self;
        Measured {
            judgement,
            windows,
            warm_up,
            null_windows: null.windows,
            null_alone: null.alone,
            balance,
            samples_ns,
            host_ns,
            event_overhead_ns,
            stop,
        }
    }
}
