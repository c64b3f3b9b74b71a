use super::*;
use gpubench_contract::{Cause, MeasuredReference, ParamValue, Params};
use gpubench_testing::{competition, submitted};

/// A run with the implementations of `competition` as submissions.
fn run() -> StoredRun {
    let run = submitted(competition());
    StoredRun::new(run.started, run.results, Some(run.finished), None)
}

fn names(graded: &[ProblemComplete]) -> Vec<&str> {
    graded.iter().map(|one| one.submission.as_str()).collect()
}

#[test]
fn submissions_are_ranked_by_the_geometric_mean_of_their_cases() {
    let graded = graded(&run(), None);
    assert_eq!(
        names(&graded),
        ["matmul::naive", "matmul::tiled", "matmul::vectorized", "matmul::wrong"]
    );
    let [naive, tiled, vectorized, wrong] = &graded[..] else {
        panic!("four")
    };
    let value = |one: &ProblemComplete| one.score.as_ref().expect("a score").value;
    assert!((value(naive) / value(tiled) / 3.2 - 1.0).abs() < 0.01);
    assert_eq!((tiled.rank, naive.rank), (Some(1), Some(3)));
    assert_eq!(vectorized.rank, Some(2));
    assert_eq!(vectorized.ties, ["matmul::tiled"]);
    assert_eq!(naive.ties, [""; 0]);
    assert_eq!((naive.public.cases, naive.public.passed), (2, 2));
    assert_eq!(
        (wrong.verdict, wrong.cause),
        (Verdict::WrongOutput, Some(Cause::Unwritten))
    );
    assert_eq!(wrong.failed_case.as_deref(), Some("matmul::wrong::n=256"));
    assert_eq!((wrong.score.as_ref(), wrong.rank), (None, None));
}

#[test]
fn one_failed_case_of_several_leaves_no_score() {
    let mut run = run();
    run.results[3].verdict = Verdict::Timeout;
    let graded = graded(&run, None);
    assert_eq!((graded[1].verdict, graded[1].public.passed), (Verdict::Timeout, 1));
    assert_eq!((graded[1].score.as_ref(), graded[1].rank), (None, None));
    assert_eq!(graded[0].rank, Some(2));
}

#[test]
fn skipped_cases_do_not_count_and_leave_no_score() {
    let mut run = run();
    for result in &mut run.results[..2] {
        result.verdict = Verdict::Skipped;
    }
    let graded = graded(&run, None);
    assert_eq!((graded[0].verdict, graded[0].public.cases), (Verdict::Skipped, 0));
    assert_eq!(graded[0].score, None);
}

#[test]
fn speed_ups_are_over_the_named_submission_case_by_case() {
    let graded = graded(&run(), Some("matmul::naive"));
    let speedup = |one: &ProblemComplete| one.score.as_ref()?.speedup.clone();
    let tiled = speedup(&graded[1]).expect("it has one");
    assert!((tiled.ratio - 3.2).abs() < 0.05, "{}", tiled.ratio);
    assert_eq!((tiled.fast_1, tiled.fast_2), (1.0, 1.0));
    let [low, high] = tiled.ci95.expect("an interval");
    assert!(low < tiled.ratio && tiled.ratio < high);
    let itself = speedup(&graded[0]).expect("it has one");
    assert_eq!((itself.ratio, itself.fast_1), (1.0, 0.0));
}

#[test]
fn a_speed_up_needs_the_same_cases_in_both() {
    let mut run = run();
    run.results[0].params = Params([("n".to_owned(), ParamValue::Int(7))].into());
    let graded = graded(&run, Some("matmul::naive"));
    let tiled = graded[1].score.as_ref().expect("a score");
    assert_eq!(tiled.speedup, None);
}

#[test]
fn an_unknown_name_gives_no_speed_up_and_no_submission_no_record() {
    assert!(graded(&run(), Some("other")).iter().all(|one| match &one.score {
        Some(score) => score.speedup.is_none(),
        None => true,
    }));
    let run = competition();
    let plain = StoredRun::new(run.started, run.results, Some(run.finished), None);
    assert_eq!(graded(&plain, None), []);
}

#[test]
fn a_problem_decides_how_its_cases_make_a_score() {
    let run = run();
    let by = |rule| {
        let mut run = run.clone();
        for result in &mut run.results {
            result.submission.as_mut().expect("it is one").score_rule = rule;
        }
        graded(&run, None)
    };
    let value = |rule| by(rule)[1].score.as_ref().expect("a score").value;
    let of_case = |index: usize| run.results[index].stats.as_ref().expect("samples").value;
    let [first, last] = [of_case(2), of_case(3)];
    let is_near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
    assert!(is_near(value(ScoreRule::GeometricMean), (first * last).sqrt()));
    assert!(is_near(value(ScoreRule::ArithmeticMean), (first + last) / 2.0));
    assert!(is_near(value(ScoreRule::Last), last));
    let mean = by(ScoreRule::ArithmeticMean);
    let score = mean[1].score.as_ref().expect("a score");
    let [low, high] = score.ci95.expect("an interval");
    assert!(low < score.value && score.value < high);
}

#[test]
fn a_hidden_case_has_no_value_and_takes_the_score_if_it_fails() {
    let mut run = run();
    let public = graded(&run, None)[1].score.clone().expect("a score");
    let submission = run.results[2].submission.clone().expect("it is one");
    let mut hidden = run.results[3].clone();
    hidden.stats = None;
    hidden.params = Params([("hidden".to_owned(), ParamValue::Int(1))].into());
    hidden.submission = Some(SubmissionFacts {
        hidden_case: Some(1),
        ..submission
    });
    run.results.push(hidden);
    let passed = &graded(&run, None)[1];
    assert_eq!(passed.score.as_ref(), Some(&public));
    assert_eq!(
        (passed.public.cases, passed.hidden.cases, passed.hidden.passed),
        (2, 1, 1)
    );
    assert_eq!(passed.graded.hidden_case, None);
    run.results.last_mut().expect("the hidden one").verdict = Verdict::WrongOutput;
    let failed = &graded(&run, None)[1];
    assert_eq!((failed.score.as_ref(), failed.hidden.passed), (None, 0));
    assert_eq!(failed.verdict, Verdict::WrongOutput);
}

#[test]
fn hidden_cases_alone_make_no_score() {
    let mut run = run();
    for result in &mut run.results {
        result.submission.as_mut().expect("it is one").hidden_case = Some(1);
    }
    assert!(
        graded(&run, None)
            .iter()
            .all(|one| one.score.is_none() && one.rank.is_none())
    );
}

#[test]
fn the_sol_score_is_a_half_for_the_baseline_and_one_for_the_least_time() {
    for (least, baseline, score) in [
        (0.5, 1.0, 0.5),
        (1.0, 2.0, 1.0),
        (1.2, 2.0, 1.0),
        // t_sol = 1, t = 2, t_b = 5: 1 / (1 + 1 / 4).
        (0.5, 2.5, 0.8),
        // t_sol = 1, t = 4, t_b = 2: 1 / (1 + 3 / 1).
        (0.25, 0.5, 0.25),
        (0.5, 0.4, 0.0),
        (1.0, 1.0, 1.0),
    ] {
        let found = sol_score(least, baseline);
        assert!((found - score).abs() < 1e-12, "{least} {baseline}: {found}");
    }
}

/// A run on a device with known peaks, whose cases take these multiples of the least times.
fn with_shares(shares: &[f64]) -> StoredRun {
    let mut run = run();
    run.run.device.peak_bandwidth = Some(1e12);
    for (result, share) in run.results.iter_mut().zip(shares.iter().cycle()) {
        result.cache = Some(CacheState::Cold);
        result.throughput.of_peak_bandwidth = Some(*share);
        result.throughput.of_peak_flops = Some(share / 2.0);
    }
    run
}

#[test]
fn the_speed_of_light_is_the_mean_over_the_cases_and_scored_against_the_baseline() {
    let run = with_shares(&[0.1, 0.4]);
    let alone = graded(&run, None);
    let light = |one: &ProblemComplete| one.score.as_ref().expect("a score").speed_of_light;
    let found = light(&alone[1]).expect("it is known");
    assert!((found.fraction - 0.2).abs() < 1e-9, "{found:?}");
    assert_eq!(found.sol_score, None);
    let over = graded(&run, Some("matmul::naive"));
    let scored = |one: &ProblemComplete| light(one).and_then(|light| light.sol_score).expect("a score");
    assert!((scored(&over[0]) - 0.5).abs() < 1e-9);
    let expected = [0.1, 0.4].map(|share| sol_score(share, 3.2)).iter().sum::<f64>() / 2.0;
    assert!((scored(&over[1]) - expected).abs() < 0.01, "{}", scored(&over[1]));
}

#[test]
fn an_unknown_speed_of_light_has_a_word_why() {
    let why = |run: &StoredRun| graded(run, None)[0].score.clone().expect("a score").no_speed_of_light;
    let known = with_shares(&[0.5]);
    assert_eq!(why(&known), None);
    let mut unknown = known.clone();
    (unknown.run.device.peak_bandwidth, unknown.run.device.peak_flops) = (None, None);
    assert!(why(&unknown).is_some_and(|why| why.contains("peak rates of the device")));
    let mut undeclared = known.clone();
    undeclared.results[0].throughput = gpubench_contract::Throughput::default();
    assert!(why(&undeclared).is_some_and(|why| why.contains("neither bytes nor operations")));
    let mut cached = known;
    cached.results[1].cache = None;
    assert!(why(&cached).is_some_and(|why| why.contains("cache")));
}

/// Gives each result the reference of its problem, over which it has this speed-up.
fn with_reference(run: &mut StoredRun, speedup: impl Fn(&BenchmarkComplete) -> f64) {
    for result in &mut run.results {
        let speedup = speedup(result);
        result.reference = result.stats.as_ref().map(|stats| MeasuredReference {
            value: stats.value * speedup,
            speedup,
            ci95: Some([speedup / 1.01, speedup * 1.01]),
        });
    }
}

#[test]
fn a_measured_reference_gives_speed_ups_and_decides_the_ranks() {
    let mut run = run();
    // The slowest in time was measured while the machine was slow.
    let speedup = |result: &BenchmarkComplete| if result.benchmark == "matmul::naive" { 8.0 } else { 2.0 };
    with_reference(&mut run, speedup);
    let graded = graded(&run, None);
    let of = |one: &ProblemComplete| {
        one.score
            .as_ref()
            .and_then(|score| score.speedup.clone())
            .expect("a speed-up")
    };
    let [naive, tiled, vectorized, wrong] = &graded[..] else {
        panic!("four")
    };
    assert_eq!(of(naive).over, "reference");
    assert!((of(naive).ratio - 8.0).abs() < 1e-9 && (of(tiled).ratio - 2.0).abs() < 1e-9);
    let [low, high] = of(tiled).ci95.expect("an interval");
    assert!(
        low < 2.0 && 2.0 < high && high / low < 1.02,
        "two cases are more certain than one: {low} {high}"
    );
    assert_eq!((naive.rank, tiled.rank, wrong.rank), (Some(1), Some(2), None));
    assert_eq!(
        (vectorized.rank, &vectorized.ties[..]),
        (Some(2), &["matmul::tiled".to_owned()][..])
    );
}

#[test]
fn a_submission_that_was_not_compared_in_each_case_has_no_rank_among_speed_ups() {
    let mut run = run();
    with_reference(&mut run, |_| 2.0);
    run.results[0].reference = None;
    let graded = graded(&run, None);
    let score = graded[0].score.as_ref().expect("a time");
    assert_eq!((score.speedup.as_ref(), graded[0].rank), (None, None));
    assert_eq!(graded[1].rank, Some(1));
}

#[test]
fn the_last_case_alone_decides_a_speed_up_if_it_decides_the_score() {
    let mut run = run();
    let last = |result: &BenchmarkComplete| result.params.to_string().contains("512");
    with_reference(&mut run, |result| if last(result) { 3.0 } else { 9.0 });
    for result in &mut run.results {
        result.submission.as_mut().expect("it is one").score_rule = ScoreRule::Last;
    }
    let graded = graded(&run, None);
    let speedup = graded[1]
        .score
        .as_ref()
        .and_then(|score| score.speedup.clone())
        .expect("one");
    assert!((speedup.ratio - 3.0).abs() < 1e-9, "{}", speedup.ratio);
}
