//! Whether a path stays in a folder.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::StoreError;

/// Returns whether a path stays in a folder, whatever links and `..` it has.
pub fn is_inside(path: &Utf8Path, folder: &Utf8Path) -> bool {
    let (path, folder) = (resolved(path), resolved(folder));
    path.zip(folder).is_some_and(|(path, folder)| path.starts_with(folder))
}

/// Returns the path of a file to write, if it stays in a folder.
///
/// # Errors
/// A link leads out of the folder.
pub fn ensure_inside(path: Utf8PathBuf, folder: &Utf8Path) -> Result<Utf8PathBuf, StoreError> {
    if is_inside(&path, folder) {
        Ok(path)
    } else {
        Err(StoreError::Leaves {
            path,
            folder: folder.to_owned(),
        })
    }
}

/// Returns the place that a path leads to. `None` if that depends on what does not exist yet, as
/// with a link to it or `..` after it.
fn resolved(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let path = camino::absolute_utf8(path).ok()?;
    let exists = |path: &&Utf8Path| path.symlink_metadata().is_ok();
    let existing = path.ancestors().find(exists)?;
    let rest = path.strip_prefix(existing).ok()?;
    let is_plain = rest.components().all(|part| matches!(part, Utf8Component::Normal(_)));
    is_plain.then_some(existing.canonicalize_utf8().ok()?.join(rest))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_leaves_a_folder_by_its_beginning_by_its_parents_and_by_links() {
        let kept = tempfile::tempdir().expect("a folder");
        let root = Utf8PathBuf::from_path_buf(kept.path().to_owned()).expect("UTF-8");
        let folder = root.join("work");
        fs::create_dir_all(folder.join("target")).expect("a folder");
        fs::write(root.join("victim"), "").expect("written");
        for (link, to) in [
            ("out", ".."),
            ("in", "target"),
            ("file", "../victim"),
            ("dangling", "../new"),
        ] {
            symlink(to, folder.join(link)).expect("a link");
        }
        for inside in ["a.json", "target/new/a.json", "in/a.json", "target/../a.json", "."] {
            assert!(is_inside(&folder.join(inside), &folder), "{inside}");
        }
        let absolute = root.join("a.json");
        for outside in [
            "../a.json",
            "out/a.json",
            "file",
            "dangling",
            "new/../../a.json",
            "target/../../a",
            absolute.as_str(),
        ] {
            assert!(!is_inside(&folder.join(outside), &folder), "{outside}");
        }
        assert!(!is_inside(&root.join("work2/a.json"), &folder));
    }
}
