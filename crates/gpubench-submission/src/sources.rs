//! Submissions of texts that have no description: host code with a function to call.

use std::collections::BTreeSet;

use gpubench::catalog::{Source, SourceForm};

use crate::description::{Body, Compiler, Description, LibraryFunction};
use crate::entry_path::{self, from_folder_of};
use crate::error::ReadError;
use crate::include::with_headers;
use crate::kernels::Kernels;
use crate::limits::Limits;
use crate::name::Name;
use crate::position::Position;
use crate::submission::{Code, Submission};
use crate::tree::{Held, Tree};

/// Texts that are compiled together to one library.
#[derive(Clone, Copy, Debug)]
pub struct SourceTexts<'a> {
    /// Where they come from, for messages.
    pub shown: &'a str,
    /// Their paths, in one folder, and contents.
    pub files: &'a [(&'a str, &'a str)],
    /// The function that is called. The library exports it.
    pub function: &'a str,
}

/// The endings of files that are compiled. Others are only included.
const COMPILED: [&str; 6] = [".cu", ".cpp", ".cc", ".cxx", ".c++", ".c"];

/// The file that includes all that are compiled, if there are several.
const UNIT: &str = "gpubench_unit.cu";

impl Submission {
    /// Makes a submission of texts. Of several files that are compiled, one is made, which includes
    /// them in order.
    ///
    /// # Errors
    /// There is nothing to compile, the texts are too large, or a path leaves their folder.
    pub fn of_sources(name: Name, texts: &SourceTexts<'_>, limits: &Limits) -> Result<Submission, ReadError> {
        let SourceTexts { shown, files, function } = *texts;
        let mut tree = Tree::new(shown, &format!("{shown}:"));
        let mut compiled = Vec::new();
        for (path, text) in files {
            let inside = entry_path::inside(path.as_bytes()).map_err(|reason| ReadError::BadPath {
                path: shown.to_owned(),
                entry: entry_path::shown(path.as_bytes()),
                reason,
            });
            let inside = inside?.ok_or_else(|| ReadError::UnknownKind { path: shown.to_owned() })?;
            if COMPILED.iter().any(|ending| inside.ends_with(ending)) {
                compiled.push(inside.clone());
            }
            tree.add(inside, Held::Bytes(text.as_bytes().to_vec()), limits)?;
        }
        let main = match &compiled[..] {
            [] => return Err(ReadError::NoMainFile { path: shown.to_owned() }),
            [only] => only.clone(),
            several => {
                let included = not_included(&tree, several, files);
                let lines = included.iter().map(|path| format!("#include \"{path}\"\n"));
                let text: String = lines.collect();
                tree.add(UNIT.to_owned(), Held::Bytes(text.into_bytes()), limits)?;
                UNIT.to_owned()
            }
        };
        let text = tree.take_text(&main, "the text of a submission", limits.text)?;
        let source = Source {
            name: tree.shown_path(&main),
            form: SourceForm::Cuda,
            files: with_headers(&mut tree, main, text, &[], limits)?,
            options: Vec::new(),
        };
        let at = Position {
            file: shown.into(),
            line: 1,
            column: 1,
        };
        let body = Body::Library(LibraryFunction {
            function: function.to_owned(),
            synchronizes: true,
            arguments: None,
            at: at.clone(),
        });
        let description = Description {
            name: Some(name.clone()),
            file: None,
            options: Vec::new(),
            compiler: Compiler::Any,
            body,
            at,
            text: function.to_owned(),
        };
        Ok(Submission {
            name,
            code: Code::Kernels(source),
            description,
            kernels: Kernels::default(),
        })
    }
}

/// Returns the files that no other includes: a file that is compiled may be meant to be included.
fn not_included<'c>(tree: &Tree, compiled: &'c [String], files: &[(&str, &str)]) -> Vec<&'c String> {
    let mut included = BTreeSet::new();
    for (path, text) in files {
        for include in gpubench_declarations::includes(text) {
            if let gpubench_declarations::Include::Quoted(named) = include {
                included.extend(from_folder_of(path, named).filter(|named| tree.contains(named)));
            }
        }
    }
    let rest: Vec<&String> = compiled.iter().filter(|path| !included.contains(*path)).collect();
    if rest.is_empty() {
        compiled.iter().collect()
    } else {
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Result<Source, ReadError> {
        let texts = SourceTexts {
            shown: "s.json",
            files,
            function: "run",
        };
        let name = Name::new("s").expect("a name");
        let submission = Submission::of_sources(name, &texts, &Limits::default())?;
        Ok(submission.source().expect("a source").clone())
    }

    fn texts(source: &Source) -> Vec<(&str, std::borrow::Cow<'_, str>)> {
        let files = source.files.iter();
        files.map(|file| (file.path.as_str(), file.text())).collect()
    }

    #[test]
    fn one_file_is_compiled_with_its_headers() {
        let source = of(&[("kernel.cu", "#include \"k.h\"\n"), ("k.h", "int k;"), ("README", "x")]);
        let source = source.expect("a source");
        assert_eq!(source.name, "s.json:kernel.cu");
        let paths: Vec<&str> = texts(&source).iter().map(|(path, _)| *path).collect();
        assert_eq!(paths, ["kernel.cu", "k.h"]);
    }

    #[test]
    fn several_files_become_one_unit() {
        let files = [
            ("kernel.cu", "#include \"kernel.h\"\n#include \"detail.cu\"\n"),
            ("detail.cu", "int d;"),
            ("kernel.h", "#pragma once\n"),
            ("src/main.cpp", "#include \"../kernel.h\"\n"),
        ];
        let source = of(&files).expect("a source");
        let (main, text) = &texts(&source)[0];
        assert_eq!(
            (*main, &**text),
            (UNIT, "#include \"kernel.cu\"\n#include \"src/main.cpp\"\n")
        );
        assert_eq!(source.files.len(), 5);
    }

    #[test]
    fn nothing_outside_of_the_folder_is_read_and_something_must_be_compiled() {
        for files in [
            &[("../x.cu", "")][..],
            &[("/etc/x.cu", "")],
            &[("x.py", "")],
            &[("x.cu", "#include \"../../etc/passwd\"\n")],
            &[("x.cu", ""), ("./x.cu", "")],
            &[("gpubench_unit.cu", ""), ("x.cu", "")],
        ] {
            of(files).expect_err(files[0].0);
        }
    }
}
