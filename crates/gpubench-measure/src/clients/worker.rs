//! The broker's handle of a worker.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kept_profiles::KeptProfiles;
use super::observer::{Observation, ObserverProgram};
use super::spawn::Session;
use super::{Child, Interrupt, Output, RoleEnvironment, RoleFailure, RoleName};
use crate::timeline;
use gpubench::DeviceKind;
use gpubench_contract::MetricKind;
use gpubench_device::{Absence, Backend, Count, CounterHold, DeviceOrder, FrozenFile, Launcher, monotonic_ns};
use gpubench_diagnostic::{Purpose, TemporaryFolder};
use gpubench_protocol::window::WindowCalls;
use gpubench_protocol::wire::{
    BufferLayout, Claim, Observer, Problem, SandboxReport, SourceModule, WindowOrder, WorkerSetup, decode_counts,
    encode_modules, from_worker, module_descriptors, read_head, to_worker,
};
use gpubench_sandbox::{Confinement, Rights};

/// A worker's process.
#[derive(Debug)]
pub struct WorkerClient {
    child: Child,
    /// The private folder of a worker with host code or under a launcher, removed after its end.
    private_folder: Option<TemporaryFolder>,
    /// The counts of the last window, if it was counted.
    counts: Vec<Count>,
    profiles: Option<KeptProfiles>,
    past: WorkerPast,
    /// When its last set-up was sent, in nanoseconds.
    setup_sent_ns: u64,
    observed: Option<Observed>,
}

/// The program that observes a worker.
#[derive(Debug)]
struct Observed {
    program: ObserverProgram,
    log: PathBuf,
}

/// The data for a worker's set-up.
#[derive(Debug)]
pub struct WorkerLaunch<'a> {
    /// The device.
    pub device: DeviceOrder,
    /// The calls of its windows.
    pub calls: WindowCalls,
    /// What is read in timed windows.
    pub metric: MetricRequest<'a>,
    /// How long it keeps the counters of a GPU.
    pub hold: CounterHold,
    /// Compiled kernels, by position of their source.
    pub modules: &'a [SourceModule],
    /// The name of the windows in a profiler, if they are annotated.
    pub annotation: Option<&'a str>,
    /// The program that observes the worker, if there is one.
    pub observed_by: Option<ObservedBy<'a>>,
    /// The encoded recording.
    pub recording: &'a [u8],
    /// The user's host code, if the benchmark is hosted.
    pub hosted: Option<&'a HostedLaunch<'a>>,
    /// What it shares with the referee.
    pub memory: SharedMemory<'a>,
}

/// The memory that a worker shares with the referee.
#[derive(Clone, Copy, Debug)]
pub struct SharedMemory<'a> {
    /// The page.
    pub page: BorrowedFd<'a>,
    /// All buffers.
    pub buffers: &'a [BorrowedFd<'a>],
    /// The layout of every buffer.
    pub layouts: &'a [BufferLayout],
    /// Number of sides whose outputs are among the buffers.
    pub sides: usize,
}

/// What a worker reads in timed windows.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetricRequest<'a> {
    /// What it is an amount of.
    pub kind: MetricKind,
    /// The names of hardware metrics.
    pub names: &'a [String],
    /// The beginning of the paths at which callgrind's profiles of the last call are kept, if they
    /// are.
    pub profiles: Option<&'a Path>,
}

/// The additional data for a hosted worker.
#[derive(Debug, Default)]
pub struct HostedLaunch<'a> {
    /// The libraries that the user's cdylib needs, then the cdylib.
    pub library: &'a [FrozenFile],
    /// Folders to search for shared libraries that it loads at run time.
    pub library_path: &'a [PathBuf],
    /// Position of the benchmark in its catalog.
    pub benchmark: u32,
    /// The encoded request of the recording.
    pub request: &'a [u8],
    /// Processes, besides the broker, whose memory the worker must not reach.
    pub guarded: [u32; 2],
}

/// A program that observes a worker.
#[derive(Debug)]
pub struct ObservedBy<'a> {
    /// The program.
    pub program: &'a ObserverProgram,
    /// Kernels of the tool, which a sanitizer need not check.
    pub unchecked: Vec<&'static str>,
}

/// The result of a worker's set-up.
#[derive(Debug)]
pub enum Start {
    /// The worker is ready. The value is the median time between two events with nothing between
    /// them, in nanoseconds.
    Ready(f64),
    /// The set-up of the user's host code failed with this message.
    Refused(String),
}

/// Whether a worker has been measured before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerPast {
    /// It is fresh.
    New,
    /// It has rested since an earlier measurement of its case.
    Rested,
}

/// Returns the rights that a worker needs: to read the counters of a GPU, unless host code runs in
/// it.
fn rights_of(launch: &WorkerLaunch<'_>) -> Rights {
    let observer = launch.observed_by.as_ref().map(|by| by.program.observer());
    let counts = launch.hosted.is_none() && launch.metric.kind.needs_counters();
    let reads_counters = counts || observer == Some(Observer::Profiler);
    match (launch.device.kind(), reads_counters) {
        (DeviceKind::Cuda, true) => Rights::CountOnGpu,
        _ => Rights::None,
    }
}

impl WorkerClient {
    /// Starts a worker and sends its set-up. [`WorkerClient::ready`] waits for the result.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(launch: &WorkerLaunch<'_>, output: Output) -> Result<WorkerClient, RoleFailure> {
        let library_path = launch.hosted.map_or(&[][..], |hosted| hosted.library_path);
        let needs_counters = launch.metric.kind.needs_counters();
        let rights = rights_of(launch);
        let mut worker = match (&launch.observed_by, launch.hosted, needs_counters) {
            (Some(observed_by), ..) => WorkerClient::start_observed(output, library_path, rights, observed_by)?,
            (None, None, false) => WorkerClient::idle(output)?,
            (None, Some(_), false) => {
                WorkerClient::start_with_folder(output, library_path, (rights, Session::Own), |_| Ok(None))?
            }
            (None, _, true) => {
                let counted_under = Backend::for_order(&launch.device).counted_under;
                let worker =
                    WorkerClient::start_with_folder(output, library_path, (rights, Session::Own), counted_under)?;
                let kept = worker.private_folder.as_ref().zip(launch.metric.profiles);
                let profiles = kept.map(|(folder, kept_as)| KeptProfiles::new(folder.path(), kept_as));
                WorkerClient { profiles, ..worker }
            }
        };
        worker.set_up(to_worker::SETUP, launch)?;
        Ok(worker)
    }

    /// Starts a worker without a set-up.
    pub(super) fn idle(output: Output) -> Result<WorkerClient, RoleFailure> {
        let child = Child::spawn(RoleName::Worker, output, RoleEnvironment::default())?;
        Ok(WorkerClient::new(child))
    }

    /// Returns the worker of a new process.
    fn new(child: Child) -> WorkerClient {
        WorkerClient {
            child,
            private_folder: None,
            counts: Vec::new(),
            profiles: None,
            past: WorkerPast::New,
            setup_sent_ns: 0,
            observed: None,
        }
    }

    fn start_observed(
        output: Output,
        library_path: &[PathBuf],
        rights: Rights,
        observed_by: &ObservedBy<'_>,
    ) -> Result<WorkerClient, RoleFailure> {
        let ObservedBy { program, unchecked } = observed_by;
        let session = match program.observer() {
            Observer::Debugger => Session::OfBroker,
            _ => Session::Own,
        };
        let mut log = PathBuf::new();
        let worker = WorkerClient::start_with_folder(output, library_path, (rights, session), |folder| {
            log = folder.join("log");
            Ok(Some(program.launcher(&log, unchecked)))
        })?;
        let program = ObserverProgram::clone(program);
        Ok(WorkerClient {
            observed: Some(Observed { program, log }),
            ..worker
        })
    }

    fn start_with_folder(
        output: Output,
        library_path: &[PathBuf],
        (rights, session): (Rights, Session),
        launcher: impl FnOnce(&Path) -> Result<Option<Launcher>, Absence>,
    ) -> Result<WorkerClient, RoleFailure> {
        let role = RoleName::Worker;
        let private = TemporaryFolder::new(Purpose::Worker).map_err(|source| RoleFailure::Spawn { role, source })?;
        let launcher = launcher(private.path()).map_err(|absence| RoleFailure::Failed {
            role,
            text: absence.to_string(),
        })?;
        let environment = RoleEnvironment {
            library_path,
            private: Some(private.path()),
            launcher: launcher.as_ref(),
            rights,
            session,
        };
        let child = Child::spawn(role, output, environment)?;
        Ok(WorkerClient {
            private_folder: Some(private),
            ..WorkerClient::new(child)
        })
    }

    /// Sends a set-up, which replaces the previous one.
    pub(crate) fn set_up(&mut self, kind: u32, launch: &WorkerLaunch<'_>) -> Result<(), RoleFailure> {
        self.setup_sent_ns = monotonic_ns();
        let none = HostedLaunch::default();
        let hosted = launch.hosted.unwrap_or(&none);
        let modules = encode_modules(launch.modules);
        let metrics: String = launch.metric.names.iter().map(|name| format!("{name}\n")).collect();
        let annotation = launch.annotation.unwrap_or_default().as_bytes();
        let setup = WorkerSetup {
            buffers: launch.memory.layouts.len() as u32,
            module_bytes: modules.len() as u32,
            annotation_bytes: annotation.len() as u32,
            benchmark: hosted.benchmark,
            library_files: hosted.library.len() as u32,
            request_bytes: hosted.request.len() as u32,
            guarded: hosted.guarded,
            calls: launch.calls,
            // An observer counts from outside.
            metric: match launch.observed_by {
                Some(_) => MetricKind::Time,
                None => launch.metric.kind,
            },
            metric_bytes: metrics.len() as u32,
            observer: launch
                .observed_by
                .as_ref()
                .map_or(Observer::None, |by| by.program.observer()),
            hold: launch.hold,
            sides: launch.memory.sides as u32,
            reserved: 0,
            device: launch.device,
        };
        let parts = [
            bytemuck::bytes_of(&setup),
            bytemuck::cast_slice(launch.memory.layouts),
            &modules,
            metrics.as_bytes(),
            annotation,
            hosted.request,
            launch.recording,
        ];
        let buffers = launch.memory.buffers.iter().copied();
        let code = module_descriptors(launch.modules).chain(hosted.library.iter().map(AsFd::as_fd));
        let descriptors: Vec<_> = std::iter::once(launch.memory.page).chain(buffers).chain(code).collect();
        self.child.send(kind, &parts, &descriptors)
    }

    /// Returns the process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Ends the process and returns its last output.
    pub fn last_output(&mut self) -> String {
        self.child.kill();
        let _ = self.child.end();
        self.child.log_tail()
    }

    /// Ends an observed worker, waits for the end of its observer, and returns what it reports.
    /// Returns nothing for other workers, which stay as they are.
    pub fn observation(&mut self, within: Duration, interrupt: &Interrupt) -> Option<Observation> {
        let observed = self.observed.as_ref()?;
        let end = self.child.finish(within, interrupt);
        let printed = self.child.log_tail();
        Some(observed.program.observation(end, &observed.log, &printed))
    }

    /// Waits for the report of the worker's sandbox, then for the kernels or the user's host code
    /// to be set up. The report comes before any code of the user is loaded, so it can be trusted.
    ///
    /// # Errors
    /// If the worker fails.
    pub fn ready(&mut self, within: Duration, interrupt: &Interrupt) -> Result<(Confinement, Start), RoleFailure> {
        let frame = self.child.expect(from_worker::SANDBOX, within, interrupt)?;
        let report: SandboxReport = self.child.record(&frame)?;
        let frame = self.child.receive(within, interrupt)?;
        let start = if frame.kind == from_worker::REFUSED {
            let problem: Problem = self.child.record(&frame)?;
            Start::Refused(problem.text.printable())
        } else {
            let frame = self.child.check_kind(frame, from_worker::READY)?;
            Start::Ready(self.child.record(&frame)?)
        };
        timeline::note(self.child.track(), "is set up", [self.setup_sent_ns, monotonic_ns()]);
        Ok((Confinement::from(&report), start))
    }

    /// Makes the worker release its case's buffers, and waits for it. Returns the shortest time
    /// between two events with nothing between them, in nanoseconds.
    pub(super) fn hand_back(&mut self, within: Duration, interrupt: &Interrupt) -> Result<f64, RoleFailure> {
        self.child.send(to_worker::HAND_BACK, &[], &[])?;
        let frame = self.child.expect(from_worker::HANDED_BACK, within, interrupt)?;
        self.child.record(&frame)
    }

    /// Makes the worker release its case's buffers, and waits for it. Its device stays open for the
    /// next set-up.
    pub(crate) fn rest(&mut self, within: Duration, interrupt: &Interrupt) -> Result<(), RoleFailure> {
        self.child.send(to_worker::REST, &[], &[])?;
        self.child.expect(from_worker::RESTS, within, interrupt)?;
        self.past = WorkerPast::Rested;
        Ok(())
    }

    /// Makes the worker map other memory in place of that of its buffers, and waits for it.
    ///
    /// # Errors
    /// If the worker fails.
    pub fn replace_memory(
        &mut self,
        buffers: &[BorrowedFd<'_>],
        within: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), RoleFailure> {
        let _maps = timeline::span(self.child.track(), "maps new memory");
        self.child.send(to_worker::REPLACE_MEMORY, &[], buffers)?;
        self.child
            .expect(from_worker::MEMORY_REPLACED, within, interrupt)
            .map(drop)
    }

    /// Returns whether it has been measured before.
    pub(crate) fn past(&self) -> WorkerPast {
        self.past
    }

    /// Makes the worker queue a window that waits for *go*.
    ///
    /// # Errors
    /// If the worker has ended or answers otherwise.
    pub fn arm(&mut self, order: &WindowOrder, within: Duration, interrupt: &Interrupt) -> Result<(), RoleFailure> {
        self.child.send(to_worker::ARM, &[bytemuck::bytes_of(order)], &[])?;
        let frame = self.child.expect(from_worker::ARMED, within, interrupt)?;
        let armed: WindowOrder = self.child.record(&frame)?;
        if armed.window != order.window || armed.kind != order.kind {
            let text = format!("it armed window `{}` instead of `{}`", armed.window, order.window);
            return Err(RoleFailure::protocol(RoleName::Worker, text));
        }
        Ok(())
    }

    /// Waits for the claim.
    ///
    /// # Errors
    /// If the worker has ended, claims another window or does not claim in time.
    pub fn claim(&mut self, window: u32, within: Duration, interrupt: &Interrupt) -> Result<Box<Claim>, RoleFailure> {
        let frame = self.child.expect(from_worker::CLAIM, within, interrupt)?;
        let damaged = || RoleFailure::protocol(RoleName::Worker, "its claim is damaged".to_owned());
        let (claim, counts) = read_head::<Claim>(&frame.payload).map_err(|_| damaged())?;
        self.counts = decode_counts(counts).ok_or_else(damaged)?;
        if let Some(profiles) = self.profiles.as_mut().filter(|_| !self.counts.is_empty()) {
            profiles.keep_last_call().map_err(|error| RoleFailure::Failed {
                role: RoleName::Worker,
                text: format!("a profile of callgrind cannot be kept: {error}"),
            })?;
        }
        if claim.window != window {
            let text = format!("it claimed window `{}` instead of `{window}`", claim.window);
            return Err(RoleFailure::protocol(RoleName::Worker, text));
        }
        Ok(Box::new(claim))
    }
}

impl WorkerClient {
    /// Returns the counts of the last window; none if it was not counted.
    pub fn take_counts(&mut self) -> Vec<Count> {
        std::mem::take(&mut self.counts)
    }
}

#[cfg(test)]
impl WorkerClient {
    /// A worker that a test simulates.
    pub(crate) fn simulated(child: Child) -> WorkerClient {
        WorkerClient::new(child)
    }

    /// A simulated worker that a program observes, which writes no log.
    pub(crate) fn simulated_under(program: ObserverProgram, child: Child) -> WorkerClient {
        WorkerClient {
            observed: Some(Observed {
                program,
                log: PathBuf::new(),
            }),
            ..WorkerClient::new(child)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_hands_back_reports_the_shortest_time_between_events() {
        let (child, worker) = Child::simulated(RoleName::Worker);
        worker.send_record(from_worker::HANDED_BACK, &1_184.0_f64).unwrap();
        let within = Duration::from_secs(60);
        let shortest_ns = WorkerClient::simulated(child).hand_back(within, &Interrupt::default());
        assert_eq!(shortest_ns.unwrap(), 1_184.0);
    }
}
