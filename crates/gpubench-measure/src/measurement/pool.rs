//! The worker pool of an arm.

use std::collections::VecDeque;
use std::rc::Rc;

use gpubench::catalog::Execution;
use gpubench::plan::Step;

use super::case::ReadyCase;
use super::idle_workers::{Another, IdleWorkers};
use super::leaving_workers::LeavingWorkers;
use super::protocol::Protocol;
use crate::clients::{
    HostedLaunch, ObservedBy, OpenedCase, RoleFailure, SharedMemory, Start, WorkerClient, WorkerLaunch,
};
use gpubench_device::harness::kernel_names;
use gpubench_device::{CounterHold, DeviceOrder, KernelHost};
use gpubench_protocol::window::WindowOwner;
use gpubench_protocol::wire::to_worker;
use gpubench_sandbox::Confinement;

/// Most workers of all pools that start at the same time. A context on a GPU takes about half a
/// GiB of its memory.
const MOST_AT_ONCE: usize = 20;

/// When the workers of a case start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartPolicy {
    /// All before the first window, or as many as [`MOST_AT_ONCE`] allows, and the others between
    /// two rounds. Creating a context takes long and would disturb another worker's windows.
    /// Waiting workers hold the buffers, but no code that could use them.
    AllAtOnce,
    /// Each after the end of the previous one. A process with user code must not wait while another
    /// one is measured.
    OneAtATime,
}

impl StartPolicy {
    fn new(case: &ReadyCase<'_>, protocol: &Protocol<'_>) -> StartPolicy {
        match (case.recording.execution, protocol.kernels_run_in) {
            (Execution::Sealed, KernelHost::Referee) => StartPolicy::AllAtOnce,
            (Execution::Sealed, KernelHost::Author) | (Execution::Hosted | Execution::HostedSync, _) => {
                StartPolicy::OneAtATime
            }
        }
    }
}

/// The workers of an arm, fresh for the case. One is measured at a time.
pub(super) struct WorkerPool<'a> {
    case: &'a ReadyCase<'a>,
    protocol: &'a Protocol<'a>,
    /// The workers still to start.
    order: PoolOrder,
    /// Processes whose memory hosted workers must not reach.
    guarded: [u32; 2],
    policy: StartPolicy,
    /// Number of workers started so far.
    position: usize,
    started: VecDeque<Result<WorkerClient, RoleFailure>>,
    waiting: VecDeque<ReadyWorker>,
    resting: RestingWorkers,
    leaving: LeavingWorkers,
    /// How long its workers keep the counters of a GPU.
    hold: CounterHold,
    /// The descriptors for the workers still to start.
    opened: Option<Rc<OpenedCase>>,
}

/// Workers that rest between two measurements.
struct RestingWorkers {
    /// Those of an earlier measurement, which are set up again before new ones start.
    earlier: Vec<WorkerClient>,
    /// Those that rest after their round, for the next measurement.
    later: Vec<WorkerClient>,
    another: Another,
}

/// The workers that a pool starts.
pub(super) struct PoolOrder {
    pub(super) owner: WindowOwner,
    pub(super) workers: usize,
    /// How many more workers may be added.
    pub(super) reserve: usize,
    /// Number of pools that start at the same time.
    pub(super) pools: usize,
}

impl PoolOrder {
    /// Returns how long a worker keeps the counters of a GPU: as long as it lives if no other
    /// worker counts.
    fn hold(&self) -> CounterHold {
        match (self.pools, self.workers + self.reserve) {
            (1, 1) => CounterHold::UntilDropped,
            _ => CounterHold::EachCall,
        }
    }
}

/// A worker after its set-up.
pub(super) struct ReadyWorker {
    pub(super) worker: WorkerClient,
    /// The state of the worker's sandbox.
    pub(super) confinement: Confinement,
    pub(super) start: Start,
}

impl<'a> WorkerPool<'a> {
    /// Whether the user's code runs in the process of a worker.
    pub(super) fn runs_user_code(&self) -> bool {
        self.policy == StartPolicy::OneAtATime
    }

    /// Starts the first worker, or all that may wait at the same time. [`WorkerPool::next`] waits
    /// for their set-up.
    pub(super) fn start(
        case: &'a ReadyCase<'a>,
        protocol: &'a Protocol<'a>,
        order: PoolOrder,
        guarded: [u32; 2],
        opened: &OpenedCase,
        idle: &mut IdleWorkers,
    ) -> WorkerPool<'a> {
        let mut pool = WorkerPool {
            case,
            protocol,
            resting: RestingWorkers {
                earlier: if protocol.workers_can_rest() {
                    idle.take(order.owner)
                } else {
                    Vec::new()
                },
                later: Vec::new(),
                another: idle.another(),
            },
            leaving: LeavingWorkers::default(),
            policy: StartPolicy::new(case, protocol),
            hold: order.hold(),
            order,
            guarded,
            position: 0,
            started: VecDeque::new(),
            waiting: VecDeque::new(),
            opened: None,
        };
        pool.start_next(opened);
        pool
    }

    /// Keeps the descriptors if more workers may start. A descriptor that nobody needs could only
    /// be misused.
    pub(super) fn keep_descriptors(&mut self, opened: Rc<OpenedCase>) {
        // If memory does not suffice for all workers, they start again one by one, when those of
        // the batch before have ended.
        if self.may_start_more() || self.policy == StartPolicy::AllAtOnce {
            self.opened = Some(opened);
        }
    }

    /// Replaces the descriptors for the workers still to start, if there are any.
    pub(super) fn renew_descriptors(&mut self, opened: &Rc<OpenedCase>) {
        if let Some(kept) = &mut self.opened {
            *kept = Rc::clone(opened);
        }
    }

    /// Returns the next worker after the set-up of all that were started with it.
    ///
    /// # Errors
    /// If one of them could not be started or set up.
    pub(super) fn next(&mut self) -> Result<ReadyWorker, RoleFailure> {
        if self.waiting.is_empty() {
            if self.started.is_empty()
                && let Some(opened) = self.opened.take()
            {
                self.start_next(&opened);
                self.keep_descriptors(opened);
            }
            let started = self.await_started();
            self.leaving.await_ends();
            match started {
                Err(RoleFailure::OutOfMemory { .. })
                    if self.policy == StartPolicy::AllAtOnce && self.opened.is_some() =>
                {
                    self.policy = StartPolicy::OneAtATime;
                    self.resting.earlier.clear();
                    self.resting.later.clear();
                    return self.next();
                }
                started => started?,
            }
        }
        if !self.may_start_more() {
            self.opened = None;
        }
        Ok(self.waiting.pop_front().expect("`next` is called once for each worker"))
    }

    /// Adds workers from the reserve.
    pub(super) fn add_workers(&mut self, workers: usize) {
        let called = workers.min(self.order.reserve);
        self.order.reserve -= called;
        self.order.workers += called;
    }

    /// Ends the waiting workers and drops the descriptors.
    pub(super) fn dismiss(&mut self) {
        self.started.clear();
        self.waiting.clear();
        self.resting.earlier.clear();
        self.opened = None;
    }

    /// Receives a worker after its round. It rests if another measurement can use it, or ends: at
    /// once if it has host code, else with others.
    pub(super) fn retire(&mut self, mut worker: WorkerClient) {
        let Protocol { within, interrupt, .. } = *self.protocol;
        match (self.workers_can_wait(), self.resting.another) {
            (false, _) => {}
            (true, Another::No) => self.leaving.add(worker, within, interrupt),
            (true, Another::Follows) => {
                if worker.rest(within, interrupt).is_ok() {
                    self.resting.later.push(worker);
                }
            }
        }
    }

    /// Whether its workers may live while others are measured, without a case of their own.
    fn workers_can_wait(&self) -> bool {
        self.policy == StartPolicy::AllAtOnce && self.protocol.workers_can_rest()
    }

    /// Returns the workers that are not needed any more.
    pub(super) fn take_leaving(&mut self) -> LeavingWorkers {
        std::mem::take(&mut self.leaving)
    }

    /// Returns the resting workers.
    pub(super) fn take_rested(&mut self) -> Vec<WorkerClient> {
        std::mem::take(&mut self.resting.later)
    }

    /// The side that the workers belong to.
    pub(super) fn owner(&self) -> WindowOwner {
        self.order.owner
    }

    fn may_start_more(&self) -> bool {
        self.order.workers + self.order.reserve > 0
    }

    fn start_next(&mut self, opened: &OpenedCase) {
        let number = match self.policy {
            StartPolicy::AllAtOnce => self.order.workers.min((MOST_AT_ONCE / self.order.pools).max(1)),
            StartPolicy::OneAtATime => self.order.workers.min(1),
        };
        self.order.workers -= number;
        self.leaving.end();
        for _ in 0..number {
            let device = self.protocol.device_of_worker(self.position);
            let worker = self.spawn(opened, device);
            self.started.push_back(worker);
            self.position += 1;
        }
    }

    /// Waits for the set-up of all started workers. If one fails, the others end.
    fn await_started(&mut self) -> Result<(), RoleFailure> {
        let started = std::mem::take(&mut self.started);
        let number = started.len();
        for worker in started {
            match worker.and_then(|worker| self.await_ready(worker)) {
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

    fn await_ready(&self, mut worker: WorkerClient) -> Result<ReadyWorker, RoleFailure> {
        let Protocol { within, interrupt, .. } = *self.protocol;
        let (confinement, start) = worker.ready(within, interrupt)?;
        Ok(ReadyWorker {
            worker,
            confinement,
            start,
        })
    }

    /// Returns the observer of the workers. Kernels of the plan are checked whatever their names.
    fn observed_by(&self) -> Option<ObservedBy<'a>> {
        let steps = &self.case.recording.plan.steps;
        let is_in_plan = |name: &str| {
            let mut steps = steps.iter();
            steps.any(|step| matches!(step, Step::Launch(launch) if launch.kernel.name == name))
        };
        Some(ObservedBy {
            program: self.protocol.observer?,
            unchecked: kernel_names().filter(|name| !is_in_plan(name)).collect(),
        })
    }

    fn spawn(&mut self, opened: &OpenedCase, device: DeviceOrder) -> Result<WorkerClient, RoleFailure> {
        let hosted = HostedLaunch {
            library: self.case.library.files,
            library_path: self.case.library.search,
            benchmark: self.case.benchmark,
            request: self.case.request,
            guarded: self.guarded,
        };
        let page = opened.page_of(self.order.owner);
        let (layouts, buffers) = opened.at(&opened.allocations.of_sides()[self.order.owner.position()]);
        let launch = WorkerLaunch {
            hosted: (self.case.recording.execution.is_hosted()).then_some(&hosted),
            device,
            calls: opened.calls,
            metric: self.protocol.metric,
            hold: self.hold,
            modules: self.case.modules,
            annotation: self.case.annotation,
            observed_by: self.observed_by(),
            recording: self.case.encoded,
            memory: SharedMemory {
                page: page.expect("every worker of a case has a page"),
                buffers: &buffers,
                layouts: &layouts,
                sides: 1,
            },
        };
        // A worker that ended while it rested is replaced.
        while let Some(mut worker) = self.resting.earlier.pop() {
            if worker.set_up(to_worker::SETUP, &launch).is_ok() {
                return Ok(worker);
            }
        }
        WorkerClient::spawn(&launch, self.protocol.output)
    }
}

#[cfg(test)]
impl<'a> WorkerPool<'a> {
    /// The same pool, whose next worker fails to start.
    pub(super) fn failing(mut self, failure: RoleFailure) -> WorkerPool<'a> {
        self.started.push_back(Err(failure));
        self.position += 1;
        self
    }

    /// A pool of workers that a test simulates.
    pub(super) fn simulated(
        case: &'a ReadyCase<'a>,
        protocol: &'a Protocol<'a>,
        owner: WindowOwner,
        workers: Vec<WorkerClient>,
    ) -> WorkerPool<'a> {
        let ready = |worker| ReadyWorker {
            worker,
            confinement: Confinement::Closed,
            start: Start::Ready(0.0),
        };
        let order = PoolOrder {
            owner,
            workers: 0,
            reserve: 0,
            pools: 1,
        };
        WorkerPool {
            case,
            protocol,
            hold: order.hold(),
            order,
            guarded: [0; 2],
            policy: StartPolicy::new(case, protocol),
            position: workers.len(),
            started: VecDeque::new(),
            waiting: workers.into_iter().map(ready).collect(),
            resting: RestingWorkers {
                earlier: Vec::new(),
                later: Vec::new(),
                another: Another::No,
            },
            leaving: LeavingWorkers::default(),
            opened: None,
        }
    }
}
