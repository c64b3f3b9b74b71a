//! The tool under test.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::fixture::repository;

/// Returns the path of the tool, built with the profile of the running tests, with
/// `gpubench-probe` next to it. The first call in a process builds both.
///
/// # Panics
/// If it does not build.
pub fn tool() -> &'static Utf8Path {
    static TOOL: OnceLock<Utf8PathBuf> = OnceLock::new();
    TOOL.get_or_init(|| {
        artifact(
            &[
                "--package",
                "cargo-gpubench",
                "--bin",
                "cargo-gpubench",
                "--package",
                "gpubench-probe",
                "--bin",
                "gpubench-probe",
            ],
            "cargo-gpubench",
        )
    })
}

/// Returns the path of `gpubench-probe`, next to the tool.
///
/// # Panics
/// If it does not build.
pub fn probe_program() -> Utf8PathBuf {
    tool().with_file_name("gpubench-probe")
}

/// Returns the path of `gpubench-serve`. The first call in a process builds it.
///
/// # Panics
/// If it does not build.
pub fn serve_program() -> &'static Utf8Path {
    static PROGRAM: OnceLock<Utf8PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| artifact(&["--package", "gpubench-serve"], "gpubench-serve"))
}

/// Builds a package of the repository with the profile of the running tests, and returns the path
/// of a target's file.
///
/// # Panics
/// If it does not build.
pub(crate) fn artifact(selection: &[&str], target: &str) -> Utf8PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(repository())
        .arg("build")
        .args(selection)
        .args(["--message-format", "json-render-diagnostics"])
        .args(if cfg!(debug_assertions) {
            &[][..]
        } else {
            &["--release"]
        })
        .stderr(Stdio::piped());
    let output = cargo.output().expect("cargo runs");
    let explanation = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`{target}` does not build:\n{explanation}");
    let messages = String::from_utf8(output.stdout).expect("messages are UTF-8");
    messages
        .lines()
        .find_map(|message| file_of(message, target))
        .expect("the build names the file")
}

fn file_of(message: &str, target: &str) -> Option<Utf8PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["target"]["name"] != target {
        return None;
    }
    let file = message["executable"]
        .as_str()
        .or_else(|| message["filenames"][0].as_str());
    // A package's build script has another target name. A library also has an `.rlib` file.
    file.filter(|file| !file.ends_with(".rlib")).map(Utf8PathBuf::from)
}
