//! Where results are kept by name.

use camino::{Utf8Path, Utf8PathBuf};

use super::name::EXTENSION;
use super::{BaselineName, RunName, StoreError};

/// The folder in which the tool keeps results, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(Option<Utf8PathBuf>);

impl Home {
    /// Without a workspace there is none: only files can be named.
    pub const ABSENT: Home = Home(None);

    /// The folder below cargo's target directory. It need not exist yet.
    pub fn in_target_directory(target_directory: &Utf8Path) -> Home {
        Home(Some(target_directory.join("gpubench")))
    }

    /// Where baselines lie.
    pub fn baselines(&self) -> Option<Utf8PathBuf> {
        self.folder("baselines")
    }

    /// Where histories lie.
    pub fn histories(&self) -> Option<Utf8PathBuf> {
        self.folder("history")
    }

    /// Where the page about a run is, unless another place is named.
    ///
    /// # Errors
    /// There is nowhere to keep it.
    pub fn page(&self) -> Result<Utf8PathBuf, StoreError> {
        let homeless = || StoreError::homeless("the report", "`--report html=FILE` names a file".to_owned());
        self.folder("report.html").ok_or_else(homeless)
    }

    /// Where the names of cases are that were listed last.
    pub(super) fn listing(&self) -> Option<Utf8PathBuf> {
        self.folder("cases.txt")
    }

    fn folder(&self, name: &str) -> Option<Utf8PathBuf> {
        Some(self.0.as_ref()?.join(name))
    }

    /// The names of the baselines there are, in order.
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

    /// The file of a baseline, whether it exists or not.
    fn file_of(&self, name: &BaselineName) -> Result<Utf8PathBuf, StoreError> {
        let instead = format!("name a file, as in `./{name}.json`");
        let homeless = || StoreError::homeless(&format!("the baseline `{name}`"), instead);
        Ok(self
            .baselines()
            .ok_or_else(homeless)?
            .join(format!("{name}.{EXTENSION}")))
    }

    /// The file that a person means who wants to read it: a baseline's, else any file of that name.
    ///
    /// # Errors
    /// There is none; there is nowhere to look for baselines.
    pub fn find(&self, name: &RunName) -> Result<Utf8PathBuf, StoreError> {
        let baseline = match name {
            RunName::File(path) if path.exists() => return Ok(path.clone()),
            RunName::File(path) => {
                return Err(StoreError::Missing {
                    what: format!("file `{path}`"),
                    hint: "a name with a path separator, or one that ends in `.json`, is a file's".to_owned(),
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
            Err(homeless) => Err(homeless),
        }
    }

    /// The file that a person means who wants to write it.
    ///
    /// # Errors
    /// It is a baseline's, and there is nowhere to keep it.
    pub fn place(&self, name: &RunName) -> Result<Utf8PathBuf, StoreError> {
        match name {
            RunName::File(path) => Ok(path.clone()),
            RunName::Baseline(baseline) => self.file_of(baseline),
        }
    }
}
