//! What the checks of a case found, and what they are worth.

use gpubench::catalog::{Recording, Tensor};

use crate::verdict::WindowEvidence;
use gpubench_contract::{Check, ElementValue, WrongElement};
use gpubench_protocol::wire::{NOWHERE, OldAnswer, OutputFacts, WindowEnd};

/// Calls that are asked about before old answers are said to pass: an output of few values is the same by chance.
const LEAST_CALLS: usize = 8;

/// One check for every output: of the window that decided, or the largest errors over all windows.
pub(super) fn checks(recording: &Recording, windows: &[WindowEvidence], decisive: Option<usize>) -> Vec<Check> {
    let checked = |window: &&WindowEvidence| window.facts.end == WindowEnd::Checked;
    let outputs = recording.tensors.iter().filter(|tensor| tensor.role.is_output());
    outputs
        .enumerate()
        .filter_map(|(position, tensor)| {
            let shown = match decisive {
                Some(decisive) => windows.get(decisive).filter(checked)?.facts.outputs().get(position)?,
                None => {
                    let all = windows
                        .iter()
                        .filter(checked)
                        .filter_map(|window| window.facts.outputs().get(position));
                    all.max_by(|a, b| a.max_rel.total_cmp(&b.max_rel))?
                }
            };
            Some(check(tensor, shown, old_answers_pass(windows, position)))
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
    let outputs = windows.iter().filter_map(|window| window.facts.outputs().get(position));
    let asked: Vec<OldAnswer> = outputs
        .map(OutputFacts::old_answer)
        .filter(|answer| *answer != OldAnswer::NotAsked)
        .collect();
    if asked.contains(&OldAnswer::Fails) {
        return Some(false);
    }
    (asked.len() >= LEAST_CALLS).then_some(true)
}

/// Checks that would let a kernel pass which repeats an old answer, though it is given other inputs.
pub(super) fn blind_checks(checks: &[Check], distinct_inputs: u64) -> Option<String> {
    let are_blind = !checks.is_empty() && checks.iter().all(|check| check.old_answers_pass == Some(true));
    (are_blind && distinct_inputs > 1).then(|| {
        "the right answers to other inputs are within the tolerance too: a kernel that repeats an old answer would pass \
         (hint: a tighter tolerance, or inputs that the answer depends on)"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use gpubench::catalog::{DType, Fill, Role, Tolerance};

    use super::*;
    use gpubench_protocol::wire::WindowFacts;

    fn sample_check() -> Check {
        let exact = Tensor {
            name: "y".to_owned(),
            dtype: DType::F32,
            shape: vec![4],
            role: Role::Output,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
        };
        check(&exact, &OutputFacts::zeroed(), None)
    }

    fn asked(answers: &[OldAnswer]) -> Option<bool> {
        let window = |answer: &OldAnswer| {
            let mut facts = Box::new(WindowFacts::zeroed());
            facts.output_count = 1;
            facts.outputs[0].old_answer = *answer as u64;
            WindowEvidence { facts, claim: None }
        };
        old_answers_pass(&answers.iter().map(window).collect::<Vec<_>>(), 0)
    }

    #[test]
    fn old_answers_pass_where_each_of_many_would_have() {
        let [none, fails, passes] = [OldAnswer::NotAsked, OldAnswer::Fails, OldAnswer::Passes];
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
