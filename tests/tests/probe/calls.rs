//! Calls, in the summary, the records, the metrics and the screen.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use gpubench_tests::{Fixture, Terminal, repository, wait_until};
use serde_json::Value;

use crate::double::{
    can_observe, compiled, double, finished, interrupt, kernels, probe, program, stderr, tell_skipped,
};

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn the_summary_of_a_command_names_its_kernels_and_what_it_left() {
    if !can_observe("the_summary_of_a_command_names_its_kernels_and_what_it_left") {
        return;
    }
    let output = probe(&["--", &program(), "short"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(output.stdout.is_empty(), "standard output is the command's");
    let text = stderr(&output);
    for wanted in [
        "exit code 0",
        "short_lived",
        "Left allocated: 300 B in 1 allocation",
        "1 × 300 B device",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn the_exit_code_is_that_of_the_command_and_its_output_is_unchanged() {
    if !can_observe("the_exit_code_is_that_of_the_command_and_its_output_is_unchanged") {
        return;
    }
    for (script, code) in [("printf 'a\\0b'; exit 7", 7), ("printf 'a\\0b'; kill -9 $$", 137)] {
        let output = probe(&["--quiet", "--", "sh", "-c", script]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(output.stdout, b"a\0b");
    }
}

#[test]
fn with_json_standard_output_has_records_alone() {
    if !can_observe("with_json_standard_output_has_records_alone") {
        return;
    }
    let script = format!("echo words; exec {} launch 1000", program());
    let output = probe(&["--message-format", "json", "--", "sh", "-c", &script])
        .output()
        .expect("it runs");
    let finished = finished(&output);
    assert!(stderr(&output).contains("words"), "{}", stderr(&output));
    assert_eq!(kernels(&finished), [("looped".to_owned(), 1000)]);
    assert_eq!(
        (finished["exit_code"].as_i64(), finished["end"].as_str()),
        (Some(0), Some("ended"))
    );
    assert_eq!(finished["calls"]["lost_events"], 0);
}

#[test]
fn failed_calls_are_counted_by_call_and_code() {
    if !can_observe("failed_calls_are_counted_by_call_and_code") {
        return;
    }
    let output = probe(&["--message-format", "json", "--", &program(), "errors"])
        .output()
        .expect("it runs");
    let finished = finished(&output);
    let errors = finished["calls"]["errors"].as_array().expect("errors");
    let memory = errors
        .iter()
        .find(|error| error["call"] == "cuMemAlloc")
        .expect("an error");
    assert_eq!(
        (&memory["name"], &memory["count"]),
        (&"CUDA_ERROR_OUT_OF_MEMORY".into(), &1.into())
    );
}

#[test]
fn without_children_a_command_is_the_only_process_and_the_record_says_what_is_probed() {
    if !can_observe("without_children_a_command_is_the_only_process_and_the_record_says_what_is_probed") {
        return;
    }
    for (option, children, count) in [(&["--no-children"][..], false, 1), (&[], true, 4)] {
        let program = program();
        let words = [&["--message-format", "json"], option, &["--", &program, "fork"]].concat();
        let output = probe(&words).output().expect("it runs");
        let finished = finished(&output);
        let first = output.stdout.split(|byte| *byte == b'\n').next().expect("a line");
        let started: Value = serde_json::from_slice(first).expect("a record");
        assert_eq!(started["children"], children, "{started:#}");
        let processes = finished["calls"]["processes"].as_array().expect("processes");
        assert_eq!(processes.len(), count, "{processes:#?}");
        let drivers = finished["calls"]["drivers"].as_array().expect("drivers");
        let own = compiled("libcuda.so.1");
        let driver = drivers
            .iter()
            .find(|driver| driver["path"] == *own)
            .expect("it is probed");
        let number = |field: &str| driver[field].as_u64().expect("a number");
        assert!(number("emulated") > 50 && number("returns") > 50, "{driver:#}");
        assert_eq!(number("stepped"), 0, "{driver:#}");
        // Linux before 6.12 cannot tell the process from others.
        assert!(!children || driver["pays"] == "every-process", "{driver:#}");
    }
}

#[test]
fn forks_and_execs_are_processes_of_their_own() {
    if !can_observe("forks_and_execs_are_processes_of_their_own") {
        return;
    }
    let output = probe(&["--message-format", "json", "--", &program(), "fork"])
        .output()
        .expect("it runs");
    let finished = finished(&output);
    let processes = finished["calls"]["processes"].as_array().expect("processes");
    let left: Vec<u64> = processes
        .iter()
        .filter_map(|process| process["unfreed_bytes"].as_u64())
        .collect();
    // The parent, its child before the exec, the program after it, and the child that ends.
    assert_eq!(processes.len(), 4, "{processes:#?}");
    let mut left = left;
    left.sort_unstable();
    assert_eq!(left, [0, 0, 77, 300]);
    assert!(
        processes.iter().all(|process| process["running"] == false),
        "{processes:#?}"
    );
}

#[test]
fn memory_that_another_thread_frees_is_not_left() {
    if !can_observe("memory_that_another_thread_frees_is_not_left") {
        return;
    }
    let output = probe(&["--", &program(), "threads"]).output().expect("it runs");
    let text = stderr(&output);
    assert!(
        text.contains("1 process,") && text.contains("Nothing was left allocated."),
        "{text}"
    );
}

#[test]
fn a_process_that_runs_already_is_observed_until_its_end() {
    if !can_observe("a_process_that_runs_already_is_observed_until_its_end") {
        return;
    }
    let mut observed = Command::new(program())
        .arg("wait")
        .env("LD_LIBRARY_PATH", double())
        .stdin(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pid = observed.id().to_string();
    let mut child = probe(&["--message-format", "json", "--interval", "50ms", "--pid", &pid])
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // The first sample: probes are attached.
    lines.nth(1).expect("a sample").expect("text");
    observed
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"\n")
        .expect("it reads");
    assert!(observed.wait().expect("it ends").success());
    let last = lines.last().expect("records").expect("text");
    assert!(child.wait().expect("it ends").success());
    let last: Value = serde_json::from_str(&last).expect("a record");
    assert_eq!(
        (last["reason"].as_str(), last["end"].as_str()),
        (Some("probe-finished"), Some("ended"))
    );
    assert_eq!(kernels(&last), [("short_lived".to_owned(), 1)]);
}

#[test]
fn all_processes_are_observed_until_ctrl_c_and_scraped_meanwhile() {
    if !can_observe("all_processes_are_observed_until_ctrl_c_and_scraped_meanwhile") {
        return;
    }
    let arguments = ["--system", "--interval", "50ms", "--metrics-addr", "0", "--quiet"];
    let mut child = probe(&arguments).spawn().expect("it starts");
    let mut messages = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("http://") {
        line.clear();
        assert!(messages.read_line(&mut line).expect("text") > 0, "it ended early");
    }
    let address = line
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.split('/').next())
        .expect("an address");
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let scraped = || {
        let mut client = TcpStream::connect(address).ok()?;
        client.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").ok()?;
        let mut page = String::new();
        client.read_to_string(&mut page).ok()?;
        Some(page)
    };
    wait_until("an empty page", PATIENCE, || {
        scraped().filter(|page| page.contains("200 OK"))
    });
    let run = || {
        let status = Command::new(program())
            .arg("short")
            .env("LD_LIBRARY_PATH", double())
            .status();
        assert!(status.expect("it runs").success());
    };
    // The observation may begin a moment after the page is there.
    let wanted = ",kernel=\"short_lived\"}";
    wait_until(wanted, PATIENCE, || {
        run();
        scraped().filter(|page| page.contains(wanted)).map(drop)
    });
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("all processes: interrupted") && text.contains("short_lived"),
        "{text}"
    );
}

#[test]
fn a_terminal_shows_the_state_and_the_lines_of_the_command_until_ctrl_c() {
    if !can_observe("a_terminal_shows_the_state_and_the_lines_of_the_command_until_ctrl_c") {
        return;
    }
    // The driver is found when the first program has loaded it. Later ones are seen from the start.
    let script = format!(
        "export LD_LIBRARY_PATH={}; echo line-$((40+1)); test -t 1 && echo terminal-$((40+2)); \
         while sleep 0.1; do {} short; done",
        double().display(),
        program()
    );
    let arguments = ["probe", "--interval", "100ms", "--", "sh", "-c", &script];
    let (terminal, mut child) = Terminal::running(80, &Fixture::new("tidy"), &arguments);
    terminal.wait_for("terminal-42");
    terminal.wait_for("short_lived");
    terminal.interrupt();
    let screen = terminal.screen();
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{screen}");
    for wanted in ["line-41", "killed by SIGINT", "Left allocated:"] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
}

#[test]
fn the_test_for_leaks_in_the_guide_finds_them() {
    let name = "the_test_for_leaks_in_the_guide_finds_them";
    if !can_observe(name) {
        return;
    }
    let guide = std::fs::read_to_string(repository().join("docs/guides/probe.md")).expect("the guide is there");
    let line = guide.lines().find(|line| line.starts_with("jq -e ")).expect("the test");
    let filter = line.split('\'').nth(1).expect("a filter");
    if Command::new("jq").arg("--version").output().is_err() {
        tell_skipped(name, "jq is not installed");
        return;
    }
    let succeeds = |records: &str| {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), records).expect("a file");
        let status = Command::new("jq").args(["-e", filter]).arg(file.path()).output();
        status.expect("it runs").status.success()
    };
    let observed = |what: &str| {
        let words = ["--quiet", "--message-format", "json", "--", &program(), what];
        let output = probe(&words).output().expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(succeeds(&observed("threads")));
    assert!(!succeeds(&observed("short")));
    assert!(!succeeds("{\"reason\": \"probe-finished\", \"seen\": null}"));
}

#[test]
fn a_command_runs_to_its_end_although_nobody_reads_the_records_any_more() {
    if !can_observe("a_command_runs_to_its_end_although_nobody_reads_the_records_any_more") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let records = folder.path().join("records.jsonl");
    let words = [
        "--message-format",
        "json",
        "--interval",
        "50ms",
        "--quiet",
        "--export-json",
    ];
    let mut child = probe(&words)
        .args([
            records.to_str().expect("text"),
            "--",
            "sh",
            "-c",
            "sleep 0.5; echo end; exit 7",
        ])
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a record").expect("text");
    drop(lines);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert!(stderr(&output).contains("end\n"), "{}", stderr(&output));
    // The other place has all.
    let records = std::fs::read_to_string(records).expect("a file");
    let last: Value = serde_json::from_str(records.lines().last().expect("a record")).expect("JSON");
    assert_eq!(
        (last["reason"].as_str(), last["exit_code"].as_i64()),
        (Some("probe-finished"), Some(7))
    );
}

#[test]
fn a_command_runs_to_its_end_although_a_file_can_no_longer_be_written() {
    if !can_observe("a_command_runs_to_its_end_although_a_file_can_no_longer_be_written") {
        return;
    }
    let words = ["--quiet", "--interval", "50ms", "--export-json", "/dev/full", "--"];
    let command = ["sh", "-c", "sleep 0.3; echo end"];
    let output = probe(&words).args(command).output().expect("it runs");
    assert_eq!(output.status.code(), Some(110), "{}", stderr(&output));
    assert_eq!(output.stdout, b"end\n");
    let text = stderr(&output);
    assert!(text.contains("exit code 0") && text.contains("/dev/full"), "{text}");
}

#[test]
fn times_of_allocations_and_waits_are_counted_by_their_length() {
    if !can_observe("times_of_allocations_and_waits_are_counted_by_their_length") {
        return;
    }
    let json = ["--message-format", "json", "--", &program(), "launches"];
    let finished = finished(&probe(&json).output().expect("it runs"));
    let durations = finished["calls"]["durations"].as_array().expect("durations");
    let kinds: Vec<_> = durations.iter().map(|durations| durations["calls"].clone()).collect();
    assert_eq!(kinds, ["context-wait", "stream-wait"], "{durations:#?}");
    // The double of the driver waits 2 ms for a stream.
    let class = &durations[1]["classes"][0];
    assert!(
        class["above_ns"].as_u64() >= Some(2_000_000) && class["count"] == 1,
        "{class}"
    );
    let text = stderr(&probe(&["--", &program(), "launches"]).output().expect("it runs"));
    assert!(
        text.contains("time of a call") && text.contains("stream waits"),
        "{text}"
    );
}

#[test]
fn allocations_are_listed_by_address_on_request() {
    if !can_observe("allocations_are_listed_by_address_on_request") {
        return;
    }
    let program = program();
    let run = |options: &[&str]| {
        let command = ["--", &program, "allocate", "300"];
        probe(&[options, &command].concat()).output().expect("it runs")
    };
    let finished = finished(&run(&["--message-format", "json", "--allocations"]));
    let process = &finished["calls"]["processes"][0];
    let listed = process["allocations"].as_array().expect("allocations");
    assert_eq!((listed.len(), process["unfreed"].as_u64()), (256, Some(300)));
    let addresses: std::collections::BTreeSet<_> = listed.iter().filter_map(|held| held["address"].as_str()).collect();
    assert!(
        addresses.len() == 256 && addresses.iter().all(|address| address.starts_with("0x")),
        "{addresses:?}"
    );
    let text = stderr(&run(&["--allocations"]));
    let lines = text
        .lines()
        .filter(|line| line.contains(": 8 B device, allocated by thread"));
    assert!(lines.count() == 256 && text.contains("    …\n"), "{text}");
    let text = stderr(&run(&[]));
    assert!(text.contains("300 × 8 B") && !text.contains("0x"), "{text}");
}
