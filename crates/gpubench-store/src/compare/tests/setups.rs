//! Tests of results with different setups.

use super::*;

#[test]
fn runs_with_another_device_driver_or_flush_are_not_compared_by_default() {
    let baseline = run(vec![quiet("axpy", 1e5)]);
    type Change = fn(&mut RunStarted);
    let changed: [(&str, Change); 9] = [
        (
            "device: a GPU in the baseline, the CPU device in the candidate",
            |run| run.device.kind = DeviceKind::Cpu,
        ),
        (
            "device: NVIDIA H200 in the baseline, NVIDIA B200 in the candidate",
            |run| run.device.name = "NVIDIA B200".into(),
        ),
        ("multiprocessors: 132 in the baseline, 16 in the candidate", |run| {
            run.device.multiprocessors = Some(16)
        }),
        ("driver: 580.159 in the baseline, 570.86 in the candidate", |run| {
            run.environment.driver = Some("570.86".into())
        }),
        (
            "bytes of the cache flush: 120 MiB in the baseline, 0 B in the candidate",
            |run| run.environment.flush_bytes = Some(0),
        ),
        ("threads: 1 in the baseline, 8 in the candidate", |run| {
            run.environment.threads = Some(8)
        }),
        ("cache flush: reads in the baseline, writes in the candidate", |run| {
            run.environment.flush = Some(Flush::Write)
        }),
        ("locked clock: none in the baseline, 1410 MHz in the candidate", |run| {
            run.environment.locked_sm_clock_mhz = Some(1410)
        }),
        ("compute capability: 90 in the baseline, 100 in the candidate", |run| {
            run.device.capability = Some(100)
        }),
    ];
    for (difference, change) in changed {
        let mut candidate = run(vec![quiet("axpy", 1.5e5)]);
        change(&mut candidate.run);
        let strict = compared(&baseline, &candidate, &Rules::default());
        assert_eq!(strict.differences, [difference]);
        assert_eq!(strict.rows[0].verdict, ChangeVerdict::NotCompared);
        assert_eq!(remark(&strict.rows[0]), format!("measured differently: {difference}"));
        let lenient = Rules {
            setups: Setups::MayDiffer,
            ..Rules::default()
        };
        let allowed = compared(&baseline, &candidate, &lenient);
        assert_eq!(allowed.differences, [difference]);
        assert_eq!(allowed.rows[0].verdict, ChangeVerdict::Regressed);
    }
}

#[test]
fn differences_that_do_not_change_times_are_listed_and_compared() {
    let baseline = run(vec![quiet("axpy", 1e5)]);
    let mut candidate = run(vec![quiet("axpy", 1.5e5)]);
    candidate.run.tool_version = "0.2.0".into();
    candidate.run.environment.cpu = Some("Another Processor".into());
    candidate.run.environment.compiler = Some("nvcc 13".into());
    let comparison = compared(&baseline, &candidate, &Rules::default());
    assert_eq!(comparison.differences.len(), 3, "{:?}", comparison.differences);
    assert_eq!(comparison.rows[0].verdict, ChangeVerdict::Regressed);
}

#[test]
fn a_fact_that_only_one_run_knows_is_listed_and_prevents_no_comparison() {
    let known = run(vec![quiet("axpy", 1e5)]);
    let mut unknown = run(vec![quiet("axpy", 1.5e5)]);
    unknown.run.environment.driver = None;
    let of_candidate = compared(&known, &unknown, &Rules::default());
    assert_eq!(
        of_candidate.differences,
        ["driver: 580.159 in the baseline, unknown in the candidate"]
    );
    assert_eq!(of_candidate.rows[0].verdict, ChangeVerdict::Regressed);
    let of_baseline = compared(&unknown, &known, &Rules::default());
    assert_eq!(of_baseline.rows[0].verdict, ChangeVerdict::Improved);
}

#[test]
fn a_different_host_prevents_a_comparison_on_the_cpu_device() {
    let on_cpu = |processor: &str| {
        let mut run = run(vec![quiet("axpy", 1e5)]);
        run.run.device.kind = DeviceKind::Cpu;
        run.run.environment.cpu = Some(processor.into());
        run
    };
    let comparison = compared(&on_cpu("one"), &on_cpu("another"), &Rules::default());
    assert_eq!(comparison.rows[0].verdict, ChangeVerdict::NotCompared);
}

#[test]
fn cold_and_warm_results_are_not_compared() {
    let warm = BenchmarkComplete {
        mode: Mode::Warm,
        ..quiet("axpy", 1e5)
    };
    let row = row_of(quiet("axpy", 1e5), warm.clone(), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::NotCompared);
    let lenient = Rules {
        setups: Setups::MayDiffer,
        ..Rules::default()
    };
    let row = row_of(quiet("axpy", 1e5), warm, &lenient);
    assert_eq!(row.verdict, ChangeVerdict::NoChange);
    assert_eq!(remark(&row), "mode: cold in the baseline, warm in the candidate");
}

#[test]
fn throttled_and_unverified_results_have_a_remark() {
    let throttled = BenchmarkComplete {
        sample_flags: vec![SampleFlag {
            sample: 3,
            flag: SampleFlagKind::Throttled,
            reasons: vec!["power-cap".into()],
        }],
        grade: Some(Grade::Unverified),
        ..quiet("axpy", 1e5)
    };
    let row = row_of(quiet("axpy", 1e5), throttled.clone(), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::NoChange);
    assert_eq!(
        remark(&row),
        "grade: sealed in the baseline, unverified in the candidate; the GPU throttled in 1 of 60 samples of the candidate"
    );
    let row = row_of(throttled.clone(), throttled, &Rules::default());
    assert!(remark(&row).ends_with("; unverified in both runs"), "{row:?}");
}

#[test]
fn the_processor_of_a_gpus_host_is_only_noted() {
    let on = |kind, processor: &str| {
        let mut run = run(vec![quiet("axpy", 1e5)]);
        run.run.device.kind = kind;
        run.run.environment.cpu = Some(processor.into());
        run
    };
    for other in [DeviceKind::Cuda, DeviceKind::Cpu] {
        for [before, after] in [[DeviceKind::Cuda, other], [other, DeviceKind::Cuda]] {
            let comparison = compared(&on(before, "one"), &on(after, "two"), &Rules::default());
            let noted = "host's processor: one in the baseline, two in the candidate";
            assert!(
                comparison.differences.iter().any(|text| text == noted),
                "{comparison:?}"
            );
        }
    }
}

#[test]
fn results_that_differ_in_execution_or_environment_are_not_compared_by_default() {
    type Change = fn(&mut BenchmarkComplete);
    let changed: [(&str, Change); 3] = [
        ("execution: sealed in the baseline, hosted in the candidate", |result| {
            result.execution = Some(Execution::Hosted)
        }),
        ("threads: 1 in the baseline, 2 in the candidate", |result| {
            result.environment.threads = Some(2)
        }),
        (
            "locked clock: none in the baseline, 900 MHz in the candidate",
            |result| result.environment.locked_sm_clock_mhz = Some(900),
        ),
    ];
    for (difference, change) in changed {
        let mut candidate = quiet("axpy", 1.5e5);
        change(&mut candidate);
        let row = row_of(quiet("axpy", 1e5), candidate, &Rules::default());
        assert_eq!(row.verdict, ChangeVerdict::NotCompared);
        assert_eq!(remark(&row), format!("measured differently: {difference}"));
    }
}

#[test]
fn only_samples_in_which_the_gpu_throttled_are_counted_as_such() {
    let flagged = |flag| SampleFlag {
        sample: 3,
        flag,
        reasons: Vec::new(),
    };
    let candidate = BenchmarkComplete {
        sample_flags: vec![
            flagged(SampleFlagKind::ClockChanged),
            flagged(SampleFlagKind::Preempted),
        ],
        ..quiet("axpy", 1e5)
    };
    assert_eq!(remark(&row_of(quiet("axpy", 1e5), candidate, &Rules::default())), "");
}

#[test]
fn results_are_unverified_together_only_if_both_are() {
    let unverified = || BenchmarkComplete {
        grade: Some(Grade::Unverified),
        ..quiet("axpy", 1e5)
    };
    for (baseline, candidate) in [(unverified(), quiet("axpy", 1e5)), (quiet("axpy", 1e5), unverified())] {
        let row = row_of(baseline, candidate, &Rules::default());
        assert!(!remark(&row).contains("in both runs"), "{row:?}");
    }
}
