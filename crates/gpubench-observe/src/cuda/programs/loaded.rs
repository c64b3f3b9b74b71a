//! All programs, verified by the kernel.

use gpubench_bpf::{AttachType, BpfError, KernelTypes, Link, Moment, Program, ProgramKind};

use super::calls;
use super::code::Code;
use super::kernel::Offsets;
use super::processes;
use crate::cuda::map::{Maps, Recording, Scope};

/// What is recorded at an instruction of the driver. The upper half of a cookie.
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
    ReturnOfUnload,
    /// Records errors at the return, where nothing else tells them.
    ReturnOfFailure,
    /// Records errors where the stub goes after one.
    WayOut,
    Store,
    Launch,
    LaunchExtended,
    Enter,
    EnterWhileCapturing,
    /// The same, but where launches are recorded one by one, always.
    RecordEvent,
    Count,
}

/// Where the probe is in a cookie. Below is the number of the function.
pub(super) const PROBE_SHIFT: i32 = 32;

impl Probe {
    /// Returns the cookie of the probe at a function.
    pub(crate) fn cookie(self, function: u32) -> u64 {
        (self as u64) << PROBE_SHIFT | u64::from(function)
    }

    /// Returns the program that is attached for it.
    pub(crate) fn place(self) -> Place {
        match self {
            Probe::WayOut => Place::WaysOut,
            Probe::Store | Probe::Launch | Probe::LaunchExtended => Place::Entries,
            Probe::Enter | Probe::EnterWhileCapturing | Probe::RecordEvent | Probe::Count => Place::Entries,
            _ => Place::Returns,
        }
    }
}

/// Where a program is attached. There are few, since each takes 30 ms to remove. In this order they
/// are attached, so that each call whose begin is kept has its return recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    Returns,
    WaysOut,
    Entries,
}

impl Place {
    pub(crate) fn moment(self) -> Moment {
        match self {
            Place::Returns => Moment::Return,
            Place::WaysOut | Place::Entries => Moment::Entry,
        }
    }
}

/// The programs of one observation.
#[derive(Debug)]
pub(crate) struct Programs {
    returns: Program,
    ways_out: Program,
    entries: Program,
    fork: Program,
    exec: Program,
    exit: Program,
}

impl Programs {
    /// Has the kernel verify them.
    pub(crate) fn load(
        maps: &Maps,
        types: &KernelTypes,
        recording: Recording,
        attach: AttachType,
    ) -> Result<Programs, BpfError> {
        let kernel = Offsets::from_types(types)?;
        let begin = || Code::begin(maps, &kernel, recording);
        let load = |kind, attach, name: &str, code| Program::load(kind, attach, &format!("gpubench_{name}"), code);
        let probe = |name, code| load(ProgramKind::Probe, attach, name, code);
        let tracepoint = |name, code| load(ProgramKind::RawTracepoint, AttachType::Plain, name, code);
        Ok(Programs {
            returns: probe("returns", calls::returns(begin()))?,
            ways_out: probe("ways_out", calls::ways_out(begin()))?,
            entries: probe("entries", calls::entries(begin()))?,
            fork: tracepoint("fork", processes::fork(begin()))?,
            exec: tracepoint("exec", processes::exec(begin()))?,
            exit: tracepoint("exit", processes::exit(begin()))?,
        })
    }

    /// Returns the program of a place.
    pub(crate) fn at(&self, place: Place) -> &Program {
        match place {
            Place::Returns => &self.returns,
            Place::WaysOut => &self.ways_out,
            Place::Entries => &self.entries,
        }
    }

    /// Begins to follow processes.
    pub(crate) fn follow_processes(&self, scope: Scope) -> Result<Vec<Link>, BpfError> {
        let mut links = vec![
            Link::raw_tracepoint(&self.exit, c"sched_process_exit")?,
            Link::raw_tracepoint(&self.exec, c"sched_process_exec")?,
        ];
        if scope != Scope::Alone {
            links.push(Link::raw_tracepoint(&self.fork, c"sched_process_fork")?);
        }
        Ok(links)
    }
}
