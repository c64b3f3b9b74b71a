//! The output of a role's process. The last part is kept, and all of it is shown on request.

use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::role::{Output, RoleName};
use gpubench_diagnostic::{print_to_stderr, printable_line};

/// Size of the kept part, and of the longest line that is shown whole, in bytes.
const KEPT: usize = 4096;

/// Time limit for the last output of a dead process. A process that it started may hold the pipe
/// open forever.
const REST: Duration = Duration::from_secs(1);

/// Reads a pipe to its end and keeps the last part.
///
/// A role's process never has the broker's own standard error. It could read what the user types,
/// type itself, or make writes fail.
#[derive(Debug)]
pub(super) struct Log {
    kept: Arc<Mutex<VecDeque<u8>>>,
    output: Output,
    reader: JoinHandle<()>,
}

impl Log {
    /// Returns a log, and the writing end of its pipe for the process.
    pub(super) fn open(role: RoleName, output: Output) -> std::io::Result<(Log, PipeWriter)> {
        let (source, sink) = std::io::pipe()?;
        let kept = Arc::new(Mutex::new(VecDeque::with_capacity(KEPT)));
        let shared = Arc::clone(&kept);
        let name = "gpubench-log".to_owned();
        let mut lines = (output == Output::Shown).then(|| Lines::new(role));
        let reader = std::thread::Builder::new().name(name).spawn(move || {
            read(source, |piece| {
                keep(piece, &shared);
                if let Some(lines) = &mut lines {
                    lines.take(piece);
                }
            });
        })?;
        Ok((Log { kept, output, reader }, sink))
    }

    /// Returns the kept part without control characters.
    pub(super) fn tail(&self) -> String {
        self.await_rest();
        let kept: Vec<u8> = self
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .copied()
            .collect();
        let text = String::from_utf8_lossy(&kept);
        text.trim().replace(|c: char| c.is_control() && c != '\n', " ")
    }

    fn await_rest(&self) {
        let deadline = Instant::now() + REST;
        while !self.reader.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The last output of a process is shown before this program ends.
impl Drop for Log {
    fn drop(&mut self) {
        if self.output == Output::Shown {
            self.await_rest();
        }
    }
}

fn read(mut source: PipeReader, mut take: impl FnMut(&[u8])) {
    let mut piece = [0; KEPT];
    // An error of the pipe ends the log like its end.
    while let Ok(length @ 1..) = source.read(&mut piece) {
        take(&piece[..length]);
    }
}

fn keep(piece: &[u8], kept: &Mutex<VecDeque<u8>>) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.extend(piece);
    let excess = kept.len().saturating_sub(KEPT);
    kept.drain(..excess);
}

/// Shows the output line by line after the role's name, so that no line looks like the tool's.
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
        let held = sink.try_clone().unwrap();
        drop(sink);
        assert_eq!(log.tail(), "so far");
        drop(held);
    }

    #[test]
    fn all_output_has_been_shown_when_a_log_is_dropped() {
        for _ in 0..100 {
            let (log, mut sink) = Log::open(RoleName::Worker, Output::Shown).unwrap();
            let read = Arc::clone(&log.kept);
            writeln!(sink, "the last line").unwrap();
            drop(sink);
            drop(log);
            assert_eq!(Arc::strong_count(&read), 1, "the reader has not ended");
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
