//! Contents of tensors for people, from the referee's own copies: what a worker did to its buffers
//! after *done* does not show.

use super::RefereeError;
use super::case::{OpenCase, Referee};
use crate::wire::{Contents, ContentsOrder, MOST_CONTENTS};

impl Referee {
    /// Reads a part of a tensor's contents in the last window.
    pub(super) fn contents(&mut self, case: &OpenCase, order: &ContentsOrder) -> Result<Vec<u8>, RefereeError> {
        let position = usize::try_from(order.tensor).ok();
        let buffer = position.and_then(|position| case.tensors().get(position));
        let buffer = buffer.ok_or(RefereeError::Order("the case has no such tensor"))?;
        let copy = match order.contents {
            Contents::Input => buffer.pristine.map(|pristine| pristine.current),
            Contents::Expected => buffer.answers.map(|answers| answers.expected),
            Contents::Got => buffer.answers.map(|answers| answers.snapshot),
        };
        let copy = copy.ok_or(RefereeError::Order("the tensor has no such contents"))?;
        let end = order.start.checked_add(order.bytes);
        if order.bytes > MOST_CONTENTS || end.is_none_or(|end| end > buffer.layout.len) {
            return Err(RefereeError::Order("the tensor is shorter"));
        }
        let mut contents = vec![0; order.bytes as usize];
        self.driver.read(copy.offset(order.start), &mut contents)?;
        Ok(contents)
    }
}
