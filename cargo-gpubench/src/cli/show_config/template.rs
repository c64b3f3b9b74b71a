//! A configuration file with every setting, to start from.

use std::fmt::Write;

use regex::Regex;

use super::{ActiveSetting, Origin, assignment};
use crate::cli::description::described_verb;
use crate::cli::settings::RunArguments;
use crate::config::{Group, Row, Scope};

/// The file, with a placeholder for the settings.
const TEMPLATE: &str = include_str!("template.toml");

/// Returns a configuration file with every setting that a profile may have.
pub(super) fn template() -> String {
    let verb = described_verb();
    let mut text = String::new();
    for row in RunArguments::rows().iter().filter(|row| row.scope >= Scope::Profile) {
        let Some(option) = verb.get_arguments().find(|option| option.get_id() == row.id) else {
            continue;
        };
        let built_in = option.get_default_values().iter();
        let built_in = built_in.map(|value| value.to_string_lossy().into_owned());
        let built_in: Vec<_> = built_in.collect();
        let setting = ActiveSetting::new(option, &built_in, None);
        let line = match setting.origin {
            Origin::Unset(_) => format!("# {}", assignment(option, &values_in_example(row))),
            _ => setting.assignment,
        };
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = write!(text, "\n# {help}\n{line}\n");
    }
    TEMPLATE.replace("{settings}", &text)
}

/// Returns the values of a setting in its example.
fn values_in_example(row: &Row) -> Vec<String> {
    let value = Regex::new(&format!("--{} (?:'([^']*)'|(\\S+))", row.key())).expect("an expression");
    let found = value.captures_iter(row.example);
    found
        .filter_map(|found| found.get(1).or(found.get(2)))
        .map(|value| value.as_str().to_owned())
        .collect()
}
