//! Several processes, and a choice among them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::double::{can_observe, double, finished, kernels, probe, program, records, stderr};

/// A program with the driver that waits for a line.
fn waiting() -> Child {
    let mut command = Command::new(program());
    let waits = command.arg("wait").env("LD_LIBRARY_PATH", double());
    waits.stdin(Stdio::piped()).spawn().expect("it starts")
}

fn go_on(mut waiting: Child) {
    let mut input = waiting.stdin.take().expect("a pipe");
    input.write_all(b"\n").expect("it reads");
    assert!(waiting.wait().expect("it ends").success());
}

/// The program under another name, in a folder of its own.
fn named(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::copy(program(), &file).expect("it is copied");
    (folder, file)
}

#[test]
fn several_processes_are_observed_until_the_last_of_them_ends() {
    if !can_observe("several_processes_are_observed_until_the_last_of_them_ends") {
        return;
    }
    let [first, second, stranger] = [(); 3].map(|()| waiting());
    let pids = format!("{},{}", first.id(), second.id());
    let mut child = probe(&["--message-format", "json", "--interval", "50ms", "--pid", &pids])
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a record").expect("text");
    let started: Value = serde_json::from_str(&next()).expect("a record");
    assert_eq!(started["pids"], serde_json::json!([first.id(), second.id()]));
    assert!(started["pid"].is_null());
    next();
    go_on(stranger);
    go_on(first);
    // It goes on without the first.
    next();
    next();
    go_on(second);
    let last = lines.last().expect("records").expect("text");
    assert!(child.wait().expect("it ends").success());
    let last: Value = serde_json::from_str(&last).expect("a record");
    assert_eq!(last["end"], "ended");
    assert_eq!(kernels(&last), [("short_lived".to_owned(), 2)]);
}

#[test]
fn one_of_several_processes_that_is_not_there_is_named() {
    let own = std::process::id().to_string();
    let output = probe(&["--pid", &own, "--pid", "4194304"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("there is no process 4194304"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn processes_of_other_programs_are_left_out_and_counted() {
    if !can_observe("processes_of_other_programs_are_left_out_and_counted") {
        return;
    }
    let (_folder, other) = named("other");
    let script = format!("{} launch 5; {} launch 7", program(), other.display());
    let run = |options: &[&str]| {
        let words = [options, &["--", "sh", "-c", &script]].concat();
        probe(&words).output().expect("it runs")
    };
    let output = run(&["--message-format", "json", "--program", "other"]);
    let finished = finished(&output);
    assert_eq!(kernels(&finished), [("looped".to_owned(), 7)]);
    let calls = &finished["calls"];
    assert_eq!(calls["left_out"]["used_the_driver"], 1, "{calls:#}");
    assert_eq!(calls["processes"].as_array().map(Vec::len), Some(1));
    // The kernel counts them for all processes together.
    assert_eq!(calls["calls"].as_array().map(Vec::len), Some(0));
    let text = stderr(&run(&["--program", "other"]));
    for wanted in [
        "(--program other): exit code 0",
        "1 process, 7 launches",
        "1 process that called the driver does not match the filter and is left out",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let text = stderr(&run(&["--program", "neither"]));
    assert!(
        text.contains("No process that matches the filter called the CUDA driver.") && text.contains("2 processes"),
        "{text}"
    );
}

#[test]
fn processes_are_chosen_by_user_and_control_group() {
    if !can_observe("processes_are_chosen_by_user_and_control_group") {
        return;
    }
    let launches = |options: &[&str]| {
        let program = program();
        let words = [options, &["--message-format", "json", "--", &program, "launch", "5"]].concat();
        let finished = finished(&probe(&words).output().expect("it runs"));
        kernels(&finished).first().map_or(0, |(_, launches)| *launches)
    };
    let groups = std::fs::read_to_string("/proc/self/cgroup").expect("text");
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let own = paths.max_by_key(|path| path.len()).expect("a group");
    let user = rustix::process::getuid().as_raw();
    let (user, nobody) = (user.to_string(), (user + 1).to_string());
    assert_eq!(launches(&["--user", &user, "--cgroup", own]), 5);
    assert_eq!(launches(&["--user", &nobody, "--user", &user]), 5);
    assert_eq!(launches(&["--user", &nobody]), 0);
    assert_eq!(launches(&["--user", &user, "--cgroup", "/no/such/group"]), 0);
}

#[test]
fn a_hostile_name_of_a_program_is_matched_as_it_is_and_shown_without_its_controls() {
    if !can_observe("a_hostile_name_of_a_program_is_matched_as_it_is_and_shown_without_its_controls") {
        return;
    }
    let name = "a\u{1b}[2J\"b\nc";
    let (folder, file) = named(name);
    let metrics = folder.path().join("x.prom");
    let metrics = metrics.to_str().expect("text");
    let command = [file.to_str().expect("text"), "launch", "5"];
    let options = ["--program", name, "--metrics-file", metrics, "--"];
    let output = probe(&[&options[..], &command].concat()).output().expect("it runs");
    let text = stderr(&output);
    assert!(text.contains("5 launches") && !text.contains('\u{1b}'), "{text:?}");
    let page = std::fs::read_to_string(metrics).expect("metrics");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("gpubench_probe_left_out_processes_total"));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        ["gpubench_probe_left_out_processes_total 0.0"]
    );
    let json = ["--message-format", "json", "--program", name, "--"];
    let output = probe(&[&json[..], &command].concat()).output().expect("it runs");
    let records = records(std::str::from_utf8(&output.stdout).expect("text"));
    assert_eq!(records[0]["filter"]["programs"], serde_json::json!([name]));
}
