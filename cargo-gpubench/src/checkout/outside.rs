//! Symbolic links of a revision that lead out of it.

use camino::{Utf8Path, Utf8PathBuf};

use super::CheckoutError;
use crate::git::Git;

/// Git's mode of a symbolic link.
const LINK: &str = "120000";

/// Returns the links of a commit, checked out in `folder`, whose targets are outside the folder:
/// their paths in the repository, in order.
///
/// # Errors
/// Git cannot be started, or cannot list the commit.
pub(super) fn links_out_of(git: &Git, commit: &str, folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, CheckoutError> {
    let listed = git.ask(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
    let listed = listed.map_err(|why| CheckoutError::Git {
        what: "list the revision",
        why,
    })?;
    let links = listed.split('\0').filter_map(|entry| {
        let (head, path) = entry.split_once('\t')?;
        head.starts_with(LINK).then(|| Utf8Path::new(path))
    });
    let folder = folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned());
    // The build reports a link without a target.
    let leads_out = |path: &&Utf8Path| {
        folder
            .join(path)
            .canonicalize()
            .is_ok_and(|there| !there.starts_with(&folder))
    };
    Ok(links.filter(leads_out).map(Utf8Path::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_links_to_something_outside_lead_out() {
        let kept = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(kept.path()).expect("text");
        let sources = root.join("sources");
        std::fs::create_dir(&sources).expect("made");
        std::fs::write(root.join("shared.rs"), "").expect("written");
        std::fs::write(sources.join("own.rs"), "").expect("written");
        for (target, link) in [
            ("own.rs", "inside.rs"),
            ("../shared.rs", "outside.rs"),
            ("../nothing.rs", "nowhere.rs"),
        ] {
            symlink(target, sources.join(link)).expect("linked");
        }
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=nobody",
                "-c",
                "user.email=nobody@localhost",
                "commit",
                "--quiet",
                "-m",
                "links",
            ],
        ] {
            let done = Command::new("git")
                .current_dir(&sources)
                .args(arguments)
                .output()
                .expect("git");
            assert!(done.status.success(), "{arguments:?}");
        }
        let links = links_out_of(&Git::in_folder(&sources), "HEAD", &sources).expect("listed");
        assert_eq!(links, ["outside.rs"]);
    }
}
