//! Values that something else than the command line offers for options.

use std::collections::BTreeMap;
use std::error::Error;

use camino::Utf8Path;
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command, ValueHint};
use regex::Regex;

use super::{
    UsageError,
    environment::{Environment, variable_of},
};
use crate::config::{ConfigError, ConfigValue, Place, Profile, Setting};
use gpubench_diagnostic::in_backticks;
use gpubench_report::Outlet;

/// The option whose values are regular expressions, in a configuration always.
const SKIP: &str = "skip";

/// Who offers a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A variable of the environment, by its name.
    Environment(String),
    /// A profile of the configuration.
    Profile { name: String, place: Place },
}

/// A value for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) texts: Vec<String>,
    pub(super) source: Source,
}

/// Offers by the names of their options.
pub(super) type Offers = BTreeMap<String, Offer>;

impl Offer {
    /// Whether it says something that another option can contradict: a flag that is off does not.
    pub(super) fn asserts(&self, option: &Arg) -> bool {
        !is_flag(option) || self.texts == ["true"]
    }

    /// The option, with the offered value where the command line gives none.
    pub(super) fn stand_in(&self, option: Arg) -> Arg {
        option.required(false).default_values(self.texts.clone())
    }
}

/// Whether the option is there or not, without a value.
pub(super) fn is_flag(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue)
}

/// Whether the option may be given several times.
pub(super) fn takes_several(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// Options that have no value of their own to offer: help and version.
pub(super) fn takes_a_value(option: &Arg) -> bool {
    matches!(
        option.get_action(),
        ArgAction::SetTrue | ArgAction::Set | ArgAction::Append
    )
}

/// What the environment offers for the options of a command.
pub(super) fn of_environment<'a>(
    options: impl Iterator<Item = &'a Arg>,
    environment: &Environment,
) -> Result<Offers, UsageError> {
    let mut offers = Offers::new();
    for option in options.filter(|option| takes_a_value(option)) {
        let (Some(long), Some(name)) = (option.get_long(), variable_of(option)) else {
            continue;
        };
        let Some(value) = environment.get(&name) else {
            continue;
        };
        let refuse = |reason: Box<dyn Error + Send + Sync>| UsageError::Variable {
            name: name.clone(),
            value: value.to_string_lossy().into_owned(),
            source: reason,
        };
        let text = value.to_str().ok_or_else(|| refuse("it is not UTF-8".into()))?;
        let texts: Vec<_> = if takes_several(option) {
            text.lines()
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect()
        } else if is_flag(option) {
            vec![switch(text).map_err(refuse)?.to_string()]
        } else {
            vec![text.to_owned()]
        };
        refuse_unreadable(option, &texts).map_err(refuse)?;
        let source = Source::Environment(name);
        offers.insert(long.to_owned(), Offer { texts, source });
    }
    Ok(offers)
}

/// What a profile offers. Relative paths start from `root`.
pub(super) fn of_profile<'a>(
    options: impl Iterator<Item = &'a Arg>,
    profile: &Profile,
    root: &Utf8Path,
) -> Result<Offers, ConfigError> {
    let mut offers = Offers::new();
    for option in options {
        let Some((long, setting)) = option
            .get_long()
            .and_then(|long| Some((long, profile.settings.get(long)?)))
        else {
            continue;
        };
        let mut texts = texts_for(option, long, setting)?;
        let readable = refuse_unreadable(option, &texts).and_then(|()| match long {
            SKIP => refuse_no_expression(&texts),
            _ => Ok(()),
        });
        readable.map_err(|source| ConfigError::Value {
            place: setting.place.clone(),
            key: long.to_owned(),
            source,
        })?;
        if matches!(
            option.get_value_hint(),
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
        ) {
            let paths = texts.iter_mut().filter(|text| *text != Outlet::STANDARD_OUTPUT);
            paths.for_each(|text| *text = root.join(&*text).into_string());
        }
        let source = Source::Profile {
            name: setting.profile.clone(),
            place: setting.place.clone(),
        };
        offers.insert(long.to_owned(), Offer { texts, source });
    }
    Ok(offers)
}

fn texts_for(option: &Arg, key: &str, setting: &Setting) -> Result<Vec<String>, ConfigError> {
    let wrong = |wanted, got| ConfigError::Kind {
        place: setting.place.clone(),
        key: key.to_owned(),
        wanted,
        got,
    };
    match &setting.value {
        ConfigValue::Flag(flag) if is_flag(option) => Ok(vec![flag.to_string()]),
        ConfigValue::Flag(_) => Err(wrong("a string or a number", "a boolean")),
        ConfigValue::Text(_) | ConfigValue::List(_) if is_flag(option) => {
            Err(wrong("`true` or `false`", "something else"))
        }
        ConfigValue::Text(text) => Ok(vec![text.clone()]),
        ConfigValue::List(texts) if takes_several(option) => Ok(texts.clone()),
        ConfigValue::List(_) => Err(wrong("a string or a number", "a list")),
    }
}

fn switch(text: &str) -> Result<bool, Box<dyn Error + Send + Sync>> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("`1`, `true`, `yes` and `on` switch it on, `0`, `false`, `no`, `off` and nothing leave it off".into()),
    }
}

/// Lets the option's own grammar read the values.
fn refuse_unreadable(option: &Arg, texts: &[String]) -> Result<(), Box<dyn Error + Send + Sync>> {
    if is_flag(option) {
        return Ok(());
    }
    for text in texts {
        let reader = Command::new("value").no_binary_name(true).arg(
            Arg::new("value")
                .value_parser(Resettable::Value(option.get_value_parser().clone()))
                .action(ArgAction::Set),
        );
        reader.try_get_matches_from(["--", text]).map_err(reason)?;
    }
    Ok(())
}

/// Which names are whole ones and which are searched for is said on the command line alone, so that clap cannot tell.
fn refuse_no_expression(texts: &[String]) -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(texts.iter().try_for_each(|text| Regex::new(text).map(drop))?)
}

fn reason(error: clap::Error) -> Box<dyn Error + Send + Sync> {
    if let Some(source) = error.source() {
        return gpubench_diagnostic::chain(source).into();
    }
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => {
            format!("it is none of {}", in_backticks(values)).into()
        }
        _ => error.kind().to_string().into(),
    }
}
