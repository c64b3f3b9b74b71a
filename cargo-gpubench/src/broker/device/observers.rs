//! Finds the program that observes the calls of a run, and checks that it can.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::broker::choice::chosen::ChosenCases;
use crate::broker::options::{ObserverChoice, Profiler};
use gpubench_device::{Backend, Facts, NvidiaTools};
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_measure::clients::{ObserverProgram, ObserverTask};

/// Why no program can observe the calls.
#[derive(Debug, thiserror::Error)]
pub(in crate::broker) enum ObserverError {
    /// The device runs nothing that the program could observe.
    #[error("`{option}` needs a GPU: NVIDIA's tools cannot observe the {device}")]
    OtherDevice {
        option: String,
        device: &'static str,
        instead: &'static str,
    },
    /// The program is not installed.
    #[error("`{option}` needs `{program}`, which was not found")]
    NotFound {
        option: String,
        program: String,
        package: &'static str,
    },
    /// A person debugs at a terminal.
    #[error("`{option}` needs a terminal, but standard input is none")]
    NoTerminal { option: String },
    /// A report is about one case.
    #[error("`{option}` observes one case, but {cases} are selected")]
    SeveralCases {
        option: String,
        cases: usize,
        /// The name of one of them.
        one: String,
    },
    /// Every selected case is skipped.
    #[error("`{option}` observes one case, but the device can run none of the selected ones")]
    NoCase { option: String },
}

impl Expected for ObserverError {
    fn exit_code(&self) -> ExitCode {
        match self {
            ObserverError::OtherDevice { .. } | ObserverError::NotFound { .. } => ExitCode::SetupMissing,
            ObserverError::SeveralCases { .. } | ObserverError::NoTerminal { .. } => ExitCode::Usage,
            ObserverError::NoCase { .. } => ExitCode::NothingSelected,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            ObserverError::OtherDevice { instead, .. } => (*instead).to_owned(),
            ObserverError::NoTerminal { .. } => "start it from a terminal, without a pipe to it".to_owned(),
            ObserverError::NotFound { program, package, .. } => {
                format!("install {package}, or add the folder of `{program}` to `PATH`")
            }
            ObserverError::SeveralCases { one, .. } => format!("choose one by its name, as with `--exact {one}`"),
            ObserverError::NoCase { option } => format!("without `{option}`, the result of each says why"),
        })
    }
}

/// Returns the program that observes the calls.
///
/// # Errors
/// It cannot observe this device or these cases, or is not installed.
pub(in crate::broker) fn find_observer(
    choice: &ObserverChoice,
    facts: &Facts,
    chosen: &ChosenCases,
) -> Result<ObserverProgram, ObserverError> {
    let option = choice.option();
    let is_of_nvidia = !matches!(choice, ObserverChoice::Debugger(_));
    if let (true, NvidiaTools::CannotObserve(instead)) = (is_of_nvidia, Backend::for_facts(facts).nvidia_tools) {
        let device = Backend::for_facts(facts).words().noun;
        return Err(ObserverError::OtherDevice {
            option,
            device,
            instead,
        });
    }
    if !matches!(choice, ObserverChoice::Sanitizer(_)) {
        let runs = |case: &&crate::broker::cases::Case| case.disposition.reason().is_none();
        let cases: Vec<_> = chosen.cases.iter().filter(runs).collect();
        match &cases[..] {
            [] => return Err(ObserverError::NoCase { option }),
            [_] => {}
            [first, ..] => {
                return Err(ObserverError::SeveralCases {
                    option,
                    cases: cases.len(),
                    one: first.name(),
                });
            }
        }
    }
    let (program, package) = program_of(choice);
    let path = candidates(program).find(|path| path.is_file());
    let path = path.ok_or_else(|| ObserverError::NotFound {
        option: option.clone(),
        program: program.to_owned(),
        package,
    })?;
    let task = task(choice).ok_or(ObserverError::NoTerminal { option })?;
    Ok(ObserverProgram { path, task })
}

/// Returns the program's name and the package that contains it.
fn program_of(choice: &ObserverChoice) -> (&str, &'static str) {
    match choice {
        ObserverChoice::Sanitizer(_) => ("compute-sanitizer", "the CUDA toolkit or its package `cuda-sanitizer`"),
        ObserverChoice::Profiler(Profiler::Ncu, _) => ("ncu", "Nsight Compute, also in the CUDA toolkit"),
        ObserverChoice::Profiler(Profiler::Nsys, _) => ("nsys", "Nsight Systems, also in the CUDA toolkit"),
        ObserverChoice::Debugger(debugger) => (&debugger.program, "it"),
    }
}

/// Returns what the program does. A profiler records from the beginning to the end of the call. The
/// user's arguments come last, so they win. `None` if a debugger has no terminal.
fn task(choice: &ObserverChoice) -> Option<ObserverTask> {
    let profile = |first: &[&str], arguments: &[OsString], extension| ObserverTask::Profile {
        arguments: first
            .iter()
            .map(OsString::from)
            .chain(arguments.iter().cloned())
            .collect(),
        extension,
    };
    Some(match choice {
        ObserverChoice::Sanitizer(tool) => ObserverTask::Sanitize(*tool),
        ObserverChoice::Debugger(debugger) => ObserverTask::Debug {
            arguments: debugger.arguments.iter().map(OsString::from).collect(),
            terminal: terminal()?,
        },
        ObserverChoice::Profiler(Profiler::Ncu, arguments) => {
            let first = ["--profile-from-start", "off", "--target-processes", "application-only"];
            profile(&first, arguments, ".ncu-rep")
        }
        ObserverChoice::Profiler(Profiler::Nsys, arguments) => {
            // By default the end of the recording would end the worker.
            let first = ["profile", "--capture-range=cudaProfilerApi", "--capture-range-end=stop"];
            profile(&first, arguments, ".nsys-rep")
        }
    })
}

/// Returns the terminal that is the standard input, if it is one.
fn terminal() -> Option<PathBuf> {
    let name = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(name.into_bytes())))
}

/// Returns where the program may be: on the path, in toolkits, and where NVIDIA's packages put it.
/// Of several installed versions, the newest comes first.
fn candidates(program: &str) -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let named = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from);
    let toolkits = named.chain(newest_first(Path::new("/usr/local"), "cuda"));
    let in_toolkits = toolkits.flat_map(|toolkit| ["bin", "compute-sanitizer"].map(|folder| toolkit.join(folder)));
    let packages = ["nsight-compute", "nsight-systems"].map(|package| Path::new("/opt/nvidia").join(package));
    let in_packages = packages.into_iter().flat_map(|package| newest_first(&package, ""));
    let in_packages = in_packages.flat_map(|version| [version.clone(), version.join("bin")]);
    on_path
        .into_iter()
        .chain(in_toolkits)
        .chain(in_packages)
        .map(move |folder| folder.join(program))
}

/// Returns the entries of a folder whose names have a beginning, in descending order.
fn newest_first(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning));
    let mut paths: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    paths.sort_by(|a, b| b.cmp(a));
    paths
}
