//! Conversion of axis values to function parameters.

use crate::catalog::{Axis, AxisValue, Params};
use crate::error::{Error, Result};
use std::fmt;

/// A type that an axis can have: an integer of up to 64 bits, `f32`, `f64`, `bool` or `&str`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an axis type nor a buffer",
    label = "not an axis type or a buffer",
    note = "axes are integers, f32, f64, bool or &str; buffers are In<T>, Out<T>, InOut<T>, Scratch<T> or Constant<T>"
)]
pub trait AxisParam<'a>: Sized {
    #[doc(hidden)]
    const NAME: &'static str;

    #[doc(hidden)]
    fn read(value: &'a AxisValue) -> Option<Self>;

    #[doc(hidden)]
    fn into_value(self) -> AxisValue;
}

macro_rules! integer_axes {
    ($($integer:ident)*) => {$(
        impl AxisParam<'_> for $integer {
            const NAME: &'static str = stringify!($integer);

            fn read(value: &AxisValue) -> Option<$integer> {
                let value = match *value {
                    AxisValue::Int(value) => value,
                    // 2^53: an `f64` holds every integer up to this one exactly.
                    AxisValue::Float(value) if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 => value as i64,
                    _ => return None,
                };
                value.try_into().ok()
            }

            fn into_value(self) -> AxisValue {
                match i64::try_from(self) {
                    Ok(value) => AxisValue::Int(value),
                    Err(_) => panic!("the axis value {self} is larger than {}", i64::MAX),
                }
            }
        }
    )*};
}

integer_axes!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize);

macro_rules! float_axes {
    ($($float:ident)*) => {$(
        impl AxisParam<'_> for $float {
            const NAME: &'static str = stringify!($float);

            fn read(value: &AxisValue) -> Option<$float> {
                match *value {
                    AxisValue::Int(value) => Some(value as $float),
                    AxisValue::Float(value) => Some(value as $float),
                    AxisValue::Text(_) | AxisValue::Bool(_) => None,
                }
            }

            fn into_value(self) -> AxisValue {
                // Converts through the shortest text, so `0.1f32` is listed as 0.1 and not as
                // 0.10000000149011612.
                AxisValue::Float(self.to_string().parse().unwrap_or(f64::from(self)))
            }
        }
    )*};
}

float_axes!(f32 f64);

impl AxisParam<'_> for bool {
    const NAME: &'static str = "bool";

    fn read(value: &AxisValue) -> Option<bool> {
        match value {
            AxisValue::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn into_value(self) -> AxisValue {
        AxisValue::Bool(self)
    }
}

impl<'a> AxisParam<'a> for &'a str {
    const NAME: &'static str = "text";

    fn read(value: &'a AxisValue) -> Option<&'a str> {
        match value {
            AxisValue::Text(text) => Some(text),
            _ => None,
        }
    }

    fn into_value(self) -> AxisValue {
        AxisValue::Text(self.to_owned())
    }
}

/// Returns the value of the axis `name` as the parameter's type.
pub(crate) fn read<'a, T: AxisParam<'a>>(params: &'a Params, name: &str) -> Result<T> {
    let (_, value) = params
        .iter()
        .find(|(param, _)| param == name)
        .ok_or_else(|| Error::new(format!("axis `{name}`: the case has no value for it")))?;
    T::read(value).ok_or_else(|| Error::new(format!("axis `{name}`: `{value}` is not {}", article(T::NAME))))
}

/// Returns the type's name with its indefinite article: `a u16`, `an i16`, `an f32`.
fn article(name: &str) -> String {
    let article = if name.starts_with(['i', 'f']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Returns an axis for the catalog.
pub(crate) fn declare<'a, T: AxisParam<'a>>(name: &str, values: Vec<T>) -> Axis {
    Axis {
        name: name.to_owned(),
        values: values.into_iter().map(T::into_value).collect(),
    }
}

impl fmt::Display for AxisValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AxisValue::Int(value) => write!(f, "{value}"),
            AxisValue::Float(value) => write!(f, "{value}"),
            AxisValue::Text(value) => f.write_str(value),
            AxisValue::Bool(value) => write!(f, "{value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(value: AxisValue) -> Params {
        vec![("width".to_owned(), value)]
    }

    #[test]
    fn an_error_about_a_value_of_another_type_names_the_axis() {
        let error = |value| read::<usize>(&params(value), "width").unwrap_err().to_string();
        assert_eq!(error(AxisValue::Float(2.5)), "axis `width`: `2.5` is not a usize");
        assert_eq!(error(AxisValue::Int(-1)), "axis `width`: `-1` is not a usize");
        assert_eq!(
            error(AxisValue::Text("big".into())),
            "axis `width`: `big` is not a usize"
        );
        assert_eq!(
            read::<u8>(&params(AxisValue::Int(256)), "width")
                .unwrap_err()
                .to_string(),
            "axis `width`: `256` is not a u8"
        );
        assert_eq!(
            read::<usize>(&params(AxisValue::Int(1)), "height")
                .unwrap_err()
                .to_string(),
            "axis `height`: the case has no value for it"
        );
    }

    #[test]
    fn values_convert_to_every_parameter_type() {
        assert_eq!(read::<usize>(&params(AxisValue::Float(2048.0)), "width").unwrap(), 2048);
        assert_eq!(read::<f32>(&params(AxisValue::Int(3)), "width").unwrap(), 3.0);
        assert!(read::<bool>(&params(AxisValue::Bool(true)), "width").unwrap());
        assert_eq!(
            read::<&str>(&params(AxisValue::Text("row".into())), "width").unwrap(),
            "row"
        );
    }

    #[test]
    fn a_bool_is_listed_as_one_and_is_no_number() {
        assert_eq!(
            declare("clamp", vec![false, true]).values,
            [false, true].map(AxisValue::Bool)
        );
        let error = read::<bool>(&params(AxisValue::Int(1)), "width").unwrap_err();
        assert_eq!(error.to_string(), "axis `width`: `1` is not a bool");
        assert!(read::<u8>(&params(AxisValue::Bool(true)), "width").is_err());
    }

    #[test]
    fn an_f32_is_listed_by_its_shortest_text() {
        assert_eq!(0.1f32.into_value(), AxisValue::Float(0.1));
    }
}
