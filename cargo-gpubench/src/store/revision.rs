//! Which state of the sources a run measured.

use serde::{Deserialize, Serialize};

/// A revision of a git repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Revision {
    /// The commit's full hash.
    pub commit: String,
    /// The branch, where one is checked out.
    pub branch: Option<String>,
    /// Whether tracked files differed from the commit.
    pub modified: bool,
}
