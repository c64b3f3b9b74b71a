//! Which streams of a process are captured: their work becomes nodes of a graph.

use std::collections::HashMap;

use crate::{Execution, StreamHandle};

/// The captures of one process. A stream that waits for an event of a captured stream is captured
/// with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Captures {
    /// By stream, the stream that its capture began with.
    streams: HashMap<u64, u64>,
    /// By event recorded in a captured stream, the stream that the capture began with.
    events: HashMap<u64, u64>,
}

/// Captured streams, and events in them, that are remembered. Work in others seems to run.
const MOST: usize = 16_384;

impl Captures {
    pub(super) fn begin(&mut self, stream: StreamHandle) {
        self.capture(stream, stream.0);
    }

    pub(super) fn end(&mut self, stream: StreamHandle) {
        if let Some(origin) = self.streams.get(&stream.0).copied() {
            self.streams.retain(|_, began| *began != origin);
            self.events.retain(|_, began| *began != origin);
        }
    }

    pub(super) fn record(&mut self, event: u64, stream: StreamHandle) {
        match self.streams.get(&stream.0) {
            Some(origin) if self.events.len() < MOST => self.events.insert(event, *origin),
            _ => self.events.remove(&event),
        };
    }

    pub(super) fn wait(&mut self, stream: StreamHandle, event: u64) {
        if let Some(origin) = self.events.get(&event).copied()
            && !self.streams.contains_key(&stream.0)
        {
            self.capture(stream, origin);
        }
    }

    fn capture(&mut self, stream: StreamHandle, origin: u64) {
        if self.streams.len() < MOST {
            self.streams.insert(stream.0, origin);
        }
    }

    pub(super) fn execution(&self, stream: StreamHandle) -> Execution {
        if !self.streams.is_empty() && self.streams.contains_key(&stream.0) {
            Execution::Captured
        } else {
            Execution::Runs
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_waits_for_a_captured_one_is_captured_until_the_same_end() {
        let (first, second, other) = (StreamHandle(1), StreamHandle(2), StreamHandle(3));
        let mut captures = Captures::default();
        captures.begin(first);
        captures.record(70, first);
        captures.record(71, other);
        captures.wait(second, 70);
        captures.wait(other, 71);
        let executions = |captures: &Captures| [first, second, other].map(|stream| captures.execution(stream));
        use Execution::{Captured, Runs};
        assert_eq!(executions(&captures), [Captured, Captured, Runs]);
        captures.end(first);
        assert_eq!(executions(&captures), [Runs; 3]);
        captures.wait(second, 70);
        assert_eq!(captures.execution(second), Runs);
    }

    #[test]
    fn endless_captures_take_bounded_memory() {
        let mut captures = Captures::default();
        for number in 0..200_000 {
            let stream = StreamHandle(number);
            captures.begin(stream);
            captures.record(number, stream);
            captures.wait(StreamHandle(1 << 32 | number), number);
        }
        assert_eq!(captures.streams.len(), MOST);
        assert!((1..=MOST).contains(&captures.events.len()));
    }
}
