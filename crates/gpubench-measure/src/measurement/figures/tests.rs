//! From measurements that were made up to their records.

use bytemuck::Zeroable;
use gpubench::catalog::{DType, Fill, Reference, Role, Tensor, Tolerance, Work};
use gpubench::plan::Plan;

use super::*;
use crate::measurement::measured::ended;
use crate::measurement::passed_case::passed_case;
use gpubench_contract::{DeviceKind, Verdict};
use gpubench_protocol::wire::{Claim, WindowFacts};
use gpubench_stats::{Clocked, ClockedTurn};

fn window(kind: WindowKind, end: WindowEnd, claim_ns: Option<f64>) -> WindowEvidence {
    let facts = WindowFacts {
        kind,
        end,
        s1_ns: 1_000,
        s2_ns: 301_000,
        ..WindowFacts::zeroed()
    };
    let claim = claim_ns.map(|elapsed_ns| Claim {
        elapsed_ns,
        ..Claim::empty(1)
    });
    WindowEvidence::new(Box::new(facts), claim.map(Box::new))
}

#[test]
fn there_is_a_residual_for_each_sample_or_none_at_all() {
    let (timed, early) = (WindowKind::Timed, WindowKind::EarlyCheck);
    let windows = [
        window(timed, WindowEnd::Checked, Some(9_000.4)),
        window(early, WindowEnd::Checked, Some(0.0)),
        window(timed, WindowEnd::Checked, Some(300_032.0)),
        // A failed window without a sample.
        window(timed, WindowEnd::Checked, Some(10_000.0)),
    ];
    let all: Vec<&WindowEvidence> = windows.iter().collect();
    assert_eq!(residuals(&all, 2), [291_000, -32]);
    let unclaimed = window(timed, WindowEnd::NotDone, None);
    assert_eq!(residuals(&[all[0], &unclaimed], 2), [0; 0]);
}

#[test]
fn only_counts_that_differ_are_noticed() {
    let counted = Metric::instructions();
    assert_eq!(varying_counts(&counted, &[92.0; 3]), None);
    assert_eq!(varying_counts(&Metric::time(), &[92.0, 93.0]), None);
    let notice = varying_counts(&counted, &[92.0, 94.0, 91.0]);
    assert!(notice.is_some_and(|notice| notice.contains("from 91 to 94")));
}

#[test]
fn operations_are_doubted_only_beyond_the_peak_of_their_type() {
    let peaks = ArithmeticPeaks {
        f32: Some(67e12),
        bf16: Some(989e12),
        ..ArithmeticPeaks::default()
    };
    let doubt = |operands| {
        let throughput = Throughput {
            flops_per_s: Some(700e12),
            ..Throughput::default()
        };
        doubtful_flops(&throughput, limit(&peaks, operands))
    };
    assert_eq!(doubt(Some(DType::BF16)), None);
    assert_eq!(doubt(None), None, "it may be any type");
    assert!(doubt(Some(DType::F32)).is_some_and(|notice| notice.contains("10.45 times")));
}

#[test]
fn disturbed_control_windows_are_replaced_by_those_after_the_end() {
    let control = |length_ns: u64| {
        let mut window = window(WindowKind::Control, WindowEnd::Checked, Some(0.0));
        window.facts.s2_ns = window.facts.s1_ns + length_ns;
        window
    };
    let windows = |length_ns: u64| [0, 20, 40, 60, 80, 100, 120, 140].map(|more| control(length_ns + more));
    let compared = |interleaved_ns: u64| {
        let (interleaved, afterwards) = (windows(interleaved_ns), windows(290_000));
        let clocked = Clocked {
            claim_ns: 10_000.0,
            residual_ns: 291_000.0,
        };
        let turn = ClockedTurn {
            windows: vec![clocked; 8],
            control_ns: control_residuals(&interleaved),
        };
        let balance = TimingAudit::new(&[turn], &control_residuals(&afterwards));
        let compared = compared_with(&balance.unwrap(), interleaved.iter(), afterwards.iter());
        whole(compared)[0]
    };
    assert_eq!(compared(291_000), 291_000);
    assert_eq!(compared(350_000), 290_000);
}

#[test]
fn control_windows_after_the_end_are_no_workers_share() {
    let with_controls = |number| {
        let mut run = WorkerRun::default();
        run.controls.windows = vec![window(WindowKind::Control, WindowEnd::Checked, Some(1_000.0)); number];
        run
    };
    let workers = [with_controls(3), with_controls(0), with_controls(5)];
    for (disturbance_ns, shares) in [(None, &[3, 0, 5][..]), (Some(60_000.0), &[])] {
        let balance = TimingAudit {
            verified_ns: 0.0,
            excess_ns: 0.0,
            bound_ns: 0.0,
            claimed_ns: 0.0,
            disturbance_ns,
        };
        assert_eq!(control_shares(&balance, &workers), shares, "{disturbance_ns:?}");
    }
}

fn recording(execution: gpubench::catalog::Execution) -> Recording {
    let x = Tensor {
        name: "x".to_owned(),
        dtype: DType::F32,
        shape: vec![4],
        role: Role::Input,
        fill: Fill::Poison,
        tolerance: Tolerance::Exact,
        record: None,
    };
    Recording {
        tensors: vec![x],
        work: Work::default(),
        plan: Plan::default(),
        execution,
        call: None,
        reference: Reference::Author,
    }
}

fn expectations() -> Expectations {
    Expectations {
        target_cv: 0.01,
        peak_bandwidth: None,
        peak_arithmetic: ArithmeticPeaks::default(),
        criteria: PassCriteria::default(),
        shared_everywhere: None,
    }
}

#[test]
fn the_unclaimed_time_of_a_window_is_divided_by_its_calls() {
    use gpubench::catalog::Execution::{Hosted, HostedSync, Sealed};
    let balance = TimingAudit {
        verified_ns: 0.0,
        excess_ns: 11_000.0,
        bound_ns: 0.0,
        claimed_ns: 0.0,
        disturbance_ns: None,
    };
    let unclaimed_ns = balance.unclaimed_ns();
    for (execution, calls, added_ns) in [
        (Hosted, 1, unclaimed_ns),
        (HostedSync, 1, unclaimed_ns),
        (Hosted, 10, unclaimed_ns / 10.0),
        (Sealed, 10, 0.0),
    ] {
        let mut run = WorkerRun::default();
        run.samples.values = vec![500.0, 600.0];
        let measured = Measured {
            calls: NonZeroU32::new(calls).unwrap(),
            gate: Gate::new(execution),
            balance: Some(balance),
            workers: vec![run],
            ..ended((Verdict::Pass, None))
        };
        let (recording, metric) = (recording(execution), Metric::time());
        let figures = Figures::new(&recording, &metric, measured, expectations());
        assert_eq!(
            figures.samples,
            [[500.0 + added_ns, 600.0 + added_ns]],
            "{execution:?} {calls}"
        );
        assert_eq!(figures.added_ns, Some(added_ns), "{execution:?} {calls}");
        assert_eq!(
            figures.notices().len(),
            usize::from(added_ns > 0.0),
            "{execution:?} {calls}"
        );
    }
}

#[test]
fn windows_are_counted_by_kind_and_by_the_use_of_their_time() {
    let of = |kind, time_use| WindowEvidence {
        time_use,
        ..window(kind, WindowEnd::Checked, Some(1.0))
    };
    use TimeUse::{Counts, Energy, ThrownAway, WarmUp};
    use WindowKind::{EarlyCheck, Parts, Single, Timed};
    let mut numbers = 1..;
    let mut several = |kind, time_use| vec![of(kind, time_use); numbers.next().unwrap()];
    let mut run = WorkerRun {
        windows: [
            several(Timed, WarmUp),
            several(Timed, ThrownAway),
            several(Timed, Energy),
            several(EarlyCheck, Counts),
            several(Parts, Counts),
            several(Single, Counts),
            several(Timed, Counts),
        ]
        .concat(),
        ..WorkerRun::default()
    };
    run.controls.windows = several(WindowKind::Control, Counts);
    let measured = Measured {
        workers: vec![run],
        controls_afterwards: several(WindowKind::Control, Counts),
        ..ended((Verdict::Pass, None))
    };
    let expected = WindowCounts {
        warm_up: 1,
        retaken: 2,
        energy: 3,
        early_check: 4,
        parts: 5,
        single: 6,
        timed: 7,
        control: 8 + 9,
    };
    assert_eq!(window_counts(&measured), expected);
}

#[test]
fn every_call_of_a_checked_window_has_inputs_of_its_own() {
    let calls = NonZeroU32::new(5).unwrap();
    let with_inputs = |inputs, kind, end, input_digest| {
        let mut window = window(kind, end, None);
        window.facts.input_digest = input_digest;
        WindowEvidence { inputs, ..window }
    };
    let windows = [
        with_inputs(1, WindowKind::Timed, WindowEnd::Checked, 1),
        // The generator repeats itself.
        with_inputs(2, WindowKind::Timed, WindowEnd::Checked, 1),
        with_inputs(3, WindowKind::Single, WindowEnd::Checked, 2),
        with_inputs(4, WindowKind::Timed, WindowEnd::Aborted, 3),
        // Another worker gets the inputs of the first window and makes one of the calls.
        with_inputs(1, WindowKind::Single, WindowEnd::Checked, 4),
    ];
    let mut recording = recording(Default::default());
    assert_eq!(distinct_inputs(&recording, calls, &windows.each_ref()), 5 + 1);
    recording.tensors.clear();
    assert_eq!(distinct_inputs(&recording, calls, &windows.each_ref()), 0);
}

fn count(range: &str, of: &str, value: f64) -> Count {
    Count {
        range: range.to_owned(),
        of: of.to_owned(),
        value,
    }
}

#[test]
fn instructions_are_added_up_by_function_the_most_first() {
    let counted = vec![
        count("spin", "inner", 3.0),
        count("copy", "", 10.0),
        count("spin", "inner", 4.0),
        count("copy", "inner", 5.0),
    ];
    let found = counts(&Metric::instructions(), counted).unwrap().functions;
    let shown: Vec<(&str, Option<&str>, f64)> = found
        .iter()
        .map(|function| (&*function.kernel, function.function.as_deref(), function.instructions))
        .collect();
    let expected = [
        ("copy", None, 10.0),
        ("spin", Some("inner"), 7.0),
        ("copy", Some("inner"), 5.0),
    ];
    assert_eq!(shown, expected);
    assert_eq!(counts(&Metric::time(), vec![count("spin", "", 1.0)]), None);
    assert_eq!(counts(&Metric::instructions(), Vec::new()), None);
}

#[test]
fn hardware_metrics_are_those_of_the_last_worker_that_has_some() {
    let with = |counts: &[Count]| {
        let mut run = WorkerRun::default();
        run.samples.counts = counts.to_vec();
        run
    };
    let measured = Measured {
        workers: vec![
            with(&[count("", "bytes", 1.0)]),
            with(&[count("", "bytes", 2.0)]),
            with(&[]),
        ],
        ..ended((Verdict::Pass, None))
    };
    assert_eq!(hardware_metrics(&measured), BTreeMap::from([("bytes".to_owned(), 2.0)]));
}

#[test]
fn what_times_a_call_decides_which_overhead_is_shown() {
    use gpubench::catalog::Execution::{Hosted, HostedSync, Sealed};
    for (execution, event_overhead_ns, empty_call_ns) in [
        (Sealed, Some(1_200.0), None),
        (Hosted, Some(1_200.0), None),
        (HostedSync, None, Some(7_000.0)),
    ] {
        let measured = Measured {
            workers: vec![WorkerRun {
                overhead_ns: Some(1_200.0),
                ..WorkerRun::default()
            }],
            empty_call_ns: Some(7_000.0),
            gate: Gate::new(execution),
            ..ended((Verdict::Pass, None))
        };
        let (recording, metric) = (recording(execution), Metric::time());
        let figures = Figures::new(&recording, &metric, measured, expectations());
        let outcome = figures.outcome();
        let record = figures.record(outcome, passed_case(DeviceKind::Cuda));
        let found = (record.event_overhead_ns, record.empty_call_ns);
        assert_eq!(found, (event_overhead_ns, empty_call_ns), "{execution:?}");
    }
}

#[test]
fn a_case_without_samples_has_no_grade() {
    for (samples, grade) in [(vec![], None), (vec![500.0], Some(Grade::Sealed))] {
        let mut run = WorkerRun::default();
        run.samples.values = samples;
        let measured = Measured {
            workers: vec![run],
            ..ended((Verdict::Pass, None))
        };
        let (recording, metric) = (recording(Default::default()), Metric::time());
        let figures = Figures::new(&recording, &metric, measured, expectations());
        let outcome = figures.outcome();
        assert_eq!(figures.record(outcome, passed_case(DeviceKind::Cuda)).grade, grade);
    }
}

#[test]
fn counts_have_no_figures_of_times() {
    use gpubench::catalog::Execution::Sealed;
    let recording = Recording {
        work: Work {
            bytes: Some(1_000),
            flops: Some(2_000),
            counters: Vec::new(),
        },
        ..recording(Sealed)
    };
    for metric in [Metric::time(), Metric::instructions()] {
        let mut run = WorkerRun {
            overhead_ns: Some(1_200.0),
            windows: vec![window(WindowKind::Timed, WindowEnd::Checked, Some(500.0))],
            ..WorkerRun::default()
        };
        run.samples.values = vec![500.0, 600.0];
        run.controls.windows = vec![window(WindowKind::Control, WindowEnd::Checked, Some(1_000.0)); 3];
        let measured = Measured {
            workers: vec![run],
            ..ended((Verdict::Pass, None))
        };
        let figures = Figures::new(&recording, &metric, measured, expectations());
        let outcome = figures.outcome();
        let record = figures.record(outcome, passed_case(DeviceKind::Cuda));
        let found = [
            record.event_overhead_ns.is_some(),
            record.twin.is_some(),
            record.conservation.is_some(),
            record.throughput.bytes_per_s.is_some(),
            record.throughput.flops_per_s.is_some(),
        ];
        assert_eq!(found, [metric.is_time(); 5], "{metric:?}");
        assert_eq!(record.samples, [500.0, 600.0]);
    }
}

#[test]
fn device_work_is_that_of_calls_timed_from_outside() {
    use gpubench::catalog::Execution::{Hosted, HostedSync, Sealed};
    for (execution, is_shown) in [(Sealed, false), (Hosted, false), (HostedSync, true)] {
        let mut run = WorkerRun::default();
        run.parts.device_work = vec![Zeroable::zeroed()];
        let measured = Measured {
            workers: vec![run],
            ..ended((Verdict::Pass, None))
        };
        let (recording, metric) = (recording(execution), Metric::time());
        let figures = Figures::new(&recording, &metric, measured, expectations());
        let outcome = figures.outcome();
        let record = figures.record(outcome, passed_case(DeviceKind::Cuda));
        assert_eq!(record.device_work.is_some(), is_shown, "{execution:?}");
    }
}

#[test]
fn only_a_grade_has_a_reason() {
    for (samples, reason) in [(vec![], None), (vec![500.0], Some("no clock"))] {
        let mut run = WorkerRun::default();
        run.samples.values = samples;
        let mut measured = Measured {
            workers: vec![run],
            ..ended((Verdict::Pass, None))
        };
        measured.judgement.grade_reason = Some("no clock".to_owned());
        let (recording, metric) = (recording(Default::default()), Metric::time());
        let figures = Figures::new(&recording, &metric, measured, expectations());
        let outcome = figures.outcome();
        let record = figures.record(outcome, passed_case(DeviceKind::Cuda));
        assert_eq!(record.grade_reason.as_deref(), reason);
    }
}

#[test]
fn the_most_shared_memory_of_all_launches_is_noticed_if_not_every_gpu_has_it() {
    let launch = |name: &str, dynamic_shared| {
        Step::Launch(gpubench::plan::Launch {
            kernel: gpubench::plan::KernelRef {
                source: 0,
                name: name.to_owned(),
            },
            grid: [1; 3],
            block: [1; 3],
            cluster: [1; 3],
            dynamic_shared,
            cooperation: Default::default(),
            dependence: Default::default(),
            arguments: Vec::new(),
            types: Vec::new(),
            place: String::new(),
        })
    };
    for (bytes, named) in [
        (&[][..], None),
        (&[1_024, 48_000], None),
        (&[1_024, 48_001], Some("kernel `k1` has 48001 bytes")),
        (&[60_000, 50_000], Some("kernel `k0` has 60000 bytes")),
    ] {
        let steps = bytes.iter().enumerate();
        let steps = steps.map(|(position, bytes)| launch(&format!("k{position}"), *bytes));
        let recording = Recording {
            plan: Plan {
                steps: steps.collect(),
                ..Plan::default()
            },
            ..recording(Default::default())
        };
        let notice = larger_shared(&recording, 48_000);
        match named {
            Some(named) => assert!(notice.as_ref().unwrap().starts_with(named), "{notice:?}"),
            None => assert_eq!(notice, None, "{bytes:?}"),
        }
    }
}

#[test]
fn the_means_by_both_clocks_are_those_of_timed_windows_that_ended() {
    let timed = |claim_ns| window(WindowKind::Timed, WindowEnd::Checked, claim_ns);
    let windows = [
        timed(Some(100.0)),
        timed(Some(300.0)),
        timed(None),
        window(WindowKind::Single, WindowEnd::Checked, Some(9_000.0)),
        window(WindowKind::EarlyCheck, WindowEnd::Checked, Some(9_000.0)),
        window(WindowKind::Timed, WindowEnd::Aborted, Some(9_000.0)),
    ];
    assert_eq!(claimed_and_observed(&windows), Some((200.0, 300_000.0)));
    assert_eq!(claimed_and_observed(&windows[2..]), None);
}
