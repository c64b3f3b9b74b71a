//! Calibrations of hand-made results.

use gpubench_contract::{
    BenchmarkComplete, CalibratedTimes, CalibrationComplete, CalibrationStanding as Standing, Conservation, Grade,
    Method, ParamValue, PartTimes, Verdict,
};

use super::budget::{Results, calibration};
use super::show::text;

/// A passed result of a kernel that spun for `least_ns`, which its method says took `reported_ns`.
fn result(mode: Method, least_ns: i64, reported_ns: f64) -> BenchmarkComplete {
    let run = gpubench_testing::all_passed();
    let mut result = run.results.into_iter().next().expect("a result");
    result.mode = mode;
    result.params.0 = vec![("ns".to_owned(), ParamValue::Int(least_ns))];
    result.calls_per_sample = 1;
    result.event_overhead_ns = Some(1300.0);
    result.grade = Some(Grade::Sealed);
    let stats = result.stats.as_mut().expect("statistics");
    stats.value = reported_ns;
    (stats.q1, stats.q3) = (reported_ns - 20.0, reported_ns + 20.0);
    stats.ci95 = [reported_ns - 30.0, reported_ns + 30.0];
    result.conservation = Some(Conservation {
        bound_ns: Some(2000.0),
        ..Conservation::default()
    });
    let mut elapsed = result.checks[0].clone();
    elapsed.output = "elapsed_ns".to_owned();
    (elapsed.median_abs_error, elapsed.max_abs_error) = (Some(16.0), Some(48.0));
    let mut cycles = elapsed.clone();
    cycles.output = "cycles".to_owned();
    cycles.median_abs_error = Some(1.98 * (least_ns as f64 + 16.0));
    result.checks = vec![elapsed, cycles];
    result
}

/// Calibrates two runs on a device whose clock has steps of 32 ns.
fn calibrated(first: &[BenchmarkComplete], second: &[BenchmarkComplete]) -> CalibrationComplete {
    let mut device = gpubench_testing::on_gpu().started.device;
    device.clock_tick_ns = Some(32.0);
    let runs: [Results<'_>; 2] = [first.iter().collect(), second.iter().collect()];
    calibration(&device, vec!["a".to_owned(), "b".to_owned()], &runs)
}

/// Three lengths, each reported with 3 µs for the launch.
fn honest(mode: Method) -> Vec<BenchmarkComplete> {
    [0, 2000, 1_000_000]
        .map(|least_ns| result(mode, least_ns, least_ns as f64 + 3016.0))
        .to_vec()
}

/// Adds single calls that take 300 ns longer.
fn with_single_calls(mut run: Vec<BenchmarkComplete>) -> Vec<BenchmarkComplete> {
    for result in &mut run {
        let reported = result.stats.as_ref().expect("statistics").value + 300.0;
        result.single_calls = Some(PartTimes {
            n: 20,
            median_ns: reported,
            q1_ns: reported,
            q3_ns: reported,
            min_ns: reported,
            max_ns: reported,
        });
    }
    run
}

fn standings(calibration: &CalibrationComplete) -> Vec<Standing> {
    let lengths = calibration.methods.iter().flat_map(|method| &method.lengths);
    lengths.map(|length| length.standing).collect()
}

#[test]
fn what_a_method_adds_is_split_into_the_launch_and_the_rest() {
    let mut first = honest(Method::Cold);
    first[1] = result(Method::Cold, 2000, 5066.0);
    let calibration = calibrated(&first, &honest(Method::Cold));
    let [method] = &calibration.methods[..] else {
        panic!("one mode has one kind of time: {calibration:?}")
    };
    assert_eq!((method.empty_ns, method.empty_kernel_ns), (Some(1300.0), Some(3016.0)));
    let [empty, short, long] = &method.lengths[..] else {
        panic!("three lengths: {method:?}")
    };
    assert_eq!((empty.known_ns, empty.unexplained_ns), (Some(16.0), None));
    assert_eq!((short.known_ns, short.longest_ns), (Some(2016.0), Some(2048.0)));
    // Its times are 5066 and 5016 ns.
    assert_eq!((short.difference_ns, short.unexplained_ns), (Some(3025.0), Some(25.0)));
    assert_eq!((long.unexplained_ns, long.drift_ns), (Some(0.0), Some(0.0)));
    assert_eq!(standings(&calibration), [Standing::Within; 3]);
}

#[test]
fn noise_is_the_largest_drift_or_half_an_interval() {
    let mut first = honest(Method::Cold);
    first[1] = result(Method::Cold, 2000, 5066.0);
    let method = calibrated(&first, &honest(Method::Cold)).methods.remove(0);
    assert_eq!(method.noise_ns, Some(50.0), "the drift of the kernel of 2 µs");
    let share = method.noise_share.expect("a long kernel");
    assert!(
        (share - 30.0 / 1_003_016.0).abs() < 1e-9,
        "half of the interval: {share}"
    );
}

#[test]
fn a_time_shorter_than_its_kernel_by_more_than_the_bound_is_too_short() {
    let reported = |time_ns, bound_ns| {
        let mut run = honest(Method::Cold);
        run[2] = result(Method::Cold, 1_000_000, time_ns);
        run[2].conservation.as_mut().expect("a bound").bound_ns = bound_ns;
        standings(&calibrated(&run, &honest(Method::Cold)))[2]
    };
    assert_eq!(reported(1_000_000.0 - 2032.0, Some(2000.0)), Standing::Within);
    assert_eq!(reported(1_000_000.0 - 2033.0, Some(2000.0)), Standing::TooShort);
    // Without a bound, only the step of the clock is allowed.
    assert_eq!(reported(1_000_000.0 - 32.0, None), Standing::Within);
    assert_eq!(reported(1_000_000.0 - 33.0, None), Standing::TooShort);
}

#[test]
fn the_second_run_counts_too() {
    let mut second = honest(Method::Cold);
    second[2] = result(Method::Cold, 1_000_000, 900_000.0);
    let standings = standings(&calibrated(&honest(Method::Cold), &second));
    assert_eq!(standings, [Standing::Within, Standing::Within, Standing::TooShort]);
}

#[test]
fn a_time_longer_than_kernel_and_empty_call_is_too_long_only_if_it_claims_a_bound() {
    let reported = |time_ns, grade| {
        let mut run = honest(Method::Cold);
        run[2] = result(Method::Cold, 1_000_000, time_ns);
        run[2].grade = Some(grade);
        standings(&calibrated(&run, &honest(Method::Cold)))[2]
    };
    let longest = 1_000_016.0 + 3016.0 + 32.0 + 2.0 * 2000.0;
    assert_eq!(reported(longest, Grade::Sealed), Standing::Within);
    assert_eq!(reported(longest + 1.0, Grade::Sealed), Standing::TooLong);
    assert_eq!(reported(longest + 1.0, Grade::Advisory), Standing::Within);
}

#[test]
fn the_bound_of_a_call_is_its_share_of_the_bound_of_a_sample() {
    let mut run = honest(Method::Hot);
    run[2].calls_per_sample = 10;
    let calibration = calibrated(&run, &run);
    assert_eq!(calibration.methods[0].lengths[2].reported[0].bound_ns, Some(200.0));
}

#[test]
fn the_single_calls_of_a_graph_are_a_kind_of_time_without_a_grade() {
    let run = with_single_calls(honest(Method::Graph));
    let calibration = calibrated(&run, &run);
    let kinds: Vec<_> = calibration.methods.iter().map(|method| method.times).collect();
    assert_eq!(kinds, [CalibratedTimes::Value, CalibratedTimes::SingleCalls]);
    let single = &calibration.methods[1].lengths[1];
    assert_eq!(single.reported[0].time_ns, 5316.0);
    assert_eq!((single.reported[0].grade, single.reported[0].bound_ns), (None, None));
    assert_eq!(single.standing, Standing::Within);
}

#[test]
fn a_kernel_that_failed_is_not_measured_and_says_why() {
    let mut run = honest(Method::Cold);
    run[1].verdict = Verdict::Timeout;
    run[1].message = Some("it hung".to_owned());
    let calibration = calibrated(&run, &honest(Method::Cold));
    assert_eq!(standings(&calibration)[1], Standing::NotMeasured);
    let page = text(&calibration, 100);
    assert!(page.contains("timeout: it hung"), "{page}");
}

#[test]
fn the_conclusion_counts_the_times_that_claim_a_bound() {
    let run = [honest(Method::Cold), with_single_calls(honest(Method::Graph))].concat();
    let page = text(&calibrated(&run, &run), 200);
    let conclusion =
        "The truth lies within the bounds of 6 times. Of 3 times without a bound, none is shorter than its kernel.\n";
    assert!(page.ends_with(conclusion), "{page}");
}

#[test]
fn the_tables_say_what_is_known_reported_and_claimed() {
    let mut graph = with_single_calls(honest(Method::Graph));
    graph[2] = result(Method::Graph, 1_000_000, 900_000.0);
    for result in &mut graph {
        result.calls_per_sample = 10;
    }
    let first = [honest(Method::Cold), graph.clone()].concat();
    let mut second = first.clone();
    second[1] = result(Method::Cold, 2000, 5066.0);
    let page = text(&calibrated(&first, &second), 80);
    insta::assert_snapshot!(anstream::adapter::strip_str(&page).to_string());
}
