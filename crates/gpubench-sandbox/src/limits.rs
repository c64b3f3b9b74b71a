//! Limits of what a process may use up.

use rustix::process::{Resource, Rlimit};

use crate::process::Runs;

/// No core file: it would hold the run's inputs.
pub(crate) fn leave_no_core() -> rustix::io::Result<()> {
    set(Resource::Core, 0)
}

/// No more private memory than the machine has.
pub(crate) fn use_no_more_than_there_is() -> rustix::io::Result<()> {
    set(Resource::Data, installed_memory())
}

/// No endless files.
pub(crate) fn write_no_longer_file(than: u64) -> rustix::io::Result<()> {
    set(Resource::Fsize, than)
}

/// Where memory runs out all the same, the system ends this process rather than another of the
/// user's, and one with code of others first. To be called before the process hides from others,
/// which closes the file to it too. Host code can open it again, and undo this: a rule about files
/// leaves all of `/proc/self` writable or nothing.
pub(crate) fn be_the_first_to_end(runs: Runs) {
    let score = match runs {
        Runs::OwnCode => "500",
        Runs::CodeOfOthers => "1000",
    };
    // Without the file the system chooses by itself.
    let _ = fs_err::write("/proc/self/oom_score_adj", score);
}

fn installed_memory() -> u64 {
    let system = rustix::system::sysinfo();
    (system.totalram as u64).saturating_mul(u64::from(system.mem_unit))
}

/// A lower limit stays: it cannot be raised by everybody, and somebody has set it.
fn set(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    let limit = Rlimit {
        current: lower(now.current),
        maximum: lower(now.maximum),
    };
    rustix::process::setrlimit(resource, limit)
}
