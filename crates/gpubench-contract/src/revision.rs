//! Which state of the sources a run measured.

use serde::{Deserialize, Serialize};

/// Said of sources of which nobody knows where they stood.
pub const UNKNOWN_REVISION: &str = "unknown revision";

/// A revision of a git repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Revision {
    /// The commit's full hash.
    pub commit: String,
    /// The branch, where one is checked out.
    pub branch: Option<String>,
    /// Whether tracked files differed from the commit.
    pub modified: bool,
}

impl Revision {
    /// As much of the commit's hash as tells it from others for people: `1a2b3c4d5`.
    pub fn short_commit(&self) -> String {
        self.commit.chars().take(9).collect()
    }

    /// `012345678 on main, modified`.
    pub fn in_words(&self) -> String {
        let commit = self.short_commit();
        let branch = self.branch.as_ref().map(|branch| format!(" on {branch}"));
        let modified = if self.modified { ", modified" } else { "" };
        format!("{commit}{}{modified}", branch.unwrap_or_default())
    }

    /// As much of the commit's hash as tells it from others for people, with a `+` where files
    /// differed: `1a2b3c4d5+`.
    pub fn short(&self) -> String {
        let modified = if self.modified { "+" } else { "" };
        self.short_commit() + modified
    }
}
