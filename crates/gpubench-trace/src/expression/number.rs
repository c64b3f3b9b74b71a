//! Arithmetic as in Python, except that an integer has 128 bits.

use std::cmp::Ordering;

use super::error::ExpressionError;

/// From here on, a `f64` does not hold every integer.
const EXACT: i128 = 1 << 53;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i128),
    /// Always finite.
    Float(f64),
}

use Number::{Float, Int};

impl Number {
    pub(super) fn negated(self) -> Result<Number, ExpressionError> {
        match self {
            Int(value) => value.checked_neg().map(Int).ok_or_else(|| out_of_range("-")),
            Float(value) => Ok(Float(-value)),
        }
    }

    pub(super) fn binary(operator: &'static str, left: Number, right: Number) -> Result<Number, ExpressionError> {
        let divides = matches!(operator, "/" | "//" | "%");
        if divides && right.to_float() == 0.0 {
            return Err(ExpressionError::DivisionByZero);
        }
        let result = match (left, right) {
            (Int(left), Int(right)) => of_integers(operator, left, right)?,
            _ => of_floats(operator, left.to_float(), right.to_float())?,
        };
        result.ok_or_else(|| out_of_range(operator))
    }

    /// Compares two numbers exactly, also a large integer with a fraction.
    pub(super) fn compared(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Int(left), Int(right)) => Some(left.cmp(&right)),
            (Float(left), Float(right)) => left.partial_cmp(&right),
            (Int(left), Float(right)) => {
                // The integers of 128 bits end at these floats, where `as` would saturate.
                let floor = right.floor();
                if floor >= 2_f64.powi(127) {
                    return Some(Ordering::Less);
                }
                if floor < -(2_f64.powi(127)) {
                    return Some(Ordering::Greater);
                }
                let whole = left.cmp(&(floor as i128));
                Some(match whole {
                    Ordering::Equal if right > floor => Ordering::Less,
                    whole => whole,
                })
            }
            (Float(_), Int(_)) => other.compared(self).map(Ordering::reverse),
        }
    }

    pub(super) fn to_integer(self) -> Result<i128, ExpressionError> {
        match self {
            Int(value) => Ok(value),
            Float(value) if value.fract() == 0.0 && value.abs() < 2_f64.powi(126) => Ok(value as i128),
            Float(value) => Err(ExpressionError::NotAnInteger {
                value: value.to_string(),
            }),
        }
    }

    fn to_float(self) -> f64 {
        match self {
            Int(value) => value as f64,
            Float(value) => value,
        }
    }
}

fn out_of_range(operator: &'static str) -> ExpressionError {
    ExpressionError::OutOfRange { operator }
}

fn finite(value: f64) -> Option<Number> {
    value.is_finite().then_some(Float(value))
}

fn of_integers(operator: &str, left: i128, right: i128) -> Result<Option<Number>, ExpressionError> {
    Ok(match operator {
        "+" => left.checked_add(right).map(Int),
        "-" => left.checked_sub(right).map(Int),
        "*" => left.checked_mul(right).map(Int),
        // Rounded once only if both are exact.
        "/" if left.abs_diff(0) <= EXACT as u128 && right.abs_diff(0) <= EXACT as u128 => {
            finite(left as f64 / right as f64)
        }
        "/" => None,
        // Towards negative infinity, unlike Rust's.
        "//" => left.checked_div(right).map(|quotient| {
            let rounds_up = left % right != 0 && (left < 0) != (right < 0);
            Int(quotient - i128::from(rounds_up))
        }),
        "%" => left.checked_rem(right).map(|rest| {
            let differs = rest != 0 && (rest < 0) != (right < 0);
            Int(if differs { rest + right } else { rest })
        }),
        _ if right < 0 => return of_floats(operator, left as f64, right as f64),
        _ => integer_power(left, right).map(Int),
    })
}

fn integer_power(base: i128, exponent: i128) -> Option<i128> {
    match base {
        0 => Some(i128::from(exponent == 0)),
        1 => Some(1),
        -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => base.checked_pow(u32::try_from(exponent).ok()?),
    }
}

fn of_floats(operator: &str, left: f64, right: f64) -> Result<Option<Number>, ExpressionError> {
    Ok(match operator {
        "+" => finite(left + right),
        "-" => finite(left - right),
        "*" => finite(left * right),
        "/" => finite(left / right),
        "//" => finite(floor_and_rest(left, right).0),
        "%" => finite(floor_and_rest(left, right).1),
        _ if left == 0.0 && right < 0.0 => return Err(ExpressionError::DivisionByZero),
        // A fractional power of a negative number is a complex number in Python, NaN here.
        _ => finite(left.powf(right)),
    })
}

/// Divides towards negative infinity. The rest has the sign of the divisor.
fn floor_and_rest(left: f64, right: f64) -> (f64, f64) {
    let mut rest = left % right;
    let mut quotient = (left - rest) / right;
    if rest == 0.0 {
        rest = 0.0_f64.copysign(right);
    } else if (right < 0.0) != (rest < 0.0) {
        rest += right;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0_f64.copysign(left / right), rest);
    }
    let floor = quotient.floor();
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, rest)
}
