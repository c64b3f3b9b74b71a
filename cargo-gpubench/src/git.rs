//! Git as a child process.

use std::io;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_contract::Revision;

/// Variables by which a hook, or git itself, would select another repository or index than the
/// folder's.
const OTHER_REPOSITORY: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
];

/// Git in a folder. It never prompts, avoids optional locks and runs no hooks.
#[derive(Clone, Debug)]
pub struct Git {
    folder: Utf8PathBuf,
}

/// Git cannot be started.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct GitNotStarted(#[from] io::Error);

impl Git {
    /// Returns git in `folder`.
    pub fn in_folder(folder: &Utf8Path) -> Git {
        Git {
            folder: folder.to_owned(),
        }
    }

    /// Runs git and returns its trimmed output, or its error message if it fails.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn ask(&self, arguments: &[&str]) -> Result<Result<String, String>, GitNotStarted> {
        let mut command = Command::new("git");
        // The user's hooks must not run in a checkout that nobody works in.
        command
            .arg("-C")
            .arg(&self.folder)
            .args(["-c", "core.hooksPath=/dev/null"]);
        for name in OTHER_REPOSITORY {
            command.env_remove(name);
        }
        let output = command
            .args(arguments)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null())
            .output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        Ok(match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stderr)),
        })
    }

    /// Returns the revision of the folder's files; `None` without git, a repository or a commit.
    pub fn revision(&self) -> Option<Revision> {
        let ask = |question: &[&str]| self.ask(question).ok()?.ok();
        Some(Revision {
            commit: ask(&["rev-parse", "--verify", "HEAD"])?,
            branch: ask(&["symbolic-ref", "--short", "--quiet", "HEAD"]),
            modified: !ask(&["status", "--porcelain", "--untracked-files=no"])?.is_empty(),
        })
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

    fn revision(folder: &Utf8Path) -> Option<Revision> {
        Git::in_folder(folder).revision()
    }

    #[test]
    fn a_folder_outside_a_repository_has_no_revision() {
        let (_kept, path) = folder();
        assert_eq!(revision(&path), None);
        assert_eq!(revision(&path.join("not_there")), None);
    }

    #[test]
    fn a_revision_has_a_commit_a_branch_and_a_modified_flag() {
        let (_kept, path) = folder();
        git(&path, &["init", "--quiet", "--initial-branch", "trunk"]);
        assert_eq!(revision(&path), None, "there is no commit yet");
        std::fs::write(path.join("a"), "1").expect("written");
        git(&path, &["add", "a"]);
        git(&path, &["commit", "--quiet", "-m", "first"]);
        let clean = revision(&path).expect("a revision");
        assert_eq!((clean.branch.as_deref(), clean.modified), (Some("trunk"), false));
        assert_eq!(clean.short(), clean.commit[..9]);
        std::fs::write(path.join("untracked"), "1").expect("written");
        assert!(!revision(&path).expect("a revision").modified);
        std::fs::write(path.join("a"), "2").expect("written");
        git(&path, &["checkout", "--quiet", "--detach"]);
        let changed = revision(&path).expect("a revision");
        assert_eq!((changed.branch.as_deref(), changed.modified), (None, true));
        assert_eq!(changed.short(), format!("{}+", &clean.commit[..9]));
    }
}
