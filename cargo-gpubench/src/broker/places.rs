//! The folders of results and sources.

use camino::Utf8PathBuf;

use super::options::{LastRun, LibrarySource, ResultOptions, RunOptions};
use crate::cdylibs::{BuildOptions, ManifestOptions, WorkspaceFolders, workspace_root};
use crate::git::Git;
use gpubench_contract::{DeviceIdentity, Revision, RunStarted};
use gpubench_diagnostic::Failure;
use gpubench_store::history::{self, History};
use gpubench_store::{Home, RunName, StoreError};

/// The folders of stored runs and histories, for commands that measure nothing.
#[derive(Clone, Debug, Default)]
pub struct PlaceOptions {
    /// The folder of histories; by default, in the target directory.
    pub histories: Option<Utf8PathBuf>,
    /// The workspace.
    pub manifest: ManifestOptions,
    /// Its target directory, if it is not cargo's default.
    pub target_dir: Option<Utf8PathBuf>,
}

impl PlaceOptions {
    /// Returns the folder of the named runs and of the histories. Asks cargo if a baseline is
    /// named, or if there is a workspace: its history counts. Files need no workspace.
    ///
    /// # Errors
    /// Cargo cannot locate the target directory.
    pub(super) fn home_of<'a>(&self, names: impl IntoIterator<Item = &'a RunName>) -> Result<Home, Failure> {
        let mut names = names.into_iter();
        let is_needed = names.any(|name| matches!(name, RunName::Baseline(_)));
        if is_needed || workspace_root(self.manifest.manifest_path.as_deref()).is_some() {
            self.home()
        } else {
            Ok(Home::ABSENT)
        }
    }

    /// Returns the folder of results in the target directory.
    ///
    /// # Errors
    /// Cargo cannot locate the target directory.
    pub fn home(&self) -> Result<Home, Failure> {
        let folders = WorkspaceFolders::find(&self.manifest, self.target_dir.as_deref())?;
        Ok(Home::in_target_directory(&folders.target))
    }

    /// Returns the history of a run's device, if there is one.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn past(&self, run: &RunStarted, home: &Home) -> Result<Option<History>, StoreError> {
        match self.histories.clone().or_else(|| home.histories()) {
            Some(folder) => history::of_device(&folder, &DeviceIdentity::from_run(run)),
            None => Ok(None),
        }
    }
}

/// The folders of a run's results and sources.
#[derive(Clone, Debug)]
pub(super) struct Places {
    home: Home,
    sources: Option<Utf8PathBuf>,
}

impl Places {
    /// Asks cargo, if there is a workspace and an option needs it.
    ///
    /// # Errors
    /// Cargo cannot locate the workspace.
    pub(super) fn new(options: &RunOptions, results: &ResultOptions) -> Result<Places, Failure> {
        let is_useful = results.is_about_files()
            || results.last_run != LastRun::Ignored
            || options.output.has_records()
            || options.fleet.is_some();
        match &options.libraries {
            LibrarySource::Build(build) if results.needs_a_workspace() || is_useful && is_in_workspace(build) => {
                let target_dir = build.compilation.target_dir.as_deref();
                let WorkspaceFolders { root, target } = WorkspaceFolders::find(&build.manifest, target_dir)?;
                Ok(Places {
                    home: Home::in_target_directory(&target),
                    sources: Some(root),
                })
            }
            LibrarySource::Build(_) | LibrarySource::Archive { .. } | LibrarySource::Dataset(_) => Ok(Places {
                home: Home::ABSENT,
                sources: None,
            }),
        }
    }

    /// Returns the folder of named results.
    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// Returns the file of the records of a run that came too late: among other results, else in
    /// the current folder.
    ///
    /// # Errors
    /// A link leads out of the folder.
    pub(super) fn late_records(&self, run_id: &str) -> Result<Utf8PathBuf, StoreError> {
        let among_results = self.home.late_records(run_id)?;
        Ok(among_results.unwrap_or_else(|| format!("late-records-{run_id}.jsonl").into()))
    }

    /// Returns the revision of the sources, if an option needs it.
    pub(super) fn revision(&self) -> Option<Revision> {
        Git::in_folder(self.sources.as_deref()?).revision()
    }
}

/// Returns whether there is a workspace: then its history and its revision count. Files can be
/// loaded and compared without one.
fn is_in_workspace(build: &BuildOptions) -> bool {
    workspace_root(build.manifest.manifest_path.as_deref()).is_some()
}
