//! What every process but the broker does first.

use std::os::fd::OwnedFd;

use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};

use super::printing::print_by_lines;
use crate::wire::Channel;

/// Why a role could not be entered.
#[derive(Debug, thiserror::Error)]
#[error("cannot enter a role: {what}")]
pub struct RoleError {
    what: &'static str,
    #[source]
    source: std::io::Error,
}

/// Takes the connection to the broker from standard input after [`give_up`], and has what user code prints shown line by line.
///
/// # Errors
/// When standard input is no socket, or the operating system refuses.
pub fn enter_role() -> Result<Channel, RoleError> {
    give_up()?;
    print_by_lines().map_err(|source| RoleError {
        what: "printing line by line",
        source,
    })?;
    Ok(Channel::from_socket(take_standard_input()?))
}

/// Arranges that this process dies with the broker, gains no privileges, shows its memory to nobody and leaves no core file (it would hold the
/// run's inputs).
///
/// # Errors
/// When the operating system refuses.
pub fn give_up() -> Result<(), RoleError> {
    let refuse = |what| {
        move |source: rustix::io::Errno| RoleError {
            what,
            source: source.into(),
        }
    };
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(refuse("dying with the broker"))?;
    rustix::thread::set_no_new_privs(true).map_err(refuse("giving up new privileges"))?;
    hide_from_others().map_err(refuse("closing its memory to other processes"))?;
    let no_core = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, no_core).map_err(refuse("leaving no core file"))
}

/// Takes standard output for answers to the broker alone: what a library prints goes to standard error from now on.
///
/// # Errors
/// When the operating system refuses.
pub fn take_standard_output() -> std::io::Result<std::fs::File> {
    let answers = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3)?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok(answers.into())
}

/// Closes this process's memory and descriptors to other processes of the same user, which could open them through /proc. Root still can.
///
/// # Errors
/// When the operating system refuses.
pub fn hide_from_others() -> rustix::io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Moves the socket away from descriptor 0, where a user's code would read it as its standard input.
fn take_standard_input() -> Result<OwnedFd, RoleError> {
    let refuse = |what| move |source: std::io::Error| RoleError { what, source };
    let stdin = std::io::stdin();
    rustix::net::sockopt::socket_type(&stdin).map_err(|source| RoleError {
        what: "standard input is not the broker's socket",
        source: source.into(),
    })?;
    let duplicate = rustix::io::fcntl_dupfd_cloexec(&stdin, 3);
    let socket = duplicate.map_err(|source| RoleError {
        what: "taking the broker's socket",
        source: source.into(),
    })?;
    let nothing = fs_err::File::open("/dev/null").map_err(refuse("opening /dev/null"))?;
    rustix::stdio::dup2_stdin(&nothing).map_err(|source| refuse("emptying standard input")(source.into()))?;
    Ok(socket)
}
