//! Runs the command.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use gpubench::catalog::Provider;

use super::ProviderError;
use crate::clients::{Interrupt, Registered, end_strays};
use gpubench_diagnostic::quoted;
use gpubench_sandbox::{Rights, spawn_with_rights};

/// Time between two looks at the command.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Most bytes of its output that a message shows: the last ones.
const MOST_SHOWN: u64 = 4 << 10;

/// Returns the command as a user would type it, for messages.
pub(crate) fn shown(provider: &Provider) -> String {
    gpubench_diagnostic::printable_line(&provider.command.join(" ")).to_string()
}

/// Runs the command with the paths of its inputs and outputs as the last arguments, and waits for
/// its end. Whatever it started ends too. Returns the end of its output.
///
/// # Errors
/// It cannot be started, fails or takes too long, or the user interrupts.
pub(crate) fn run(
    provider: &Provider,
    files: [&Path; 2],
    within: Duration,
    interrupt: &Interrupt,
) -> Result<String, ProviderError> {
    let name = || shown(provider);
    let unusable = |source| ProviderError::Files {
        command: name(),
        doing: "keeping its output",
        source,
    };
    let mut output = tempfile::tempfile().map_err(unusable)?;
    let [stdout, stderr] = [output.try_clone(), output.try_clone()];
    let (stdout, stderr) = (stdout.map_err(unusable)?, stderr.map_err(unusable)?);
    let (program, arguments) = provider.command.split_first().ok_or_else(|| ProviderError::Start {
        command: String::new(),
        folder: provider.folder.clone(),
        hint: "",
        source: io::ErrorKind::InvalidInput.into(),
    })?;
    let mut command = Command::new(program);
    command.args(arguments).args(files).current_dir(&provider.folder);
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    // Its descendants are in its group, and Ctrl-C of the terminal is not sent to it.
    command.process_group(0);
    let started = Registered::start_by(|| spawn_with_rights(&mut command, Rights::ReadFiles));
    let (mut process, mut registered) = started.map_err(|source| ProviderError::Start {
        hint: hint_for(&source, &provider.folder),
        command: name(),
        folder: provider.folder.clone(),
        source,
    })?;
    let began = Instant::now();
    let stopped = loop {
        if registered.has_ended() {
            break None;
        }
        if interrupt.is_set() {
            break Some(ProviderError::Interrupted);
        }
        if began.elapsed() >= within {
            break Some(ProviderError::Silent {
                command: name(),
                within,
            });
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    registered.kill_group();
    let status = registered.reap(&mut process);
    end_strays();
    if let Some(stopped) = stopped {
        return Err(stopped);
    }
    let said = last_of(&mut output);
    match status {
        Ok(status) if status.success() => Ok(said),
        Ok(status) => Err(ProviderError::Failed {
            command: name(),
            end: end_of(status),
            output: said,
        }),
        Err(source) => Err(ProviderError::Files {
            command: name(),
            doing: "waiting for its end",
            source,
        }),
    }
}

fn hint_for(error: &io::Error, folder: &str) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound if !Path::new(folder).is_dir() => {
            " (hint: the folder of the package must exist where the benchmark is measured)"
        }
        io::ErrorKind::NotFound => " (hint: the program must be on the `PATH`, or a path from that folder)",
        _ => "",
    }
}

fn end_of(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

/// Returns the end of what a command wrote, with what introduces it; nothing if it wrote nothing.
fn last_of(output: &mut File) -> String {
    let mut read = || -> io::Result<Vec<u8>> {
        let bytes = output.seek(SeekFrom::End(0))?;
        output.seek(SeekFrom::Start(bytes.saturating_sub(MOST_SHOWN)))?;
        let mut last = Vec::new();
        output.take(MOST_SHOWN).read_to_end(&mut last)?;
        Ok(last)
    };
    // Without it, the message is still right.
    let last = read().unwrap_or_default();
    let last = String::from_utf8_lossy(&last);
    match last.trim() {
        "" => String::new(),
        last => format!("; it last wrote:\n{}", quoted(last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Provider {
        Provider {
            command: ["sh", "-c", script].map(str::to_owned).into(),
            folder: "/".to_owned(),
            params: Vec::new(),
        }
    }

    fn ran(provider: &Provider, within: Duration) -> Result<String, ProviderError> {
        run(provider, ["in", "out"].map(Path::new), within, &Interrupt::default())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_command_gets_both_paths_and_its_folder() {
        let said = ran(&shell(r#"echo "$0 $1 $PWD""#), LONG).expect("success");
        assert_eq!(said, "; it last wrote:\n    in out /");
        assert_eq!(ran(&shell("true"), LONG).expect("success"), "");
    }

    #[test]
    fn a_failed_command_is_shown_with_its_status_and_the_end_of_its_output() {
        let failed = ran(&shell("yes long | head -n 9000; echo 'the cause' >&2; exit 3"), LONG);
        let message = failed.expect_err("it fails").to_string();
        assert!(
            message.contains("` ended with exit status 3; it last wrote:\n"),
            "{message}"
        );
        assert!(
            message.ends_with("\n    the cause") && message.len() < 12_000,
            "{message}"
        );
        let killed = ran(&shell("kill -9 $$"), LONG).expect_err("it is killed").to_string();
        assert!(killed.ends_with("ended with signal 9"), "{killed}");
    }

    #[test]
    fn a_missing_program_or_folder_is_named_with_a_hint() {
        let missing = Provider {
            command: vec!["gpubench-no-such-program".to_owned()],
            ..shell("")
        };
        let message = ran(&missing, LONG).expect_err("it is missing").to_string();
        assert_eq!(
            message,
            "cannot start `gpubench-no-such-program` in `/` (hint: the program must be on the `PATH`, or a path from that folder)"
        );
        let elsewhere = Provider {
            folder: "/gpubench-no-such-folder".to_owned(),
            ..shell("true")
        };
        let message = ran(&elsewhere, LONG).expect_err("it is missing").to_string();
        assert!(message.contains("the folder of the package must exist"), "{message}");
    }

    #[test]
    fn a_command_that_takes_too_long_or_is_interrupted_ends_with_what_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("alive");
        let script = format!("(sleep 1; touch {}) & wait", file.display());
        let late = ran(&shell(&script), Duration::from_millis(50)).expect_err("it is late");
        assert!(matches!(late, ProviderError::Silent { .. }), "{late}");
        let interrupt = Interrupt::default();
        interrupt.cancel();
        let interrupted = run(&shell(&script), ["in", "out"].map(Path::new), LONG, &interrupt);
        assert!(matches!(interrupted, Err(ProviderError::Interrupted)));
        // A child that outlives its parent would live on as well.
        let script = format!("(sleep 1; touch {}) & true", file.display());
        ran(&shell(&script), LONG).expect("success");
        std::thread::sleep(Duration::from_millis(1_300));
        assert!(!file.exists(), "a child lived on");
    }
}
