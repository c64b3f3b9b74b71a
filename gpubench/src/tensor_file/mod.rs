//! Files with tensors: safetensors and NumPy's `.npy`.

pub mod npy;
pub mod safetensors;

use crate::catalog::DType;
use std::fmt;

/// A tensor in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTensor {
    /// Its name. Empty for the only tensor of a `.npy` file.
    pub name: String,
    /// Type of its elements.
    pub dtype: StoredType,
    /// Extents, outermost first.
    pub shape: Vec<u64>,
    /// Position of its first byte in the file.
    pub start: u64,
    /// Number of its bytes.
    pub bytes: u64,
}

/// The type of a stored tensor's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredType {
    /// A type that tensors of a benchmark can have.
    Known(DType),
    /// Another type, by the name that the file gives it.
    Other(String),
}

impl fmt::Display for StoredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoredType::Known(dtype) => dtype.fmt(f),
            StoredType::Other(name) => write!(f, "`{}`", beginning(name)),
        }
    }
}

/// What is wrong with a file of tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongFile(String);

impl WrongFile {
    fn new(what: impl Into<String>) -> WrongFile {
        WrongFile(what.into())
    }
}

impl fmt::Display for WrongFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongFile {}

/// Most names that a message lists.
const MOST_NAMES: usize = 12;

/// Returns the tensor of a name.
///
/// # Errors
/// There is none. The message lists those that there are.
pub fn named<'t>(tensors: &'t [StoredTensor], name: &str) -> Result<&'t StoredTensor, WrongFile> {
    tensors.iter().find(|tensor| tensor.name == name).ok_or_else(|| {
        let mut names: Vec<String> = tensors.iter().map(|tensor| beginning(&tensor.name)).collect();
        let more = names.len().saturating_sub(MOST_NAMES);
        names.truncate(MOST_NAMES);
        let listed = match (names.is_empty(), more) {
            (true, _) => "it has no tensors".to_owned(),
            (false, 0) => format!("it has `{}`", names.join("`, `")),
            (false, more) => format!("it has `{}` and {more} more", names.join("`, `")),
        };
        WrongFile::new(format!("there is no tensor `{name}`: {listed}"))
    })
}

/// Checks the type and the shape of a tensor.
///
/// # Errors
/// They differ from what is expected.
pub fn check(tensor: &StoredTensor, dtype: DType, shape: &[u64]) -> Result<(), WrongFile> {
    if tensor.dtype != StoredType::Known(dtype) {
        return Err(WrongFile::new(format!("it holds {}, not {dtype}", tensor.dtype)));
    }
    if tensor.shape != shape {
        let found = &tensor.shape;
        return Err(WrongFile::new(format!("its shape is {found:?}, not {shape:?}")));
    }
    Ok(())
}

/// Returns the number of bytes of a tensor. `None` if it does not fit.
fn bytes_of(dtype: DType, shape: &[u64]) -> Option<u64> {
    let elements = shape
        .iter()
        .try_fold(1_u64, |product, extent| product.checked_mul(*extent));
    elements?.checked_mul(dtype.size() as u64)
}

/// Returns the first characters of a text of the file, escaped.
fn beginning(text: &str) -> String {
    const LONGEST: usize = 60;
    let shown: String = text.chars().take(LONGEST).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("{}{more}", shown.escape_debug())
}
