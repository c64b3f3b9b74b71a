//! The last of what a process prints, kept without letting it fill memory.

use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How much is kept.
const KEPT: usize = 4096;

/// How long the rest of a dead process's output is waited for: a process that it left behind may hold the pipe open for ever.
const REST: Duration = Duration::from_millis(200);

/// Reads a pipe to its end and keeps the last of it.
#[derive(Debug)]
pub(super) struct Log {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
}

impl Log {
    /// A log, and the end of the pipe for the process to write to.
    pub(super) fn open() -> std::io::Result<(Log, PipeWriter)> {
        let (source, sink) = std::io::pipe()?;
        let kept = Arc::new(Mutex::new(VecDeque::with_capacity(KEPT)));
        let shared = Arc::clone(&kept);
        let name = "gpubench-log".to_owned();
        let reader = std::thread::Builder::new()
            .name(name)
            .spawn(move || keep(source, &shared))?;
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

fn keep(mut source: PipeReader, kept: &Mutex<VecDeque<u8>>) {
    let mut piece = [0; KEPT];
    // An error of the pipe ends the log as its end does.
    while let Ok(length @ 1..) = source.read(&mut piece) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&piece[..length]);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_last_of_a_long_output_is_kept_and_no_more() {
        let (log, mut sink) = Log::open().unwrap();
        for line in 0..100_000 {
            writeln!(sink, "line {line}\u{1b}[2J").unwrap();
        }
        drop(sink);
        let tail = log.tail();
        assert!(tail.ends_with("line 99999 [2J"), "{tail}");
        assert!(tail.len() <= KEPT);
    }

    #[test]
    fn an_output_that_somebody_holds_open_is_not_waited_for() {
        let (log, mut sink) = Log::open().unwrap();
        sink.write_all(b"so far").unwrap();
        let held = sink.try_clone().unwrap();
        drop(sink);
        assert_eq!(log.tail(), "so far");
        drop(held);
    }
}
