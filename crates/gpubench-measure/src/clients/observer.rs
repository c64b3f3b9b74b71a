//! Programs of others that start a worker and observe it: compute-sanitizer, ncu and nsys.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpubench_contract::{SanitizerReport, SanitizerTool};
use gpubench_device::Launcher;
use gpubench_protocol::wire::Observer;

use super::role::End;
use crate::sanitizer::read_log;

/// Most errors that the sanitizer prints. The rest are only counted.
const MOST_ERRORS: &str = "1000";

/// Bytes that memcheck leaves free after each allocation. Otherwise an access after the end of a
/// buffer could be inside the next one.
const PADDING: &str = "512";

/// A program that starts a worker and observes it.
#[derive(Clone, Debug)]
pub struct ObserverProgram {
    /// The program.
    pub path: PathBuf,
    /// What it does.
    pub task: ObserverTask,
}

/// What an observer does.
#[derive(Clone, Debug)]
pub enum ObserverTask {
    /// It checks the kernels with a tool of compute-sanitizer.
    Sanitize(SanitizerTool),
    /// It writes a report about the call.
    Profile {
        /// Its arguments before the worker's command.
        arguments: Vec<OsString>,
        /// The extension of its reports.
        extension: &'static str,
    },
    /// A person debugs the call with it.
    Debug {
        /// Its arguments before the worker's command.
        arguments: Vec<OsString>,
        /// The terminal of the person.
        terminal: PathBuf,
    },
}

/// What an observer reports after the end of its worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// The sanitizer checked the call.
    Sanitized(SanitizerReport),
    /// The profiler recorded the call, and wrote this file if any. A debugger writes none.
    Profiled(Option<PathBuf>),
    /// It is unknown what it would have found. The text says why.
    Failed(String),
}

impl ObserverProgram {
    /// Returns its name, for messages.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Returns what the worker must know about it.
    pub fn observer(&self) -> Observer {
        match self.task {
            ObserverTask::Sanitize(_) => Observer::Sanitizer,
            ObserverTask::Profile { .. } => Observer::Profiler,
            ObserverTask::Debug { .. } => Observer::Debugger,
        }
    }

    /// Returns how it starts a worker. A sanitizer writes `log`, and does not check the kernels in
    /// `unchecked`.
    pub(super) fn launcher(&self, log: &Path, unchecked: &[&str]) -> Launcher {
        match &self.task {
            ObserverTask::Debug { arguments, terminal } => Launcher {
                program: SHELL.into(),
                arguments: on_terminal(terminal, &self.path, arguments),
            },
            _ => Launcher {
                program: self.path.clone(),
                arguments: self.arguments(log, unchecked),
            },
        }
    }

    fn arguments(&self, log: &Path, unchecked: &[&str]) -> Vec<OsString> {
        let tool = match &self.task {
            ObserverTask::Profile { arguments, .. } | ObserverTask::Debug { arguments, .. } => {
                return arguments.clone();
            }
            ObserverTask::Sanitize(tool) => *tool,
        };
        let mut words: Vec<OsString> = vec!["--tool".into(), tool.as_str().into(), "--log-file".into()];
        words.push(file_name(log));
        let plain = [
            ["--target-processes", "application-only"],
            ["--print-limit", MOST_ERRORS],
            // With backtraces, initcheck and synccheck of version 2025.3 do not end after many
            // errors. The place of an error has its file and line anyway.
            ["--show-backtrace", "no"],
            // The rest of a plan is checked, too.
            ["--destroy-on-device-error", "kernel"],
        ];
        words.extend(plain.into_iter().chain(options_of(tool)).flatten().map(OsString::from));
        for kernel in unchecked {
            words.extend(["--kernel-name-exclude".into(), format!("kernel_name={kernel}").into()]);
        }
        words
    }

    /// Returns what it reports after it `end`ed, from its `log` and what it `printed`.
    pub(super) fn observation(&self, end: End, log: &Path, printed: &str) -> Observation {
        match &self.task {
            ObserverTask::Sanitize(tool) => match read_log(log, *tool) {
                Err(problem) => Observation::Failed(gpubench_diagnostic::chain(&problem)),
                Ok(report) if report.findings.is_empty() && end != End::Exited(0) => {
                    Observation::Failed(format!("it {end}"))
                }
                Ok(report) => Observation::Sanitized(report),
            },
            ObserverTask::Debug { .. } => Observation::Profiled(None),
            ObserverTask::Profile { .. } if end != End::Exited(0) => Observation::Failed(format!("it {end}")),
            ObserverTask::Profile { extension, .. } => Observation::Profiled(report_in(printed, extension)),
        }
    }
}

/// The shell that connects a debugger with its terminal, and the worker with the broker.
const SHELL: &str = "/bin/sh";

/// Keeps the connection to the broker, which is standard input, as descriptor 3, and starts the
/// debugger on the terminal.
const START_DEBUGGER: &str = "terminal=$1; shift; exec 3<&0 <>\"$terminal\" >&0 2>&0; exec \"$@\"";

/// Starts the worker with the connection as its standard input.
const START_WORKER: &str = "exec \"$@\" <&3 3<&-";

/// Returns the arguments of the shell that starts a debugger on a terminal. The worker's command
/// follows them.
fn on_terminal(terminal: &Path, debugger: &Path, arguments: &[OsString]) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["-c", START_DEBUGGER, "debugger"].map(OsString::from).into();
    words.extend([terminal.into(), debugger.into()]);
    words.extend(arguments.iter().cloned());
    words.extend([SHELL, "-c", START_WORKER, "worker"].map(OsString::from));
    words
}

/// Returns a file's name for an option. In it, the tools replace what follows a percent sign.
fn file_name(path: &Path) -> OsString {
    path.to_string_lossy().replace('%', "%%").into()
}

/// Returns the options that only one tool has.
fn options_of(tool: SanitizerTool) -> Vec<[&'static str; 2]> {
    match tool {
        // Calls that the driver refuses are none of the kernel's errors.
        SanitizerTool::Memcheck => vec![["--report-api-errors", "no"], ["--padding", PADDING]],
        // The other form of report names no threads.
        SanitizerTool::Racecheck => vec![["--racecheck-report", "hazard"]],
        // The worker copies inputs from memory that the referee has written.
        SanitizerTool::Initcheck => vec![["--check-api-memory-access", "no"]],
        SanitizerTool::Synccheck => Vec::new(),
    }
}

/// Finds the last file with an extension that a profiler says it wrote.
fn report_in(printed: &str, extension: &str) -> Option<PathBuf> {
    let lines = printed.lines().rev();
    let mut paths = lines.filter_map(|line| {
        let end = line.rfind(extension)? + extension.len();
        let begin = line.find('/')?;
        line.get(begin..end).map(PathBuf::from)
    });
    paths.find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sanitizer(tool: SanitizerTool) -> ObserverProgram {
        ObserverProgram {
            path: "/usr/local/cuda/bin/compute-sanitizer".into(),
            task: ObserverTask::Sanitize(tool),
        }
    }

    fn profiler() -> ObserverProgram {
        ObserverProgram {
            path: "/opt/ncu".into(),
            task: ObserverTask::Profile {
                arguments: vec!["-o".into(), "a".into()],
                extension: ".ncu-rep",
            },
        }
    }

    #[test]
    fn the_sanitizer_writes_a_log_and_leaves_the_tools_own_kernels_out() {
        let words = sanitizer(SanitizerTool::Memcheck).arguments(Path::new("/tmp/100%/log"), &["gb_digest"]);
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        let has = |pair: [&str; 2]| words.windows(2).any(|words| words == pair);
        assert!(
            has(["--tool", "memcheck"]) && has(["--log-file", "/tmp/100%%/log"]),
            "{words:?}"
        );
        assert!(has(["--kernel-name-exclude", "kernel_name=gb_digest"]), "{words:?}");
        assert!(has(["--padding", PADDING]), "{words:?}");
    }

    #[test]
    fn a_sanitizer_that_fails_has_not_found_the_kernel_clean() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let observed = |end| sanitizer(SanitizerTool::Memcheck).observation(end, &log, "");
        assert!(
            matches!(observed(End::Exited(0)), Observation::Failed(_)),
            "there is no log"
        );
        std::fs::write(&log, "========= ERROR SUMMARY: 0 errors\n").unwrap();
        assert!(matches!(observed(End::Exited(0)), Observation::Sanitized(report) if report.findings.is_empty()));
        assert_eq!(
            observed(End::Exited(1)),
            Observation::Failed("it exited with code 1".to_owned())
        );
    }

    #[test]
    fn the_report_of_a_profiler_is_the_file_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("a report.ncu-rep");
        std::fs::write(&report, "").unwrap();
        let printed = format!("==PROF== Disconnected\n==PROF== Report: {}\n", report.display());
        let observed = |printed: &str| profiler().observation(End::Exited(0), Path::new(""), printed);
        assert_eq!(observed(&printed), Observation::Profiled(Some(report)));
        assert_eq!(
            observed("==PROF== Report: /no/such.ncu-rep\n"),
            Observation::Profiled(None)
        );
        let failed = profiler().observation(End::Exited(1), Path::new(""), &printed);
        assert_eq!(failed, Observation::Failed("it exited with code 1".to_owned()));
    }
}
