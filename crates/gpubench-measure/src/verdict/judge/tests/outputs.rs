//! Every flaw is found in each of several outputs and in every kind of window.

use super::*;
use gpubench::catalog::{Field, Record};

const KINDS: [WindowKind; 2] = [WindowKind::Timed, WindowKind::EarlyCheck];

/// Two outputs and an in-out tensor, with an input before and scratch between them.
fn several() -> Vec<Tensor> {
    let [output] = <[Tensor; 1]>::try_from(tensors()).unwrap();
    let tensor = |name: &str, role| Tensor {
        name: name.to_owned(),
        role,
        ..output.clone()
    };
    vec![
        tensor("a", Role::Input),
        tensor("b", Role::Output),
        tensor("c", Role::InOut),
        tensor("d", Role::Scratch),
        tensor("e", Role::Output),
    ]
}

/// Positions of the outputs in the tensors.
const POSITIONS: [u64; 3] = [1, 2, 4];

/// A correct window.
fn right_window(number: u32, kind: WindowKind) -> WindowEvidence {
    let mut right = window(number, good_output());
    right.facts.kind = kind;
    right.facts.output_count = 3;
    for (output, tensor) in right.facts.outputs.iter_mut().zip(POSITIONS) {
        *output = OutputFacts {
            tensor,
            ..good_output()
        };
    }
    right
}

fn judge_several(windows: &[WindowEvidence]) -> Judgement {
    judge(&evidence(&several(), windows, Ending::Stopped))
}

/// A change, and the verdict and cause that it must lead to.
type Flaw = (fn(&mut OutputFacts), Verdict, Cause);

const FLAWS: [Flaw; 14] = [
    (|output| output.late_bytes = 1, Verdict::LateWrite, Cause::Late),
    (
        |output| output.digest_claimed = 1,
        Verdict::LateWrite,
        Cause::Incomplete,
    ),
    (
        |output| output.digest_expected = 1,
        Verdict::LateWrite,
        Cause::Incomplete,
    ),
    // What was seen to change is more than a digest tells.
    (
        |output| (output.late_bytes, output.digest_claimed) = (1, 1),
        Verdict::LateWrite,
        Cause::Late,
    ),
    (|output| output.matched = 99, Verdict::WrongOutput, Cause::Mismatch),
    (
        |output| (output.matched, output.unwritten) = (0, 100),
        Verdict::WrongOutput,
        Cause::Unwritten,
    ),
    (
        |output| (output.matched, output.unwritten) = (99, 1),
        Verdict::WrongOutput,
        Cause::Partial,
    ),
    (
        |output| (output.matched, output.non_finite) = (99, 1),
        Verdict::WrongOutput,
        Cause::NonFinite,
    ),
    (
        |output| (output.matched, output.same_as_first, output.constant_bits) = (1, 100, output.got_bits),
        Verdict::WrongOutput,
        Cause::Constant,
    ),
    // A constant output is less specific than its value.
    (
        |output| (output.matched, output.non_finite, output.same_as_first) = (0, 100, 100),
        Verdict::WrongOutput,
        Cause::NonFinite,
    ),
    (
        |output| (output.matched, output.unwritten, output.same_as_first) = (0, 100, 100),
        Verdict::WrongOutput,
        Cause::Unwritten,
    ),
    (
        |output| (output.matched, output.replay) = (0, Replay::First as u64),
        Verdict::WrongOutput,
        Cause::Cached,
    ),
    (
        |output| (output.matched, output.replay) = (0, Replay::FirstAndPrevious as u64),
        Verdict::WrongOutput,
        Cause::Cached,
    ),
    (
        |output| (output.matched, output.replay) = (0, Replay::Previous as u64),
        Verdict::WrongOutput,
        Cause::Stale,
    ),
];

/// Applies a flaw to each output of each of three windows, for every kind of window.
fn with_each_flawed(flaw: impl Fn(&mut OutputFacts), mut look: impl FnMut(&Judgement, usize, &str)) {
    for kind in KINDS {
        for position in 0..3 {
            for (output, tensor) in POSITIONS.into_iter().enumerate() {
                let mut windows = [1, 2, 3].map(|number| right_window(number, kind));
                flaw(&mut windows[position].facts.outputs[output]);
                let name = &several()[tensor as usize].name;
                look(&judge_several(&windows), position, name);
            }
        }
    }
}

#[test]
fn several_right_outputs_pass_in_every_kind_of_window() {
    for kind in KINDS {
        let judgement = judge_several(&[1, 2].map(|number| right_window(number, kind)));
        assert_eq!((judgement.verdict, judgement.window), (Verdict::Pass, None), "{kind:?}");
    }
}

#[test]
fn each_of_several_outputs_is_judged_in_every_kind_of_window() {
    for (number, (flaw, verdict, cause)) in FLAWS.into_iter().enumerate() {
        with_each_flawed(flaw, |judgement, position, name| {
            assert_eq!(
                (judgement.verdict, judgement.cause, judgement.window),
                (verdict, Some(cause), Some(position)),
                "flaw {number} of `{name}`"
            );
            let message = judgement.message.as_deref().unwrap();
            assert!(message.contains(&format!("`{name}`")), "flaw {number}: {message}");
        });
    }
}

#[test]
fn a_mismatch_found_by_an_early_check_says_so() {
    let message_of = |kind| {
        let mut incomplete = right_window(7, kind);
        incomplete.facts.outputs[2].digest_claimed = 1;
        judge_several(&[incomplete]).message.unwrap()
    };
    assert!(
        message_of(WindowKind::EarlyCheck)
            .contains("`e` was not complete at the end of call 7: the output digest of an early check")
    );
    assert!(message_of(WindowKind::Timed).contains("call 7: the output digest does"));
}

#[test]
fn an_output_with_a_specific_cause_is_named_first() {
    let mut both = right_window(1, WindowKind::Timed);
    both.facts.outputs[0].matched = 90;
    (both.facts.outputs[2].matched, both.facts.outputs[2].unwritten) = (0, 100);
    let judgement = judge_several(&[both]);
    assert_eq!(judgement.cause, Some(Cause::Unwritten));
    assert!(judgement.message.unwrap().contains("`e`"));
}

#[test]
fn a_tolerance_that_takes_old_answers_hides_replays_of_its_own_output_alone() {
    for (lenient, cause) in [(0, Cause::Mismatch), (1, Cause::Cached), (2, Cause::Cached)] {
        let mut replayed = right_window(2, WindowKind::Timed);
        replayed.facts.outputs[lenient].old_answer = OtherAnswer::Passes as u64;
        let first = &mut replayed.facts.outputs[0];
        (first.matched, first.replay) = (90, Replay::First as u64);
        assert_eq!(judge_several(&[replayed]).cause, Some(cause), "output {lenient}");
    }
}

#[test]
fn facts_that_do_not_match_an_output_never_pass() {
    let unfit: [fn(&mut OutputFacts); 6] = [
        |output| (output.elements, output.matched) = (0, 0),
        |output| (output.elements, output.matched) = (99, 99),
        |output| (output.elements, output.matched) = (101, 101),
        |output| output.matched = 101,
        |output| output.tensor = 5,
        |output| output.tensor = u64::MAX,
    ];
    for unfit in unfit {
        with_each_flawed(unfit, |judgement, position, _| {
            assert_eq!(
                (judgement.verdict, judgement.cause, judgement.window),
                (Verdict::Error, Some(Cause::Internal), Some(position))
            );
        });
    }
}

/// An output of four structs of eight bytes, with a float and an array.
fn structs() -> Vec<Tensor> {
    let [output] = <[Tensor; 1]>::try_from(tensors()).unwrap();
    let field = |name: &str, offset, count| Field {
        name: name.to_owned(),
        offset,
        dtype: DType::F32,
        count,
        tolerance: Tolerance::Exact,
    };
    vec![Tensor {
        name: "hits".to_owned(),
        dtype: DType::U8,
        shape: vec![2, 2, 12],
        tolerance: Tolerance::Exact,
        record: Some(Box::new(Record {
            name: "Hit".to_owned(),
            fields: vec![field("value", 0, None), field("at", 4, Some(2))],
        })),
        ..output
    }]
}

#[test]
fn a_wrong_field_of_structs_has_its_name() {
    let right = |elements: u64, field: u64| OutputFacts {
        field,
        elements,
        matched: elements,
        ..good_output()
    };
    let judged = |change: fn(&mut [OutputFacts])| {
        let mut window = window(1, right(4, 0));
        window.facts.outputs[1] = right(8, 1);
        window.facts.output_count = 2;
        change(&mut window.facts.outputs);
        judge(&evidence(&structs(), &[window], Ending::Stopped))
    };
    assert_eq!(judged(|_| ()).verdict, Verdict::Pass);
    let wrong = judged(|outputs| (outputs[1].matched, outputs[1].first_wrong) = (7, 5));
    let message = wrong.message.unwrap();
    assert_eq!(wrong.verdict, Verdict::WrongOutput);
    assert!(
        message.starts_with("1 of 8 elements of `hits[].at[]` are wrong"),
        "{message}"
    );
    assert!(message.contains("first wrong element `hits[1, 0].at[1]`"), "{message}");
    let late = judged(|outputs| outputs[0].late_bytes = 2);
    assert!(late.message.unwrap().starts_with("2 bytes of `hits` changed"));
    for unfit in [
        (|outputs| outputs[1].field = 2) as fn(&mut [OutputFacts]),
        |outputs| outputs[1].field = u64::MAX,
        |outputs| outputs.swap(0, 1),
    ] {
        assert_eq!(judged(unfit).verdict, Verdict::Error);
    }
}

#[test]
fn facts_about_too_many_or_too_few_outputs_never_pass() {
    for kind in KINDS {
        for outputs in [0, 1, 2, 4, u32::MAX] {
            let mut unfit = right_window(2, kind);
            unfit.facts.outputs[3] = good_output();
            unfit.facts.output_count = outputs;
            let judgement = judge_several(&[right_window(1, kind), unfit]);
            assert_eq!(
                (judgement.verdict, judgement.cause, judgement.window),
                (Verdict::Error, Some(Cause::Internal), Some(1)),
                "{outputs} outputs in a window of kind {kind:?}"
            );
        }
    }
}

#[test]
fn an_output_is_unwritten_when_95_percent_of_its_elements_are() {
    let cause = |wrong: u64, unwritten: u64| {
        let mut window = right_window(1, WindowKind::Timed);
        (window.facts.outputs[0].matched, window.facts.outputs[0].unwritten) = (100 - wrong, unwritten);
        judge_several(&[window]).cause
    };
    assert_eq!(cause(95, 95), Some(Cause::Unwritten));
    assert_eq!(cause(94, 94), Some(Cause::Partial));
    assert_eq!(cause(96, 95), Some(Cause::Partial), "one was written, and wrong");
    assert_eq!(cause(20, 10), Some(Cause::Partial));
    assert_eq!(cause(21, 10), Some(Cause::Mismatch));
}

#[test]
fn an_output_of_one_element_is_never_constant() {
    let mut tensors = tensors();
    tensors[0].shape = vec![1];
    let single = OutputFacts {
        elements: 1,
        same_as_first: 1,
        ..wrong_output(100)
    };
    let judgement = judge(&evidence(&tensors, &[window(1, single)], Ending::Stopped));
    assert_eq!(judgement.cause, Some(Cause::Mismatch));
}

#[test]
fn a_change_in_any_output_disturbs_a_control_window() {
    use crate::verdict::control_residuals;
    for output in 0..POSITIONS.len() {
        let mut control = right_window(1, WindowKind::Control);
        assert_eq!(control_residuals(&[control.clone()]).len(), 1);
        control.facts.outputs[output].digest_claimed = 1;
        assert!(control_residuals(&[control]).is_empty(), "output {output}");
    }
}

#[test]
fn a_window_that_makes_one_of_several_calls_has_its_outputs_only() {
    let calls = std::num::NonZeroU32::new(2).unwrap();
    let tensors = [tensors(), tensors()].concat();
    let with_outputs = |kind, outputs: usize| {
        let mut window = window(1, good_output());
        window.facts.kind = kind;
        window.facts.outputs[1] = OutputFacts {
            tensor: 1,
            ..good_output()
        };
        window.facts.output_count = outputs as u32;
        let windows = [window];
        let evidence = Evidence {
            calls,
            ..evidence(&tensors, &windows, Ending::Stopped)
        };
        judge(&evidence).verdict
    };
    let (whole, single) = (WindowKind::Timed, WindowKind::Single);
    assert_eq!([with_outputs(whole, 2), with_outputs(single, 1)], [Verdict::Pass; 2]);
    assert_eq!([with_outputs(whole, 1), with_outputs(single, 2)], [Verdict::Error; 2]);
}
