//! Resolves a revision to a commit.

use camino::Utf8Path;

use super::CheckoutError;
use crate::git::Git;
use gpubench_contract::short_revision;

/// The hint if a revision names no commit, or several.
const ONE_REVISION: &str = "name one revision to compare with: a branch, a tag, a hash, or `HEAD~1`";

/// The hint if a revision is unknown.
const FETCH: &str =
    "name a branch, a tag, a hash, or `HEAD~1`; if it is only on another machine, run `git fetch` first";

/// The hint if it may be older than what a shallow clone has, as CI services make them.
const UNSHALLOW: &str =
    "the clone is shallow: run `git fetch --unshallow`, or give `fetch-depth: 0` to `actions/checkout`";

/// Returns the full hash of the commit that a revision names in a repository.
///
/// # Errors
/// The revision names no commit, several, or another object; git cannot be started.
pub(super) fn commit_of(git: &Git, revision: &str, repository: &Utf8Path) -> Result<String, CheckoutError> {
    let not_one = |why| CheckoutError::refused(format!("`{revision}` is not one revision: {why}"), ONE_REVISION);
    if revision.trim().is_empty() {
        return Err(not_one("it is empty"));
    }
    // A search by commit message (`:/text`) cannot be combined with the suffix that peels a tag.
    let object = git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", revision])?;
    let object = match object {
        Ok(object) if is_hash(&object) => object,
        Ok(_) => return Err(not_one("`^` excludes commits")),
        Err(_) => {
            let several = git.ask(&["rev-parse", "--revs-only", "--end-of-options", revision])?;
            return Err(if several.is_ok_and(|found| !found.is_empty()) {
                not_one("it names a range or several commits")
            } else {
                unknown(git, revision, repository)
            });
        }
    };
    let commit = git.ask(&["rev-parse", "--verify", "--quiet", &format!("{object}^{{commit}}")])?;
    match commit {
        Ok(commit) => Ok(commit),
        Err(_) => {
            let Ok(kind) = git.ask(&["cat-file", "-t", &object])? else {
                return Err(unknown(git, revision, repository));
            };
            let what = format!("`{revision}` is a {kind}, not a commit");
            Err(CheckoutError::refused(what, ONE_REVISION))
        }
    }
}

/// Returns the error about a revision that a repository lacks.
fn unknown(git: &Git, revision: &str, repository: &Utf8Path) -> CheckoutError {
    let shallow = match git.ask(&["rev-parse", "--is-shallow-repository"]) {
        Ok(shallow) => shallow,
        Err(error) => return error.into(),
    };
    let revision = short_revision(revision);
    CheckoutError::refused(
        format!("`{revision}` is not a revision of the repository `{repository}`"),
        match shallow.as_deref() {
            Ok("true") => UNSHALLOW,
            _ => FETCH,
        },
    )
}

fn is_hash(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use gpubench_diagnostic::{Expected, chain};

    /// Returns a repository with two commits, `first` and `second`, and a tag on the first.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let git = |arguments: &[&str]| {
            let author = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
            let done = Command::new("git")
                .current_dir(folder.path())
                .args(author)
                .args(arguments)
                .output();
            assert!(done.expect("git").status.success(), "{arguments:?}");
        };
        git(&["init", "--quiet", "--initial-branch", "main"]);
        for message in ["first", "second"] {
            std::fs::write(folder.path().join("file"), message).expect("written");
            git(&["add", "file"]);
            git(&["commit", "--quiet", "-m", message]);
        }
        git(&["tag", "-m", "a tag with a message", "v1", "HEAD~1"]);
        folder
    }

    fn asked(revision: &str) -> Result<String, String> {
        let repository = repository();
        let folder = Utf8Path::from_path(repository.path()).expect("text");
        let git = Git::in_folder(folder);
        let hash = |name: &str| git.ask(&["rev-parse", name]).expect("git").expect("a commit");
        match commit_of(&git, revision, folder) {
            Ok(commit) if commit == hash("HEAD~1") => Ok("first".to_owned()),
            Ok(commit) if commit == hash("HEAD") => Ok("second".to_owned()),
            Ok(commit) => Ok(commit),
            Err(error) => Err(chain(&error).replace(folder.as_str(), "FOLDER")),
        }
    }

    #[test]
    fn a_branch_a_tag_an_ancestor_and_a_message_name_a_commit() {
        for (revision, commit) in [
            ("main", "second"),
            ("v1", "first"),
            ("HEAD~1", "first"),
            (":/fir", "first"),
            ("@", "second"),
        ] {
            assert_eq!(asked(revision).as_deref(), Ok(commit), "{revision}");
        }
    }

    #[test]
    fn a_full_hash_that_the_repository_lacks_is_no_revision_of_it() {
        let refused = asked(&"0123456789abcdef".repeat(3)[..40]).expect_err("there is no such commit");
        assert_eq!(refused, "`012345678` is not a revision of the repository `FOLDER`");
    }

    #[test]
    fn a_shallow_clone_is_told_how_to_fetch_the_rest() {
        let (whole, shallow) = (repository(), tempfile::tempdir().expect("a folder"));
        let from = format!("file://{}", whole.path().display());
        let cloned = Command::new("git")
            .args(["clone", "--quiet", "--depth", "1", &from])
            .arg(shallow.path())
            .status();
        assert!(cloned.expect("git").success());
        let hint = |folder: &tempfile::TempDir| {
            let folder = Utf8Path::from_path(folder.path()).expect("text");
            let refused = commit_of(&Git::in_folder(folder), "HEAD~9", folder);
            refused.expect_err("there are two commits").hint()
        };
        assert_eq!(hint(&shallow).as_deref(), Some(UNSHALLOW));
        assert_eq!(hint(&whole).as_deref(), Some(FETCH));
    }

    #[test]
    fn a_revision_that_is_not_one_commit_is_explained() {
        let message = |revision: &str| asked(revision).expect_err("a refusal");
        assert_eq!(message(""), "`` is not one revision: it is empty");
        assert_eq!(message("^HEAD"), "`^HEAD` is not one revision: `^` excludes commits");
        for range in ["HEAD~1..HEAD", "HEAD~1...HEAD", "HEAD^!", "HEAD^@"] {
            assert_eq!(
                message(range),
                format!("`{range}` is not one revision: it names a range or several commits")
            );
        }
        assert_eq!(message("HEAD:file"), "`HEAD:file` is a blob, not a commit");
        assert_eq!(message("HEAD^{tree}"), "`HEAD^{tree}` is a tree, not a commit");
        for unknown in ["nowhere", "--help", "--all", ":/no such message", "HEAD~9", "-"] {
            assert_eq!(
                message(unknown),
                format!("`{unknown}` is not a revision of the repository `FOLDER`")
            );
        }
    }
}
