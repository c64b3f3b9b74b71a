//! The platforms that cargo's configuration names in `build.target`.

use std::process::{Child, Command, Stdio};

use super::ManifestOptions;
use super::cargo::Cargo;

/// The platform that cargo builds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuildTarget {
    /// As cargo is configured: usually the host, without a folder of its own.
    Configured,
    /// The host, by `--target`. Cargo refuses `cargo rustc --crate-type` if `build.target` names
    /// several platforms.
    Host,
}

impl BuildTarget {
    /// Adds `--target` to a command of cargo if it is needed.
    pub(super) fn add_to(self, host: &str, command: &mut Command) {
        if self == BuildTarget::Host {
            command.args(["--target", host]);
        }
    }
}

/// A question about `build.target`, which cargo answers while others are asked.
pub(super) struct AskedTarget(Option<Child>);

impl AskedTarget {
    /// Asks `cargo config get`, which only nightly versions have, unless `RUSTC_BOOTSTRAP` is set.
    /// Cargo merges all files, variables and `--config` options.
    pub(super) fn ask(cargo: &Cargo, manifest: &ManifestOptions) -> AskedTarget {
        let mut command = cargo.command("config");
        command.args([
            "-Z",
            "unstable-options",
            "get",
            "build.target",
            "--format",
            "json-value",
        ]);
        for config in &manifest.config {
            command.arg("--config").arg(config);
        }
        command
            .env("RUSTC_BOOTSTRAP", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        AskedTarget(command.spawn().ok())
    }

    /// Waits for the answer. Without one, cargo builds as it is configured, and its own errors
    /// explain what is wrong.
    pub(super) fn answer(self) -> BuildTarget {
        let output = self.0.and_then(|child| child.wait_with_output().ok());
        let named: Option<Vec<String>> = output.and_then(|output| serde_json::from_slice(&output.stdout).ok());
        match named.is_some_and(|named| named.len() > 1) {
            true => BuildTarget::Host,
            false => BuildTarget::Configured,
        }
    }
}
