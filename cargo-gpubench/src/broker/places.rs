//! Where results and sources are.

use camino::{Utf8Path, Utf8PathBuf};

use super::options::{LibrarySource, ResultOptions};
use crate::build::{BuildOptions, ManifestOptions, WorkspaceFolders, workspace_root};
use crate::git::Git;
use gpubench_contract::{DeviceIdentity, Revision, RunStarted};
use gpubench_diagnostic::Failure;
use gpubench_store::history::{self, History};
use gpubench_store::{Home, RunName, StoreError};

/// Where stored runs and histories are, for commands that measure nothing.
#[derive(Clone, Debug, Default)]
pub struct PlaceOptions {
    /// The folder of histories; in the target directory where it is not said.
    pub histories: Option<Utf8PathBuf>,
    /// Where the workspace is.
    pub manifest: ManifestOptions,
    /// Its target directory, where it is not cargo's own.
    pub target_dir: Option<Utf8PathBuf>,
}

impl PlaceOptions {
    /// Where these runs and the histories are. Cargo is asked where a baseline is named; files are
    /// files without a workspace as well, and in one its history counts.
    ///
    /// # Errors
    /// When cargo cannot say.
    pub(super) fn home_of<'a>(&self, names: impl IntoIterator<Item = &'a RunName>) -> Result<Home, Failure> {
        let mut names = names.into_iter();
        let is_needed = names.any(|name| matches!(name, RunName::Baseline(_)));
        if is_needed || workspace_root(self.manifest.manifest_path.as_deref()).is_some() {
            self.home()
        } else {
            Ok(Home::ABSENT)
        }
    }

    /// What is below the target directory.
    ///
    /// # Errors
    /// When cargo cannot say where that is.
    pub fn home(&self) -> Result<Home, Failure> {
        let folders = WorkspaceFolders::find(&self.manifest, self.target_dir.as_deref())?;
        Ok(Home::in_target_directory(&folders.target))
    }

    /// The history of a run's device, where there is one.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn past(&self, run: &RunStarted, home: &Home) -> Result<Option<History>, StoreError> {
        match self.histories.clone().or_else(|| home.histories()) {
            Some(folder) => history::of_device(&folder, &DeviceIdentity::of(run)),
            None => Ok(None),
        }
    }
}

/// Where a run's results and sources are.
#[derive(Clone, Debug)]
pub(super) struct Places {
    home: Home,
    sources: Option<Utf8PathBuf>,
}

impl Places {
    /// Asks cargo, where there is a workspace and anything is asked for that needs it.
    ///
    /// # Errors
    /// When cargo cannot say.
    pub(super) fn of(libraries: &LibrarySource, results: &ResultOptions) -> Result<Places, Failure> {
        match libraries {
            LibrarySource::Build(build) if results.needs_a_workspace() || is_in_workspace(build, results) => {
                let target_dir = build.compilation.target_dir.as_deref();
                let WorkspaceFolders { root, target } = WorkspaceFolders::find(&build.manifest, target_dir)?;
                Ok(Places {
                    home: Home::in_target_directory(&target),
                    sources: Some(root),
                })
            }
            LibrarySource::Build(_) | LibrarySource::Archive { .. } => Ok(Places {
                home: Home::ABSENT,
                sources: None,
            }),
        }
    }

    /// Where results are kept by name.
    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// The revision of the sources, where anything is asked for that names it.
    pub(super) fn revision(&self, results: &ResultOptions) -> Option<Revision> {
        let sources: &Utf8Path = self.sources.as_deref()?;
        results.is_about_files().then(|| Git::in_folder(sources).revision())?
    }
}

/// Files can be loaded and compared without a workspace; in one, its history counts.
fn is_in_workspace(build: &BuildOptions, results: &ResultOptions) -> bool {
    results.is_about_files() && workspace_root(build.manifest.manifest_path.as_deref()).is_some()
}
