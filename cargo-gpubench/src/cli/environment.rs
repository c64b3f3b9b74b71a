//! Environment variables that set options.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use clap::{Arg, Command};

use super::UsageError;
use super::option_kind::takes_a_value;
use gpubench_contract::renamed;
use gpubench_diagnostic::{closest, suggestion};

/// The prefix of the variables.
const PREFIX: &str = "GPUBENCH_";

/// The environment variables with the tool's prefix.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// Returns the variables of this process.
    pub fn of_process() -> Self {
        Self::from_variables(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))))
    }

    /// Returns the variables that may set options. An empty variable counts as not set, because
    /// many CI services cannot unset a variable.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, OsString)>) -> Self {
        let variables = variables.into_iter();
        Self(
            variables
                .filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty())
                .collect(),
        )
    }

    pub(super) fn get(&self, name: &str) -> Option<&OsString> {
        self.0.get(name)
    }

    /// Refuses variables of options that have another name now.
    ///
    /// # Errors
    /// There is one.
    pub(super) fn refuse_renamed(&self) -> Result<(), UsageError> {
        let new_name = |name: &String| {
            let key = own_part(name).to_lowercase().replace('_', "-");
            let new = renamed(&key)?;
            let new = match new.split_once('=') {
                Some((key, value)) => format!("{}={value}", variable(key)),
                None => variable(new),
            };
            Some((name.clone(), new))
        };
        match self.0.keys().find_map(new_name) {
            Some((old, new)) => Err(UsageError::Renamed { old, new }),
            None => Ok(()),
        }
    }

    /// Returns a warning for each variable that sets no option of a built command or its
    /// subcommands. It is probably a typo.
    pub(super) fn unknown(&self, command: &Command) -> Vec<String> {
        let options = every_option(command);
        let known: BTreeSet<_> = options.iter().filter_map(|option| variable_of(option)).collect();
        let settable: Vec<_> = options
            .iter()
            .filter(|option| takes_a_value(option))
            .filter_map(|option| variable_of(option))
            .collect();
        let warning = |name: &String| {
            let closest = closest(own_part(name), settable.iter().map(|known| own_part(known)));
            let suggestion = suggestion(closest.map(|closest| format!("{PREFIX}{closest}")));
            format!("the environment variable `{name}` is unknown and has no effect{suggestion}")
        };
        let unknown = self.0.keys().filter(|name| !known.contains(*name));
        unknown.map(warning).collect()
    }
}

/// The common prefix would make all names similar.
fn own_part(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

fn every_option(command: &Command) -> Vec<&Arg> {
    let below = command.get_subcommands().flat_map(every_option);
    command.get_arguments().chain(below).collect()
}

/// Returns the variable of an option: `GPUBENCH_MAX_TIME` for `--max-time`.
pub(super) fn variable_of(option: &Arg) -> Option<String> {
    option.get_long().map(variable)
}

fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_an_option_that_was_renamed_is_refused() {
        let environment = |name: &str| Environment::from_variables([(name.to_owned(), OsString::from("true"))]);
        let error = environment("GPUBENCH_SLEEP_AFTER_RUN")
            .refuse_renamed()
            .expect_err("an old word");
        assert_eq!(
            error.to_string(),
            "`GPUBENCH_SLEEP_AFTER_RUN` is called `GPUBENCH_COOLDOWN` now"
        );
        let error = environment("GPUBENCH_ENERGY")
            .refuse_renamed()
            .expect_err("an old word");
        let message = "`GPUBENCH_ENERGY` is called `GPUBENCH_METRIC=energy` now";
        assert_eq!(error.to_string(), message);
        assert!(environment("GPUBENCH_COOLDOWN").refuse_renamed().is_ok());
    }
}
