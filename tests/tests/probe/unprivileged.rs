//! What is left without rights.

use std::process::{Command, Output};

use serde_json::Value;

use gpubench_tests::{copy_program, tool};

use crate::double::{
    can_observe, compiled, double, finished, program, seen_with_driver, stderr, tell_skipped, with_driver,
};

/// The tool as `nobody` without any capability, if the tests run as root.
fn unprivileged(arguments: &[&str]) -> Command {
    let mut words = as_nobody();
    words.extend([reachable_tool(), "probe".to_owned()]);
    let mut command = Command::new(&words[0]);
    with_driver(command.args(&words[1..]).args(arguments))
}

fn as_nobody() -> Vec<String> {
    let drop = "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all --";
    let words = if rustix::process::geteuid().is_root() {
        drop
    } else {
        "env"
    };
    words.split(' ').map(str::to_owned).collect()
}

/// The tool where every user reaches it.
fn reachable_tool() -> String {
    let of_all = |program: &str| double().join(program);
    for program in ["gpubench-probe", "cargo-gpubench"] {
        if !of_all(program).exists() {
            // Another test may do the same: a rename is whole.
            let copy = double().join(format!("{program}-{:?}", std::thread::current().id()));
            copy_program(tool().with_file_name(program).as_std_path(), &copy);
            std::fs::rename(&copy, of_all(program)).expect("a name");
        }
    }
    of_all("cargo-gpubench").to_str().expect("text").to_owned()
}

/// Whether this machine lets processes be seen without rights. Says so if it does not.
fn sees_processes(test: &str) -> bool {
    let output = unprivileged(&["--quiet", "--", "true"]).output().expect("it runs");
    let can = output.status.code() == Some(0);
    if !can {
        tell_skipped(test, &stderr(&output));
    }
    can
}

fn run(command: &mut Command) -> Output {
    command.output().expect("it runs")
}

/// The processes of a record, by name.
fn process<'a>(finished: &'a Value, name: &str) -> &'a Value {
    let processes = finished["processes_only"]["processes"].as_array().expect("processes");
    let found = processes.iter().find(|process| process["program"] == name);
    found.unwrap_or_else(|| panic!("`{name}` in {finished:#}"))
}

#[test]
fn without_rights_a_command_runs_and_its_processes_are_told_without_figures_of_calls() {
    if !sees_processes("without_rights_a_command_runs_and_its_processes_are_told_without_figures_of_calls") {
        return;
    }
    // It runs until it was looked at.
    let script = format!("echo words; {} wait; exit 7", program());
    let output = seen_with_driver(&mut unprivileged(&[
        "--message-format",
        "json",
        "--interval",
        "50ms",
        "--",
        "sh",
        "-c",
        &script,
    ]));
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    let finished = finished(&output);
    assert_eq!(finished["exit_code"], 7);
    assert_eq!(
        (&finished["calls"], &finished["timeline"]),
        (&Value::Null, &Value::from(Vec::<u8>::new()))
    );
    assert_eq!(finished["processes_only"]["processes_seen"], 2, "{finished:#}");
    let observed = process(&finished, "program");
    assert_eq!(
        (&observed["driver"], &observed["running"]),
        (&true.into(), &false.into())
    );
    // There is no GPU, so nothing was counted, which is not zero.
    assert_eq!(observed["submissions"], Value::Null);
    assert_eq!(process(&finished, "sh")["driver"], false);
    let text = stderr(&output);
    assert!(text.contains("words"), "{text}");
    let warnings: Vec<&str> = text.lines().filter(|line| line.contains("not observed:")).collect();
    assert_eq!(warnings.len(), 1, "{text}");
    assert!(
        warnings[0].contains("CAP_BPF") && warnings[0].contains("root"),
        "{text}"
    );
}

#[test]
fn without_rights_summary_and_page_say_what_was_not_observed() {
    if !sees_processes("without_rights_summary_and_page_say_what_was_not_observed") {
        return;
    }
    let folder = tempfile::tempdir_in(double()).expect("a folder");
    let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder.path(), everyone).expect("it is ours");
    let page = folder.path().join("page.html");
    let report = format!("html={}", page.display());
    let output = run(&mut unprivileged(&[
        "--quiet",
        "--report",
        &report,
        "--",
        &program(),
        "short",
    ]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stderr(&output);
    for page in [&text, &std::fs::read_to_string(&page).expect("a page")] {
        assert!(
            page.contains("Launches, memory, copies and errors were not observed."),
            "{page}"
        );
        assert!(page.contains("CAP_BPF"), "{page}");
        for absent in ["Nothing was left", "0 launches", "No call of the CUDA driver", "0 B"] {
            assert!(!page.contains(absent), "{absent}: {page}");
        }
    }
}

#[test]
fn without_rights_submissions_to_a_gpu_are_counted() {
    if !sees_processes("without_rights_submissions_to_a_gpu_are_counted") {
        return;
    }
    // A file in the place of the GPU, for this test alone: a doorbell is a word of its mapping.
    let devices = tempfile::tempdir().expect("a folder");
    let script = format!(
        "set -e; mount -t tmpfs gpu {0}; cd {0}; cp -a /dev/null /dev/zero /dev/urandom .; truncate -s 65536 nvidia0; \
         chmod 666 nvidia0; cd /; mount --move {0} /dev; exec \"$@\"",
        devices.path().display()
    );
    let with_gpu = |words: &[String]| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &script, "sh"]).args(words);
        run(&mut with_driver(&mut command))
    };
    let tried = with_gpu(&["true".to_owned()]);
    if !tried.status.success() {
        tell_skipped("without_rights_submissions_to_a_gpu_are_counted", &stderr(&tried));
        return;
    }
    let mut words = as_nobody();
    let observed = ["probe", "--message-format", "json", "--interval", "200ms", "--"];
    words.push(reachable_tool());
    words.extend(observed.map(str::to_owned));
    words.extend([compiled("doorbell"), "1000".to_owned()]);
    let output = with_gpu(&words);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let finished = finished(&output);
    let counted = process(&finished, "doorbell");
    // The first submission is the one that makes the doorbell known.
    assert_eq!(counted["submissions"], 1000, "{finished:#}");
    assert_eq!(finished["processes_only"]["submissions"], 1000);
    assert!(counted["counted_ns"].as_u64() < counted["seen_ns"].as_u64());
}

#[test]
fn in_a_container_that_refuses_bpf_processes_are_still_told() {
    let mut command = Command::new(compiled("refuse"));
    // Launches for two seconds, so that it is looked at on a busy machine, too.
    let words = ["bpf", tool().as_str(), "probe", "--", &program(), "launch", "100000000"];
    let output = run(&mut with_driver(command.args(words)));
    let text = stderr(&output);
    if output.status.code() == Some(96) {
        tell_skipped("in_a_container_that_refuses_bpf_processes_are_still_told", &text);
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("1 process, 1 seen with the CUDA driver"), "{text}");
    assert!(text.contains("seccomp profile"), "{text}");
}

#[test]
fn where_nothing_can_be_seen_the_command_does_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let trace = trace.to_str().expect("text");
    let mut command = Command::new(compiled("refuse"));
    let output = run(&mut with_driver(command.args([
        "bpf,perf",
        tool().as_str(),
        "probe",
        "--",
        "touch",
        trace,
    ])));
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(96), "{text}");
    assert!(text.contains("seccomp profile"), "{text}");
    assert!(!std::path::Path::new(trace).exists());
}

#[test]
fn without_rights_there_are_no_metrics_rather_than_zeros() {
    if !sees_processes("without_rights_there_are_no_metrics_rather_than_zeros") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let trace = trace.to_str().expect("text");
    let output = run(&mut unprivileged(&["--metrics-addr", "0", "--", "touch", trace]));
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(96), "{text}");
    assert!(
        text.contains("no metrics without the calls") && text.contains("CAP_BPF"),
        "{text}"
    );
}

#[test]
fn in_a_container_with_the_proc_of_another_one_probe_and_doctor_say_what_is_missing() {
    let name = "in_a_container_with_the_proc_of_another_one_probe_and_doctor_say_what_is_missing";
    let contained = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork"]).args(words);
        run(&mut with_driver(&mut command))
    };
    let tried = contained(&["true"]);
    if !tried.status.success() {
        tell_skipped(name, &stderr(&tried));
        return;
    }
    // Without rights, these are what is missing.
    if !can_observe(name) {
        return;
    }
    let observed = contained(&[tool().as_str(), "probe", "--", "sh", "-c", "exit 3"]);
    assert_eq!(observed.status.code(), Some(3), "{}", stderr(&observed));
    let doctor = contained(&[tool().as_str(), "doctor"]);
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    for text in [stderr(&observed), doctor] {
        assert!(text.contains("--pid=host"), "{text}");
    }
}
