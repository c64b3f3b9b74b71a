//! Values of written expressions.

use crate::description::Written;
use crate::expression::{Names, Value};
use crate::mistake::{Mistake, What};

/// Returns the value of an expression.
///
/// # Errors
/// It has none.
pub(crate) fn evaluated(written: &Written, names: &dyn Names) -> Result<Value, Mistake> {
    written.expression.evaluate(names).map_err(|error| {
        let (at, key) = (written.position(error.at), written.key.clone());
        Mistake::new(at, What::Expression { key, error })
    })
}

/// Returns the value of an expression as an integer from 0 to `most`.
///
/// # Errors
/// It has none, or none that is. `wanted` says what would be.
pub(crate) fn number(written: &Written, names: &dyn Names, most: u64, wanted: &'static str) -> Result<u64, Mistake> {
    let value = evaluated(written, names)?;
    let number = match value {
        Value::Integer(integer) => u64::try_from(integer).ok().filter(|number| *number <= most),
        Value::Float(_) | Value::Text(_) | Value::Bool(_) => None,
    };
    number.ok_or_else(|| {
        let what = What::Range {
            key: written.key.clone(),
            expression: written.expression.to_string(),
            value: value.to_string(),
            wanted,
        };
        Mistake::new(written.at.clone(), what)
    })
}
