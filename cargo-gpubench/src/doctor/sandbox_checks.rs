//! Checks of the operating system's features for sandboxing a worker.

use super::check::{Area, Check};
use super::machine::Sandbox;
use gpubench_contract::units::size;
use gpubench_protocol::wire::PAGE_BYTES;
use gpubench_sandbox::FileClosing;

/// The user code that runs in a sandbox.
const WHO: &str = "generators, references, kernels of the CPU device and hosted code";

/// The cost of an incomplete sandbox.
const HOSTED: &str = "hosted benchmarks get the grade `unverified`; benchmarks with a launch plan are not affected on a GPU, because no host code of the user runs while they are timed";

pub(super) fn checks(sandbox: &Sandbox) -> Vec<Check> {
    let area = Area::Sandbox;
    let feature = |name: &str, there: bool, cost: &str| {
        if there {
            area.good(name, "available")
        } else {
            area.gap(name, "not available", cost)
        }
    };
    vec![
        area.good("Linux", &sandbox.kernel),
        if sandbox.no_new_privileges {
            area.good("no_new_privs", "available")
        } else {
            area.missing(
                "no_new_privs",
                "not available",
                "no process can be confined, so nothing can be measured: update the Linux kernel",
            )
        },
        feature(
            "seccomp",
            sandbox.seccomp,
            &format!("{WHO} may make any system call: {HOSTED}"),
        ),
        feature(
            "close_range",
            sandbox.close_range,
            "descriptors are closed one by one, which is slower but just as safe",
        ),
        feature(
            "pidfd",
            sandbox.pidfd,
            "processes are killed by process ID, as before Linux 5.3",
        ),
        feature(
            "user namespaces",
            sandbox.user_namespaces,
            "a worker shares the machine's process and network namespaces; nothing depends on it yet",
        ),
        landlock(sandbox),
        match sandbox.locked_memory {
            Some(limit) if limit < PAGE_BYTES as u64 => area.gap(
                "locked memory",
                size(limit),
                "registering host memory with a GPU may fail; raise the limit (`ulimit -l`)",
            ),
            Some(limit) => area.good("locked memory", size(limit)),
            None => area.good("locked memory", "no limit"),
        },
    ]
}

fn landlock(sandbox: &Sandbox) -> Check {
    let area = Area::Sandbox;
    let version = match sandbox.landlock {
        Some(version) => format!("ABI {version}"),
        None => "not available".to_owned(),
    };
    match sandbox.files {
        FileClosing::Whole => area.good("Landlock", version),
        FileClosing::Partial => area.gap(
            "Landlock",
            format!("{version}, older than ABI 3 (Linux 6.2)"),
            format!("{WHO} can truncate files: {HOSTED}"),
        ),
        FileClosing::Missing => area.gap("Landlock", version, format!("{WHO} can change files: {HOSTED}")),
    }
}
