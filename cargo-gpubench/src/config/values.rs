//! The values of a command's settings, each from the layer that counts.

use std::collections::BTreeMap;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::ConfigLine;

/// Who says what a setting is, below the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A variable of the environment, by its name.
    Environment(String),
    /// A profile of the configuration.
    Profile {
        /// Its name.
        name: String,
        /// Where it says so.
        place: ConfigLine,
    },
}

/// What a layer below the command line says of a setting.
#[derive(Clone, Debug)]
pub struct LayeredValue {
    /// Its words.
    pub texts: Vec<String>,
    /// The values that they are, as the command line's grammar reads them.
    pub values: ArgMatches,
    /// Who says it.
    pub source: Source,
}

/// Every setting of a command: what its command line says, else what is offered, else what is
/// built in.
#[derive(Debug)]
pub struct Values<'a> {
    /// The command line, with the built-in values.
    pub line: &'a ArgMatches,
    /// What the layers below it say, by the ids of the settings.
    pub offers: BTreeMap<String, LayeredValue>,
}

impl Values<'_> {
    /// Whether the command line gives it.
    pub fn on_line(&self, id: &str) -> bool {
        self.line.try_contains_id(id).unwrap_or(false) && self.line.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Adds what a lower layer offers, where no higher one does.
    pub fn offer_below(&mut self, lower: BTreeMap<String, LayeredValue>) {
        for (id, offer) in lower {
            self.offers.entry(id).or_insert(offer);
        }
    }

    /// What counts of what is offered for a setting.
    pub fn offer(&self, id: &str) -> Option<&LayeredValue> {
        self.offers.get(id).filter(|_| !self.on_line(id))
    }

    /// The words of a setting; none where nobody says anything and nothing is built in.
    pub fn texts(&self, id: &str) -> Vec<String> {
        let raw = self.matches(id).try_get_raw(id).ok().flatten();
        let raw = raw.into_iter().flatten();
        raw.map(|text| text.to_string_lossy().into_owned()).collect()
    }

    fn matches(&self, id: &str) -> &ArgMatches {
        self.offer(id).map_or(self.line, |offer| &offer.values)
    }
}

/// A type of values of settings.
pub trait Value: Clone + Send + Sync + 'static {}

/// What can be read from settled values: a value, a flag, several values, or a group of settings.
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
