//! The submodules of a revision. They are checked out from the candidate's own, without a network.

use std::sync::atomic::AtomicBool;

use camino::{Utf8Path, Utf8PathBuf};

use super::CheckoutError;
use super::worktree::Worktree;
use crate::git::Git;

/// Git's mode of a submodule.
const SUBMODULE: &str = "160000";

/// A commit of a repository, checked out in a folder.
#[derive(Clone, Copy)]
pub(super) struct CheckedOut<'a> {
    /// The candidate's own checkout of the repository.
    pub(super) repository: &'a Utf8Path,
    pub(super) commit: &'a str,
    pub(super) folder: &'a Utf8Path,
}

impl CheckedOut<'_> {
    /// Checks out the submodules of the commit, and theirs. Returns the folders of those that the
    /// candidate's repository does not have at that commit. They stay empty.
    ///
    /// # Errors
    /// Git cannot be started, cannot list the commit, or fails.
    pub(super) fn fill_submodules(self, interrupted: &AtomicBool) -> Result<Vec<Utf8PathBuf>, CheckoutError> {
        let mut missing = Vec::new();
        for (place, commit) in self.submodules()? {
            self.refuse_links_out(&place)?;
            let (own, folder) = (self.repository.join(&place), self.folder.join(&place));
            let git = Git::in_folder(&own);
            if !is_there(&git, &own, &commit)? {
                missing.push(place);
                continue;
            }
            let worktree = Worktree {
                git: &git,
                folder: &folder,
                commit: &commit,
            };
            worktree.fill(interrupted)?;
            let filled = CheckedOut {
                repository: &own,
                commit: &commit,
                folder: &folder,
            };
            let inner = filled.fill_submodules(interrupted)?;
            missing.extend(inner.into_iter().map(|inner| place.join(inner)));
        }
        Ok(missing)
    }

    /// Checks that no link leads from the checkout to the place of a submodule. Filling it removes
    /// what is there.
    fn refuse_links_out(self, place: &Utf8Path) -> Result<(), CheckoutError> {
        let around = self.folder.join(place.parent().unwrap_or(Utf8Path::new("")));
        let [root, around] = [self.folder, &around].map(Utf8Path::canonicalize_utf8);
        if matches!((&root, &around), (Ok(root), Ok(around)) if around.starts_with(root)) {
            return Ok(());
        }
        Err(CheckoutError::refused(
            format!("the submodule `{place}` of the revision is not inside of its checkout"),
            "compare with a saved run with `--baseline NAME`",
        ))
    }

    /// Returns the folder and the commit of each submodule.
    fn submodules(self) -> Result<Vec<(Utf8PathBuf, String)>, CheckoutError> {
        let listed = Git::in_folder(self.repository).ask(&["ls-tree", "-r", "-z", "--full-tree", self.commit])?;
        let listed = listed.map_err(|why| CheckoutError::Git {
            what: "list the revision",
            why,
        })?;
        let entries = listed.split('\0').filter_map(|entry| entry.split_once('\t'));
        let submodules = entries.filter_map(|(head, path)| {
            let commit = head.strip_prefix(SUBMODULE)?.split_whitespace().last()?;
            Some((Utf8PathBuf::from(path), commit.to_owned()))
        });
        Ok(submodules.collect())
    }
}

/// Returns whether the candidate has a checkout of the submodule, and the commit in it. In an empty
/// folder, git would answer for the repository around it.
fn is_there(git: &Git, own: &Utf8Path, commit: &str) -> Result<bool, CheckoutError> {
    let Ok(here) = own.canonicalize_utf8() else {
        return Ok(false);
    };
    let top = git.ask(&["rev-parse", "--show-toplevel"])?;
    if top.is_ok_and(|top| Utf8Path::new(&top) == here) {
        Ok(git.ask(&["cat-file", "-e", &format!("{commit}^{{commit}}")])?.is_ok())
    } else {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_behind_a_link_or_outside_is_refused() {
        let kept = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(kept.path()).expect("text");
        let folder = root.join("sources");
        std::fs::create_dir_all(folder.join("inside")).expect("made");
        std::fs::create_dir(root.join("victim")).expect("made");
        std::os::unix::fs::symlink("../victim", folder.join("link")).expect("linked");
        let checked_out = CheckedOut {
            repository: root,
            commit: "HEAD",
            folder: &folder,
        };
        for place in ["vendor", "inside/vendor"] {
            assert!(checked_out.refuse_links_out(Utf8Path::new(place)).is_ok(), "{place}");
        }
        for place in ["link/vendor", "../victim/vendor", "/vendor", "missing/vendor"] {
            let refused = checked_out.refuse_links_out(Utf8Path::new(place));
            assert!(refused.is_err_and(|error| error.to_string().contains(place)), "{place}");
        }
    }
}
