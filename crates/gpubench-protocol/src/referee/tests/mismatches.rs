//! Outputs of which a share of the elements may differ by more than the tolerance.

use super::*;
use crate::referee::buffers::Answers;
use gpubench::catalog::Mismatched;
use gpubench_device::harness::{Comparison, Judged, PoisonPlace};

/// One element of a hundred may be ten tolerances off.
const MOSTLY: Tolerance = Tolerance::Mostly {
    rtol: 0.0,
    atol: 0.5,
    mismatched: Mismatched { share: 0.01, cap: 10.0 },
};

fn comparison(answers: &Answers) -> Comparison {
    Comparison {
        got: answers.snapshot,
        expected: answers.expected,
        len: ELEMENTS as u64,
        dtype: DType::F32,
        tolerance: MOSTLY,
        poison_key: 1,
        poison: PoisonPlace::default(),
        order_key: 2,
    }
}

/// Judges an output of ones, of which `changed` elements hold other values. Ones are expected.
fn judged(changed: &[(usize, f32)]) -> Judged {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, recording());
    let answers = case.buffers()[1].answers.as_ref().unwrap();
    let mut got = [1.0f32; ELEMENTS];
    referee
        .driver
        .write(answers.expected, bytemuck::cast_slice(&got))
        .unwrap();
    for (index, value) in changed {
        got[*index] = *value;
    }
    referee
        .driver
        .write(answers.snapshot, bytemuck::cast_slice(&got))
        .unwrap();
    referee.compare_and_judge(&comparison(answers)).unwrap()
}

/// Changes every 50th element, `count` of them.
fn every_fiftieth(count: usize, value: f32) -> Vec<(usize, f32)> {
    (0..count).map(|position| (50 * position, value)).collect()
}

#[test]
fn a_share_of_the_elements_may_differ_up_to_the_cap() {
    let judged = judged(&every_fiftieth(10, 5.9));
    assert!(judged.summary.all_match());
    assert_eq!(judged.mismatched, 10);
    assert_eq!((judged.summary.first_wrong, judged.summary.worst), (None, Some(0)));
    assert!(
        judged.summary.max_abs_error > 4.8,
        "the errors are those of all elements"
    );
}

#[test]
fn one_element_more_than_the_share_makes_all_of_them_wrong() {
    let judged = judged(&every_fiftieth(11, 5.9));
    assert_eq!((judged.summary.wrong(), judged.mismatched), (11, 0));
    assert_eq!(judged.tolerance, MOSTLY);
}

#[test]
fn an_element_beyond_the_cap_is_wrong_and_named() {
    let judged = judged(&[(3, 2.0), (700, 6.1)]);
    assert_eq!(judged.summary.wrong(), 1);
    assert_eq!(judged.summary.first_wrong, Some(700));
}

#[test]
fn nan_and_infinity_are_never_within_the_share() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let judged = judged(&[(3, 2.0), (700, value)]);
        assert_eq!(
            (judged.summary.wrong(), judged.summary.first_wrong),
            (1, Some(700)),
            "{value}"
        );
        assert_eq!(judged.summary.non_finite, 1, "{value}");
    }
}

#[test]
fn an_element_that_was_not_written_is_never_within_the_share() {
    let mut stage = Stage::set();
    stage.honest(1);
    let answers = *stage.case.buffers()[1].answers.as_ref().unwrap();
    let (driver, place) = (&mut *stage.referee.driver, WindowId { case: 0, window: 1 });
    let key = stage.referee.seeds.key(KeyPurpose::Poison, place);
    let offset = stage.case.buffers()[1].layout.offset;
    let harness = &stage.referee.harness;
    // The noise is expected, but for its first element.
    harness
        .noise(driver, stage.referee.stream, answers.snapshot, 4, key, offset)
        .unwrap();
    driver.synchronize(stage.referee.stream).unwrap();
    let anything = Comparison {
        tolerance: Tolerance::Mostly {
            rtol: 0.0,
            atol: 1e-30,
            mismatched: Mismatched { share: 0.5, cap: 1e300 },
        },
        poison_key: key,
        poison: PoisonPlace { offset, row: None },
        ..comparison(&answers)
    };
    let judged = stage.referee.compare_and_judge(&anything).unwrap();
    assert_eq!((judged.summary.wrong(), judged.summary.unwritten), (1, 1));
}

#[test]
fn a_check_that_lets_few_elements_differ_rejects_zeros_and_old_answers() {
    let mut mostly = recording();
    mostly.tensors[1].tolerance = Tolerance::Mostly {
        rtol: 1e-6,
        atol: 0.0,
        mismatched: Mismatched { share: 0.1, cap: 1e6 },
    };
    let mut stage = Stage::from_recording(mostly);
    stage.honest(1);
    let output = stage.honest(2).outputs()[0];
    assert_eq!(
        (output.old_answer(), output.zeros()),
        (OtherAnswer::Fails, OtherAnswer::Fails)
    );
    let wrong = stage.window(3, |driver, stream, x, y| {
        driver.copy(stream, y, x, 4 * ELEMENTS as u64).unwrap();
        driver.set(stream, y, 0, 4 * 101).unwrap();
    });
    assert_eq!(wrong.outputs()[0].matched, ELEMENTS as u64 - 101);
    let few = stage.window(4, |driver, stream, x, y| {
        driver.copy(stream, y, x, 4 * ELEMENTS as u64).unwrap();
        driver.set(stream, y, 0, 4 * 100).unwrap();
    });
    assert_eq!(
        (few.outputs()[0].matched, few.outputs()[0].mismatched),
        (ELEMENTS as u64, 100)
    );
    assert!(stage.referee.differences_of_window.is_empty());
}
