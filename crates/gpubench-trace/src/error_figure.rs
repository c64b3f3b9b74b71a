//! Errors that may be NaN or infinite, which JSON can only have as texts.

use std::fmt;

use serde::Serializer;
use serde::de::{Deserializer, Visitor};

/// Whether a figure is below zero. NaN is not.
pub(crate) fn is_negative(value: f64) -> bool {
    value < 0.0
}

pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        value if value.is_nan() => serializer.serialize_str("NaN"),
        value if value.is_infinite() && *value > 0.0 => serializer.serialize_str("Infinity"),
        value if value.is_infinite() => serializer.serialize_str("-Infinity"),
        value => serializer.serialize_f64(*value),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_any(Figure)
}

struct Figure;

impl Visitor<'_> for Figure {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")
    }

    fn visit_f64<E>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<f64, E> {
        match value {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
        }
    }
}
