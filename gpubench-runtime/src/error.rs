//! The error a benchmark function, a generator or a reference returns.

use std::fmt;

/// What `-> Result<()>` means in a kernel crate.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a benchmark could not be described, or its reference could not be computed.
///
/// Made by `?` from any [`std::error::Error`], keeping its causes, and by [`Error::new`] from any
/// message:
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

/// What is to be made of an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Something failed.
    Failure,
    /// There is nothing to measure.
    Skip,
}

impl Error {
    /// An error that reads `message`.
    pub fn new(message: impl fmt::Display) -> Error {
        Error {
            message: message.to_string(),
            meaning: Meaning::Failure,
        }
    }

    /// No error: the case is skipped, and `reason` says why. For combinations of axes that make no
    /// sense, where a benchmark function that describes launches, or the function that makes its
    /// tensors, finds out by itself; `requires(if = ..)` says it in the attribute.
    ///
    /// ```
    /// # use gpubench::prelude::*;
    /// fn tiles(n: usize, tile: usize) -> Result<usize> {
    ///     match n % tile {
    ///         0 => Ok(n / tile),
    ///         _ => Err(Error::skip(format!("{n} is no multiple of the tile {tile}"))),
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

    /// Whether the case is skipped rather than failed.
    pub(crate) fn is_skip(&self) -> bool {
        self.meaning == Meaning::Skip
    }

    /// The same error with what was being done in front: `context: message`.
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

/// What a benchmark, a reference or a generator may return: a [`Result`] of nothing, or nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what is returned here",
    label = "expected `Result<()>`",
    note = "a benchmark returns `Result<()>`; a reference or a generator returns that or nothing"
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
