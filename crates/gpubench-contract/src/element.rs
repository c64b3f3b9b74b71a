//! One element of an output, as a record shows it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::words::words;

/// The value of an element: a JSON number, or a word if JSON has no number for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ElementValue {
    /// A non-negative integer.
    Unsigned(u64),
    /// A negative integer.
    Signed(i64),
    /// A finite floating-point number, in the shortest decimal form that parses back to the same
    /// value of its element type.
    Float(f64),
    /// A floating-point value that JSON has no number for.
    NotFinite(NotFinite),
}

words! {
    /// Floating-point values that JSON has no number for.
    pub enum NotFinite {
        /// Not a number.
        Nan = "NaN",
        /// Positive infinity.
        Infinity = "inf",
        /// Negative infinity.
        NegativeInfinity = "-inf",
    }
}

impl ElementValue {
    /// Whether it is neither NaN nor infinite.
    pub fn is_finite(&self) -> bool {
        !matches!(self, ElementValue::NotFinite(_))
    }
}

impl From<u64> for ElementValue {
    fn from(value: u64) -> ElementValue {
        ElementValue::Unsigned(value)
    }
}

impl From<i64> for ElementValue {
    fn from(value: i64) -> ElementValue {
        u64::try_from(value).map_or(ElementValue::Signed(value), ElementValue::Unsigned)
    }
}

impl From<f32> for ElementValue {
    /// Converts to the `f64` with the same shortest decimal form: 0.1, not 0.10000000149011612.
    fn from(value: f32) -> ElementValue {
        let shortest: f64 = value.to_string().parse().unwrap_or(f64::from(value));
        ElementValue::from(shortest)
    }
}

impl From<f64> for ElementValue {
    fn from(value: f64) -> ElementValue {
        if value.is_nan() {
            ElementValue::NotFinite(NotFinite::Nan)
        } else if value == f64::INFINITY {
            ElementValue::NotFinite(NotFinite::Infinity)
        } else if value == f64::NEG_INFINITY {
            ElementValue::NotFinite(NotFinite::NegativeInfinity)
        } else {
            ElementValue::Float(value)
        }
    }
}

impl fmt::Display for ElementValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementValue::Unsigned(value) => value.fmt(f),
            ElementValue::Signed(value) => value.fmt(f),
            ElementValue::Float(value) => write!(f, "{value:?}"),
            ElementValue::NotFinite(value) => f.write_str(value.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip_through_json() {
        let values: [ElementValue; 6] = [
            u64::MAX.into(),
            i64::MIN.into(),
            7_i64.into(),
            1.5_f32.into(),
            f32::INFINITY.into(),
            0.1_f64.into(),
        ];
        for value in values {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<ElementValue>(&json).unwrap(), value, "{json}");
        }
        let nan = ElementValue::from(f64::NAN);
        assert_eq!(serde_json::to_string(&nan).unwrap(), "\"NaN\"");
    }
}
