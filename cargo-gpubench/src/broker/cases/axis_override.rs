//! `--axis`: other values for an axis.

use std::num::IntErrorKind;
use std::str::FromStr;

use gpubench::catalog::AxisValue;
use thiserror::Error;

/// Most values of a range.
const MOST_VALUES_OF_A_RANGE: u64 = 10_000;

/// Values for every axis of a name: `width=1024,2048`, `width=256:1024:256`, `width=2^8:2^10`,
/// `mode="a,b"`.
///
/// The type of the axis decides how the texts are parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisOverride {
    /// The axis.
    pub name: String,
    /// The values, in order; at least one.
    values: Vec<ValueText>,
}

/// An unparsed value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ValueText {
    /// Without quotes.
    Plain(String),
    /// In quotes, so it is a string.
    Quoted(String),
}

/// An invalid override.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidAxisOverride {
    /// Not `name=value`.
    #[error("`{0}` is not of the form `name=value,value`")]
    Form(String),
    /// Nothing between two commas, or after the equals sign.
    #[error("axis `{0}` has an empty value (hint: write \"\" for an empty string)")]
    EmptyValue(String),
    /// A quote without an end, or text after its end.
    #[error("axis `{0}` has unbalanced quotes")]
    Quotes(String),
    /// A name with brackets, as NVBench writes axes.
    #[error("the name of an axis has no brackets; `{name}[..]` is NVBench's form (hint: type `{axis_option}`)", axis_option = in_our_form(.name, .values))]
    NvBench {
        /// The axis, without brackets.
        name: String,
        /// The values as given.
        values: String,
    },
}

/// Returns the option for the values of an axis that NVBench writes as `[pow2]=[4:8:2]`, with
/// exponents of two.
fn in_our_form(name: &str, values: &str) -> String {
    let exponents = values.trim_matches(['[', ']']);
    let powers = exponents.split(',').map(|range| {
        let bounds: Vec<u32> = range
            .split(':')
            .map(|bound| bound.trim().parse().ok())
            .collect::<Option<_>>()?;
        match bounds[..] {
            [only] => Some(format!("2^{only}")),
            [first, last] => Some(format!("2^{first}:2^{last}")),
            [first, last, step] => Some(format!("2^{first}:2^{last}:{step}")),
            _ => None,
        }
    });
    let powers: Option<Vec<_>> = powers.collect();
    format!(
        "--axis {name}={}",
        powers.map_or("1024,2048".to_owned(), |powers| powers.join(","))
    )
}

impl FromStr for AxisOverride {
    type Err = InvalidAxisOverride;

    fn from_str(text: &str) -> Result<Self, InvalidAxisOverride> {
        let form = || InvalidAxisOverride::Form(text.to_owned());
        let (name, values) = text.split_once('=').ok_or_else(form)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(form());
        }
        if let Some((plain, _)) = name.split_once('[') {
            return Err(InvalidAxisOverride::NvBench {
                name: plain.to_owned(),
                values: values.to_owned(),
            });
        }
        Ok(Self {
            name: name.to_owned(),
            values: split_values(name, values)?,
        })
    }
}

fn split_values(axis: &str, mut rest: &str) -> Result<Vec<ValueText>, InvalidAxisOverride> {
    let mut values = Vec::new();
    loop {
        let (value, after) = first_value(axis, rest)?;
        values.push(value);
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => return Ok(values),
            None => return Err(InvalidAxisOverride::Quotes(axis.to_owned())),
        }
    }
}

fn first_value<'a>(axis: &str, text: &'a str) -> Result<(ValueText, &'a str), InvalidAxisOverride> {
    let text = text.trim_start();
    if text.starts_with('"') {
        let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
        return match strings.next() {
            Some(Ok(value)) => Ok((ValueText::Quoted(value), text[strings.byte_offset()..].trim_start())),
            _ => Err(InvalidAxisOverride::Quotes(axis.to_owned())),
        };
    }
    let (value, after) = text.split_at(text.find(',').unwrap_or(text.len()));
    match value.trim_end() {
        "" => Err(InvalidAxisOverride::EmptyValue(axis.to_owned())),
        value => Ok((ValueText::Plain(value.to_owned()), after)),
    }
}

/// A value of the wrong type for its axis, or an invalid range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidAxisValue {
    /// Not an integer.
    #[error("`{0}` is not an integer")]
    NotAnInteger(String),
    /// An integer that no axis can have.
    #[error("`{0}` is not from {min} to {max}", min = i64::MIN, max = i64::MAX)]
    OutOfRange(String),
    /// Not a number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// Not a truth value.
    #[error("`{0}` is neither `true` nor `false`")]
    NotATruth(String),
    /// Several values that together are one of the axis.
    #[error("`{0}` is one of its values, but without quotes the comma separates values")]
    CommaInText(String),
    /// A range without values, or without an end.
    #[error("the range `{0}` is empty")]
    EmptyRange(String),
    /// A range of powers whose step is a power.
    #[error("the step of `{0}`, a range of powers, is a power")]
    PowerAsStep(String),
    /// A range with too many values.
    #[error("the range `{0}` has more than {MOST_VALUES_OF_A_RANGE} values")]
    LongRange(String),
}

impl InvalidAxisValue {
    /// Returns what to write instead for an axis, if the value shows that.
    pub(super) fn hint(&self, axis: &str) -> Option<String> {
        match self {
            Self::NotAnInteger(text) if text.contains("..") => Some(format!(
                "write a range as `{axis}=1:4`, `{axis}=64:1024:64` or `{axis}=2^6:2^10`; it includes its end"
            )),
            Self::NotAnInteger(text) | Self::NotANumber(text) if text.starts_with('[') || text.ends_with(']') => Some(
                format!("leave out the brackets: `{axis}=1,2,3`, or `{axis}=4:8` for a range of integers"),
            ),
            Self::NotAnInteger(text) if text.contains('^') => {
                Some(format!("write a power as `{axis}=2^10`, with a base of at least 2"))
            }
            Self::PowerAsStep(_) => Some(format!(
                "the step counts exponents: `{axis}=2^6:2^10:2` is 64, 256 and 1024"
            )),
            Self::NotAnInteger(text) if text.starts_with(|first: char| first.is_ascii_digit()) => {
                Some(format!("write only digits, as in `{axis}=1024`"))
            }
            Self::CommaInText(text) => Some(format!("type `--axis '{axis}=\"{text}\"'`")),
            Self::EmptyRange(_) => Some(
                "write `start:stop` or `start:stop:step`, with a positive step; the range includes `stop`".to_owned(),
            ),
            Self::NotATruth(_) => Some(format!("type `--axis {axis}=true` or `--axis {axis}=false`")),
            _ => None,
        }
    }
}

impl AxisOverride {
    /// Parses the values with the type of the axis, which its declared values show.
    ///
    /// # Errors
    ///
    /// A text is not a value of that type.
    pub fn values_for(&self, declared: &[&AxisValue]) -> Result<Vec<AxisValue>, InvalidAxisValue> {
        match declared.first() {
            None => Ok(Vec::new()),
            Some(AxisValue::Text(_)) => self.texts(declared),
            Some(AxisValue::Bool(_)) => self.values.iter().map(ValueText::truth).collect(),
            Some(AxisValue::Float(_)) => self.values.iter().map(ValueText::float).collect(),
            Some(AxisValue::Int(_)) => {
                let integers: Result<Vec<_>, _> = self.values.iter().map(ValueText::integers).collect();
                Ok(integers?.concat())
            }
        }
    }

    /// Returns the values as strings.
    ///
    /// # Errors
    /// Without their commas, they are a declared value with commas.
    fn texts(&self, declared: &[&AxisValue]) -> Result<Vec<AxisValue>, InvalidAxisValue> {
        let plain = self.values.iter().map(|value| match value {
            ValueText::Plain(text) => Some(text.as_str()),
            ValueText::Quoted(_) => None,
        });
        let joined = plain.collect::<Option<Vec<_>>>().unwrap_or_default().join(",");
        let is_declared = |value: &&AxisValue| matches!(value, AxisValue::Text(text) if *text == joined);
        if self.values.len() > 1 && declared.iter().any(is_declared) {
            return Err(InvalidAxisValue::CommaInText(joined));
        }
        Ok(self.values.iter().map(|value| AxisValue::Text(value.text())).collect())
    }
}

impl ValueText {
    fn text(&self) -> String {
        match self {
            Self::Plain(text) | Self::Quoted(text) => text.clone(),
        }
    }

    fn float(&self) -> Result<AxisValue, InvalidAxisValue> {
        match self {
            Self::Plain(text) => text.parse().ok().map(AxisValue::Float),
            Self::Quoted(_) => None,
        }
        .ok_or_else(|| InvalidAxisValue::NotANumber(self.text()))
    }

    fn truth(&self) -> Result<AxisValue, InvalidAxisValue> {
        match self {
            Self::Plain(text) => text.parse().ok().map(AxisValue::Bool),
            Self::Quoted(_) => None,
        }
        .ok_or_else(|| InvalidAxisValue::NotATruth(self.text()))
    }

    fn integers(&self) -> Result<Vec<AxisValue>, InvalidAxisValue> {
        match self {
            Self::Quoted(text) => Err(InvalidAxisValue::NotAnInteger(text.clone())),
            Self::Plain(text) if is_bracketed(text) => Err(InvalidAxisValue::NotAnInteger(text.clone())),
            Self::Plain(text) if text.contains(':') => range(text),
            Self::Plain(text) => Ok(vec![AxisValue::Int(number(text)?.value())]),
        }
    }
}

fn is_bracketed(text: &str) -> bool {
    text.starts_with('[') || text.ends_with(']')
}

/// An integer as written.
#[derive(Clone, Copy)]
enum Number {
    Plain(i64),
    /// `2^10`.
    Power {
        base: i64,
        exponent: u32,
        value: i64,
    },
}

impl Number {
    fn value(self) -> i64 {
        match self {
            Self::Plain(value) | Self::Power { value, .. } => value,
        }
    }
}

/// Parses `1_024` or `2^10`.
fn number(text: &str) -> Result<Number, InvalidAxisValue> {
    let wrong = || InvalidAxisValue::NotAnInteger(text.to_owned());
    let too_large = || InvalidAxisValue::OutOfRange(text.to_owned());
    let plain = |part: &str| part.replace('_', "").parse::<i64>();
    let Some((base, exponent)) = text.split_once('^') else {
        return plain(text).map(Number::Plain).map_err(|error| match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => too_large(),
            _ => wrong(),
        });
    };
    let base = plain(base).ok().filter(|base| *base > 1).ok_or_else(wrong)?;
    let exponent: u32 = exponent.parse().map_err(|_| wrong())?;
    let value = base.checked_pow(exponent).ok_or_else(too_large)?;
    Ok(Number::Power { base, exponent, value })
}

/// Parses `start:stop` or `start:stop:step`. Includes `stop` if a step reaches it. If both bounds
/// are powers of one base, so are the values, and the step counts exponents.
fn range(text: &str) -> Result<Vec<AxisValue>, InvalidAxisValue> {
    let bounds: Vec<Number> = text.split(':').map(number).collect::<Result<_, _>>()?;
    let empty = || InvalidAxisValue::EmptyRange(text.to_owned());
    let (start, stop, step) = match bounds[..] {
        [start, stop] => (start, stop, Number::Plain(1)),
        [start, stop, step] => (start, stop, step),
        _ => return Err(empty()),
    };
    match (start, stop) {
        (
            Number::Power { base, exponent, .. },
            Number::Power {
                base: same,
                exponent: last,
                ..
            },
        ) if base == same => {
            let Number::Plain(step) = step else {
                return Err(InvalidAxisValue::PowerAsStep(text.to_owned()));
            };
            let exponents = steps(exponent.into(), last.into(), step, text)?;
            // The last power is an `i64`, so the others are too.
            let powers = exponents.filter_map(|exponent| base.checked_pow(exponent.try_into().ok()?));
            Ok(powers.map(AxisValue::Int).collect())
        }
        _ => Ok(steps(start.value(), stop.value(), step.value(), text)?
            .map(AxisValue::Int)
            .collect()),
    }
}

/// Returns the numbers from `start` to `stop`. `text` is the range in errors.
fn steps(start: i64, stop: i64, step: i64, text: &str) -> Result<impl Iterator<Item = i64> + use<>, InvalidAxisValue> {
    let empty = || InvalidAxisValue::EmptyRange(text.to_owned());
    let step = u64::try_from(step).ok().filter(|step| *step > 0).ok_or_else(empty)?;
    if stop < start {
        return Err(empty());
    }
    let steps = start.abs_diff(stop) / step;
    if steps >= MOST_VALUES_OF_A_RANGE {
        return Err(InvalidAxisValue::LongRange(text.to_owned()));
    }
    Ok((0..=steps).map(move |number| start.wrapping_add_unsigned(number * step)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::broker::cases::value_text;

    fn integers(text: &str) -> Result<Vec<i64>, InvalidAxisValue> {
        let values = text
            .parse::<AxisOverride>()
            .expect("an override")
            .values_for(&[&AxisValue::Int(7)])?;
        Ok(values
            .iter()
            .map(|value| match value {
                AxisValue::Int(value) => *value,
                other => panic!("{other:?} is no integer"),
            })
            .collect())
    }

    #[test]
    fn integers_are_listed_and_ranged() {
        assert_eq!(integers("a=1,1_024,-3"), Ok(vec![1, 1024, -3]));
        assert_eq!(integers("a=256:1024:256"), Ok(vec![256, 512, 768, 1024]));
        assert_eq!(integers("a=1:3,9"), Ok(vec![1, 2, 3, 9]));
        assert_eq!(integers("a=0:5:2"), Ok(vec![0, 2, 4]));
    }

    #[test]
    fn powers_are_numbers_and_a_range_of_powers_counts_exponents() {
        assert_eq!(integers("a=2^10,10^3,2^0,7"), Ok(vec![1024, 1000, 1, 7]));
        assert_eq!(integers("a=2^4:2^7"), Ok(vec![16, 32, 64, 128]));
        assert_eq!(integers("a=2^10:2^30:10"), Ok(vec![1 << 10, 1 << 20, 1 << 30]));
        assert_eq!(integers("a=10^0:10^2"), Ok(vec![1, 10, 100]));
        assert_eq!(integers("a=2^62"), Ok(vec![1 << 62]));
        // Bounds of several kinds are numbers, and so is a step between numbers.
        assert_eq!(integers("a=0:2^4:2^3"), Ok(vec![0, 8, 16]));
        assert_eq!(integers("a=2^1:3^1"), Ok(vec![2, 3]));
    }

    #[test]
    fn invalid_powers_are_refused() {
        for text in ["2^", "^3", "2^-1", "2^x", "-2^2", "1^5", "0^2", "2^3^2", "2^1.5"] {
            let refused = Err(InvalidAxisValue::NotAnInteger(text.to_owned()));
            assert_eq!(integers(&format!("a={text}")), refused);
        }
        for text in ["2^63", "10^99", "2^4294967295"] {
            assert_eq!(
                integers(&format!("a={text}")),
                Err(InvalidAxisValue::OutOfRange(text.to_owned()))
            );
        }
        let text = "2^4:2^8:2^1";
        assert_eq!(
            integers(&format!("a={text}")),
            Err(InvalidAxisValue::PowerAsStep(text.to_owned()))
        );
    }

    #[test]
    fn invalid_ranges_are_refused() {
        for text in [
            "3:1",
            "1:3:0",
            "1:3:-1",
            "1:2:3:4",
            "2^8:2^4",
            "2^4:2^8:0",
            "2^1:2^2:1:1",
        ] {
            assert_eq!(
                integers(&format!("a={text}")),
                Err(InvalidAxisValue::EmptyRange(text.to_owned()))
            );
        }
        let long = format!("{}:{}", i64::MIN, i64::MAX);
        assert_eq!(integers(&format!("a={long}")), Err(InvalidAxisValue::LongRange(long)));
    }

    #[test]
    fn a_value_of_the_wrong_type_is_refused() {
        let large = "99999999999999999999".to_owned();
        assert_eq!(
            integers(&format!("a={large}")),
            Err(InvalidAxisValue::OutOfRange(large))
        );
        assert_eq!(integers("a=2.5"), Err(InvalidAxisValue::NotAnInteger("2.5".to_owned())));
        assert_eq!(
            integers("a=true"),
            Err(InvalidAxisValue::NotAnInteger("true".to_owned()))
        );
        let floats = AxisValue::Float(0.5);
        let wide: AxisOverride = "a=wide".parse().expect("an override");
        assert_eq!(
            wide.values_for(&[&floats]),
            Err(InvalidAxisValue::NotANumber("wide".to_owned()))
        );
    }

    #[test]
    fn a_bool_axis_accepts_true_and_false_only() {
        let bools = AxisValue::Bool(false);
        let values = |text: &str| text.parse::<AxisOverride>().expect("an override").values_for(&[&bools]);
        assert_eq!(values("a=true,false"), Ok([true, false].map(AxisValue::Bool).to_vec()));
        assert_eq!(values("a=1"), Err(InvalidAxisValue::NotATruth("1".to_owned())));
    }

    #[test]
    fn a_value_with_a_comma_needs_quotes() {
        let tiles = ["16,16", "32"].map(|text| AxisValue::Text(text.to_owned()));
        let values = |text: &str| {
            text.parse::<AxisOverride>()
                .expect("an override")
                .values_for(&tiles.each_ref())
        };
        assert_eq!(
            values("a=16,16"),
            Err(InvalidAxisValue::CommaInText("16,16".to_owned()))
        );
        assert_eq!(values("a=\"16,16\""), Ok(vec![AxisValue::Text("16,16".to_owned())]));
        assert_eq!(values("a=8,32").expect("two values").len(), 2);
    }

    #[test]
    fn an_axis_in_the_form_of_nvbench_is_refused_with_our_form_of_its_values() {
        let refusal = |text: &str| text.parse::<AxisOverride>().expect_err("a refusal").to_string();
        insta::assert_snapshot!(
            ["rows[pow2]=[4:8:1]", "rows[pow2]=[10:30:5]", "rows[pow2]=[4,6]", "rows[pow2]=10", "type[x]=[f32]"].map(refusal).join("\n"),
            @r"
        the name of an axis has no brackets; `rows[..]` is NVBench's form (hint: type `--axis rows=2^4:2^8:1`)
        the name of an axis has no brackets; `rows[..]` is NVBench's form (hint: type `--axis rows=2^10:2^30:5`)
        the name of an axis has no brackets; `rows[..]` is NVBench's form (hint: type `--axis rows=2^4,2^6`)
        the name of an axis has no brackets; `rows[..]` is NVBench's form (hint: type `--axis rows=2^10`)
        the name of an axis has no brackets; `type[..]` is NVBench's form (hint: type `--axis type=1024,2048`)
        "
        );
    }

    #[test]
    fn a_colon_in_a_string_is_not_a_range() {
        let mode: AxisOverride = "a=1:2".parse().expect("an override");
        let texts = AxisValue::Text("x".to_owned());
        assert_eq!(mode.values_for(&[&texts]), Ok(vec![AxisValue::Text("1:2".to_owned())]));
    }

    #[test]
    fn invalid_overrides_are_refused() {
        assert_eq!(
            "width".parse::<AxisOverride>(),
            Err(InvalidAxisOverride::Form("width".to_owned()))
        );
        assert_eq!(
            "=1".parse::<AxisOverride>(),
            Err(InvalidAxisOverride::Form("=1".to_owned()))
        );
        assert_eq!(
            "a=1,,2".parse::<AxisOverride>(),
            Err(InvalidAxisOverride::EmptyValue("a".to_owned()))
        );
        assert_eq!(
            "a=".parse::<AxisOverride>(),
            Err(InvalidAxisOverride::EmptyValue("a".to_owned()))
        );
        assert_eq!(
            "a=\"x".parse::<AxisOverride>(),
            Err(InvalidAxisOverride::Quotes("a".to_owned()))
        );
        assert_eq!(
            "a=\"x\"y".parse::<AxisOverride>(),
            Err(InvalidAxisOverride::Quotes("a".to_owned()))
        );
    }

    proptest! {
        #[test]
        fn a_value_in_a_name_parses_to_the_same_value(value in prop_oneof![
            any::<i64>().prop_map(AxisValue::Int),
            any::<f64>().prop_map(AxisValue::Float),
            any::<String>().prop_map(AxisValue::Text),
            any::<bool>().prop_map(AxisValue::Bool),
        ]) {
            let text = format!("a={}", value_text(&value));
            let back = text.parse::<AxisOverride>().unwrap().values_for(&[&value]).unwrap();
            prop_assert_eq!(back.iter().map(value_text).collect::<Vec<_>>(), [value_text(&value)]);
        }

        #[test]
        fn no_text_makes_parsing_panic(text in any::<String>(), declared in any::<i64>()) {
            if let Ok(values) = text.parse::<AxisOverride>() {
                let _ = values.values_for(&[&AxisValue::Int(declared)]);
            }
        }
    }
}
