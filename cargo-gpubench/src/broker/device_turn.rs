//! Runs on one device measure one after the other: two at once would each find the other in its
//! times.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_device::Facts;
use gpubench_diagnostic::{ExitCode, Expected, Failure, Interrupted, print_warning, printable_line};
use gpubench_measure::clients::Interrupt;
use gpubench_store::{Holder, LockError};

use super::options::{Action, OtherRuns, RunOptions};
use crate::turn::{lock_file, wait_for};

/// The right to measure on a device, for as long as this lives. The system takes it back when the
/// process dies.
#[derive(Debug)]
pub(super) struct DeviceTurn {
    _lock: Option<File>,
}

/// Another run keeps the device.
#[derive(Debug, thiserror::Error)]
#[error("another run measures on this device")]
struct DeviceBusy {
    source: LockError,
}

impl Expected for DeviceBusy {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        Some("end that process, or measure beside it with `--no-wait`".to_owned())
    }
}

impl DeviceTurn {
    /// Waits until no other run of this user measures on the device. Calls without a time are none
    /// of anybody's business. `before_waiting` lets go of what would disturb the other run.
    ///
    /// # Errors
    /// Another run keeps the device for an hour, or Ctrl-C.
    pub(super) fn take(
        options: &RunOptions,
        facts: &Facts,
        interrupt: &Interrupt,
        before_waiting: impl FnOnce(),
    ) -> Result<DeviceTurn, Failure> {
        if !matches!(options.action, Action::Measure | Action::Profile(_)) {
            return Ok(DeviceTurn { _lock: None });
        }
        let path = match folder() {
            Ok(folder) => folder.join(format!("{}.lock", key(facts))),
            Err(error) => return Ok(DeviceTurn::alone(&error)),
        };
        let file = match lock_file(&path) {
            Ok(file) => file,
            Err(error) => return Ok(DeviceTurn::alone(&error)),
        };
        if file.try_lock().is_ok() {
            return Ok(DeviceTurn { _lock: Some(file) });
        }
        let holder = Holder::of(&file);
        let is_ours = holder.process().is_some_and(is_ancestor);
        if is_ours || options.measurement.other_runs == OtherRuns::Ignored {
            let who = if is_ours { ", which started this run," } else { "" };
            let device = printable_line(&facts.device.name);
            print_warning(&format!(
                "{holder}{who} measures on `{device}` as well: the times of both are disturbed"
            ));
            return Ok(DeviceTurn { _lock: None });
        }
        drop(file);
        before_waiting();
        let what = format!("another run on `{}`", printable_line(&facts.device.name));
        match wait_for(&path, &what, interrupt.flag()) {
            Ok(lock) => Ok(DeviceTurn { _lock: Some(lock) }),
            Err(LockError::Io(error)) => Ok(DeviceTurn::alone(&error)),
            Err(LockError::GivenUp { .. }) => Err(Interrupted.into()),
            Err(source @ LockError::Held { .. }) => Err(DeviceBusy { source }.into()),
        }
    }

    /// Where there is nowhere to meet, a run goes on without the others.
    fn alone(error: &io::Error) -> DeviceTurn {
        print_warning(&format!(
            "whether other runs measure on this device is not known: {error}"
        ));
        DeviceTurn { _lock: None }
    }
}

/// Names a device: a GPU by its UUID, the host by its kind.
fn key(facts: &Facts) -> String {
    let identity = facts.identity.as_deref().unwrap_or(facts.backend().words().noun);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    identity
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '-' })
        .collect()
}

/// The user's folder for what lives as long as processes do: `$XDG_RUNTIME_DIR/gpubench`, or one
/// among temporary files.
fn folder() -> io::Result<Utf8PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let runtime = std::env::var("XDG_RUNTIME_DIR")
        .ok()
        .filter(|folder| Utf8Path::new(folder).is_dir());
    let folder = match runtime {
        Some(runtime) => Utf8PathBuf::from(runtime).join("gpubench"),
        None => {
            let temporary = Utf8PathBuf::from_path_buf(std::env::temp_dir());
            let temporary = temporary.map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
            temporary.join(format!("gpubench-{user}"))
        }
    };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Among temporary files anybody may have been there first.
    let metadata = folder.symlink_metadata()?;
    match metadata.is_dir() && metadata.uid() == user {
        true => Ok(folder),
        false => Err(io::Error::other(format!("`{folder}` is no folder of this user's"))),
    }
}

/// Whether a process started this one, itself or through others: it waits for this one.
fn is_ancestor(process: u32) -> bool {
    let parent_of = |process: u32| -> Option<u32> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        line.trim().parse().ok().filter(|parent| *parent != 0)
    };
    std::iter::successors(parent_of(std::process::id()), |process| parent_of(*process)).any(|parent| parent == process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_started_this_process_is_known() {
        assert!(is_ancestor(std::os::unix::process::parent_id()));
        assert!(!is_ancestor(std::process::id()));
    }
}
