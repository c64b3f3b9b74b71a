//! Where reports go.

use std::fmt::Display;
use std::io::{self, Write};

use camino::Utf8Path;

use gpubench_diagnostic::{ExitCode, Expected};

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The reader has gone, as in `cargo gpubench | head`; nothing more can be said there, and
    /// nothing is wrong with the run.
    #[error("`{name}` was closed by its reader")]
    Closed {
        /// Name of the destination.
        name: String,
    },
    /// The write failed, on a full disk for example.
    #[error("could not write {what}")]
    Unwritten {
        /// What was being written, or to what: `` `report.html` ``, `the list of benchmarks`.
        what: String,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
}

impl Expected for OutputError {
    fn exit_code(&self) -> ExitCode {
        match self.is_of_a_reader_who_left() {
            true => ExitCode::Success,
            false => ExitCode::OutputFailed,
        }
    }

    fn is_of_a_reader_who_left(&self) -> bool {
        match self {
            OutputError::Closed { .. } => true,
            OutputError::Unwritten { source, .. } => source.kind() == io::ErrorKind::BrokenPipe,
        }
    }
}

/// What messages call a stream, which is no file's name.
const STDOUT: &str = "standard output";
const STDERR: &str = "standard error";

/// The failure to write to a destination of this name.
pub(super) fn not_written(name: impl Display) -> impl Fn(io::Error) -> OutputError {
    move |source| OutputError::Unwritten {
        what: match &*name.to_string() {
            stream @ (STDOUT | STDERR) => format!("to {stream}"),
            file => format!("`{file}`"),
        },
        source,
    }
}

/// The address of a file, which a terminal makes a link of: `file:///home/me/report.html`, with
/// what an address must not contain encoded (RFC 3986).
pub fn address(path: &Utf8Path) -> String {
    let absolute = camino::absolute_utf8(path).unwrap_or_else(|_| path.to_owned());
    let encoded = absolute.as_str().bytes().map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!("file://{}", encoded.collect::<String>())
}

/// A destination with a name for errors. What is printed is flushed, so that results so far survive
/// whatever ends the run.
pub struct Output {
    name: String,
    writer: Box<dyn Write>,
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Output {
        Output::new(STDOUT, Box::new(io::stdout()))
    }

    /// Standard output for texts that hold ANSI styles, which are kept where it shows them.
    pub fn stdout_as_styled() -> Output {
        Output::new(STDOUT, Box::new(anstream::stdout()))
    }

    /// Standard error.
    pub fn stderr() -> Output {
        Output::new(STDERR, Box::new(io::stderr()))
    }

    /// A new file, with the folders that it is to be in; one that exists is replaced.
    pub fn file(path: &Utf8Path) -> Result<Output, OutputError> {
        let create = || std::fs::File::create(path);
        let file = create().or_else(|error| match (error.kind(), path.parent()) {
            (io::ErrorKind::NotFound, Some(folder)) => std::fs::create_dir_all(folder).and_then(|()| create()),
            _ => Err(error),
        });
        let file = file.map_err(not_written(path))?;
        Ok(Output::new(path.as_str(), Box::new(file)))
    }

    /// Any writer under a name.
    pub fn new(name: impl Into<String>, writer: Box<dyn Write>) -> Output {
        Output {
            name: name.into(),
            writer,
        }
    }

    /// Writes a text and flushes it.
    ///
    /// # Errors
    /// The reader has gone, or the write failed.
    pub fn print(&mut self, text: &str) -> Result<(), OutputError> {
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
    fn a_reader_that_has_gone_is_told_from_a_failed_write() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let closed = Output::new("pipe", Box::new(writer)).print("x").unwrap_err();
        assert_eq!(closed.to_string(), "`pipe` was closed by its reader");
        assert!(matches!(closed, OutputError::Closed { .. }));
    }

    #[test]
    fn the_folders_of_a_file_are_made() {
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
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
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
    fn nothing_takes_the_place_of_a_device() {
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
    fn an_address_has_nothing_in_it_that_ends_a_link() {
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
