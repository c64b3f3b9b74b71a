//! What a run says of outputs: its comparisons, and the author's check where a case has one.

use std::borrow::Cow;

use gpubench::catalog::{Recording, Reference, Tensor, Tolerance};

use super::answers::{Call, WrongAnswer, far_off};
use super::bench::{LintError, OpenLint, interrupted_or};
use super::numbers::elements;
use super::rule::Rule;
use crate::clients::AuthorProblem;
use crate::measurement::MeasureError;
use gpubench_device::Driver;
use gpubench_device::harness::{Comparison, PoisonPlace};
use gpubench_protocol::wire::{CheckOrder, CheckSubject};

/// Who says which outputs are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// The reference, within the tolerance.
    Reference,
    /// The reference, but for what the author's check accepts.
    ReferenceAndCheck,
    /// The author's check alone.
    Check,
}

impl Judge {
    pub(super) fn of(recording: &Recording) -> Judge {
        let outputs = recording.tensors.iter().filter(|tensor| tensor.is_compared());
        let mut outputs = outputs.map(|tensor| tensor.tolerance);
        match recording.reference {
            Reference::Checked if outputs.any(|tolerance| tolerance == Tolerance::ByCheck) => Judge::Check,
            Reference::Checked => Judge::ReferenceAndCheck,
            Reference::Author | Reference::Plan(_) | Reference::Provider(_) => Judge::Reference,
        }
    }
}

/// Outputs of a call, by position. Those that are not named are the expected ones.
pub(super) type Outputs<'a> = [(usize, &'a [u8])];

/// What the author's check says of outputs.
pub(super) enum Opinion {
    /// They are wrong, for this reason.
    Rejected(String),
    /// It failed on them.
    Failed(AuthorProblem),
    /// This is expected of each output, by position.
    Expects(Vec<Option<Vec<u8>>>),
}

impl OpenLint<'_> {
    pub(super) fn judge(&self) -> Judge {
        Judge::of(self.recording())
    }

    /// Returns what is expected of output `output`, if it passes as `bytes` and all others are
    /// right. The output is loaded then for [`accepts_loaded`](Self::accepts_loaded).
    pub(super) fn try_answer<'c>(
        &mut self,
        call: &'c Call,
        output: usize,
        bytes: &[u8],
    ) -> Result<Option<Cow<'c, [u8]>>, LintError> {
        let tensor = &self.tensors()[output];
        if self.judge() == Judge::Reference {
            let Some(expected) = &call.expected[output] else {
                return Ok(None);
            };
            let passes = self.accepts(tensor, (bytes, expected))?;
            return Ok(passes.then_some(Cow::Borrowed(expected)));
        }
        let Opinion::Expects(mut expected) = self.ask_check(call, &[(output, bytes)])? else {
            return Ok(None);
        };
        if !self.all_match(call, &[(output, bytes)], &expected)? {
            return Ok(None);
        }
        let Some(expected) = expected[output].take() else {
            return Ok(None);
        };
        self.load(bytes, &expected)?;
        Ok(Some(Cow::Owned(expected)))
    }

    /// Whether a kernel with these outputs passes.
    pub(super) fn all_pass(&mut self, call: &Call, outputs: &Outputs<'_>) -> Result<bool, LintError> {
        if self.judge() == Judge::Reference {
            return self.all_match(call, outputs, &call.expected);
        }
        match self.ask_check(call, outputs)? {
            Opinion::Expects(expected) => self.all_match(call, outputs, &expected),
            Opinion::Rejected(_) | Opinion::Failed(_) => Ok(false),
        }
    }

    fn all_match(
        &mut self,
        call: &Call,
        outputs: &Outputs<'_>,
        expected: &[Option<Vec<u8>>],
    ) -> Result<bool, LintError> {
        for (position, tensor) in self.tensors().iter().enumerate() {
            if !tensor.is_compared() {
                continue;
            }
            let (Some(got), Some(expected)) = (contents_of(call, outputs, position), &expected[position]) else {
                continue;
            };
            if !self.accepts(tensor, (got, expected))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Asks the author's check about outputs, for the inputs as they are now.
    pub(super) fn ask_check(&mut self, call: &Call, outputs: &Outputs<'_>) -> Result<Opinion, LintError> {
        for position in 0..self.tensors().len() {
            // The reference may have run on other inputs since.
            let parts = [
                (self.answers[position], call.expected[position].as_deref()),
                (self.judged[position], contents_of(call, outputs, position)),
            ];
            for (shared, bytes) in parts {
                if let (Some(shared), Some(bytes)) = (shared, bytes) {
                    self.bench.driver.write(shared.address, bytes)?;
                }
            }
        }
        let order = CheckOrder {
            calls: 1,
            subject: CheckSubject::OtherAnswer,
        };
        match self.author.check(&order, self.interrupt) {
            Ok(None) => {}
            Ok(Some((_, reason))) => return Ok(Opinion::Rejected(reason)),
            Err(problem @ AuthorProblem::Refused { .. }) => return Ok(Opinion::Failed(problem)),
            Err(problem) => return Err(interrupted_or(MeasureError::Check)(problem).into()),
        }
        let judged = self.judged.clone();
        let judged = judged.into_iter().map(|shared| self.read(shared));
        Ok(Opinion::Expects(judged.collect::<Result<_, _>>()?))
    }

    /// Whether the comparison of a run accepts an output.
    fn accepts(&mut self, tensor: &Tensor, (got, expected): (&[u8], &[u8])) -> Result<bool, LintError> {
        self.load(got, expected)?;
        self.accepts_loaded(tensor, tensor.tolerance)
    }

    /// Copies an output and the expected one to where [`accepts_loaded`](Self::accepts_loaded)
    /// compares them.
    fn load(&mut self, got: &[u8], expected: &[u8]) -> Result<(), LintError> {
        for (position, bytes) in [got, expected].into_iter().enumerate() {
            let wanted = bytes.len() as u64;
            match self.scratch.get(position).copied() {
                Some((_, size)) if size >= wanted => {}
                Some((address, _)) => {
                    self.bench.driver.free(address);
                    self.scratch[position] = (self.bench.driver.alloc(wanted)?, wanted);
                }
                None => self.scratch.push((self.bench.driver.alloc(wanted.max(1))?, wanted)),
            }
            self.bench.driver.write(self.scratch[position].0, bytes)?;
        }
        Ok(())
    }

    /// Whether the comparison of a run accepts the loaded output.
    pub(super) fn accepts_loaded(&mut self, tensor: &Tensor, tolerance: Tolerance) -> Result<bool, LintError> {
        let comparison = Comparison {
            got: self.scratch[0].0,
            expected: self.scratch[1].0,
            len: tensor.elements(),
            dtype: tensor.dtype,
            tolerance,
            poison_key: 0,
            poison: PoisonPlace::default(),
            order_key: 0,
        };
        let bench = &mut *self.bench;
        let passing = bench.harness.passing(&mut bench.driver, bench.stream, &comparison)?;
        Ok(passing.is_some())
    }
}

fn contents_of<'a>(call: &'a Call, outputs: &Outputs<'a>, position: usize) -> Option<&'a [u8]> {
    let other = outputs.iter().find(|(output, _)| *output == position);
    other.map(|(_, bytes)| *bytes).or(call.expected[position].as_deref())
}

/// Returns for each number of an output whether the author's check accepts anything there.
pub(super) fn free_numbers(
    open: &mut OpenLint<'_>,
    call: &Call,
    output: usize,
    right: &[f64],
) -> Result<Vec<bool>, LintError> {
    let dtype = open.tensors()[output].dtype;
    let none = vec![false; right.len()];
    if open.judge() == Judge::Reference {
        return Ok(none);
    }
    let not_a_number = elements(dtype, std::iter::repeat_n(f64::NAN, right.len()));
    for wrong in [far_off(dtype, right), not_a_number] {
        let Opinion::Expects(expected) = open.ask_check(call, &[(output, &wrong)])? else {
            continue;
        };
        let (Some(now), Some(before)) = (&expected[output], &call.expected[output]) else {
            continue;
        };
        let each = |bytes| <[u8]>::chunks_exact(bytes, dtype.parts().0.size());
        let elements = each(&wrong).zip(each(now)).zip(each(before));
        return Ok(elements
            .map(|((wrong, now), before)| wrong == now && wrong != before)
            .collect());
    }
    Ok(none)
}

/// Whether an answer that passes has the expected elements in another order, and the author's check
/// asks for no order. A check that does moves the expected elements, whatever it is given.
pub(super) fn is_right_in_another_order(
    open: &mut OpenLint<'_>,
    call: &Call,
    output: usize,
    answer: &WrongAnswer,
) -> Result<bool, LintError> {
    let may_be = matches!(answer.rule, Rule::Permutation | Rule::InputCopy | Rule::SimpleFunction);
    let Some(expected) = &call.expected[output] else {
        return Ok(false);
    };
    if open.judge() == Judge::Reference || !may_be {
        return Ok(false);
    }
    let size = open.tensors()[output].dtype.size();
    let sorted = |bytes: &[u8]| {
        let mut elements: Vec<Vec<u8>> = bytes.chunks_exact(size).map(<[u8]>::to_vec).collect();
        elements.sort_unstable();
        elements
    };
    // With one element twice, an order that follows the answer shows that it is not accepted as is.
    let mut twice = answer.bytes.clone();
    let differs = answer
        .bytes
        .chunks_exact(size)
        .position(|other| other != &twice[..size]);
    let Some(place) = differs else { return Ok(false) };
    twice.copy_within(..size, place * size);
    let Opinion::Expects(now) = open.ask_check(call, &[(output, &twice)])? else {
        return Ok(false);
    };
    Ok(now[output]
        .as_ref()
        .is_some_and(|now| now != expected && sorted(now) == sorted(expected)))
}
