use std::time::Duration;

use bytemuck::Zeroable;
use gpubench::catalog::{DType, Fill, Role, Tolerance};

use super::*;
use crate::verdict::{RunEvidence, Surroundings, TimeUse, balance, open_sandbox};
use gpubench_device::ClockBound;
use gpubench_protocol::wire::{FaultPlace, FixedText, WindowFacts};
use gpubench_sandbox::Confinement;

mod claims;
mod outputs;

fn judge(evidence: &Evidence<'_>) -> Judgement {
    let judgement = super::judge(evidence, balance(evidence).as_ref());
    // A record can keep any evidence.
    let record = serde_json::to_string(evidence).expect("it can be written");
    let kept: crate::verdict::KeptEvidence = serde_json::from_str(&record).expect("it can be read");
    assert_eq!(kept.judge(), judgement);
    judgement
}

const NO_CLOCK: ClockBound = ClockBound::Absent(std::borrow::Cow::Borrowed("a test has none"));

fn tensors() -> Vec<Tensor> {
    vec![Tensor {
        name: "y".to_owned(),
        dtype: DType::F32,
        shape: vec![4, 25],
        role: Role::Output,
        fill: Fill::Poison,
        tolerance: Tolerance::Close { rtol: 1e-5, atol: 0.0 },
        record: None,
    }]
}

fn good_output() -> OutputFacts {
    OutputFacts {
        elements: 100,
        matched: 100,
        same_as_first: 1,
        first_wrong: NOWHERE,
        worst: NOWHERE,
        ..OutputFacts::zeroed()
    }
}

fn wrong_output(wrong: u64) -> OutputFacts {
    OutputFacts {
        matched: 100 - wrong,
        first_wrong: 100 - wrong,
        expected_bits: u64::from(1.5_f32.to_bits()),
        got_bits: u64::from(2.5_f32.to_bits()),
        max_abs: 1.0,
        max_rel: 2.0 / 3.0,
        ..good_output()
    }
}

fn window(number: u32, output: OutputFacts) -> WindowEvidence {
    let mut facts = WindowFacts {
        window: number,
        redzone_buffer: NOWHERE,
        output_count: 1,
        s2_ns: 2_000,
        ..WindowFacts::zeroed()
    };
    facts.outputs[0] = output;
    let claim = Claim {
        elapsed_ns: 100.0,
        ..Claim::empty(number)
    };
    WindowEvidence::new(Box::new(facts), Some(Box::new(claim)))
}

fn evidence<'a>(tensors: &'a [Tensor], windows: &'a [WindowEvidence], ending: Ending) -> Evidence<'a> {
    Evidence {
        metric: MetricKind::Time,
        tensors,
        calls: std::num::NonZeroU32::MIN,
        scratch: &[],
        runs: vec![of_worker(windows, &[])],
        ending,
        execution: &Execution::Sealed,
        gate: Gate::Stream,
        clock_bound: &NO_CLOCK,
        floor_ns: None,
        surroundings: Surroundings::default(),
        open_sandboxes: &[],
    }
}

/// The windows of a worker, and the control windows between them.
fn of_worker<'a>(windows: &'a [WindowEvidence], controls: &'a [WindowEvidence]) -> RunEvidence<'a> {
    RunEvidence {
        windows,
        controls,
        last_call: windows.len() as u32,
        ..RunEvidence::default()
    }
}

#[test]
fn kept_tensors_whose_size_has_no_number_are_refused() {
    let mut tensors = tensors();
    let read = |tensors: &[Tensor]| {
        let record = serde_json::to_string(&evidence(tensors, &[], Ending::Stopped)).expect("it can be written");
        serde_json::from_str::<crate::verdict::KeptEvidence>(&record).map(drop)
    };
    assert!(read(&tensors).is_ok());
    tensors[0].shape = vec![1 << 32, 1 << 30];
    let refusal = read(&tensors).expect_err("2^64 bytes").to_string();
    assert!(refusal.starts_with("the size of `y` has no number"), "{refusal}");
    tensors[0].shape = vec![1 << 30, 8];
    let at = gpubench::catalog::Field {
        name: "at".to_owned(),
        offset: 0,
        dtype: DType::U8,
        count: Some(1 << 40),
        tolerance: Tolerance::Exact,
    };
    tensors[0].record = Some(Box::new(gpubench::catalog::Record {
        name: "Hit".to_owned(),
        fields: vec![at],
    }));
    let refusal = read(&tensors).expect_err("2^70 bytes").to_string();
    assert!(refusal.starts_with("the size of `y[].at[]` has no number"), "{refusal}");
}

fn judge_windows(windows: &[WindowEvidence], ending: Ending) -> Judgement {
    judge(&evidence(&tensors(), windows, ending))
}

fn describe(judgement: &Judgement) -> String {
    let cause = judgement.cause.map_or("-", Cause::as_str);
    format!(
        "{} / {cause}: {}",
        judgement.verdict,
        judgement.message.as_deref().unwrap_or("-")
    )
}

fn describe_windows(windows: &[WindowEvidence]) -> String {
    describe(&judge_windows(windows, Ending::Stopped))
}

#[test]
fn messages_name_a_later_worker_by_its_number() {
    let tensors = tensors();
    let windows = [window(1, good_output())];
    let ended = Ending::WorkerEnded {
        end: End::Exited(3),
        log: String::new(),
    };
    let slow = Ending::TimedOut {
        within: std::time::Duration::from_secs(3),
    };
    let message_of = |ending, last_call| {
        let second = Evidence {
            runs: vec![
                of_worker(&windows, &[]),
                RunEvidence {
                    last_call,
                    ..RunEvidence::default()
                },
            ],
            ..evidence(&tensors, &windows, ending)
        };
        judge(&second).message.unwrap()
    };
    assert_eq!(
        message_of(ended.clone(), 0),
        "worker 2 of the case exited with code 3 while loading its kernels"
    );
    assert_eq!(
        message_of(ended, 9),
        "worker 2 of the case exited with code 3 in call 9"
    );
    assert!(message_of(slow, 0).starts_with("worker 2 of the case did not load its kernels within 3s"));
    let refused = Ending::SetUpFailed {
        message: "no handle".to_owned(),
    };
    assert_eq!(
        message_of(refused, 0),
        "worker 2 of the case could not be set up, though earlier workers could: no handle"
    );
}

#[test]
fn a_case_without_a_checked_call_does_not_pass() {
    let expected = "error / internal: no call was checked";
    assert_eq!(describe_windows(&[]), expected);
    let mut left = window(1, good_output());
    left.facts.end = WindowEnd::Aborted;
    left.claim = None;
    assert_eq!(describe_windows(&[left]), expected);
}

#[test]
fn warm_up_windows_are_never_sampled() {
    let tensors = tensors();
    let mut windows: Vec<_> = (1..=6).map(|number| window(number, good_output())).collect();
    for warm_up in [0, 1, 3] {
        windows[warm_up].time_use = TimeUse::WarmUp;
    }
    let (first, second) = windows.split_at(3);
    let two_workers = Evidence {
        runs: vec![of_worker(first, &[]), of_worker(second, &[])],
        ..evidence(&tensors, &windows, Ending::Stopped)
    };
    let calls: Vec<u32> = two_workers.sampled().iter().map(|window| window.facts.window).collect();
    assert_eq!(calls, [3, 5, 6]);
}

#[test]
fn correct_windows_pass_with_the_grade_of_the_device() {
    let windows = [window(1, good_output()), window(2, good_output())];
    let judgement = judge_windows(&windows, Ending::Stopped);
    assert_eq!(
        (judgement.verdict, judgement.cause, judgement.grade),
        (Verdict::Pass, None, Grade::Unverified)
    );
    let tensors = tensors();
    let with_floor = |floor_ns| Evidence {
        floor_ns: Some(floor_ns),
        ..evidence(&tensors, &windows, Ending::Stopped)
    };
    assert_eq!(judge(&with_floor(100.0)).verdict, Verdict::Pass);
    assert_eq!(judge(&with_floor(100.5)).verdict, Verdict::BelowFloor);
}

/// A timed window of 391 µs with a call of 100 µs, for which the worker claims `claimed_us`.
fn clocked(number: u32, claimed_us: f64) -> WindowEvidence {
    let mut clocked = window(number, good_output());
    clocked.facts.s0_ns = 1_000_000;
    clocked.facts.s1_ns = 1_090_000;
    clocked.facts.s2_ns = clocked.facts.s1_ns + 391_000 + u64::from(number % 7) * 300;
    clocked.facts.s3_ns = clocked.facts.s2_ns + 5_000;
    clocked.claim = Some(Box::new(Claim {
        elapsed_ns: claimed_us * 1e3,
        ..Claim::empty(number)
    }));
    clocked
}

fn control_windows() -> Vec<WindowEvidence> {
    let control = |number| {
        let mut control = clocked(number, 1.3);
        control.facts.kind = WindowKind::Control;
        control.facts.s2_ns -= 98_700;
        control.facts.s3_ns -= 98_700;
        control
    };
    (0..20).map(control).collect()
}

fn judge_clocked(
    claimed_us: impl Fn(u32) -> f64,
    change: impl FnOnce(&mut Vec<WindowEvidence>, &mut Vec<WindowEvidence>),
) -> Judgement {
    let tensors = tensors();
    let mut windows: Vec<_> = (1..=40).map(|number| clocked(number, claimed_us(number))).collect();
    let mut control = control_windows();
    change(&mut windows, &mut control);
    judge(&Evidence {
        clock_bound: &ClockBound::Exclusive,
        runs: vec![of_worker(&windows, &control)],
        ..evidence(&tensors, &windows, Ending::Stopped)
    })
}

#[test]
fn claims_that_the_referees_clock_confirms_are_sealed() {
    let judgement = judge_clocked(|_| 100.0, |_, _| ());
    assert_eq!(
        (judgement.verdict, judgement.grade, judgement.grade_reason),
        (Verdict::Pass, Grade::Sealed, None)
    );
}

#[test]
fn claims_that_hide_time_are_a_mismatch_that_states_the_excess() {
    let messages = [
        judge_clocked(|_| 85.0, |_, _| ()),
        judge_clocked(|number| if number % 2 == 0 { 70.0 } else { 100.0 }, |_, _| ()),
    ]
    .map(|judgement| describe(&judgement));
    insta::assert_snapshot!(messages.join("\n"));
    let unreported = [
        judge_clocked(|number| if number % 2 == 0 { 80.0 } else { 120.0 }, |_, _| ()),
        judge_clocked(|number| if number % 4 == 0 { 40.0 } else { 100.0 }, |_, _| ()),
    ];
    let verdicts = unreported.map(|judgement| judgement.verdict);
    assert_eq!(verdicts, [Verdict::Pass; 2], "the reported figure is right");
}

#[test]
fn time_hidden_by_one_of_four_workers_is_found() {
    let tensors = tensors();
    let windows: Vec<_> = (1..=40)
        .map(|number| clocked(number, if number <= 10 { 40.0 } else { 100.0 }))
        .collect();
    let control = control_windows();
    let by_four = Evidence {
        clock_bound: &ClockBound::Exclusive,
        // All control windows are those of a worker without calls, so they count for each.
        runs: [of_worker(&[], &control)]
            .into_iter()
            .chain(windows.chunks(10).map(|windows| of_worker(windows, &[])))
            .collect(),
        ..evidence(&tensors, &windows, Ending::Stopped)
    };
    insta::assert_snapshot!(describe(&judge(&by_four)));
}

#[test]
fn an_untrusted_clock_makes_the_grade_unverified_with_a_reason() {
    let reason = |change: fn(&mut Vec<WindowEvidence>, &mut Vec<WindowEvidence>)| {
        let judgement = judge_clocked(|_| 100.0, change);
        assert_eq!((judgement.verdict, judgement.grade), (Verdict::Pass, Grade::Unverified));
        judgement.grade_reason.unwrap()
    };
    let reasons = [
        reason(|_, control| control.truncate(3)),
        reason(|windows, control| {
            for window in windows[3..9].iter_mut().chain(&mut control[5..6]) {
                window.facts.s0_ns -= 500_000;
            }
        }),
        reason(|windows, _| {
            windows[3..10]
                .iter_mut()
                .for_each(|window| window.facts.s3_ns += 2_000_000)
        }),
        reason(|windows, _| {
            for window in &mut windows[3..10] {
                window.facts.s2_ns += 2_000_000;
                window.facts.s3_ns += 2_000_000;
            }
        }),
        reason(|_, control| control[2].facts.outputs[0].digest_claimed = 1),
    ];
    insta::assert_snapshot!(reasons.join("\n"));
    let few = reason(|windows, control| {
        windows.truncate(4);
        control.truncate(3);
        windows[1].facts.s0_ns -= 500_000;
    });
    assert!(few.starts_with("too few windows"), "one gap proves nothing: {few}");
    let seldom = judge_clocked(
        |_| 100.0,
        |windows, _| {
            windows[3..9]
                .iter_mut()
                .for_each(|window| window.facts.s0_ns -= 500_000)
        },
    );
    assert_eq!(
        seldom.grade,
        Grade::Sealed,
        "a gap in a tenth of the windows proves nothing"
    );
}

/// Judges claims of `claimed_us` for calls of 100 µs, with control windows after the worker's end.
/// The interleaved control windows and all steps of the referee are longer by the given times.
fn judge_with_longer_windows(claimed_us: f64, controls_longer_ns: u64, phases_longer_ns: u64) -> Judgement {
    judge_with_windows_after_the_end(
        claimed_us,
        |windows, control, _| {
            for window in control.iter_mut() {
                window.facts.s2_ns += controls_longer_ns;
                window.facts.s3_ns += controls_longer_ns;
            }
            for window in control.iter_mut().chain(windows) {
                window.facts.s0_ns -= phases_longer_ns;
            }
        },
        |_| (),
    )
}

/// As [`judge_clocked`], with eight control windows after the worker's end as the last argument of
/// `change`.
fn judge_with_windows_after_the_end(
    claimed_us: f64,
    change: impl FnOnce(&mut [WindowEvidence], &mut [WindowEvidence], &mut [WindowEvidence]),
    judged: impl FnOnce(&mut Evidence<'_>),
) -> Judgement {
    let tensors = tensors();
    let mut windows: Vec<_> = (1..=40).map(|number| clocked(number, claimed_us)).collect();
    let (mut control, mut afterwards) = (control_windows(), control_windows());
    afterwards.truncate(8);
    change(&mut windows, &mut control, &mut afterwards);
    let mut evidence = Evidence {
        clock_bound: &ClockBound::Exclusive,
        runs: vec![of_worker(&windows, &control)],
        surroundings: Surroundings {
            controls_afterwards: &afterwards,
            ..Surroundings::default()
        },
        ..evidence(&tensors, &windows, Ending::Stopped)
    };
    judged(&mut evidence);
    judge(&evidence)
}

#[test]
fn control_windows_that_are_slower_while_the_worker_lives_show_work_between_windows() {
    let honest = judge_with_longer_windows(100.0, 0, 0);
    assert_eq!((honest.verdict, honest.grade), (Verdict::Pass, Grade::Sealed));
    // The verdict is the same if the worker also hides time.
    for claimed_us in [100.0, 40.0] {
        let disturbed = judge_with_longer_windows(claimed_us, 60_000, 0);
        assert_eq!(
            (disturbed.verdict, disturbed.cause, disturbed.grade),
            (
                Verdict::ProtocolViolation,
                Some(Cause::WorksBetweenWindows),
                Grade::Unverified
            )
        );
        let [message, reason] = [disturbed.message, disturbed.grade_reason].map(Option::unwrap);
        assert!(
            reason.starts_with("control windows were slower while the worker lived: their median was 60."),
            "{reason}"
        );
        assert!(message.starts_with(&reason), "{message}");
    }
}

#[test]
fn control_windows_that_another_process_may_have_disturbed_only_lower_the_grade() {
    type Change = fn(&mut Evidence<'_>);
    let lengthen = |_: &mut [WindowEvidence], control: &mut [WindowEvidence], _: &mut [WindowEvidence]| {
        control.iter_mut().for_each(|window| window.facts.s2_ns += 60_000);
    };
    let somebody_else: [Change; 2] = [
        |evidence| evidence.surroundings.other_clients = Some(1),
        |evidence| evidence.surroundings.rivals = 1,
    ];
    for change in somebody_else {
        let judgement = judge_with_windows_after_the_end(100.0, lengthen, change);
        assert_eq!((judgement.verdict, judgement.grade), (Verdict::Pass, Grade::Unverified));
        // Hidden time fails the case all the same.
        let hidden = judge_with_windows_after_the_end(40.0, lengthen, change);
        assert_eq!(
            (hidden.verdict, hidden.cause),
            (Verdict::TimeMismatch, Some(Cause::ClaimTooShort))
        );
    }
}

#[test]
fn an_output_that_changes_in_control_windows_while_the_worker_lives_shows_work_between_windows() {
    let change = |windows: &mut [WindowEvidence]| windows[3].facts.outputs[0].digest_claimed = 1;
    let until_its_end = judge_with_windows_after_the_end(100.0, |_, control, _| change(control), |_| ());
    assert_eq!(
        (until_its_end.verdict, until_its_end.cause),
        (Verdict::ProtocolViolation, Some(Cause::WorksBetweenWindows))
    );
    let message = until_its_end.message.unwrap();
    assert!(
        message.starts_with("an output changed in 1 of 28 control windows, where the call under test does not run"),
        "{message}"
    );
    let after_it = judge_with_windows_after_the_end(
        100.0,
        |_, control, afterwards| {
            change(control);
            change(afterwards);
        },
        |_| (),
    );
    assert_eq!((after_it.verdict, after_it.grade), (Verdict::Pass, Grade::Unverified));
}

#[test]
fn slower_referee_steps_while_the_worker_lives_lower_the_grade() {
    let judgement = judge_with_longer_windows(100.0, 0, 400_000);
    assert_eq!((judgement.verdict, judgement.grade), (Verdict::Pass, Grade::Unverified));
    let reason = judgement.grade_reason.unwrap();
    assert!(reason.contains("in 60 of 60 windows"), "{reason}");
}

#[test]
fn other_clients_and_a_lost_control_worker_make_the_grade_unverified() {
    let (tensors, control) = (tensors(), control_windows());
    let windows: Vec<_> = (1..=40).map(|number| clocked(number, 100.0)).collect();
    let sealed = Evidence {
        clock_bound: &ClockBound::Exclusive,
        runs: vec![of_worker(&windows, &control)],
        surroundings: Surroundings {
            other_clients: Some(0),
            ..Surroundings::default()
        },
        ..evidence(&tensors, &windows, Ending::Stopped)
    };
    assert_eq!(judge(&sealed).grade, Grade::Sealed);
    let lost = Evidence {
        surroundings: Surroundings {
            loss: Some("the control worker was killed by SIGKILL"),
            ..sealed.surroundings
        },
        ..sealed.clone()
    };
    let shared = Evidence {
        surroundings: Surroundings {
            other_clients: Some(2),
            ..sealed.surroundings
        },
        ..sealed
    };
    for (evidence, reason) in [(lost, "SIGKILL"), (shared, "2 other processes")] {
        let judgement = judge(&evidence);
        assert_eq!(judgement.grade, Grade::Unverified);
        assert!(judgement.grade_reason.unwrap().contains(reason));
    }
}

#[test]
fn an_open_sandbox_of_any_user_code_lowers_the_grade() {
    let (tensors, control) = (tensors(), control_windows());
    let windows: Vec<_> = (1..=40).map(|number| clocked(number, 100.0)).collect();
    let open = ["generators and references", "native kernels"].map(|whose| open_sandbox(whose, "no Landlock"));
    let judgement = judge(&Evidence {
        clock_bound: &ClockBound::Exclusive,
        runs: vec![of_worker(&windows, &control)],
        open_sandboxes: &open,
        ..evidence(&tensors, &windows, Ending::Stopped)
    });
    let reason = "the sandbox of generators and references has a gap: no Landlock; \
                the sandbox of native kernels has a gap: no Landlock";
    assert_eq!(
        (judgement.verdict, judgement.grade, judgement.grade_reason.as_deref()),
        (Verdict::Pass, Grade::Unverified, Some(reason))
    );
}

#[test]
fn hosted_code_is_sandboxed_in_a_closed_sandbox_and_unverified_otherwise() {
    let (tensors, control) = (tensors(), control_windows());
    let windows: Vec<_> = (1..=40).map(|number| clocked(number, 100.0)).collect();
    let graded = |confinement: Confinement, clock_bound: &ClockBound| {
        let judgement = judge(&Evidence {
            execution: &Execution::Hosted(confinement),
            clock_bound,
            runs: vec![of_worker(&windows, &control)],
            ..evidence(&tensors, &windows, Ending::Stopped)
        });
        (judgement.grade, judgement.grade_reason.unwrap_or_default())
    };
    let open = || Confinement::Open("no filter".to_owned());
    let unclosed = "the sandbox of the hosted code has a gap: no filter";
    assert_eq!(
        graded(Confinement::Closed, &ClockBound::Exclusive),
        (Grade::Sandboxed, String::new())
    );
    assert_eq!(
        graded(open(), &ClockBound::Exclusive),
        (Grade::Unverified, unclosed.to_owned())
    );
    assert_eq!(
        graded(open(), &NO_CLOCK),
        (Grade::Unverified, format!("a test has none; {unclosed}"))
    );
    let of_several = judge(&Evidence {
        execution: &Execution::Hosted(Confinement::Closed),
        calls: std::num::NonZeroU32::new(10).unwrap(),
        clock_bound: &ClockBound::Exclusive,
        runs: vec![of_worker(&windows, &control)],
        ..evidence(&vec![tensors.clone(); 10].concat(), &windows, Ending::Stopped)
    });
    assert_eq!(of_several.grade, Grade::Unverified);
    let reason = of_several.grade_reason.expect("a reason");
    assert!(
        reason.starts_with("its host code knows which calls a window makes"),
        "{reason}"
    );
}

#[test]
fn each_kind_of_wrong_output_has_its_own_cause() {
    let wrong = |wrong, change: fn(&mut OutputFacts)| {
        let mut output = wrong_output(wrong);
        change(&mut output);
        describe_windows(&[window(1, good_output()), window(2, good_output()), window(3, output)])
    };
    let messages = [
        wrong(100, |output| output.unwritten = 100),
        wrong(97, |output| output.unwritten = 97),
        wrong(50, |output| output.unwritten = 50),
        wrong(60, |output| output.unwritten = 50),
        wrong(100, |output| {
            (output.same_as_first, output.constant_bits) = (100, output.got_bits)
        }),
        wrong(3, |output| {
            (output.non_finite, output.got_bits) = (3, u64::from(f32::NAN.to_bits()))
        }),
        wrong(3, |_| ()),
        wrong(3, |output| (output.expected_bits, output.max_rel) = (0, 0.0)),
        wrong(100, |output| (output.expected_bits, output.max_rel) = (0, 0.0)),
        wrong(100, |output| output.replay = Replay::First as u64),
        wrong(100, |output| output.replay = Replay::Previous as u64),
        wrong(0, |output| output.late_bytes = 8),
        wrong(0, |output| output.digest_claimed = 8),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_replay_found_in_a_later_call_names_the_cause() {
    let replay = |number, replay: Replay| {
        window(
            number,
            OutputFacts {
                replay: replay as u64,
                ..wrong_output(100)
            },
        )
    };
    let cached = [
        window(1, good_output()),
        replay(2, Replay::FirstAndPrevious),
        replay(3, Replay::First),
    ];
    assert_eq!(judge_windows(&cached, Ending::Stopped).cause, Some(Cause::Cached));
    let previous = [
        window(1, wrong_output(100)),
        replay(2, Replay::FirstAndPrevious),
        replay(3, Replay::Previous),
    ];
    assert_eq!(judge_windows(&previous, Ending::Stopped).cause, Some(Cause::Stale));
}

#[test]
fn redzone_writes_and_impossible_claims_fail_a_right_output() {
    let mut after = window(4, good_output());
    (
        after.facts.redzone_buffer,
        after.facts.redzone_offset,
        after.facts.redzone_bytes,
    ) = (0, 404, 4);
    let mut before = window(4, good_output());
    (
        before.facts.redzone_buffer,
        before.facts.redzone_offset,
        before.facts.redzone_bytes,
    ) = (0, -8, 1);
    let claims = [f64::NAN, 0.0, -1.0, f64::INFINITY, 1e6].map(|elapsed_ns| {
        let mut window = window(4, good_output());
        window.claim = Some(Box::new(Claim {
            elapsed_ns,
            ..Claim::empty(4)
        }));
        window
    });
    let messages: Vec<String> = [after, before]
        .into_iter()
        .chain(claims)
        .map(|window| describe_windows(&[window]))
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_fault_is_reported_with_its_place_and_overrides_the_ending() {
    let mut faulted = window(2, good_output());
    faulted.facts.end = WindowEnd::Aborted;
    faulted.claim = Some(Box::new(Claim {
        fault: FaultCode::OutOfBounds,
        block: [1, 0, 0],
        thread: [3, 2, 0],
        place: FaultPlace::Thread,
        step: 1,
        text: FixedText::new("invalid write, 4 bytes past the end of `y` (400 bytes)"),
        ..Claim::empty(2)
    }));
    let ending = Ending::WorkerEnded {
        end: End::Exited(1),
        log: String::new(),
    };
    let judgement = judge_windows(&[window(1, good_output()), faulted], ending);
    assert_eq!(
        (judgement.verdict, judgement.cause),
        (Verdict::Crashed, Some(Cause::OutOfBounds))
    );
    insta::assert_snapshot!(describe(&judgement));
}

#[test]
fn a_case_without_a_bad_window_is_judged_by_its_ending() {
    let mut last = window(2, good_output());
    (last.facts.end, last.claim) = (WindowEnd::Aborted, None);
    let windows = [window(1, good_output()), last];
    let endings = [
        Ending::WorkerEnded {
            end: End::Killed(9),
            log: String::new(),
        },
        Ending::WorkerEnded {
            end: End::Exited(3),
            log: "last words".to_owned(),
        },
        Ending::TimedOut {
            within: Duration::from_secs(10),
        },
        Ending::BrokeProtocol {
            what: "it armed window `3` instead of `2`".to_owned(),
        },
    ];
    let messages: Vec<String> = endings
        .into_iter()
        .map(|ending| describe(&judge_windows(&windows, ending)))
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn host_code_failures_have_their_own_causes() {
    let failed = |fault: FaultCode, text: &str| {
        let mut window = window(3, good_output());
        window.facts.end = WindowEnd::Aborted;
        window.claim = Some(Box::new(Claim {
            fault,
            text: FixedText::new(text),
            ..Claim::empty(3)
        }));
        describe_windows(&[window])
    };
    let refused = Ending::SetUpFailed {
        message: "it panicked".to_owned(),
    };
    let messages = [
        failed(FaultCode::HostCallFailed, "no workspace"),
        failed(FaultCode::ForeignContext, "another context"),
        describe(&judge_windows(&[], refused)),
    ];
    let expected = [
        "crashed / call-failed: the host code failed in call 3: no workspace",
        "protocol-violation / foreign-context: the host code failed in call 3: another context",
        "error / setup-failed: it panicked",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn a_claim_for_a_window_that_the_device_never_ended_is_a_violation() {
    for end in [WindowEnd::NotDone, WindowEnd::Aborted] {
        let mut lying = window(1, good_output());
        lying.facts.end = end;
        assert_eq!(
            judge_windows(&[lying], Ending::Stopped).verdict,
            Verdict::ProtocolViolation,
            "{end:?}"
        );
    }
}

#[test]
fn each_fault_has_its_own_cause() {
    let cause = |fault: FaultCode| {
        let mut faulted = window(1, good_output());
        faulted.facts.end = WindowEnd::Aborted;
        faulted.claim = Some(Box::new(Claim {
            fault,
            ..Claim::empty(1)
        }));
        judge_windows(&[faulted], Ending::Stopped).cause.unwrap()
    };
    for (fault, expected) in [
        (FaultCode::OutOfBounds, Cause::OutOfBounds),
        (FaultCode::InputWritten, Cause::InputWritten),
        (FaultCode::BarrierDivergence, Cause::BarrierDivergence),
        (FaultCode::DivisionByZero, Cause::DivisionByZero),
        (FaultCode::StackOverflow, Cause::StackOverflow),
        (FaultCode::IllegalInstruction, Cause::IllegalInstruction),
        (FaultCode::Trap, Cause::Trap),
        (FaultCode::Misaligned, Cause::MisalignedAccess),
        (FaultCode::LaunchFailed, Cause::LaunchFailed),
        (FaultCode::Ecc, Cause::EccError),
        (FaultCode::Other, Cause::Unsupported),
        (FaultCode::HostCallFailed, Cause::CallFailed),
        (FaultCode::ForeignContext, Cause::ForeignContext),
    ] {
        assert_eq!(cause(fault), expected, "{fault:?}");
    }
}

#[test]
fn the_last_ten_lines_of_a_failed_worker_are_shown() {
    let printed: Vec<String> = (1..=11).map(|line| format!("line {line}")).collect();
    let failed = judge_windows(&[window(1, wrong_output(3))], Ending::Stopped);
    let message = failed.clone().with_last_output(&printed.join("\n")).message.unwrap();
    assert!(
        !message.contains("line 1\n") && message.contains("line 2\n"),
        "{message}"
    );
    assert!(message.ends_with("line 11"), "{message}");
    assert_eq!(failed.clone().with_last_output(""), failed);
    let passed = judge_windows(&[window(1, good_output())], Ending::Stopped);
    assert_eq!(passed.clone().with_last_output("all is well"), passed);
}

#[test]
fn an_old_answer_under_a_tolerance_that_accepts_other_answers_is_a_mismatch() {
    let repeated = OutputFacts {
        replay: Replay::First as u64,
        ..wrong_output(2)
    };
    let cause = |first: OutputFacts| {
        let windows = [window(1, first), window(2, repeated)];
        judge_windows(&windows, Ending::Stopped).cause
    };
    assert_eq!(cause(good_output()), Some(Cause::Cached));
    for (zeros, old_answer) in [
        (OtherAnswer::Passes, OtherAnswer::NotAsked),
        (OtherAnswer::NotAsked, OtherAnswer::Passes),
    ] {
        let wide = OutputFacts {
            zeros: zeros as u64,
            old_answer: old_answer as u64,
            ..good_output()
        };
        assert_eq!(cause(wide), Some(Cause::Mismatch));
    }
}

#[test]
fn only_a_wrong_output_after_a_right_first_call_of_the_process_points_at_its_state() {
    let judged = |verdict, cause| Judgement {
        verdict,
        cause,
        message: Some("`y` is wrong".to_owned()),
        grade: Grade::Unverified,
        grade_reason: None,
        window: None,
    };
    let right = judged(Verdict::Pass, None);
    let wrong = judged(Verdict::WrongOutput, Some(Cause::Mismatch));
    let crashed = judged(Verdict::Crashed, Some(Cause::Trap));
    let points = |judgement: &Judgement, window, calls: &[&Judgement]| {
        let calls: Vec<Judgement> = calls.iter().copied().cloned().collect();
        let judgement = Judgement {
            window,
            ..judgement.clone()
        };
        judgement
            .with_earlier_calls(&calls)
            .message
            .unwrap()
            .contains("what outlives a call")
    };
    assert!(points(&wrong, Some(1), &[&right, &wrong]));
    assert!(points(&wrong, Some(2), &[&right, &right, &wrong]));
    assert!(
        !points(&wrong, Some(2), &[&wrong, &right, &wrong]),
        "the first was wrong, too"
    );
    assert!(!points(&wrong, Some(2), &[&right, &right]), "it was in a later process");
    assert!(!points(&wrong, None, &[&right, &right]));
    assert!(!points(&wrong, Some(0), &[]));
    assert!(!points(&crashed, Some(1), &[&right, &crashed]));
}

#[test]
fn a_worker_that_the_kernel_ends_was_killed_and_one_that_ends_itself_exited() {
    for (end, cause) in [
        (End::Killed(9), Cause::Killed),
        (End::OutOfMemory(1 << 30), Cause::Killed),
        (End::Exited(0), Cause::Exited),
    ] {
        let ending = Ending::WorkerEnded {
            end,
            log: String::new(),
        };
        let judgement = judge_windows(&[window(1, good_output())], ending);
        assert_eq!(
            (judgement.verdict, judgement.cause),
            (Verdict::Crashed, Some(cause)),
            "{end:?}"
        );
    }
}

#[test]
fn a_step_of_the_referee_is_a_gap_if_it_takes_300_microseconds_longer_and_the_window_ended() {
    let grade = |longer_ns: u64, end| {
        let judgement = judge_clocked(
            |_| 100.0,
            |windows, _| {
                for window in &mut windows[3..10] {
                    window.facts.s0_ns -= longer_ns;
                    if end != WindowEnd::Checked {
                        (window.facts.end, window.claim) = (end, None);
                    }
                }
            },
        );
        assert_eq!(judgement.verdict, Verdict::Pass);
        judgement.grade
    };
    assert_eq!(grade(299_000, WindowEnd::Checked), Grade::Sealed);
    assert_eq!(grade(301_000, WindowEnd::Checked), Grade::Unverified);
    assert_eq!(grade(500_000, WindowEnd::Aborted), Grade::Sealed);
}

#[test]
fn a_bound_that_is_too_wide_makes_the_grade_unverified() {
    let judgement = judge_clocked(
        |_| 100.0,
        |windows, control| {
            for window in windows.iter_mut().chain(control) {
                let longer_ns = 30_000 * u64::from(window.facts.window % 5);
                window.facts.s2_ns += longer_ns;
                window.facts.s3_ns += longer_ns;
            }
        },
    );
    assert_eq!((judgement.verdict, judgement.grade), (Verdict::Pass, Grade::Unverified));
    let reason = judgement.grade_reason.unwrap();
    assert!(reason.starts_with("the bound on the claims is too wide"), "{reason}");
}

#[test]
fn counts_of_hosted_code_are_unverified_however_well_it_is_confined() {
    let tensors = tensors();
    let windows = [window(1, good_output())];
    let graded = |execution: &Execution| {
        let judgement = judge(&Evidence {
            metric: MetricKind::Instructions,
            execution,
            ..evidence(&tensors, &windows, Ending::Stopped)
        });
        (judgement.grade, judgement.grade_reason.unwrap_or_default())
    };
    let reason = "the benchmark's host code ran in the process that counts";
    assert_eq!(graded(&Execution::Sealed), (Grade::Sealed, String::new()));
    assert_eq!(
        graded(&Execution::Hosted(Confinement::Closed)),
        (Grade::Unverified, reason.to_owned())
    );
    let (grade, reasons) = graded(&Execution::Hosted(Confinement::Open("no filter".to_owned())));
    assert_eq!(grade, Grade::Unverified);
    assert_eq!(
        reasons,
        format!("{reason}; the sandbox of the hosted code has a gap: no filter")
    );
}

#[test]
fn calls_that_may_share_work_make_the_grade_unverified() {
    let tensors = vec![tensors().remove(0); 10];
    let made_by = |mut window: WindowEvidence, calls: u64| {
        for tensor in 0..calls {
            window.facts.outputs[tensor as usize] = OutputFacts {
                tensor,
                ..good_output()
            };
        }
        window.facts.output_count = calls as u32;
        window
    };
    let alone = |number, kind, elapsed_us: f64, observed_us: f64| {
        let mut alone = made_by(clocked(number, elapsed_us), 1);
        alone.facts.kind = kind;
        alone.facts.s2_ns = alone.facts.s1_ns + (observed_us * 1e3) as u64;
        alone.facts.s3_ns = alone.facts.s2_ns + 5_000;
        alone
    };
    let graded = |alone_us: f64, singles: usize| {
        let together = (1..=40).map(|number| made_by(clocked(number, 100.0), 10));
        let single = (41..).map(|number| alone(number, WindowKind::Single, alone_us, 291.0 + alone_us));
        let windows: Vec<_> = together.chain(single.take(singles)).collect();
        let twins: Vec<_> = (0..8)
            .map(|number| alone(number, WindowKind::SingleControl, 1.3, 292.3))
            .collect();
        let controls = control_windows();
        let judgement = judge(&Evidence {
            calls: 10.try_into().unwrap(),
            clock_bound: &ClockBound::Exclusive,
            runs: vec![RunEvidence {
                single_controls: &twins,
                ..of_worker(&windows, &controls)
            }],
            ..evidence(&tensors, &windows, Ending::Stopped)
        });
        assert_eq!(judgement.verdict, Verdict::Pass, "{judgement:?}");
        (judgement.grade, judgement.grade_reason.unwrap_or_default())
    };
    assert_eq!(graded(11.0, 8), (Grade::Sealed, String::new()));
    let (grade, reason) = graded(40.0, 8);
    assert_eq!(grade, Grade::Unverified);
    assert!(reason.starts_with("its calls may share work"), "{reason}");
    let (grade, reason) = graded(11.0, 3);
    assert_eq!(grade, Grade::Unverified);
    assert!(reason.starts_with("too few windows show how long"), "{reason}");
}
