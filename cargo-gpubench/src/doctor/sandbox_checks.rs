//! Findings on what the operating system offers to confine a worker with.

use super::check::{Area, Check};
use super::machine::Sandbox;
use gpubench_contract::units::size;
use gpubench_protocol::wire::PAGE_BYTES;
use gpubench_sandbox::FileClosing;

/// What a hosted worker that cannot be closed costs.
const HOSTED: &str =
    "hosted benchmarks are `advisory`; sealed ones, which run none of the user's host code, lose nothing";

pub(super) fn checks(sandbox: &Sandbox) -> Vec<Check> {
    let area = Area::Sandbox;
    let feature = |name: &str, there: bool, cost: &str| match there {
        true => area.good(name, "there"),
        false => area.gap(name, "not there", cost),
    };
    vec![
        area.good("Linux", &sandbox.kernel),
        match sandbox.no_new_privileges {
            true => area.good("no_new_privs", "there"),
            false => area.missing(
                "no_new_privs",
                "not there",
                "no role can be entered: a newer kernel is needed",
            ),
        },
        feature("seccomp", sandbox.seccomp, HOSTED),
        feature(
            "close_range",
            sandbox.close_range,
            "descriptors are closed one by one, which takes longer and is otherwise as good",
        ),
        feature(
            "pidfd",
            sandbox.pidfd,
            "processes are ended by number, as before Linux 5.3",
        ),
        feature(
            "user namespaces",
            sandbox.user_namespaces,
            "a worker shares the machine's process and network names; nothing depends on it yet",
        ),
        match sandbox.files {
            FileClosing::Whole => area.good("Landlock", "there"),
            FileClosing::Partial => area.gap(
                "Landlock",
                "older than ABI 3",
                "hosted code can cut files short: its results are `advisory`",
            ),
            FileClosing::Missing => area.gap(
                "Landlock",
                "not there",
                "hosted code can change files: its results are `advisory`",
            ),
        },
        match sandbox.locked_memory {
            Some(limit) if limit < PAGE_BYTES as u64 => area.gap(
                "locked memory",
                size(limit),
                "host memory may not be registered with a GPU; raise the limit (`ulimit -l`)",
            ),
            Some(limit) => area.good("locked memory", size(limit)),
            None => area.good("locked memory", "no limit"),
        },
    ]
}
