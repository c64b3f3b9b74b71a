//! A tool that ends badly fails its task, and nothing else.

use serde_json::Value;

use crate::server::{Place, Server, wait_until};

/// The task fails for this reason, and the next one is graded.
fn fails(server: &Server, description: &str, words: &str) -> Value {
    let result = server.result(&server.submit(description));
    let error = result["error"].as_str().unwrap_or_default();
    assert!(
        result["status"] == "failed" && error.contains(words),
        "{description}: {result}"
    );
    assert_eq!(
        server.result(&server.submit("pass"))["status"],
        "completed",
        "after {description}"
    );
    result
}

#[test]
fn a_tool_that_crashes_hangs_or_writes_nonsense_fails_its_task_alone() {
    let place = Place::new();
    let server = place.serve(&["--timeout", "2s"]);
    fails(&server, "crash", "SIGSEGV");
    fails(&server, "hang", "longer than 2s");
    fails(&server, "garbage", "the traces cannot be read");
    fails(&server, "link", "the traces cannot be read");
    assert!(!fails(&server, "exit 96", "exit status: 96:\nit ends")["traces"].is_null());
    let silent = fails(&server, "none", "error: no kernel");
    assert!(
        silent["error"].as_str().is_some_and(|error| {
            error.starts_with("there is no verdict about the workloads large, small:\n") && error.len() < 600
        }),
        "{silent}"
    );
    assert_eq!(
        fails(&server, "part", "workloads large")["traces"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert!(
        std::fs::read_dir(place.path("spool/work"))
            .expect("a folder")
            .next()
            .is_none()
    );
}

#[test]
fn a_tool_that_prints_or_writes_without_end_is_stopped() {
    let place = Place::new();
    let server = place.serve(&["--timeout", "50s"]);
    fails(&server, "print", "printed more than 16 MiB");
    fails(&server, "flood", "more than 16 MiB of traces");
}

#[test]
fn a_process_that_outlives_the_tool_delays_nothing() {
    let place = Place::new();
    let server = place.serve(&[]);
    assert_eq!(server.result(&server.submit("leave"))["status"], "completed");
}

#[test]
fn at_a_signal_tasks_that_run_are_put_back() {
    for signal in ["-TERM", "-INT"] {
        let place = Place::new();
        let server = place.serve(&[]);
        let (running, waiting) = (server.submit("sleep 1"), server.submit("pass"));
        wait_until("it runs", || place.done().len() == 1);
        if signal == "-TERM" {
            // As `systemctl stop` does.
            let tool = place.done()[0][3].clone();
            assert!(
                std::process::Command::new("kill")
                    .args([signal, &tool])
                    .status()
                    .expect("kill runs")
                    .success()
            );
        }
        let (status, log) = server.end(signal);
        assert!(
            status.success() && log.contains(&format!("{running} on cpu: put back")),
            "{status} {log}"
        );
        let server = place.serve(&[]);
        for task in [running, waiting] {
            let result = server.result(&task);
            assert_eq!(
                (&result["status"], &result["gpubench"]["attempts"]),
                (&"completed".into(), &1.into())
            );
        }
    }
}
