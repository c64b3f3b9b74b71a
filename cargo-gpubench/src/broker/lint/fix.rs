//! `--fix`: writes tolerances that are neither too wide nor too strict.

use std::collections::BTreeMap;
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};

use super::Fixing;
use super::flaw::Flaw;
use super::place::value_of_literal;
use crate::git::{Git, GitNotStarted};
use gpubench_diagnostic::{ExitCode, Expected, Failure};

/// A line about a change.
#[derive(Debug, PartialEq)]
pub(super) struct FixLine {
    pub(super) word: &'static str,
    pub(super) text: String,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
enum FixError {
    #[error("`{file}` has changes that are not committed")]
    Dirty { file: Utf8PathBuf },
    #[error("`{file}` is not in a repository of git, which could restore it")]
    Unversioned { file: Utf8PathBuf },
    #[error("cannot ask git whether `{file}` has changed")]
    Git { file: Utf8PathBuf, source: GitNotStarted },
    #[error("`{file}` has changed while its problems were judged")]
    Changed { file: Utf8PathBuf },
    #[error("cannot write a tolerance to `{file}`")]
    Unwritten { file: Utf8PathBuf, source: std::io::Error },
}

impl Expected for FixError {
    fn exit_code(&self) -> ExitCode {
        match self {
            FixError::Dirty { .. } | FixError::Unversioned { .. } | FixError::Git { .. } | FixError::Changed { .. } => {
                ExitCode::Usage
            }
            FixError::Unwritten { .. } => ExitCode::OutputFailed,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            FixError::Dirty { .. } => Some("commit or stash them, or add `--allow-dirty`".to_owned()),
            FixError::Unversioned { .. } | FixError::Git { .. } => Some("add `--allow-dirty`".to_owned()),
            FixError::Changed { .. } => Some("run it again".to_owned()),
            FixError::Unwritten { .. } => None,
        }
    }
}

/// A number that replaces another.
#[derive(Clone, Debug, PartialEq)]
struct Edit {
    bytes: Range<usize>,
    /// The value now, and the power of ten that divides it.
    value: f64,
    shrink: i32,
    line: u32,
}

/// Changes the tolerances of flaws that a factor mends. Nothing is written unless all files can be
/// edited.
///
/// # Errors
/// A file has changes that git could not restore, or cannot be written.
pub(super) fn apply(flaws: &[Flaw], fixing: Fixing) -> Result<Vec<FixLine>, Failure> {
    let edits = edits(flaws);
    if fixing == Fixing::CleanFiles {
        for file in edits.keys() {
            refuse_dirty(file)?;
        }
    }
    let unwritten = |file: &Utf8Path, source| FixError::Unwritten {
        file: file.to_owned(),
        source,
    };
    let mut changes = Vec::new();
    for (file, edits) in edits {
        let text = fs_err::read_to_string(&file).map_err(|source| unwritten(&file, source))?;
        let changed = edited(&text, &file, edits).ok_or_else(|| FixError::Changed { file: file.clone() })?;
        changes.push((file, changed));
    }
    let mut lines = Vec::new();
    for (file, (changed, of_file)) in changes {
        fs_err::write(&file, changed).map_err(|source| unwritten(&file, source))?;
        lines.extend(of_file);
    }
    if lines.is_empty() {
        lines.push(FixLine {
            word: "Fixed",
            text: "nothing: no written tolerance can be derived".to_owned(),
        });
    }
    Ok(lines)
}

fn edits(flaws: &[Flaw]) -> BTreeMap<Utf8PathBuf, Vec<Edit>> {
    let mut edits: BTreeMap<Utf8PathBuf, Vec<Edit>> = BTreeMap::new();
    for flaw in flaws {
        let (Some(attribute), Some(shrink), Some(numbers)) = (&flaw.attribute, flaw.shrink, flaw.numbers()) else {
            continue;
        };
        let of_file = edits.entry(attribute.file.clone()).or_default();
        for (value, bytes) in [&numbers.rtol, &numbers.atol].into_iter().flatten() {
            match of_file.iter_mut().find(|other| other.bytes == *bytes) {
                // Two outputs have it: both must be mended.
                Some(other) if other.shrink.signum() == shrink.signum() => {
                    other.shrink = if shrink > 0 {
                        other.shrink.max(shrink)
                    } else {
                        other.shrink.min(shrink)
                    };
                }
                Some(other) => other.shrink = 0,
                None if *value == 0.0 => {}
                None => of_file.push(Edit {
                    bytes: bytes.clone(),
                    value: *value,
                    shrink,
                    line: attribute.line,
                }),
            }
        }
    }
    edits.retain(|_, of_file| {
        of_file.retain(|edit| edit.shrink != 0);
        !of_file.is_empty()
    });
    edits
}

/// Returns the text with the edits, and a line about each. `None` if it does not have the numbers.
fn edited(text: &str, file: &Utf8Path, mut edits: Vec<Edit>) -> Option<(String, Vec<FixLine>)> {
    edits.sort_by_key(|edit| edit.bytes.start);
    let (mut changed, mut copied, mut lines) = (String::new(), 0, Vec::new());
    for edit in edits {
        let value = edit.value * 10f64.powi(-edit.shrink);
        let value: f64 = format!("{value:.5e}").parse().unwrap_or(value);
        let new = format!("{value:e}");
        let old = text.get(edit.bytes.clone())?;
        value_of_literal(old).filter(|value| *value == edit.value)?;
        lines.push(FixLine {
            word: "Fixed",
            text: format!("{file}:{}: {old} is {new} now", edit.line),
        });
        changed += &text[copied..edit.bytes.start];
        changed += &new;
        copied = edit.bytes.end;
    }
    Some((changed + &text[copied..], lines))
}

fn refuse_dirty(file: &Utf8Path) -> Result<(), FixError> {
    let file = || file.to_owned();
    // A link is clean whatever happens to the file.
    let owned = file().canonicalize_utf8().unwrap_or_else(|_| file());
    let folder = owned.parent().unwrap_or(Utf8Path::new("."));
    let answer = Git::in_folder(folder).ask(&["status", "--porcelain", "--ignored", "--", owned.as_str()]);
    match answer.map_err(|source| FixError::Git { file: file(), source })? {
        Ok(changes) if changes.is_empty() => Ok(()),
        Ok(_) => Err(FixError::Dirty { file: file() }),
        Err(_) => Err(FixError::Unversioned { file: file() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_numbers_change() {
        let text = "tolerance(rtol = 2e-2, /* µ */ atol = 0.005)";
        let edit = |literal: &str, value, shrink| {
            let start = text.find(literal).expect("a literal");
            Edit {
                bytes: start..start + literal.len(),
                value,
                shrink,
                line: 3,
            }
        };
        let edits = vec![edit("0.005", 0.005, 2), edit("2e-2", 2e-2, 2)];
        let again = edits.clone();
        let (changed, lines) = edited(text, Utf8Path::new("a.rs"), edits).expect("it has the numbers");
        assert_eq!(changed, "tolerance(rtol = 2e-4, /* µ */ atol = 5e-5)");
        let lines: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(lines, ["a.rs:3: 2e-2 is 2e-4 now", "a.rs:3: 0.005 is 5e-5 now"]);
        for other in [&text[1..], "", "tolerance(rtol = ääääääääääääääääääääää"] {
            assert_eq!(edited(other, Utf8Path::new("a.rs"), again.clone()), None, "{other}");
        }
    }

    #[test]
    fn a_file_that_git_cannot_restore_is_not_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Utf8Path::from_path(folder.path()).expect("UTF-8").join("a.rs");
        fs_err::write(&file, "").expect("written");
        assert!(matches!(refuse_dirty(&file), Err(FixError::Unversioned { .. })));
        let git = |words: &[&str]| {
            let done = Git::in_folder(file.parent().expect("a folder")).ask(words);
            done.expect("git").expect("it succeeds")
        };
        git(&["init", "-q"]);
        assert!(matches!(refuse_dirty(&file), Err(FixError::Dirty { .. })));
        git(&["add", "a.rs"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]);
        refuse_dirty(&file).expect("it is clean");
        let outside = tempfile::tempdir().expect("a folder");
        let target = outside.path().join("b.rs");
        fs_err::write(&target, "").expect("written");
        fs_err::os::unix::fs::symlink(&target, file.with_file_name("link.rs")).expect("a link");
        git(&["add", "link.rs"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "b"]);
        let link = refuse_dirty(&file.with_file_name("link.rs"));
        assert!(matches!(link, Err(FixError::Unversioned { .. })), "{link:?}");
        fs_err::write(&file, "x").expect("written");
        assert!(matches!(refuse_dirty(&file), Err(FixError::Dirty { .. })));
    }
}
