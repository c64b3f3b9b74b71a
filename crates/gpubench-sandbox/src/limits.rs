//! Resource limits of a process.

use rustix::process::{Resource, Rlimit};

use crate::process::Runs;

/// Disables core files, which would contain the run's inputs.
pub(crate) fn disable_core_files() -> rustix::io::Result<()> {
    set(Resource::Core, 0)
}

/// Limits private memory to a part of the machine's: all of it, divided by `share`.
pub(crate) fn limit_memory(share: u64) -> rustix::io::Result<()> {
    set(Resource::Data, installed_memory() / share)
}

/// Limits the length of files.
pub(crate) fn limit_file_length(bytes: u64) -> rustix::io::Result<()> {
    set(Resource::Fsize, bytes)
}

/// Makes the system kill this process before the user's others when memory runs out, and processes
/// with user code first. Call it before the process hides from others, which also hides this file
/// from itself. Host code can open the file again and undo this, because all of `/proc/self` must
/// stay writable for it.
pub(crate) fn end_early_without_memory(runs: Runs) {
    let score = match runs {
        Runs::OwnCode => "500",
        Runs::CodeOfOthers => "1000",
    };
    // Without this file the system chooses by itself.
    let _ = fs_err::write("/proc/self/oom_score_adj", score);
}

/// Does the same for a process that is only a compiler, between fork and exec.
pub(crate) fn end_first_without_memory() -> rustix::io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    let file = open(
        c"/proc/self/oom_score_adj",
        OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    rustix::io::write(&file, b"1000").map(drop)
}

pub(crate) fn installed_memory() -> u64 {
    let system = rustix::system::sysinfo();
    (system.totalram as u64).saturating_mul(u64::from(system.mem_unit))
}

/// Keeps a lower limit: somebody has set it, and not every process could raise it again.
fn set(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    let limit = Rlimit {
        current: lower(now.current),
        maximum: lower(now.maximum),
    };
    rustix::process::setrlimit(resource, limit)
}
