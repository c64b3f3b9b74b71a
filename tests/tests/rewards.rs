//! A submission has a reward in a file: a number that no failed run leaves above 0.
#![forbid(unsafe_code)]

use gpubench_tests::{Finished, Fixture, Role, Run, RunFolder};
use rustix::process::Signal;
use serde_json::Value;

fn grade(reward: &str) -> Run {
    let run = Run::on_verb("grade", &Fixture::new("graded")).briefly();
    run.args([
        "--offline",
        "--problem",
        "row_sums",
        "--axis",
        "rows=64",
        "--reward",
        reward,
    ])
}

/// A folder with the reward of an earlier run.
fn of_an_earlier_run() -> (RunFolder, String) {
    let folder = RunFolder::new();
    let file = folder.file("reward.json", "{\"reward\":1.0}\n");
    (folder, file)
}

fn reward(file: &str) -> Value {
    let text = std::fs::read_to_string(file).expect("it is there");
    serde_json::from_str(&text).expect("JSON")
}

fn assert_refused(finished: &Finished, words: &str) {
    let text = &finished.stderr;
    assert!(text.contains(words) && text.contains("(hint: "), "{text}");
}

#[test]
fn a_submission_that_passes_gets_one_and_a_wrong_one_nothing() {
    let folder = RunFolder::new();
    let file = folder.path("new/reward.json");
    let run = grade(file.as_str()).args(["--test", "submissions/thread_a_row.cu"]);
    let _ = run.finish().expect_code(0);
    let expected = serde_json::json!({"reward": 1.0, "passed": 1, "cases": 1});
    assert_eq!(reward(file.as_str()), expected);
    let run = grade(file.as_str()).args(["--test", "submissions/zeros.cu"]);
    let _ = run.finish().expect_code(100);
    let expected = serde_json::json!({"reward": 0.0, "passed": 0, "cases": 1});
    assert_eq!(reward(file.as_str()), expected);
}

#[test]
fn a_failed_hidden_case_leaves_no_reward() {
    let folder = RunFolder::new();
    let file = folder.path("reward.txt");
    let run = Run::on_verb("grade", &Fixture::new("graded")).briefly();
    let run = run.args(["--offline", "--problem", "row_sums", "--reward", file.as_str()]);
    let run = run.args(["--leaderboard", "--test", "submissions/only_public.cu"]);
    let _ = run.finish().expect_code(100);
    assert_eq!(std::fs::read_to_string(file).expect("it is there"), "0.0\n");
}

#[test]
fn over_another_submission_it_is_the_speed_up() {
    let folder = RunFolder::new();
    let file = folder.path("reward.txt");
    let files = ["submissions/block_a_row.cu", "submissions/thread_a_row.cu"];
    let run = grade(file.as_str())
        .json()
        .args(["--over", "a block a row"])
        .args(files);
    let records = run.finish().expect_code(0).records();
    let faster = records.with_reason("problem-complete").nth(1).expect("two");
    let ratio = faster["score"]["speedup"]["ratio"].as_f64().expect("a number");
    let text = std::fs::read_to_string(file).expect("it is there");
    assert_eq!(text.trim().parse(), Ok(ratio));
}

#[test]
fn what_cannot_be_compiled_or_read_takes_the_reward_of_an_earlier_run() {
    for submission in ["submissions/does_not_compile.cu", "missing.cu"] {
        let (_folder, file) = of_an_earlier_run();
        let _ = grade(&file).args(["--test", submission]).finish().expect_code(100);
        assert_eq!(reward(&file)["reward"], 0.0, "{submission}");
    }
    let (_folder, file) = of_an_earlier_run();
    let run = Run::on_verb("grade", &Fixture::new("graded")).args(["--offline", "--problem", "none"]);
    let run = run.args(["--reward", &file, "submissions/thread_a_row.cu"]);
    let _ = run.finish().expect_code(2);
    assert_eq!(reward(&file)["reward"], 0.0);
}

#[test]
fn an_interrupted_or_killed_run_leaves_no_reward() {
    for signal in [Signal::INT, Signal::KILL] {
        let (_folder, file) = of_an_earlier_run();
        let run = grade(&file).args(["--test", "--timeout", "10min", "submissions/hangs.cu"]);
        let running = run.start();
        running.wait_for_role(Role::Worker);
        running.signal(signal);
        let _ = running.finish();
        assert_eq!(reward(&file)["reward"], 0.0, "{signal:?}");
    }
}

#[test]
fn several_submissions_have_no_reward_and_nothing_runs() {
    let (_folder, file) = of_an_earlier_run();
    let one = "submissions/thread_a_row.cu";
    let finished = grade(&file).args([one, "submissions/zeros.cu"]).finish().expect_code(2);
    assert_refused(&finished, "a reward is of one submission, and there are 2");
    let run = grade(&file).args(["--over", "zeros", one, "submissions/zeros.cu", "missing.cu"]);
    assert_refused(&run.finish().expect_code(2), "there are 3");
    assert_eq!(reward(&file)["reward"], 1.0, "the command was refused as a whole");
}

#[test]
fn a_submission_that_takes_the_name_of_the_other_gets_nothing() {
    let (folder, file) = of_an_earlier_run();
    let source = std::fs::read_to_string(Fixture::new("graded").directory().join("submissions/thread_a_row.cu"));
    let source = source
        .expect("it is there")
        .replace("grid =", "name = \"a block a row\"\ngrid =");
    let thief = folder.file("thief.cu", source);
    let over = ["--over", "a block a row", &thief, "submissions/block_a_row.cu"];
    let finished = grade(&file).args(over).finish().expect_code(2);
    assert_refused(&finished, "several submissions are called `a block a row`");
    assert_eq!(reward(&file)["reward"], 0.0);
    let unknown = ["--over", "naive", "submissions/thread_a_row.cu"];
    let finished = grade(&file).args(unknown).finish().expect_code(2);
    assert_refused(&finished, "no submission is called `naive`");
}

#[test]
fn a_reward_that_cannot_be_written_is_an_error_before_anything_runs() {
    let one = "submissions/thread_a_row.cu";
    let finished = grade("/dev/null/reward.json").args([one]).finish().expect_code(110);
    let text = &finished.stderr;
    assert!(text.contains("could not write `/dev/null/reward.json`"), "{text}");
    assert!(!text.contains("Compiling"), "{text}");
    for refused in ["-", "reward", "reward.csv"] {
        let finished = grade(refused).args([one]).finish().expect_code(2);
        assert!(
            finished.stderr.contains("the extension says the format"),
            "{}",
            finished.stderr
        );
    }
    let folder = RunFolder::new();
    let file = folder.path("one.json");
    let run = grade(file.as_str()).args(["--export-json", file.as_str(), one]);
    let finished = run.finish().expect_code(2);
    assert!(finished.stderr.contains("both write to"), "{}", finished.stderr);
}

#[test]
fn the_ranking_is_a_table_for_spreadsheets() {
    let folder = RunFolder::new();
    let file = folder.path("ranking.csv");
    let run = Run::on_verb("grade", &Fixture::new("graded")).briefly();
    let run = run.args(["--offline", "--problem", "row_sums", "--export-ranking", file.as_str()]);
    let run = run.args(["submissions/zeros.cu", "submissions/thread_a_row.cu"]);
    let _ = run.finish().expect_code(100);
    let text = std::fs::read_to_string(file).expect("it is there");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..5], ["rank", "submission", "place", "sha256", "verdict"]);
    assert_eq!(rows[1][..3], ["1", "thread_a_row", "submissions/thread_a_row.cu"]);
    assert_eq!((rows[1][4], rows[1][7]), ("pass", "2"));
    assert!(rows[1][8].parse::<f64>().is_ok_and(|score| score > 0.0), "{text}");
    assert_eq!(rows[2][..2], ["", "zeros"]);
    assert_eq!((rows[2][4], rows[2][5], rows[2][8]), ("wrong-output", "constant", ""));
    assert_eq!(rows.len(), 3);
}
