//! The hidden verbs: playing a role instead of being the command.
#![forbid(unsafe_code)]

use std::error::Error;

use super::Verb;
use crate::error::ExpectedError;
use crate::exit_code::ExitCode;
use crate::wire::Channel;
use crate::{author, probe, referee, sandbox, worker};

type Served = Result<(), Box<dyn Error + Send + Sync>>;

/// Plays the role of a hidden verb until the broker is gone; nothing for the verb that is the command itself. What is printed meanwhile is kept by the
/// broker and shown if the role fails.
///
/// # Errors
///
/// When the role cannot be entered or the broker breaks the protocol.
pub fn play(verb: &Verb) -> Option<Result<ExitCode, ExpectedError>> {
    let serve: fn(&Channel) -> Served = match verb {
        Verb::Gpubench(_) => return None,
        Verb::Probe { target } => {
            probe::answer(*target);
            return Some(Ok(ExitCode::Success));
        }
        Verb::Author => |channel| Ok(author::serve(channel)?),
        Verb::Referee => |channel| Ok(referee::serve(channel)?),
        Verb::Worker => |channel| Ok(worker::serve(channel)?),
    };
    let internal = |what: &str, source| ExpectedError::Internal {
        what: what.to_owned(),
        source,
    };
    let played = sandbox::enter_role()
        .map_err(|error| internal("cannot enter the role", error.into()))
        .and_then(|channel| serve(&channel).map_err(|error| internal("cannot go on in the role", error)));
    Some(played.map(|()| ExitCode::Success))
}
