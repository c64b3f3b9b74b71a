//! `grade --over reference`: the reference of a problem alternates with each submission.
#![forbid(unsafe_code)]

use gpubench_tests::{FakeGpu, Fixture, Records, Run, RunFolder};
use serde_json::Value;

const BOTH: [&str; 2] = ["submissions/slow_squares.cu", "submissions/squares.cu"];

/// Three workers: the fewest that give an interval.
fn grade(problem: &str) -> Run {
    with_options(Run::on_verb("grade", &Fixture::new("graded")), problem)
}

fn with_options(run: Run, problem: &str) -> Run {
    let run = run.briefly().env("GPUBENCH_WORKERS", "3");
    run.args(["--offline", "--problem", problem, "--over", "reference"])
}

fn scores(records: &Records) -> Vec<&Value> {
    records.with_reason("problem-complete").collect()
}

fn assert_all_are_compared(records: &Records) {
    for result in records.results() {
        assert_eq!(result["verdict"], "pass", "{result:#}");
        let reference = &result["reference"];
        assert!(reference["value"].as_f64() > Some(0.0), "{result:#}");
        assert!(reference["speedup"].as_f64() > Some(0.0), "{result:#}");
        assert!(reference["ci95"].is_array(), "{result:#}");
    }
    for score in scores(records) {
        assert_eq!(score["score"]["speedup"]["over"], "reference", "{score:#}");
        assert!(score["score"]["speedup"]["ci95"].is_array(), "{score:#}");
    }
}

#[test]
fn speed_ups_over_the_reference_rank_submissions_and_are_exported() {
    let folder = RunFolder::new();
    let [cases, ranking] = ["cases.csv", "ranking.csv"].map(|file| folder.path(file));
    let run = grade("squares").json().args(BOTH);
    let run = run.args(["--export-csv", cases.as_str(), "--export-ranking", ranking.as_str()]);
    let records = run.finish().expect_code(0).records();
    assert_eq!(records.results().count(), 4);
    assert_all_are_compared(&records);
    let scores = scores(&records);
    let ratio = |one: &Value| one["score"]["speedup"]["ratio"].as_f64().expect("a ratio");
    let ranks: Vec<Option<u64>> = scores.iter().map(|one| one["rank"].as_u64()).collect();
    let first_is_better = ratio(scores[0]) > ratio(scores[1]);
    assert_eq!(
        ranks,
        if first_is_better {
            [Some(1), Some(2)]
        } else {
            [Some(2), Some(1)]
        }
    );
    let text = std::fs::read_to_string(&ranking).expect("a file");
    assert!(text.contains(",reference,"), "{text}");
    let header = std::fs::read_to_string(&cases).expect("a file");
    assert!(
        header.contains(",reference_value,speedup,speedup_low,speedup_high,"),
        "{header}"
    );
}

#[test]
fn kernels_of_a_gpu_are_compared_with_the_reference_on_it() {
    let gpu = FakeGpu::new();
    let run = with_options(gpu.run_of_verb("grade", &Fixture::new("graded")), "squares");
    let records = run
        .json()
        .args(["submissions/squares.cu"])
        .finish()
        .expect_code(0)
        .records();
    assert_eq!(records.results().count(), 2);
    assert_all_are_compared(&records);
}

#[test]
fn hidden_cases_are_judged_without_the_reference() {
    let run = grade("squares")
        .json()
        .args(["--leaderboard", "submissions/squares.cu"]);
    let records = run.finish().expect_code(0).records();
    let hidden: Vec<&Value> = records
        .results()
        .filter(|one| one["submission"]["hidden_case"].is_u64())
        .collect();
    assert!(
        !hidden.is_empty()
            && hidden
                .iter()
                .all(|one| one["verdict"] == "pass" && one["reference"].is_null())
    );
    assert_eq!(scores(&records)[0]["score"]["speedup"]["over"], "reference");
}

#[test]
fn a_reference_that_leaves_zeros_has_no_time_and_the_submission_keeps_its_verdict() {
    let records = grade("marks")
        .json()
        .args(["submissions/marks.cu"])
        .finish()
        .expect_code(0)
        .records();
    let result = records.result("marks");
    assert_eq!(
        (&result["verdict"], &result["reference"]),
        (&"pass".into(), &Value::Null)
    );
    let notices = result["notices"].to_string();
    assert!(
        notices.contains("no speed-up over the reference") && notices.contains("finds noise"),
        "{notices}"
    );
}

#[test]
fn a_wrong_submission_fails_as_without_a_reference() {
    let wrong = RunFolder::new();
    let text = std::fs::read_to_string(Fixture::new("graded").directory().join("submissions/squares.cu"));
    let text = text.expect("a file").replace("x[i] * x[i]", "x[i]");
    std::fs::write(wrong.path("copies.cu"), text).expect("a file");
    let run = grade("squares").json().args([wrong.path("copies.cu").as_str()]);
    let records = run.finish().expect_code(100).records();
    for result in records.results() {
        assert_eq!(
            (&result["verdict"], &result["reference"]),
            (&"wrong-output".into(), &Value::Null)
        );
        assert!(!result["notices"].to_string().contains("no speed-up"), "{result:#}");
    }
    assert!(scores(&records)[0]["score"].is_null());
}

#[test]
fn what_cannot_be_a_baseline_is_refused_before_anything_is_measured() {
    let named = RunFolder::new();
    let squares = Fixture::new("graded").directory().join("submissions/squares.cu");
    std::fs::copy(squares, named.path("reference.cu")).expect("a copy");
    let reference = named.path("reference.cu");
    let one = "submissions/squares.cu";
    for (problem, arguments, says) in [
        ("row_sums", &["submissions/zeros.cu"][..], "a function on the CPU"),
        ("squares", &[reference.as_str()], "a submission is called `reference`"),
        ("squares", &["--contest", one], "`--contest` and `--over reference`"),
    ] {
        let finished = grade(problem).args(arguments.iter().copied()).finish().expect_code(2);
        assert!(
            finished.stderr.contains(says) && finished.stderr.contains("(hint: "),
            "{}",
            finished.stderr
        );
    }
}

#[test]
fn a_grading_without_the_reference_is_another_one_to_resume() {
    let folder = RunFolder::new();
    let file = folder.path("run.jsonl");
    let resumed = |run: Run| run.args(["--resume", file.as_str(), "submissions/squares.cu"]);
    let _ = resumed(grade("squares")).finish().expect_code(0);
    let again = resumed(grade("squares").json()).finish().expect_code(0).records();
    assert_all_are_compared(&again);
    assert!(again.results().all(|result| result["resumed_from"].is_string()));
    let plain = Run::on_verb("grade", &Fixture::new("graded"))
        .briefly()
        .env("GPUBENCH_WORKERS", "3");
    let finished = resumed(plain.args(["--offline", "--problem", "squares"]))
        .finish()
        .expect_code(2);
    assert!(finished.stderr.contains("other settings"), "{}", finished.stderr);
}
