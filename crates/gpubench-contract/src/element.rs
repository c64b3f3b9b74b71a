//! One element of an output, as a record shows it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::words::words;

/// The value of an element: a JSON number, or a word if JSON has no number for it. A complex one is
/// an array of its real and its imaginary part.
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
    /// The real and the imaginary part of a complex number.
    Complex([RealValue; 2]),
}

/// A part of a complex number: a JSON number, or a word if JSON has no number for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum RealValue {
    /// A finite number, in the shortest decimal form that parses back to the same value of its
    /// type.
    Finite(f64),
    /// A value that JSON has no number for.
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
        match self {
            ElementValue::Unsigned(_) | ElementValue::Signed(_) | ElementValue::Float(_) => true,
            ElementValue::NotFinite(_) => false,
            ElementValue::Complex(parts) => parts.iter().all(|part| matches!(part, RealValue::Finite(_))),
        }
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

impl From<f32> for RealValue {
    /// Converts to the `f64` with the same shortest decimal form: 0.1, not 0.10000000149011612.
    fn from(value: f32) -> RealValue {
        let shortest: f64 = value.to_string().parse().unwrap_or(f64::from(value));
        RealValue::from(shortest)
    }
}

impl From<f64> for RealValue {
    fn from(value: f64) -> RealValue {
        if value.is_nan() {
            RealValue::NotFinite(NotFinite::Nan)
        } else if value == f64::INFINITY {
            RealValue::NotFinite(NotFinite::Infinity)
        } else if value == f64::NEG_INFINITY {
            RealValue::NotFinite(NotFinite::NegativeInfinity)
        } else {
            RealValue::Finite(value)
        }
    }
}

impl From<RealValue> for ElementValue {
    fn from(value: RealValue) -> ElementValue {
        match value {
            RealValue::Finite(value) => ElementValue::Float(value),
            RealValue::NotFinite(value) => ElementValue::NotFinite(value),
        }
    }
}

impl From<f32> for ElementValue {
    /// Converts as [`RealValue`] does.
    fn from(value: f32) -> ElementValue {
        RealValue::from(value).into()
    }
}

impl From<f64> for ElementValue {
    fn from(value: f64) -> ElementValue {
        RealValue::from(value).into()
    }
}

impl From<[f32; 2]> for ElementValue {
    /// Takes the parts of a complex number.
    fn from(parts: [f32; 2]) -> ElementValue {
        ElementValue::Complex(parts.map(RealValue::from))
    }
}

impl fmt::Display for RealValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RealValue::Finite(value) => write!(f, "{value:?}"),
            RealValue::NotFinite(value) => f.write_str(value.as_str()),
        }
    }
}

impl fmt::Display for ElementValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementValue::Unsigned(value) => value.fmt(f),
            ElementValue::Signed(value) => value.fmt(f),
            ElementValue::Float(value) => RealValue::Finite(*value).fmt(f),
            ElementValue::NotFinite(value) => RealValue::NotFinite(*value).fmt(f),
            ElementValue::Complex([re, im]) => {
                let im = im.to_string();
                let plus = if im.starts_with('-') { "" } else { "+" };
                write!(f, "{re}{plus}{im}i")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip_through_json() {
        let values: [ElementValue; 8] = [
            u64::MAX.into(),
            i64::MIN.into(),
            7_i64.into(),
            1.5_f32.into(),
            f32::INFINITY.into(),
            0.1_f64.into(),
            [0.1, -2.0].into(),
            [f32::NAN, f32::INFINITY].into(),
        ];
        for value in values {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<ElementValue>(&json).unwrap(), value, "{json}");
        }
        let nan = ElementValue::from(f64::NAN);
        assert_eq!(serde_json::to_string(&nan).unwrap(), "\"NaN\"");
        let complex = ElementValue::from([0.1, f32::NEG_INFINITY]);
        assert_eq!(serde_json::to_string(&complex).unwrap(), "[0.1,\"-inf\"]");
        assert_eq!(complex.to_string(), "0.1-infi");
    }
}
