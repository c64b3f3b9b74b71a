//! The files of a submission on their way to another machine.

use std::io::Read;
use std::path::Path;

use crate::entry_path;
use crate::error::ReadError;
use crate::limits::Limits;
use crate::submission::{STANDARD_INPUT, Submission, bytes_of, of_tree, tree_at, tree_of};
use crate::tree::{Held, Tree};

/// The files of a submission that belong to it, as they were read. Another machine makes the same
/// submission of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The file, folder or tarball, as messages show it.
    pub shown: String,
    /// What messages put before the path of a file.
    pub prefix: String,
    /// The name of the submission, if its description has none.
    pub stem: String,
    /// The paths and contents of its files.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Packed {
    /// Reads the files of a submission, and checks that they are one.
    ///
    /// # Errors
    /// As [`Submission::read`].
    pub fn read(path: &Path, limits: &Limits) -> Result<Packed, ReadError> {
        let (tree, stem) = tree_at(path, limits)?;
        Packed::of(tree, stem, limits)
    }

    /// Reads a submission from standard input: a tarball, or a `.cu` or `.ptx` file.
    ///
    /// # Errors
    /// As [`Submission::read`].
    pub fn from_reader(input: impl Read, limits: &Limits) -> Result<Packed, ReadError> {
        let tree = tree_of(bytes_of(input, limits)?, limits)?;
        Packed::of(tree, STANDARD_INPUT.to_owned(), limits)
    }

    fn of(tree: Tree, stem: String, limits: &Limits) -> Result<Packed, ReadError> {
        let mut tree = tree.keeping_taken();
        of_tree(&mut tree, &stem, limits)?;
        let shown = tree.shown.clone();
        let (prefix, files) = tree.into_taken();
        Ok(Packed {
            shown,
            prefix,
            stem,
            files,
        })
    }

    /// Returns the submission.
    ///
    /// # Errors
    /// As [`Submission::read`]: the limits may be others than where the files were read.
    pub fn submission(&self, limits: &Limits) -> Result<Submission, ReadError> {
        let mut tree = Tree::new(&self.shown, &self.prefix);
        for (path, contents) in &self.files {
            let bad = |reason| ReadError::BadPath {
                path: self.shown.clone(),
                entry: entry_path::shown(path.as_bytes()),
                reason,
            };
            entry_path::inside(path.as_bytes()).map_err(bad)?;
            tree.add(path.clone(), Held::Bytes(contents.clone()), limits)?;
        }
        of_tree(&mut tree, &self.stem, limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str =
        "/* gpubench\ngrid = 1\nblock = 32\n*/\n#include \"lib/part.h\"\n__global__ void fill(float *out) { }\n";

    #[test]
    fn a_packed_submission_is_the_same_on_another_machine() {
        let folder = tempfile::tempdir().expect("a folder");
        let submission = folder.path().join("fast");
        std::fs::create_dir_all(submission.join("lib")).expect("a folder");
        std::fs::write(submission.join("main.cu"), KERNEL).expect("a file");
        std::fs::write(submission.join("lib/part.h"), "#pragma once\n").expect("a file");
        std::fs::write(submission.join("notes.md"), "no part of it").expect("a file");
        let limits = Limits::default();
        let packed = Packed::read(&submission, &limits).expect("a submission");
        let paths: Vec<&str> = packed.files.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths, ["main.cu", "lib/part.h"]);
        let here = Submission::read(&submission, &limits).expect("a submission");
        std::fs::remove_dir_all(&submission).expect("it is removed");
        let there = packed.submission(&limits).expect("a submission");
        assert_eq!((there.name, there.code), (here.name, here.code));
        assert_eq!(there.description, here.description);
    }

    #[test]
    fn standard_input_is_packed_too() {
        let text = KERNEL.replace("#include \"lib/part.h\"\n", "");
        let packed = Packed::from_reader(text.as_bytes(), &Limits::default()).expect("a submission");
        let there = packed.submission(&Limits::default()).expect("a submission");
        assert_eq!(there.name.to_string(), "submission");
    }

    #[test]
    fn paths_that_leave_the_submission_and_smaller_limits_are_refused() {
        let text = KERNEL.replace("#include \"lib/part.h\"\n", "");
        let packed = Packed::from_reader(text.as_bytes(), &Limits::default()).expect("a submission");
        let small = Limits {
            text: 8,
            ..Limits::default()
        };
        assert!(packed.submission(&small).is_err());
        for path in ["../main.cu", "/main.cu", ""] {
            let mut other = packed.clone();
            other.files[0].0 = path.to_owned();
            assert!(other.submission(&Limits::default()).is_err(), "{path}");
        }
    }

    #[test]
    fn a_path_that_a_tarball_could_not_have_is_refused_in_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = (0..5).fold(folder.path().join("fast"), |path, _| path.join("d".repeat(250)));
        std::fs::create_dir_all(&deep).expect("folders");
        std::fs::write(folder.path().join("fast/main.cu"), KERNEL).expect("a file");
        std::fs::write(deep.join("part.h"), "").expect("a file");
        let read = Submission::read(&folder.path().join("fast"), &Limits::default());
        assert!(matches!(read, Err(ReadError::BadPath { .. })), "{read:?}");
    }
}
