//! Why an expression has no value.

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// It is no expression of this kind.
    #[error("`{found}` at byte {at}: expected {expected}")]
    Syntax {
        /// The beginning of what is there.
        found: String,
        /// Position in bytes.
        at: usize,
        /// What may be there.
        expected: &'static str,
    },
    /// It is too long or too deep.
    #[error("the expression is too {how}; the limit is {most}")]
    TooMuch {
        /// Long or deep.
        how: &'static str,
        /// The limit in bytes, or in levels of the grammar.
        most: usize,
    },
    /// A name is not an axis with a value.
    #[error("there is no axis `{name}` before it")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A division by zero, also by `%`, or a negative power of zero.
    #[error("it divides by zero")]
    DivisionByZero,
    /// A number does not fit, or has no real value.
    #[error("a result of `{operator}` is too large, or is not a real number")]
    OutOfRange {
        /// The operator.
        operator: &'static str,
    },
    /// The value is not an integer.
    #[error("its value is {value}, which is not an integer")]
    NotAnInteger {
        /// The value.
        value: String,
    },
}
