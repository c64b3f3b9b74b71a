//! The values of a command's settings, after precedence.

use std::collections::BTreeMap;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::ConfigLine;

/// The source of a setting other than the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The environment variable of this name.
    Environment(String),
    /// A profile of the configuration.
    Profile {
        /// The profile's name.
        name: String,
        /// The position in the file.
        place: ConfigLine,
    },
}

/// A value from the environment or a profile.
#[derive(Clone, Debug)]
pub struct LayeredValue {
    /// The texts.
    pub texts: Vec<String>,
    /// The values that clap parsed from the texts.
    pub values: ArgMatches,
    /// The source.
    pub source: Source,
}

/// The settings of a command: from the command line, then from lower layers, then built in.
#[derive(Debug)]
pub struct Values<'a> {
    /// The command line, with the built-in values.
    pub line: &'a ArgMatches,
    /// The values of the lower layers, by setting id.
    pub layered: BTreeMap<String, LayeredValue>,
}

impl Values<'_> {
    /// Returns whether the command line sets it.
    pub fn on_line(&self, id: &str) -> bool {
        self.line.try_contains_id(id).unwrap_or(false) && self.line.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Adds the values of a lower layer where no higher layer has one.
    pub fn add_layer(&mut self, lower: BTreeMap<String, LayeredValue>) {
        for (id, layered) in lower {
            self.layered.entry(id).or_insert(layered);
        }
    }

    /// Returns the value of the highest layer below the command line, unless the command line sets
    /// it.
    pub fn layered(&self, id: &str) -> Option<&LayeredValue> {
        self.layered.get(id).filter(|_| !self.on_line(id))
    }

    /// Returns the texts of a setting, or none if it is not set and has no built-in value.
    pub fn texts(&self, id: &str) -> Vec<String> {
        let raw = self.matches(id).try_get_raw(id).ok().flatten();
        let raw = raw.into_iter().flatten();
        raw.map(|text| text.to_string_lossy().into_owned()).collect()
    }

    fn matches(&self, id: &str) -> &ArgMatches {
        self.layered(id).map_or(self.line, |layered| &layered.values)
    }
}

/// A type of setting values.
pub trait Value: Clone + Send + Sync + 'static {}

/// A type that can be read from the final values: a value, a flag, a list of values, or a group of
/// settings.
pub trait Read {
    /// Reads the setting `id`.
    fn read(values: &Values<'_>, id: &str) -> Self;
}

impl Read for bool {
    fn read(values: &Values<'_>, id: &str) -> Self {
        values.matches(id).get_flag(id)
    }
}

impl<T: Value> Read for Option<T> {
    fn read(values: &Values<'_>, id: &str) -> Self {
        values.matches(id).get_one(id).cloned()
    }
}

impl<T: Value> Read for Vec<T> {
    fn read(values: &Values<'_>, id: &str) -> Self {
        let several = values.matches(id).get_many(id);
        several.into_iter().flatten().cloned().collect()
    }
}

impl<T: Value> Read for T {
    fn read(values: &Values<'_>, id: &str) -> Self {
        Option::read(values, id).expect("clap demands what has no built-in value")
    }
}
