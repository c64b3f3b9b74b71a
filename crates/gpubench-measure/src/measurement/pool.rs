//! The fresh workers of an arm, of which one is measured at a time.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::rc::Rc;

use gpubench::catalog::Execution;

use super::case::ReadyCase;
use super::protocol::Protocol;
use crate::clients::{HostedLaunch, OpenedCase, RoleFailure, Start, WorkerClient, WorkerLaunch};
use gpubench_device::{DeviceOrder, KernelHost};
use gpubench_protocol::window::WindowOwner;
use gpubench_sandbox::Confinement;

/// When the workers of a case are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartPolicy {
    /// Before the first window: setting a context up takes long, and would disturb another worker's
    /// windows. Those that wait hold the buffers, and no code that could do anything with them.
    AllAtOnce,
    /// Each after the end of the one before: what runs the user's code in its process never waits
    /// beside another that is measured.
    OneAtATime,
}

impl StartPolicy {
    fn of(case: &ReadyCase<'_>, protocol: &Protocol<'_>) -> StartPolicy {
        match (case.recording.execution, protocol.kernels_run_in) {
            (Execution::Sealed, KernelHost::Referee) => StartPolicy::AllAtOnce,
            (Execution::Sealed, KernelHost::Author) | (Execution::Hosted, _) => StartPolicy::OneAtATime,
        }
    }
}

/// The fresh workers of an arm that have not been measured yet. One is measured at a time.
pub(super) struct WorkerPool<'a> {
    case: &'a ReadyCase<'a>,
    protocol: &'a Protocol<'a>,
    /// What is still to be started.
    order: PoolOrder,
    /// Processes whose memory must be closed to hosted workers.
    guarded: [u32; 2],
    policy: StartPolicy,
    /// How many were started before.
    position: usize,
    started: VecDeque<Result<WorkerClient, RoleFailure>>,
    waiting: VecDeque<ReadyWorker>,
    /// What those that are still to be started will be given.
    opened: Option<Rc<OpenedCase>>,
}

/// Which workers a pool starts.
pub(super) struct PoolOrder {
    pub(super) owner: WindowOwner,
    /// Positions of their buffers among those of the case.
    pub(super) buffers: Vec<usize>,
    pub(super) workers: usize,
    /// How many more may be called.
    pub(super) reserve: usize,
}

/// A worker whose set-up has ended.
pub(super) struct ReadyWorker {
    pub(super) worker: WorkerClient,
    /// How closed a hosted worker is.
    pub(super) confinement: Confinement,
    pub(super) start: Start,
}

impl<'a> WorkerPool<'a> {
    /// Starts the first worker, or all where they may wait beside one another; [`WorkerPool::next`]
    /// hears of the end.
    pub(super) fn start(
        case: &'a ReadyCase<'a>,
        protocol: &'a Protocol<'a>,
        order: PoolOrder,
        guarded: [u32; 2],
        opened: &OpenedCase,
    ) -> WorkerPool<'a> {
        let mut pool = WorkerPool {
            case,
            protocol,
            order,
            guarded,
            policy: StartPolicy::of(case, protocol),
            position: 0,
            started: VecDeque::new(),
            waiting: VecDeque::new(),
            opened: None,
        };
        pool.start_next(opened);
        pool
    }

    /// Leaves the descriptors to the workers that are still to be started. Where there are none,
    /// nobody keeps them: a descriptor is one more thing that could be taken.
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
    pub(super) fn next(&mut self) -> Result<ReadyWorker, RoleFailure> {
        if self.waiting.is_empty() {
            if self.started.is_empty()
                && let Some(opened) = self.opened.take()
            {
                self.start_next(&opened);
                self.entrust(opened);
            }
            match self.settle() {
                Err(RoleFailure::OutOfMemory { .. })
                    if self.policy == StartPolicy::AllAtOnce && self.opened.is_some() =>
                {
                    self.policy = StartPolicy::OneAtATime;
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
        let called = workers.min(self.order.reserve);
        self.order.reserve -= called;
        self.order.workers += called;
    }

    /// Ends the workers that had no turn, and gives the descriptors back.
    pub(super) fn dismiss(&mut self) {
        self.started.clear();
        self.waiting.clear();
        self.opened = None;
    }

    /// Whose workers they are.
    pub(super) fn owner(&self) -> WindowOwner {
        self.order.owner
    }

    fn may_start_more(&self) -> bool {
        self.order.workers + self.order.reserve > 0
    }

    fn start_next(&mut self, opened: &OpenedCase) {
        let number = match self.policy {
            StartPolicy::AllAtOnce => self.order.workers,
            StartPolicy::OneAtATime => self.order.workers.min(1),
        };
        self.order.workers -= number;
        for _ in 0..number {
            let device = self.protocol.device_of_worker(self.position);
            self.started.push_back(self.spawn(opened, device));
            self.position += 1;
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
                    self.order.workers += number;
                    self.position -= number;
                    return Err(failure);
                }
            }
        }
        Ok(())
    }

    fn hear(&self, mut worker: WorkerClient) -> Result<ReadyWorker, RoleFailure> {
        let Protocol { within, interrupt, .. } = *self.protocol;
        let (confinement, start) = worker.ready(within, interrupt)?;
        Ok(ReadyWorker {
            worker,
            confinement,
            start,
        })
    }

    fn spawn(&self, opened: &OpenedCase, device: DeviceOrder) -> Result<WorkerClient, RoleFailure> {
        let hosted = HostedLaunch {
            library: self.case.library.files,
            library_path: self.case.library.search,
            benchmark: self.case.benchmark,
            request: self.case.request,
            guarded: self.guarded,
        };
        let page = opened.page_of(self.order.owner);
        let positions = || self.order.buffers.iter().copied();
        let layouts: Vec<_> = positions().map(|buffer| opened.layouts[buffer]).collect();
        let buffers: Vec<_> = positions().map(|buffer| opened.buffers[buffer].as_fd()).collect();
        let launch = WorkerLaunch {
            hosted: (self.case.recording.execution == Execution::Hosted).then_some(&hosted),
            device,
            method: opened.method,
            layouts: &layouts,
            modules: self.case.modules,
            annotation: self.case.annotation,
            recording: self.case.encoded,
            page: page.expect("every worker of a case has a page"),
            buffers: &buffers,
        };
        WorkerClient::spawn(&launch, self.protocol.output)
    }
}
