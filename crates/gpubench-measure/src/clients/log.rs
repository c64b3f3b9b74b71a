//! What a process prints: the last of it is kept without letting it fill memory, and all of it is
//! shown where that is asked for.

use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::role::{Output, RoleName};
use gpubench_diagnostic::{print_to_stderr, printable_line};

/// How much is kept, and the longest line that is shown whole.
const KEPT: usize = 4096;

/// How long the rest of a dead process's output is waited for: a process that it left behind may
/// hold the pipe open for ever.
const REST: Duration = Duration::from_millis(200);

/// Reads a pipe to its end and keeps the last of it.
///
/// A process never gets the broker's own standard error: it could read what is typed there, type
/// itself, or have writes to it fail.
#[derive(Debug)]
pub(super) struct Log {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
}

impl Log {
    /// A log, and the end of the pipe for the process to write to.
    pub(super) fn open(role: RoleName, output: Output) -> std::io::Result<(Log, PipeWriter)> {
        let (source, sink) = std::io::pipe()?;
        let kept = Arc::new(Mutex::new(VecDeque::with_capacity(KEPT)));
        let shared = Arc::clone(&kept);
        let name = "gpubench-log".to_owned();
        let mut lines = (output == Output::Shown).then(|| Lines::of(role));
        let reader = std::thread::Builder::new().name(name).spawn(move || {
            read(source, |piece| {
                keep(piece, &shared);
                if let Some(lines) = &mut lines {
                    lines.take(piece);
                }
            });
        })?;
        Ok((Log { kept, reader }, sink))
    }

    /// What is kept, safe to print.
    pub(super) fn tail(&self) -> String {
        let deadline = Instant::now() + REST;
        while !self.reader.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
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
}

fn read(mut source: PipeReader, mut take: impl FnMut(&[u8])) {
    let mut piece = [0; KEPT];
    // An error of the pipe ends the log as its end does.
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

/// Shows what comes line by line, each behind the name of the role: none looks like a line of the
/// tool.
struct Lines {
    role: RoleName,
    begun: Vec<u8>,
}

impl Lines {
    fn of(role: RoleName) -> Lines {
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
    fn a_line_without_an_end_does_not_fill_memory() {
        let mut lines = Lines::of(RoleName::Worker);
        for _ in 0..100 {
            lines.take(&[b'x'; 1000]);
            assert!(lines.begun.len() < KEPT);
        }
        lines.take(b"\n\n");
        assert!(lines.begun.is_empty());
    }
}
