//! Git as a child process.
#![forbid(unsafe_code)]

use std::io;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

/// Variables by which a hook, or git itself, would point us at another repository or index than that of the folder.
const OTHER_REPOSITORY: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
];

/// Git in a folder. It asks nobody anything, takes no locks that it can do without, and runs no hooks.
#[derive(Clone, Debug)]
pub struct Git {
    folder: Utf8PathBuf,
}

/// Git cannot be started.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct GitNotStarted(#[from] io::Error);

impl Git {
    /// Git in `folder`.
    pub fn in_folder(folder: &Utf8Path) -> Git {
        Git {
            folder: folder.to_owned(),
        }
    }

    /// What git answers, without white space round it; or what it says instead.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn ask(&self, arguments: &[&str]) -> Result<Result<String, String>, GitNotStarted> {
        let mut command = Command::new("git");
        // Somebody's hooks are no part of a checkout that nobody works in.
        command
            .arg("-C")
            .arg(&self.folder)
            .args(["-c", "core.hooksPath=/dev/null"]);
        for name in OTHER_REPOSITORY {
            command.env_remove(name);
        }
        let output = command
            .args(arguments)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null())
            .output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        Ok(match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stderr)),
        })
    }
}
