//! Additions to a manifest that keep its comments and format.

use camino::{Utf8Path, Utf8PathBuf};
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::ScaffoldError;
use super::files::{read, replace};

/// The package of the runtime.
pub(super) const RUNTIME: &str = "gpubench";

/// A package's manifest, to be changed.
#[derive(Debug)]
pub(super) struct Manifest {
    path: Utf8PathBuf,
    document: DocumentMut,
    /// What the document has to mean once it is written.
    meaning: toml::Table,
    line_ending: LineEnding,
    has_byte_order_mark: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnding {
    Lf,
    CrLf,
}

/// The runtime, as examples of the package see it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Runtime {
    /// They can use it by this name of the manifest.
    Usable(String),
    /// It is an optional dependency with this name. As a dev-dependency it would have this value.
    Optional { name: String, value: String },
    /// The package does not depend on it.
    Missing,
}

impl Manifest {
    /// Reads the manifest of a package.
    ///
    /// # Errors
    /// It cannot be read, is not TOML, or is not that of a package.
    pub(super) fn read(path: &Utf8Path) -> Result<Manifest, ScaffoldError> {
        let no_package = || ScaffoldError::NoPackage {
            manifest: path.to_owned(),
        };
        if !path.exists() {
            return Err(no_package());
        }
        let manifest = Manifest::of(path, &read(path)?)?;
        match manifest.meaning.contains_key("package") {
            true => Ok(manifest),
            false => Err(no_package()),
        }
    }

    fn of(path: &Utf8Path, text: &str) -> Result<Manifest, ScaffoldError> {
        let without_mark = text.strip_prefix('\u{feff}');
        let line_ending = match text.split_inclusive('\n').next() {
            Some(first) if first.ends_with("\r\n") => LineEnding::CrLf,
            _ => LineEnding::Lf,
        };
        let lines = without_mark.unwrap_or(text).replace("\r\n", "\n");
        let meaning = lines.parse().map_err(|source| ScaffoldError::Manifest {
            manifest: path.to_owned(),
            source: Box::new(source),
        })?;
        let document = lines.parse().map_err(|_| ScaffoldError::NotEditable {
            manifest: path.to_owned(),
        })?;
        Ok(Manifest {
            path: path.to_owned(),
            document,
            meaning,
            line_ending,
            has_byte_order_mark: without_mark.is_some(),
        })
    }

    /// Returns the package's name.
    pub(super) fn package_name(&self) -> Option<&str> {
        self.meaning.get("package")?.get("name")?.as_str()
    }

    /// Finds the runtime among the dependencies.
    ///
    /// # Errors
    /// Another package has its name.
    pub(super) fn runtime(&self) -> Result<Runtime, ScaffoldError> {
        let is_runtime = |(name, entry): &(&String, &toml::Value)| self.package_of(name, entry) == RUNTIME;
        let dev = ["dev-dependencies", "dev_dependencies"];
        let of_examples: Vec<_> = dev.iter().flat_map(|table| self.dependencies(table)).collect();
        if let Some((name, _)) = of_examples.iter().copied().find(is_runtime) {
            return Ok(Runtime::Usable(name.clone()));
        }
        let of_package = self.dependencies("dependencies");
        let is_optional = |entry: &toml::Value| entry.get("optional").and_then(toml::Value::as_bool) == Some(true);
        let mut optional = None;
        for (name, entry) in of_package.iter().copied().filter(is_runtime) {
            if !is_optional(entry) {
                return Ok(Runtime::Usable(name.clone()));
            }
            optional = optional.or_else(|| Some((name.clone(), entry)));
        }
        if let Some((name, entry)) = optional {
            let mut entry = entry.clone();
            if let Some(entry) = entry.as_table_mut() {
                entry.remove("optional");
            }
            let value = in_one_line(&entry).ok_or_else(|| self.not_editable())?;
            return Ok(Runtime::Optional { name, value });
        }
        match of_examples
            .into_iter()
            .chain(of_package)
            .find(|(name, _)| *name == RUNTIME)
        {
            Some((name, entry)) => Err(ScaffoldError::NameOfAnotherPackage {
                manifest: self.path.clone(),
                package: self.package_of(name, entry),
            }),
            None => Ok(Runtime::Missing),
        }
    }

    /// Returns the entries of a table of dependencies and of those for some targets.
    fn dependencies(&self, table: &str) -> Vec<(&String, &toml::Value)> {
        let targets = self.meaning.get("target").and_then(toml::Value::as_table);
        let of_targets = targets.into_iter().flat_map(toml::Table::values);
        let tables = of_targets.filter_map(|target| target.get(table));
        let own = self.meaning.get(table);
        own.into_iter()
            .chain(tables)
            .filter_map(toml::Value::as_table)
            .flatten()
            .collect()
    }

    /// Returns the package of a dependency, which the workspace may have renamed.
    fn package_of(&self, name: &str, entry: &toml::Value) -> String {
        let package = |entry: &toml::Value| Some(entry.get("package")?.as_str()?.to_owned());
        let is_inherited = entry.get("workspace").and_then(toml::Value::as_bool) == Some(true);
        let package = match is_inherited {
            true => self.workspace_dependency(name).as_ref().and_then(package),
            false => package(entry),
        };
        package.unwrap_or_else(|| name.to_owned())
    }

    fn workspace_dependency(&self, name: &str) -> Option<toml::Value> {
        let of = |manifest: &toml::Table| manifest.get("workspace")?.get("dependencies")?.get(name).cloned();
        if self.meaning.contains_key("workspace") {
            return of(&self.meaning);
        }
        let manifest = self.path.canonicalize_utf8().ok()?;
        let folder = manifest.parent()?;
        let named = self.meaning.get("package").and_then(|package| package.get("workspace"));
        let named = named.and_then(toml::Value::as_str).map(|path| folder.join(path));
        let above = folder.ancestors().skip(1).map(Utf8Path::to_owned);
        let manifests = named.into_iter().chain(above).filter_map(|folder| {
            let text = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
            text.parse::<toml::Table>().ok()
        });
        let mut workspaces = manifests.filter(|manifest| manifest.contains_key("workspace"));
        workspaces.next().as_ref().and_then(of)
    }

    /// Adds a dependency, whose value is TOML, to a table. The table is added if it is missing.
    ///
    /// # Errors
    /// The manifest has something else in place of the table.
    pub(super) fn add_dependency(&mut self, table: &str, name: &str, value: &str) -> Result<(), ScaffoldError> {
        // Cargo reads only one of the two.
        let table = match table {
            "dev-dependencies" if self.meaning.contains_key("dev_dependencies") => "dev_dependencies",
            table => table,
        };
        let meaning = format!("value = {value}").parse::<toml::Table>().ok();
        let meaning = meaning.and_then(|mut parsed| parsed.remove("value"));
        let (Ok(value), Some(meaning)) = (value.parse::<Value>(), meaning) else {
            return Err(self.not_editable());
        };
        if !self.document.contains_key(table) {
            let added = self.table_at_the_end();
            self.document.insert(table, Item::Table(added));
        }
        let added = match self.document.get_mut(table) {
            Some(Item::Value(Value::InlineTable(dependencies))) => {
                push_last(dependencies, name, value);
                true
            }
            Some(item) => item
                .as_table_like_mut()
                .map(|dependencies: &mut dyn TableLike| dependencies.insert(name, Item::Value(value)))
                .is_some(),
            None => false,
        };
        let dependencies = self.meaning.entry(table).or_insert_with(|| toml::Table::new().into());
        match dependencies.as_table_mut() {
            Some(dependencies) if added => {
                dependencies.insert(name.to_owned(), meaning);
                Ok(())
            }
            _ => Err(self.not_editable()),
        }
    }

    /// Adds an example that is a library.
    ///
    /// # Errors
    /// The manifest has an example with this name.
    pub(super) fn add_example(&mut self, name: &str) -> Result<(), ScaffoldError> {
        let examples = self
            .meaning
            .entry("example")
            .or_insert_with(|| toml::Value::Array(Vec::new()));
        let Some(examples) = examples.as_array_mut() else {
            return Err(self.not_editable());
        };
        let name_of = |example: &toml::Value| example.get("name").and_then(toml::Value::as_str).map(str::to_owned);
        if examples.iter().filter_map(name_of).any(|other| other == name) {
            return Err(ScaffoldError::ExampleDeclared {
                manifest: self.path.clone(),
                example: name.to_owned(),
            });
        }
        let meaning = [
            ("name", name.into()),
            ("crate-type", toml::Value::Array(vec!["cdylib".into()])),
        ];
        let meaning = meaning.map(|(key, value): (_, toml::Value)| (key.to_owned(), value));
        examples.push(toml::Table::from_iter(meaning).into());
        let keys = [
            ("name", Value::from(name)),
            ("crate-type", Value::from_iter(["cdylib"])),
        ];
        if !self.document.contains_key("example") {
            let none = Item::ArrayOfTables(ArrayOfTables::new());
            self.document.insert("example", none);
        }
        let mut table = self.table_at_the_end();
        match self.document.get_mut("example") {
            Some(Item::ArrayOfTables(examples)) => {
                keys.into_iter().for_each(|(key, value)| {
                    table.insert(key, Item::Value(value));
                });
                examples.push(table);
                Ok(())
            }
            Some(Item::Value(Value::Array(examples))) => {
                examples.push(InlineTable::from_iter(keys));
                Ok(())
            }
            _ => Err(self.not_editable()),
        }
    }

    /// Returns a new table for the end of the document. What follows the last table there, such as
    /// a comment, stays before it.
    fn table_at_the_end(&mut self) -> Table {
        let trailing = self
            .document
            .trailing()
            .as_str()
            .unwrap_or_default()
            .trim_end()
            .to_owned();
        self.document.set_trailing("");
        let mut table = Table::new();
        table.set_position(Some(isize::MAX));
        table.decor_mut().set_prefix(match trailing.as_str() {
            "" => "\n".to_owned(),
            comment => format!("{comment}\n\n"),
        });
        table
    }

    /// Returns the text, which has been read again: it means what it did, and what was added.
    ///
    /// # Errors
    /// It does not. Then the addition has to be made by hand.
    pub(super) fn text(&self) -> Result<String, ScaffoldError> {
        let lines = self.document.to_string();
        if lines.parse::<toml::Table>().ok().as_ref() != Some(&self.meaning) {
            return Err(self.not_editable());
        }
        let mark = if self.has_byte_order_mark { "\u{feff}" } else { "" };
        Ok(match self.line_ending {
            LineEnding::Lf => format!("{mark}{lines}"),
            LineEnding::CrLf => format!("{mark}{}", lines.replace('\n', "\r\n")),
        })
    }

    /// Writes the text in place of the manifest.
    ///
    /// # Errors
    /// As of [`Manifest::text`], or the file cannot be written.
    pub(super) fn save(&self) -> Result<(), ScaffoldError> {
        replace(&self.path, &self.text()?)
    }

    fn not_editable(&self) -> ScaffoldError {
        ScaffoldError::NotEditable {
            manifest: self.path.clone(),
        }
    }
}

/// Adds a key after all others. The space before the closing brace stays there.
fn push_last(table: &mut InlineTable, name: &str, mut value: Value) {
    let space = match table.iter_mut().last() {
        Some((_, last)) => {
            let space = last.decor().suffix().cloned().unwrap_or_default();
            last.decor_mut().set_suffix("");
            space
        }
        None => " ".into(),
    };
    value.decor_mut().set_prefix(" ");
    value.decor_mut().set_suffix(space);
    table.insert(name, value);
}

/// Returns a value as TOML without line breaks.
fn in_one_line(value: &toml::Value) -> Option<String> {
    let inline = match value {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Boolean(truth) => Value::from(*truth),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Array(values) => {
            let values: Option<Vec<Value>> = values.iter().map(as_value).collect();
            Value::from_iter(values?)
        }
        toml::Value::Table(table) => {
            let pairs = table.iter().map(|(key, value)| Some((key.as_str(), as_value(value)?)));
            let pairs: Option<Vec<(&str, Value)>> = pairs.collect();
            Value::from(InlineTable::from_iter(pairs?))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) => return None,
    };
    Some(inline.to_string().trim().to_owned())
}

fn as_value(value: &toml::Value) -> Option<Value> {
    in_one_line(value)?.parse().ok()
}

#[cfg(test)]
mod tests;
