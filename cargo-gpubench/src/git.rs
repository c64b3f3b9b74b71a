//! Git as a child process.

use std::collections::BTreeSet;
use std::io;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_contract::Revision;

/// Variables by which a hook, or git itself, would select another repository, index or
/// configuration than the folder's.
const OTHER_REPOSITORY: [&str; 6] = [
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
];

/// What git asks about a filter of file contents, and what disables it.
const FILTER_KEYS: [(&str, &str); 4] = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];

/// Git in a folder. It never prompts, avoids optional locks, and runs no hook and no monitor of
/// files that the folder's configuration names.
#[derive(Clone, Debug)]
pub struct Git {
    folder: Utf8PathBuf,
}

/// Git cannot be started.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct GitNotStarted(#[from] io::Error);

impl Git {
    /// Returns git in `folder`.
    pub fn in_folder(folder: &Utf8Path) -> Git {
        Git {
            folder: folder.to_owned(),
        }
    }

    /// Runs git and returns its trimmed output, or its error message if it fails. Checking out
    /// files runs the filters that the folder's configuration names.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn ask(&self, arguments: &[&str]) -> Result<Result<String, String>, GitNotStarted> {
        Git::finish(self.command().args(arguments))
    }

    fn finish(command: &mut Command) -> Result<Result<String, String>, GitNotStarted> {
        let output = command.output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        Ok(if output.status.success() {
            Ok(text(&output.stdout))
        } else {
            Err(text(&output.stderr))
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        // The user's hooks must not run in a checkout that nobody works in.
        command
            .arg("-C")
            .arg(&self.folder)
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]);
        for name in OTHER_REPOSITORY {
            command.env_remove(name);
        }
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null());
        command
    }

    /// Returns the revision of the folder's files; `None` without git, a repository or a commit.
    /// Runs nothing that the folder names. Changes inside submodules do not count.
    pub fn revision(&self) -> Option<Revision> {
        let mut git = self.that_only_looks()?;
        let status = ["--untracked-files=no", "--ignore-submodules=dirty"];
        let changes = Git::finish(git.args(["status", "--porcelain"]).args(status))
            .ok()?
            .ok()?;
        let ask = |question: &[&str]| self.ask(question).ok()?.ok();
        Some(Revision {
            commit: ask(&["rev-parse", "--verify", "HEAD"])?,
            branch: ask(&["symbolic-ref", "--short", "--quiet", "HEAD"]),
            modified: !changes.is_empty(),
        })
    }

    /// Returns git that runs nothing that the repository's own configuration names: neither the
    /// filters with which it compares a file with what is stored, nor a program that fetches
    /// missing objects. Filters of the user and of the system remain.
    fn that_only_looks(&self) -> Option<Command> {
        let mut named = self.command();
        named.args([
            "config",
            "-z",
            "--show-scope",
            "--name-only",
            "--get-regexp",
            r"^filter\.",
        ]);
        let named = named.output().ok()?;
        // 1: there are none.
        if !matches!(named.status.code(), Some(0 | 1)) {
            return None;
        }
        let named = String::from_utf8(named.stdout).ok()?;
        let fields: Vec<&str> = named.split_terminator('\0').collect();
        let own = fields
            .chunks_exact(2)
            .filter(|pair| matches!(pair[0], "local" | "worktree"));
        let filters: BTreeSet<&str> = own.filter_map(|pair| Some(pair[1].rsplit_once('.')?.0)).collect();
        let mut command = self.command();
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "");
        // Variables, unlike `-c`, can have every name.
        let set_by_user = std::env::var("GIT_CONFIG_COUNT")
            .ok()
            .and_then(|count| count.parse().ok());
        let first: usize = set_by_user.unwrap_or(0);
        let disabled = filters
            .iter()
            .flat_map(|filter| FILTER_KEYS.map(|(key, value)| (format!("{filter}.{key}"), value)));
        let mut count = first;
        for (key, value) in disabled {
            command
                .env(format!("GIT_CONFIG_KEY_{count}"), key)
                .env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
        Some(command)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Utf8Path, arguments: &[&str]) {
        let author = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
        let done = Command::new("git")
            .current_dir(folder)
            .args(author)
            .args(arguments)
            .output()
            .expect("git");
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    fn folder() -> (tempfile::TempDir, camino::Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = camino::Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("UTF-8");
        (folder, path)
    }

    fn revision(folder: &Utf8Path) -> Option<Revision> {
        Git::in_folder(folder).revision()
    }

    #[test]
    fn a_folder_outside_a_repository_has_no_revision() {
        let (_kept, path) = folder();
        assert_eq!(revision(&path), None);
        assert_eq!(revision(&path.join("not_there")), None);
    }

    /// Everything that git may run to say whether a file is modified.
    #[test]
    fn a_revision_is_found_without_running_what_the_repository_names() {
        let (_kept, path) = folder();
        git(&path, &["init", "--quiet"]);
        let ran = path.join("ran");
        let names = [".gitattributes", "filtered", "processed", "odd"];
        for name in names {
            let filter = "filtered filter=plain\nprocessed filter=long.name\nodd filter=a=b\n";
            std::fs::write(path.join(name), if name == names[0] { filter } else { "1\n" }).expect("written");
        }
        git(&path, &[&["add"][..], &names].concat());
        git(&path, &["commit", "--quiet", "-m", "first"]);
        let program = format!("touch {ran}; cat");
        for (key, value) in [
            ("core.fsmonitor", &*program),
            ("filter.plain.clean", &program),
            ("filter.long.name.process", &program),
            ("filter.long.name.required", "true"),
            ("filter.a=b.clean", &program),
            ("filter.a=b.required", "true"),
            ("diff.external", &program),
            ("core.pager", &program),
            ("core.sshCommand", &program),
            ("core.alternateRefsCommand", &program),
            ("alias.status", &format!("!{program}")),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", &format!("ext::touch {ran}")),
            ("protocol.ext.allow", "always"),
            ("remote.origin.uploadpack", &program),
        ] {
            let set = Command::new("git")
                .current_dir(&path)
                .args(["config", key, value])
                .status();
            assert!(set.expect("git").success(), "{key}");
        }
        // A later time and other contents make git read the files.
        for name in names {
            std::fs::write(path.join(name), std::fs::read(path.join(name)).expect("read")).expect("written");
        }
        assert!(!revision(&path).expect("a revision").modified);
        assert!(!ran.exists(), "git ran something");
        std::fs::write(path.join("odd"), "2\n").expect("written");
        assert!(revision(&path).expect("a revision").modified);
        // A lost object, which git would fetch.
        let tree = Git::in_folder(&path)
            .ask(&["rev-parse", "HEAD^{tree}"])
            .expect("git")
            .expect("a tree");
        std::fs::remove_file(path.join(".git/objects").join(&tree[..2]).join(&tree[2..])).expect("it is there");
        assert_eq!(revision(&path), None);
        assert!(!ran.exists(), "git ran something to fetch an object");
    }

    #[test]
    fn a_revision_has_a_commit_a_branch_and_a_modified_flag() {
        let (_kept, path) = folder();
        git(&path, &["init", "--quiet", "--initial-branch", "trunk"]);
        assert_eq!(revision(&path), None, "there is no commit yet");
        std::fs::write(path.join("a"), "1").expect("written");
        git(&path, &["add", "a"]);
        git(&path, &["commit", "--quiet", "-m", "first"]);
        let clean = revision(&path).expect("a revision");
        assert_eq!((clean.branch.as_deref(), clean.modified), (Some("trunk"), false));
        assert_eq!(clean.short(), clean.commit[..9]);
        std::fs::write(path.join("untracked"), "1").expect("written");
        assert!(!revision(&path).expect("a revision").modified);
        std::fs::write(path.join("a"), "2").expect("written");
        git(&path, &["checkout", "--quiet", "--detach"]);
        let changed = revision(&path).expect("a revision");
        assert_eq!((changed.branch.as_deref(), changed.modified), (None, true));
        assert_eq!(changed.short(), format!("{}+", &clean.commit[..9]));
    }
}
