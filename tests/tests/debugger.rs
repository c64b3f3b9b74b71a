//! `--debugger`: the worker of a case under a debugger.
#![forbid(unsafe_code)]

use gpubench_tests::{Fixture, Run, write_script};

const CASE: &str = "steps::walk::n=1000";

fn debugging(debugger: &str) -> Run {
    Run::on(&Fixture::new("paced")).args(["--device", "cpu", "--exact", CASE, "--debugger", debugger])
}

#[test]
fn a_debugger_stops_in_a_kernel_and_shows_its_source_and_its_variables() {
    gpubench_diagnostic::testing::need("gdb");
    let folder = tempfile::tempdir().expect("a folder");
    let commands = folder.path().join("commands");
    let text = "set breakpoint pending on\nbreak walk\nrun\nnext\ninfo locals\ndisable\ncontinue\n";
    std::fs::write(&commands, text).expect("a file");
    let debugger = format!("gdb -q -nx -batch -x {} --args", commands.display());
    // The time limit of a window does not end what a person looks at.
    let run = debugging(&debugger).args(["--timeout", "1ms"]).on_terminal();
    let shown = run.finish().expect_code(0).stdout;
    for part in [
        "hit Breakpoint 1, walk",
        "src/steps.cu:3",
        "i = 0",
        "exited normally",
        "1 passed",
    ] {
        assert!(shown.contains(part), "`{part}` in\n{shown}");
    }
}

#[test]
fn the_debugger_has_the_terminal_and_the_worker_the_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let debugger = folder.path().join("debugger");
    let text = "#!/bin/sh\n[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo on a terminal: \"$1\"\nshift\nexec \"$@\"\n";
    write_script(&debugger, text);
    let debugger = format!("{} --its-own-word", debugger.display());
    let shown = debugging(&debugger).on_terminal().finish().expect_code(0).stdout;
    assert!(
        shown.contains("on a terminal: --its-own-word") && shown.contains("1 passed"),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_debugged_is_told() {
    let told = |run: Run, code: i32, words: &str| {
        let ended = run.finish().expect_code(code);
        let shown = ended.stdout + &ended.stderr;
        assert!(shown.contains(words), "`{words}` in\n{shown}");
    };
    told(debugging("sh"), 2, "needs a terminal, but standard input is none");
    told(debugging(" "), 2, "the command of a debugger is missing");
    told(debugging("/no/debugger").on_terminal(), 96, "which was not found");
    let all = Run::on(&Fixture::new("paced")).args(["--device", "cpu", "--debugger", "sh"]);
    told(all.on_terminal(), 2, "observes one case, but 2 are selected");
    told(debugging("false").on_terminal(), 100, "false exited with code 1");
}
