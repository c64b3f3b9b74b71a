//! The server has solutions graded by the command, and gives the same verdicts.
#![forbid(unsafe_code)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use camino::Utf8PathBuf;
use gpubench_tests::{RunFolder, repository, serve_program, tool};
use serde_json::Value;

/// Debian's Python, which has NumPy as a package of the system.
const PYTHON: &str = "/usr/bin/python3";

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(data_set: &Utf8PathBuf, folder: &RunFolder) -> Server {
        let mut command = Command::new(serve_program());
        command.args(["--dataset", data_set.as_str(), "--spool", folder.path("spool").as_str()]);
        command.args(["--listen", "127.0.0.1:0", "--tool", tool().as_str(), "--"]);
        command.args(["--python", PYTHON, "--min-samples", "4", "--max-samples", "4"]);
        command.args(["--flush-bytes", "256KiB", "--threads", "2"]);
        // A busy machine stops a call for more than ten seconds.
        command.env("GPUBENCH_TIMEOUT", "2min").stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ").expect("an address");
        Server {
            address: address.to_owned(),
            child,
        }
    }

    /// Grades a solution through the Python client.
    fn grade(&self, solution: &Utf8PathBuf) -> Value {
        let client = repository().join("clients/python/src");
        let call = "import sys, gpubench_client; sys.exit(gpubench_client.main())";
        let mut command = Command::new(PYTHON);
        command
            .env("PYTHONPATH", client)
            .args(["-B", "-c", call, &self.address])
            .arg(solution);
        let output = command.output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn solutions_that_come_over_http_get_the_verdicts_of_the_command() {
    let imported = Command::new(PYTHON).args(["-c", "import numpy"]).output();
    assert!(
        imported.is_ok_and(|output| output.status.success()),
        "this test needs Debian's python3-numpy, which this machine lacks"
    );
    let data_set = repository().join("tests/fixtures/definitions");
    let folder = RunFolder::new();
    let server = Server::start(&data_set, &folder);
    for (solution, status) in [
        ("right", "PASSED"),
        ("without_offset", "INCORRECT_NUMERICAL"),
        ("crashes", "RUNTIME_ERROR"),
        ("does_not_compile", "COMPILE_ERROR"),
        ("right", "PASSED"),
    ] {
        let answer = server.grade(&data_set.join(format!("solutions/elementwise/{solution}.json")));
        assert_eq!(answer["status"], "completed", "{solution}: {answer}");
        let traces = answer["traces"].as_array().expect("traces");
        assert_eq!(traces.len(), 2, "{solution}: {answer}");
        for trace in traces {
            assert_eq!(trace["evaluation"]["status"], status, "{solution}: {trace}");
            assert_eq!(trace["solution"], answer["solution"]);
        }
    }
}
