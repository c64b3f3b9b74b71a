//! What `cargo gpubench` and `gpubench-probe` tell each other, as JSON lines over a pipe.
//!
//! Both programs are of one version, so these records have no schema of their own.

use serde::{Deserialize, Serialize};

use super::words::words;

words! {
    /// How much of the CUDA driver's calls can be observed on a machine.
    pub enum Ability {
        /// Every call, with probes that attach at once.
        Probes = "probes",
        /// Every call, with probes that attach and detach one by one: Linux before 6.6.
        SlowProbes = "slow-probes",
        /// Which files processes map, their forks and execs, and a watchpoint; no calls.
        Events = "events",
        /// Nothing.
        Nothing = "nothing",
    }
}

/// What a machine lets `gpubench-probe` observe, as its caller runs it. Printed by
/// `gpubench-probe --abilities`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeAbilities {
    /// Version of the program.
    pub tool_version: String,
    /// How much can be seen.
    pub ability: Ability,
    /// What is missing for more. Null if nothing is.
    pub missing: Option<MissingAbility>,
    /// Whether writes to a word of a process can be counted.
    pub watchpoint: bool,
    /// Whether processes can be followed from fork to exit.
    pub descendants: bool,
}

/// What is missing for more, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingAbility {
    /// What.
    pub what: String,
    /// How to get it.
    pub remedy: String,
}

/// What an audit asks of `gpubench-probe --audit`, a line each. Each has one answer, but
/// [`AuditRequest::End`], which has one for each thing that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum AuditRequest {
    /// Watch the GPU's doorbell of this process.
    Watch {
        /// The process.
        process: u32,
    },
    /// Stop watching it, and say how often it submitted work.
    Count {
        /// The process.
        process: u32,
    },
    /// Remove all probes, say what was seen, and end.
    End,
}

/// What `gpubench-probe --audit` answers, a line each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum AuditAnswer {
    /// The probes are attached. Nobody asked for it: it is the first line.
    Begun {
        /// Version of the program.
        tool_version: String,
    },
    /// It does not work.
    Refused(Refusal),
    /// The doorbell is watched.
    Watched,
    /// The submissions since then.
    Counted {
        /// How many.
        submissions: u64,
    },
    /// A call of the driver.
    Call(ObservedCall),
    /// A system call.
    SystemCall(ObservedSystemCall),
    /// The end of what was seen. It is the last line.
    Ended {
        /// Number of lost events.
        lost: u64,
    },
}

/// Why something is not observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason.
    pub reason: String,
    /// What helps.
    pub hint: Option<String>,
}

/// Something that a process asked of the driver, or its begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedCall {
    /// When it began, in nanoseconds of the monotonic clock. An allocation, when it ended.
    pub at_ns: u64,
    /// The process.
    pub process: u32,
    /// What it asked for.
    pub work: ObservedWork,
}

/// What a process asked of the driver. Work of a captured stream, which does not run, is
/// [`ObservedWork::Other`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservedWork {
    /// It asked for nothing yet: another process forked it.
    Forked {
        /// The other process.
        parent: u32,
    },
    /// It asked for nothing: it began in another way, or ended.
    Lived,
    /// A launch of a kernel.
    Launch {
        /// The kernel. Null if the driver did not tell its name.
        kernel: Option<ObservedKernel>,
        /// The stream.
        stream: u64,
    },
    /// A launch of a graph.
    GraphLaunch {
        /// The stream.
        stream: u64,
    },
    /// A copy of memory.
    Copy {
        /// Its bytes.
        bytes: u64,
        /// The submissions to the GPU that it explains at most.
        submissions: u64,
        /// The stream.
        stream: u64,
    },
    /// A fill of memory.
    Fill {
        /// The stream.
        stream: u64,
    },
    /// A record of an event.
    RecordEvent,
    /// An allocation of memory.
    Allocate {
        /// Its bytes.
        bytes: u64,
    },
    /// A free of memory.
    Free {
        /// The bytes that it frees. 0 if its allocation was not seen.
        bytes: u64,
    },
    /// A load of a module.
    LoadModule,
    /// A call that failed.
    Failed,
    /// Another call.
    Other,
}

/// A kernel that was launched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObservedKernel {
    /// Its name in the compiled code, at most 4 KiB of it.
    pub symbol: String,
    /// Its name as its author wrote it.
    pub name: String,
}

/// A system call of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedSystemCall {
    /// When it began, in nanoseconds of the monotonic clock.
    pub at_ns: u64,
    /// The process.
    pub process: u32,
    /// Its name, or its number where the number has no name.
    pub name: String,
}
