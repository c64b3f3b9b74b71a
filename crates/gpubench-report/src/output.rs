//! The destination of a report.

use std::fmt::Display;
use std::io::{self, Write};

use camino::Utf8Path;

use gpubench_diagnostic::{CommandMarks, ExitCode, Expected, Place};

/// The reason why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The reader closed the pipe, as in `cargo gpubench | head`. There is nobody to report it to,
    /// and the run is fine.
    #[error("`{name}` was closed before all output was written")]
    Closed {
        /// Name of the destination.
        name: String,
    },
    /// The write failed, for example on a full disk.
    #[error("could not write {what}")]
    Unwritten {
        /// Destination or contents, for the message: `` `report.html` ``, `the list of cases`.
        what: String,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl Expected for OutputError {
    fn exit_code(&self) -> ExitCode {
        if self.is_broken_pipe() {
            ExitCode::Success
        } else {
            ExitCode::OutputFailed
        }
    }

    fn is_broken_pipe(&self) -> bool {
        match self {
            OutputError::Closed { .. } => true,
            OutputError::Unwritten { source, .. } => source.kind() == io::ErrorKind::BrokenPipe,
        }
    }
}

/// Names of streams in messages. They cannot be file names.
const STDOUT: &str = "standard output";
const STDERR: &str = "standard error";

/// Returns a write error for a destination of this name.
pub(super) fn not_written(name: impl Display) -> impl Fn(io::Error) -> OutputError {
    move |source| OutputError::Unwritten {
        what: match &*name.to_string() {
            stream @ (STDOUT | STDERR) => format!("to {stream}"),
            file => format!("`{file}`"),
        },
        source,
    }
}

/// Returns the URL of a file, which terminals show as a link: `file:///home/me/report.html`. Other
/// characters are percent-encoded (RFC 3986).
pub fn address(path: &Utf8Path) -> String {
    let absolute = camino::absolute_utf8(path).unwrap_or_else(|_| path.to_owned());
    let encoded = absolute.as_str().bytes().map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!("file://{}", encoded.collect::<String>())
}

/// A destination with a name for errors. Every write is flushed, so that results survive a crash.
/// Commands of CI systems are marked ([`CommandMarks`]), because logs may show the text.
pub struct Output {
    name: String,
    writer: Box<dyn Write>,
    marks: CommandMarks,
}

impl Output {
    /// Returns standard output.
    pub fn stdout() -> Output {
        Output::new(STDOUT, Box::new(io::stdout()))
    }

    /// Returns standard output for styled text. ANSI styles are removed if the destination does not
    /// show them.
    pub fn stdout_as_styled() -> Output {
        Output::new(STDOUT, Box::new(anstream::stdout()))
    }

    /// Returns standard error.
    pub fn stderr() -> Output {
        Output::new(STDERR, Box::new(io::stderr()))
    }

    /// Creates a file and its folders. Replaces an existing file.
    pub fn file(path: &Utf8Path) -> Result<Output, OutputError> {
        let file = Place::with_folders(path).and_then(|place| place.create());
        let file = file.map_err(not_written(path))?;
        Ok(Output::new(path.as_str(), Box::new(file)))
    }

    /// Wraps any writer under a name.
    pub fn new(name: impl Into<String>, writer: Box<dyn Write>) -> Output {
        Output {
            name: name.into(),
            writer,
            marks: CommandMarks::default(),
        }
    }

    /// Writes a text and flushes it.
    ///
    /// # Errors
    /// Returns an error if the reader closed the pipe or the write failed.
    pub fn print(&mut self, text: &str) -> Result<(), OutputError> {
        let text = self.marks.mark(text);
        self.writer
            .write_all(text.as_bytes())
            .and_then(|()| self.writer.flush())
            .map_err(|source| match source.kind() {
                io::ErrorKind::BrokenPipe => OutputError::Closed {
                    name: self.name.clone(),
                },
                _ => not_written(&self.name)(source),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutputTarget;

    #[test]
    fn a_closed_pipe_is_distinguished_from_a_failed_write() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let closed = Output::new("pipe", Box::new(writer)).print("x").unwrap_err();
        assert_eq!(closed.to_string(), "`pipe` was closed before all output was written");
        assert!(matches!(closed, OutputError::Closed { .. }));
    }

    #[test]
    fn the_folders_of_a_file_are_created() {
        let folder = tempfile::tempdir().unwrap();
        let path = camino::Utf8PathBuf::from_path_buf(folder.path().join("a/b/report.xml")).unwrap();
        Output::file(&path).unwrap().print("x").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x");
    }

    #[test]
    fn a_full_disk_is_reported_with_the_name_of_the_file() {
        let full = Output::file(Utf8Path::new("/dev/full"))
            .unwrap()
            .print("x")
            .unwrap_err();
        assert_eq!(full.to_string(), "could not write `/dev/full`");
        assert!(matches!(full, OutputError::Unwritten { .. }));
    }

    #[test]
    fn a_file_is_replaced_atomically_without_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("new/report.html");
        let report = OutputTarget::File(path.clone());
        report.write("old").unwrap();
        report.write("new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(path.parent().unwrap().read_dir_utf8().unwrap().count(), 1);
        assert!(report.ensure_writable().is_ok());
        let folder = path.parent().unwrap();
        let report = OutputTarget::File(folder.to_owned());
        assert!(report.write("x").is_err() && report.ensure_writable().is_err());
        assert_eq!(folder.read_dir_utf8().unwrap().count(), 1);
    }

    #[test]
    fn nothing_replaces_a_device_file() {
        let control = OutputTarget::from("/dev/null");
        assert!(control.ensure_writable().is_err() && control.write("x").is_err());
        let names = Utf8Path::new("/dev").read_dir_utf8().unwrap().flatten();
        assert!(
            !names
                .map(|entry| entry.file_name().to_owned())
                .any(|name| name == ".control.tmp")
        );
    }

    #[test]
    fn a_url_contains_nothing_that_ends_a_link() {
        assert_eq!(
            address(Utf8Path::new("/a b/µ/r?.html")),
            "file:///a%20b/%C2%B5/r%3F.html"
        );
    }

    #[test]
    fn a_file_that_cannot_be_created_is_reported_at_once() {
        let missing = Output::file(Utf8Path::new("/dev/null/results.csv")).err().unwrap();
        assert_eq!(missing.to_string(), "could not write `/dev/null/results.csv`");
    }
}
