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

    /// Returns the path of a file with last results of a device. `None` without a folder.
    ///
    /// # Errors
    /// A link leads out of the folder.
    pub(super) fn last_run_of(&self, device: &str, file: &str) -> Result<Option<Utf8PathBuf>, StoreError> {
        let folder = self.folder("last");
        let path = folder.map(|folder| self.ensure_inside(folder.join(device).join(file)));
        path.transpose()
    }

    /// Returns the path of the records of a run that came too late to count. `None` without a
    /// folder.
    ///
    /// # Errors
    /// A link leads out of the folder.
    pub fn late_records(&self, run_id: &str) -> Result<Option<Utf8PathBuf>, StoreError> {
        let folder = self.folder("late");
        let path = folder.map(|folder| self.ensure_inside(folder.join(format!("{run_id}.jsonl"))));
        path.transpose()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_the_name_and_the_extension_of_a_baseline_are_known() {
        let kept = tempfile::tempdir().expect("a folder");
        let target = Utf8Path::from_path(kept.path()).expect("UTF-8");
        let home = Home::in_target_directory(target);
        assert!(home.known().is_empty(), "there is no folder");
        let folder = home.baselines().expect("a folder");
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in [
            "main.json",
            "b.json",
            "main.icounts.csv",
            "other.txt",
            ".b.json.tmp",
            "a b.json",
        ] {
            std::fs::write(folder.join(name), "").expect("written");
        }
        assert_eq!(home.known(), ["b", "main"]);
        assert!(Home::ABSENT.known().is_empty());
    }

    #[test]
    fn a_name_is_a_baseline_first_and_then_a_file_of_this_folder() {
        let kept = tempfile::tempdir().expect("a folder");
        let target = Utf8Path::from_path(kept.path()).expect("UTF-8");
        let home = Home::in_target_directory(target);
        let [here, folder, nowhere] =
            ["Cargo.toml", "src", "nowhere"].map(|name| name.parse::<RunName>().expect("a name"));
        assert_eq!(home.find(&here).expect("a file"), "Cargo.toml");
        assert_eq!(Home::ABSENT.find(&here).expect("a file"), "Cargo.toml");
        assert!(home.find(&folder).is_err(), "a folder is no run");
        let missing = home.find(&nowhere).expect_err("it is missing").to_string();
        assert_eq!(missing, "there is no baseline `nowhere`");
        let unplaced = Home::ABSENT.find(&nowhere).expect_err("it is missing").to_string();
        assert!(unplaced.starts_with("there is no target directory"), "{unplaced}");
        let baseline = home.place(&here).expect("a place");
        assert_eq!(baseline, home.baselines().expect("a folder").join("Cargo.toml.json"));
        std::fs::create_dir_all(baseline.parent().expect("a folder")).expect("a folder");
        std::fs::write(&baseline, "").expect("written");
        assert_eq!(home.find(&here).expect("a baseline"), baseline);
    }
}
