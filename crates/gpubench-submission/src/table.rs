//! Values of TOML with their places, and the mistakes of unexpected ones.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::description::{Placed, Written};
use crate::expression::{Expression, Value};
use crate::mistake::{Mistake, What};
use crate::position::{Position, Positions};

pub(crate) type Toml<'a> = Spanned<DeValue<'a>>;
pub(crate) type Read<T> = Result<T, Mistake>;

/// Where values are read from.
pub(crate) struct Reader<'t> {
    pub(crate) text: &'t Positions<'t>,
}

/// A table with its place.
pub(crate) struct Table<'t, 'd> {
    pub(crate) reader: &'t Reader<'t>,
    pub(crate) table: &'d DeTable<'d>,
    /// What it is, for messages.
    pub(crate) name: String,
    pub(crate) at: Position,
}

impl Table<'_, '_> {
    pub(crate) fn text(&self, key: &'static str) -> Read<Option<Placed<String>>> {
        self.get(key).map(|value| self.reader.text(key, value)).transpose()
    }

    pub(crate) fn truth(&self, key: &'static str) -> Read<Option<bool>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(truth) => Ok(Some(*truth)),
            other => Err(self.reader.kind(key, value, other, "`true` or `false`")),
        }
    }

    pub(crate) fn expression(&self, key: &'static str) -> Read<Option<Written>> {
        self.get(key)
            .map(|value| self.reader.expression(key, value))
            .transpose()
    }

    /// Returns the tables of `[[key]]`.
    pub(crate) fn tables(&self, key: &'static str) -> Read<Option<Vec<Table<'_, '_>>>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let items = self.reader.list(key, value, "a list of tables, `[[..]]`,")?;
        let name = format!("`[[{key}]]`");
        let tables = items.iter().map(|item| self.reader.table(key, item, &name));
        tables.collect::<Read<_>>().map(Some)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Toml<'_>> {
        self.table.get(key)
    }

    pub(crate) fn needed<T>(&self, key: &'static str, value: Option<T>) -> Read<T> {
        value.ok_or_else(|| Mistake::new(self.at.clone(), What::Missing(key)))
    }

    pub(crate) fn place_of(&self, key: &str) -> Position {
        let key = self.table.get_key_value(key).map(|(key, _)| key.span().start);
        key.map_or_else(|| self.at.clone(), |start| self.reader.text.position(start))
    }

    pub(crate) fn refuse_others(&self, known: &'static [&'static str]) -> Read<()> {
        self.refuse_others_of(known, &self.name)
    }

    pub(crate) fn refuse_others_of(&self, known: &'static [&'static str], table: &str) -> Read<()> {
        let mut keys = self.table.keys();
        match keys.find(|key| !known.contains(&&**key.get_ref())) {
            None => Ok(()),
            Some(key) => {
                let what = What::Key {
                    table: table.to_owned(),
                    key: key.get_ref().to_string(),
                    known,
                };
                Err(Mistake::new(self.reader.text.position(key.span().start), what))
            }
        }
    }

    pub(crate) fn refuse_many(&self, key: &str, value: &Toml<'_>, given: usize, most: usize) -> Read<()> {
        if given <= most {
            return Ok(());
        }
        let key = key.to_owned();
        Err(Mistake::new(
            self.reader.position(value),
            What::Many { key, given, most },
        ))
    }

    pub(crate) fn wrong(&self, at: &Position, key: &str, problem: impl std::fmt::Display) -> Mistake {
        let (key, problem) = (key.to_owned(), problem.to_string());
        Mistake::new(at.clone(), What::Value { key, problem })
    }
}

impl Reader<'_> {
    pub(crate) fn position(&self, value: &Toml<'_>) -> Position {
        self.text.position(value.span().start)
    }

    pub(crate) fn kind(&self, key: &str, value: &Toml<'_>, found: &DeValue<'_>, wanted: &'static str) -> Mistake {
        let what = What::Kind {
            key: key.to_owned(),
            found: kind_of(found),
            wanted,
        };
        Mistake::new(self.position(value), what)
    }

    pub(crate) fn list<'v, 'd>(&self, key: &str, value: &'v Toml<'d>, wanted: &'static str) -> Read<&'v [Toml<'d>]> {
        match value.get_ref() {
            DeValue::Array(items) => Ok(items),
            other => Err(self.kind(key, value, other, wanted)),
        }
    }

    pub(crate) fn table<'v>(&'v self, key: &str, value: &'v Toml<'v>, name: &str) -> Read<Table<'v, 'v>> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(Table {
                reader: self,
                table,
                name: name.to_owned(),
                at: self.position(value),
            }),
            other => Err(self.kind(key, value, other, "a table")),
        }
    }

    pub(crate) fn text(&self, key: &str, value: &Toml<'_>) -> Read<Placed<String>> {
        match value.get_ref() {
            DeValue::String(text) => Ok(Placed {
                inner: text.to_string(),
                at: self.position(value),
            }),
            other => Err(self.kind(key, value, other, "a text")),
        }
    }

    pub(crate) fn expression(&self, key: &str, value: &Toml<'_>) -> Read<Written> {
        let at = self.position(value);
        let wrong = |problem: &str| {
            let (key, problem) = (key.to_owned(), problem.to_owned());
            Mistake::new(at.clone(), What::Value { key, problem })
        };
        let literal = match value.get_ref() {
            DeValue::String(text) => return self.parsed(key, value, text),
            DeValue::Integer(integer) => {
                let digits = integer.as_str().replace('_', "");
                let number = i128::from_str_radix(&digits, integer.radix());
                Value::Integer(number.map_err(|_| wrong("the number has more than 127 bits"))?)
            }
            DeValue::Float(float) => {
                let number = float.as_str().replace('_', "").parse();
                Value::Float(number.map_err(|_| wrong("it is no number"))?)
            }
            DeValue::Boolean(truth) => Value::Bool(*truth),
            other => return Err(self.kind(key, value, other, "a number or an expression")),
        };
        Ok(Written {
            expression: Expression::of_value(literal),
            key: key.to_owned(),
            at,
            is_literal: true,
        })
    }

    pub(crate) fn parsed(&self, key: &str, value: &Toml<'_>, text: &str) -> Read<Written> {
        let span = value.span();
        let written = self.text.as_str().get(span.clone()).unwrap_or_default();
        let quotes = ['"', '\''].map(|quote| format!("{quote}{text}{quote}"));
        let is_literal = quotes.iter().any(|quoted| quoted == written);
        let at = self.text.position(span.start);
        let at = if is_literal { at.plus(1) } else { at };
        match Expression::parse(text) {
            Ok(expression) => Ok(Written {
                expression,
                key: key.to_owned(),
                at,
                is_literal,
            }),
            Err(error) => {
                let at = if is_literal { at.plus(error.at) } else { at };
                let key = key.to_owned();
                Err(Mistake::new(at, What::Expression { key, error }))
            }
        }
    }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a floating-point number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
