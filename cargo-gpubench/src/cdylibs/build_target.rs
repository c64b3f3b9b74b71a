//! The platforms that cargo's configuration names in `build.target`.

use std::process::{Child, Command, Stdio};

use super::ManifestOptions;
use super::cargo::Cargo;

/// The platform that cargo builds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuildTarget {
    /// As cargo is configured: usually the host, without a folder of its own.
    Configured,
    /// The host, by `--target`, because the tool loads the libraries. Cargo refuses
    /// `cargo rustc --crate-type` if `build.target` names several platforms.
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
    pub(super) fn answer(self, host: &str) -> BuildTarget {
        let output = self.0.and_then(|child| child.wait_with_output().ok());
        let named = output.and_then(|output| serde_json::from_slice(&output.stdout).ok());
        named.map_or(BuildTarget::Configured, |named| target_of(&named, host))
    }
}

/// A value of `build.target`.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Named {
    One(String),
    Several(Vec<String>),
}

fn target_of(named: &Named, host: &str) -> BuildTarget {
    let is_the_host = match named {
        Named::One(target) => target == host,
        Named::Several(targets) => targets.is_empty() || targets == &[host],
    };
    match is_the_host {
        true => BuildTarget::Configured,
        false => BuildTarget::Host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_built_for_whatever_the_configuration_names() {
        let target = |named: &str| target_of(&serde_json::from_str(named).expect("a value"), "host");
        for configured in [r#""host""#, r#"["host"]"#, "[]"] {
            assert_eq!(target(configured), BuildTarget::Configured, "{configured}");
        }
        for other in [
            r#""wasm32""#,
            r#"["wasm32"]"#,
            r#"["host","wasm32"]"#,
            r#"["wasm32","host"]"#,
        ] {
            assert_eq!(target(other), BuildTarget::Host, "{other}");
        }
    }
}
