//! Checks what records say about themselves.

use std::collections::BTreeSet;

use gpubench_contract::*;
use gpubench_testing::{every_change, on_gpu};

fn result() -> BenchmarkComplete {
    let passed = |result: &BenchmarkComplete| result.verdict == Verdict::Pass;
    on_gpu().results.into_iter().find(passed).expect("a passed result")
}

fn row(verdict: ChangeVerdict, ratio: Option<f64>) -> ComparisonRow {
    let sample = every_change().rows.remove(0);
    let change = ratio.map(|ratio| Change {
        ratio,
        ..sample.change.clone().expect("a change")
    });
    ComparisonRow {
        verdict,
        change,
        ..sample
    }
}

fn comparison(rows: Vec<ComparisonRow>) -> ComparisonComplete {
    ComparisonComplete {
        rows,
        new: Vec::new(),
        removed: Vec::new(),
        ..every_change()
    }
}

#[test]
fn the_worst_verdicts_and_then_the_largest_changes_in_either_direction_come_first() {
    use ChangeVerdict::*;
    let rows = [
        (NoChange, Some(1.001)),
        (Regressed, Some(1.1)),
        (NotCompared, None),
        (Regressed, Some(1.3)),
        (Improved, Some(0.9)),
        (Improved, Some(0.5)),
        (NowFails, None),
        (Inconclusive, Some(0.4)),
        (Inconclusive, Some(1.5)),
        (WithinNoise, Some(1.02)),
    ];
    let comparison = comparison(rows.map(|(verdict, ratio)| row(verdict, ratio)).into());
    let order = comparison.by_relevance().into_iter();
    let order: Vec<_> = order
        .map(|row| (row.verdict, row.change.as_ref().map(|change| change.ratio)))
        .collect();
    let wanted = [
        (NowFails, None),
        (Regressed, Some(1.3)),
        (Regressed, Some(1.1)),
        (Improved, Some(0.5)),
        (Improved, Some(0.9)),
        (Inconclusive, Some(0.4)),
        (Inconclusive, Some(1.5)),
        (NotCompared, None),
        (WithinNoise, Some(1.02)),
        (NoChange, Some(1.001)),
    ];
    assert_eq!(order, wanted);
}

#[test]
fn changes_below_the_least_one_are_left_out_in_either_direction_and_still_counted() {
    use ChangeVerdict::*;
    let mut comparison = comparison(vec![
        row(Regressed, Some(1.2)),
        row(Regressed, Some(1.02)),
        row(Improved, Some(0.8)),
        row(Improved, Some(0.99)),
        row(NoChange, Some(1.1)),
        row(NotCompared, None),
    ]);
    let counts = comparison.counts();
    comparison.keep_changes_of(0.1);
    let kept: Vec<_> = comparison
        .rows
        .iter()
        .map(|row| row.change.as_ref().map(|change| change.ratio))
        .collect();
    assert_eq!(kept, [Some(1.2), Some(0.8), Some(1.1), None]);
    let left_out = comparison.left_out.as_ref().expect("rows are left out");
    assert_eq!(left_out.least_change, 0.1);
    assert_eq!(
        (
            left_out.count(Regressed),
            left_out.count(Improved),
            left_out.count(NoChange)
        ),
        (1, 1, 0)
    );
    assert_eq!((comparison.count(Regressed), comparison.counts()), (2, counts));

    comparison.keep_changes_of(0.0);
    assert_eq!(comparison.left_out, None, "nothing is left out");
}

#[test]
fn a_comparison_of_a_run_with_itself_has_one_identifier_and_equal_values() {
    let mut own = comparison(vec![row(ChangeVerdict::NoChange, Some(1.0))]);
    own.candidate.run_id = own.baseline.run_id.clone();
    own.rows[0].candidate.value = own.rows[0].baseline.value;
    assert!(own.is_of_one_run());

    let mut changed = own.clone();
    changed.rows[0].candidate.value = Some(7.0);
    assert!(!changed.is_of_one_run());
    let interleaved = ComparisonComplete {
        arrangement: Arrangement::Interleaved,
        ..own.clone()
    };
    assert!(!interleaved.is_of_one_run());
    own.candidate.run_id = "another".to_owned();
    assert!(!own.is_of_one_run());
}

#[test]
fn only_some_verdicts_decide_and_only_two_are_quiet() {
    use ChangeVerdict::*;
    let of = |has: fn(ChangeVerdict) -> bool| -> Vec<ChangeVerdict> {
        ChangeVerdict::ALL
            .iter()
            .copied()
            .filter(|verdict| has(*verdict))
            .collect()
    };
    assert_eq!(of(|verdict| !verdict.is_decided()), [Inconclusive, NotCompared]);
    assert_eq!(of(ChangeVerdict::is_quiet), [WithinNoise, NoChange]);
    assert_eq!(NowFails.to_string(), "now fails");
}

#[test]
fn a_comparison_says_what_it_found_whichever_rows_it_has() {
    use ChangeVerdict::*;
    for verdict in ChangeVerdict::ALL.iter().copied() {
        let comparison = comparison(vec![row(verdict, None)]);
        assert_eq!(comparison.has_newly_failed(), verdict == NowFails, "{verdict}");
        assert_eq!(comparison.has_regressed(), verdict == Regressed, "{verdict}");
        assert_eq!(
            comparison.has_undecided_benchmarks(),
            !verdict.is_decided(),
            "{verdict}"
        );
        assert_eq!(comparison.undecided().is_none(), verdict.is_decided(), "{verdict}");
        assert_eq!(comparison.counts(), [format!("1 {verdict}")]);
    }
    let mixed = comparison(vec![row(Inconclusive, None), row(NoChange, None)]);
    assert_eq!((mixed.undecided(), mixed.has_undecided_benchmarks()), (None, true));
    let nothing = comparison(Vec::new());
    let text = nothing.undecided().expect("nothing was judged");
    assert_eq!(text, "no benchmark was judged against `main`: neither run measured one");
    let one_sided = ComparisonComplete {
        new: vec!["a".to_owned(), "b".to_owned()],
        removed: vec!["c".to_owned()],
        ..comparison(Vec::new())
    };
    assert_eq!(one_sided.counts(), ["2 new", "1 removed"]);
}

#[test]
fn a_row_has_failed_if_its_candidate_has() {
    let mut comparison = comparison(vec![row(ChangeVerdict::NoChange, Some(1.0))]);
    comparison.rows[0].baseline.verdict = Verdict::Crashed;
    assert!(!comparison.has_failed());
    comparison.rows[0].candidate.verdict = Verdict::Skipped;
    assert!(!comparison.has_failed());
    comparison.rows[0].candidate.verdict = Verdict::Crashed;
    assert!(comparison.has_failed());
}

#[test]
fn a_side_that_failed_next_to_a_candidate_that_did_not_is_told_when_they_alternated() {
    let of = |arrangement, baseline: (Verdict, Option<Verdict>), candidate: (Verdict, Option<Verdict>)| {
        let mut row = row(ChangeVerdict::NotCompared, None);
        (row.baseline.verdict, row.baseline.failed_alternating) = baseline;
        (row.candidate.verdict, row.candidate.failed_alternating) = candidate;
        let comparison = ComparisonComplete {
            arrangement,
            ..comparison(vec![row])
        };
        comparison.rows_with_failed_side().count() == 1
    };
    let (passed, wrong) = ((Verdict::Pass, None), (Verdict::WrongOutput, None));
    let only_alone = (Verdict::Pass, Some(Verdict::WrongOutput));
    let skipped = (Verdict::Skipped, None);
    for (baseline, candidate, has_failed) in [
        (passed, passed, false),
        (wrong, passed, true),
        (only_alone, passed, true),
        (passed, only_alone, true),
        (passed, wrong, false),
        (wrong, wrong, false),
        (wrong, skipped, true),
        (skipped, passed, false),
    ] {
        let shown = format!("{baseline:?} and {candidate:?}");
        assert_eq!(of(Arrangement::Interleaved, baseline, candidate), has_failed, "{shown}");
        assert!(!of(Arrangement::Apart, baseline, candidate), "{shown}");
    }
}

#[test]
fn a_row_names_its_baseline_only_if_that_is_another_benchmark() {
    let named = |case: &str, baseline: &str| {
        let row = ComparisonRow {
            package: "suite".to_owned(),
            case: case.to_owned(),
            baseline_case: baseline.to_owned(),
            ..row(ChangeVerdict::NoChange, None)
        };
        row.baseline_name().map(str::to_owned)
    };
    assert_eq!(named("axpy", "axpy"), None);
    assert_eq!(named("axpy", "suite::axpy"), None);
    assert_eq!(named("suite::axpy", "axpy"), None);
    assert_eq!(named("axpy", "other::axpy").as_deref(), Some("other::axpy"));
    assert_eq!(named("axpy", "copy").as_deref(), Some("copy"));
}

#[test]
fn a_row_is_of_a_result_with_the_same_benchmark_parameters_and_reading() {
    let result = result();
    let row = ComparisonRow {
        package: result.package.clone(),
        benchmark: result.benchmark.clone(),
        params: result.params.clone(),
        case: "whatever".to_owned(),
        mode: result.mode,
        metric: result.metric.clone(),
        ..row(ChangeVerdict::NoChange, None)
    };
    assert!(row.is_of(&result) && row.key() == result.key());
    let others: [fn(&mut ComparisonRow); 5] = [
        |row| row.package.push('x'),
        |row| row.benchmark.push('x'),
        |row| row.params.0.push(("more".to_owned(), ParamValue::Int(1))),
        |row| row.mode = Mode::HotGraph,
        |row| row.metric = Metric::instructions(),
    ];
    for (position, change) in others.iter().enumerate() {
        let mut other = row.clone();
        change(&mut other);
        assert!(!other.is_of(&result), "{position}");
        assert_ne!(other.key(), result.key(), "{position}");
    }
}

#[test]
fn a_row_shows_the_functions_that_changed_most_unless_nothing_changed() {
    let function = |number: u64| FunctionChange {
        kernel: format!("k{number}"),
        function: None,
        baseline: 1.0,
        candidate: 2.0,
    };
    let with = |verdict, functions: u64| ComparisonRow {
        functions: (0..functions).map(function).collect(),
        ..row(verdict, Some(1.1))
    };
    let shown = |row: ComparisonRow| {
        let (shown, more) = row.largest_functions();
        (shown.len(), more)
    };
    assert_eq!(shown(with(ChangeVerdict::Regressed, 3)), (3, 0));
    assert_eq!(shown(with(ChangeVerdict::Regressed, 5)), (5, 0));
    assert_eq!(shown(with(ChangeVerdict::WithinNoise, 7)), (5, 2));
    assert_eq!(shown(with(ChangeVerdict::NoChange, 7)), (0, 0));
}

#[test]
fn a_change_of_a_function_has_a_ratio_only_if_both_sides_have_instructions() {
    let change = |baseline, candidate| FunctionChange {
        kernel: "spin".to_owned(),
        function: Some("f".to_owned()),
        baseline,
        candidate,
    };
    assert_eq!(change(4.0, 6.0).ratio(), Some(1.5));
    assert_eq!(change(4.0, 6.0).difference(), 2.0);
    assert_eq!((change(0.0, 6.0).ratio(), change(4.0, 0.0).ratio()), (None, None));
    assert_eq!(change(1.0, 1.0).name(), "f in spin");
    let own = FunctionChange {
        function: Some("spin".to_owned()),
        ..change(1.0, 1.0)
    };
    assert_eq!(own.name(), "spin");
}

#[test]
fn samples_are_those_of_the_workers_only_if_their_numbers_add_up() {
    let of = |shares: &[u64]| {
        let result = BenchmarkComplete {
            samples: vec![1.0, 2.0, 3.0],
            workers: shares
                .iter()
                .map(|samples| WorkerShare {
                    samples: *samples,
                    value: None,
                    placements: Vec::new(),
                })
                .collect(),
            ..result()
        };
        let split = result.samples_by_worker().into_iter().map(<[f64]>::to_vec);
        split.collect::<Vec<_>>()
    };
    assert_eq!(of(&[1, 2]), [vec![1.0], vec![2.0, 3.0]]);
    assert_eq!(of(&[0, 3]), [vec![], vec![1.0, 2.0, 3.0]]);
    for shares in [&[1, 1][..], &[2, 2], &[], &[u64::MAX]] {
        assert_eq!(of(shares), [vec![1.0, 2.0, 3.0]], "{shares:?}");
    }
}

#[test]
fn a_full_name_has_the_package_the_benchmark_and_the_parameters() {
    let named = |params: Vec<(String, ParamValue)>| {
        let result = BenchmarkComplete {
            package: "suite".to_owned(),
            benchmark: "axpy".to_owned(),
            params: Params(params),
            ..result()
        };
        result.full_name()
    };
    let params = [("n", ParamValue::Int(4)), ("t", ParamValue::Text("a\nb".to_owned()))];
    assert_eq!(named(Vec::new()), "suite::axpy");
    assert_eq!(
        named(params.map(|(name, value)| (name.to_owned(), value)).into()),
        "suite::axpy::n=4,t=a\\nb"
    );
}

#[test]
fn a_case_is_the_same_whatever_the_order_of_its_axes_and_another_for_other_values() {
    let key = |params: &[(&str, ParamValue)]| {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        CaseKey::new("suite", "axpy", &Params(params.collect()))
    };
    let [n, m] = [("n", ParamValue::Int(1)), ("m", ParamValue::Int(2))];
    assert_eq!(key(&[n.clone(), m.clone()]), key(&[m.clone(), n.clone()]));
    let others = [
        key(&[n.clone(), m.clone()]),
        key(std::slice::from_ref(&n)),
        key(&[("n", ParamValue::Float(1.0))]),
        key(&[("n", ParamValue::Text("1".to_owned()))]),
        key(&[]),
        CaseKey::new("other", "axpy", &Params::default()),
        CaseKey::new("suite", "copy", &Params::default()),
        CaseKey::of_group(&["ab", "c"]),
        CaseKey::of_group(&["a", "bc"]),
    ];
    assert_eq!(others.iter().cloned().collect::<BTreeSet<_>>().len(), others.len());
}

#[test]
fn only_a_contestant_with_a_rank_wins() {
    let contestant = |ranks| Contestant {
        benchmark: "axpy".to_owned(),
        params: Params::default(),
        results: vec![0],
        verdict: Verdict::Pass,
        failed_alternating: None,
        grade: None,
        value: None,
        ranks,
        ratio: None,
        interval: None,
        ties: Vec::new(),
    };
    let contest = |ranks: &[Option<[u64; 2]>]| ContestComplete {
        schema_version: SchemaVersion,
        run_id: String::new(),
        package: String::new(),
        problem: String::new(),
        params: Params::default(),
        arguments: 1,
        mode: Mode::Cold,
        metric: Metric::time(),
        confidence: 0.99,
        contestants: ranks.iter().map(|ranks| contestant(*ranks)).collect(),
        remark: None,
        doubt: None,
    };
    assert!(contest(&[Some([1, 1]), None]).winner().is_some());
    assert!(contest(&[None, None]).winner().is_none());
    assert!(contest(&[]).winner().is_none());
    let shown = |ranks| contestant(Some(ranks)).rank().map(|rank| format!("[{rank:>4}]"));
    assert_eq!(shown([2, 2]).as_deref(), Some("[   2]"));
    assert_eq!(shown([1, 3]).as_deref(), Some("[ 1–3]"));
    assert_eq!(contestant(None).name(), "axpy", "no parameters leave no space");
}

#[test]
fn the_identity_of_a_device_leaves_out_what_does_not_change_its_times() {
    let run = on_gpu().started;
    let environment = Environment {
        cpu: Some("a processor".to_owned()),
        flush: Some(Flush::Read),
        flush_bytes: Some(1 << 20),
        driver: Some("580".to_owned()),
        locked_sm_clock_mhz: Some(1410),
        ..Environment::default()
    };
    let identity = DeviceIdentity::in_environment(&run.device, &environment);
    assert_eq!(identity.host_cpu, None, "the host's processor is not that of a GPU");
    assert_eq!(
        (identity.flush, identity.flush_bytes, identity.locked_sm_clock_mhz),
        (Some(Flush::Read), Some(1 << 20), Some(1410))
    );
    assert_eq!(
        (&identity.name, identity.multiprocessors, identity.capability),
        (&run.device.name, run.device.multiprocessors, run.device.capability)
    );
    let unflushed = Environment {
        flush_bytes: Some(0),
        ..environment.clone()
    };
    assert_eq!(DeviceIdentity::in_environment(&run.device, &unflushed).flush, None);
    let cpu = Device {
        kind: DeviceKind::Cpu,
        ..run.device
    };
    let of_the_host = DeviceIdentity::in_environment(&cpu, &environment);
    assert_eq!(of_the_host.host_cpu.as_deref(), Some("a processor"));
    assert_eq!(
        (of_the_host.kind, of_the_host.driver.as_deref()),
        (DeviceKind::Cpu, Some("580"))
    );
}

#[test]
fn a_short_device_is_its_kind_and_its_name() {
    let device = on_gpu().started.device;
    let short = device.short();
    assert_eq!((short.kind, short.name), (device.kind, device.name));
}

#[test]
fn launches_of_every_kind_of_call_are_launches() {
    let work = ProbeWork {
        plain_launches: 1,
        extended_launches: 2,
        cooperative_launches: 4,
        captured_launches: 8,
        graph_launches: 16,
        ..ProbeWork::default()
    };
    assert_eq!(work.launches(), 7);
}
