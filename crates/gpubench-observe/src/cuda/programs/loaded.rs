//! All programs, verified by the kernel.

use std::collections::BTreeMap;

use gpubench_bpf::{Assembler, AttachType, BpfError, KernelTypes, Link, Moment, Program, ProgramKind};

use super::calls::{Entered, FailureSeen, Returned, count, entered, failed, returned, store};
use super::code::Code;
use super::kernel::Offsets;
use super::processes;
use crate::cuda::map::{Maps, Scope};

/// A program at functions of the driver. In this order they are attached: those at returns first,
/// so that each call whose begin is kept has its return recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Probe {
    Return,
    ReturnWithName,
    ReturnWithNameOut,
    ReturnWithArray,
    ReturnWithCopy2,
    ReturnWithCopy3,
    ReturnOfBegin,
    ReturnOfEnd,
    /// Records errors at the return, where nothing else tells them.
    ReturnOfFailure,
    /// Records errors where the stub goes after one.
    WayOut,
    Store,
    Launch,
    LaunchExtended,
    Enter,
    EnterWhileCapturing,
    Count,
}

/// Blocks in z, shared memory, stream: the arguments of a launch after the sixth.
const LAUNCH_STACK: i16 = 24;
/// `CUlaunchConfig` up to the number of its attributes.
const LAUNCH_CONFIGURATION: i32 = 56;
/// `CUDA_ARRAY3D_DESCRIPTOR`. The one of two dimensions is shorter.
const ARRAY: i32 = 40;
/// `CUDA_MEMCPY2D` and `CUDA_MEMCPY3D`.
const COPY_2D: i32 = 128;
const COPY_3D: i32 = 200;

impl Probe {
    const ALL: [Probe; 16] = [
        Probe::Return,
        Probe::ReturnWithName,
        Probe::ReturnWithNameOut,
        Probe::ReturnWithArray,
        Probe::ReturnWithCopy2,
        Probe::ReturnWithCopy3,
        Probe::ReturnOfBegin,
        Probe::ReturnOfEnd,
        Probe::ReturnOfFailure,
        Probe::WayOut,
        Probe::Store,
        Probe::Launch,
        Probe::LaunchExtended,
        Probe::Enter,
        Probe::EnterWhileCapturing,
        Probe::Count,
    ];

    pub(crate) fn moment(self) -> Moment {
        match self {
            Probe::WayOut | Probe::Store | Probe::Launch | Probe::LaunchExtended => Moment::Entry,
            Probe::Enter | Probe::EnterWhileCapturing | Probe::Count => Moment::Entry,
            _ => Moment::Return,
        }
    }

    fn code(self, code: Code<'_>) -> Assembler {
        match self {
            Probe::Return => returned(code, Returned::Out),
            Probe::ReturnWithName => returned(code, Returned::Text(2)),
            Probe::ReturnWithNameOut => returned(code, Returned::TextOut),
            Probe::ReturnWithArray => returned(code, Returned::Structure(1, ARRAY)),
            Probe::ReturnWithCopy2 => returned(code, Returned::Structure(0, COPY_2D)),
            Probe::ReturnWithCopy3 => returned(code, Returned::Structure(0, COPY_3D)),
            Probe::ReturnOfBegin => returned(code, Returned::CaptureBegins),
            Probe::ReturnOfEnd => returned(code, Returned::CaptureEnds),
            Probe::ReturnOfFailure => failed(code, FailureSeen::AtReturn),
            Probe::WayOut => failed(code, FailureSeen::OnTheWayOut),
            Probe::Store => store(code),
            Probe::Launch => entered(code, Entered::Stack(LAUNCH_STACK)),
            Probe::LaunchExtended => entered(code, Entered::Structure(LAUNCH_CONFIGURATION)),
            Probe::Enter => entered(code, Entered::Arguments),
            Probe::EnterWhileCapturing => entered(code, Entered::WhileCapturing),
            Probe::Count => count(code),
        }
    }
}

/// The programs of one observation.
#[derive(Debug)]
pub(crate) struct Programs {
    probes: BTreeMap<Probe, Program>,
    fork: Program,
    exec: Program,
    exit: Program,
}

impl Programs {
    /// Has the kernel verify them.
    pub(crate) fn load(
        maps: &Maps,
        types: &KernelTypes,
        scope: Scope,
        attach: AttachType,
    ) -> Result<Programs, BpfError> {
        let kernel = Offsets::of(types)?;
        let begin = || Code::begin(maps, &kernel, scope);
        let load = |kind, attach, name: &str, code| Program::load(kind, attach, &format!("gpubench_{name}"), code);
        let probe = |probe: Probe| {
            let name = format!("{probe:?}").replace("Return", "Ret");
            let program = load(ProgramKind::Probe, attach, &name, probe.code(begin()))?;
            Ok((probe, program))
        };
        let tracepoint = |name, code| load(ProgramKind::RawTracepoint, AttachType::Plain, name, code);
        Ok(Programs {
            probes: Probe::ALL.into_iter().map(probe).collect::<Result<_, BpfError>>()?,
            fork: tracepoint("fork", processes::fork(begin()))?,
            exec: tracepoint("exec", processes::exec(begin()))?,
            exit: tracepoint("exit", processes::exit(begin()))?,
        })
    }

    /// Returns the program of a probe.
    pub(crate) fn probe(&self, probe: Probe) -> &Program {
        &self.probes[&probe]
    }

    /// Begins to follow processes.
    pub(crate) fn follow_processes(&self) -> Result<Vec<Link>, BpfError> {
        Ok(vec![
            Link::raw_tracepoint(&self.exit, c"sched_process_exit")?,
            Link::raw_tracepoint(&self.exec, c"sched_process_exec")?,
            Link::raw_tracepoint(&self.fork, c"sched_process_fork")?,
        ])
    }
}
