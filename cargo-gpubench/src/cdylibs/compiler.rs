//! Facts about the Rust compiler that the build needs.

use std::process::{Command, Stdio};
use std::{env, io};

use camino::Utf8PathBuf;

use super::BuildError;

/// The compiler that cargo uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Compiler {
    pub(super) host: String,
    pub(super) library_directory: Utf8PathBuf,
}

impl Compiler {
    /// Queries the compiler.
    ///
    /// # Errors
    ///
    /// It does not start, or its answer is incomplete.
    pub(super) fn ask() -> Result<Self, BuildError> {
        let program = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let silent = |source| BuildError::CompilerSilent {
            program: program.clone(),
            source,
        };
        let mut command = Command::new(&program);
        command
            .args(["--print", "host-tuple", "--print", "target-libdir"])
            .stdin(Stdio::null());
        let output = command.output().map_err(silent)?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(silent(io::Error::other(message)));
        }
        Self::from_answer(&String::from_utf8_lossy(&output.stdout))
            .ok_or_else(|| silent(io::Error::other("its answer is incomplete")))
    }

    fn from_answer(answer: &str) -> Option<Self> {
        let mut lines = answer.lines();
        Some(Self {
            host: lines.next()?.to_owned(),
            library_directory: Utf8PathBuf::from(lines.next()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lines_of_the_answer_are_needed() {
        let compiler = Compiler::from_answer("x86_64-unknown-linux-gnu\n/rust/lib\n").expect("both are there");
        assert_eq!(compiler.host, "x86_64-unknown-linux-gnu");
        assert_eq!(compiler.library_directory, "/rust/lib");
        assert_eq!(Compiler::from_answer("x86_64-unknown-linux-gnu\n"), None);
    }
}
