//! Profiles of a configuration file, with inheritance.

use std::collections::BTreeMap;

use regex::Regex;
use toml::de::{DeTable, DeValue};

use super::error::Ineffective;
use super::file::{Key, Reading, Value};
use super::{CaseOverride, CaseSettings, ConfigError, ConfigFile, ConfigLine, ConfigValue};
use gpubench_diagnostic::closest;

/// The profile that every other profile inherits from, directly or not.
pub const DEFAULT_PROFILE: &str = "default";

const INHERITS: &str = "inherits";
const OVERRIDES: &str = "overrides";
const FILTER: &str = "filter";

/// A profile with everything it inherits.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Settings of the run, by key.
    pub settings: BTreeMap<String, Setting>,
    /// Overrides for cases: those of the profile first, then inherited ones.
    pub overrides: Vec<CaseOverride>,
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value.
    pub value: ConfigValue,
    /// The position in the file.
    pub place: ConfigLine,
    /// The profile that sets it.
    pub profile: String,
}

/// A profile of a file, without inheritance.
#[derive(Clone, Debug, Default)]
pub(super) struct ProfileTable {
    inherits: Option<(String, ConfigLine)>,
    settings: BTreeMap<String, Setting>,
    overrides: Vec<CaseOverride>,
}

impl ConfigFile {
    /// Returns a profile with everything it inherits. The default profile always exists.
    ///
    /// # Errors
    /// The profile or one that it inherits from does not exist, or profiles inherit in a circle.
    pub fn profile(&self, name: &str) -> Result<Profile, ConfigError> {
        let mut profile = Profile::default();
        for table in self.line_of(name)? {
            for (key, setting) in &table.settings {
                profile.settings.entry(key.clone()).or_insert_with(|| setting.clone());
            }
            profile.overrides.extend(table.overrides.iter().cloned());
        }
        Ok(profile)
    }

    /// Returns the profile, its parent, the parent's parent and so on.
    fn line_of(&self, name: &str) -> Result<Vec<&ProfileTable>, ConfigError> {
        let mut line = Vec::new();
        let mut seen = vec![name.to_owned()];
        let mut next = Some(name.to_owned());
        while let Some(name) = next.take() {
            let Some(table) = self.profiles.get(&name) else {
                if name == DEFAULT_PROFILE {
                    break;
                }
                return Err(self.unknown_profile(&name));
            };
            line.push(table);
            next = match &table.inherits {
                Some((parent, place)) => {
                    if !self.profiles.contains_key(parent) && parent != DEFAULT_PROFILE {
                        return Err(ConfigError::UnknownParent {
                            place: place.clone(),
                            profile: name,
                            parent: parent.clone(),
                        });
                    }
                    if let Some(first) = seen.iter().position(|name| name == parent) {
                        return Err(ConfigError::Circle {
                            place: place.clone(),
                            profile: parent.clone(),
                            by_way_of: seen.split_off(first + 1),
                        });
                    }
                    Some(parent.clone())
                }
                None if name == DEFAULT_PROFILE => None,
                None => Some(DEFAULT_PROFILE.to_owned()),
            };
            seen.extend(next.clone());
        }
        Ok(line)
    }

    fn unknown_profile(&self, name: &str) -> ConfigError {
        let mut known: Vec<_> = self.profiles.keys().cloned().collect();
        if !self.profiles.contains_key(DEFAULT_PROFILE) {
            known.push(DEFAULT_PROFILE.to_owned());
        }
        // Without a file, only the default profile exists, so there is no similar name to suggest.
        let closest = closest(name, known.iter().map(String::as_str)).filter(|_| self.path.is_some());
        ConfigError::UnknownProfile {
            name: name.to_owned(),
            file: self.path.clone(),
            closest: closest.map(str::to_owned),
            known,
        }
    }
}

impl Reading<'_> {
    pub(super) fn profile(&mut self, name: &Key<'_>, table: &DeTable<'_>) -> Result<ProfileTable, ConfigError> {
        let mut profile = ProfileTable::default();
        for (key, value) in table.iter() {
            match &**key.get_ref() {
                INHERITS => {
                    let parent = self.string(key, value)?.to_owned();
                    profile.inherits = Some((parent, self.places.place(value.span().start)));
                }
                OVERRIDES => profile.overrides = self.overrides(key, value)?,
                known if self.is_setting(known) => {
                    let setting = Setting {
                        value: self.value(key, value)?,
                        place: self.places.place(key.span().start),
                        profile: name.get_ref().to_string(),
                    };
                    profile.settings.insert(known.to_owned(), setting);
                }
                _ => {
                    let settings: Vec<_> = self.settings().collect();
                    let known = settings.iter().map(String::as_str).chain([INHERITS, OVERRIDES]);
                    self.unknown(key, &known.collect::<Vec<_>>())?;
                }
            }
        }
        Ok(profile)
    }

    fn overrides(&mut self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<CaseOverride>, ConfigError> {
        let DeValue::Array(tables) = value.get_ref() else {
            return Err(self.kind(key, value, "a list of tables, each `[[profile.NAME.overrides]]`"));
        };
        tables
            .iter()
            .map(|value| self.case_override(self.table(key, value)?, self.places.place(value.span().start)))
            .collect()
    }

    fn case_override(&mut self, table: &DeTable<'_>, place: ConfigLine) -> Result<CaseOverride, ConfigError> {
        let Some((key, value)) = table.get_key_value(FILTER) else {
            let similar = table.keys().find(|key| closest(key.get_ref(), [FILTER]).is_some());
            let similar = similar.map(|key| key.get_ref().to_string());
            return Err(ConfigError::FilterMissing { place, similar });
        };
        let filter = Regex::new(self.string(key, value)?).map_err(|error| self.senseless(key, value, error))?;
        let mut settings = CaseSettings::default();
        for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != FILTER) {
            let name = &**key.get_ref();
            if !CaseSettings::KEYS.contains(&name) && self.is_setting(name) {
                self.ineffective(key, Ineffective::InOverride);
                continue;
            }
            if !CaseSettings::KEYS.contains(&name) {
                let known: Vec<_> = CaseSettings::KEYS.iter().copied().chain([FILTER]).collect();
                self.unknown(key, &known)?;
                continue;
            }
            let set = match self.value(key, value)? {
                ConfigValue::Text(text) => settings.set(name, &text),
                ConfigValue::Flag(flag) if CaseSettings::is_switch(name) => settings.set(name, &flag.to_string()),
                ConfigValue::Flag(_) | ConfigValue::List(_) => {
                    return Err(self.kind(key, value, "a string or a number"));
                }
            };
            set.map_err(|error| self.senseless(key, value, error))?;
        }
        let settings = settings.consistent().map_err(|source| ConfigError::Samples {
            place: place.clone(),
            source,
        })?;
        Ok(CaseOverride {
            place,
            filter,
            settings,
        })
    }

    fn value(&self, key: &Key<'_>, value: &Value<'_>) -> Result<ConfigValue, ConfigError> {
        ConfigValue::read(value.get_ref()).map_err(|got| ConfigError::Kind {
            place: self.places.place(value.span().start),
            key: key.get_ref().to_string(),
            wanted: "a string, a number, a boolean or a list",
            got,
        })
    }

    fn senseless(
        &self,
        key: &Key<'_>,
        value: &Value<'_>,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> ConfigError {
        ConfigError::Value {
            place: self.places.place(value.span().start),
            key: key.get_ref().to_string(),
            source: Box::new(source),
        }
    }
}

#[cfg(test)]
mod tests;
