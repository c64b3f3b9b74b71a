//! What a user can do wrong.

use std::process::Command;

use gpubench_tests::{copy_program, tool};

use crate::double::{can_begin, can_observe, probe, stderr};

#[test]
fn what_cannot_be_observed_has_a_hint() {
    let output = probe(&["--pid", "4194304"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("there is no process 4194304"),
        "{}",
        stderr(&output)
    );
    let output = probe(&[]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(
        text.contains("probe [OPTIONS] -- <COMMAND>...") && text.contains("--system"),
        "{text}"
    );
}

#[test]
fn where_the_observing_program_is_not_installed_its_name_and_how_to_install_it_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let alone = folder.path().join("cargo-gpubench");
    copy_program(tool().as_std_path(), &alone);
    let run = |words: &[&str]| {
        let mut command = Command::new(&alone);
        // A relative folder of `PATH` may be anybody's.
        let of_tool = tool().parent().expect("a folder");
        command
            .current_dir(of_tool)
            .env("PATH", ".:/bin:/usr/bin")
            .arg("gpubench");
        command.args(words).output().expect("it runs")
    };
    for words in [
        &["probe", "--", "true"][..],
        &["probe", "--help"],
        &["--color", "never", "probe", "true"],
    ] {
        let output = run(words);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(96), "{text}");
        assert!(
            text.contains("`gpubench-probe`") && text.contains("cargo install --locked gpubench-probe"),
            "{text}"
        );
    }
    let doctor = run(&["doctor"]);
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(text.contains("cargo install --locked gpubench-probe"), "{text}");
}

#[test]
fn a_program_that_does_not_start_is_a_mistake_in_the_command_line() {
    if !can_begin("a_program_that_does_not_start_is_a_mistake_in_the_command_line") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("script");
    std::fs::write(&file, "no program").expect("a file");
    let file = file.to_str().expect("text");
    let missing = folder.path().join("missing");
    let missing = missing.to_str().expect("text");
    for (program, error, hint) in [
        (missing, "No such file or directory", "check the spelling"),
        ("no-such-program", "No such file or directory", "check the spelling"),
        ("python train.py", "No such file or directory", "as separate words"),
        (file, "Permission denied", "chmod +x"),
    ] {
        let output = probe(&["--", program]).output().expect("it runs");
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        for wanted in [
            format!("`{program}` cannot be started"),
            error.to_owned(),
            hint.to_owned(),
        ] {
            assert!(text.contains(&wanted), "{wanted}: {text}");
        }
    }
}

#[test]
fn a_command_needs_no_dashes_and_its_options_stay_its_own() {
    if !can_observe("a_command_needs_no_dashes_and_its_options_stay_its_own") {
        return;
    }
    for words in [
        &["--quiet", "sh", "-c", "exit 5", "--quiet"][..],
        &["--quiet", "--", "sh", "-c", "exit 5"],
    ] {
        let output = probe(words).output().expect("it runs");
        assert_eq!(output.status.code(), Some(5), "{words:?}: {}", stderr(&output));
    }
    let output = probe(&["--quite", "true"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("'--quiet'"), "{}", stderr(&output));
}

#[test]
fn places_that_cannot_be_used_are_told_before_the_command_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let trace = trace.to_str().expect("text");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    for (option, value, code, wanted) in [
        ("--metrics-addr", taken.as_str(), 110, "takes a free one"),
        ("--metrics-addr", "everywhere", 2, "must be an address with a port"),
        ("--metrics-file", "metrics.txt", 2, "must end in `.prom`"),
        ("--metrics-file", "/proc/metrics.prom", 110, "/proc/metrics.prom"),
        ("--report", "html=/proc/page.html", 110, "/proc/page.html"),
        ("--export-json", "/proc/records.jsonl", 110, "/proc/records.jsonl"),
    ] {
        let output = probe(&[option, value, "--", "touch", trace]).output().expect("it runs");
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{option} {value}: {text}");
        assert!(text.contains(wanted), "{option} {value}: {text}");
        assert!(!std::path::Path::new(trace).exists(), "{option} {value}");
    }
}
