//! The page of a run, written at its end.

use camino::{Utf8Path, Utf8PathBuf};

use super::HtmlReport;
use crate::report::{
    BenchmarkComplete, BenchmarkStarted, ComparisonComplete, Output, OutputError, Reporter, RunFinished, RunStarted,
    replace_file,
};
use crate::store::history::HistoryEntry;
use crate::store::{FORMAT, FORMAT_VERSION, Revision, StoredRun};

/// Gathers the records of a run and writes the page when the run has ended, however it ended.
pub struct HtmlReporter {
    path: Utf8PathBuf,
    announcement: Output,
    revision: Option<Revision>,
    history: Vec<HistoryEntry>,
    started: Option<RunStarted>,
    results: Vec<BenchmarkComplete>,
    comparisons: Vec<ComparisonComplete>,
}

impl HtmlReporter {
    /// A page at `path`; where it is, is said to `announcement`.
    pub fn new(path: Utf8PathBuf, announcement: Output) -> HtmlReporter {
        HtmlReporter {
            path,
            announcement,
            revision: None,
            history: Vec::new(),
            started: None,
            results: Vec::new(),
            comparisons: Vec::new(),
        }
    }

    /// Says where the sources stand.
    pub fn with_revision(self, revision: Option<Revision>) -> HtmlReporter {
        HtmlReporter { revision, ..self }
    }

    /// Adds what earlier runs on the same device measured.
    pub fn with_history(self, history: Vec<HistoryEntry>) -> HtmlReporter {
        HtmlReporter { history, ..self }
    }

    fn write(&mut self, run: &StoredRun) -> Result<(), OutputError> {
        let report = HtmlReport {
            run,
            comparisons: &self.comparisons,
            history: &self.history,
        };
        write_page(&self.path, &report)?;
        self.announcement.print(&announcement(&self.path))
    }
}

impl Reporter for HtmlReporter {
    fn run_started(&mut self, run: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.started = Some(run.clone());
        Ok(())
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        self.results.push(result.clone());
        Ok(())
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        let Some(run) = self.started.take() else { return Ok(()) };
        let stored = StoredRun {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            saved_at: jiff::Timestamp::now().to_string(),
            revision: self.revision.take(),
            run,
            results: std::mem::take(&mut self.results),
            finished: Some(finished.clone()),
        };
        self.write(&stored)
    }
}

/// Writes a page whole: whoever reads the file meanwhile sees the old page or the new one.
///
/// # Errors
/// When the file cannot be written.
pub fn write_page(path: &Utf8Path, report: &HtmlReport<'_>) -> Result<(), OutputError> {
    replace_file(path, &report.page())
}

/// The line that says where a page is, as an address that a terminal makes a link of.
pub fn announcement(path: &Utf8Path) -> String {
    let absolute = std::path::absolute(path)
        .ok()
        .and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
    format!("      Report {}\n", address(absolute.as_deref().unwrap_or(path)))
}

/// `file:///home/me/report.html`, with what an address must not contain encoded (RFC 3986).
fn address(path: &Utf8Path) -> String {
    let encoded = path.as_str().bytes().map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!("file://{}", encoded.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_nothing_in_it_that_ends_a_link() {
        assert_eq!(
            address(Utf8Path::new("/a b/µ/r?.html")),
            "file:///a%20b/%C2%B5/r%3F.html"
        );
    }
}
