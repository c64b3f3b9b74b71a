//! How the build links the C runtime. If it does so statically, there are no shared libraries.

use std::process::{Command, Stdio};

/// Returns whether `build`, a command `cargo rustc`, links the C runtime statically. It compiles
/// nothing. Only nightly versions of cargo have `--print`, unless `RUSTC_BOOTSTRAP` is set. Without
/// an answer, the runtime counts as shared.
pub(super) fn is_static(mut build: Command) -> bool {
    build
        .args(["-Z", "unstable-options", "--print", "cfg"])
        .env("RUSTC_BOOTSTRAP", "1")
        .stderr(Stdio::null());
    let answer = build.output();
    answer.is_ok_and(|answer| names_static_runtime(&String::from_utf8_lossy(&answer.stdout)))
}

fn names_static_runtime(configuration: &str) -> bool {
    let mut lines = configuration.lines();
    lines.any(|line| line == "target_feature=\"crt-static\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_feature_of_that_name_is_the_static_runtime() {
        assert!(names_static_runtime(
            "unix\ntarget_feature=\"crt-static\"\ntarget_feature=\"fxsr\"\n"
        ));
        assert!(!names_static_runtime("unix\nfeature=\"crt-static\"\n"));
        assert!(!names_static_runtime(""));
    }
}
