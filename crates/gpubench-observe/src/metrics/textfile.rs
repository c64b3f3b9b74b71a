//! The file for node_exporter's textfile collector.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use camino::Utf8PathBuf;
use gpubench_diagnostic::{Place, TemporaryFolder};

use super::{Format, MetricsError, Page};

/// A file that always has a whole page: readers see the old one or the new one.
#[derive(Clone, Debug)]
pub struct Textfile {
    path: Utf8PathBuf,
}

impl Textfile {
    /// Returns the file, after a check that it can be written.
    ///
    /// # Errors
    /// It cannot.
    pub fn at(path: Utf8PathBuf) -> Result<Self, MetricsError> {
        let file = Self { path };
        file.write(&Page::default())?;
        Ok(file)
    }

    /// Replaces the page.
    ///
    /// # Errors
    /// The file cannot be written. It still has the page before.
    pub fn write(&self, page: &Page) -> Result<(), MetricsError> {
        let text = page.format(Format::Text);
        let written = Place::from_path(&self.path).and_then(|place| {
            // node_exporter reads only files whose names end in `.prom`.
            let folder = TemporaryFolder::new_in(&place.folder(), ".gpubench-")?;
            let file = folder.path().join("page");
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
            fs::rename(&file, place.path())
        });
        written.map_err(|source| MetricsError::File {
            path: self.path.clone(),
            source,
        })
    }
}
