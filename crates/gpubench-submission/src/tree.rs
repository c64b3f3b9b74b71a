//! The files of a submission by their paths. Nothing of it is written anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use gpubench_diagnostic::AtMost;

use crate::beneath::open_file;
use crate::error::ReadError;
use crate::limits::Limits;

/// The files of a folder or tarball, or a single file.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The file, folder or tarball, as messages show it.
    pub(crate) shown: String,
    /// What is put before a path in messages.
    prefix: String,
    files: BTreeMap<String, Held>,
    folders: BTreeSet<String>,
    /// What was taken, if it is kept.
    taken: Option<Vec<(String, Vec<u8>)>>,
}

/// Where a file's contents are.
#[derive(Debug)]
pub(crate) enum Held {
    /// In memory.
    Bytes(Vec<u8>),
    /// Below a folder of the disk.
    Disk {
        /// The folder.
        root: Arc<OwnedFd>,
        /// The path below it.
        path: String,
    },
}

impl Tree {
    /// Returns a tree without files. Messages show its paths after `prefix`.
    pub(crate) fn new(shown: &str, prefix: &str) -> Tree {
        Tree {
            shown: shown.to_owned(),
            prefix: prefix.to_owned(),
            files: BTreeMap::new(),
            folders: BTreeSet::new(),
            taken: None,
        }
    }

    /// Keeps a copy of what is taken from now on.
    pub(crate) fn keeping_taken(self) -> Tree {
        Tree {
            taken: Some(Vec::new()),
            ..self
        }
    }

    /// Returns the prefix of messages and the copies of what was taken.
    pub(crate) fn into_taken(self) -> (String, Vec<(String, Vec<u8>)>) {
        (self.prefix, self.taken.unwrap_or_default())
    }

    /// Adds a file. Its path is one of [`inside`](crate::entry_path::inside).
    ///
    /// # Errors
    /// It is there already, a file is where it needs a folder, or there are too many.
    pub(crate) fn add(&mut self, path: String, held: Held, limits: &Limits) -> Result<(), ReadError> {
        let parent = path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        if let Some(folder) = parent {
            self.add_folder(&folder, limits)?;
        }
        if self.files.contains_key(&path) || self.folders.contains(&path) {
            return Err(self.twice(&path));
        }
        self.files.insert(path, held);
        self.refuse_many(limits)
    }

    /// Adds a folder, and those that it is in.
    ///
    /// # Errors
    /// A file is there, or there are too many or too deep ones.
    pub(crate) fn add_folder(&mut self, path: &str, limits: &Limits) -> Result<(), ReadError> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for (depth, end) in (1..).zip(ends) {
            let folder = &path[..end];
            if self.files.contains_key(folder) {
                return Err(self.twice(folder));
            }
            if depth > limits.depth {
                let (path, most) = (self.shown.clone(), limits.depth);
                return Err(ReadError::Deep { path, most });
            }
            if self.folders.insert(folder.to_owned()) {
                self.refuse_many(limits)?;
            }
        }
        Ok(())
    }

    fn twice(&self, entry: &str) -> ReadError {
        let (path, entry) = (self.shown.clone(), entry.to_owned());
        ReadError::Twice { path, entry }
    }

    fn refuse_many(&self, limits: &Limits) -> Result<(), ReadError> {
        let most = limits.entries;
        if self.files.len() + self.folders.len() <= most {
            Ok(())
        } else {
            let path = self.shown.clone();
            Err(ReadError::ManyEntries { path, most })
        }
    }

    /// Drops the folder that everything is in, if there is one.
    pub(crate) fn without_common_folder(mut self) -> Tree {
        let first = self.files.keys().next().and_then(|path| path.split_once('/'));
        let Some(common) = first.map(|(folder, _)| format!("{folder}/")) else {
            return self;
        };
        if self.files.keys().all(|path| path.starts_with(&common)) {
            let strip = |path: &str| path[common.len()..].to_owned();
            self.files = self
                .files
                .into_iter()
                .map(|(path, held)| (strip(&path), held))
                .collect();
            self.prefix = format!("{}{common}", self.prefix);
        }
        self
    }

    /// Returns a path as messages show it.
    pub(crate) fn shown_path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Returns the paths, in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Takes the contents of a file of at most `most` bytes.
    ///
    /// # Errors
    /// There is no such file, it is longer, or it cannot be read.
    pub(crate) fn take(&mut self, path: &str, what: &'static str, most: u64) -> Result<Vec<u8>, ReadError> {
        let shown = self.shown_path(path);
        let held = self.files.remove(path);
        let missing = || ReadError::io(&shown)(std::io::ErrorKind::NotFound.into());
        let bytes = match held.ok_or_else(missing)? {
            Held::Bytes(bytes) if bytes.len() as u64 > most => {
                let path = shown;
                return Err(ReadError::Large { path, what, most });
            }
            Held::Bytes(bytes) => bytes,
            Held::Disk { root, path } => {
                let file = open_file(&root, &path).map_err(ReadError::io(&shown))?;
                let mut bytes = Vec::new();
                let read = AtMost::new(file, most).read_to_end(&mut bytes);
                read.map_err(ReadError::io_at_most(&shown, what, most))?;
                bytes
            }
        };
        if let Some(taken) = &mut self.taken {
            taken.push((path.to_owned(), bytes.clone()));
        }
        Ok(bytes)
    }

    /// Takes the text of a file of at most `most` bytes.
    ///
    /// # Errors
    /// As [`Tree::take`], or it is not UTF-8.
    pub(crate) fn take_text(&mut self, path: &str, what: &'static str, most: u64) -> Result<String, ReadError> {
        let bytes = self.take(path, what, most)?;
        String::from_utf8(bytes).map_err(|_| ReadError::NotUtf8 {
            path: self.shown_path(path),
        })
    }
}
