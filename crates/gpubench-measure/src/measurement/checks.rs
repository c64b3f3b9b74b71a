//! The results of a case's checks, and how much the checks can tell.

mod blindness;
mod tolerances;

use std::num::NonZeroU32;

use gpubench::catalog::{Mismatched, Recording, Tensor, Tolerance, by_field};

use self::blindness::{AcceptedAnswers, blindness_of_constants, stale_output_passes};
pub(super) use self::blindness::{LEAST_CALLS, may_be_blind};
use self::tolerances::{default_tolerances, large_shares, wide_tolerances, zeros_in_shares};
use super::pass_criteria::CheckFindings;
use super::pattern::pattern;
use crate::verdict::{WindowEvidence, element_value};
use gpubench_contract::{AllowedError, AllowedMismatch, Check, WrongElement};
use gpubench_protocol::wire::{Differences, NOWHERE, OutputFacts, WindowEnd};
use gpubench_stats::median;

/// Returns a check for every output of a call: of the decisive window, or with the largest errors
/// over all windows. `recording` is that of one call; a window has `calls` of them.
pub(super) fn checks(
    recording: &Recording,
    calls: NonZeroU32,
    windows: &[&WindowEvidence],
    decisive: Option<usize>,
) -> Vec<Check> {
    let tensors = by_field(&recording.tensors);
    let outputs: Vec<&Tensor> = tensors.iter().filter(|tensor| tensor.role.is_output()).collect();
    let checked = windows.iter().filter(|window| window.facts.end == WindowEnd::Checked);
    let decisive = decisive.map(|position| std::slice::from_ref(&windows[position]));
    let shown = |position: usize| {
        // The facts about the output in every call of a window.
        let in_calls = |window: &&WindowEvidence| -> Vec<OutputFacts> {
            let of_calls = window.facts.outputs().iter().skip(position).step_by(outputs.len());
            of_calls.take(calls.get() as usize).copied().collect()
        };
        match decisive {
            Some(decisive) => {
                let checked = decisive.iter().filter(|window| window.facts.end == WindowEnd::Checked);
                let all: Vec<OutputFacts> = checked.flat_map(in_calls).collect();
                let wrong = all.iter().find(|output| output.matched != output.elements);
                let shown = *wrong.or(all.first())?;
                Some((shown, median_abs_error(&all)))
            }
            None => {
                let all: Vec<OutputFacts> = checked.clone().flat_map(in_calls).collect();
                let worst = all.iter().max_by(|a, b| a.max_rel.total_cmp(&b.max_rel))?;
                let max_abs = all.iter().map(|output| output.max_abs).max_by(f64::total_cmp)?;
                Some((OutputFacts { max_abs, ..*worst }, median_abs_error(&all)))
            }
        }
    };
    let differences = decisive.map_or(&[][..], |decisive| &decisive[0].differences);
    let all = outputs.iter().enumerate();
    all.filter_map(|(position, tensor)| {
        let (output, median_abs_error) = shown(position)?;
        let found = differences
            .iter()
            .find(|found| (found.tensor, found.field) == (output.tensor, output.field));
        Some(Check {
            stale_output_passes: stale_output_passes(windows, position),
            median_abs_error,
            wrong: found.map_or_else(Vec::new, |found| listed(tensor, found)),
            pattern: found
                .filter(|found| found.wrong == output.elements - output.matched)
                .and_then(|found| pattern(tensor, found)),
            ..check(tensor, output)
        })
    })
    .collect()
}

/// Returns the median of the calls' largest errors.
fn median_abs_error(calls: &[OutputFacts]) -> Option<f64> {
    let errors: Vec<f64> = calls.iter().map(|output| output.max_abs).collect();
    median(&errors)
}

fn listed(tensor: &Tensor, found: &Differences) -> Vec<WrongElement> {
    let elements = found.elements().iter();
    elements
        .map(|element| wrong_element(tensor, element.index, [element.expected_bits, element.got_bits]))
        .collect()
}

fn wrong_element(tensor: &Tensor, index: u64, bits: [u64; 2]) -> WrongElement {
    let [expected, got] = bits.map(|bits| element_value(tensor.dtype, bits));
    WrongElement { index, expected, got }
}

fn check(tensor: &Tensor, output: OutputFacts) -> Check {
    let somewhere = |index: u64| (index != NOWHERE).then_some(index);
    Check {
        output: tensor.name.clone(),
        elements: output.elements,
        matched: output.matched,
        mismatched: output.mismatched,
        tolerance: (tensor.tolerance != Tolerance::ByCheck).then(|| allowed_error(tensor.tolerance)),
        stale_output_passes: None,
        max_abs_error: Some(output.max_abs),
        median_abs_error: None,
        max_rel_error: Some(output.max_rel),
        worst_index: somewhere(output.worst),
        shape: tensor.shape.clone(),
        first_wrong: somewhere(output.first_wrong)
            .map(|index| wrong_element(tensor, index, [output.expected_bits, output.got_bits])),
        wrong: Vec::new(),
        pattern: None,
    }
}

/// Returns the outputs that are not empty, with their positions among all outputs. Any answer is
/// right for an empty one, so it tells nothing about the check.
fn compared(tensors: &[Tensor]) -> impl Iterator<Item = (usize, &Tensor)> {
    let outputs = tensors.iter().filter(|tensor| tensor.role.is_output());
    outputs.enumerate().filter(|(_, tensor)| tensor.is_compared())
}

/// Returns what the checks cannot detect.
pub(super) fn check_findings(
    recording: &Recording,
    windows: &[&WindowEvidence],
    checks: &[Check],
    distinct_inputs: u64,
) -> CheckFindings {
    let recording = &Recording {
        tensors: by_field(&recording.tensors),
        ..recording.clone()
    };
    let accepted = AcceptedAnswers::of(&recording.tensors, windows, checks, distinct_inputs);
    CheckFindings {
        blind: blindness_of_constants(recording, windows, distinct_inputs).or_else(|| accepted.blindness()),
        notices: accepted
            .old_answers_pass()
            .into_iter()
            .chain(accepted.zeros_pass())
            .chain(wide_tolerances(recording))
            .chain(large_shares(recording))
            .chain(zeros_in_shares(recording))
            .chain(default_tolerances(recording))
            .collect(),
    }
}

/// Returns the error that a tolerance allows. An exact output may have none.
fn allowed_error(tolerance: Tolerance) -> AllowedError {
    let (rtol, atol) = tolerance.bounds().unwrap_or_default();
    let mismatched = tolerance.mismatched();
    AllowedError {
        rtol,
        atol,
        mismatched: mismatched.map(|Mismatched { share, cap }| AllowedMismatch { share, cap }),
    }
}

#[cfg(test)]
mod tests;
