//! A server on a data set of its own.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Door;

const PROGRAM: &str = env!("CARGO_BIN_EXE_gpubench-serve");

/// A folder with a data set and a spool.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: String| {
            let path = folder.path().join("dataset").join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("written");
        };
        for name in ["double", "empty"] {
            let definition = json!({
                "name": name, "op_type": "elementwise", "description": "a problem",
                "axes": {"n": {"type": "var"}},
                "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
                "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
                "reference": "def run(x):\n    return x + x\n",
            });
            write(&format!("definitions/elementwise/{name}.json"), definition.to_string());
        }
        let lines = ["small", "large"].map(|uuid| {
            let workload = json!({"uuid": uuid, "axes": {"n": 4}, "inputs": {"x": {"type": "random"}}});
            format!("{}\n", json!({"definition": "double", "workload": workload}))
        });
        write("workloads/elementwise/double.jsonl", lines.concat());
        Place { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the command of a server, listening on a free port.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/served/fake_tool.sh");
        command
            .arg("--dataset")
            .arg(self.path("dataset"))
            .arg("--spool")
            .arg(self.path("spool"));
        if !arguments.contains(&"--tool") {
            command.arg("--tool").arg(fake);
        }
        if !arguments.contains(&"--device") {
            command.args(["--device", "cpu"]);
        }
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .env("FAKE_TOOL_LOG", self.path("log"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        let mut child = self.command(arguments).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        let door = match line.trim().strip_prefix("listening on ") {
            Some(url) => match url.strip_prefix("unix:") {
                Some(path) => Door::Socket(path.into()),
                None => Door::Port(url.rsplit(':').next().expect("a port").parse().expect("a port")),
            },
            None => {
                let mut errors = String::new();
                let _ = child.stderr.take().expect("a pipe").read_to_string(&mut errors);
                panic!("{line}{errors}");
            }
        };
        let mut stderr = child.stderr.take().expect("a pipe");
        let log = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        Server {
            child,
            door,
            log: Some(log),
        }
    }

    /// Starts a server that cannot start. Returns its exit code and what it prints.
    pub(crate) fn refused(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.command(arguments).output().expect("it starts");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    }

    /// Returns what the fake tool did: lines of `begin` or `end`, task, device and pid.
    pub(crate) fn done(&self) -> Vec<[String; 4]> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        let words = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            words.try_into().expect("four words")
        };
        log.lines().map(words).collect()
    }
}

/// A server, killed with its test.
pub(crate) struct Server {
    child: Child,
    pub(crate) door: Door,
    log: Option<std::thread::JoinHandle<String>>,
}

impl Server {
    /// Submits a solution whose description is for the fake tool. Returns the task's name.
    pub(crate) fn submit(&self, description: &str) -> String {
        let answer = self.door.post("/evaluate", request(description).to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["task_id"].as_str().expect("a name").to_owned()
    }

    /// Returns the answer about a task that is over.
    pub(crate) fn result(&self, task: &str) -> Value {
        let answer = self.door.get(&format!("/tasks/{task}?timeout=50"));
        assert_eq!(answer.status, 200, "{answer:?}");
        let answer = answer.json();
        assert!(
            ["completed", "failed"].contains(&answer["status"].as_str().expect("a word")),
            "{answer}"
        );
        answer
    }

    /// Kills it, as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("it ended");
    }

    /// Ends it with a signal. Returns its status and what it printed.
    pub(crate) fn end(mut self, signal: &str) -> (ExitStatus, String) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
        let status = self.child.wait().expect("it ended");
        (status, self.log.take().expect("once").join().expect("text"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a request of `POST /evaluate`.
pub(crate) fn request(description: &str) -> Value {
    json!({"solution": {
        "name": "fast", "definition": "double", "author": "somebody", "description": description,
        "spec": {"language": "cuda", "target_hardware": ["cuda"], "entry_point": "kernel.cu::run"},
        "sources": [{"path": "kernel.cu", "content": "void run();"}],
    }})
}

pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
