//! Environment variables that stand for options.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::Arg;

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

    /// Those among `variables`. One that is set to nothing is as good as not set: many a CI cannot leave a variable out.
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
}

/// The variable that stands for an option: `GPUBENCH_MAX_TIME` for `--max-time`.
pub(super) fn variable_of(option: &Arg) -> Option<String> {
    let long = option.get_long()?;
    Some(format!("{PREFIX}{}", long.to_uppercase().replace('-', "_")))
}
