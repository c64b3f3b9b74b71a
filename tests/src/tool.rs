//! The tool under test.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::fixture::repository;

/// The tool's executable, built with the profile of the running tests. The first call of a process builds it.
///
/// # Panics
/// When it does not build.
pub fn tool() -> &'static Utf8Path {
    static TOOL: OnceLock<Utf8PathBuf> = OnceLock::new();
    TOOL.get_or_init(build)
}

fn build() -> Utf8PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(repository())
        .args(["build", "--package", "cargo-gpubench", "--bin", "cargo-gpubench"])
        .args(["--message-format", "json-render-diagnostics"])
        .args(if cfg!(debug_assertions) {
            &[][..]
        } else {
            &["--release"]
        })
        .stderr(Stdio::piped());
    let output = cargo.output().expect("cargo runs");
    let explanation = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the tool does not build:\n{explanation}");
    let messages = String::from_utf8(output.stdout).expect("messages are UTF-8");
    messages
        .lines()
        .find_map(executable)
        .expect("the build names an executable")
}

fn executable(message: &str) -> Option<Utf8PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_tool = message["reason"] == "compiler-artifact" && message["target"]["name"] == "cargo-gpubench";
    message["executable"]
        .as_str()
        .filter(|_| is_tool)
        .map(Utf8PathBuf::from)
}
