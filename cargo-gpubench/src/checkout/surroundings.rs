//! Folders around a repository that belong to its build.

use std::collections::BTreeSet;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::CheckoutError;

/// A folder that mirrors paths of the machine, so that relative paths lead to the same places from
/// a checkout as from the repository. It holds the folders above the checkout, and links to
/// packages outside the repository.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    /// The folder.
    pub(super) folder: &'a Utf8Path,
    /// The absolute path of the repository, without links.
    pub(super) repository: &'a Utf8Path,
    /// Folders of the repository's packages and of their dependencies.
    pub(super) packages: &'a [Utf8PathBuf],
}

impl Surroundings<'_> {
    /// Returns the path of the checkout.
    pub(super) fn checkout(&self) -> Utf8PathBuf {
        self.place_of(self.repository)
    }

    /// Creates the folders and links around the checkout, and removes everything else. Afterwards
    /// no folder above the checkout is a link, so that changes in the checkout affect nothing else.
    ///
    /// # Errors
    /// A folder cannot be read or written.
    pub(super) fn arrange(&self) -> Result<(), CheckoutError> {
        let links = self.links()?;
        let mut above: Vec<_> = self.repository.ancestors().skip(1).collect();
        above.reverse();
        for real in above {
            let folder = self.place_of(real);
            unlink(&folder).map_err(CheckoutError::folder(&folder))?;
            fs_err::create_dir_all(&folder).map_err(CheckoutError::folder(&folder))?;
            for entry in names_in(&folder)? {
                let there = real.join(&entry);
                if !self.repository.starts_with(&there) && !links.contains(&there) {
                    remove(&folder.join(entry))?;
                }
            }
        }
        let checkout = self.checkout();
        unlink(&checkout).map_err(CheckoutError::folder(&checkout))?;
        for real in links {
            let link = self.place_of(&real);
            let is_made = link.read_link_utf8().is_ok_and(|target| target == real);
            if !is_made {
                remove(&link)?;
                fs_err::os::unix::fs::symlink(&real, &link).map_err(CheckoutError::folder(&link))?;
            }
        }
        Ok(())
    }

    fn place_of(&self, real: &Utf8Path) -> Utf8PathBuf {
        self.folder.join(real.strip_prefix("/").unwrap_or(real))
    }

    /// Returns the folders to link. For each package outside the repository, that is the topmost
    /// folder that is not also above the repository, so that the package finds its workspace. If
    /// the next folder up, which is above both, has a manifest, it is a workspace itself, and
    /// everything in it is linked.
    fn links(&self) -> Result<BTreeSet<Utf8PathBuf>, CheckoutError> {
        let mut links = BTreeSet::new();
        for package in self.packages {
            let Some(shared) = package.ancestors().find(|above| self.repository.starts_with(above)) else {
                continue;
            };
            if shared == self.repository {
                continue;
            }
            if shared.join("Cargo.toml").exists() {
                let all = names_in(shared)?.into_iter().map(|name| shared.join(name));
                links.extend(all.filter(|path| !self.repository.starts_with(path)));
            } else {
                let below = package.ancestors().take_while(|folder| *folder != shared);
                links.extend(below.last().map(Utf8Path::to_owned));
            }
        }
        Ok(links)
    }
}

/// Returns the names of the entries. Skips names that are not UTF-8: a manifest cannot contain
/// them.
fn names_in(folder: &Utf8Path) -> Result<Vec<String>, CheckoutError> {
    let entries = fs_err::read_dir(folder).map_err(CheckoutError::folder(folder))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().into_string().ok()));
    let names: Result<Vec<_>, _> = names.collect();
    Ok(names
        .map_err(CheckoutError::folder(folder))?
        .into_iter()
        .flatten()
        .collect())
}

/// Removes a link or a file, but not a folder.
fn unlink(path: &Utf8Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_dir() => fs_err::remove_file(path),
        _ => Ok(()),
    }
}

/// Removes whatever is there. Removes a link, but not its target.
pub(super) fn remove(path: &Utf8Path) -> Result<(), CheckoutError> {
    unlink(path).map_err(CheckoutError::folder(path))?;
    match path.symlink_metadata() {
        Ok(_) => fs_err::remove_dir_all(path).map_err(CheckoutError::folder(path)),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a folder with the packages `mine/kernels` and `tool/runtime`, and a folder for the
    /// surroundings.
    struct Machine {
        _folder: tempfile::TempDir,
        root: Utf8PathBuf,
    }

    impl Machine {
        fn new() -> Machine {
            let folder = tempfile::tempdir().expect("a folder");
            let root = Utf8Path::from_path(folder.path()).expect("text");
            let root = root.canonicalize_utf8().expect("it is there");
            for (path, text) in [("mine/kernels/file", "mine"), ("tool/runtime/file", "runtime")] {
                let path = root.join(path);
                fs_err::create_dir_all(path.parent().expect("a folder")).expect("it is made");
                fs_err::write(path, text).expect("it is written");
            }
            Machine { _folder: folder, root }
        }

        /// Arranges the surroundings of a checkout of `repository`, and returns the path of the
        /// checkout.
        fn arrange(&self, repository: &str, packages: &[&str]) -> Utf8PathBuf {
            let surroundings = Surroundings {
                folder: &self.root.join("sources"),
                repository: &self.root.join(repository),
                packages: &packages.iter().map(|path| self.root.join(path)).collect::<Vec<_>>(),
            };
            surroundings.arrange().expect("it is arranged");
            surroundings.checkout()
        }
    }

    #[test]
    fn a_relative_path_out_of_the_repository_leads_to_the_same_place() {
        let machine = Machine::new();
        let checkout = machine.arrange("mine", &["mine/kernels", "tool/runtime"]);
        let parent = checkout.parent().expect("a folder");
        assert_eq!(
            fs_err::read_to_string(parent.join("tool/runtime/file")).expect("it is there"),
            "runtime"
        );
        let link = parent
            .join("tool")
            .read_link_utf8()
            .expect("the folder that holds the package is linked");
        assert_eq!(link, machine.root.join("tool"));
        assert!(!checkout.exists(), "git makes it");
    }

    #[test]
    fn unneeded_links_are_removed_and_their_targets_stay() {
        let machine = Machine::new();
        machine.arrange("mine", &["tool/runtime"]);
        fs_err::write(machine.root.join("sources/.git"), "of a checkout that lay here").expect("it is written");
        let checkout = machine.arrange("mine", &[]);
        assert!(!checkout.parent().expect("a folder").join("tool").exists());
        assert!(!machine.root.join("sources/.git").exists());
        assert!(machine.root.join("tool/runtime/file").exists());
    }

    #[test]
    fn a_link_to_a_separate_repository_is_never_followed() {
        let machine = Machine::new();
        machine.arrange("mine", &["tool/runtime"]);
        let checkout = machine.arrange("tool/runtime", &["mine/kernels"]);
        assert_eq!(
            checkout.canonicalize_utf8().ok(),
            None,
            "no link leads to the repository itself"
        );
        assert!(machine.root.join("tool/runtime/file").exists());
    }

    #[test]
    fn a_workspace_above_the_repository_is_linked_completely() {
        let machine = Machine::new();
        fs_err::write(machine.root.join("tool/Cargo.toml"), "[workspace]").expect("it is written");
        fs_err::create_dir_all(machine.root.join("tool/mine")).expect("it is made");
        let checkout = machine.arrange("tool/mine", &["tool/runtime"]);
        let parent = checkout.parent().expect("a folder");
        assert!(parent.join("Cargo.toml").exists() && parent.join("runtime/file").exists());
        assert!(!parent.join("mine").exists(), "git makes it");
    }
}
