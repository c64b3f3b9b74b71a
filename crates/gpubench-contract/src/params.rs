//! The axis values of a case, as in records.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of every axis of a case, in the order of declaration. In JSON it is an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(pub Vec<(String, ParamValue)>);

/// The value of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ParamValue {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A finite floating-point number.
    Float(f64),
    /// A string.
    Text(String),
}

impl fmt::Display for ParamValue {
    /// Writes numbers in the shortest form that parses back to the same value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamValue::Bool(value) => value.fmt(f),
            ParamValue::Int(value) => value.fmt(f),
            ParamValue::Float(value) => write!(f, "{value:?}"),
            // A line break in a value must not break the line of output.
            ParamValue::Text(value) if value.contains(char::is_control) => value.escape_debug().fmt(f),
            ParamValue::Text(value) => value.fmt(f),
        }
    }
}

impl fmt::Display for Params {
    /// Writes `width=1024,height=4096`, or nothing for a benchmark without axes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl From<f64> for ParamValue {
    /// Converts a number that is not finite to its name, because JSON has no number for it.
    fn from(value: f64) -> ParamValue {
        if value.is_finite() {
            ParamValue::Float(value)
        } else {
            ParamValue::Text(value.to_string())
        }
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Params, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Params;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from axis names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Params(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

#[cfg(any(test, feature = "schema"))]
impl schemars::JsonSchema for Params {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Params".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<ParamValue>();
        schemars::json_schema!({
            "description": "The value of every axis of a case, numbers as numbers.",
            "type": "object",
            "additionalProperties": value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_they_are_written() {
        let params = Params(vec![
            ("b".to_owned(), ParamValue::Bool(true)),
            ("i".to_owned(), ParamValue::Int(-3)),
            ("f".to_owned(), ParamValue::from(2.0)),
            ("t".to_owned(), ParamValue::Text("a b".to_owned())),
            ("line".to_owned(), ParamValue::Text("a\nb".to_owned())),
        ]);
        assert_eq!(params.to_string(), "b=true,i=-3,f=2.0,t=a b,line=a\\nb");
        assert_eq!(ParamValue::from(f64::NAN), ParamValue::Text("NaN".to_owned()));
        assert_eq!(ParamValue::from(f64::INFINITY), ParamValue::Text("inf".to_owned()));
    }
}
