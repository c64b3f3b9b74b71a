//! One case from its buffers to its judgement.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use gpubench::catalog::Recording;
use gpubench::codec;

use super::crew::{Crew, Post};
use super::null_windows::{NullSide, cast};
use super::purpose::Purpose;
use super::rounds::{Party, Rounds};
use super::side::{Side, Stage};
use crate::broker::against::question::Question;
use crate::clients::{
    AuthorClient, AuthorProblem, BufferGrant, CaseOrder, Interrupt, NullWorker, Output, RefereeClient, RoleFailure,
};
use crate::contract::StopReason;
use crate::device::{ClockBound, CodeHome, KernelPart};
use crate::stats::{Balance, Shares, StopRule, Turnout, WarmUpRule};
use crate::verdict::{Judgement, WindowEvidence};
use crate::window::{ConductError, Conductor, Duties, Numbering, Seat, Seeds};
use crate::wire::{DeviceOrder, SealedFile, SourceModule};

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
    pub modules: &'a [SourceModule],
    /// The same of its generators and of a reference that is a plan.
    pub own_modules: &'a [SourceModule],
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
    /// The cdylib, behind the libraries that it needs.
    pub files: &'a [SealedFile],
    /// Where it finds shared libraries that it loads while it runs.
    pub search: &'a [PathBuf],
}

/// How cases are measured.
#[derive(Debug)]
pub struct Protocol<'a> {
    /// What cases are run for.
    pub purpose: Purpose,
    /// How many fresh workers a case's samples come from; fewer where there may be fewer samples.
    pub turnout: Turnout,
    /// When the first worker's warm-up is over.
    pub warm_up: WarmUpRule,
    /// When a case has samples enough.
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
    /// Which of them warmed a worker up.
    pub warm_ups: Vec<Range<usize>>,
    /// How many of the samples are each worker's, in order.
    pub worker_samples: Vec<usize>,
    /// Windows of the null worker, interleaved with the sampled ones.
    pub null_windows: Vec<WindowEvidence>,
    /// Windows of the null worker behind the end of the last worker under test; none of a case that failed before.
    pub null_alone: Vec<WindowEvidence>,
    /// What the referee's clock says of the claims, where it bounds them.
    pub balance: Option<Balance>,
    /// Samples in nanoseconds.
    pub samples: Vec<f64>,
    /// Host times of the sampled windows in nanoseconds.
    pub host_ns: Vec<f64>,
    /// Overhead of an empty measurement: the median of what the workers claim.
    pub event_overhead_ns: Option<f64>,
    /// Why sampling stopped.
    pub stop: Option<StopReason>,
    /// What a person must know of how it came about, even of a case that passed.
    pub notices: Vec<String>,
}

/// What stands beside a case while it is measured.
pub trait Watcher {
    /// There is another sample; these are all of them so far in nanoseconds, together and of each worker.
    fn sampled(&mut self, samples: &[f64], of_workers: &[&[f64]]);

    /// The case is measured once more: the samples so far are none of what follows.
    fn begins_again(&mut self);

    /// It could not be: the samples before that are the case's after all.
    fn goes_back(&mut self);

    /// How many other processes have computed on the device since the case began, where that is known.
    fn other_clients(&mut self) -> Option<u32>;
}

/// Looks at the samples alone.
impl<F: FnMut(&[f64])> Watcher for F {
    fn sampled(&mut self, samples: &[f64], _: &[&[f64]]) {
        self(samples);
    }

    fn begins_again(&mut self) {}

    fn goes_back(&mut self) {}

    fn other_clients(&mut self) -> Option<u32> {
        None
    }
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

/// Measures a case by as many fresh workers as it has. `watcher` is shown the samples so far after each. The null worker is needed where the referee's clock
/// bounds claims; its failure costs the case its grade, and nothing else.
///
/// # Errors
/// When it fails for no fault of its kernels.
pub fn measure(
    case: &ReadyCase<'_>,
    protocol: &Protocol<'_>,
    referee: &mut RefereeClient,
    author: &mut AuthorClient,
    null_worker: &mut NullWorker,
    watcher: &mut dyn Watcher,
) -> Result<Measured, MeasureError> {
    let contest = Contest {
        candidate: case,
        baseline: None,
        question: None,
    };
    let numbering = Numbering::default();
    let measured = measure_in_turns(&contest, protocol, numbering, referee, author, null_worker, watcher);
    measured.map(|measured| measured.candidate)
}

/// What is measured, and what it is compared with window by window. Both have the same tensors.
#[derive(Clone, Copy, Debug)]
pub struct Contest<'a> {
    /// What is measured.
    pub candidate: &'a ReadyCase<'a>,
    /// What it is compared with; its own reference and generators take no part.
    pub baseline: Option<&'a ReadyCase<'a>>,
    /// What the rounds are to decide; without one there are as many as workers.
    pub question: Option<Question>,
}

/// What was measured on both sides.
#[derive(Debug)]
pub struct MeasuredInTurns {
    /// The side that is judged.
    pub candidate: Measured,
    /// The other, where there is one; or why it could not be measured for no fault of its kernels.
    pub baseline: Option<Result<Measured, RoleFailure>>,
    /// Where the numbers of another measurement of the case would go on.
    pub next: Numbering,
    /// In what state it leaves author, referee and null worker.
    pub roles: RolesAfterwards,
}

/// What author, referee and null worker are in the middle of behind a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolesAfterwards {
    /// Nothing: they have let go of its buffers.
    AtRest,
    /// It is not known, and the next case needs new ones.
    Unknown,
}

/// As [`measure`], in turns with a baseline where there is one: each round has a fresh worker of either side, and their windows take turns. What becomes of the baseline does not touch the candidate's result. Windows have the numbers
/// behind those that `numbering` says were before.
///
/// # Errors
/// As [`measure`].
pub fn measure_in_turns(
    contest: &Contest<'_>,
    protocol: &Protocol<'_>,
    numbering: Numbering,
    referee: &mut RefereeClient,
    author: &mut AuthorClient,
    null_worker: &mut NullWorker,
    watcher: &mut dyn Watcher,
) -> Result<MeasuredInTurns, MeasureError> {
    let interrupt = protocol.interrupt;
    let Contest {
        candidate: case,
        baseline,
        ..
    } = *contest;
    let Buffers {
        recording,
        encoded,
        of_candidate,
        of_baseline,
    } = Buffers::of(contest);
    let order = CaseOrder {
        case: case.number,
        opening: numbering.opening,
        cast: cast(protocol.clock_bound, baseline),
        duties: Duties::new(&recording, protocol.kernels_run_in),
        encoded: &encoded,
        modules: case.own_modules,
    };
    let opened = Rc::new(referee.open_case(&order, interrupt).map_err(MeasureError::Open)?);
    let guarded = [referee.child().id(), author.child().id()];
    let shares = Shares::new(protocol.stop.clone(), protocol.turnout);
    let workers = shares.first();
    // Fewer rounds than there are before the first look are all that may be had.
    let question = contest
        .question
        .filter(|_| baseline.is_some() && shares.most() == protocol.turnout.most().get());
    let most = question.map_or(shares.most(), |question| most_rounds(&question, workers));
    let party = |seat, case, buffers| {
        let post = Post {
            seat,
            buffers,
            workers,
            reserve: most - workers,
        };
        let crew = Crew::call(case, protocol, post, guarded, &opened);
        Party::new(Side::new(seat, case, protocol, &recording.plan.scratch), crew)
    };
    let mut rounds = Rounds {
        candidate: party(Seat::Candidate, case, of_candidate),
        baseline: baseline.map(|baseline| party(Seat::Baseline, baseline, of_baseline)),
        question,
        case: case.number,
        seeds: protocol.seeds,
    };
    let mut null = NullSide::set_up(null_worker, &opened, &encoded, numbering.nulls);
    let duties = Duties::new(case.recording, protocol.kernels_run_in);
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
    rounds
        .parties()
        .for_each(|party| party.crew.entrust(Rc::clone(&opened)));
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
    let mut stage = Stage {
        conductor: &mut conductor,
        null: &mut null,
        begun: numbering.opening,
    };
    rounds.conduct(protocol.purpose, workers, &mut stage, watcher)?;
    let last = stage.begun;
    let Rounds {
        candidate, baseline, ..
    } = rounds;
    let (candidate, baseline) = (candidate.retire(), baseline.map(Party::retire));
    if candidate.side.is_complete() {
        null.go_on_alone(&mut conductor)?;
    }
    null.hand_back(protocol)?;
    let other_clients = watcher.other_clients();
    let measured = MeasuredInTurns {
        candidate: candidate.side.finish(&null, other_clients),
        baseline: baseline.map(|retired| match retired.lost {
            None => Ok(retired.side.finish(&null, other_clients)),
            Some(failure) => Err(failure),
        }),
        next: Numbering::behind(last, null.begun),
        roles: RolesAfterwards::AtRest,
    };
    if duties.needs_author() {
        conductor.author.detach(interrupt).map_err(MeasureError::Attach)?;
    }
    conductor.referee.close_case(interrupt).map_err(MeasureError::Open)?;
    Ok(measured)
}

/// The rounds that there are where none of them decides the question.
fn most_rounds(question: &Question, workers: usize) -> usize {
    std::iter::successors(Some(workers), |rounds| question.looks.next(*rounds))
        .last()
        .unwrap_or(workers)
}

/// The buffers of a case: the tensors, which all sides share, and each side's own scratch.
struct Buffers<'a> {
    /// The candidate's recording, with the scratch of both sides.
    recording: Cow<'a, Recording>,
    encoded: Cow<'a, [u8]>,
    /// Positions of each side's buffers.
    of_candidate: Vec<usize>,
    of_baseline: Vec<usize>,
}

impl<'a> Buffers<'a> {
    fn of(contest: &Contest<'a>) -> Buffers<'a> {
        let Contest {
            candidate, baseline, ..
        } = *contest;
        let tensors = candidate.recording.tensors.len();
        let own = tensors + candidate.recording.plan.scratch.len();
        let Some(baseline) = baseline else {
            return Buffers {
                recording: Cow::Borrowed(candidate.recording),
                encoded: Cow::Borrowed(candidate.encoded),
                of_candidate: (0..own).collect(),
                of_baseline: Vec::new(),
            };
        };
        let mut recording = candidate.recording.clone();
        recording.plan.scratch.extend(&baseline.recording.plan.scratch);
        let all = tensors + recording.plan.scratch.len();
        Buffers {
            encoded: Cow::Owned(codec::encode(&recording)),
            recording: Cow::Owned(recording),
            of_candidate: (0..own).collect(),
            of_baseline: (0..tensors).chain(own..all).collect(),
        }
    }
}
