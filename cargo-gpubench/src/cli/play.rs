//! The hidden subcommands, which run the roles of the other processes.

use std::error::Error;

use super::Verb;
use gpubench_device::compilers;
use gpubench_diagnostic::{ExitCode, InternalError};
use gpubench_measure::clock_lock::{self, ClockOrder};
use gpubench_measure::probe;
use gpubench_protocol::wire::Channel;
use gpubench_protocol::{author, referee, worker};
use gpubench_sandbox::{RoleError, Runs, drop_privileges, take_standard_input, take_standard_output};

type Served = Result<(), Box<dyn Error + Send + Sync>>;

/// Runs the role of a hidden subcommand until the broker is gone. Returns nothing for `gpubench`.
/// The broker keeps the role's output and shows it if the role fails.
///
/// # Errors
///
/// The process cannot enter the role, or the broker breaks the protocol.
pub fn play(verb: &Verb) -> Option<Result<ExitCode, InternalError>> {
    let (runs, serve): (Runs, fn(&Channel) -> Served) = match verb {
        Verb::Gpubench(_) => return None,
        Verb::Probe { target } => {
            probe::answer(target.clone());
            return Some(Ok(ExitCode::Success));
        }
        Verb::Clocks {
            device,
            identity,
            setting,
            lock_file,
        } => {
            let order = ClockOrder {
                device: device.clone(),
                identity: identity.clone(),
                setting: *setting,
                lock_file: lock_file.clone(),
            };
            let guarded = clock_lock::guard(&order).map_err(InternalError::because("cannot lock clocks"));
            return Some(guarded.map(|()| ExitCode::Success));
        }
        Verb::Author => (Runs::CodeOfOthers, |channel| Ok(author::serve(channel)?)),
        Verb::Referee => (Runs::OwnCode, |channel| Ok(referee::serve(channel)?)),
        Verb::Worker => (Runs::CodeOfOthers, |channel| Ok(worker::serve(channel)?)),
        Verb::Nvrtc => return Some(compile().map(|()| ExitCode::Success)),
    };
    let played = connect(runs)
        .map_err(InternalError::because("cannot prepare this process for its role"))
        .and_then(|channel| {
            serve(&channel).map_err(InternalError::because("this process cannot continue in its role"))
        });
    Some(played.map(|()| ExitCode::Success))
}

/// Gives up rights and takes the connection to the broker.
fn connect(runs: Runs) -> Result<Channel, RoleError> {
    drop_privileges(runs)?;
    Ok(Channel::from_socket(take_standard_input()?))
}

/// Runs NVRTC's process, which has one request and one answer instead of a connection.
fn compile() -> Result<(), InternalError> {
    drop_privileges(Runs::CodeOfOthers).map_err(InternalError::because("cannot prepare this process for its role"))?;
    let answers = take_standard_output();
    let answers = answers.map_err(InternalError::because("cannot take standard output"))?;
    compilers::serve(answers).map_err(InternalError::because("cannot compile"))
}
