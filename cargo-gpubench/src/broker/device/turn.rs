//! Exclusive use of a device: runs that measure at the same time would disturb each other's times.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_device::{Backend, Facts};
use gpubench_diagnostic::{ExitCode, Expected, Failure, Interrupted, print_warning, printable_line};
use gpubench_measure::clients::Interrupt;
use gpubench_store::{Holder, LockError};

use crate::broker::options::{Action, OtherRuns, RunOptions};
use crate::turn::{lock_file, wait_for};

/// The right to measure on a device while this value lives. The system releases the lock if the
/// process dies.
#[derive(Debug)]
pub(in crate::broker) struct DeviceTurn {
    _lock: Option<File>,
}

/// Another run uses the device.
#[derive(Debug, thiserror::Error)]
#[error("another run is using this device")]
struct DeviceBusy {
    source: LockError,
}

impl Expected for DeviceBusy {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        Some("end that process, or measure at the same time with `--no-wait`".to_owned())
    }
}

impl DeviceTurn {
    /// Waits until no other run of this user measures on any of the devices. All runs take several
    /// devices in the same order, so that none waits for another that waits for it. Returns the
    /// turns in the order of the devices.
    ///
    /// # Errors
    /// Same as [`DeviceTurn::take`].
    pub(in crate::broker) fn take_all(
        options: &RunOptions,
        devices: &[&Facts],
        interrupt: &Interrupt,
        mut before_waiting: impl FnMut(),
    ) -> Result<Vec<DeviceTurn>, Failure> {
        let mut positions: Vec<usize> = (0..devices.len()).collect();
        positions.sort_by_key(|position| key(devices[*position]));
        let mut turns = Vec::new();
        for position in positions {
            let turn = DeviceTurn::take(options, devices[position], interrupt, &mut before_waiting)?;
            turns.push((position, turn));
        }
        turns.sort_by_key(|(position, _)| *position);
        Ok(turns.into_iter().map(|(_, turn)| turn).collect())
    }

    /// Waits until no other run of this user measures on the device. Returns at once if the run
    /// measures no times. `before_waiting` releases resources that would disturb the other run.
    ///
    /// # Errors
    /// Another run uses the device for an hour, or Ctrl-C.
    fn take(
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
        let holder = Holder::from_file(&file);
        let is_ours = holder.process().is_some_and(is_ancestor);
        if is_ours || options.measurement.other_runs == OtherRuns::Ignored {
            let who = if is_ours { ", which started this run," } else { "" };
            let device = printable_line(&facts.device.name);
            print_warning(&format!(
                "{holder}{who} also measures on `{device}`: each run disturbs the other's times"
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

    /// Continues without a lock if there is no folder for one.
    fn alone(error: &io::Error) -> DeviceTurn {
        print_warning(&format!(
            "cannot tell whether another run is using this device: {error}"
        ));
        DeviceTurn { _lock: None }
    }
}

/// Returns the file that is locked while the clocks of a device are.
///
/// # Errors
/// If there is no folder for it.
pub(in crate::broker) fn file_of_clocks(facts: &Facts) -> io::Result<Utf8PathBuf> {
    Ok(folder()?.join(format!("{}.clocks", key(facts))))
}

/// Returns a name for a device: the UUID of a GPU, the kind of the host.
fn key(facts: &Facts) -> String {
    let identity = facts
        .identity
        .as_deref()
        .unwrap_or(Backend::for_facts(facts).words().noun);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    identity
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '-' })
        .collect()
}

/// Returns the user's folder for files that live as long as processes: `$XDG_RUNTIME_DIR/gpubench`,
/// or a folder among the temporary files.
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
    // Another user may have created the folder among the temporary files.
    let metadata = folder.symlink_metadata()?;
    if metadata.is_dir() && metadata.uid() == user {
        Ok(folder)
    } else {
        Err(io::Error::other(format!(
            "`{folder}` is not a folder that this user owns"
        )))
    }
}

/// Returns whether a process started this one, directly or through others, and so waits for it.
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
    fn ancestors_of_this_process_are_found() {
        assert!(is_ancestor(std::os::unix::process::parent_id()));
        assert!(!is_ancestor(std::process::id()));
    }
}
