//! Names with another meaning.

use super::error::CaseError;

/// Refuses the names that a file of inputs has for other things.
///
/// # Errors
/// It is one of them.
pub(super) fn reserved(name: &str) -> Result<(), CaseError> {
    match name {
        "__metadata__" | "gpubench_sets" => Err(CaseError::ReservedName { name: name.to_owned() }),
        _ => Ok(()),
    }
}
