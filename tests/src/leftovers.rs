//! Leftover processes of a run. Its shared memory has no name and disappears with the last process.

use std::fs;

use rustix::process::Pid;

/// The environment variable that marks every process of a run.
pub(crate) const MARK: &str = "CARGO_GPUBENCH_TESTS_RUN";

/// The role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Runs the command.
    Broker,
    /// Fills inputs and checks outputs.
    Referee,
    /// Runs the user's CPU code.
    Author,
    /// Runs the kernels under test.
    Worker,
    /// Unlocks the clocks at the end.
    Guardian,
    /// A program that the tool started, such as cargo or a compiler.
    Other,
}

/// A process of a run.
#[derive(Clone, Debug)]
pub struct Process {
    /// The process id.
    pub pid: Pid,
    /// The role.
    pub role: Role,
    /// The command line.
    pub command: String,
}

/// Returns the processes with a run's mark, including orphans. Zombies are not included.
///
/// # Panics
/// If `/proc` is not mounted.
pub fn processes_of(mark: &str) -> Vec<Process> {
    processes_with(&format!("{MARK}={mark}"))
}

/// Returns the processes with a variable (`NAME=VALUE`) in their environment. Zombies are not
/// included.
pub(crate) fn processes_with(wanted: &str) -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    entries
        .filter_map(|entry| process(entry.file_name().to_str()?, wanted.as_bytes()))
        .collect()
}

fn process(number: &str, wanted: &[u8]) -> Option<Process> {
    let pid = Pid::from_raw(number.parse().ok()?)?;
    // The process may end at any time.
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
        Some(&"__clocks") if is_tool => Role::Guardian,
        Some(&"gpubench") if is_tool => Role::Broker,
        _ => Role::Other,
    };
    Some(Process { pid, role, command })
}
