//! Which state of the sources a run measured.

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use crate::git::Git;

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

impl Revision {
    /// The revision that a folder's files are of; `None` where there is no git, no repository or no commit yet.
    pub fn of(folder: &Utf8Path) -> Option<Revision> {
        let git = Git::in_folder(folder);
        let ask = |question: &[&str]| git.ask(question).ok()?.ok();
        Some(Revision {
            commit: ask(&["rev-parse", "--verify", "HEAD"])?,
            branch: ask(&["symbolic-ref", "--short", "--quiet", "HEAD"]),
            modified: !ask(&["status", "--porcelain", "--untracked-files=no"])?.is_empty(),
        })
    }

    /// `0123456 on main, modified`.
    pub fn in_words(&self) -> String {
        let commit: String = self.commit.chars().take(7).collect();
        let branch = self.branch.as_ref().map(|branch| format!(" on {branch}"));
        let modified = if self.modified { ", modified" } else { "" };
        format!("{commit}{}{modified}", branch.unwrap_or_default())
    }

    /// As much of the commit's hash as tells it from others for people, with a `+` where files differed: `1a2b3c4d5+`.
    pub fn short(&self) -> String {
        let hash: String = self.commit.chars().take(9).collect();
        if self.modified { format!("{hash}+") } else { hash }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Utf8Path, arguments: &[&str]) {
        let author = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
        let done = Command::new("git")
            .current_dir(folder)
            .args(author)
            .args(arguments)
            .output()
            .expect("git");
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    fn folder() -> (tempfile::TempDir, camino::Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = camino::Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("UTF-8");
        (folder, path)
    }

    #[test]
    fn a_folder_outside_of_a_repository_has_none() {
        let (_kept, path) = folder();
        assert_eq!(Revision::of(&path), None);
        assert_eq!(Revision::of(&path.join("not_there")), None);
    }

    #[test]
    fn a_repository_has_a_commit_a_branch_and_perhaps_changes() {
        let (_kept, path) = folder();
        git(&path, &["init", "--quiet", "--initial-branch", "trunk"]);
        assert_eq!(Revision::of(&path), None, "there is no commit yet");
        std::fs::write(path.join("a"), "1").expect("written");
        git(&path, &["add", "a"]);
        git(&path, &["commit", "--quiet", "-m", "first"]);
        let clean = Revision::of(&path).expect("a revision");
        assert_eq!((clean.branch.as_deref(), clean.modified), (Some("trunk"), false));
        assert_eq!(clean.short(), clean.commit[..9]);
        std::fs::write(path.join("untracked"), "1").expect("written");
        assert!(!Revision::of(&path).expect("a revision").modified);
        std::fs::write(path.join("a"), "2").expect("written");
        git(&path, &["checkout", "--quiet", "--detach"]);
        let changed = Revision::of(&path).expect("a revision");
        assert_eq!((changed.branch.as_deref(), changed.modified), (None, true));
        assert_eq!(changed.short(), format!("{}+", &clean.commit[..9]));
    }
}
