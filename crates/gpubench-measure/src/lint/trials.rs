//! The trials of a case, call by call.
//!
//! The first call only gives what a kernel can know beforehand. In each further call all answers
//! and changed inputs are tried that have not failed too often. An output with few elements can
//! have an answer by chance, so it takes more calls.

use std::collections::BTreeMap;
use std::time::Instant;

use gpubench::Rng;
use gpubench::catalog::{Tensor, Tolerance};

use super::answers::{Call, FEW, WrongAnswer, idle_answers, wrong_answers};
use super::bench::{Bench, LintCase, LintError, LintLimits, OpenLint};
use super::changes::{Change, with_changed_inputs};
use super::check::{Judge, Opinion, free_numbers, is_right_in_another_order};
use super::numbers::{epsilon, nudged, values};
use super::report::{AuthorAfterwards, CaseReport, Finding, OutputReport};
use super::rounding::{RoundingError, Terms};
use super::rule::Rule;
use super::zeros::zeros_at_an_end;
use crate::clients::{AuthorClient, Interrupt};
use crate::measurement::MeasureError;

/// Calls to try, if all outputs have many elements, and otherwise.
const CALLS: u32 = 4;
const CALLS_FOR_FEW: u32 = 8;

/// Fewest calls that tell something of an output with few elements.
pub(super) const FEWEST_FOR_FEW: u32 = 3;

/// The strictest tolerance to look for, as a power of ten.
const MOST_SHRINK: i32 = 9;

/// How often something passed, and with which tolerance it would not have.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) what: String,
    pub(super) found: u32,
    pub(super) tried: u32,
    pub(super) shrink: Option<i32>,
    pub(super) is_helpless: bool,
}

/// Outputs of a call, by position.
type OwnedOutputs = Vec<(usize, Vec<u8>)>;

/// What passed, and by which power of ten the tolerance must shrink for it to fail.
pub(super) type Found = (String, Option<i32>);

/// What is known after the trials.
#[derive(Debug)]
pub(super) struct Trials {
    rng: Rng,
    /// By the output and the rule.
    pub(super) tallies: BTreeMap<(usize, Rule), Tally>,
    /// Changes that have never changed the answer.
    pub(super) unnoticed: Vec<Change>,
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
        let mut trials = Trials {
            rng: Rng::new(case.number),
            tallies: BTreeMap::new(),
            unnoticed: Change::all(open.tensors(), open.judge()),
            errors: BTreeMap::new(),
            author: AuthorAfterwards::AtRest,
        };
        let mut before = open.call(1)?;
        for tried in 1..=most {
            let call = open.call(1 + tried)?;
            if open.judge() == Judge::Check {
                trials.try_idle_answers(&mut open, &call)?;
            } else if trials.accepts_reference(&mut open, &call)? {
                for output in &outputs {
                    trials.try_answers(&mut open, *output, (&call, &before))?;
                }
            }
            let mut changes = || {
                if tried == 1 && open.judge() != Judge::Check {
                    trials.estimate(&mut open, &call)?;
                }
                trials.try_changes(&mut open, (&call, &before))
            };
            match changes() {
                Ok(()) => {}
                // Changed inputs can break what the reference relies on. Nobody promised them.
                Err(LintError::Measure(MeasureError::Reference(_) | MeasureError::Check(_))) => {
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
            outputs: trials.reports(open.tensors(), open.judge()),
        })
    }
}

pub(super) fn compared(tensors: &[Tensor]) -> impl Iterator<Item = (usize, &Tensor)> {
    tensors.iter().enumerate().filter(|(_, tensor)| tensor.is_compared())
}

/// Returns the tolerance `10^-shrink` times as wide.
fn scaled(tolerance: Tolerance, shrink: i32) -> Tolerance {
    let factor = 10f64.powi(-shrink);
    match tolerance {
        Tolerance::Exact | Tolerance::ByCheck => tolerance,
        Tolerance::Close { rtol, atol } | Tolerance::Default { rtol, atol } => Tolerance::Close {
            rtol: rtol * factor,
            atol: atol * factor,
        },
        Tolerance::Mostly { rtol, atol, mismatched } => Tolerance::Mostly {
            rtol: rtol * factor,
            atol: atol * factor,
            mismatched,
        },
    }
}

impl Trials {
    /// Whether the author's check accepts the answer of the reference.
    fn accepts_reference(&mut self, open: &mut OpenLint<'_>, call: &Call) -> Result<bool, LintError> {
        let Some((first, _)) = compared(open.tensors()).next() else {
            return Ok(false);
        };
        if open.judge() == Judge::Reference {
            return Ok(true);
        }
        let rejected = match open.ask_check(call, &[])? {
            Opinion::Expects(_) => None,
            Opinion::Rejected(reason) => Some(format!("the check rejects those of the reference: {reason}")),
            Opinion::Failed(problem) => return Err(MeasureError::Check(problem).into()),
        };
        let is_accepted = rejected.is_none();
        self.note(first, Rule::TooStrict, rejected.map(|what| (what, None)));
        Ok(is_accepted)
    }

    /// Tries answers that depend on no input, where only the author's check judges. All outputs
    /// have an answer of the same kind, and the first stands for them.
    fn try_idle_answers(&mut self, open: &mut OpenLint<'_>, call: &Call) -> Result<(), LintError> {
        let mut by_rule: BTreeMap<Rule, (String, OwnedOutputs)> = BTreeMap::new();
        for (output, tensor) in compared(open.tensors()) {
            for WrongAnswer { rule, what, bytes } in idle_answers(tensor, &mut self.rng) {
                let (_, outputs) = by_rule.entry(rule).or_insert((what, Vec::new()));
                outputs.push((output, bytes));
            }
        }
        let mut passed = BTreeMap::new();
        let (mut failure, mut has_opinion) = (None, false);
        for (rule, (what, outputs)) in by_rule {
            // An output of another type has zeros.
            let zeros: OwnedOutputs = compared(open.tensors())
                .filter(|(output, _)| !outputs.iter().any(|(other, _)| other == output))
                .map(|(output, tensor)| (output, vec![0; tensor.bytes() as usize]))
                .collect();
            let outputs: Vec<(usize, &[u8])> = outputs
                .iter()
                .chain(&zeros)
                .map(|(output, bytes)| (*output, &bytes[..]))
                .collect();
            let found = match open.ask_check(call, &outputs)? {
                // In a run, too, a panic rejects what no kernel has written.
                Opinion::Failed(problem) if problem.is_panic() => None,
                Opinion::Failed(problem) => {
                    failure = Some(problem);
                    continue;
                }
                Opinion::Rejected(_) => None,
                Opinion::Expects(_) => Some((what, None)),
            };
            has_opinion = true;
            passed.insert(rule, found);
        }
        if let Some(problem) = failure.filter(|_| !has_opinion) {
            return Err(MeasureError::Check(problem).into());
        }
        if passed.get(&Rule::AnyAnswer).is_some_and(Option::is_some) {
            passed.retain(|rule, _| *rule == Rule::AnyAnswer);
        }
        if let Some((first, _)) = compared(open.tensors()).next() {
            for (rule, found) in passed {
                self.note(first, rule, found);
            }
        }
        Ok(())
    }

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
        let free = free_numbers(open, call, output, &numbers)?;
        let counted = numbers.iter().zip(&free).filter(|(_, is_free)| !**is_free);
        let counted: Vec<f64> = counted.map(|(value, _)| *value).collect();
        let not_finite = counted.iter().filter(|value| !value.is_finite()).count();
        let is_not_finite = counted.iter().any(|value| value.is_nan()) || not_finite == counted.len() && not_finite > 0;
        let what = format!("{not_finite} of {} expected elements are not finite", numbers.len());
        self.note(output, Rule::NotFinite, is_not_finite.then_some((what, None)));
        if is_not_finite {
            return Ok(());
        }
        let mut passed: BTreeMap<Rule, Option<Found>> = BTreeMap::new();
        // No comparison tells that an answer is old if the right one never changes.
        if call.contents != before.contents {
            let same = "the answer to other inputs, which is always the same,".to_owned();
            passed.insert(Rule::Stale, (expected == old).then_some((same, None)));
        }
        let is_plain = tensor.tolerance == Tolerance::Exact && open.judge() == Judge::Reference;
        let answers = match is_plain {
            true => Vec::new(),
            false => wrong_answers(
                open.tensors(),
                output,
                (call, before),
                (open.judge(), &free),
                &mut self.rng,
            ),
        };
        for answer in answers {
            let found = passed.entry(answer.rule).or_default();
            if found.is_some() || open.try_answer(call, output, &answer.bytes)?.is_none() {
                continue;
            }
            let shrink = needed_shrink(open, tensor)?;
            if !is_right_in_another_order(open, call, output, &answer)? {
                *found = Some((answer.what, shrink));
            }
        }
        if passed.get(&Rule::AnyAnswer).is_some_and(Option::is_some) {
            passed.retain(|rule, _| *rule == Rule::AnyAnswer);
        } else if !is_plain && !passed.get(&Rule::Zeros).is_some_and(Option::is_some) {
            passed.insert(
                Rule::PartialZeros,
                zeros_at_an_end(open, call, output, (&numbers, &free))?,
            );
        }
        for (rule, found) in passed {
            self.note(output, rule, found);
        }
        Ok(())
    }

    pub(super) fn note(&mut self, output: usize, rule: Rule, found: Option<Found>) {
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
        let moved = with_changed_inputs(open, call, &mut |input, bytes| nudged(tensors[input].dtype, bytes, rng))?;
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

    fn reports(self, tensors: &[Tensor], judge: Judge) -> Vec<OutputReport> {
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
                tolerance: tensor.tolerance,
                judge,
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
pub(super) fn needed_shrink(open: &mut OpenLint<'_>, tensor: &Tensor) -> Result<Option<i32>, LintError> {
    for shrink in 1..=MOST_SHRINK {
        if !open.accepts_loaded(tensor, scaled(tensor.tolerance, shrink))? {
            return Ok(Some(shrink));
        }
    }
    Ok(None)
}
