use bytemuck::Zeroable;
use gpubench::catalog::{DType, Execution, Fill, Reference, Role, Work};
use gpubench::plan::Plan;

use super::*;
use gpubench_protocol::wire::{OtherAnswer, WindowFacts};

fn y(tolerance: Tolerance) -> Tensor {
    Tensor {
        name: "y".to_owned(),
        dtype: DType::F32,
        shape: vec![4],
        role: Role::Output,
        fill: Fill::Poison,
        tolerance,
        record: None,
    }
}

fn of(tensor: Tensor) -> Recording {
    Recording {
        tensors: vec![tensor],
        work: Work::default(),
        plan: Plan::default(),
        execution: Execution::Sealed,
        call: None,
        reference: Reference::Author,
    }
}

fn sample_check() -> Check {
    let facts = OutputFacts {
        elements: 4,
        ..OutputFacts::zeroed()
    };
    check(&y(Tolerance::Exact), facts)
}

#[test]
fn the_reported_errors_are_the_largest_of_all_calls() {
    let recording = of(y(Tolerance::Exact));
    let call = |(max_abs, max_rel)| {
        let mut facts = Box::new(WindowFacts::zeroed());
        facts.output_count = 1;
        (facts.outputs[0].max_abs, facts.outputs[0].max_rel) = (max_abs, max_rel);
        WindowEvidence::new(facts, None)
    };
    let reported = checks(
        &recording,
        NonZeroU32::MIN,
        &[(3.0, 1e-6), (1.0, 1e-3), (2.0, 1e-9)].map(call).each_ref(),
        None,
    );
    assert_eq!(
        (reported[0].max_abs_error, reported[0].max_rel_error),
        (Some(3.0), Some(1e-3))
    );
    assert_eq!(
        reported[0].median_abs_error,
        Some(2.0),
        "the median shows whether they are typical"
    );
}

/// A checked window of three calls with the outputs `y` and `z`. The errors of `y` are 1, 3 and
/// 5, and those of `z` 2, 4 and 6. The last element of a call is wrong if it is in `wrong`.
fn window_of_three_calls(wrong: &[usize]) -> WindowEvidence {
    let mut facts = Box::new(WindowFacts::zeroed());
    facts.output_count = 6;
    for (position, output) in facts.outputs.iter_mut().take(6).enumerate() {
        let error = (position + 1) as f64;
        let is_wrong = wrong.contains(&position);
        *output = OutputFacts {
            elements: 4,
            matched: 4 - u64::from(is_wrong),
            first_wrong: if is_wrong { position as u64 } else { NOWHERE },
            worst: position as u64,
            max_abs: error,
            max_rel: error / 10.0,
            ..OutputFacts::zeroed()
        };
    }
    WindowEvidence::new(facts, None)
}

/// Returns the checks of such windows.
fn checks_of_three_calls(windows: &[WindowEvidence], decisive: Option<usize>) -> [Check; 2] {
    let z = Tensor {
        name: "z".to_owned(),
        ..y(Tolerance::Exact)
    };
    let recording = Recording {
        tensors: vec![y(Tolerance::Exact), z],
        ..of(y(Tolerance::Exact))
    };
    let windows: Vec<&WindowEvidence> = windows.iter().collect();
    let checks = checks(&recording, NonZeroU32::new(3).unwrap(), &windows, decisive);
    checks.try_into().expect("two outputs")
}

#[test]
fn every_call_of_a_window_of_several_counts() {
    let [y, z] = checks_of_three_calls(&[window_of_three_calls(&[])], None);
    assert_eq!((y.max_abs_error, z.max_abs_error), (Some(5.0), Some(6.0)));
    assert_eq!((y.max_rel_error, z.max_rel_error), (Some(0.5), Some(0.6)));
    assert_eq!((y.worst_index, z.worst_index), (Some(4), Some(5)));
    assert_eq!((y.median_abs_error, z.median_abs_error), (Some(3.0), Some(4.0)));
}

#[test]
fn the_wrong_call_of_the_decisive_window_is_shown() {
    for (wrong, of_y, of_z) in [
        (vec![0], Some(0), None),
        (vec![4], Some(4), None),
        (vec![3, 5], None, Some(3)),
        (vec![2, 5], Some(2), Some(5)),
    ] {
        let windows = [window_of_three_calls(&[1]), window_of_three_calls(&wrong)];
        let shown = checks_of_three_calls(&windows, Some(1)).map(|check| check.first_wrong);
        let indices = shown.map(|wrong| wrong.map(|element| element.index));
        assert_eq!(indices, [of_y, of_z], "{wrong:?}");
    }
}

#[test]
fn windows_that_were_not_checked_have_no_errors() {
    let mut aborted = window_of_three_calls(&[]);
    aborted.facts.end = WindowEnd::Aborted;
    let mut small = window_of_three_calls(&[]);
    small.facts.outputs.iter_mut().for_each(|output| output.max_abs = 0.5);
    let [y, _] = checks_of_three_calls(&[aborted, small], None);
    assert_eq!(y.max_abs_error, Some(0.5));
}

#[test]
fn wrong_elements_have_a_pattern_only_if_all_were_found() {
    let [two, three] = [2, 3].map(|end| Some(format!("the wrong elements are `y[0..{end}]`")));
    for (wrong, found, pattern) in [(2, 2, two), (2, 3, None), (3, 3, three), (3, 2, None)] {
        let mut window = window_of_three_calls(&[]);
        window.facts.outputs[0].matched = 4 - wrong;
        let mut differences = Differences {
            wrong: found,
            dimensions: 1,
            ..Differences::zeroed()
        };
        (differences.coordinates[0].last, differences.coordinates[0].step) = (found - 1, 1);
        differences.coordinates[0].different = found;
        window.differences = vec![differences];
        let [y, _] = checks_of_three_calls(&[window], Some(0));
        assert_eq!(y.pattern, pattern, "{found} of {wrong}");
    }
}

fn asked(answers: &[OtherAnswer]) -> Option<bool> {
    let window = |answer: &OtherAnswer| {
        let mut facts = Box::new(WindowFacts::zeroed());
        facts.output_count = 1;
        facts.outputs[0].old_answer = *answer as u64;
        WindowEvidence::new(facts, None)
    };
    let windows: Vec<WindowEvidence> = answers.iter().map(window).collect();
    stale_output_passes(&windows.iter().collect::<Vec<_>>(), 0)
}

#[test]
fn stale_output_passes_only_if_each_of_many_passes() {
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

/// The report on calls with one constant output and this many distinct inputs, given its bits
/// and its distance from the expected values.
fn constants(calls: &[(u32, f64)], inputs: u64) -> Option<String> {
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
        WindowEvidence::new(facts, None)
    };
    let windows: Vec<WindowEvidence> = calls.iter().map(window).collect();
    blindness_of_constants(&of(tensor), &windows.iter().collect::<Vec<_>>(), inputs)
}

#[test]
fn outputs_that_are_the_same_whatever_the_inputs_cannot_be_judged() {
    let half = 0.5_f32.to_bits();
    let zeros = constants(&[(0, 2e-3), (0, 0.0)], 2).expect("zeros are reported");
    assert!(
        zeros.contains(
            "every element of `y` was 0.0 in every call, and the expected values differ from it by at most 2.000e-3"
        ),
        "{zeros}"
    );
    let exact = constants(&[(half, 0.0), (half, 0.0)], 2).expect("so is any other value");
    assert!(
        exact.contains("every element of `y` was 0.5 in every call (hint"),
        "{exact}"
    );
    assert_eq!(
        constants(&[(half, 0.0), (half, 0.0)], 1),
        None,
        "there are no other inputs"
    );
    assert_eq!(constants(&[(0, 2e-3), (half, 2e-3)], 2), None, "calls differ");
    assert_eq!(constants(&[(0, 2e-3)], 2), None, "one call is not enough");
}

#[test]
fn outputs_that_are_never_numbers_cannot_be_judged() {
    for (value, shown) in [(f32::NAN, "NaN"), (f32::NEG_INFINITY, "-inf")] {
        let told = constants(&[(value.to_bits(), 0.0); 2], 1).expect("it is reported without inputs");
        assert!(
            told.contains(&format!("every element of `y` was {shown} in every call, as expected")),
            "{told}"
        );
    }
}

#[test]
fn a_tolerance_that_nobody_wrote_is_told() {
    let by_default = of(y(Tolerance::Default {
        rtol: 2.3e-6,
        atol: 2e-6,
    }));
    let [told] = &check_findings(&by_default, &[], &[], 2).notices[..] else {
        panic!("one notice")
    };
    let words = "nobody wrote a tolerance: `y` within rtol 2.3e-6, atol 2e-6 (hint: ";
    assert!(told.starts_with(words), "{told}");
}

#[test]
fn a_relative_tolerance_above_ten_percent_is_reported() {
    let notices = |rtol| {
        let recording = of(y(Tolerance::Close { rtol, atol: 0.0 }));
        check_findings(&recording, &[], &[], 2).notices
    };
    assert_eq!(notices(0.1), Vec::<String>::new());
    let [wide] = &notices(0.6)[..] else {
        panic!("one notice")
    };
    assert!(
        wide.starts_with("the relative tolerance is wide: elements of `y` pass with an error of 60.0%"),
        "{wide}"
    );
    let of_8_bits = Tensor {
        dtype: DType::F8E4M3,
        ..y(Tolerance::Close { rtol: 0.25, atol: 0.0 })
    };
    assert_eq!(
        check_findings(&of(of_8_bits), &[], &[], 2).notices,
        Vec::<String>::new()
    );
}

#[test]
fn a_share_that_may_be_zeros_is_reported() {
    let notices = |cap| {
        let tolerance = Tolerance::Mostly {
            rtol: 1e-2,
            atol: 0.0,
            mismatched: Mismatched { share: 0.04, cap },
        };
        check_findings(&of(y(tolerance)), &[], &[], 2).notices
    };
    assert_eq!(notices(99.0), Vec::<String>::new());
    let [zeros] = &notices(100.0)[..] else {
        panic!("one notice")
    };
    assert!(
        zeros.starts_with("4.00% of the elements of `y` may be zeros"),
        "{zeros}"
    );
}

#[test]
fn a_share_above_ten_percent_is_reported() {
    let notices = |share| {
        let tolerance = Tolerance::Mostly {
            rtol: 1e-2,
            atol: 0.0,
            mismatched: Mismatched { share, cap: 10.0 },
        };
        check_findings(&of(y(tolerance)), &[], &[], 2).notices
    };
    assert_eq!(notices(0.1), Vec::<String>::new());
    let [large] = &notices(0.25)[..] else {
        panic!("one notice")
    };
    assert!(
        large.starts_with("25.0% of the elements of `y` may be outside the tolerance"),
        "{large}"
    );
}

/// The findings about two outputs, `y` and `z`, whose checks say this of zeros and old answers.
fn of_outputs(
    tolerances: [Tolerance; 2],
    zeros: [OtherAnswer; 2],
    old: [OtherAnswer; 2],
    calls: usize,
) -> CheckFindings {
    let mut facts = Box::new(WindowFacts::zeroed());
    facts.output_count = 2;
    for (output, (zeros, old)) in facts.outputs.iter_mut().zip(zeros.into_iter().zip(old)) {
        (output.zeros, output.old_answer) = (zeros as u64, old as u64);
    }
    let windows = vec![WindowEvidence::new(facts, None); calls];
    let windows: Vec<&WindowEvidence> = windows.iter().collect();
    let checks = [0, 1].map(|position| Check {
        stale_output_passes: stale_output_passes(&windows, position),
        ..sample_check()
    });
    let [first, second] = tolerances.map(y);
    let z = Tensor {
        name: "z".to_owned(),
        ..second
    };
    let recording = Recording {
        tensors: vec![first, z],
        ..of(y(Tolerance::Exact))
    };
    check_findings(&recording, &windows, &checks, 2)
}

const STATED: Tolerance = Tolerance::Close { rtol: 0.0, atol: 1.0 };

#[test]
fn an_output_that_accepts_wrong_answers_is_told_whatever_the_others_do() {
    use OtherAnswer::{Fails, NotAsked, Passes};
    for (answers, within) in [
        ([Passes, Passes], Some("tolerance also")),
        ([Passes, Fails], Some("tolerance of `y` also")),
        ([Fails, Passes], Some("tolerance of `z` also")),
        ([Passes, NotAsked], Some("tolerance of `y` also")),
        ([Fails, NotAsked], None),
    ] {
        for (zeros, old) in [(answers, [Fails; 2]), ([Fails; 2], answers)] {
            let CheckFindings { blind, notices } = of_outputs([STATED; 2], zeros, old, LEAST_CALLS);
            assert_eq!(blind, None, "{answers:?}");
            match within {
                None => assert_eq!(notices, [""; 0]),
                Some(within) => assert!(notices.len() == 1 && notices[0].contains(within), "{notices:?}"),
            }
            let too_few = of_outputs([STATED; 2], zeros, old, LEAST_CALLS - 1);
            assert_eq!(too_few.notices, [""; 0]);
        }
    }
}

#[test]
fn one_output_that_accepts_zeros_and_old_answers_cannot_be_judged() {
    use OtherAnswer::{Fails, NotAsked, Passes};
    for other in [Fails, NotAsked] {
        let blind = of_outputs([STATED; 2], [other, Passes], [other, Passes], LEAST_CALLS).blind;
        assert!(blind.is_some_and(|blind| blind.contains("the tolerance of `z` also accepts zeros, and")));
        let apart = of_outputs([STATED; 2], [Passes, other], [other, Passes], LEAST_CALLS);
        assert_eq!(apart.blind, None, "different outputs accept them");
    }
}

#[test]
fn a_tolerance_that_nobody_chose_may_accept_no_wrong_answers() {
    use OtherAnswer::{Fails, Passes};
    let tolerances = [STATED, Tolerance::Default { rtol: 1e-6, atol: 1e-3 }];
    let of = |zeros, old| of_outputs(tolerances, [Fails, zeros], [Fails, old], LEAST_CALLS).blind;
    assert_eq!(of(Fails, Fails), None);
    assert!(of(Passes, Fails).is_some_and(|blind| blind.contains("also accepts zeros as `z`")));
    assert!(of(Fails, Passes).is_some_and(|blind| blind.contains("answers to other inputs as `z`")));
}

#[test]
fn an_empty_output_does_not_hide_that_the_check_of_another_is_blind() {
    let empty = Tensor {
        name: "none".to_owned(),
        shape: vec![0, 3],
        ..y(Tolerance::Exact)
    };
    let found = |tensors: [Tensor; 2]| {
        let mut facts = Box::new(WindowFacts::zeroed());
        (facts.end, facts.output_count) = (WindowEnd::Checked, 2);
        for (output, tensor) in facts.outputs.iter_mut().zip(&tensors) {
            let elements = tensor.elements();
            *output = OutputFacts {
                elements,
                matched: elements,
                same_as_first: elements,
                zeros: OtherAnswer::Passes as u64,
                old_answer: OtherAnswer::Passes as u64,
                ..OutputFacts::zeroed()
            };
        }
        let windows = vec![WindowEvidence::new(facts, None); LEAST_CALLS];
        let windows: Vec<&WindowEvidence> = windows.iter().collect();
        let recording = Recording {
            tensors: tensors.into(),
            ..of(empty.clone())
        };
        let checks = checks(&recording, NonZeroU32::MIN, &windows, None);
        let is_doubtful = may_be_blind(&recording.tensors, &windows);
        (is_doubtful, check_findings(&recording, &windows, &checks, 20))
    };
    let (is_doubtful, findings) = found([empty.clone(), y(Tolerance::Exact)]);
    assert!(is_doubtful && findings.blind.expect("blind").contains("every element of `y` was 0.0"));
    let (is_doubtful, findings) = found([empty.clone(), empty.clone()]);
    assert_eq!((is_doubtful, findings), (false, CheckFindings::default()));
}

#[test]
fn without_other_inputs_there_are_no_old_answers() {
    let check = Check {
        stale_output_passes: Some(true),
        ..sample_check()
    };
    let findings = check_findings(&of(y(STATED)), &[], &[check], 1);
    assert_eq!((findings.blind, findings.notices.len()), (None, 0));
}

#[test]
fn each_wrong_output_lists_its_own_elements() {
    let mut window = window_of_three_calls(&[2, 3]);
    for (position, output) in window.facts.outputs.iter_mut().enumerate() {
        output.tensor = position as u64;
    }
    window.differences = [2, 3]
        .map(|tensor| {
            let mut found = Differences {
                tensor,
                wrong: 1,
                listed: 1,
                ..Differences::zeroed()
            };
            found.elements[0].index = 10 * tensor;
            found
        })
        .into();
    let listed = checks_of_three_calls(&[window], Some(0)).map(|check| {
        let indices = check.wrong.iter().map(|element| element.index);
        indices.collect::<Vec<u64>>()
    });
    assert_eq!(listed, [[20], [30]]);
}

/// The findings about a case whose checks accept zeros, old answers, or both.
fn accepting(zeros: OtherAnswer, old: OtherAnswer) -> (bool, usize) {
    let window = || {
        let mut facts = Box::new(WindowFacts::zeroed());
        facts.output_count = 1;
        (facts.outputs[0].zeros, facts.outputs[0].old_answer) = (zeros as u64, old as u64);
        WindowEvidence::new(facts, None)
    };
    let windows: Vec<WindowEvidence> = (0..LEAST_CALLS).map(|_| window()).collect();
    let windows: Vec<&WindowEvidence> = windows.iter().collect();
    let checks = [Check {
        stale_output_passes: stale_output_passes(&windows, 0),
        ..sample_check()
    }];
    let CheckFindings { blind, notices } = check_findings(&of(y(Tolerance::Exact)), &windows, &checks, 2);
    (blind.is_some(), notices.len())
}

#[test]
fn a_check_is_blind_only_if_it_accepts_both_zeros_and_old_answers() {
    use OtherAnswer::{Fails, Passes};
    assert_eq!(accepting(Fails, Fails), (false, 0));
    assert_eq!(accepting(Passes, Fails), (false, 1));
    assert_eq!(accepting(Fails, Passes), (false, 1));
    assert_eq!(accepting(Passes, Passes), (true, 2));
}

/// The report on two calls whose outputs `y` and `z` have these constant bits, if any.
fn of_two_outputs(of_z: Option<u32>, change: fn(&mut OutputFacts)) -> Option<String> {
    let output = |bits: Option<u32>| OutputFacts {
        elements: 4,
        matched: 4,
        same_as_first: if bits.is_some() { 4 } else { 1 },
        constant_bits: bits.unwrap_or_default().into(),
        ..OutputFacts::zeroed()
    };
    let windows = [1, 2].map(|_| {
        let mut facts = Box::new(WindowFacts::zeroed());
        facts.output_count = 2;
        (facts.outputs[0], facts.outputs[1]) = (output(Some(0)), output(of_z));
        WindowEvidence::new(facts, None)
    });
    let [first, mut second] = windows;
    change(&mut second.facts.outputs[1]);
    let recording = Recording {
        tensors: vec![y(Tolerance::Exact), y(Tolerance::Exact)],
        ..of(y(Tolerance::Exact))
    };
    blindness_of_constants(&recording, &[&first, &second], 2)
}

#[test]
fn one_output_that_is_right_and_not_constant_can_be_judged() {
    assert!(of_two_outputs(Some(0), |_| ()).is_some());
    assert_eq!(of_two_outputs(None, |_| ()), None);
    assert_eq!(
        of_two_outputs(Some(0), |output| output.matched = 3),
        None,
        "it was wrong"
    );
    assert_eq!(of_two_outputs(Some(0), |output| output.constant_bits = 7), None);
}

#[test]
fn the_farthest_distance_of_all_calls_is_shown() {
    for calls in [[(0, 1e-3), (0, 4e-3)], [(0, 4e-3), (0, 1e-3)]] {
        let told = constants(&calls, 2).unwrap();
        assert!(told.contains("by at most 4.000e-3"), "{told}");
    }
}
