//! The parts of outputs that are compared on their own: whole outputs, or the fields of structs.
//!
//! A field is gathered into memory where its numbers follow each other. From there on it is
//! compared as any output, and nothing else of the structs is looked at, such as padding.

use std::borrow::Cow;
use std::num::NonZeroU64;

use gpubench::catalog::{Rows, Tensor};

use super::RefereeError;
use super::buffers::{Answers, Buffer};
use super::case::Referee;
use gpubench_device::harness::{PoisonPlace, PoisonRow};
use gpubench_device::{DeviceError, DevicePtr, Driver, StridedRows};

/// Alignment of a field in the memory for fields, in bytes.
const ALIGNMENT: u64 = 256;

/// The referee's memory for the fields of an output, as they are in the buffers of the same names.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldBuffers {
    pub(super) expected: DevicePtr,
    pub(super) previous: DevicePtr,
    pub(super) first: DevicePtr,
    pub(super) snapshot: DevicePtr,
    /// Of the call's input, if the output is in-out.
    pub(super) given: Option<DevicePtr>,
}

impl FieldBuffers {
    /// Makes the memory, if the tensor holds structs.
    pub(super) fn for_tensor(driver: &mut dyn Driver, tensor: &Tensor) -> Result<Option<FieldBuffers>, DeviceError> {
        if tensor.record.is_none() {
            return Ok(None);
        }
        let bytes = start_of(tensor, tensor.parts());
        Ok(Some(FieldBuffers {
            expected: driver.alloc(bytes)?,
            previous: driver.alloc(bytes)?,
            first: driver.alloc(bytes)?,
            snapshot: driver.alloc(bytes)?,
            given: match tensor.role.is_input() {
                true => Some(driver.alloc(bytes)?),
                false => None,
            },
        }))
    }

    pub(super) fn free(self, driver: &mut dyn Driver) {
        let all = [self.expected, self.previous, self.first, self.snapshot];
        all.into_iter()
            .chain(self.given)
            .for_each(|address| driver.free(address));
    }
}

/// Returns where a field begins in the memory for fields.
fn start_of(tensor: &Tensor, field: usize) -> u64 {
    let before = (0..field).filter_map(|field| tensor.rows(field));
    before
        .map(|rows| (rows.bytes * rows.count).next_multiple_of(ALIGNMENT))
        .sum()
}

/// An output, or a field of one.
#[derive(Clone, Debug)]
pub(super) struct Part<'c> {
    /// Position of the tensor.
    pub(super) index: usize,
    /// Which of its fields it is.
    pub(super) field: usize,
    /// Its elements.
    pub(super) tensor: Cow<'c, Tensor>,
    /// Where they are.
    pub(super) answers: Answers,
    /// Where the poison of the snapshot is in its stream.
    pub(super) poison: PoisonPlace,
    /// What an in-out tensor held before the call.
    pub(super) given: Option<DevicePtr>,
    /// Where they come from, if they are a field.
    source: Option<Source>,
}

/// The structs that a field is of.
#[derive(Clone, Copy, Debug)]
struct Source {
    rows: Rows,
    answers: Answers,
    given: Option<DevicePtr>,
}

/// Returns the parts of all outputs among `tensors`, in order. `side` has their buffers.
pub(super) fn parts<'c>(tensors: &'c [Tensor], side: &[Buffer]) -> Vec<Part<'c>> {
    let mut parts = Vec::new();
    for (index, (tensor, buffer)) in tensors.iter().zip(side).enumerate() {
        let Some(answers) = buffer.answers else { continue };
        for field in 0..tensor.parts() {
            parts.extend(part(index, field, tensor, (buffer, answers)));
        }
    }
    parts
}

fn part<'c>(index: usize, field: usize, tensor: &'c Tensor, (buffer, answers): (&Buffer, Answers)) -> Option<Part<'c>> {
    let given = buffer.pristine.map(|pristine| pristine.current);
    let whole = Part {
        index,
        field,
        tensor: tensor.part(field)?,
        answers,
        poison: PoisonPlace {
            offset: buffer.layout.offset,
            row: None,
        },
        given,
        source: None,
    };
    let (Some(rows), Some(fields)) = (tensor.rows(field), answers.fields) else {
        return Some(whole);
    };
    let start = start_of(tensor, field);
    let elements = NonZeroU64::new(rows.bytes / whole.tensor.dtype.size() as u64);
    Some(Part {
        answers: Answers {
            author: None,
            judged: None,
            fields: None,
            expected: fields.expected.offset(start),
            previous: fields.previous.offset(start),
            first: fields.first.offset(start),
            snapshot: fields.snapshot.offset(start),
        },
        poison: PoisonPlace {
            offset: buffer.layout.offset + rows.start,
            row: elements.map(|elements| PoisonRow {
                elements,
                pitch: rows.pitch,
            }),
        },
        given: fields.given.map(|given| given.offset(start)),
        source: Some(Source { rows, answers, given }),
        ..whole
    })
}

impl Referee {
    /// Queues the copies of what a call wrote and of what is expected.
    pub(super) fn gather_answers(&mut self, part: &Part<'_>) -> Result<(), RefereeError> {
        self.gather(part, |answers| answers.snapshot)?;
        self.gather(part, |answers| answers.expected)
    }

    /// Queues the copies of what else a wrong output can be.
    pub(super) fn gather_other_answers(&mut self, part: &Part<'_>) -> Result<(), RefereeError> {
        self.gather(part, |answers| answers.previous)?;
        self.gather(part, |answers| answers.first)?;
        match (part.source, part.given) {
            (
                Some(Source {
                    rows,
                    given: Some(from),
                    ..
                }),
                Some(to),
            ) => self.gather_rows(to, from, rows),
            _ => Ok(()),
        }
    }

    fn gather(&mut self, part: &Part<'_>, which: fn(&Answers) -> DevicePtr) -> Result<(), RefereeError> {
        match part.source {
            None => Ok(()),
            Some(Source { rows, answers, .. }) => self.gather_rows(which(&part.answers), which(&answers), rows),
        }
    }

    fn gather_rows(&mut self, to: DevicePtr, from: DevicePtr, rows: Rows) -> Result<(), RefereeError> {
        let rows = StridedRows {
            first: from.offset(rows.start),
            bytes: rows.bytes,
            pitch: rows.pitch,
            count: rows.count,
        };
        Ok(self.driver.gather(self.stream, to, &rows)?)
    }
}
