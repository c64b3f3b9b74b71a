//! The output of a role's process. The last part is kept, and all of it is shown on request.

use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread};

use super::role::{Output, RoleName};
use gpubench_diagnostic::{print_to_stderr, printable_line};

/// Size of the kept part, and of the longest line that is shown whole, in bytes.
const KEPT: usize = 4096;

/// Reads a pipe to its end and keeps the last part.
///
/// A role's process never has the broker's own standard error. It could read what the user types,
/// type itself, or make writes fail.
#[derive(Debug)]
pub(super) struct Log(Arc<Mutex<Taken>>);

impl Log {
    /// Returns a log, and the writing end of its pipe for the process.
    pub(super) fn open(role: RoleName, output: Output) -> std::io::Result<(Log, PipeWriter)> {
        let (source, sink) = std::io::pipe()?;
        ioctl_fionbio(&source, true)?;
        let arrivals = source.try_clone()?;
        let taken = Arc::new(Mutex::new(Taken {
            source,
            kept: VecDeque::with_capacity(KEPT),
            lines: (output == Output::Shown).then(|| Lines::new(role)),
        }));
        let log = Log(Arc::clone(&taken));
        let name = "gpubench-log".to_owned();
        std::thread::Builder::new()
            .name(name)
            .spawn(move || while has_output(&arrivals) && locked(&taken).take_piece().is_some() {})?;
        Ok((log, sink))
    }

    /// Returns the kept part without control characters. It has all that the process has written.
    pub(super) fn tail(&self) -> String {
        let mut taken = locked(&self.0);
        taken.take_rest();
        let kept: Vec<u8> = taken.kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        text.trim().replace(|c: char| c.is_control() && c != '\n', " ")
    }
}

/// The last output of a process is shown before this program ends.
impl Drop for Log {
    fn drop(&mut self) {
        let mut taken = locked(&self.0);
        taken.take_rest();
        if let Some(lines) = &mut taken.lines {
            lines.end();
        }
    }
}

/// Waits until the pipe has output or ends. Returns whether it can be read.
fn has_output(source: &PipeReader) -> bool {
    loop {
        match poll(&mut [PollFd::new(source, PollFlags::IN)], None) {
            Err(Errno::INTR) => {}
            ended => return ended.is_ok(),
        }
    }
}

fn locked(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was taken from a pipe.
#[derive(Debug)]
struct Taken {
    /// It does not block.
    source: PipeReader,
    kept: VecDeque<u8>,
    lines: Option<Lines>,
}

impl Taken {
    /// Takes what the pipe holds now. A dead process has written all of it, but others may hold the
    /// pipe open, and write without end.
    fn take_rest(&mut self) {
        let mut rest = ioctl_fionread(&self.source).unwrap_or(0);
        while rest > 0
            && let Some(length @ 1..) = self.take_piece()
        {
            rest = rest.saturating_sub(length as u64);
        }
    }

    /// Takes a piece of the output, or nothing if there is none now. Returns its length. An error
    /// of the pipe ends the log like its end.
    fn take_piece(&mut self) -> Option<usize> {
        let mut piece = [0; KEPT];
        match self.source.read(&mut piece) {
            Ok(length @ 1..) => {
                self.take(&piece[..length]);
                Some(length)
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Some(0),
            Ok(_) | Err(_) => None,
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.kept.extend(piece);
        let excess = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..excess);
        if let Some(lines) = &mut self.lines {
            lines.take(piece);
        }
    }
}

/// Shows the output line by line after the role's name, so that no line looks like the tool's.
#[derive(Debug)]
struct Lines {
    role: RoleName,
    begun: Vec<u8>,
}

impl Lines {
    fn new(role: RoleName) -> Lines {
        Lines {
            role,
            begun: Vec::new(),
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.begun.extend(piece);
        while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.begun.drain(..=end).collect();
            self.show(&line[..end]);
        }
        if self.begun.len() >= KEPT {
            self.end();
        }
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.begun);
        if !line.is_empty() {
            self.show(&line);
        }
    }

    fn show(&self, line: &[u8]) {
        let line = printable_line(&String::from_utf8_lossy(line));
        print_to_stderr(&format_args!("{} | {line}\n", self.role));
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn captured() -> (Log, PipeWriter) {
        Log::open(RoleName::Worker, Output::Captured).unwrap()
    }

    #[test]
    fn the_last_of_a_long_output_is_kept_and_no_more() {
        let (log, mut sink) = captured();
        for line in 0..100_000 {
            writeln!(sink, "line {line}\u{1b}[2J").unwrap();
        }
        drop(sink);
        let tail = log.tail();
        assert!(tail.ends_with("line 99999 [2J"), "{tail}");
        assert!(tail.len() <= KEPT);
    }

    #[test]
    fn a_pipe_that_is_held_open_does_not_block() {
        let (log, mut sink) = captured();
        sink.write_all(b"so far").unwrap();
        assert_eq!(log.tail(), "so far");
        sink.write_all(b", and further").unwrap();
        assert_eq!(log.tail(), "so far, and further");
    }

    /// Another process may hold the pipe.
    #[test]
    fn all_output_has_been_shown_when_a_log_is_dropped() {
        for _ in 0..100 {
            let (log, mut sink) = Log::open(RoleName::Worker, Output::Shown).unwrap();
            let taken = Arc::clone(&log.0);
            write!(sink, "the last line\nand its rest").unwrap();
            drop(log);
            let taken = locked(&taken);
            assert_eq!(taken.kept, b"the last line\nand its rest");
            assert!(taken.lines.as_ref().unwrap().begun.is_empty());
        }
    }

    #[test]
    fn the_reader_ends_with_the_pipe() {
        let (log, sink) = captured();
        let taken = Arc::downgrade(&log.0);
        drop((log, sink));
        while taken.upgrade().is_some() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_memory() {
        let mut lines = Lines::new(RoleName::Worker);
        for _ in 0..100 {
            lines.take(&[b'x'; 1000]);
            assert!(lines.begun.len() < KEPT);
        }
        lines.take(b"\n\n");
        assert!(lines.begun.is_empty());
    }
}
