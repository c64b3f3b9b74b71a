//! The fresh workers of a case, of which one is measured at a time.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::rc::Rc;

use gpubench::catalog::Execution;

use super::measure::{Protocol, ReadyCase};
use gpubench_device::CodeHome;
use gpubench_measure::clients::{HostedLaunch, OpenedCase, RoleFailure, Start, WorkerClient, WorkerLaunch};
use gpubench_protocol::sandbox::Confinement;
use gpubench_protocol::window::Seat;

/// When the workers of a case are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Muster {
    /// All at once, before the first window: setting a context up takes long, and would disturb another worker's windows. Those that wait hold the buffers, and no code
    /// that could do anything with them.
    Together,
    /// Each behind the end of the one before: what runs the user's code in its process never waits beside another that is measured.
    OneByOne,
}

impl Muster {
    fn of(case: &ReadyCase<'_>, protocol: &Protocol<'_>) -> Muster {
        match (case.recording.execution, protocol.kernels_run_in) {
            (Execution::Sealed, CodeHome::Referee) => Muster::Together,
            (Execution::Sealed, CodeHome::Author) | (Execution::Hosted, _) => Muster::OneByOne,
        }
    }
}

/// The workers of a case that have not been measured yet.
pub(super) struct Crew<'a> {
    seat: Seat,
    /// Positions of its buffers among those of the case.
    buffers: Vec<usize>,
    case: &'a ReadyCase<'a>,
    protocol: &'a Protocol<'a>,
    /// Processes whose memory must be closed to hosted workers.
    guarded: [u32; 2],
    muster: Muster,
    /// How many are still to be started.
    missing: usize,
    /// How many may be called beside those.
    reserve: usize,
    started: VecDeque<Result<WorkerClient, RoleFailure>>,
    waiting: VecDeque<Member>,
    /// What those that are still to be started will be given.
    opened: Option<Rc<OpenedCase>>,
}

/// What a crew is called for.
pub(super) struct Post {
    pub(super) seat: Seat,
    /// Positions of its buffers among those of the case.
    pub(super) buffers: Vec<usize>,
    pub(super) workers: usize,
    /// How many more may be needed.
    pub(super) reserve: usize,
}

/// A worker whose set-up has ended.
pub(super) struct Member {
    pub(super) worker: WorkerClient,
    /// How closed a hosted worker is.
    pub(super) confinement: Option<Confinement>,
    pub(super) start: Start,
}

impl<'a> Crew<'a> {
    /// Starts the first of so many workers, or all where they may wait beside one another; [`Crew::next`] hears of the end.
    pub(super) fn call(
        case: &'a ReadyCase<'a>,
        protocol: &'a Protocol<'a>,
        post: Post,
        guarded: [u32; 2],
        opened: &OpenedCase,
    ) -> Crew<'a> {
        let Post {
            seat,
            buffers,
            workers,
            reserve,
        } = post;
        let mut crew = Crew {
            seat,
            buffers,
            case,
            protocol,
            guarded,
            muster: Muster::of(case, protocol),
            missing: workers,
            reserve,
            started: VecDeque::new(),
            waiting: VecDeque::new(),
            opened: None,
        };
        crew.start(opened);
        crew
    }

    /// Leaves the descriptors to the workers that are still to be started. Where there are none, nobody keeps them: a descriptor is one more thing that could be taken.
    pub(super) fn entrust(&mut self, opened: Rc<OpenedCase>) {
        // Memory may not suffice for all at once.
        if self.may_start_more() || self.started.len() > 1 {
            self.opened = Some(opened);
        }
    }

    /// The next worker, once its set-up and that of all that were started with it has ended.
    ///
    /// # Errors
    /// When it, or one that was started with it, could not be started or set up.
    pub(super) fn next(&mut self) -> Result<Member, RoleFailure> {
        if self.waiting.is_empty() {
            if self.started.is_empty()
                && let Some(opened) = self.opened.take()
            {
                self.start(&opened);
                self.entrust(opened);
            }
            match self.settle() {
                Err(RoleFailure::OutOfMemory { .. }) if self.muster == Muster::Together => {
                    self.muster = Muster::OneByOne;
                    return self.next();
                }
                settled => settled?,
            }
        }
        if !self.may_start_more() {
            self.opened = None;
        }
        Ok(self.waiting.pop_front().expect("as many are asked for as there are"))
    }

    /// Has more workers follow those that were called before, of the ones in reserve.
    pub(super) fn call_more(&mut self, workers: usize) {
        let called = workers.min(self.reserve);
        self.reserve -= called;
        self.missing += called;
    }

    fn may_start_more(&self) -> bool {
        self.missing + self.reserve > 0
    }

    fn start(&mut self, opened: &OpenedCase) {
        let number = match self.muster {
            Muster::Together => self.missing,
            Muster::OneByOne => self.missing.min(1),
        };
        self.missing -= number;
        for _ in 0..number {
            self.started.push_back(self.spawn(opened));
        }
    }

    /// Waits for all that were started; one that fails ends the others.
    fn settle(&mut self) -> Result<(), RoleFailure> {
        let started = std::mem::take(&mut self.started);
        let number = started.len();
        for worker in started {
            match worker.and_then(|worker| self.hear(worker)) {
                Ok(member) => self.waiting.push_back(member),
                Err(failure) => {
                    self.waiting.clear();
                    self.missing += number;
                    return Err(failure);
                }
            }
        }
        Ok(())
    }

    fn hear(&self, mut worker: WorkerClient) -> Result<Member, RoleFailure> {
        let Protocol { within, interrupt, .. } = *self.protocol;
        let confinement = match self.case.recording.execution {
            Execution::Hosted => Some(worker.confinement(within, interrupt)?),
            Execution::Sealed => None,
        };
        let start = worker.ready(within, interrupt)?;
        Ok(Member {
            worker,
            confinement,
            start,
        })
    }

    fn spawn(&self, opened: &OpenedCase) -> Result<WorkerClient, RoleFailure> {
        let hosted = HostedLaunch {
            library: self.case.library.files,
            library_path: self.case.library.search,
            benchmark: self.case.benchmark,
            request: self.case.request,
            guarded: self.guarded,
        };
        let page = match self.seat {
            Seat::Candidate => Some(&opened.page),
            Seat::Baseline => opened.baseline_page.as_ref(),
        };
        let layouts: Vec<_> = self.buffers.iter().map(|buffer| opened.layouts[*buffer]).collect();
        let buffers: Vec<_> = self
            .buffers
            .iter()
            .map(|buffer| opened.buffers[*buffer].as_fd())
            .collect();
        let launch = WorkerLaunch {
            hosted: (self.case.recording.execution == Execution::Hosted).then_some(&hosted),
            device: self.protocol.device,
            layouts: &layouts,
            modules: self.case.modules,
            annotation: self.case.annotation,
            recording: self.case.encoded,
            page: page.expect("a case with a baseline has a page for it").as_fd(),
            buffers: &buffers,
        };
        WorkerClient::spawn(&launch, self.protocol.output)
    }
}
