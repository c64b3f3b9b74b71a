//! The values that the environment and a profile set: the texts, and the values that clap parses
//! from them.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::error::Error;

use camino::{Utf8Path, Utf8PathBuf};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use regex::Regex;

use super::UsageError;
use super::environment::{Environment, variable_of};
use super::option_kind::{is_flag, is_switch, takes_a_value, takes_several};
use crate::broker::options::PageTarget;
use crate::config::{ConfigError, ConfigValue, LayeredValue, Profile, Row, Scope, Setting, Source, Switch};
use gpubench_diagnostic::in_backticks;
use gpubench_report::OutputTarget;
use gpubench_store::RunName;

/// The option whose values are always regular expressions in a configuration.
const SKIP: &str = "skip";

/// Values by option id.
pub(super) type LayeredValues = BTreeMap<String, LayeredValue>;

type Reason = Box<dyn Error + Send + Sync>;

/// Returns the values that the environment sets for the options of a command.
pub(super) fn of_environment(command: &Command, environment: &Environment) -> Result<LayeredValues, UsageError> {
    let mut layered = LayeredValues::new();
    for option in command.get_arguments().filter(|option| takes_a_value(option)) {
        let Some((name, value)) = variable_of(option).and_then(|name| Some((name.clone(), environment.get(&name)?)))
        else {
            continue;
        };
        let refuse = |source: Reason| UsageError::Variable {
            name: name.clone(),
            value: value.to_string_lossy().into_owned(),
            source,
        };
        let text = value.to_str().ok_or_else(|| refuse("not UTF-8".into()))?;
        let texts = match option {
            list if takes_several(list) => {
                let lines = text.lines().filter(|line| !line.is_empty());
                lines.map(str::to_owned).collect()
            }
            flag if is_flag(flag) => vec![
                text.parse::<Switch>()
                    .map_err(|error| refuse(error.into()))?
                    .to_string(),
            ],
            _ => vec![text.to_owned()],
        };
        let values = read(option, &texts).map_err(refuse)?;
        let source = Source::Environment(name.clone());
        layered.insert(option.get_id().to_string(), LayeredValue { texts, values, source });
    }
    Ok(layered)
}

/// Returns the values that a profile sets for the options of a command. Relative paths start at
/// `root`.
pub(super) fn of_profile(
    command: &Command,
    rows: &[Row],
    profile: &Profile,
    root: &Utf8Path,
) -> Result<LayeredValues, ConfigError> {
    let mut layered = LayeredValues::new();
    for row in rows.iter().filter(|row| row.scope >= Scope::Profile) {
        let (key, option) = (
            row.key(),
            command.get_arguments().find(|option| option.get_id() == row.id),
        );
        let (Some(setting), Some(option)) = (profile.settings.get(&key), option) else {
            continue;
        };
        let texts = texts_for(option, &key, setting)?;
        let texts: Vec<_> = texts.iter().map(|text| from_root(option, text, root)).collect();
        let expressions = texts.iter().filter(|_| key == SKIP);
        let readable = expressions.map(|text| Regex::new(text)).find_map(Result::err);
        let values = readable.map_or_else(|| read(option, &texts), |error| Err(error.into()));
        let values = values.map_err(|source| ConfigError::Value {
            place: setting.place.clone(),
            key,
            source,
        })?;
        let source = Source::Profile {
            name: setting.profile.clone(),
            place: setting.place.clone(),
        };
        layered.insert(row.id.to_owned(), LayeredValue { texts, values, source });
    }
    Ok(layered)
}

/// Returns the text of a value, with relative paths from `root` on.
fn from_root(option: &Arg, text: &str, root: &Utf8Path) -> String {
    let named = option.get_value_parser().type_id();
    let is_path = match option.get_value_hint() {
        _ if named == TypeId::of::<RunName>() => matches!(text.parse(), Ok(RunName::File(_))),
        ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => true,
        _ => false,
    };
    let (before, path) = match text.split_once('=') {
        Some((kind, path)) if named == TypeId::of::<PageTarget>() => (format!("{kind}="), path),
        _ if is_path => (String::new(), text),
        _ => return text.to_owned(),
    };
    match path {
        OutputTarget::STANDARD_OUTPUT => text.to_owned(),
        path => format!("{before}{}", root.join(path)),
    }
}

/// Returns the files that a value names, whatever its type.
pub(super) fn files_of(layered: &LayeredValue, id: &str) -> Vec<Utf8PathBuf> {
    fn each<T: Clone + Send + Sync + 'static>(
        layered: &LayeredValue,
        id: &str,
        file_of: fn(&T) -> Option<&Utf8Path>,
    ) -> Vec<Utf8PathBuf> {
        // An error means that the values have another type.
        let values = layered.values.try_get_many::<T>(id).ok().flatten();
        let files = values.into_iter().flatten().filter_map(file_of);
        files.map(Utf8Path::to_owned).collect()
    }
    [
        each::<OutputTarget>(layered, id, OutputTarget::file),
        each::<PageTarget>(layered, id, |page| match page {
            PageTarget::OutputTarget(target) => target.file(),
            PageTarget::TargetDirectory => None,
        }),
        each::<RunName>(layered, id, |name| match name {
            RunName::File(file) => Some(file),
            RunName::Baseline(_) => None,
        }),
        each::<Utf8PathBuf>(layered, id, |file| Some(file)),
    ]
    .concat()
}

fn texts_for(option: &Arg, key: &str, setting: &Setting) -> Result<Vec<String>, ConfigError> {
    let wrong = |wanted, got| ConfigError::Kind {
        place: setting.place.clone(),
        key: key.to_owned(),
        wanted,
        got,
    };
    match &setting.value {
        ConfigValue::Flag(flag) if is_flag(option) || is_switch(option) => Ok(vec![flag.to_string()]),
        ConfigValue::Flag(_) => Err(wrong("a string or a number", "a boolean")),
        _ if is_flag(option) => Err(wrong("`true` or `false`", "something else")),
        ConfigValue::Text(text) => Ok(vec![text.clone()]),
        ConfigValue::List(texts) if takes_several(option) => Ok(texts.clone()),
        ConfigValue::List(_) => Err(wrong("a string or a number", "a list")),
    }
}

/// Parses the texts with the option's value parser.
fn read(option: &Arg, texts: &[String]) -> Result<ArgMatches, Reason> {
    let values = Arg::new(option.get_id().clone())
        .value_parser(option.get_value_parser().clone())
        .action(ArgAction::Append);
    let reader = Command::new("value").no_binary_name(true).arg(values.num_args(1..));
    let words = std::iter::once("--").chain(texts.iter().map(String::as_str));
    reader.try_get_matches_from(words).map_err(reason)
}

fn reason(error: clap::Error) -> Reason {
    if let Some(source) = error.source() {
        return gpubench_diagnostic::chain(source).into();
    }
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => {
            format!("possible values: {}", in_backticks(values)).into()
        }
        _ => error.kind().to_string().into(),
    }
}
