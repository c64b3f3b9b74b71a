//! `cargo-gpubench agent`: what `--runner` starts.

use std::ffi::OsString;

use camino::Utf8Path;

use super::app::GPUBENCH;
use super::{Command, Environment, Unresolved, Verb, described_verb, resolve};
use crate::broker::Order;
use crate::broker::options::RunOptions;
use gpubench_diagnostic::{ExitCode, Expected, Failure, InternalError};

/// The subcommand.
const AGENT: &str = "agent";

/// The head of a run sent a command line that is none of a run.
#[derive(Debug, thiserror::Error)]
#[error("the command line of the run cannot be read: {0}")]
struct UnreadOrder(String);

impl Expected for UnreadOrder {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }
}

/// Whether the command line asks for an agent, which has no options.
pub fn is_agent(line: &[OsString]) -> bool {
    let words = line.get(1..).unwrap_or_default();
    let words = match words.split_first() {
        Some((first, rest)) if first == GPUBENCH => rest,
        _ => words,
    };
    matches!(words, [only] if only == AGENT)
}

/// Returns the options of the run that an order is of. `folder` is for its configuration.
///
/// # Errors
/// The order is not of a run.
pub fn options_of_order(order: &Order, folder: &Utf8Path) -> Result<RunOptions, Failure> {
    if let Some(text) = &order.configuration {
        let configurations = folder.join(".config");
        fs_err::create_dir_all(&configurations)
            .and_then(|()| fs_err::write(configurations.join("gpubench.toml"), text))
            .map_err(InternalError::because("cannot keep the configuration of the run"))?;
    }
    let line: Vec<OsString> = order.line.iter().map(OsString::from).collect();
    let variables = order.environment.iter();
    let variables = variables.map(|(name, value)| (name.clone(), OsString::from(value)));
    let environment = Environment::from_variables(variables);
    let resolved = resolve(&line, &environment, &|_| Some(folder.to_owned()));
    let verb = match resolved {
        Ok(resolved) => resolved.verb,
        Err(Unresolved::CommandLine(error)) => return Err(UnreadOrder(error.to_string()).into()),
        Err(Unresolved::Expected(failure)) => return Err(failure),
    };
    let Verb::Gpubench(arguments) = verb else {
        return Err(UnreadOrder("it is of another process".to_owned()).into());
    };
    match arguments.into_command(&described_verb())? {
        Command::Run(options) => Ok(*options),
        _ => Err(UnreadOrder("it is of another command".to_owned()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_asked_for_by_one_word() {
        let asks = |line: &[&str]| is_agent(&line.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(asks(&["cargo-gpubench", "gpubench", "agent"]) && asks(&["cargo-gpubench", "agent"]));
        for other in [
            &["cargo-gpubench"][..],
            &["t", "gpubench", "--", "agent"],
            &["t", "agent", "x"],
        ] {
            assert!(!asks(other), "{other:?}");
        }
    }
}
