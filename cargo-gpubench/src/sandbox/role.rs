//! What every process but the broker does first.

use std::os::fd::OwnedFd;

use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};

use crate::wire::Channel;

/// Why a role could not be entered.
#[derive(Debug, thiserror::Error)]
#[error("cannot enter a role: {what}")]
pub struct RoleError {
    what: &'static str,
    #[source]
    source: std::io::Error,
}

/// Takes the connection to the broker from standard input, and arranges that this process dies with the broker, gains no privileges and leaves
/// no core file (it would hold the run's inputs).
///
/// # Errors
/// When standard input is no socket, or the operating system refuses.
pub fn enter_role() -> Result<Channel, RoleError> {
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
    rustix::process::setrlimit(Resource::Core, no_core).map_err(refuse("leaving no core file"))?;
    Ok(Channel::from_socket(take_standard_input()?))
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
