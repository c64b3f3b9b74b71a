//! Clients in Python: the project's own, and what FlashInfer-Bench sends and reads.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::client::Door;
use crate::server::{Place, Server};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the Python that a script prepares.
fn python(script: &str) -> PathBuf {
    let ran = Command::new(repository().join(".ci").join(script)).output();
    let (is_there, said) = match ran {
        Ok(ran) if ran.status.success() => (true, ran.stdout),
        Ok(ran) => (false, ran.stderr),
        Err(error) => (false, error.to_string().into_bytes()),
    };
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    assert!(
        is_there,
        "this test needs the packages of `.ci/{script}`, which this machine lacks\n{said}"
    );
    said.into()
}

fn address(server: &Server) -> String {
    match &server.door {
        Door::Port(port) => format!("http://127.0.0.1:{port}"),
        Door::Socket(path) => format!("unix:{}", path.display()),
    }
}

fn assert_runs(python: &Path, arguments: &[&Path], judge: &str) {
    let mut command = Command::new(python);
    // A proxy is for other machines.
    command
        .arg("-B")
        .args(arguments)
        .env("GPUBENCH_JUDGE", judge)
        .env("http_proxy", "http://127.0.0.1:1");
    let ran = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    println!("{said}");
}

#[test]
fn the_python_client_and_its_examples_work_through_both_doors() {
    let python = python("python-client");
    let tests = repository().join("clients/python/tests/test_client.py");
    let place = Place::new();
    let server = place.serve(&["--device", "cuda:0", "--device", "cuda:1"]);
    assert_runs(&python, &[&tests], &address(&server));
    server.kill();
    let listen = format!("unix:{}", place.path("judge").display());
    let server = place.serve(&["--listen", &listen]);
    assert_runs(&python, &[&tests], &address(&server));
}

#[test]
fn the_command_of_the_python_client_grades_a_file() {
    let command = python("python-client").with_file_name("gpubench-client");
    let place = Place::new();
    let server = place.serve(&[]);
    let file = place.path("solution.json");
    let graded = |description: &str| {
        let request = crate::server::request(description);
        std::fs::write(&file, request["solution"].to_string()).expect("written");
        let ran = Command::new(&command)
            .arg(address(&server))
            .arg(&file)
            .output()
            .expect("it starts");
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
    };
    let (code, printed) = graded("pass");
    assert!(code == Some(0) && printed.contains("\"completed\""), "{printed}");
    assert_eq!(graded("crash").0, Some(3), "no verdict");
    let none = Command::new(&command)
        .args(["unix:/nowhere", "none.json"])
        .output()
        .expect("it starts");
    assert_eq!(none.status.code(), Some(2));
}

#[test]
fn the_models_of_flashinfer_bench_write_requests_and_read_traces() {
    let python = python("trace-models");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/served/models.py");
    let place = Place::new();
    let server = place.serve(&[]);
    assert_runs(&python, &[&script], &address(&server));
}
