//! The revision of the sources that a run measured.

use serde::{Deserialize, Serialize};

/// The text for a revision that is not known.
pub const UNKNOWN_REVISION: &str = "unknown revision";

/// The digits of a short hash.
const SHORT: usize = 9;

/// A revision of a git repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Revision {
    /// The commit's full hash.
    pub commit: String,
    /// The branch that is checked out. Null if there is none.
    pub branch: Option<String>,
    /// Whether tracked files differ from the commit.
    pub modified: bool,
}

/// Whether a text is the full hash of a commit, which git takes for nothing else.
pub fn is_full_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the name of a revision for people: of a full hash, the first nine digits.
pub fn short_revision(name: &str) -> &str {
    if is_full_hash(name) { &name[..SHORT] } else { name }
}

impl Revision {
    /// Returns the first nine digits of the commit's hash: `1a2b3c4d5`.
    pub fn short_commit(&self) -> String {
        self.commit.chars().take(SHORT).collect()
    }

    /// Describes the revision: `012345678 on main, modified`.
    pub fn in_words(&self) -> String {
        let commit = self.short_commit();
        let branch = self.branch.as_ref().map(|branch| format!(" on {branch}"));
        let modified = if self.modified { ", modified" } else { "" };
        format!("{commit}{}{modified}", branch.unwrap_or_default())
    }

    /// Returns the short hash, with a `+` if tracked files differ: `1a2b3c4d5+`.
    pub fn short(&self) -> String {
        let modified = if self.modified { "+" } else { "" };
        self.short_commit() + modified
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_hash_is_shortened() {
        let full = "0123456789abcdef".repeat(4);
        assert_eq!(short_revision(&full), "012345678");
        assert_eq!(short_revision(&full[..40]), "012345678");
        for other in [
            "main",
            "FETCH_HEAD",
            ":/text",
            "stash@{0}",
            "0123456",
            "--output=x",
            "",
            &full[..39],
            &format!("g{}", &full[1..]),
            &format!("é{}", &full[2..]),
        ] {
            assert!(!is_full_hash(other), "{other}");
            assert_eq!(short_revision(other), other);
        }
    }

    #[test]
    fn a_revision_is_nine_digits_with_its_branch_and_whether_it_was_modified() {
        let revision = |branch: Option<&str>, modified| Revision {
            commit: "0123456789abcdef".to_owned(),
            branch: branch.map(str::to_owned),
            modified,
        };
        assert_eq!(revision(None, false).in_words(), "012345678");
        assert_eq!(revision(Some("main"), true).in_words(), "012345678 on main, modified");
        assert_eq!(revision(Some("main"), false).short(), "012345678");
        assert_eq!(revision(None, true).short(), "012345678+");
    }
}
