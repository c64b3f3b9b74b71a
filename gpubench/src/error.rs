//! The error type of benchmark functions, generators and references.

use std::fmt;

/// The result type of functions in a kernel crate.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// The reason why a benchmark function, a generator or a reference failed.
///
/// `?` converts any [`std::error::Error`], including its sources. [`Error::new`] takes any message:
///
/// ```
/// use gpubench::prelude::*;
///
/// fn table_size(text: &str) -> Result<usize> {
///     let size: usize = text.parse()?;
///     if !size.is_power_of_two() {
///         return Err(Error::new(format!("{size} is not a power of two")));
///     }
///     Ok(size)
/// }
/// assert_eq!(table_size("12").unwrap_err().to_string(), "12 is not a power of two");
/// ```
#[derive(Clone)]
pub struct Error {
    message: String,
    meaning: Meaning,
}

/// The effect of an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The case fails.
    Failure,
    /// The case is skipped.
    Skip,
}

impl Error {
    /// Returns an error with this message.
    pub fn new(message: impl fmt::Display) -> Error {
        Error {
            message: message.to_string(),
            meaning: Meaning::Failure,
        }
    }

    /// Returns an error that skips the case, with this reason. Use it for axis combinations that
    /// make no sense. It works in a benchmark function that takes a launcher, and in the function
    /// that returns the tensors. If the axes alone decide, `requires(if = ..)` in the attribute is
    /// simpler.
    ///
    /// ```
    /// # use gpubench::prelude::*;
    /// fn tiles(n: usize, tile: usize) -> Result<usize> {
    ///     match n % tile {
    ///         0 => Ok(n / tile),
    ///         _ => Err(Error::skip(format!("{n} is not a multiple of the tile {tile}"))),
    ///     }
    /// }
    /// # assert!(tiles(10, 3).is_err());
    /// ```
    pub fn skip(reason: impl fmt::Display) -> Error {
        Error {
            meaning: Meaning::Skip,
            ..Error::new(reason)
        }
    }

    /// Returns whether the case is skipped, not failed.
    pub(crate) fn is_skip(&self) -> bool {
        self.meaning == Meaning::Skip
    }

    /// Returns the same error with a prefix: `context: message`.
    #[must_use]
    pub fn context(self, context: impl fmt::Display) -> Error {
        Error {
            message: format!("{context}: {}", self.message),
            ..self
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Error {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        Error::new(message)
    }
}

/// The return type of a benchmark, a reference or a generator: `Result<()>`, or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a valid return type",
    label = "expected `Result<()>`",
    note = "a benchmark returns `Result<()>`; a reference or a generator returns `Result<()>` or nothing"
)]
pub trait Outcome {
    #[doc(hidden)]
    fn into_result(self) -> Result<()>;
}

impl Outcome for () {
    fn into_result(self) -> Result<()> {
        Ok(())
    }
}

impl<E: Into<Error>> Outcome for std::result::Result<(), E> {
    fn into_result(self) -> Result<()> {
        self.map_err(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_mark_keeps_the_causes_of_an_error() {
        #[derive(Debug)]
        struct Outer(std::num::ParseIntError);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bad table")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        fn fails() -> Result<()> {
            Err(Outer("x".parse::<u8>().unwrap_err()))?;
            Ok(())
        }
        assert_eq!(
            fails().unwrap_err().to_string(),
            "bad table: invalid digit found in string"
        );
    }
}
