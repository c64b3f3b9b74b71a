//! The git worktree of a revision.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

use super::CheckoutError;
use super::outside::links_out_of;
use super::revision::commit_of;
use super::submodules::CheckedOut;
use super::surroundings::{Surroundings, remove};
use crate::cdylibs::{BuildOptions, ManifestOptions, local_packages, workspace_root};
use crate::git::Git;
use crate::turn::wait_for;
use gpubench_contract::{Revision, short_revision};
use gpubench_diagnostic::Failure;

/// A checked-out revision, locked against other runs while this value lives. The next run reuses
/// the folder for any revision: there is only one, and files that both revisions share are not
/// built again.
#[derive(Debug)]
pub struct Checkout {
    name: String,
    commit: String,
    folder: Utf8PathBuf,
    /// The path of the candidate's manifest in the repository.
    manifest: Utf8PathBuf,
    target: Utf8PathBuf,
    shared: Vec<Utf8PathBuf>,
    empty_submodules: Vec<Utf8PathBuf>,
    _lock: File,
}

impl Checkout {
    /// Checks out a revision of the repository that contains a build's sources, below the target
    /// directory `target`. Reuses an existing checkout.
    ///
    /// # Errors
    /// There is no git, repository or revision, or git fails.
    pub fn make(
        revision: &str,
        build: &BuildOptions,
        target: &Utf8Path,
        interrupted: &AtomicBool,
    ) -> Result<Checkout, Failure> {
        let manifest = manifest_of(build)?;
        let sources = manifest.parent().unwrap_or(Utf8Path::new("/"));
        let toplevel = Git::in_folder(sources).ask(&["rev-parse", "--show-toplevel"]);
        let repository = toplevel.map_err(CheckoutError::from)?.map_err(|why| {
            CheckoutError::refused(
                format!("`{sources}` is not in a usable git repository: {why}"),
                "`--against` needs a git repository; compare with a saved run with `--baseline NAME`",
            )
        })?;
        let repository = Utf8PathBuf::from(repository);
        let git = Git::in_folder(&repository);
        let commit = commit_of(&git, revision, &repository)?;
        let place = manifest.strip_prefix(&repository).unwrap_or(&manifest);

        let against = target.join("gpubench").join("against");
        fs_err::create_dir_all(&against).map_err(CheckoutError::folder(&against))?;
        let lock = wait_for(&against.join("lock"), "another run with `--against`", interrupted);
        let lock = lock.map_err(CheckoutError::of_lock(&against))?;
        let packages = local_packages(&BuildOptions {
            manifest: ManifestOptions {
                manifest_path: Some(manifest.clone()),
                ..build.manifest.clone()
            },
            ..build.clone()
        })?;
        let surroundings = Surroundings {
            folder: &against.join("sources"),
            repository: &repository,
            packages: &packages,
        };
        surroundings.arrange()?;
        let folder = surroundings.checkout();
        let worktree = Worktree {
            git: &git,
            folder: &folder,
            commit: &commit,
        };
        worktree.fill(interrupted)?;
        let checked_out = CheckedOut {
            repository: &repository,
            commit: &commit,
            folder: &folder,
        };
        let empty_submodules = checked_out.fill_submodules(interrupted)?;
        let shared = links_out_of(&git, &commit, &folder)?;
        let checkout = Checkout {
            name: short_revision(revision).to_owned(),
            commit,
            manifest: place.to_owned(),
            folder: folder.clone(),
            target: against.join("target"),
            shared,
            empty_submodules,
            _lock: lock,
        };
        checkout.adopt_lockfile(&repository, &folder, &manifest)?;
        Ok(checkout)
    }

    /// Returns the links of the revision that lead out of it. Both sides read their current
    /// targets, not those of the revision.
    pub fn shared(&self) -> &[Utf8PathBuf] {
        &self.shared
    }

    /// Returns the folders of submodules that are empty, because the candidate does not have them
    /// at the revision's commit.
    pub fn empty_submodules(&self) -> &[Utf8PathBuf] {
        &self.empty_submodules
    }

    /// Returns the requested revision. A full hash is shortened.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the resolved revision.
    pub fn revision(&self) -> Revision {
        Revision {
            commit: self.commit.clone(),
            branch: None,
            modified: false,
        }
    }

    /// Returns the candidate's build options for the checkout, with a separate target directory.
    pub fn build_options(&self, candidate: &BuildOptions) -> BuildOptions {
        let mut options = candidate.clone();
        options.manifest.manifest_path = Some(self.folder.join(&self.manifest));
        options.compilation.target_dir = Some(self.target.clone());
        options
    }

    /// Returns the target directory of the checkout's builds.
    pub fn target_directory(&self) -> &Utf8Path {
        &self.target
    }

    /// Refuses a revision without the candidate's manifest.
    ///
    /// # Errors
    /// The revision lacks it: the package is new, or was in another folder.
    pub fn refuse_without_manifest(&self) -> Result<(), CheckoutError> {
        if self.folder.join(&self.manifest).is_file() {
            return Ok(());
        }
        Err(CheckoutError::NoManifest {
            revision: self.name.clone(),
            manifest: self.manifest.clone(),
        })
    }

    /// Copies an uncommitted lockfile. Otherwise cargo would create one, with other versions than
    /// the candidate's.
    fn adopt_lockfile(
        &self,
        repository: &Utf8Path,
        folder: &Utf8Path,
        manifest: &Utf8Path,
    ) -> Result<(), CheckoutError> {
        let Some(root) = workspace_root(Some(manifest)) else {
            return Ok(());
        };
        let Ok(place) = root.strip_prefix(repository) else {
            return Ok(());
        };
        let (ours, theirs) = (root.join("Cargo.lock"), folder.join(place).join("Cargo.lock"));
        let has_folder = theirs.parent().is_some_and(Utf8Path::is_dir);
        if theirs.exists() || !ours.exists() || !has_folder {
            return Ok(());
        }
        let copied = fs_err::copy(&ours, &theirs);
        copied.map(drop).map_err(CheckoutError::folder(&theirs))
    }
}

/// Returns the manifest of a build without symbolic links in its path, as git knows it.
fn manifest_of(build: &BuildOptions) -> Result<Utf8PathBuf, CheckoutError> {
    if let Some(path) = &build.manifest.manifest_path {
        return path.canonicalize_utf8().map_err(CheckoutError::folder(path));
    }
    let here = Utf8Path::new(".");
    let folder = here.canonicalize_utf8().map_err(CheckoutError::folder(here))?;
    let mut manifests = folder.ancestors().map(|folder| folder.join("Cargo.toml"));
    let found = manifests.find(|manifest| manifest.exists());
    found.ok_or_else(|| {
        let what = format!("`{folder}` and its parents have no `Cargo.toml`");
        CheckoutError::refused(what, "name one with `--manifest-path`")
    })
}

/// Runs a git command that should not fail.
fn run_git(git: &Git, what: &'static str, arguments: &[&str]) -> Result<(), CheckoutError> {
    let done = git.ask(arguments)?;
    done.map(drop).map_err(|why| CheckoutError::Git { what, why })
}

/// The worktree to create or update.
pub(super) struct Worktree<'a> {
    pub(super) git: &'a Git,
    pub(super) folder: &'a Utf8Path,
    pub(super) commit: &'a str,
}

impl Worktree<'_> {
    /// Creates or updates the folder. Unchanged files keep their times, so that cargo does not
    /// build them again.
    pub(super) fn fill(&self, interrupted: &AtomicBool) -> Result<(), CheckoutError> {
        let filled = if self.is_ours()? {
            // If a killed git left files in the way, start over.
            self.switch().or_else(|_| self.remove().and_then(|()| self.add()))
        } else {
            self.remove().and_then(|()| self.add())
        };
        let filled = if interrupted.load(Ordering::Relaxed) {
            Err(CheckoutError::Interrupted)
        } else {
            filled
        };
        if filled.is_err() {
            self.remove()?;
        }
        filled
    }

    /// Returns whether the folder is a worktree of this repository that the tool added, and not a
    /// link to the user's own.
    fn is_ours(&self) -> Result<bool, CheckoutError> {
        let is_folder = fs_err::symlink_metadata(self.folder).is_ok_and(|found| found.is_dir());
        if !is_folder || !self.folder.join(".git").is_file() {
            return Ok(false);
        }
        let rev_parse = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let Ok(common) = self.git.ask(&rev_parse)? else {
            return Ok(false);
        };
        let question = [&rev_parse[..], &["--git-dir", "--show-toplevel"]].concat();
        let Ok(found) = Git::in_folder(self.folder).ask(&question)? else {
            return Ok(false);
        };
        let here = self.folder.canonicalize_utf8().ok();
        Ok(match found.lines().collect::<Vec<_>>()[..] {
            [theirs, own, top] => theirs == common.trim() && own != theirs && here.is_some_and(|here| here == top),
            _ => false,
        })
    }

    fn add(&self) -> Result<(), CheckoutError> {
        let folder = self.folder.as_str();
        let add = ["worktree", "add", "--quiet", "--force", "--detach", folder, self.commit];
        run_git(self.git, "check out the revision", &add)
    }

    fn switch(&self) -> Result<(), CheckoutError> {
        let git = Git::in_folder(self.folder);
        run_git(&git, "remove files that are not in the revision", &["clean", "-ffdxq"])?;
        let switch = ["checkout", "--quiet", "--force", "--detach", self.commit];
        run_git(&git, "check out the revision", &switch)
    }

    /// Removes the folder. Removes a link, but not its target. Adding the worktree again replaces
    /// git's record of it. Leaves other worktrees alone, such as one on a disk that is not mounted.
    fn remove(&self) -> Result<(), CheckoutError> {
        if self.is_ours()? {
            // Git may not know the worktree any more.
            let _ = self
                .git
                .ask(&["worktree", "remove", "--force", "--force", self.folder.as_str()])?;
        }
        remove(self.folder)
    }
}
