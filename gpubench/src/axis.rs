//! Conversion of axis values to function parameters.

use crate::case_file::Cell;
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

    /// Returns a value of a file.
    #[doc(hidden)]
    fn parse(cell: &Cell) -> Option<AxisValue>;
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

            fn parse(cell: &Cell) -> Option<AxisValue> {
                let value: $integer = cell.literal()?.parse().ok()?;
                i64::try_from(value).ok().map(AxisValue::Int)
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

            fn parse(cell: &Cell) -> Option<AxisValue> {
                let value: $float = cell.literal()?.parse().ok()?;
                value.is_finite().then(|| value.into_value())
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

    fn parse(cell: &Cell) -> Option<AxisValue> {
        cell.literal()?.parse().ok().map(AxisValue::Bool)
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

    fn parse(cell: &Cell) -> Option<AxisValue> {
        cell.text().map(|text| AxisValue::Text(text.to_owned()))
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
pub(crate) fn article(name: &str) -> String {
    let article = if name.starts_with(['i', 'f']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Returns an axis for the catalog.
pub(crate) fn declare<'a, T: AxisParam<'a>>(name: &str, values: Vec<T>) -> Axis {
    Axis::of(name, values.into_iter().map(T::into_value).collect())
}

/// Axes that replace some axes of a group, but not all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartOfGroup {
    /// Names of the group.
    pub group: Vec<String>,
    /// Names that are not replaced.
    pub kept: Vec<String>,
}

impl fmt::Display for PartOfGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PartOfGroup { group, kept } = self;
        let (group, kept) = (group.join("`, `"), kept.join("`, `"));
        write!(
            f,
            "the values of `{group}` belong together, and there are none for `{kept}`"
        )
    }
}

impl Axis {
    /// Returns an axis whose values do not belong to those of others.
    pub fn of(name: &str, values: Vec<AxisValue>) -> Axis {
        Axis {
            names: vec![name.to_owned()],
            values: values.into_iter().map(|value| vec![value]).collect(),
        }
    }

    /// Returns the name, or the names of a group as `cases(..)` has them: `(m, n)`.
    pub fn title(&self) -> String {
        match &self.names[..] {
            [name] => name.clone(),
            names => format!("({})", names.join(", ")),
        }
    }

    /// Returns the values of one of its names, in order. Values can repeat.
    pub fn values_of(&self, name: &str) -> impl Iterator<Item = &AxisValue> {
        let position = self.names.iter().position(|known| known == name);
        self.values.iter().filter_map(move |values| values.get(position?))
    }

    /// Returns whether there is a value for every name.
    pub fn is_whole(&self) -> bool {
        self.values.iter().all(|values| values.len() == self.names.len())
    }

    fn has_any_of(&self, other: &Axis) -> bool {
        self.names.iter().any(|name| other.names.contains(name))
    }

    /// Returns `axes`, with `others` instead of those of the same names. Others follow.
    ///
    /// # Errors
    /// The others have some names of a group, but not all.
    pub fn replaced(axes: Vec<Axis>, others: &[Axis]) -> Result<Vec<Axis>, PartOfGroup> {
        let mut rest: Vec<&Axis> = others.iter().collect();
        let mut all = Vec::new();
        for axis in axes {
            let is_kept = |name: &&String| others.iter().all(|other| !other.names.contains(name));
            let kept: Vec<String> = axis.names.iter().filter(is_kept).cloned().collect();
            if kept.len() == axis.names.len() {
                all.push(axis);
            } else if kept.is_empty() {
                all.extend(rest.extract_if(.., |other| axis.has_any_of(other)).cloned());
            } else {
                let group = axis.names;
                return Err(PartOfGroup { group, kept });
            }
        }
        all.extend(rest.into_iter().cloned());
        Ok(all)
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
            [false, true].map(|value| vec![AxisValue::Bool(value)])
        );
        let error = read::<bool>(&params(AxisValue::Int(1)), "width").unwrap_err();
        assert_eq!(error.to_string(), "axis `width`: `1` is not a bool");
        assert!(read::<u8>(&params(AxisValue::Bool(true)), "width").is_err());
    }

    fn group(names: &[&str], values: &[&[i64]]) -> Axis {
        let values = values
            .iter()
            .map(|tuple| tuple.iter().copied().map(AxisValue::Int).collect());
        Axis {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            values: values.collect(),
        }
    }

    #[test]
    fn axes_take_the_place_of_those_with_their_names() {
        let axes = vec![
            group(&["a"], &[&[1]]),
            group(&["m", "n"], &[&[1, 2]]),
            group(&["z"], &[&[1]]),
        ];
        let other = group(&["n", "m"], &[&[3, 4], &[5, 6]]);
        let all = Axis::replaced(axes.clone(), std::slice::from_ref(&other)).unwrap();
        assert_eq!(all, [axes[0].clone(), other, axes[2].clone()]);
        let singles = [
            group(&["n"], &[&[7]]),
            group(&["new"], &[&[0]]),
            group(&["m"], &[&[8], &[9]]),
        ];
        let all = Axis::replaced(axes.clone(), &singles).unwrap();
        let titles: Vec<_> = all.iter().map(Axis::title).collect();
        assert_eq!(titles, ["a", "n", "m", "z", "new"]);
        let across = group(&["a", "z"], &[&[1, 1]]);
        let all = Axis::replaced(axes, std::slice::from_ref(&across)).unwrap();
        assert_eq!(all, [across, group(&["m", "n"], &[&[1, 2]])]);
    }

    #[test]
    fn a_part_of_a_group_replaces_nothing() {
        let axes = vec![group(&["m", "n", "k"], &[&[1, 2, 3]])];
        let error = Axis::replaced(axes, &[group(&["n"], &[&[1]])]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the values of `m`, `n`, `k` belong together, and there are none for `m`, `k`"
        );
    }

    #[test]
    fn a_group_has_the_values_of_each_name() {
        let axis = group(&["m", "n"], &[&[1, 2], &[3, 4]]);
        assert_eq!(axis.title(), "(m, n)");
        assert!(axis.values_of("n").eq(&[AxisValue::Int(2), AxisValue::Int(4)]));
        assert!(axis.is_whole() && !group(&["m", "n"], &[&[1]]).is_whole());
    }

    #[test]
    fn an_f32_is_listed_by_its_shortest_text() {
        assert_eq!(0.1f32.into_value(), AxisValue::Float(0.1));
    }
}
