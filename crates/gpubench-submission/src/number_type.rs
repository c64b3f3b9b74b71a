//! The types that numbers are passed as.

use gpubench::catalog::DType;
use gpubench::plan::{ArgumentType, FieldType};
use gpubench::{BF16, F8E4M3, F8E5M2, F16};
use gpubench_declarations::Number;
use gpubench_diagnostic::{closest, suggestion};

use crate::expression::Value;

/// The type that a number is passed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// A type of CUDA C++.
    Number(Number),
    /// An integer of this many bytes, signed or not. PTX does not tell.
    Integer(usize),
}

/// The types that a description can name.
pub(crate) const NAMES: [(&str, Number); 15] = [
    ("bool", Number::Bool),
    ("i8", Number::I8),
    ("u8", Number::U8),
    ("i16", Number::I16),
    ("u16", Number::U16),
    ("i32", Number::I32),
    ("u32", Number::U32),
    ("i64", Number::I64),
    ("u64", Number::U64),
    ("f16", Number::F16),
    ("bf16", Number::BF16),
    ("f32", Number::F32),
    ("f64", Number::F64),
    ("f8e4m3", Number::F8E4M3),
    ("f8e5m2", Number::F8E5M2),
];

/// Names of the same types in CUDA C++, for hints.
const NAMES_IN_CPP: [(&str, &str); 9] = [
    ("int", "i32"),
    ("unsigned", "u32"),
    ("unsigned int", "u32"),
    ("long long", "i64"),
    ("size_t", "u64"),
    ("usize", "u64"),
    ("float", "f32"),
    ("double", "f64"),
    ("half", "f16"),
];

/// Why a value cannot be passed as a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Unfit {
    #[error("does not fit into")]
    Range,
    #[error("is a text, which cannot be passed as")]
    Text,
    #[error("is a floating-point number, which cannot be passed as")]
    Float,
    #[error("has no exact value in")]
    Inexact,
}

impl NumberType {
    /// Returns the type with a name of the grammar: `i32`.
    ///
    /// # Errors
    /// There is none. The text has a hint.
    pub fn named(name: &str) -> Result<NumberType, String> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, number)| NumberType::Number(*number)).ok_or_else(|| {
            let in_cpp = NAMES_IN_CPP.iter().find(|(known, _)| *known == name);
            let near = in_cpp.map(|(_, name)| *name);
            let near = near.or_else(|| closest(name, NAMES.map(|(name, _)| name)));
            let names = NAMES.map(|(name, _)| name).join("`, `");
            format!(
                "there is no type `{}`: the types are `{names}`{}",
                name.escape_debug(),
                suggestion(near)
            )
        })
    }

    /// Returns the type's name in the grammar.
    pub fn name(self) -> &'static str {
        match self {
            NumberType::Number(Number::Char) | NumberType::Integer(1) => "i8",
            NumberType::Number(Number::Address) => "u64",
            NumberType::Number(number) => {
                let row = NAMES.iter().find(|(_, known)| *known == number);
                row.map_or("u64", |(name, _)| name)
            }
            NumberType::Integer(2) => "i16",
            NumberType::Integer(4) => "i32",
            NumberType::Integer(_) => "i64",
        }
    }

    /// Returns the element type with the same bits. `bool` counts as `u8`.
    pub fn dtype(self) -> DType {
        match self {
            NumberType::Number(number) => dtype(number),
            NumberType::Integer(1) => DType::I8,
            NumberType::Integer(2) => DType::I16,
            NumberType::Integer(4) => DType::I32,
            NumberType::Integer(_) => DType::I64,
        }
    }

    /// Returns the bytes of a value, in device byte order.
    ///
    /// # Errors
    /// The type has no such value.
    pub fn bytes(self, value: &Value) -> Result<Vec<u8>, Unfit> {
        match self {
            NumberType::Number(number) if number.is_float() => of_float(number, as_float(value)?),
            other => other.of_integer(value),
        }
    }

    /// Returns the type of an argument of the type, for messages and for later checks.
    pub(crate) fn argument_type(self) -> ArgumentType {
        ArgumentType {
            name: self.name().to_owned(),
            fields: vec![field(self.dtype())],
        }
    }

    fn of_integer(self, value: &Value) -> Result<Vec<u8>, Unfit> {
        let integer = match value {
            Value::Integer(integer) => *integer,
            Value::Bool(truth) => i128::from(*truth),
            Value::Text(_) => return Err(Unfit::Text),
            Value::Float(_) => return Err(Unfit::Float),
        };
        let (least, most) = self.range();
        if (least..=most).contains(&integer) {
            let size = self.dtype().size();
            Ok(integer.to_le_bytes()[..size].to_vec())
        } else {
            Err(Unfit::Range)
        }
    }

    fn range(self) -> (i128, i128) {
        let bits = 8 * self.dtype().size() as u32;
        let (signed, unsigned) = (1_i128 << (bits - 1), 1_i128 << bits);
        match self {
            NumberType::Number(Number::Bool) => (0, 1),
            NumberType::Number(Number::U8 | Number::U16 | Number::U32 | Number::U64) => (0, unsigned - 1),
            NumberType::Number(Number::I8 | Number::I16 | Number::I32 | Number::I64) => (-signed, signed - 1),
            NumberType::Number(_) | NumberType::Integer(_) => (-signed, unsigned - 1),
        }
    }
}

/// Returns a field that is the whole argument.
pub(crate) fn field(dtype: DType) -> FieldType {
    FieldType {
        name: String::new(),
        offset: 0,
        dtype,
        count: 1,
    }
}

fn as_float(value: &Value) -> Result<Exactly, Unfit> {
    match value {
        Value::Float(float) => Ok(Exactly::Nearest(*float)),
        // Whoever writes an integer means exactly that.
        Value::Integer(integer) if *integer as f64 as i128 == *integer => Ok(Exactly::Exact(*integer as f64)),
        Value::Integer(_) => Err(Unfit::Inexact),
        Value::Bool(truth) => Ok(Exactly::Exact(f64::from(u8::from(*truth)))),
        Value::Text(_) => Err(Unfit::Text),
    }
}

/// How exactly a number must be kept.
#[derive(Clone, Copy)]
enum Exactly {
    Exact(f64),
    Nearest(f64),
}

fn of_float(number: Number, float: Exactly) -> Result<Vec<u8>, Unfit> {
    let (Exactly::Exact(wanted) | Exactly::Nearest(wanted)) = float;
    let (bytes, kept) = match number {
        Number::F16 => of_element::<F16, 2>(wanted, |kept| kept.to_bits().to_le_bytes()),
        Number::BF16 => of_element::<BF16, 2>(wanted, |kept| kept.to_bits().to_le_bytes()),
        Number::F32 => of_element::<f32, 4>(wanted, f32::to_le_bytes),
        Number::F8E4M3 => of_element::<F8E4M3, 1>(wanted, |kept| [kept.to_bits()]),
        Number::F8E5M2 => of_element::<F8E5M2, 1>(wanted, |kept| [kept.to_bits()]),
        _ => of_element::<f64, 8>(wanted, f64::to_le_bytes),
    };
    match float {
        _ if wanted.is_finite() && !kept.is_finite() => Err(Unfit::Range),
        // The type has no infinities.
        _ if wanted.is_infinite() && kept != wanted => Err(Unfit::Range),
        // Numbers beyond the largest one can become that.
        Exactly::Nearest(wanted) if wanted.is_finite() && wanted.abs() > 1.1 * kept.abs() && wanted.abs() > 1.0 => {
            Err(Unfit::Range)
        }
        Exactly::Exact(wanted) if kept != wanted => Err(Unfit::Inexact),
        _ => Ok(bytes),
    }
}

fn of_element<E: gpubench::Number, const N: usize>(wanted: f64, bytes: impl Fn(E) -> [u8; N]) -> (Vec<u8>, f64) {
    let kept = E::from_f64(wanted);
    (bytes(kept).to_vec(), kept.to_f64())
}

fn dtype(number: Number) -> DType {
    match number {
        Number::Bool | Number::U8 => DType::U8,
        Number::Char | Number::I8 => DType::I8,
        Number::I16 => DType::I16,
        Number::U16 => DType::U16,
        Number::I32 => DType::I32,
        Number::U32 => DType::U32,
        Number::I64 => DType::I64,
        Number::U64 | Number::Address => DType::U64,
        Number::F16 => DType::F16,
        Number::BF16 => DType::BF16,
        Number::F32 => DType::F32,
        Number::F64 => DType::F64,
        Number::F8E4M3 => DType::F8E4M3,
        Number::F8E5M2 => DType::F8E5M2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(name: &str, value: Value) -> Result<Vec<u8>, Unfit> {
        NumberType::named(name).expect("a type").bytes(&value)
    }

    #[test]
    fn an_integer_keeps_its_value_or_is_refused() {
        for (name, least, most) in [
            ("bool", 0, 1),
            ("i8", -128, 127),
            ("u8", 0, 255),
            ("i32", i128::from(i32::MIN), i128::from(i32::MAX)),
            ("u32", 0, i128::from(u32::MAX)),
            ("i64", i128::from(i64::MIN), i128::from(i64::MAX)),
            ("u64", 0, i128::from(u64::MAX)),
        ] {
            assert!(bytes(name, Value::Integer(least)).is_ok() && bytes(name, Value::Integer(most)).is_ok());
            assert_eq!(bytes(name, Value::Integer(least - 1)), Err(Unfit::Range), "{name}");
            assert_eq!(bytes(name, Value::Integer(most + 1)), Err(Unfit::Range), "{name}");
        }
        assert_eq!(bytes("i16", Value::Integer(-2)), Ok(vec![0xfe, 0xff]));
        assert_eq!(bytes("u8", Value::Bool(true)), Ok(vec![1]));
        assert_eq!(bytes("u8", Value::Float(1.0)), Err(Unfit::Float));
        assert_eq!(bytes("f32", Value::Text("1".into())), Err(Unfit::Text));
    }

    #[test]
    fn an_integer_of_unknown_sign_has_either() {
        let of = |value| NumberType::Integer(4).bytes(&Value::Integer(value));
        assert_eq!(of(-1), of(i128::from(u32::MAX)));
        assert_eq!(of(1 << 32), Err(Unfit::Range));
        assert_eq!(of(-(1 << 31) - 1), Err(Unfit::Range));
    }

    #[test]
    fn a_float_is_rounded_and_an_integer_as_a_float_is_exact() {
        assert_eq!(bytes("f32", Value::Float(1e-5)), Ok(1e-5_f32.to_le_bytes().to_vec()));
        assert_eq!(bytes("f64", Value::Integer(3)), Ok(3.0_f64.to_le_bytes().to_vec()));
        assert_eq!(bytes("f16", Value::Integer(1)), Ok(vec![0, 0x3c]));
        assert_eq!(bytes("bf16", Value::Float(1.0)), Ok(vec![0x80, 0x3f]));
        assert_eq!(bytes("f8e4m3", Value::Float(1.0)), Ok(vec![0x38]));
        assert_eq!(bytes("f32", Value::Integer((1 << 24) + 1)), Err(Unfit::Inexact));
        assert_eq!(bytes("f64", Value::Integer((1 << 53) + 1)), Err(Unfit::Inexact));
        assert_eq!(bytes("f32", Value::Float(1e300)), Err(Unfit::Range));
        assert_eq!(bytes("f16", Value::Float(1e5)), Err(Unfit::Range));
        assert_eq!(bytes("f8e4m3", Value::Float(1e5)), Err(Unfit::Range));
        assert!(bytes("f32", Value::Float(f64::INFINITY)).is_ok() && bytes("f32", Value::Float(f64::NAN)).is_ok());
        assert_eq!(bytes("f8e4m3", Value::Float(f64::INFINITY)), Err(Unfit::Range));
    }

    #[test]
    fn a_type_of_cpp_leads_to_its_name_here() {
        let error = NumberType::named("size_t").expect_err("it is one of C++");
        assert!(error.ends_with("(hint: did you mean `u64`?)"), "{error}");
        let error = NumberType::named("f33").expect_err("it is none");
        assert!(error.ends_with("(hint: did you mean `f32`?)"), "{error}");
        for (name, _) in NAMES {
            assert_eq!(NumberType::named(name).map(NumberType::name), Ok(name));
        }
    }
}
