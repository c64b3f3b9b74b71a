//! Environment variables that stand for options.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use clap::{Arg, Command};

use super::layered_value::takes_a_value;
use gpubench_diagnostic::{closest, suggestion};

/// What the variables of options begin with.
const PREFIX: &str = "GPUBENCH_";

/// The variables that may stand for options.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        Self::of(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))))
    }

    /// Those among `variables`. One that is set to nothing is as good as not set: many a CI cannot
    /// leave a variable out.
    pub fn of(variables: impl IntoIterator<Item = (String, OsString)>) -> Self {
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

    /// A warning for each that stands for no option of a command that is built, nor of one below
    /// it: a typo, most likely.
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
            format!("the variable `{name}` is not known and has no effect{suggestion}")
        };
        let unknown = self.0.keys().filter(|name| !known.contains(*name));
        unknown.map(warning).collect()
    }
}

/// What all of them begin with makes none more similar than another.
fn own_part(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

fn every_option(command: &Command) -> Vec<&Arg> {
    let below = command.get_subcommands().flat_map(every_option);
    command.get_arguments().chain(below).collect()
}

/// The variable that stands for an option: `GPUBENCH_MAX_TIME` for `--max-time`.
pub(super) fn variable_of(option: &Arg) -> Option<String> {
    let long = option.get_long()?;
    Some(format!("{PREFIX}{}", long.to_uppercase().replace('-', "_")))
}
