//! The tensors of a call with a wrong output, for people.

use std::fmt;
use std::ops::Range;

use gpubench::catalog::Tensor;

use super::error::MeasureError;
use crate::clients::{Interrupt, RefereeClient, RoleFailure};
use crate::verdict::WindowEvidence;
use gpubench_protocol::wire::{Contents, ContentsOrder, MOST_CONTENTS};

/// Keeps the tensors of the first call of a case that has a wrong output.
pub trait WrongCallKeeper: fmt::Debug {
    /// Keeps the tensors of a call, unless it has kept those of another one: a case can be measured
    /// again. Returns what the message of the case says about those that it has kept, or could not
    /// keep.
    ///
    /// # Errors
    /// If the referee is lost.
    fn keep(&self, call: &mut WrongCall<'_>) -> Result<String, RoleFailure>;
}

/// A call with a wrong output.
pub struct WrongCall<'c> {
    /// Its number in messages.
    pub number: u32,
    /// Its tensors.
    pub tensors: &'c [Tensor],
    /// Returns bytes of the tensor at a position, at most [`MOST_CONTENTS`] at once.
    pub read: &'c mut dyn FnMut(usize, Contents, Range<u64>) -> Result<Vec<u8>, RoleFailure>,
}

impl WrongCall<'_> {
    /// Hands the contents of the tensor at a position to `take`, piece by piece.
    ///
    /// # Errors
    /// Those of reading, and those of `take`.
    pub fn for_each_piece<E: From<RoleFailure>>(
        &mut self,
        position: usize,
        contents: Contents,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = self.tensors[position].bytes();
        for start in (0..bytes).step_by(MOST_CONTENTS as usize) {
            let end = bytes.min(start + MOST_CONTENTS);
            take(&(self.read)(position, contents, start..end)?)?;
        }
        Ok(())
    }
}

/// Has the tensors kept of the first call with a wrong output in the last window, if there is one.
/// `tensors` has those of all calls, of which one has `of_call`. Returns what the message of the
/// case says about it.
pub(super) fn keep(
    keeper: &dyn WrongCallKeeper,
    window: &WindowEvidence,
    (tensors, of_call): (&[Tensor], usize),
    referee: &mut RefereeClient,
    interrupt: &Interrupt,
) -> Result<Option<String>, MeasureError> {
    let mut outputs = window.facts.outputs().iter();
    let wrong = outputs.find(|output| output.matched != output.elements);
    let call = wrong.and_then(|output| {
        let before = (output.tensor as usize).checked_div(of_call)? * of_call;
        Some((before, tensors.get(before..before + of_call)?))
    });
    let Some((before, tensors)) = call else {
        return Ok(None);
    };
    let mut read = |position: usize, contents, range: Range<u64>| {
        let order = ContentsOrder {
            tensor: (before + position) as u64,
            start: range.start,
            bytes: range.end - range.start,
            contents,
            reserved: 0,
        };
        referee.contents(&order, interrupt)
    };
    let mut call = WrongCall {
        number: window.facts.window,
        tensors,
        read: &mut read,
    };
    keeper.keep(&mut call).map(Some).map_err(MeasureError::referee)
}
