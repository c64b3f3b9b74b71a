//! What the checks of a case found, and what they are worth.

use gpubench::catalog::{Recording, Tensor, Tolerance};

use super::pass_criteria::CheckFindings;
use crate::verdict::WindowEvidence;
use gpubench_contract::units::percent;
use gpubench_contract::{Check, ElementValue, WrongElement};
use gpubench_protocol::wire::{NOWHERE, OtherAnswer, OutputFacts, WindowEnd};

/// Calls that are asked about before old answers are said to pass: an output of few values is the
/// same by chance.
const LEAST_CALLS: usize = 8;

/// Relative tolerances above this are told.
const WIDE: f64 = 0.1;

/// One check for every output: of the window that decided, or the largest errors over all windows.
pub(super) fn checks(recording: &Recording, windows: &[WindowEvidence], decisive: Option<usize>) -> Vec<Check> {
    let checked = |window: &&WindowEvidence| window.facts.end == WindowEnd::Checked;
    let outputs = recording.tensors.iter().filter(|tensor| tensor.role.is_output());
    outputs
        .enumerate()
        .filter_map(|(position, tensor)| {
            let shown = match decisive {
                Some(decisive) => *windows.get(decisive).filter(checked)?.facts.outputs().get(position)?,
                None => {
                    let checked = windows.iter().filter(checked);
                    let all = || {
                        checked
                            .clone()
                            .filter_map(|window| window.facts.outputs().get(position))
                    };
                    let worst = all().max_by(|a, b| a.max_rel.total_cmp(&b.max_rel))?;
                    let max_abs = all().map(|output| output.max_abs).max_by(f64::total_cmp)?;
                    OutputFacts { max_abs, ..*worst }
                }
            };
            Some(check(tensor, &shown, old_answers_pass(windows, position)))
        })
        .collect()
}

fn check(tensor: &Tensor, output: &OutputFacts, old_answers_pass: Option<bool>) -> Check {
    let somewhere = |index: u64| (index != NOWHERE).then_some(index);
    Check {
        output: tensor.name.clone(),
        elements: output.elements,
        matched: output.matched,
        tolerance: Some(tensor.tolerance.into()),
        old_answers_pass,
        max_abs_error: Some(output.max_abs),
        max_rel_error: Some(output.max_rel),
        worst_index: somewhere(output.worst),
        shape: tensor.shape.clone(),
        first_wrong: somewhere(output.first_wrong).map(|index| WrongElement {
            index,
            expected: ElementValue::from_bits(tensor.dtype, output.expected_bits),
            got: ElementValue::from_bits(tensor.dtype, output.got_bits),
        }),
    }
}

/// Whether an output's check took the answers to earlier calls for right.
fn old_answers_pass(windows: &[WindowEvidence], position: usize) -> Option<bool> {
    pass(windows, position, OutputFacts::old_answer)
}

/// Whether an output's check took answers that were not this call's for right.
fn pass(windows: &[WindowEvidence], position: usize, which: fn(&OutputFacts) -> OtherAnswer) -> Option<bool> {
    let outputs = windows.iter().filter_map(|window| window.facts.outputs().get(position));
    let asked: Vec<OtherAnswer> = outputs
        .map(which)
        .filter(|answer| *answer != OtherAnswer::NotAsked)
        .collect();
    if asked.contains(&OtherAnswer::Fails) {
        return Some(false);
    }
    (asked.len() >= LEAST_CALLS).then_some(true)
}

/// What the checks of a case are worth.
pub(super) fn worth(
    recording: &Recording,
    windows: &[WindowEvidence],
    checks: &[Check],
    distinct_inputs: u64,
) -> CheckFindings {
    let notices = blind_checks(checks, distinct_inputs).into_iter();
    CheckFindings {
        blind: blind_to_constants(recording, windows, distinct_inputs),
        notices: notices
            .chain(zeros_pass(windows, checks.len()))
            .chain(wide_tolerances(recording))
            .collect(),
    }
}

/// Checks that would let a kernel pass which repeats an old answer, though it is given other
/// inputs.
fn blind_checks(checks: &[Check], distinct_inputs: u64) -> Option<String> {
    let are_blind = !checks.is_empty() && checks.iter().all(|check| check.old_answers_pass == Some(true));
    (are_blind && distinct_inputs > 1).then(|| {
        "the right answers to other inputs are within the tolerance too: a kernel that repeats an old answer would pass \
         (hint: a tighter tolerance, or inputs that the answer depends on)"
            .to_owned()
    })
}

/// Checks that would let a kernel pass which writes nothing but zeros.
fn zeros_pass(windows: &[WindowEvidence], outputs: usize) -> Option<String> {
    let pass = |position| pass(windows, position, OutputFacts::zeros) == Some(true);
    (outputs > 0 && (0..outputs).all(pass)).then(|| {
        "zeros are within the tolerance too, though others are expected: a kernel that writes nothing but zeros would pass \
         (hint: a tighter tolerance, or larger inputs)"
            .to_owned()
    })
}

/// Outputs whose elements may be wrong by far and pass.
fn wide_tolerances(recording: &Recording) -> impl Iterator<Item = String> {
    recording.tensors.iter().filter_map(|tensor| match tensor.tolerance {
        Tolerance::Close { rtol, .. } if rtol > WIDE => Some(format!(
            "elements of `{}` that are wrong by {} pass: the relative tolerance is wide (hint: a smaller `rtol`)",
            tensor.name,
            percent(rtol)
        )),
        _ => None,
    })
}

/// Why the checks cannot tell the kernel from one that writes one value everywhere: it did, in
/// every call and output, where others were expected.
///
/// Nothing is said of an output whose one value is merely another than the one that every input has
/// for its answer, as where rounding differs.
fn blind_to_constants(recording: &Recording, windows: &[WindowEvidence], distinct_inputs: u64) -> Option<String> {
    if distinct_inputs < 2 {
        return None;
    }
    let outputs = recording.tensors.iter().filter(|tensor| tensor.role.is_output());
    let constants: Vec<String> = outputs
        .enumerate()
        .map(|(position, tensor)| constant(tensor, windows, position))
        .collect::<Option<_>>()?;
    (!constants.is_empty()).then(|| {
        format!(
            "the check cannot judge this kernel: {} (hint: a tighter tolerance, or larger inputs)",
            constants.join("; ")
        )
    })
}

/// What is told of an output that had one value in every call, was right by its tolerance alone,
/// and where others were expected.
fn constant(tensor: &Tensor, windows: &[WindowEvidence], position: usize) -> Option<String> {
    let checked = windows.iter().filter(|window| window.facts.end == WindowEnd::Checked);
    let outputs: Vec<&OutputFacts> = checked
        .map(|window| window.facts.outputs().get(position))
        .collect::<Option<_>>()?;
    let bits = outputs.first()?.constant()?;
    let is_near = |output: &&OutputFacts| {
        output.constant() == Some(bits) && output.matched == output.elements && output.max_abs > 0.0
    };
    if outputs.len() < 2 || !outputs.iter().all(is_near) {
        return None;
    }
    let farthest = outputs.iter().map(|output| output.max_abs).fold(0.0, f64::max);
    let differ = outputs.iter().any(|output| output.max_abs != farthest);
    if !differ && bits != 0 {
        return None;
    }
    let (name, value) = (&tensor.name, ElementValue::from_bits(tensor.dtype, bits));
    let Tolerance::Close { rtol, atol } = tensor.tolerance else {
        return None;
    };
    Some(format!(
        "every element of `{name}` was {value} in every call, and passed because the expected ones are at most {farthest:.3e} away \
         and the tolerance is wider (rtol {rtol:e}, atol {atol:e})"
    ))
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use gpubench::catalog::{DType, Execution, Fill, Reference, Role, Work};
    use gpubench::plan::Plan;

    use super::*;
    use gpubench_protocol::wire::WindowFacts;

    fn y(tolerance: Tolerance) -> Tensor {
        Tensor {
            name: "y".to_owned(),
            dtype: DType::F32,
            shape: vec![4],
            role: Role::Output,
            fill: Fill::Poison,
            tolerance,
        }
    }

    fn of(tensor: Tensor) -> Recording {
        Recording {
            tensors: vec![tensor],
            work: Work::default(),
            plan: Plan::default(),
            execution: Execution::Sealed,
            reference: Reference::Author,
        }
    }

    fn sample_check() -> Check {
        check(&y(Tolerance::Exact), &OutputFacts::zeroed(), None)
    }

    #[test]
    fn the_errors_that_are_told_are_the_largest_of_all_calls_wherever_each_was() {
        let recording = of(y(Tolerance::Exact));
        let call = |(max_abs, max_rel)| {
            let mut facts = Box::new(WindowFacts::zeroed());
            facts.output_count = 1;
            (facts.outputs[0].max_abs, facts.outputs[0].max_rel) = (max_abs, max_rel);
            WindowEvidence { facts, claim: None }
        };
        let told = checks(&recording, &[(3.0, 1e-6), (1.0, 1e-3), (2.0, 1e-9)].map(call), None);
        assert_eq!((told[0].max_abs_error, told[0].max_rel_error), (Some(3.0), Some(1e-3)));
    }

    fn asked(answers: &[OtherAnswer]) -> Option<bool> {
        let window = |answer: &OtherAnswer| {
            let mut facts = Box::new(WindowFacts::zeroed());
            facts.output_count = 1;
            facts.outputs[0].old_answer = *answer as u64;
            WindowEvidence { facts, claim: None }
        };
        old_answers_pass(&answers.iter().map(window).collect::<Vec<_>>(), 0)
    }

    #[test]
    fn old_answers_pass_where_each_of_many_would_have() {
        let [none, fails, passes] = [OtherAnswer::NotAsked, OtherAnswer::Fails, OtherAnswer::Passes];
        assert_eq!(
            asked(&[none, passes, passes, passes, passes, passes, passes, passes, passes]),
            Some(true)
        );
        assert_eq!(
            asked(&[none, passes, passes, passes, passes, passes, passes, passes]),
            None
        );
        assert_eq!(
            asked(&[
                none, passes, passes, passes, passes, passes, passes, passes, passes, fails
            ]),
            Some(false)
        );
        assert_eq!(asked(&[fails]), Some(false));
        assert_eq!(asked(&[]), None);
    }

    /// What is said of calls whose one output has these constant bits, that far from what is
    /// expected.
    fn constants(calls: &[(u32, f64)]) -> Option<String> {
        let tensor = y(Tolerance::Close { rtol: 0.0, atol: 1e-2 });
        let window = |&(bits, max_abs): &(u32, f64)| {
            let mut facts = Box::new(WindowFacts::zeroed());
            facts.output_count = 1;
            facts.outputs[0] = OutputFacts {
                elements: 4,
                matched: 4,
                same_as_first: 4,
                constant_bits: u64::from(bits),
                max_abs,
                ..OutputFacts::zeroed()
            };
            WindowEvidence { facts, claim: None }
        };
        constant(&tensor, &calls.iter().map(window).collect::<Vec<_>>(), 0)
    }

    #[test]
    fn one_value_in_every_call_is_told_where_only_the_tolerance_makes_it_right() {
        let zeros = constants(&[(0, 2e-3), (0, 2e-3)]).expect("zeros are told");
        assert!(
            zeros.starts_with("every element of `y` was 0.0 in every call"),
            "{zeros}"
        );
        let half = 0.5_f32.to_bits();
        assert!(constants(&[(half, 1e-3), (half, 2e-3)]).is_some());
        assert_eq!(
            constants(&[(half, 1e-3), (half, 1e-3)]),
            None,
            "another rounding of one answer"
        );
        assert_eq!(constants(&[(0, 0.0), (0, 0.0)]), None, "zeros are expected");
        assert_eq!(
            constants(&[(0, 2e-3), (0, 0.0)]),
            None,
            "zeros are expected in one call"
        );
        assert_eq!(constants(&[(0, 2e-3), (half, 2e-3)]), None, "calls differ");
        assert_eq!(constants(&[(0, 2e-3)]), None, "one call tells nothing");
    }

    #[test]
    fn a_relative_tolerance_of_more_than_a_tenth_is_told() {
        let told = |rtol| {
            let recording = of(y(Tolerance::Close { rtol, atol: 0.0 }));
            worth(&recording, &[], &[], 2).notices
        };
        assert_eq!(told(0.1), Vec::<String>::new());
        let [wide] = &told(0.6)[..] else { panic!("one notice") };
        assert!(
            wide.starts_with("elements of `y` that are wrong by 60.0% pass"),
            "{wide}"
        );
    }

    #[test]
    fn checks_are_blind_where_no_output_tells_an_old_answer_from_a_new_one() {
        let blind = |answers: &[Option<bool>], inputs| {
            let sample = sample_check();
            let check = |&old_answers_pass: &Option<bool>| Check {
                old_answers_pass,
                ..sample.clone()
            };
            let checks: Vec<Check> = answers.iter().map(check).collect();
            blind_checks(&checks, inputs).is_some()
        };
        assert!(blind(&[Some(true), Some(true)], 20));
        assert!(!blind(&[Some(true), Some(false)], 20));
        assert!(!blind(&[Some(true), None], 20));
        assert!(!blind(&[Some(true)], 1), "there are no other inputs");
        assert!(!blind(&[], 20));
    }
}
