//! The tool ends what it has started, and nothing else.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

use camino::Utf8PathBuf;
use gpubench_tests::{Ending, Fixture, Run};
use rustix::process::{Pid, Signal, kill_process};

/// Background processes of a shell that then executes the tool: a child, a grandchild, an orphan,
/// and one that becomes an orphan while the tool runs. Each leaves a file when it begins.
struct Strangers {
    _kept: tempfile::TempDir,
    folder: Utf8PathBuf,
}

const NUMBER: usize = 4;

impl Strangers {
    fn new() -> Strangers {
        let kept = tempfile::tempdir().expect("a folder");
        let folder = Utf8PathBuf::from_path_buf(kept.path().to_owned()).expect("UTF-8");
        Strangers { _kept: kept, folder }
    }

    /// The lines of the shell. The processes do not have the mark of the run.
    fn started(&self) -> String {
        let stranger = |name: &str| format!("(echo begin > {0}/{name}; exec sleep 3600)", self.folder);
        let script = format!(
            "{child} & sh -c '{grandchild} & wait' & sh -c 'setsid sh -c \"{orphan}\" &' & sh -c '{later} & sleep 2' &",
            child = stranger("child"),
            grandchild = stranger("grandchild"),
            orphan = stranger("orphan"),
            later = stranger("later"),
        );
        let file = self.folder.join("start.sh");
        fs::write(&file, script + " wait\n").expect("written");
        format!(
            "export STRANGERS={0}; env -u CARGO_GPUBENCH_TESTS_RUN sh {file} >/dev/null 2>&1 &\n\
             while [ $(ls {0} | wc -l) -lt {1} ]; do sleep 0.01; done",
            self.folder,
            NUMBER + 1
        )
    }

    /// The ids of those that live, seen from here.
    fn alive(&self) -> Vec<Pid> {
        let mine = format!("STRANGERS={}", self.folder);
        let entries = fs::read_dir("/proc").expect("/proc is mounted").flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| is_stranger(*pid, &mine))
            .filter_map(Pid::from_raw)
            .collect()
    }
}

fn is_stranger(pid: i32, mine: &str) -> bool {
    let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let marked = read("environ")
        .split(|byte| *byte == 0)
        .any(|variable| variable == mine.as_bytes());
    marked && read("cmdline") == b"sleep\x003600\0"
}

impl Drop for Strangers {
    fn drop(&mut self) {
        for stranger in self.alive() {
            let _ = kill_process(stranger, Signal::KILL);
        }
    }
}

fn short(run: Run) -> Run {
    run.args(["--device", "cpu", "--threads", "1", "--test", "sums"])
}

#[test]
fn background_processes_of_the_shell_survive_a_run() {
    let strangers = Strangers::new();
    let run = short(Run::after(&strangers.started(), &Fixture::new("tidy")))
        .finish()
        .expect_code(0);
    assert_eq!(strangers.alive().len(), NUMBER, "{}", run.stderr);
}

#[test]
fn a_caller_that_ignores_the_end_of_children_does_not_keep_the_tool_from_ending() {
    // A shell may not hand an ignored `SIGCHLD` on; `env` does.
    let line = "env -u CARGO_GPUBENCH_TESTS_RUN sleep 30 >/dev/null 2>&1 & exec env --ignore-signal=CHLD \"$0\" \"$@\"";
    let _ = short(Run::after(line, &Fixture::new("tidy"))).finish().expect_code(0);
}

#[test]
fn orphans_of_a_container_survive_a_run_of_its_first_process() {
    let contained =
        |line: &str| format!("exec unshare --pid --fork --mount-proc --kill-child sh -c '{line}' \"$0\" \"$@\"");
    let tried = Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "true"])
        .status();
    if !tried.is_ok_and(|status| status.success()) {
        return;
    }
    let strangers = Strangers::new();
    let line = contained(&format!("{}\nexec \"$0\" \"$@\"", strangers.started()));
    let mut running = short(Run::after(&line, &Fixture::new("tidy"))).json().start();
    running.wait_for_record("the first result", |record| record["reason"] == "benchmark-complete");
    running.wait_for_record("the second result", |record| record["reason"] == "benchmark-complete");
    assert_eq!(strangers.alive().len(), NUMBER);
    // They end with the first process of the container.
    let _ = running.finish().expect_code(0);
}

#[test]
fn processes_survive_whose_numbers_are_those_of_children_in_another_namespace() {
    // The tool is process 2 there. In `/proc`, which is that of this machine, process 2 has the
    // threads of the kernel as children, from process 3 on.
    let inside = "\"$0\" \"$@\" & tool=$!; all=; \
                  for i in 1 2 3 4 5 6; do env -u CARGO_GPUBENCH_TESTS_RUN sleep 3600 & all=\"$all $!\"; done; \
                  wait $tool || exit $?; for one in $all; do kill $one; wait $one; [ $? = 143 ] || exit 9; done";
    let tried = Command::new("unshare").args(["--pid", "--fork", "true"]).status();
    if !tried.is_ok_and(|status| status.success()) {
        return;
    }
    let line = format!("exec unshare --pid --fork --kill-child sh -c '{inside}' \"$0\" \"$@\"");
    let _ = short(Run::after(&line, &Fixture::new("tidy"))).finish().expect_code(0);
}

#[test]
fn a_run_beside_background_processes_of_the_shell_ends_by_signals_as_any_other() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 130)] {
        let strangers = Strangers::new();
        let run = Run::after(&strangers.started(), &Fixture::new("tidy")).json();
        let endless = ["--min-samples", "100000", "--max-samples", "100000", "--max-time", "1h"];
        let mut running = run
            .args(["--device", "cpu", "--threads", "1", "sums"])
            .args(endless)
            .start();
        running.wait_for_record("a case", |record| record["reason"] == "benchmark-started");
        running.signal(signal);
        let finished = running.finish();
        assert_eq!(finished.ending, Ending::Code(code), "{}", finished.stderr);
        assert_eq!(strangers.alive().len(), NUMBER);
    }
}

#[test]
fn a_run_beside_background_processes_of_the_shell_leaves_nothing_when_it_is_killed() {
    let strangers = Strangers::new();
    let run = Run::after(&strangers.started(), &Fixture::new("tidy")).json();
    let endless = ["--min-samples", "100000", "--max-samples", "100000", "--max-time", "1h"];
    let mut running = run
        .args(["--device", "cpu", "--threads", "1", "sums"])
        .args(endless)
        .start();
    running.wait_for_record("a case", |record| record["reason"] == "benchmark-started");
    running.signal(Signal::KILL);
    // It waits until no process of the run is left.
    let finished = running.finish();
    assert_eq!(finished.ending, Ending::Signal(9));
    assert_eq!(strangers.alive().len(), NUMBER);
}
