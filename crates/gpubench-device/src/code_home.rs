//! Where a crate's own kernels run.

use serde::{Deserialize, Serialize};

/// The role that may run a crate's own kernels beside the worker: those of references and generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CodeHome {
    /// The author: kernels are native code here, and could do anything to the process they run in.
    Author,
    /// The referee: kernels run on a device apart from its process.
    Referee,
}

impl CodeHome {
    /// The number that travels.
    pub fn number(self) -> u32 {
        match self {
            CodeHome::Author => 0,
            CodeHome::Referee => 1,
        }
    }

    /// The home of a number.
    pub fn from_number(number: u32) -> Option<CodeHome> {
        [CodeHome::Author, CodeHome::Referee]
            .into_iter()
            .find(|home| home.number() == number)
    }
}
