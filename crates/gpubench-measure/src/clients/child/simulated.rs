//! Roles that a test simulates.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use super::Child;
use crate::clients::log::Log;
use crate::clients::role::{Output, RoleName};
use crate::clients::strays::Registered;
use gpubench_device::cgroup::MemoryWatch;
use gpubench_protocol::wire::Channel;

impl Child {
    /// Returns a process that only waits, and the connection on which the test acts for it.
    pub(crate) fn simulated(role: RoleName) -> (Child, Channel) {
        Child::simulated_after(role, "")
    }

    /// Returns such a process that has written `printed`.
    pub(crate) fn simulated_after(role: RoleName, printed: &str) -> (Child, Channel) {
        let (ours, theirs) = Channel::pair().unwrap();
        let (log, mut sink) = Log::open(role, Output::Captured).unwrap();
        sink.write_all(printed.as_bytes()).unwrap();
        let process = Command::new("sleep")
            .arg("600")
            .process_group(0)
            .stdout(sink)
            .spawn()
            .unwrap();
        let child = Child {
            role,
            registered: Registered::new(process.id()),
            process,
            channel: ours.limited(role.limits()),
            log,
            ended: None,
            memory: MemoryWatch::begin(),
        };
        (child, theirs)
    }

    /// Whether the process has ended, without waiting for it.
    pub(crate) fn has_ended(&self) -> bool {
        self.registered.has_ended()
    }
}
