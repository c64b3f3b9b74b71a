//! The headers that a source includes from its own folder.

use std::collections::BTreeSet;

use gpubench::catalog::SourceFile;
use gpubench_declarations::{Include, includes};

use crate::entry_path::{self, from_folder_of, joined};
use crate::error::ReadError;
use crate::limits::Limits;
use crate::tree::Tree;

/// Spellings of the option for a folder of headers.
const FOLDER_OPTIONS: [&str; 2] = ["-I", "--include-path"];

/// Returns the folders of headers that options name, in order.
pub(crate) fn include_folders(options: &[String]) -> Vec<&str> {
    let mut folders = Vec::new();
    let mut rest = options.iter().map(String::as_str);
    while let Some(option) = rest.next() {
        if FOLDER_OPTIONS.contains(&option) {
            folders.extend(rest.next());
        } else if let Some(folder) = option.strip_prefix("--include-path=") {
            folders.push(folder);
        } else if let Some(folder) = option.strip_prefix("-I") {
            folders.push(folder);
        }
    }
    folders
}

/// Returns the path that a line includes, and the one that starts in the folder of its file.
fn written(include: Include<'_>) -> (&str, bool) {
    match include {
        Include::Quoted(path) => (path, true),
        Include::Angled(path) => (path, false),
    }
}

/// Refuses a path that can only be of a file of somebody else: an absolute one, or one that leaves
/// the submission. The compiler must still be confined, since macros can include such files too.
fn refuse_outside(shown: &str, file: &str, include: Include<'_>) -> Result<(), ReadError> {
    let (path, is_quoted) = written(include);
    let is_outside = path.starts_with('/') || is_quoted && from_folder_of(file, path).is_none();
    if !is_outside {
        return Ok(());
    }
    Err(ReadError::IncludeOutside {
        path: shown.to_owned(),
        header: entry_path::shown(path.as_bytes()),
    })
}

/// Returns the main file, whose text is already read, and every file of the tree that it includes,
/// each once. What is not there is left to the compiler: a header of the toolkit, or a line that
/// the preprocessor skips.
///
/// # Errors
/// A file cannot be read, is no text, or includes one outside of the submission, or all of them are
/// too long.
pub(crate) fn with_headers(
    tree: &mut Tree,
    main: String,
    text: String,
    options: &[String],
    limits: &Limits,
) -> Result<Vec<SourceFile>, ReadError> {
    let folders: Vec<String> = include_folders(options)
        .into_iter()
        .filter_map(|folder| joined("", folder))
        .collect();
    let mut left = limits.text.saturating_sub(text.len() as u64);
    let mut seen = BTreeSet::from([main.clone()]);
    let mut files = vec![(main, text)];
    let mut next = 0;
    while let Some((path, text)) = files.get(next) {
        next += 1;
        let mut found = Vec::new();
        // A line that is repeated costs a look-up in a set.
        for include in includes(text).collect::<Vec<_>>() {
            refuse_outside(&tree.shown_path(path), path, include)?;
            let (named, is_quoted) = written(include);
            let in_its_folder = from_folder_of(path, named).filter(|_| is_quoted);
            let in_folders = folders.iter().filter_map(|folder| joined(folder, named));
            let header = in_its_folder.into_iter().chain(in_folders).find(|path| {
                let path: &str = path;
                seen.contains(path) || tree.contains(path)
            });
            found.extend(header.filter(|path| seen.insert(path.clone())));
        }
        for header in found {
            let text = tree.take_text(&header, "the text of a submission", left);
            // The limit is one for all texts.
            let text = text.map_err(|error| match error {
                ReadError::Large { path, what, .. } => ReadError::Large {
                    path,
                    what,
                    most: limits.text,
                },
                other => other,
            })?;
            left -= text.len() as u64;
            files.push((header, text));
        }
    }
    let files = files.into_iter().map(|(path, text)| SourceFile {
        path,
        contents: text.into_bytes(),
    });
    Ok(files.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Held;

    fn options(options: &[&str]) -> Vec<String> {
        options.iter().map(|&option| option.to_owned()).collect()
    }

    fn collected(files: &[(&str, &str)], flags: &[&str], limits: &Limits) -> Result<Vec<String>, ReadError> {
        let mut tree = Tree::new("x", "x/");
        for (path, text) in files {
            tree.add((*path).to_owned(), Held::Bytes(text.as_bytes().to_vec()), limits)?;
        }
        let (main, text) = (files[0].0, files[0].1);
        let files = with_headers(&mut tree, main.to_owned(), text.to_owned(), &options(flags), limits)?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    #[test]
    fn headers_are_collected_transitively_and_once() {
        let files = [
            (
                "src/k.cu",
                "#include \"a.cuh\"\n#include \"missing.h\"\n#include \"a.cuh\"\n",
            ),
            ("src/a.cuh", "#include \"../inc/b.cuh\"\n#include \"k.cu\"\n"),
            ("inc/b.cuh", "#include \"b.cuh\"\n#include <c.cuh>"),
            ("lib/c.cuh", ""),
            ("src/unused.cuh", ""),
        ];
        let expected = ["src/k.cu", "src/a.cuh", "inc/b.cuh"];
        assert_eq!(collected(&files, &[], &Limits::default()).unwrap(), expected);
        let with_folder = collected(&files, &["-DX", "-I", "lib"], &Limits::default()).unwrap();
        assert_eq!(with_folder, ["src/k.cu", "src/a.cuh", "inc/b.cuh", "lib/c.cuh"]);
    }

    #[test]
    fn nothing_outside_of_the_folder_is_included() {
        for line in [
            "#include \"../k2.cu\"",
            "#include \"/etc/passwd\"",
            "#include </etc/passwd>",
            "#include \"a/../../k2.cu\"",
        ] {
            let error = collected(&[("k.cu", line)], &[], &Limits::default()).expect_err(line);
            assert!(matches!(error, ReadError::IncludeOutside { .. }), "{error}");
        }
        let files = [("k.cu", "#include <../x.h>"), ("x.h", "")];
        assert_eq!(
            collected(&files, &["-I/etc", "-I.."], &Limits::default()).unwrap(),
            ["k.cu"]
        );
    }

    #[test]
    fn all_texts_together_have_a_limit() {
        let limits = Limits {
            text: 40,
            ..Limits::default()
        };
        let long = "x".repeat(30);
        let error = collected(&[("k.cu", "#include \"a.cuh\""), ("a.cuh", &long)], &[], &limits).unwrap_err();
        assert!(matches!(error, ReadError::Large { .. }), "{error}");
    }

    #[test]
    fn folders_of_headers_are_named_in_every_spelling() {
        let options = options(&[
            "-Iinclude",
            "-I",
            "a",
            "--include-path=b",
            "--include-path",
            "c",
            "-DI=1",
            "-I",
        ]);
        assert_eq!(include_folders(&options), ["include", "a", "b", "c"]);
    }
}
