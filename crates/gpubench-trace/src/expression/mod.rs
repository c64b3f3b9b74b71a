//! Expressions over the axes of a definition, with the meaning that Python gives them.
//!
//! There are integers and floating-point numbers, names of axes, `+ - * / // % **`, unary `+` and
//! `-`, and parentheses; a constraint also has one comparison. Integers have 128 bits, and a result
//! that does not fit is an error. An expression may have at most 1,024 bytes and a bounded depth.

mod error;
mod number;
mod parse;
mod token;

pub use error::ExpressionError;
use number::Number;
use parse::{Comparison, Tree};

/// Returns the integer that an expression yields. `axis` returns the value of an axis.
///
/// A floating-point result counts if it is a whole number, as `(a + b) / 2` may be.
///
/// # Errors
/// It is no expression, has no value, or a value that is not an integer of 128 bits.
pub fn evaluate(expression: &str, axis: &dyn Fn(&str) -> Option<u64>) -> Result<i128, ExpressionError> {
    let tree = parse::expression(expression)?;
    tree.value(axis)?.to_integer()
}

/// Returns whether a comparison of two expressions holds.
///
/// # Errors
/// It is no such comparison, or a side has no value.
pub(crate) fn holds(constraint: &str, axis: &dyn Fn(&str) -> Option<u64>) -> Result<bool, ExpressionError> {
    let Comparison { left, operator, right } = parse::comparison(constraint)?;
    let (left, right) = (left.value(axis)?, right.value(axis)?);
    Ok(left.compared(right).is_some_and(|ordering| match operator {
        "==" => ordering.is_eq(),
        "!=" => ordering.is_ne(),
        "<" => ordering.is_lt(),
        "<=" => ordering.is_le(),
        ">" => ordering.is_gt(),
        _ => ordering.is_ge(),
    }))
}

impl Tree {
    fn value(&self, axis: &dyn Fn(&str) -> Option<u64>) -> Result<Number, ExpressionError> {
        match self {
            Tree::Number(number) => Ok(*number),
            Tree::Name(name) => match axis(name) {
                Some(value) => Ok(Number::Int(i128::from(value))),
                None => Err(ExpressionError::Unknown { name: name.clone() }),
            },
            Tree::Negated(of) => of.value(axis)?.negated(),
            Tree::Binary(operator, sides) => {
                let [left, right] = &**sides;
                Number::binary(operator, left.value(axis)?, right.value(axis)?)
            }
        }
    }
}

#[cfg(test)]
mod tests;
