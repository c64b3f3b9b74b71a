//! Cargo as a child process.

use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::{env, io};

use camino::Utf8Path;
use rustix::process::Signal;

use super::{BuildError, FeatureSelection, ManifestOptions};
use gpubench_diagnostic::CommandMarks;
use gpubench_report::Color;

/// Cargo: the one that started this process, or the one in `PATH`.
///
/// Cargo sets `CARGO` to its own path. Another cargo would mix toolchains under
/// `cargo +nightly gpubench`.
#[derive(Clone, Debug)]
pub(super) struct Cargo {
    program: OsString,
}

/// Makes a crate with a library, as `cargo new` does, and returns whether cargo did. Cargo says why
/// it did not.
///
/// # Errors
/// Cargo does not start.
pub(crate) fn make_crate(path: &Utf8Path, name: Option<&str>) -> Result<bool, BuildError> {
    let named = name.map(|name| ["--name", name]);
    let arguments = [
        &["--quiet", "--lib"][..],
        named.as_ref().map_or(&[], |named| &named[..]),
        &["--", path.as_str()],
    ];
    Cargo::from_environment().succeeds("new", &arguments.concat())
}

impl Cargo {
    pub(super) fn from_environment() -> Self {
        Self {
            program: env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")),
        }
    }

    /// Returns cargo for commands that only look at a folder: neither that folder nor its parents
    /// choose the program. Rustup would start any program that their `rust-toolchain.toml` names.
    pub(super) fn to_look() -> Self {
        let program = env::var_os("CARGO").or_else(chosen_by_user);
        Self {
            program: program.unwrap_or_else(|| OsString::from("cargo")),
        }
    }

    /// Returns the program's name for messages.
    pub(super) fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Wraps the error if it does not start.
    pub(super) fn not_started(&self) -> impl FnOnce(io::Error) -> BuildError {
        let program = self.program();
        move |source| BuildError::CargoNotStarted { program, source }
    }

    /// Wraps the error if its output cannot be read.
    pub(super) fn lost(&self) -> impl FnOnce(io::Error) -> BuildError {
        let program = self.program();
        move |source| BuildError::CargoLost { program, source }
    }

    /// Runs `cargo VERB` with the terminal as its output, and returns whether it succeeded.
    ///
    /// # Errors
    /// Cargo does not start.
    pub(super) fn succeeds(&self, verb: &str, arguments: &[&str]) -> Result<bool, BuildError> {
        let status = self
            .command(verb)
            .args(arguments)
            .status()
            .map_err(self.not_started())?;
        Ok(status.success())
    }

    /// Returns the command `cargo VERB`, which reads nothing from the terminal.
    pub(super) fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(verb).stdin(Stdio::null());
        command
    }
}

/// What happens with the standard error of a cargo that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Complaints {
    Shown,
    Dropped,
}

impl Complaints {
    pub(super) fn show(self, answer: &Output) {
        if self == Complaints::Shown {
            pass_on(&*answer.stderr);
        }
    }
}

/// Forwards cargo's standard error and returns it. Commands of CI systems are marked: cargo prints
/// what build scripts and crates say.
pub(super) fn pass_on(mut stderr: impl Read) -> Vec<u8> {
    let (mut seen, mut marks) = (Vec::new(), CommandMarks::default());
    let mut buffer = [0; 4096];
    // A read error ends the copy like the end of the stream. The exit status tells whether cargo
    // succeeded.
    while let Ok(count @ 1..) = stderr.read(&mut buffer) {
        let _ = io::stderr().write_all(&marks.mark_bytes(&buffer[..count]));
        seen.extend_from_slice(&buffer[..count]);
    }
    seen
}

/// Returns the cargo that rustup chooses where no folder does. `None` without rustup.
fn chosen_by_user() -> Option<OsString> {
    let mut command = Command::new("rustup");
    command.args(["which", "cargo"]).current_dir("/").stdin(Stdio::null());
    let answer = command.stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?;
    answer.status.success().then(|| OsString::from(path.trim_end()))
}

/// Options that become cargo arguments.
pub(super) trait CargoArguments {
    /// Adds the options to a command.
    fn add_to(&self, command: &mut Command);
}

impl CargoArguments for ManifestOptions {
    fn add_to(&self, command: &mut Command) {
        let Self {
            manifest_path,
            lock_flags,
            config,
        } = self;
        if let Some(path) = manifest_path {
            command.arg("--manifest-path").arg(path);
        }
        command.args(lock_flags);
        for config in config {
            command.arg("--config").arg(config);
        }
    }
}

impl CargoArguments for FeatureSelection {
    fn add_to(&self, command: &mut Command) {
        let Self { features, flags } = self;
        command.args(flags);
        if !features.is_empty() {
            command.arg("--features").arg(features.join(","));
        }
    }
}

impl CargoArguments for Color {
    fn add_to(&self, command: &mut Command) {
        command.arg("--color").arg(match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        });
    }
}

/// Returns whether a child ended because of Ctrl-C or a request to terminate.
pub(super) fn stopped_by_interrupt(status: ExitStatus) -> bool {
    let signals = [Signal::INT, Signal::TERM].map(Signal::as_raw);
    status.signal().is_some_and(|signal| signals.contains(&signal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_distinguished_from_a_failure() {
        assert!(stopped_by_interrupt(ExitStatus::from_raw(2)));
        assert!(stopped_by_interrupt(ExitStatus::from_raw(15)));
        assert!(!stopped_by_interrupt(ExitStatus::from_raw(101 << 8)));
        assert!(!stopped_by_interrupt(ExitStatus::from_raw(9)));
    }
}
