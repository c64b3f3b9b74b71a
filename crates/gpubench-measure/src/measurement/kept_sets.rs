//! Inputs and expected outputs that the author has made, kept for later workers.
//!
//! A reference on the CPU can take longer than everything else in a window. The next worker of a
//! side is another process, which knows nothing of the calls of this one, so it gets the same
//! inputs again, in the same order and each once. Sides share none.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::time::Duration;

use gpubench::catalog::Role;

use super::case::ReadyCase;
use super::error::MeasureError;
use super::input_sets::{MOST_BYTES, Shared, shared};
use crate::clients::OpenedCase;
use crate::provider::copy;
use gpubench_protocol::window::CodePlacement;
use gpubench_protocol::wire::BufferLayout;

/// Least time of a reference whose results are kept. Shorter ones save nothing that anybody
/// notices, and cases should have as many inputs as they can.
const SHORTEST: Duration = Duration::from_millis(1);

/// Bytes that are written and read again in the time of a nanosecond.
const BYTES_IN_A_NANOSECOND: u64 = 1;

/// The place of a window among those of its side's workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Turn {
    /// Position of the side.
    pub(super) side: usize,
    /// Number of windows with calls that the worker has had.
    pub(super) used: usize,
}

/// A kept set.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptSet {
    /// Number of the window whose inputs it has.
    pub(super) window: u32,
    /// Position in the file.
    position: u64,
}

/// The sets of a case.
#[derive(Debug)]
pub(super) struct KeptSets {
    parts: Vec<Part>,
    bytes_of_set: u64,
    /// Where sets are kept. `None` before the first, and if there is no room.
    file: Option<File>,
    room: Room,
    sets: HashMap<Turn, KeptSet>,
    /// The shortest time of the reference so far. A busy machine makes it longer at times.
    fastest: Duration,
}

/// Whether further sets are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    Left,
    None,
}

/// A tensor in the memory that the author and the referee share.
#[derive(Debug)]
struct Part {
    memory: File,
    offset: u64,
    bytes: u64,
}

impl KeptSets {
    /// Keeps sets of an opened case whose reference runs in the author.
    ///
    /// # Errors
    /// If the author's memory cannot be used.
    pub(super) fn of_case(
        case: &ReadyCase<'_>,
        placement: &CodePlacement<'_>,
        opened: &OpenedCase,
        layouts: &[BufferLayout],
    ) -> Result<KeptSets, MeasureError> {
        let tensors = shared(case.recording, placement, opened, layouts)?;
        let parts: Vec<Part> = tensors.into_iter().flat_map(parts).collect();
        Ok(KeptSets::new(parts))
    }

    /// Returns sets of a case without tensors.
    #[cfg(test)]
    pub(super) fn of_nothing() -> KeptSets {
        KeptSets::new(Vec::new())
    }

    fn new(parts: Vec<Part>) -> KeptSets {
        KeptSets {
            bytes_of_set: parts.iter().map(|part| part.bytes).sum(),
            parts,
            file: None,
            room: Room::Left,
            sets: HashMap::new(),
            fastest: Duration::MAX,
        }
    }

    /// Returns the set of a turn.
    pub(super) fn of(&self, turn: Turn) -> Option<KeptSet> {
        let set = self.sets.get(&turn).copied();
        set.filter(|_| self.is_slow())
    }

    /// Whether a side has sets.
    pub(super) fn has_sets_of(&self, side: usize) -> bool {
        self.sets.keys().any(|turn| turn.side == side)
    }

    /// Whether the reference takes longer than keeping its results.
    fn is_slow(&self) -> bool {
        let copies = Duration::from_nanos(self.bytes_of_set / BYTES_IN_A_NANOSECOND);
        self.fastest >= copies.max(SHORTEST)
    }

    /// Keeps the inputs and expected outputs of a window, if computing these, which took `took`, is
    /// slow, and there is room. Otherwise the next worker has new ones computed.
    pub(super) fn keep(&mut self, turn: Turn, window: u32, took: Duration) {
        self.fastest = self.fastest.min(took);
        if self.room == Room::None || !self.is_slow() {
            return;
        }
        let position = self.sets.len() as u64;
        let has_room = (position + 1).saturating_mul(self.bytes_of_set) <= MOST_BYTES;
        if has_room && self.write(position).is_ok() {
            self.sets.insert(turn, KeptSet { window, position });
        } else {
            self.room = Room::None;
        }
    }

    /// Writes the author's memory to the file.
    fn write(&mut self, position: u64) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let mut start = position * self.bytes_of_set;
        for Part { memory, offset, bytes } in &self.parts {
            copy(memory, *offset, file, start, *bytes)?;
            start += bytes;
        }
        Ok(())
    }

    /// Writes a set to the author's memory.
    ///
    /// # Errors
    /// If the file or a buffer fails.
    pub(super) fn restore(&self, set: KeptSet) -> Result<(), MeasureError> {
        let missing = || MeasureError::Sets {
            source: io::ErrorKind::NotFound.into(),
        };
        let file = self.file.as_ref().ok_or_else(missing)?;
        let mut start = set.position * self.bytes_of_set;
        for Part { memory, offset, bytes } in &self.parts {
            copy(file, start, memory, *offset, *bytes).map_err(|source| MeasureError::Sets { source })?;
            start += bytes;
        }
        Ok(())
    }
}

/// Returns what is kept of a tensor: its expected contents, and those that the author makes, since
/// its function may not make the same twice.
fn parts(tensor: Shared<'_>) -> impl Iterator<Item = Part> {
    let is_made = tensor.is_made_by_author && tensor.tensor.role != Role::Constant;
    let contents = tensor.contents.filter(|_| is_made);
    let (offset, bytes) = (tensor.layout.offset, tensor.tensor.bytes());
    let memories = contents.into_iter().chain(tensor.answer);
    memories.map(move |memory| Part { memory, offset, bytes })
}

#[cfg(test)]
mod tests;
