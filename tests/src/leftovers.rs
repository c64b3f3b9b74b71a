//! What a run leaves behind: processes. Its shared memory has no name and goes with the last of
//! them.

use std::fs;

use rustix::process::Pid;

/// The environment variable that marks every process of a run.
pub(crate) const MARK: &str = "CARGO_GPUBENCH_TESTS_RUN";

/// What a process of the tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The command.
    Broker,
    /// Keeps, generates and checks.
    Referee,
    /// Runs user host code.
    Author,
    /// Runs kernels.
    Worker,
    /// A program that the tool started, such as cargo or a compiler.
    Other,
}

/// A process of a run.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its number.
    pub pid: Pid,
    /// What it is.
    pub role: Role,
    /// How it was started.
    pub command: String,
}

/// The processes that carry a run's mark, whoever is their parent by now. Those that have ended and
/// wait to be collected are none.
///
/// # Panics
/// When there is no `/proc`.
pub fn processes_of(mark: &str) -> Vec<Process> {
    let wanted = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    entries
        .filter_map(|entry| process(entry.file_name().to_str()?, wanted.as_bytes()))
        .collect()
}

fn process(number: &str, wanted: &[u8]) -> Option<Process> {
    let pid = Pid::from_raw(number.parse().ok()?)?;
    // It may end while it is looked at.
    let environment = fs::read(format!("/proc/{number}/environ")).ok()?;
    if !environment.split(|byte| *byte == 0).any(|variable| variable == wanted) {
        return None;
    }
    let command = fs::read(format!("/proc/{number}/cmdline")).ok()?;
    let command = String::from_utf8_lossy(&command)
        .replace('\0', " ")
        .trim_end()
        .to_owned();
    let words: Vec<&str> = command.split(' ').collect();
    let is_tool = words.first().is_some_and(|program| program.ends_with("cargo-gpubench"));
    let role = match words.get(1) {
        Some(&"__referee") if is_tool => Role::Referee,
        Some(&"__author") if is_tool => Role::Author,
        Some(&"__worker") if is_tool => Role::Worker,
        Some(&"gpubench") if is_tool => Role::Broker,
        _ => Role::Other,
    };
    Some(Process { pid, role, command })
}
