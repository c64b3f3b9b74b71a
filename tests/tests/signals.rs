//! Interrupted runs, and roles that are killed.
#![forbid(unsafe_code)]

use std::time::Duration;

use gpubench_tests::{Ending, Fixture, Records, Role, Run, Running, Terminal, wait_until};
use rustix::process::{Signal, kill_process};
use serde_json::Value;

/// Starts a run of an honest case, one that hangs, and another honest one, in this order.
fn hang_in(benchmark: &str, limits: [&'static str; 2], export: Option<&str>) -> Running {
    let hanging = format!("{benchmark}::n=600");
    let names = ["--exact", "answers::honest::n=600", &hanging, "sources::honest::n=600"];
    let export = export.map(|path| ["--export-json", path]).into_iter().flatten();
    let run = Run::on(&Fixture::new("hostile")).briefly().json();
    let mut running = run.args(names).args(limits).args(export).start();
    running.wait_for_record("the case that hangs", |record| {
        record["reason"] == "benchmark-started" && record["benchmark"] == benchmark
    });
    running
}

/// Waits for the worker, whose kernel then loops.
fn loop_forever(timeout: &'static str, export: Option<&str>) -> Running {
    let running = hang_in("faults::loops_forever", ["--timeout", timeout], export);
    running.wait_for_role(Role::Worker);
    running
}

fn verdicts(records: &Records) -> Vec<(&Value, &Value, &Value)> {
    records
        .results()
        .map(|result| (&result["benchmark"], &result["verdict"], &result["cause"]))
        .collect()
}

fn assert_interrupted(records: &Records) {
    let verdict = |result: &Value| (result["benchmark"].clone(), result["verdict"].clone());
    let first = records.results().next().map(verdict);
    assert_eq!(
        first,
        Some(("answers::honest".into(), "pass".into())),
        "what was measured is kept"
    );
    assert!(
        records.results().all(|result| result["benchmark"] != "sources::honest"),
        "nothing is begun any more"
    );
    let finished = records.the("run-finished");
    assert_eq!(
        (&finished["end"], &finished["passed"]),
        (&Value::from("interrupted"), &Value::from(1))
    );
}

#[test]
fn an_interrupt_ends_the_run_and_keeps_the_results_so_far() {
    let directory = tempfile::tempdir().expect("a directory");
    let export = directory.path().join("results.json");
    let running = loop_forever("10min", export.to_str());
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    assert_interrupted(&finished.records());
    assert_interrupted(&Records::parse(
        &std::fs::read_to_string(export).expect("it is written"),
    ));
}

#[test]
fn an_interrupt_keeps_the_comparisons_so_far() {
    let folder = tempfile::tempdir().expect("a directory");
    let archive = camino::Utf8Path::from_path(folder.path())
        .expect("the name is text")
        .join("hostile.tar.gz");
    let fixture = Fixture::new("hostile");
    // Some of its kernels are made not to compile.
    let _ = Run::archiving(&fixture, &archive).finish().expect_code(101);
    let names = ["--exact", "answers::honest::n=600", "faults::loops_forever::n=600"];
    let run = Run::on(&fixture).briefly().json().args(names);
    let against = ["--timeout", "10min", "--against-archive", archive.as_str()];
    let mut running = run.args(against).start();
    running.wait_for_record("the case that hangs", |record| {
        record["reason"] == "benchmark-started" && record["benchmark"] == "faults::loops_forever"
    });
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    let records = finished.records();
    let rows = records.the("comparison-complete")["rows"].as_array().expect("rows");
    let compared: Vec<&Value> = rows.iter().map(|row| &row["benchmark"]).collect();
    assert_eq!(compared, ["answers::honest"]);
    assert!(
        finished.stderr.contains("only 1 result of it is compared"),
        "{}",
        finished.stderr
    );
}

/// The terminal echoes `^C` at its cursor.
#[test]
fn an_interrupt_leaves_no_line_of_progress_on_the_screen() {
    let fixture = Fixture::new("hostile");
    let arguments =
        "--offline --color never --no-wait --timeout 1min --exact faults::loops_forever::n=600 sources::honest::n=600";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let (terminal, mut child) = Terminal::running(30, &fixture, &arguments);
    terminal.wait_for("[0/2] faults::loops_forever");
    terminal.interrupt();
    let code = child.wait().expect("it ends").code();
    let screen = terminal.screen();
    assert_eq!(code, Some(130), "{screen}");
    assert!(!screen.contains("[0/2]") && !screen.contains("^C"), "{screen}");
    assert!(
        screen.ends_with("\nTimes of the CPU device say\n  nothing about a GPU.\n"),
        "{screen}"
    );
}

#[test]
fn other_signals_that_end_processes_are_interrupts_too() {
    for signal in [Signal::TERM, Signal::QUIT] {
        let running = loop_forever("10min", None);
        running.signal(signal);
        assert_interrupted(&running.finish().expect_code(130).records());
    }
}

#[test]
fn an_interrupt_does_not_wait_for_a_reference_that_hangs() {
    let running = hang_in("host::reference_hangs", ["--reference-timeout", "10min"], None);
    running.wait_for_role(Role::Worker);
    running.signal(Signal::INT);
    assert_interrupted(&running.finish().expect_code(130).records());
}

#[test]
fn an_interrupt_does_not_wait_for_a_benchmark_function_that_hangs() {
    let names = ["--exact", "host::function_hangs::n=600", "--reference-timeout", "10min"];
    let running = Run::on(&Fixture::new("hostile")).briefly().json().args(names).start();
    running.wait_for_role(Role::Author);
    running.signal(Signal::INT);
    let _ = running.finish().expect_code(130);
}

#[test]
fn no_process_outlives_a_broker_that_is_killed_while_a_kernel_loops() {
    let running = loop_forever("10min", None);
    let roles: Vec<Role> = running.processes().iter().map(|process| process.role).collect();
    for role in [Role::Broker, Role::Author, Role::Referee, Role::Worker] {
        assert!(roles.contains(&role), "{roles:?}");
    }
    running.signal(Signal::KILL);
    assert_eq!(running.finish().ending, Ending::Signal(Signal::KILL.as_raw()));
}

#[test]
fn no_process_outlives_a_broker_that_is_killed_while_a_reference_hangs() {
    let running = hang_in("host::reference_hangs", ["--reference-timeout", "10min"], None);
    running.wait_for_role(Role::Worker);
    running.signal(Signal::KILL);
    assert_eq!(running.finish().ending, Ending::Signal(Signal::KILL.as_raw()));
}

#[test]
fn a_worker_killed_from_outside_fails_only_its_case() {
    let running = loop_forever("10min", None);
    kill_process(running.wait_for_role(Role::Worker).pid, Signal::KILL).expect("it runs");
    let records = running.finish().expect_code(100).records();
    let text = |text: &str| Value::from(text);
    assert_eq!(
        verdicts(&records),
        [
            (&text("answers::honest"), &text("pass"), &Value::Null),
            (&text("faults::loops_forever"), &text("crashed"), &text("killed")),
            (&text("sources::honest"), &text("pass"), &Value::Null),
        ]
    );
    let message = &records.result("faults::loops_forever")["message"];
    assert!(
        message.as_str().is_some_and(|message| message.contains("SIGKILL")),
        "{message}"
    );
}

#[test]
fn a_referee_killed_from_outside_fails_one_case_and_is_replaced() {
    let running = loop_forever("10min", None);
    kill_process(running.wait_for_role(Role::Referee).pid, Signal::KILL).expect("it runs");
    let records = running.finish().expect_code(100).records();
    let looping = records.result("faults::loops_forever");
    assert_eq!(
        (&looping["verdict"], &looping["cause"]),
        (&Value::from("error"), &Value::from("referee-failed"))
    );
    assert_eq!(records.result("sources::honest")["verdict"], "pass");
}

/// After the loss of a worker, a referee has ten seconds to answer, not the two minutes of its
/// other steps.
#[test]
fn a_stopped_referee_is_replaced_soon_after_its_worker_fails() {
    let running = loop_forever("4s", None);
    let referee = running.wait_for_role(Role::Referee).pid;
    // Once the worker runs, its kernel soon loops.
    std::thread::sleep(Duration::from_millis(700));
    kill_process(referee, Signal::STOP).expect("it runs");
    wait_until("another referee", Duration::from_secs(60), || {
        let processes = running.processes();
        let mut referees = processes.iter().filter(|process| process.role == Role::Referee);
        referees.any(|process| process.pid != referee).then_some(())
    });
    let records = running.finish().expect_code(100).records();
    assert_eq!(records.result("faults::loops_forever")["cause"], "referee-failed");
    assert_eq!(records.result("sources::honest")["verdict"], "pass");
}

#[test]
fn an_author_killed_from_outside_fails_one_case_at_most_and_is_replaced() {
    let running = hang_in("host::reference_hangs", ["--reference-timeout", "10min"], None);
    running.wait_for_role(Role::Worker);
    kill_process(running.wait_for_role(Role::Author).pid, Signal::KILL).expect("it runs");
    let records = running.finish().expect_code(100).records();
    let hanging = records.result("host::reference_hangs");
    assert_eq!(hanging["verdict"], "error");
    assert!(
        hanging["message"]
            .as_str()
            .is_some_and(|message| message.contains("SIGKILL")),
        "{}",
        hanging["message"]
    );
    assert_eq!(records.result("sources::honest")["verdict"], "pass");
}
