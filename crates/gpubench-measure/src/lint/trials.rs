//! The trials of a case, call by call.
//!
//! The first call only gives what a kernel can know beforehand. In each further call all answers
//! and changed inputs are tried that have not failed too often. An output with few elements can
//! have an answer by chance, so it takes more calls.

use std::collections::BTreeMap;
use std::time::Instant;

use gpubench::Rng;
use gpubench::catalog::{Role, Tensor, Tolerance};

use super::answers::{Call, FEW, is_wrong, wrong_answers};
use super::bench::{Bench, LintCase, LintError, LintLimits, OpenLint, Part};
use super::numbers::{epsilon, nudged, values, with_ten_bits};
use super::report::{AuthorAfterwards, CaseReport, Finding, OutputReport};
use super::rounding::{RoundingError, Terms};
use super::rule::Rule;
use crate::clients::{AuthorClient, AuthorProblem, Interrupt};
use crate::measurement::MeasureError;

/// Calls to try, if all outputs have many elements, and otherwise.
const CALLS: u32 = 4;
const CALLS_FOR_FEW: u32 = 8;

/// Fewest calls that tell something of an output with few elements.
const FEWEST_FOR_FEW: u32 = 3;

/// A part of an output that may be zeros is a finding from this share on.
const SHARE_OF_ZEROS: u64 = 10;

/// The strictest tolerance to look for, as a power of ten.
const MOST_SHRINK: i32 = 9;

/// How often something passed, and with which tolerance it would not have.
#[derive(Debug, Default)]
struct Tally {
    what: String,
    found: u32,
    tried: u32,
    shrink: Option<i32>,
    is_helpless: bool,
}

/// A change of inputs after which the answer should change, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// This input has the contents of the call before.
    Stale(usize),
    /// All inputs are rounded to TF32.
    Rounded,
}

/// Returns other contents of an input, or `None` to leave it.
type ChangeOf<'a> = dyn FnMut(&Tensor, &[u8]) -> Option<Vec<u8>> + 'a;

/// What is known after the trials.
#[derive(Debug)]
struct Trials {
    rng: Rng,
    /// By the output and the rule.
    tallies: BTreeMap<(usize, Rule), Tally>,
    /// Changes that have never changed the answer.
    unnoticed: Vec<Change>,
    errors: BTreeMap<usize, (RoundingError, Vec<f64>)>,
    author: AuthorAfterwards,
}

impl Bench {
    /// Judges a case.
    ///
    /// # Errors
    /// The author's code fails, or the user interrupts.
    pub fn lint(
        &mut self,
        case: LintCase<'_>,
        author: &mut AuthorClient,
        limits: LintLimits,
        interrupt: &Interrupt,
    ) -> Result<CaseReport, LintError> {
        let mut open = self.attach(case, author, limits.reference, interrupt)?;
        let began = Instant::now();
        let outputs: Vec<usize> = compared(open.tensors()).map(|(output, _)| output).collect();
        let is_small = |output: &usize| open.tensors()[*output].elements() < FEW as u64;
        let most = if outputs.iter().any(is_small) {
            CALLS_FOR_FEW
        } else {
            CALLS
        };
        let inputs = 0..open.tensors().len();
        let inputs = inputs.filter(|input| matches!(open.tensors()[*input].role, Role::Input | Role::InOut));
        let mut trials = Trials {
            rng: Rng::new(case.number),
            tallies: BTreeMap::new(),
            unnoticed: inputs.map(Change::Stale).chain([Change::Rounded]).collect(),
            errors: BTreeMap::new(),
            author: AuthorAfterwards::AtRest,
        };
        let mut before = open.call(1)?;
        for tried in 1..=most {
            let call = open.call(1 + tried)?;
            for output in &outputs {
                trials.try_answers(&mut open, *output, (&call, &before))?;
            }
            let mut changes = || {
                if tried == 1 {
                    trials.estimate(&mut open, &call)?;
                }
                trials.try_changes(&mut open, (&call, &before))
            };
            match changes() {
                Ok(()) => {}
                // Changed inputs can break what the reference relies on. Nobody promised them.
                Err(LintError::Measure(MeasureError::Reference(_))) => {
                    trials.author = AuthorAfterwards::Lost;
                    trials.unnoticed.clear();
                    break;
                }
                Err(error) => return Err(error),
            }
            before = call;
            let is_clean = tried > 1 && !trials.tallies.values().any(|tally| tally.found > 0);
            if is_clean && trials.unnoticed.is_empty() || began.elapsed() > limits.case {
                break;
            }
        }
        trials.note_unnoticed(&open, &outputs);
        Ok(CaseReport {
            author: trials.author,
            outputs: trials.reports(open.tensors()),
        })
    }
}

fn compared(tensors: &[Tensor]) -> impl Iterator<Item = (usize, &Tensor)> {
    tensors.iter().enumerate().filter(|(_, tensor)| tensor.is_compared())
}

/// Returns the tolerance `10^-shrink` times as wide.
fn scaled(tolerance: Tolerance, shrink: i32) -> Tolerance {
    match tolerance.bounds() {
        None => tolerance,
        Some((rtol, atol)) => Tolerance::Close {
            rtol: rtol * 10f64.powi(-shrink),
            atol: atol * 10f64.powi(-shrink),
        },
    }
}

impl Trials {
    /// Tries wrong answers for an output.
    fn try_answers(
        &mut self,
        open: &mut OpenLint<'_>,
        output: usize,
        (call, before): (&Call, &Call),
    ) -> Result<(), LintError> {
        let tensor = &open.tensors()[output];
        let (Some(expected), Some(old)) = (&call.expected[output], &before.expected[output]) else {
            return Ok(());
        };
        let numbers = values(tensor.dtype, expected);
        let not_finite = numbers.iter().filter(|value| !value.is_finite()).count();
        let is_not_finite = numbers.iter().any(|value| value.is_nan()) || not_finite == numbers.len();
        let what = format!("{not_finite} of {} expected elements are not finite", numbers.len());
        self.note(output, Rule::NotFinite, is_not_finite.then_some((what, None)));
        if is_not_finite {
            return Ok(());
        }
        let mut passed: BTreeMap<Rule, Option<(String, Option<i32>)>> = BTreeMap::new();
        // No comparison tells that an answer is old if the right one never changes.
        if call.contents != before.contents {
            let same = "the answer to other inputs, which is always the same,".to_owned();
            passed.insert(Rule::Stale, (expected == old).then_some((same, None)));
        }
        let answers = match tensor.tolerance {
            Tolerance::Exact => Vec::new(),
            _ => wrong_answers(open.tensors(), output, (call, before), &mut self.rng),
        };
        for answer in answers {
            let found = passed.entry(answer.rule).or_default();
            if found.is_none() && open.accepts(tensor, tensor.tolerance, (&answer.bytes, expected))? {
                *found = Some((answer.what, needed_shrink(open, tensor)?));
            }
        }
        if passed.get(&Rule::AnyAnswer).is_some_and(Option::is_some) {
            passed.retain(|rule, _| *rule == Rule::AnyAnswer);
        } else if tensor.tolerance != Tolerance::Exact && !passed.get(&Rule::Zeros).is_some_and(Option::is_some) {
            passed.insert(Rule::PartialZeros, zeros_at_an_end(open, tensor, expected, &numbers)?);
        }
        for (rule, found) in passed {
            self.note(output, rule, found);
        }
        Ok(())
    }

    fn note(&mut self, output: usize, rule: Rule, found: Option<(String, Option<i32>)>) {
        let tally = self.tallies.entry((output, rule)).or_default();
        tally.tried += 1;
        if let Some((what, shrink)) = found {
            if tally.found == 0 {
                tally.what = what;
            }
            tally.found += 1;
            tally.is_helpless |= shrink.is_none();
            tally.shrink = tally.shrink.max(shrink);
        }
    }

    /// Estimates how far right answers are off.
    fn estimate(&mut self, open: &mut OpenLint<'_>, call: &Call) -> Result<(), LintError> {
        let tensors = open.tensors();
        let outputs: u64 = compared(tensors).map(|(_, tensor)| tensor.elements()).sum();
        let inputs = tensors.iter().filter(|tensor| tensor.role.is_input());
        let largest = inputs.map(Tensor::elements).max().unwrap_or(1);
        let products = |flops: u64| flops as f64 / (2.0 * outputs.max(1) as f64);
        let declared = open.recording().work.flops.map(products);
        let terms = declared.map_or(Terms::AtMost(largest as f64), Terms::Known);
        let rng = &mut self.rng;
        let moved = with_changed_inputs(open, call, &mut |tensor, bytes| nudged(tensor.dtype, bytes, rng))?;
        for (output, tensor) in compared(tensors) {
            let Some(expected) = &call.expected[output] else {
                continue;
            };
            let right = values(tensor.dtype, expected);
            let is_precise = |tensor: &Tensor| epsilon(tensor.dtype).is_none_or(|step| step < 1e-6);
            let all_are_precise = tensors
                .iter()
                .filter(|tensor| tensor.role.is_input() || tensor.role.is_output())
                .all(is_precise);
            let moved = moved.as_ref().filter(|_| all_are_precise);
            let moved = moved.and_then(|moved| Some(values(tensor.dtype, moved[output].as_ref()?)));
            let error = RoundingError::of(tensor.dtype, &right, moved.as_deref(), terms);
            if error.is_of_a_sum && tensor.tolerance != Tolerance::Exact {
                let failures = error.failures(&right, tensor.tolerance, 0);
                let found = (failures > 0.5).then(|| {
                    let what = format!(
                        "a sum of {:.0} products in another order, in the precision of the output: about {} of {} elements",
                        declared.unwrap_or_default(),
                        failures.ceil(),
                        right.len()
                    );
                    (what, error.growth(&right, tensor.tolerance).map(|growth| -growth))
                });
                self.note(output, Rule::TooStrict, found);
            }
            self.errors.insert(output, (error, right));
        }
        Ok(())
    }

    /// Tries the changes that no call has noticed so far.
    fn try_changes(&mut self, open: &mut OpenLint<'_>, (call, before): (&Call, &Call)) -> Result<(), LintError> {
        for change in std::mem::take(&mut self.unnoticed) {
            let answers = match change {
                Change::Stale(input) => {
                    if call.contents[input] == before.contents[input] {
                        continue;
                    }
                    let mut position = 0;
                    let mut stale = |_: &Tensor, _: &[u8]| {
                        position += 1;
                        before.contents[input].clone().filter(|_| position - 1 == input)
                    };
                    with_changed_inputs(open, call, &mut stale)?
                }
                Change::Rounded => {
                    let mut round = |tensor: &Tensor, bytes: &[u8]| with_ten_bits(tensor.dtype, bytes);
                    with_changed_inputs(open, call, &mut round)?
                }
            };
            // The reference may refuse inputs that do not belong together.
            let Some(answers) = answers else { continue };
            let is_unnoticed = match change {
                Change::Stale(_) => self.all_pass(open, &answers, call)?,
                Change::Rounded => self.note_rounded(open, &answers, call)?,
            };
            if is_unnoticed {
                self.unnoticed.push(change);
            }
        }
        Ok(())
    }

    fn all_pass(&self, open: &mut OpenLint<'_>, answers: &[Option<Vec<u8>>], call: &Call) -> Result<bool, LintError> {
        for (output, tensor) in compared(open.tensors()) {
            let (Some(answer), Some(expected)) = (&answers[output], &call.expected[output]) else {
                continue;
            };
            if !open.accepts(tensor, tensor.tolerance, (answer, expected))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes which outputs pass that follow from rounded inputs. Returns whether there is one.
    fn note_rounded(
        &mut self,
        open: &mut OpenLint<'_>,
        answers: &[Option<Vec<u8>>],
        call: &Call,
    ) -> Result<bool, LintError> {
        let mut passes = false;
        for (output, tensor) in compared(open.tensors()) {
            let (Some(answer), Some(expected)) = (&answers[output], &call.expected[output]) else {
                continue;
            };
            let is_precise = epsilon(tensor.dtype).is_some_and(|step| step < 1e-6);
            let right = values(tensor.dtype, expected);
            if !is_precise || tensor.tolerance == Tolerance::Exact || !is_wrong(tensor, answer, expected, &right) {
                continue;
            }
            let mut found = None;
            if open.accepts(tensor, tensor.tolerance, (answer, expected))? {
                let what = "the answer to inputs that were rounded to TF32".to_owned();
                found = Some((what, needed_shrink(open, tensor)?));
                passes = true;
            }
            self.note(output, Rule::RoundedInputs, found);
        }
        Ok(passes)
    }

    /// Notes the inputs that need not be read. They count for the first output.
    fn note_unnoticed(&mut self, open: &OpenLint<'_>, outputs: &[usize]) {
        let Some(first) = outputs.first() else { return };
        let any_passes = self.tallies.iter().any(|((_, rule), tally)| {
            matches!(
                rule,
                Rule::AnyAnswer | Rule::Zeros | Rule::Constant | Rule::Stale | Rule::NotFinite
            ) && tally.found > 0
        });
        let unread = self.unnoticed.iter().filter_map(|change| match change {
            Change::Stale(input) => Some(format!("`{}`", open.tensors()[*input].name)),
            Change::Rounded => None,
        });
        let unread: Vec<String> = unread.collect();
        // If other answers pass anyway, this follows.
        if !unread.is_empty() && !any_passes {
            let what = format!(
                "the answer with the contents of {} from another call",
                unread.join(", ")
            );
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

    fn reports(self, tensors: &[Tensor]) -> Vec<OutputReport> {
        let report = |(output, tensor): (usize, &Tensor)| {
            let of_output = self.tallies.iter().filter(|((of, _), _)| *of == output);
            let findings = of_output.filter(|(_, tally)| tally.is_finding(tensor));
            let findings = findings.map(|((_, rule), tally)| Finding {
                rule: *rule,
                what: tally.what.clone(),
                found: tally.found,
                tried: tally.tried,
                shrink: tally.shrink.filter(|_| !tally.is_helpless),
            });
            OutputReport {
                output: tensor.name.clone(),
                tolerance: tensor.tolerance.bounds(),
                findings: findings.collect(),
                room: self
                    .errors
                    .get(&output)
                    .map_or(0, |(error, right)| error.room(right, tensor.tolerance)),
            }
        };
        compared(tensors).map(report).collect()
    }
}

impl Tally {
    /// Whether it is more than chance.
    fn is_finding(&self, tensor: &Tensor) -> bool {
        if tensor.elements() >= FEW as u64 {
            2 * self.found > self.tried
        } else {
            self.found == self.tried && (self.tried >= FEWEST_FOR_FEW || self.shrink.is_some_and(|shrink| shrink < 0))
        }
    }
}

/// Returns by which power of ten the tolerance must shrink until the loaded answer fails.
fn needed_shrink(open: &mut OpenLint<'_>, tensor: &Tensor) -> Result<Option<i32>, LintError> {
    let all = Part {
        start: 0,
        len: tensor.elements(),
    };
    for shrink in 1..=MOST_SHRINK {
        if !open.accepts_loaded(tensor, scaled(tensor.tolerance, shrink), all)? {
            return Ok(Some(shrink));
        }
    }
    Ok(None)
}

/// Returns the larger part at the start or the end of an output that may be zeros, if it is large
/// enough for a kernel to save work.
fn zeros_at_an_end(
    open: &mut OpenLint<'_>,
    tensor: &Tensor,
    expected: &[u8],
    numbers: &[f64],
) -> Result<Option<(String, Option<i32>)>, LintError> {
    let len = tensor.elements();
    let least = len / SHARE_OF_ZEROS;
    if least < FEW as u64 / 4 {
        return Ok(None);
    }
    let step = epsilon(tensor.dtype).unwrap_or(1.0);
    open.load(&vec![0; expected.len()], expected)?;
    for is_end in [true, false] {
        let part = |count: u64| Part {
            start: if is_end { len - count } else { 0 },
            len: count,
        };
        if !open.accepts_loaded(tensor, tensor.tolerance, part(least))? {
            continue;
        }
        let (mut passes, mut fails) = (least, len);
        while fails - passes > 1 {
            let middle = passes.midpoint(fails);
            if open.accepts_loaded(tensor, tensor.tolerance, part(middle))? {
                passes = middle;
            } else {
                fails = middle;
            }
        }
        let Part { start, len: count } = part(passes);
        let zeros = &numbers[start as usize..][..count as usize];
        // True zeros are right.
        let wrong = zeros
            .iter()
            .filter(|value| value.abs() > step * f64::MIN_POSITIVE.sqrt())
            .count() as u64;
        if wrong < least.div_ceil(2) {
            continue;
        }
        let place = if is_end { "last" } else { "first" };
        let what = format!("zeros for the {place} {passes} of {len} elements");
        return Ok(Some((what, None)));
    }
    Ok(None)
}

/// Returns the answers to changed inputs, and restores the inputs. `None` if nothing changes, or
/// the reference refuses the inputs.
fn with_changed_inputs(
    open: &mut OpenLint<'_>,
    call: &Call,
    change: &mut ChangeOf<'_>,
) -> Result<Option<Vec<Option<Vec<u8>>>>, LintError> {
    let mut changed = Vec::new();
    for (input, tensor) in open.tensors().iter().enumerate() {
        let contents = call.contents[input].as_deref();
        if let Some(other) = change(tensor, contents.unwrap_or_default()).filter(|_| contents.is_some()) {
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
