//! The file for node_exporter's textfile collector.

use std::io::Write;

use camino::Utf8PathBuf;
use gpubench_diagnostic::Place;

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
        let written = Place::of(&self.path).and_then(|place| {
            // node_exporter reads only names that end in `.prom`, so it never reads this file.
            let mut file = tempfile::Builder::new()
                .prefix(".gpubench-")
                .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
                .tempfile_in(place.folder())?;
            file.write_all(text.as_bytes())?;
            file.persist(place.path()).map_err(|error| error.error)
        });
        written.map(drop).map_err(|source| MetricsError::File {
            path: self.path.clone(),
            source,
        })
    }
}
