//! Values in a configuration file.

use toml::de::DeValue;

/// A value as text for the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigValue {
    /// `true` or `false`.
    Flag(bool),
    /// A string or a number.
    Text(String),
    /// Several strings or numbers.
    List(Vec<String>),
}

impl ConfigValue {
    /// Converts a TOML value. The error names a type that is not supported.
    pub(super) fn read(value: &DeValue<'_>) -> Result<Self, &'static str> {
        match value {
            DeValue::Boolean(flag) => Ok(Self::Flag(*flag)),
            DeValue::Array(items) => items
                .iter()
                .map(|item| scalar(item.get_ref()))
                .collect::<Result<_, _>>()
                .map(Self::List),
            other => scalar(other).map(Self::Text),
        }
    }
}

fn scalar(value: &DeValue<'_>) -> Result<String, &'static str> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        DeValue::Integer(_) => Err("a number that is not decimal"),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Boolean(_) => Err("a boolean"),
        DeValue::Datetime(_) => Err("a date"),
        DeValue::Array(_) => Err("a list"),
        DeValue::Table(_) => Err("a table"),
    }
}
