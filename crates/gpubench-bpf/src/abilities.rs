//! What this machine lets this process observe.

use std::fmt;
use std::path::Path;

use crate::capabilities;
use crate::perf::{Records, Watched, Watchpoint, uprobe_source};
use crate::{
    Assembler, AttachType, BpfError, KernelTypes, Link, Moment, ProbePoint, Program, ProgramKind, Register, Within,
};

/// How much can be seen, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ability {
    /// Every call, with probes that attach at once.
    Probes,
    /// Every call, with probes that attach and detach one by one: Linux before 6.6.
    SlowProbes,
    /// Which files processes map, their forks and execs, and a watchpoint; no calls.
    Events,
    /// Nothing.
    Nothing,
}

/// What is missing for more, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What.
    pub what: String,
    /// How to get it.
    pub remedy: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.remedy)
    }
}

/// What this machine allows, tried rather than read from a version.
#[derive(Clone, Debug)]
pub struct Abilities {
    /// How much can be seen.
    pub ability: Ability,
    /// What is missing for more. `None` if nothing is.
    pub missing: Option<Missing>,
    /// Whether writes to a word of a process can be counted.
    pub watchpoint: bool,
    /// Whether processes can be followed from fork to exit.
    pub descendants: bool,
}

impl Abilities {
    /// Tries what works. Attaches nothing.
    pub fn here() -> Abilities {
        let own = std::process::id();
        let watched = 0_u32;
        let watchpoint = Watchpoint::on_writes(0, (&raw const watched).addr() as u64).is_ok();
        let events = Records::open(Watched::Process(own)).is_ok();
        let descendants = KernelTypes::are_there();
        let (ability, missing) = match probes() {
            Ok(Ability::Probes) => (Ability::Probes, blind_to_others()),
            Ok(ability) => (ability, Some(old_kernel())),
            Err(missing) if events || watchpoint => (Ability::Events, Some(missing)),
            Err(missing) => (Ability::Nothing, Some(missing)),
        };
        Abilities {
            ability,
            missing,
            watchpoint,
            descendants,
        }
    }

    /// Tries which probes work, [`Ability::Probes`] or [`Ability::SlowProbes`].
    ///
    /// # Errors
    ///
    /// If none do, what is missing.
    pub fn to_probe() -> Result<Ability, Missing> {
        probes()
    }

    /// Returns the way to attach programs, for [`Program::load`].
    pub fn attach_type(&self) -> AttachType {
        match self.ability {
            Ability::Probes => AttachType::UprobeMulti,
            Ability::SlowProbes | Ability::Events | Ability::Nothing => AttachType::Plain,
        }
    }
}

/// Returns what keeps a process that may observe calls from seeing those of others: it cannot read
/// which drivers they map. Nothing fails then, so nothing else tells.
fn blind_to_others() -> Option<Missing> {
    let is_blind = capabilities::lacking().contains(&capabilities::TO_LOOK_INTO_OTHERS);
    is_blind.then(|| Missing {
        what: "processes of other users may go unseen".to_owned(),
        remedy: capabilities::how_to_get_rights(),
    })
}

fn old_kernel() -> Missing {
    Missing {
        what: "probes attach one by one".to_owned(),
        remedy: "use Linux 6.6 or later".to_owned(),
    }
}

/// Returns which probes work. They read structures of the kernel, so its types must be known.
fn probes() -> Result<Ability, Missing> {
    if !KernelTypes::are_there() {
        return Err(Missing {
            what: "this kernel does not describe its types in `/sys/kernel/btf/vmlinux`".to_owned(),
            remedy: "use one built with `CONFIG_DEBUG_INFO_BTF=y`".to_owned(),
        });
    }
    let multi = nothing_at_all(AttachType::UprobeMulti);
    if multi.as_ref().is_ok_and(attaches_many) {
        return Ok(Ability::Probes);
    }
    match nothing_at_all(AttachType::Plain) {
        Ok(_) if uprobe_source().is_some() => Ok(Ability::SlowProbes),
        Ok(_) => Err(Missing {
            what: "this kernel has no uprobes".to_owned(),
            remedy: "use one built with `CONFIG_UPROBE_EVENTS=y`".to_owned(),
        }),
        Err(error) => Err(Missing {
            what: gpubench_diagnostic::chain(&error),
            remedy: gpubench_diagnostic::Expected::hint(&error)
                .unwrap_or_else(|| "use one built with `CONFIG_BPF_SYSCALL=y`".to_owned()),
        }),
    }
}

fn nothing_at_all(attach: AttachType) -> Result<Program, BpfError> {
    let mut code = Assembler::new();
    code.set(Register::R0, 0).exit();
    Program::load(ProgramKind::Probe, attach, "gpubench_ability", code)
}

/// Whether the kernel attaches programs to many functions: it then says that a folder is no file.
fn attaches_many(program: &Program) -> bool {
    let point = ProbePoint { offset: 0, cookie: 0 };
    let attached = Link::uprobe_multi(program, Path::new("/"), &[point], Moment::Entry, Within::AllProcesses);
    matches!(attached, Err(BpfError::Refused { source, .. }) if source.raw_os_error() == Some(libc::EBADF))
}
