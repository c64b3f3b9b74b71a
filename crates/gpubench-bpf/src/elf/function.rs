//! An exported function.

use super::{Shape, Site};

/// An exported function, with offsets into its file in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// Where the symbol is.
    pub symbol: u64,
    /// What the code at the symbol is.
    pub shape: Shape,
    /// Where to probe it: in its implementation, if the shape is known.
    pub site: Site,
    /// Where the stub goes after an error, and only then. There the kernel's `r12` is the result.
    pub failure: Option<u64>,
}
