//! Submissions that agents judge.

use std::collections::BTreeMap;
use std::fs;

use gpubench_tests::{Fixture, Records, Run, RunFolder};
use serde_json::Value;

/// A command that starts what follows it, as `srun` does.
const SHELL: &str = "sh -c 'exec \"$@\"' sh";

/// Submissions that pass, lie, do not compile, have no launch, crash and are host code.
const SUBMISSIONS: [&str; 7] = [
    "thread_a_row",
    "first_answer",
    "does_not_compile",
    "no_launch",
    "crashes",
    "host_code",
    "only_public",
];

fn grade(folder: &RunFolder, submissions: &[String]) -> Run {
    Run::on_verb("grade", &Fixture::new("graded"))
        .briefly()
        .json()
        .args([
            "--offline",
            "--problem",
            "row_sums",
            "--device",
            "cpu",
            "--test",
            "--leaderboard",
            "--seed",
            "5eed",
        ])
        .args(submissions.iter().map(String::as_str))
        .env("XDG_CACHE_HOME", folder.path("cache").as_str())
}

/// Returns all that a person reads of each result, by case.
fn read(records: &Records) -> BTreeMap<String, [Value; 5]> {
    let fields =
        |result: &Value| ["verdict", "cause", "message", "submission", "params"].map(|name| result[name].clone());
    let results = records.results();
    results
        .map(|result| (result["case"].as_str().expect("a name").to_owned(), fields(result)))
        .collect()
}

#[test]
fn agents_judge_submissions_as_one_run_does() {
    let folder = RunFolder::new();
    let names = SUBMISSIONS.map(|name| format!("submissions/{name}.cu"));
    let submissions = [&["missing.cu".to_owned()][..], &names].concat();
    let here = grade(&folder, &submissions).finish().expect_code(100).records();
    let there = grade(&folder, &submissions)
        .args(["--runner", SHELL, "--agents", "2"])
        .finish()
        .expect_code(100)
        .records();
    let (there_read, here_read) = (read(&there), read(&here));
    for (case, of_here) in &here_read {
        assert_eq!(there_read.get(case), Some(of_here), "{case}");
    }
    assert_eq!(there_read.len(), here_read.len());
    let scores = |records: &Records| -> Vec<Value> {
        let complete = records
            .all()
            .iter()
            .filter(|record| record["reason"] == "problem-complete");
        complete.map(|record| record["submissions"].clone()).collect()
    };
    assert_eq!(scores(&there), scores(&here));
    assert!(there.results().all(|result| !result["environment"]["host"].is_null()));
}

/// The agent's folder has none of the files, and the head's have changed since they were read.
#[test]
fn agents_get_the_bytes_that_the_head_has_read() {
    let folder = RunFolder::new();
    let submission = folder.path("fast");
    fs::create_dir(&submission).expect("a folder");
    let text = Fixture::new("graded").directory().join("submissions/thread_a_row.cu");
    let text = fs::read_to_string(text).expect("a text");
    fs::write(submission.join("main.cu"), format!("#include \"part.h\"\n{text}")).expect("a file");
    fs::write(submission.join("part.h"), "#pragma once\n").expect("a file");
    let elsewhere = folder.path("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let spoiling = format!("sh -c 'rm -r {submission} && cd {elsewhere} && exec \"$@\"' sh");
    let records = grade(&folder, &[submission.to_string()])
        .args(["--runner", &spoiling])
        .finish()
        .expect_code(0)
        .records();
    let result = records.results().next().expect("a result");
    assert_eq!(result["submission"]["place"], submission.as_str());
}

#[test]
fn a_submission_from_standard_input_goes_to_agents() {
    let folder = RunFolder::new();
    let line = "cat submissions/thread_a_row.cu | \"$0\" gpubench grade --offline --problem row_sums --test --device cpu \
                --message-format json --runner \"$RUNNER\" --axis rows=64 -";
    let records = Run::of_shell(line, Fixture::new("graded").directory())
        .patiently()
        .env("RUNNER", SHELL)
        .env("XDG_CACHE_HOME", folder.path("cache").as_str())
        .finish()
        .expect_code(0)
        .records();
    let result = records.results().next().expect("a result");
    assert_eq!(
        (&result["verdict"], &result["submission"]["place"]),
        (&"pass".into(), &"-".into())
    );
}

#[test]
fn mistakes_of_a_grading_start_no_agent() {
    let folder = RunFolder::new();
    let noting = format!("sh -c 'echo $$ >> {}; exec \"$@\"' sh", folder.path("pids"));
    for (mistake, code) in [
        (&["--problem", "nosuch"][..], 2),
        (&["--problem", "row_sums", "--exact", "nosuch::rows=1"], 4),
        (&["--problem", "row_sums", "--axis", "nosuch=3"], 2),
        (&["--problem", "row_sums", "--over", "nosuch"], 2),
    ] {
        let run = Run::on_verb("grade", &Fixture::new("graded")).args(["--offline", "--runner", &noting]);
        let run = run.args(["submissions/thread_a_row.cu"]).args(mistake.iter().copied());
        let _finished = run.finish().expect_code(code);
        assert!(!folder.path("pids").exists(), "{mistake:?}: an agent was started");
    }
}
