//! Git as a child process.

use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use super::CheckoutError;

/// Variables by which a hook, or git itself, would point us at another repository or index than that of the folder.
const OTHER_REPOSITORY: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
];

/// Git in a folder.
#[derive(Clone, Debug)]
pub(super) struct Git {
    folder: Utf8PathBuf,
}

impl Git {
    pub(super) fn in_folder(folder: &Utf8Path) -> Git {
        Git {
            folder: folder.to_owned(),
        }
    }

    /// What git answers, without white space round it; or what it says instead.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<Result<String, String>, CheckoutError> {
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
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null())
            .output()
            .map_err(|source| CheckoutError::GitMissing { source })?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        Ok(match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stderr)),
        })
    }

    /// As [`ask`](Self::ask), where git has no reason to refuse.
    pub(super) fn tell(&self, what: &'static str, arguments: &[&str]) -> Result<String, CheckoutError> {
        self.ask(arguments)?.map_err(|why| CheckoutError::Git { what, why })
    }
}
