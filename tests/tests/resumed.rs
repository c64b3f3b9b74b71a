//! A grading that was killed goes on with `--resume`: nothing is lost, and nothing is judged twice.
#![forbid(unsafe_code)]

use std::time::Duration;

use camino::Utf8PathBuf;
use gpubench_tests::{Ending, Finished, Fixture, Records, Run, RunFolder, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// A folder with submissions and a file of records.
struct Inbox {
    folder: RunFolder,
}

impl Inbox {
    /// Copies submissions of the fixture, each under its own name.
    fn of(names: &[&str]) -> Inbox {
        let inbox = Inbox {
            folder: RunFolder::new(),
        };
        names.iter().for_each(|name| inbox.put(name, name));
        inbox
    }

    /// Copies a submission of the fixture under a name.
    fn put(&self, name: &str, submission: &str) {
        let fixture = Fixture::new("graded").directory().join("submissions");
        std::fs::copy(fixture.join(submission).with_extension("cu"), self.file(name)).expect("a copy");
    }

    fn file(&self, name: &str) -> Utf8PathBuf {
        self.folder.path(name).with_extension("cu")
    }

    fn records_file(&self) -> Utf8PathBuf {
        self.folder.path("run.jsonl")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.records_file()).unwrap_or_default()
    }

    fn records(&self) -> Records {
        Records::parse(&self.text())
    }

    /// Grades submissions with records in the file.
    fn grade(&self, names: &[&str], options: &[&str]) -> Run {
        let run = Run::on_verb("grade", &Fixture::new("graded")).briefly();
        let run = run
            .giving_up("hangs", "3s")
            .args(["--offline", "--problem", "row_sums"]);
        let files: Vec<Utf8PathBuf> = names.iter().map(|name| self.file(name)).collect();
        let run = run
            .args(["--resume", self.records_file().as_str()])
            .args(options.iter().copied());
        run.args(files.iter().map(|file| file.as_str()))
    }

    /// Starts a grading, and kills it when the file has this many results.
    fn killed_after(&self, results: usize, run: Run) -> Records {
        let running = run.start();
        let what = format!("{results} results in `{}`", self.records_file());
        wait_until(&what, Duration::from_secs(120), || {
            let text = self.text();
            let written = text.matches("\"reason\":\"benchmark-complete\"").count();
            (written >= results && text.ends_with('\n')).then_some(())
        });
        running.signal(Signal::KILL);
        assert_eq!(running.finish().ending, Ending::Signal(Signal::KILL.as_raw()));
        let records = self.records();
        assert_eq!(records.with_reason("run-finished").count(), 0, "it was killed too late");
        records
    }
}

const ALL: [&str; 4] = ["thread_a_row", "zeros", "hangs", "block_a_row"];

/// Returns what a result says apart from which run has it.
fn told(result: &Value) -> Value {
    let mut told = result.clone();
    let fields = told.as_object_mut().expect("an object");
    for field in ["run_id", "index", "resumed_from"] {
        fields.remove(field);
    }
    told
}

/// Asserts that the records are those of one complete run: in order, with one id, and with the
/// counts of their results.
fn assert_of_one_run(records: &Records) {
    let started = records.the("run-started");
    let finished = records.the("run-finished");
    assert!(records.all().iter().all(|record| record["run_id"] == started["run_id"]));
    let results: Vec<&Value> = records.results().collect();
    let indices: Vec<u64> = results
        .iter()
        .map(|result| result["index"].as_u64().expect("a number"))
        .collect();
    assert_eq!(indices, (0..results.len() as u64).collect::<Vec<_>>());
    assert_eq!(started["cases"], results.len());
    let passed = results.iter().filter(|result| result["verdict"] == "pass").count();
    assert_eq!(
        (&finished["passed"], &finished["end"]),
        (&passed.into(), &"completed".into())
    );
    assert_eq!(finished["not_run"], 0);
}

/// Returns the cases of the results that an earlier run had, in order.
fn taken(records: &Records) -> Vec<String> {
    let taken = records.results().filter(|result| !result["resumed_from"].is_null());
    taken
        .map(|result| result["case"].as_str().expect("a name").to_owned())
        .collect()
}

fn assert_refused(finished: &Finished, words: &[&str]) {
    let text = &finished.stderr;
    assert!(words.iter().all(|words| text.contains(words)), "{words:?} in {text}");
    assert!(text.contains("(hint: "), "{text}");
}

#[test]
fn a_killed_grading_goes_on_and_ends_as_one_run() {
    let inbox = Inbox::of(&ALL);
    let grade = || inbox.grade(&ALL, &[]);
    let first = inbox.killed_after(4, grade());
    let kept: Vec<Value> = first.results().map(told).collect();
    let finished = grade().finish().expect_code(100);
    let status = format!("Resumed {} of 8 results", kept.len());
    assert!(finished.stderr.contains(&status), "{}", finished.stderr);
    let records = inbox.records();
    assert_of_one_run(&records);
    let cases: Vec<String> = kept
        .iter()
        .map(|result| result["case"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(taken(&records), cases);
    let now: Vec<Value> = records.results().map(told).collect();
    assert_eq!(&now[..kept.len()], kept, "they are what they were");
    let earlier = first.the("run-started");
    let grading = &records.the("run-started")["grading"];
    assert_eq!(grading["resumed"][0]["run_id"], earlier["run_id"]);
    assert_eq!(grading["resumed"][0]["seed_commitment"], earlier["seed_commitment"]);
    assert!(grading["resumed"][0]["seed"].is_null(), "it was killed");
    let ranked: Vec<(&Value, bool)> = records
        .with_reason("problem-complete")
        .map(|one| (&one["verdict"], one["rank"].is_null()))
        .collect();
    let words = ["pass", "wrong-output", "timeout", "pass"].map(Value::from);
    let expected: Vec<(&Value, bool)> = words.iter().zip([false, true, true, false]).collect();
    assert_eq!(ranked, expected);
    assert_eq!(inbox.folder.names().len(), ALL.len() + 1, "{:?}", inbox.folder.names());
}

#[test]
fn a_complete_grading_is_not_judged_again_and_its_exit_code_stays() {
    let names = ["thread_a_row", "zeros"];
    let inbox = Inbox::of(&names);
    let _ = inbox.grade(&names, &["--test"]).finish().expect_code(100);
    let first = inbox.records();
    assert_of_one_run(&first);
    for _ in 0..2 {
        let finished = inbox.grade(&names, &["--test"]).json().finish().expect_code(100);
        let again = inbox.records();
        assert_of_one_run(&again);
        let [then, now] = [&first, &again].map(|records| records.results().map(told).collect::<Vec<_>>());
        assert_eq!(then, now);
        assert_eq!(
            finished.records().all(),
            again.all(),
            "other outputs have the same records"
        );
    }
    let run = &inbox.records();
    let resumed = run.the("run-started")["grading"]["resumed"]
        .as_array()
        .expect("a list")
        .clone();
    assert_eq!(resumed.len(), 1, "no result is from the run between: {resumed:?}");
    assert_eq!(resumed[0]["seed"], first.the("run-finished")["seed"]);
}

#[test]
fn what_a_kill_cut_off_and_what_changed_is_judged_anew() {
    let names = ["thread_a_row", "zeros", "crashes", "block_a_row"];
    let inbox = Inbox::of(&names);
    let grade = || inbox.grade(&names, &["--test"]);
    let _ = grade().finish().expect_code(100);
    let whole = inbox.text();
    let results: Vec<&str> = whole
        .lines()
        .filter(|line| line.contains("benchmark-complete"))
        .collect();
    let cut = whole.find(results[5]).expect("it is there") + results[5].len() / 2;
    std::fs::write(inbox.records_file(), &whole[..cut]).expect("it is written");
    // The second is another submission under the same name.
    inbox.put("zeros", "first_answer");
    let _ = grade().finish().expect_code(100);
    let records = inbox.records();
    assert_of_one_run(&records);
    let expected = [
        "thread_a_row::rows=64,cols=33",
        "thread_a_row::rows=100,cols=33",
        "crashes::rows=64,cols=33",
    ];
    assert_eq!(taken(&records), expected);
    let second = records.result("zeros::rows=64,cols=33");
    assert_eq!(second["cause"], "cached", "{second}");
}

#[test]
fn a_kill_while_a_later_result_waits_for_its_turn_does_not_lose_it() {
    let names = ["hangs", "thread_a_row", "zeros"];
    let inbox = Inbox::of(&names);
    let grade = || inbox.grade(&names, &["--test", "--axis", "rows=64"]);
    let first = inbox.killed_after(1, grade());
    let early: Vec<String> = first
        .results()
        .map(|result| result["case"].as_str().expect("a name").to_owned())
        .collect();
    assert!(!early.iter().any(|case| case.starts_with("hangs")), "{early:?}");
    let _ = grade().finish().expect_code(100);
    assert_of_one_run(&inbox.records());
    assert_eq!(taken(&inbox.records()), early);
}

#[test]
fn an_interrupted_grading_goes_on_and_its_seed_stays_known() {
    let inbox = Inbox::of(&ALL);
    let grade = || inbox.grade(&ALL, &["--test"]);
    let running = grade().start();
    wait_until("a result", Duration::from_secs(120), || {
        inbox.text().contains("benchmark-complete").then_some(())
    });
    running.signal(Signal::INT);
    let _ = running.finish().expect_code(130);
    let first = inbox.records();
    assert_eq!(first.the("run-finished")["end"], "interrupted");
    let _ = grade().finish().expect_code(100);
    let records = inbox.records();
    assert_of_one_run(&records);
    assert_eq!(taken(&records).len(), first.results().count());
    let resumed = &records.the("run-started")["grading"]["resumed"][0];
    assert_eq!(resumed["seed"], first.the("run-finished")["seed"]);
}

#[test]
fn submissions_can_be_added_and_none_can_be_left_out() {
    let inbox = Inbox::of(&ALL);
    let _ = inbox.grade(&["thread_a_row"], &["--test"]).finish().expect_code(0);
    let both = ["block_a_row", "thread_a_row"];
    let _ = inbox.grade(&both, &["--test"]).finish().expect_code(0);
    let records = inbox.records();
    assert_of_one_run(&records);
    assert_eq!(
        taken(&records),
        ["thread_a_row::rows=64,cols=33", "thread_a_row::rows=100,cols=33"]
    );
    let before = inbox.text();
    let finished = inbox.grade(&["thread_a_row"], &["--test"]).finish().expect_code(2);
    assert_refused(
        &finished,
        &["run.jsonl` has results of `a block a row`, which this command does not measure"],
    );
    assert_eq!(inbox.text(), before);
}

#[test]
fn records_of_another_grading_are_refused_and_stay() {
    let names = ["thread_a_row"];
    let inbox = Inbox::of(&names);
    let _ = inbox.grade(&names, &["--test"]).finish().expect_code(0);
    let whole = inbox.text();
    let refused = |options: &[&str], words: &[&str]| {
        let before = inbox.text();
        let finished = inbox.grade(&names, options).finish().expect_code(2);
        assert_refused(&finished, words);
        assert_eq!(inbox.text(), before);
    };
    refused(&[], &["other settings: `grade --problem row_sums --test"]);
    refused(&["--test", "--leaderboard"], &["other settings"]);
    refused(&["--test", "--axis", "rows=7"], &["other settings"]);
    for (there, instead, words) in [
        (
            "\"tool_version\":\"",
            "\"tool_version\":\"9.",
            "its version of the tool is `9.",
        ),
        (
            "\"problem_sha256\":\"",
            "\"problem_sha256\":\"0",
            "the problem `row_sums` has changed since",
        ),
        (
            "\"grading\":{\"problem\":\"",
            "\"grading\":{\"problem\":\"x",
            "its problem is `xrow_sums`",
        ),
        (
            "\"kind\":\"cpu\"",
            "\"kind\":\"cuda\"",
            "its kind of device is `cuda`, and this one's `cpu`",
        ),
        ("\"grading\":{", "\"other\":{", "graded no submissions"),
        ("\"schema_version\":2", "\"schema_version\":3", "format version 3"),
    ] {
        let edited = whole.replacen(there, instead, 1);
        assert_ne!(edited, whole, "{there}");
        std::fs::write(inbox.records_file(), edited).expect("it is written");
        refused(&["--test"], &[words]);
    }
    std::fs::write(inbox.records_file(), "my notes\n").expect("it is written");
    refused(&["--test"], &["run.jsonl` is not JSON"]);
}

#[test]
fn drawn_hidden_cases_are_taken_only_with_their_seed() {
    let inbox = Inbox::of(&["doubles"]);
    let grade = |seed: &[&str]| {
        let run = Run::on_verb("grade", &Fixture::new("graded")).args(["--offline", "--problem", "doubled"]);
        let run = run.args(["--test", "--leaderboard", "--resume", inbox.records_file().as_str()]);
        let file = inbox.file("doubles");
        let _ = run
            .args(seed.iter().copied())
            .args([file.as_str()])
            .finish()
            .expect_code(0);
        let records = inbox.records();
        assert_of_one_run(&records);
        taken(&records)
    };
    assert_eq!(grade(&["--seed", "5"]), [""; 0]);
    assert_eq!(grade(&["--seed", "5"]).len(), 4);
    assert_eq!(grade(&[]), ["doubles::n=1000"], "its hidden cases are others now");
}

#[test]
fn two_gradings_cannot_use_one_file_at_once() {
    let names = ["hangs"];
    let inbox = Inbox::of(&names);
    let running = inbox.grade(&names, &["--test", "--axis", "rows=64"]).start();
    wait_until("the first record", Duration::from_secs(120), || {
        inbox.text().contains("run-started").then_some(())
    });
    let finished = inbox
        .grade(&names, &["--test", "--axis", "rows=64"])
        .finish()
        .expect_code(110);
    assert_refused(&finished, &["could not write", "was locked by process"]);
    let _ = running.finish().expect_code(100);
    assert_of_one_run(&inbox.records());
}

#[test]
fn what_is_no_file_of_its_own_is_refused() {
    let inbox = Inbox::of(&["thread_a_row"]);
    let submission = inbox.file("thread_a_row");
    let run = Run::on_verb("grade", &Fixture::new("graded")).args(["--offline", "--problem", "row_sums", "--test"]);
    let refused = |options: &[&str]| {
        let run = Run::on_verb("grade", &Fixture::new("graded")).args(["--offline", "--problem", "row_sums", "--test"]);
        run.args(options.iter().copied()).args([submission.as_str()]).finish()
    };
    let finished = run
        .args(["--resume", submission.as_str(), submission.as_str()])
        .finish();
    assert_refused(&finished.expect_code(2), &["is an input of this command"]);
    let both = inbox.records_file();
    let finished = refused(&["--export-json", both.as_str(), "--resume", both.as_str()]).expect_code(2);
    assert_refused(&finished, &["`--export-json` and `--resume` both write to"]);
    for no_file in [inbox.folder.path(".").as_str(), "/dev/null", "/dev/stdout"] {
        let finished = refused(&["--resume", no_file]).expect_code(110);
        let text = &finished.stderr;
        assert!(text.contains("could not write"), "{text}");
    }
    let finished = refused(&["--resume", "-"]).expect_code(2);
    assert!(finished.stderr.contains("a file"), "{}", finished.stderr);
}

/// Returns a run of the benchmarks of a fixture, with records in a file.
fn of_benchmarks(file: &Utf8PathBuf, options: &[&str]) -> Run {
    let run = Run::on(&Fixture::new("short")).briefly().args(["--device", "cpu"]);
    // Inputs can make `gelu` exceed its tolerance.
    run.args(["--skip", "gelu", "--resume", file.as_str()])
        .args(options.iter().copied())
}

#[test]
fn a_killed_run_of_benchmarks_goes_on_and_ends_as_one_run() {
    let folder = RunFolder::new();
    let file = folder.path("run.jsonl");
    let text = || std::fs::read_to_string(&file).unwrap_or_default();
    let running = of_benchmarks(&file, &[]).start();
    wait_until("two results", Duration::from_secs(120), || {
        let written = text().matches("\"reason\":\"benchmark-complete\"").count();
        (written >= 2 && text().ends_with('\n')).then_some(())
    });
    running.signal(Signal::KILL);
    assert_eq!(running.finish().ending, Ending::Signal(Signal::KILL.as_raw()));
    let first = Records::parse(&text());
    let others = of_benchmarks(&file, &["--mode", "warm"]).finish().expect_code(2);
    assert_refused(&others, &["with other settings"]);
    let fewer = of_benchmarks(&file, &["by_warp"]).finish().expect_code(2);
    assert_refused(&fewer, &["with other settings"]);
    let finished = of_benchmarks(&file, &[]).finish().expect_code(0);
    let taken = format!("Resumed {} of 7 results", first.results().count());
    assert!(finished.stderr.contains(&taken), "{}", finished.stderr);
    let records = Records::parse(&text());
    assert_of_one_run(&records);
    let kept: Vec<Value> = first.results().map(told).collect();
    let now: Vec<Value> = records.results().map(told).collect();
    assert_eq!(now[..kept.len()], kept, "they are what they were");
    let resumption = &records.the("run-started")["resumption"];
    assert_eq!(resumption["resumed"][0]["run_id"], first.the("run-started")["run_id"]);
}

#[test]
fn records_of_another_kind_of_run_are_refused() {
    let folder = RunFolder::new();
    let file = folder.path("run.jsonl");
    let plain = Run::on(&Fixture::new("short")).briefly().json();
    let plain = plain.args(["--device", "cpu", "largest"]).finish().expect_code(0);
    std::fs::write(&file, &plain.stdout).expect("it is written");
    let refused = of_benchmarks(&file, &[]).finish().expect_code(2);
    assert_refused(&refused, &["a run without `--resume`"]);
    assert_eq!(std::fs::read_to_string(&file).expect("a text"), plain.stdout);
}

#[test]
fn a_file_with_a_part_of_its_first_record_begins_anew_and_says_so() {
    let inbox = Inbox::of(&["zeros"]);
    std::fs::write(inbox.records_file(), "{\"reason\":\"run-started\",\"schema_ve").expect("it is written");
    let finished = inbox.grade(&["zeros"], &["--test"]).finish().expect_code(100);
    assert!(
        finished.stderr.contains("so the run begins anew"),
        "{}",
        finished.stderr
    );
    assert_of_one_run(&inbox.records());
}
