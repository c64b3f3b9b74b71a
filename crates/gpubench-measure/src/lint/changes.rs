//! Changes of inputs after which the answer should change, too.

use gpubench::catalog::{Role, Tensor, Tolerance};

use super::answers::{Call, is_wrong};
use super::bench::{LintError, OpenLint};
use super::check::{Judge, Opinion};
use super::numbers::{Precision, epsilon, values};
use super::rule::Rule;
use super::trials::{FEWEST_FOR_FEW, Tally, Trials, compared, needed_shrink};
use crate::clients::AuthorProblem;
use crate::measurement::MeasureError;

/// A change of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// This input has other contents.
    Other(usize),
    /// All inputs are rounded to less precision.
    Rounded,
}

/// Returns other contents of an input, by its position, or `None` to leave it.
type ChangeOf<'a> = dyn FnMut(usize, &[u8]) -> Option<Vec<u8>> + 'a;

impl Change {
    /// Returns all that a case can notice.
    pub(super) fn all(tensors: &[Tensor], judge: Judge) -> Vec<Change> {
        // Without a reference, nobody knows the answer to changed inputs.
        if judge == Judge::Check {
            return Vec::new();
        }
        let is_read = |input: &usize| matches!(tensors[*input].role, Role::Input | Role::InOut | Role::Constant);
        let inputs = (0..tensors.len()).filter(is_read);
        inputs.map(Change::Other).chain([Change::Rounded]).collect()
    }
}

impl Trials {
    /// Tries the changes that no call has noticed so far.
    pub(super) fn try_changes(
        &mut self,
        open: &mut OpenLint<'_>,
        (call, before): (&Call, &Call),
    ) -> Result<(), LintError> {
        for change in std::mem::take(&mut self.unnoticed) {
            let is_unnoticed = match change {
                Change::Other(input) => match open.other_contents(input, before) {
                    Some(other) if Some(&other) != call.contents[input].as_ref() => {
                        is_unread(open, call, input, &other)?
                    }
                    _ => continue,
                },
                Change::Rounded => self.try_rounded(open, call)?,
            };
            if is_unnoticed {
                self.unnoticed.push(change);
            }
        }
        Ok(())
    }

    /// Notes which outputs pass that follow from rounded inputs. Returns whether there is one.
    fn try_rounded(&mut self, open: &mut OpenLint<'_>, call: &Call) -> Result<bool, LintError> {
        let mut by_output: Vec<RoundedTrial> = Vec::new();
        for precision in Precision::ALL {
            let tensors = open.tensors();
            let mut round = |input: usize, bytes: &[u8]| precision.round(tensors[input].dtype, bytes);
            // The reference may refuse them.
            let Some(answers) = with_changed_inputs(open, call, &mut round)? else {
                continue;
            };
            for (output, tensor) in compared(tensors) {
                let (Some(answer), Some(expected)) = (&answers[output], &call.expected[output]) else {
                    continue;
                };
                let is_precise = epsilon(tensor.dtype).is_some_and(|step| step < 1e-6);
                let right = values(tensor.dtype, expected);
                let is_tried = is_precise && tensor.tolerance != Tolerance::Exact;
                if !is_tried || !is_wrong(tensor, answer, expected, &right, &[]) {
                    continue;
                }
                if !by_output.iter().any(|trial| trial.output == output) {
                    by_output.push(RoundedTrial {
                        output,
                        passing: Vec::new(),
                        shrink: Some(0),
                    });
                }
                if open.try_answer(call, output, answer)?.is_none() {
                    continue;
                }
                let shrink = needed_shrink(open, tensor)?;
                for trial in by_output.iter_mut().filter(|trial| trial.output == output) {
                    trial.passing.push(precision.name());
                    trial.shrink = trial.shrink.zip(shrink).map(|(one, other)| one.max(other));
                }
            }
        }
        let passes = by_output.iter().any(|trial| !trial.passing.is_empty());
        for trial in by_output {
            let found = match &trial.passing[..] {
                [] => None,
                names => Some(format!("the answer to inputs that were rounded to {}", listed(names))),
            };
            self.note(
                trial.output,
                Rule::RoundedInputs,
                found.map(|what| (what, trial.shrink)),
            );
        }
        Ok(passes)
    }

    /// Notes the inputs that need not be read. They count for the first output.
    pub(super) fn note_unnoticed(&mut self, open: &OpenLint<'_>, outputs: &[usize]) {
        let Some(first) = outputs.first() else { return };
        let any_passes = self.tallies.iter().any(|((_, rule), tally)| {
            matches!(
                rule,
                Rule::AnyAnswer | Rule::Zeros | Rule::Constant | Rule::Stale | Rule::NotFinite
            ) && tally.found > 0
        });
        let unread = self.unnoticed.iter().filter_map(|change| match change {
            Change::Other(input) => Some(format!("`{}`", open.tensors()[*input].name)),
            Change::Rounded => None,
        });
        let unread: Vec<String> = unread.collect();
        // If other answers pass anyway, this follows.
        if !unread.is_empty() && !any_passes {
            let what = format!("the answer with other contents of {}", unread.join(", "));
            self.tallies.insert(
                (*first, Rule::UnreadInput),
                Tally {
                    what,
                    found: FEWEST_FOR_FEW,
                    tried: FEWEST_FOR_FEW,
                    shrink: None,
                    is_helpless: true,
                },
            );
        }
    }
}

/// The trials of an output with rounded inputs.
struct RoundedTrial {
    output: usize,
    /// The precisions that pass.
    passing: Vec<&'static str>,
    shrink: Option<i32>,
}

/// Returns names as `a, b or c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} or {last}", names.join(", ")),
    }
}

/// Whether a kernel passes that has other contents of an input.
fn is_unread(open: &mut OpenLint<'_>, call: &Call, input: usize, other: &[u8]) -> Result<bool, LintError> {
    let mut replace = |position: usize, _: &[u8]| (position == input).then(|| other.to_vec());
    // The reference may refuse inputs that do not belong together.
    let Some(answers) = with_changed_inputs(open, call, &mut replace)? else {
        return Ok(false);
    };
    let outputs: Vec<(usize, &[u8])> = compared(open.tensors())
        .filter_map(|(output, _)| Some((output, answers[output].as_deref()?)))
        .collect();
    Ok(open.all_pass(call, &outputs)? && !is_read_by_check(open, call, input, other)?)
}

/// Whether the author's check says something else of zeros if an input has other contents: such an
/// input is for the check.
fn is_read_by_check(open: &mut OpenLint<'_>, call: &Call, input: usize, other: &[u8]) -> Result<bool, LintError> {
    if open.judge() == Judge::Reference {
        return Ok(false);
    }
    let zeros: Vec<(usize, Vec<u8>)> = compared(open.tensors())
        .map(|(output, tensor)| (output, vec![0; tensor.bytes() as usize]))
        .collect();
    let zeros: Vec<(usize, &[u8])> = zeros.iter().map(|(output, bytes)| (*output, &bytes[..])).collect();
    let before = open.ask_check(call, &zeros)?;
    open.write(input, other)?;
    let after = open.ask_check(call, &zeros)?;
    open.write(input, call.contents[input].as_deref().unwrap_or_default())?;
    Ok(match (before, after) {
        (Opinion::Expects(before), Opinion::Expects(after)) => before != after,
        (Opinion::Rejected(before), Opinion::Rejected(after)) => before != after,
        (Opinion::Failed(_), Opinion::Failed(_)) => false,
        _ => true,
    })
}

/// Returns the answers to changed inputs, and restores the inputs. `None` if nothing changes, or
/// the reference refuses the inputs.
pub(super) fn with_changed_inputs(
    open: &mut OpenLint<'_>,
    call: &Call,
    change: &mut ChangeOf<'_>,
) -> Result<Option<Vec<Option<Vec<u8>>>>, LintError> {
    let mut changed = Vec::new();
    for input in 0..open.tensors().len() {
        let contents = call.contents[input].as_deref();
        if let Some(other) = contents.and_then(|contents| change(input, contents)) {
            open.write(input, &other)?;
            changed.push(input);
        }
    }
    if changed.is_empty() {
        return Ok(None);
    }
    let answers = match open.reference() {
        Ok(answers) => Some(answers),
        Err(LintError::Measure(MeasureError::Reference(AuthorProblem::Refused { .. }))) => None,
        Err(error) => return Err(error),
    };
    for input in changed {
        open.write(input, call.contents[input].as_deref().unwrap_or_default())?;
    }
    Ok(answers)
}
