//! Starting the tool so that it ends with the server, however that ends.
//!
//! The server starts itself first, asks the kernel to be killed with it, and becomes the tool. The
//! request outlives that step.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use tokio::process::Command;

use crate::error::ServeError;

/// The first argument of the server as it becomes the tool.
const LAUNCH: &str = "--launch-tool";

/// Returns a command that runs a program until it or this process ends.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(LAUNCH).arg(getpid().to_string()).arg(program);
    command
}

/// Becomes the tool, if the command line asks for it. Returns why that fails, or `None` if the
/// command line is another one.
pub(crate) fn tool_of_command_line() -> Option<ServeError> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != LAUNCH {
        return None;
    }
    let server = arguments.next()?;
    let program = arguments.next()?;
    Some(become_tool(&server, program, arguments))
}

fn become_tool(server: &OsString, program: OsString, arguments: impl Iterator<Item = OsString>) -> ServeError {
    let failed = |source| ServeError::Launch {
        path: program.clone().into(),
        source,
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return failed(error.into());
    }
    let is_child = getppid().is_some_and(|parent| server.to_str() == Some(&parent.to_string()));
    if !is_child {
        return failed(std::io::Error::other("the server has ended"));
    }
    failed(std::process::Command::new(&program).args(arguments).exec())
}
