//! The problems of `kernels/problems`: each is complete, and its solutions pass.
//!
//! `wrong_kernels.rs` has kernels that must not pass, and `lint.rs` the test that wrong answers do
//! not.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use gpubench_tests::{Fixture, Run, repository};
use serde_json::Value;

/// The solutions that each problem has.
const SOLUTIONS: [&str; 2] = ["good", "naive"];

fn catalogue() -> Utf8PathBuf {
    repository().join("kernels/problems")
}

fn run(verb: &[&str]) -> Run {
    Run::outside_of_workspaces(&catalogue())
        .patiently()
        .args(verb.iter().copied())
        .args([
            "--offline",
            "--quiet",
            "--target-dir",
            Fixture::target_directory().as_str(),
        ])
}

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Returns the paths of all problems.
fn problems() -> Vec<String> {
    let finished = run(&["problem", "list", "--message-format", "json"])
        .finish()
        .expect_code(0);
    let listed = objects(&finished.stdout);
    let path = |object: &Value| object["problem"].as_str().expect("a path").to_owned();
    listed.iter().map(path).collect()
}

/// Returns the name that a contestant types, which is that of the folder with the solutions.
fn name(problem: &str) -> &str {
    problem.rsplit("::").next().unwrap_or(problem)
}

#[test]
fn every_problem_has_a_statement_hidden_cases_and_limits() {
    for problem in problems() {
        let finished = run(&["problem", "show", name(&problem), "--message-format", "json"])
            .finish()
            .expect_code(0);
        let [shown] = &objects(&finished.stdout)[..] else {
            panic!("{}", finished.stdout)
        };
        let statement = shown["statement"].as_str().expect("a statement");
        assert!(
            statement.contains("\n\n"),
            "{problem}: more than a headline: {statement}"
        );
        for device in ["cpu", "cuda"] {
            assert!(shown["hidden_cases"][device].as_u64() > Some(0), "{problem}: {shown}");
        }
        for limit in ["call_ns", "source_bytes"] {
            assert!(shown["limits"][limit].is_u64(), "{problem}: {shown}");
        }
        assert!(!shown["work"]["bytes"].is_null(), "{problem}: {shown}");
    }
}

#[test]
fn every_problem_has_solutions_and_every_solution_a_problem() {
    let problems = problems();
    let names: BTreeSet<&str> = problems.iter().map(|problem| name(problem)).collect();
    assert_eq!(names.len(), problems.len(), "a name of two problems: {problems:?}");
    let folders = catalogue().join("solutions").read_dir_utf8().expect("a folder");
    let folders: Vec<Utf8PathBuf> = folders
        .map(|entry| entry.expect("it can be read").into_path())
        .collect();
    let solved: BTreeSet<&str> = folders.iter().filter_map(|folder| folder.file_name()).collect();
    assert_eq!(solved, names);
    for folder in &folders {
        for solution in SOLUTIONS {
            let file = folder.join(solution).with_extension("cu");
            assert!(file.exists(), "{file}");
        }
    }
}

/// Grades the solutions of every fourth problem.
fn solutions_pass(first: usize) {
    for problem in problems().iter().skip(first).step_by(4) {
        let name = name(problem);
        let files = SOLUTIONS.map(|solution| format!("solutions/{name}/{solution}.cu"));
        let finished = run(&["grade", "--problem", name, "--test"])
            .json()
            .args(files.iter().map(String::as_str))
            .finish();
        let records = finished.expect_code(0).records();
        let passed: BTreeSet<&str> = records
            .results()
            .inspect(|result| assert_eq!(result["verdict"], "pass", "{problem}: {result}"))
            .map(|result| result["benchmark"].as_str().expect("a name"))
            .collect();
        assert_eq!(passed, SOLUTIONS.into(), "{problem}");
    }
}

#[test]
fn the_solutions_of_the_first_quarter_pass() {
    solutions_pass(0);
}

#[test]
fn the_solutions_of_the_second_quarter_pass() {
    solutions_pass(1);
}

#[test]
fn the_solutions_of_the_third_quarter_pass() {
    solutions_pass(2);
}

#[test]
fn the_solutions_of_the_last_quarter_pass() {
    solutions_pass(3);
}
