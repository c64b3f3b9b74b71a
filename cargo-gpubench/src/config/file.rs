//! Reading configuration files.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Ineffective;
use super::line::Text;
use super::owner::{ForeignFile, require_own};
use super::profile::ProfileTable;
use super::{ConfigError, ConfigWarning, DEFAULT_PROFILE, Row, Scope};
use gpubench_contract::renamed;
use gpubench_diagnostic::{closest, read_text_at_most};

/// The path of the configuration below a workspace root.
pub const DEFAULT_FILE: &str = ".config/gpubench.toml";

/// The limit on the length of a configuration file, in bytes.
const LONGEST: u64 = 4 << 20;

/// The top-level keys of a configuration file.
const KEYS: [&str; 2] = ["gpubench-version", "profile"];

/// The content of a configuration file. The default has no file.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    /// The file.
    pub path: Option<Utf8PathBuf>,
    /// The base folder of relative paths.
    pub root: Utf8PathBuf,
    /// Warnings about keys without effect.
    pub warnings: Vec<ConfigWarning>,
    pub(super) profiles: BTreeMap<String, ProfileTable>,
}

/// Returns the configuration file of a workspace, if it has one.
///
/// # Errors
/// Somebody else could have written it.
pub fn default_location(workspace: &Utf8Path) -> Result<Option<Utf8PathBuf>, ForeignFile> {
    let file = Some(workspace.join(DEFAULT_FILE)).filter(|file| file.is_file());
    file.map(|file| require_own(&file).map(|()| file)).transpose()
}

/// Returns the closest folder with a configuration, from `folder` upwards, for machines where cargo
/// cannot name the workspace. Skips files that somebody else could have written.
pub fn folder_with_configuration(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut folders = folder.ancestors();
    let found = folders.find(|folder| matches!(default_location(folder), Ok(Some(_))));
    found.map(Utf8Path::to_owned)
}

impl ConfigFile {
    /// Reads a file. Relative paths in it start at the folder that contains `.config`, or else at
    /// the file's own folder.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, is longer than 4 MiB, needs a newer tool, has values
    /// of the wrong type, or has profiles that inherit from unknown profiles or in a circle.
    pub fn read(path: &Utf8Path, rows: &[Row]) -> Result<Self, ConfigError> {
        let unreadable = |source: io::Error| ConfigError::Unreadable {
            file: path.to_owned(),
            source,
        };
        let text = read_text_at_most(path, LONGEST).map_err(unreadable)?;
        let absolute = camino::absolute_utf8(path).map_err(unreadable)?;
        let folder = absolute.parent().unwrap_or(Utf8Path::new("/"));
        let root = match folder.file_name() {
            Some(".config") => folder.parent().unwrap_or(folder),
            _ => folder,
        };
        Self::parse(path, root, &text, rows)
    }

    /// Parses the text of a file, like [`read`](Self::read).
    ///
    /// # Errors
    /// The same, except for reading.
    pub fn parse(path: &Utf8Path, root: &Utf8Path, text: &str, rows: &[Row]) -> Result<Self, ConfigError> {
        let places = Text::new(path, text);
        let document = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            place: places.place(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        let mut reading = Reading {
            places,
            rows,
            warnings: Vec::new(),
        };
        let profiles = reading.document(document.get_ref())?;
        let file = Self {
            path: Some(path.to_owned()),
            root: root.to_owned(),
            warnings: reading.warnings,
            profiles,
        };
        // Checks all profiles, because another one may be used only by a nightly run.
        file.profiles.keys().try_for_each(|name| file.profile(name).map(drop))?;
        Ok(file)
    }
}

/// The state of parsing a file.
pub(super) struct Reading<'a> {
    pub(super) places: Text<'a>,
    pub(super) rows: &'a [Row],
    pub(super) warnings: Vec<ConfigWarning>,
}

pub(super) type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;
pub(super) type Value<'a> = Spanned<DeValue<'a>>;

impl Reading<'_> {
    fn document(&mut self, document: &DeTable<'_>) -> Result<BTreeMap<String, ProfileTable>, ConfigError> {
        if let Some((key, value)) = document.get_key_value("gpubench-version") {
            self.require_version(key, value)?;
        }
        let mut profiles = BTreeMap::new();
        for (key, value) in document.iter() {
            match &**key.get_ref() {
                "gpubench-version" => {}
                "profile" => {
                    for (name, value) in self.table(key, value)?.iter() {
                        let table = self.table(name, value)?;
                        let profile = self.profile(name, table)?;
                        profiles.insert(name.get_ref().to_string(), profile);
                    }
                }
                name if self.is_setting(name) => self.ineffective(key, Ineffective::OutsideOfProfiles),
                name if self.is_like_a_profile(name, value) => {
                    self.ineffective(key, Ineffective::ProfileWithoutPrefix(name.to_owned()));
                }
                _ => self.unknown(key, &KEYS)?,
            }
        }
        Ok(profiles)
    }

    fn require_version(&self, key: &Key<'_>, value: &Value<'_>) -> Result<(), ConfigError> {
        let wanted = self.string(key, value)?;
        let numbers = |version: &str| -> Option<Vec<u64>> {
            let release = version.split(['-', '+']).next().unwrap_or(version);
            release.split('.').map(|number| number.parse().ok()).collect()
        };
        let ours = env!("CARGO_PKG_VERSION");
        let wanted_numbers = numbers(wanted).filter(|numbers| numbers.len() <= 3);
        match wanted_numbers {
            None => Err(ConfigError::Kind {
                place: self.places.place(value.span().start),
                key: key.get_ref().to_string(),
                wanted: "a version such as \"0.1\"",
                got: "another string",
            }),
            Some(_) if wanted_numbers > numbers(ours) => Err(ConfigError::OlderTool {
                place: self.places.place(value.span().start),
                wanted: wanted.to_owned(),
                ours,
            }),
            Some(_) => Ok(()),
        }
    }

    pub(super) fn table<'v, 'i>(&self, key: &Key<'_>, value: &'v Value<'i>) -> Result<&'v DeTable<'i>, ConfigError> {
        value
            .get_ref()
            .as_table()
            .ok_or_else(|| self.kind(key, value, "a table"))
    }

    pub(super) fn string<'v>(&self, key: &Key<'_>, value: &'v Value<'_>) -> Result<&'v str, ConfigError> {
        value
            .get_ref()
            .as_str()
            .ok_or_else(|| self.kind(key, value, "a string"))
    }

    pub(super) fn kind(&self, key: &Key<'_>, value: &Value<'_>, wanted: &'static str) -> ConfigError {
        ConfigError::Kind {
            place: self.places.place(value.span().start),
            key: key.get_ref().to_string(),
            wanted,
            got: kind_of(value.get_ref()),
        }
    }

    /// Notes a key without effect.
    ///
    /// # Errors
    /// The key has another name now.
    pub(super) fn unknown(&mut self, key: &Key<'_>, known: &[&str]) -> Result<(), ConfigError> {
        let name = key.get_ref();
        if let Some(new) = renamed(name) {
            return Err(ConfigError::Renamed {
                place: self.places.place(key.span().start),
                key: name.to_string(),
                new: match new.split_once('=') {
                    Some((key, value)) => format!("{key} = \"{value}\""),
                    None => new.to_owned(),
                },
            });
        }
        let ineffective = if self
            .rows
            .iter()
            .any(|row| row.scope == Scope::Line && row.key() == **name)
        {
            Ineffective::CommandLineOnly
        } else {
            Ineffective::Unknown {
                closest: closest(name, known.iter().copied()).map(str::to_owned),
            }
        };
        self.ineffective(key, ineffective);
        Ok(())
    }

    pub(super) fn ineffective(&mut self, key: &Key<'_>, ineffective: Ineffective) {
        self.warnings.push(ConfigWarning {
            place: self.places.place(key.span().start),
            key: key.get_ref().to_string(),
            ineffective,
        });
    }

    /// Returns the keys that a profile may have.
    pub(super) fn settings(&self) -> impl Iterator<Item = String> {
        let rows = self.rows.iter().filter(|row| row.scope >= Scope::Profile);
        rows.map(Row::key)
    }

    /// Returns whether a table of the file is probably meant as a profile: it is called `default`,
    /// or has keys of profiles.
    fn is_like_a_profile(&self, name: &str, value: &Value<'_>) -> bool {
        let table = value.get_ref().as_table();
        table.is_some_and(|table| {
            let mut keys = table.iter().map(|(key, _)| &**key.get_ref());
            name == DEFAULT_PROFILE || keys.any(|key| key == "inherits" || self.is_setting(key))
        })
    }

    /// Returns whether a profile may have the key.
    pub(super) fn is_setting(&self, key: &str) -> bool {
        self.settings().any(|known| known == key)
    }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
