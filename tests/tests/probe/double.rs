//! The double of the driver, programs that use it, and the tool that observes them.

use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use camino::Utf8Path;
use gpubench_tests::{repository, tool};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The double of the driver, and a program that does what its first argument says.
pub(crate) fn double() -> &'static PathBuf {
    static DOUBLE: OnceLock<PathBuf> = OnceLock::new();
    DOUBLE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder").keep();
        // Another user runs the programs, too.
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&folder, mode).expect("it is ours");
        let doubles = repository().join("crates/gpubench-observe/tests/observer/double");
        let own = repository().join("tests/tests/probe");
        let compile = |sources: &Utf8Path, source: &str, file: &str, options: &[&str]| {
            let compiled = Command::new("cc")
                .args(["-O0", "-w", "-o"])
                .arg(folder.join(file))
                .arg(sources.join(source))
                .args(options)
                .status();
            assert!(compiled.is_ok_and(|status| status.success()), "`{source}` compiles");
        };
        let shared = [
            "-shared",
            "-fPIC",
            "-fvisibility=default",
            "-Wl,-Bsymbolic,-soname,libcuda.so.1",
        ];
        compile(
            &doubles,
            "libcuda.c",
            "libcuda.so.1",
            &[&shared[..], &["-DSHAPE=0"]].concat(),
        );
        let driver = folder.join("libcuda.so.1");
        let driver = driver.to_str().expect("it is text");
        compile(&doubles, "program.c", "program", &[driver, "-pthread", "-ldl"]);
        compile(&own, "doorbell.c", "doorbell", &[]);
        compile(&own, "refuse.c", "refuse", &[]);
        folder
    })
}

pub(crate) fn program() -> String {
    compiled("program")
}

/// The path of a compiled program.
pub(crate) fn compiled(name: &str) -> String {
    double().join(name).to_str().expect("it is text").to_owned()
}

/// The tool with the driver, without variables that change it.
pub(crate) fn probe(arguments: &[&str]) -> Command {
    with_driver(Command::new(tool()).arg("probe").args(arguments))
}

/// A command with the driver, without variables that change the tool, and with pipes.
pub(crate) fn with_driver(command: &mut Command) -> Command {
    command
        .env("LD_LIBRARY_PATH", double())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    std::mem::replace(command, Command::new("true"))
}

/// Runs the tool, which prints records at intervals, until one shows `program` with the driver.
/// Then closes the standard input, which `program wait` reads, and returns the whole output.
pub(crate) fn seen_with_driver(command: &mut Command) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let input = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut text = String::new();
    let shows = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap_or(Value::Null);
        let processes = record["processes_only"]["processes"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let is_meant = |process: &Value| process["program"] == "program" && process["driver"] == true;
        processes.iter().any(is_meant)
    };
    // A tool that never shows it is found by the caller.
    for _ in 0..2000 {
        stdout.read_line(&mut text).expect("text");
        if shows(text.lines().last().unwrap_or_default()) {
            break;
        }
    }
    drop(input);
    stdout.read_to_string(&mut text).expect("text");
    let ended = child.wait_with_output().expect("it ends");
    Output {
        stdout: text.into_bytes(),
        ..ended
    }
}

/// Whether this machine lets a test observe calls. Says so if it does not.
pub(crate) fn can_observe(test: &str) -> bool {
    let options = ["--quiet", "--message-format", "json", "--", "true"];
    let output = probe(&options).output().expect("it runs");
    let can = output.status.code() == Some(0) && finished(&output)["calls"].is_object();
    if !can {
        let started = String::from_utf8_lossy(&output.stdout).into_owned();
        let started: Value = serde_json::from_str(started.lines().next().unwrap_or("null")).expect("a record");
        let why = started["notices"][0]
            .as_str()
            .map_or_else(|| stderr(&output), str::to_owned);
        tell_skipped(test, &why);
    }
    can
}

/// Whether this machine lets a test observe anything. Says so if it does not.
pub(crate) fn can_begin(test: &str) -> bool {
    let output = probe(&["--quiet", "--", "true"]).output().expect("it runs");
    let can = output.status.code() == Some(0);
    if !can {
        tell_skipped(test, &stderr(&output));
    }
    can
}

/// Says that a test is skipped, where the test runner does not capture it.
pub(crate) fn tell_skipped(test: &str, why: &str) {
    writeln!(std::io::stderr(), "SKIPPED {test}: {}", why.trim_end()).expect("standard error is open");
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The records of a file.
pub(crate) fn records(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect()
}

pub(crate) fn finished(output: &Output) -> Value {
    let records = records(std::str::from_utf8(&output.stdout).expect("text"));
    let last = records.last().expect("records").clone();
    assert_eq!(last["reason"], "probe-finished");
    last
}

pub(crate) fn kernels(finished: &Value) -> Vec<(String, u64)> {
    let kernels = finished["calls"]["kernels"].as_array().expect("kernels").iter();
    kernels
        .map(|kernel| {
            let name = kernel["name"].as_str().expect("a name").to_owned();
            (name, kernel["launches"].as_u64().expect("a count"))
        })
        .collect()
}

pub(crate) fn interrupt(child: &Child) {
    let pid = Pid::from_raw(child.id().try_into().expect("a pid")).expect("a pid");
    kill_process(pid, Signal::INT).expect("it runs");
}
