//! Values of scalars.

use gpubench::catalog::AxisValue;

use crate::definition::ElementType;
use crate::workload::ScalarValue;

/// Returns a value in the kind of number that a type has. `None` if the type has no such value.
pub(super) fn converted(value: ScalarValue, element_type: ElementType) -> Option<ScalarValue> {
    let bits = match element_type {
        ElementType::Int64 => 64,
        ElementType::Int32 => 32,
        ElementType::Int16 => 16,
        ElementType::Int8 => 8,
        ElementType::Bool => {
            return matches!(value, ScalarValue::Bool(_)).then_some(value);
        }
        ElementType::Float64
        | ElementType::Float32
        | ElementType::Float16
        | ElementType::Bfloat16
        | ElementType::Float8E4M3
        | ElementType::Float8E5M2
        | ElementType::Float4
        | ElementType::Float4Pairs => {
            return match value {
                ScalarValue::Int(value) => Some(ScalarValue::Float(value as f64)),
                ScalarValue::Float(_) => Some(value),
                ScalarValue::Bool(_) => None,
            };
        }
    };
    let integer = match value {
        ScalarValue::Int(value) => value,
        ScalarValue::Float(value) if value.fract() == 0.0 && value.abs() < 2_f64.powi(53) => value as i64,
        ScalarValue::Float(_) | ScalarValue::Bool(_) => return None,
    };
    let fits = i64::MIN >> (64 - bits) <= integer && integer <= i64::MAX >> (64 - bits);
    fits.then_some(ScalarValue::Int(integer))
}

/// Returns a value as a parameter of a case.
pub(super) const fn param(value: ScalarValue) -> AxisValue {
    match value {
        ScalarValue::Bool(value) => AxisValue::Bool(value),
        ScalarValue::Int(value) => AxisValue::Int(value),
        ScalarValue::Float(value) => AxisValue::Float(value),
    }
}
