//! The folder for stored results.

use camino::{Utf8Path, Utf8PathBuf};

use super::name::EXTENSION;
use super::{BaselineName, RunName, StoreError, ensure_inside};

/// The folder for stored results, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(Option<Utf8PathBuf>);

impl Home {
    /// No folder, as outside a workspace. Only files can be named.
    pub const ABSENT: Home = Home(None);

    /// Returns the folder in cargo's target directory. It need not exist.
    pub fn in_target_directory(target_directory: &Utf8Path) -> Home {
        Home(Some(target_directory.join("gpubench")))
    }

    /// Returns the folder of baselines.
    pub fn baselines(&self) -> Option<Utf8PathBuf> {
        self.folder("baselines")
    }

    /// Returns the folder of histories.
    pub fn histories(&self) -> Option<Utf8PathBuf> {
        self.folder("history")
    }

    /// Returns the default path of the HTML report.
    ///
    /// # Errors
    /// There is no folder for stored results, or a link leads out of it.
    pub fn page(&self) -> Result<Utf8PathBuf, StoreError> {
        let no_folder = || StoreError::no_folder("the report", "choose a file with `--report html=FILE`".to_owned());
        self.folder("report.html")
            .ok_or_else(no_folder)
            .and_then(|page| self.ensure_inside(page))
    }

    /// Checks that no link in the target directory leads out of it: who has checked out a folder
    /// has not chosen where it leads. The target directory itself may be a link.
    fn ensure_inside(&self, path: Utf8PathBuf) -> Result<Utf8PathBuf, StoreError> {
        let target_directory = self.0.as_ref().and_then(|home| home.parent());
        ensure_inside(path, target_directory.unwrap_or(Utf8Path::new("/")))
    }

    /// Returns the path of the list of known cases.
    pub(super) fn listing(&self) -> Option<Utf8PathBuf> {
        self.folder("cases.txt")
    }

    fn folder(&self, name: &str) -> Option<Utf8PathBuf> {
        Some(self.0.as_ref()?.join(name))
    }

    /// Returns the names of all baselines, sorted.
    pub fn known(&self) -> Vec<String> {
        let entries = self.baselines().and_then(|folder| folder.read_dir_utf8().ok());
        let baseline = |path: &Utf8Path| -> Option<String> {
            let name: BaselineName = path.file_stem()?.parse().ok()?;
            (path.extension() == Some(EXTENSION)).then(|| name.to_string())
        };
        let mut known: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| baseline(entry.path()))
            .collect();
        known.sort();
        known
    }

    /// Returns the path of a baseline, which need not exist.
    fn file_of(&self, name: &BaselineName) -> Result<Utf8PathBuf, StoreError> {
        let instead = format!("use a file instead, as in `./{name}.json`");
        let no_folder = || StoreError::no_folder(&format!("the baseline `{name}`"), instead);
        let folder = self.baselines().ok_or_else(no_folder)?;
        self.ensure_inside(folder.join(format!("{name}.{EXTENSION}")))
    }

    /// Returns the path of a run to read: a baseline or, if there is none, a file of that name.
    ///
    /// # Errors
    /// Neither exists, or there is no folder for baselines.
    pub fn find(&self, name: &RunName) -> Result<Utf8PathBuf, StoreError> {
        let baseline = match name {
            RunName::File(path) if path.exists() => return Ok(path.clone()),
            RunName::File(path) => {
                return Err(StoreError::Missing {
                    what: format!("file `{path}`"),
                    hint: "a name with a path separator or the extension `.json` is a file; other names are baselines"
                        .to_owned(),
                });
            }
            RunName::Baseline(baseline) => baseline,
        };
        let file = self.file_of(baseline);
        let here = Utf8Path::new(baseline.as_str());
        match file {
            Ok(file) if file.exists() => Ok(file),
            _ if here.is_file() => Ok(here.to_owned()),
            Ok(_) => Err(StoreError::no_baseline(baseline.as_str(), &self.known())),
            Err(no_folder) => Err(no_folder),
        }
    }

    /// Returns the path of a run to write.
    ///
    /// # Errors
    /// The name is a baseline's, and there is no folder for baselines.
    pub fn place(&self, name: &RunName) -> Result<Utf8PathBuf, StoreError> {
        match name {
            RunName::File(path) => Ok(path.clone()),
            RunName::Baseline(baseline) => self.file_of(baseline),
        }
    }
}
