//! A submission: its name, its code and its description.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

use gpubench::catalog::{Source, SourceFile, SourceForm};
use gpubench_declarations::{Include, includes};
use gpubench_diagnostic::{AtMost, open_regular, open_regular_link_refused, read_at_most};

use crate::comment;
use crate::description::{Body, Compiler, Description, Step};
use crate::entry_path;
use crate::error::ReadError;
use crate::folder;
use crate::grammar;
use crate::include::with_headers;
use crate::kernels::{Kernels, Which};
use crate::limits::Limits;
use crate::main_file::{Kind, main_file};
use crate::mistake::{Mistake, What};
use crate::name::Name;
use crate::position::{Position, Text};
use crate::tarball;
use crate::tree::{Held, Tree};

/// The file of a folder that describes it.
const DESCRIPTION: &str = "submission.toml";

/// The stem of a submission that comes over standard input.
pub(crate) const STANDARD_INPUT: &str = "submission";

/// A submission to a problem. Nothing of it was run.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Its name: that of its description, or of its file.
    pub name: Name,
    /// Its code.
    pub code: Code,
    /// How its code is launched.
    pub description: Description,
    pub(crate) kernels: Kernels,
}

/// The code of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// Kernels, as text or compiled.
    Kernels(Source),
    /// A shared library of host code.
    Library {
        /// The file, as messages show it.
        file: String,
        /// Its bytes.
        contents: Vec<u8>,
    },
}

/// The endings of tarballs.
const TARBALLS: [&str; 3] = [".tar.gz", ".tgz", ".tar"];

impl Submission {
    /// Reads a submission from a file, a folder or a tarball.
    ///
    /// # Errors
    /// It cannot be read, is too large or not a submission, or its description has a mistake.
    pub fn read(path: &Path, limits: &Limits) -> Result<Submission, ReadError> {
        let (mut tree, stem) = tree_at(path, limits)?;
        of_tree(&mut tree, &stem, limits)
    }

    /// Reads a submission from standard input: a tarball, or a `.cu` or `.ptx` file.
    ///
    /// # Errors
    /// As [`Submission::read`].
    pub fn from_reader(input: impl Read, limits: &Limits) -> Result<Submission, ReadError> {
        Submission::from_bytes(bytes_of(input, limits)?, limits)
    }

    /// Reads the bytes of a submission, as [`Submission::from_reader`].
    ///
    /// # Errors
    /// As [`Submission::read`].
    pub fn from_bytes(bytes: Vec<u8>, limits: &Limits) -> Result<Submission, ReadError> {
        let mut tree = tree_of(bytes, limits)?;
        of_tree(&mut tree, STANDARD_INPUT, limits)
    }

    /// Returns the source of its kernels. A library has none.
    pub fn source(&self) -> Option<&Source> {
        match &self.code {
            Code::Kernels(source) => Some(source),
            Code::Library { .. } => None,
        }
    }
}

/// Returns the files of a submission, and its name without an ending.
pub(crate) fn tree_at(path: &Path, limits: &Limits) -> Result<(Tree, String), ReadError> {
    let shown = entry_path::shown(path.as_os_str().as_encoded_bytes());
    let about = fs::metadata(path).map_err(ReadError::io(&shown))?;
    let file = file_name(path);
    if about.is_dir() {
        return Ok((folder::read(path, &shown, limits)?, file));
    }
    if let Some(stem) = TARBALLS.iter().find_map(|ending| file.strip_suffix(ending)) {
        let what = "a tarball";
        let bytes = read_at_most(path, limits.total).map_err(ReadError::io_at_most(&shown, what, limits.total))?;
        if !tarball::is_tarball(&bytes) {
            return Err(ReadError::WrongContents {
                path: shown,
                expected: what,
            });
        }
        return Ok((tarball::read(&bytes, &shown, limits)?, stem.to_owned()));
    }
    if Kind::of_name(&file).is_none() {
        return Err(ReadError::UnknownKind { path: shown });
    }
    Ok((of_file(path, &shown, &file, limits)?, stem(&file).to_owned()))
}

/// Reads all of an input, if it is not too long.
pub(crate) fn bytes_of(input: impl Read, limits: &Limits) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let read = AtMost::new(input, limits.total).read_to_end(&mut bytes);
    read.map_err(ReadError::io_at_most("standard input", "standard input", limits.total))?;
    Ok(bytes)
}

/// Returns the files of a submission that is a tarball or a text.
pub(crate) fn tree_of(bytes: Vec<u8>, limits: &Limits) -> Result<Tree, ReadError> {
    let shown = "standard input";
    if tarball::is_tarball(&bytes) {
        return tarball::read(&bytes, shown, limits);
    }
    let path = match SourceForm::of_image(&bytes) {
        SourceForm::Cuda | SourceForm::CudaForNvcc => "submission.cu",
        SourceForm::Ptx if bytes.windows(6).any(|word| word == b".entry") => "submission.ptx",
        // Without a kernel: the message says so.
        SourceForm::Ptx => "submission.cu",
        SourceForm::Cubin | SourceForm::Fatbin => {
            let path = shown.to_owned();
            return Err(ReadError::UnknownKind { path });
        }
    };
    let mut tree = Tree::new(shown, "standard input:");
    tree.add(path.to_owned(), Held::Bytes(bytes), limits)?;
    Ok(tree)
}

/// Returns the name of a file or folder. That of `.` is the folder's own.
fn file_name(path: &Path) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let resolved = || path.canonicalize().ok().and_then(|path| name(&path));
    name(path)
        .or_else(resolved)
        .unwrap_or_else(|| STANDARD_INPUT.to_owned())
}

/// Returns a file's name without its last ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Reads a file that is a submission by itself, and the description next to it.
fn of_file(path: &Path, shown: &str, file: &str, limits: &Limits) -> Result<Tree, ReadError> {
    let bad = |reason| ReadError::BadPath {
        path: shown.to_owned(),
        entry: entry_path::shown(file.as_bytes()),
        reason,
    };
    entry_path::inside(file.as_bytes()).map_err(bad)?;
    // Messages name the files as the user does.
    let folder = path.parent().map(|folder| folder.as_os_str().as_encoded_bytes());
    let prefix = match folder {
        None | Some(b"") => String::new(),
        Some(b"/") => "/".to_owned(),
        Some(folder) => format!("{}/", entry_path::shown(folder)),
    };
    let mut tree = Tree::new(shown, &prefix);
    let is_text = Kind::of_name(file).is_some_and(Kind::is_text);
    let most = if is_text { limits.text } else { limits.total };
    let bytes = read_at_most(path, most).map_err(ReadError::io_at_most(shown, "a file", most))?;
    let description = path.with_extension("toml");
    if fs::symlink_metadata(&description).is_ok() {
        let name = format!("{}.toml", stem(file));
        let about = ReadError::io_at_most(&format!("{prefix}{name}"), "a description", limits.description as u64);
        // Who wrote the submission may have put a link there.
        let file = open_regular_link_refused(&description).map_err(&about)?;
        let mut contents = Vec::new();
        AtMost::new(file, limits.description as u64)
            .read_to_end(&mut contents)
            .map_err(about)?;
        tree.add(name, Held::Bytes(contents), limits)?;
    }
    if let Some(header) = header_of_others(path, &bytes) {
        let path = shown.to_owned();
        return Err(ReadError::OthersHeader { path, header });
    }
    tree.add(file.to_owned(), Held::Bytes(bytes), limits)?;
    Ok(tree)
}

/// Most included files that are looked for next to a file.
const MOST_LOOKED_FOR: usize = 1024;

/// Returns a header that a file includes and that is next to it. It may be of somebody else: a
/// judge keeps the submissions of many people in one folder.
fn header_of_others(path: &Path, bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let folder = path.parent()?;
    let mut quoted = includes(text).filter_map(|include| match include {
        Include::Quoted(named) => Some(named),
        Include::Angled(_) => None,
    });
    let is_there = |named: &&str| {
        let inside = entry_path::joined("", named);
        inside.is_some_and(|inside| open_regular(folder.join(inside)).is_ok())
    };
    quoted
        .by_ref()
        .take(MOST_LOOKED_FOR)
        .find(is_there)
        .map(|named| entry_path::shown(named.as_bytes()))
}

/// Makes a submission of its files.
pub(crate) fn of_tree(tree: &mut Tree, stem_of_all: &str, limits: &Limits) -> Result<Submission, ReadError> {
    let path = tree.shown.clone();
    let in_file = if tree.contains(DESCRIPTION) {
        Some(described_by(tree, DESCRIPTION, limits)?)
    } else {
        None
    };
    let named = in_file.as_ref().and_then(|(_, description)| description.file.clone());
    let main = main_file(tree, named.as_ref())?;
    let kind = Kind::of_name(&main).ok_or_else(|| ReadError::NoMainFile { path: path.clone() })?;
    let of_main = match main.rsplit_once('.') {
        Some((stem, _)) => format!("{stem}.toml"),
        None => String::new(),
    };
    let of_main = if of_main != DESCRIPTION && tree.contains(&of_main) {
        Some(described_by(tree, &of_main, limits)?)
    } else {
        None
    };
    let shown = tree.shown_path(&main);
    let mut described: Vec<(String, Description)> = in_file.into_iter().chain(of_main).collect();
    let contents = if kind.is_text() {
        let text = tree.take_text(&main, "the text of a submission", limits.text)?;
        let whole = Text::of_file(&shown, &text);
        for part in comment::descriptions(&whole) {
            let at = part.position(0);
            let description = grammar::description(&part, limits.description)?;
            described.push((format!("the comment at {}", at.of_line()), description));
        }
        text.into_bytes()
    } else {
        tree.take(&main, "compiled code", limits.total)?
    };
    if let Some((magic, expected)) = kind.magic()
        && !contents.starts_with(magic)
    {
        return Err(ReadError::WrongContents { path: shown, expected });
    }
    let description = match <[_; 1]>::try_from(described) {
        Ok([(_, description)]) => description,
        Err(several) => match several.as_slice() {
            [(one, _), (other, _), ..] => {
                let (one, other) = (one.clone(), other.clone());
                return Err(ReadError::DescribedTwice { path, one, other });
            }
            _ if kind == Kind::Library => nothing_said(&shown),
            _ => return Err(ReadError::NotDescribed { path: shown }),
        },
    };
    if let (Some(file), None) = (&description.file, &named) {
        let what = What::Rule("only `submission.toml` names a file");
        return Err(Mistake::new(file.at.clone(), what).into());
    }
    let name = match &description.name {
        Some(name) => name.clone(),
        None => Name::new(stem_of_all).map_err(|source| ReadError::Name { path, source })?,
    };
    let (code, kernels) = match kind {
        Kind::Library => {
            refuse_kernels_of_a_library(&description)?;
            let code = Code::Library { file: shown, contents };
            (code, Kernels::default())
        }
        Kind::Kernels(form) => {
            let source = source(tree, form, main, contents, &description, limits)?;
            let kernels = checked_kernels(&source, &description)?;
            (Code::Kernels(source), kernels)
        }
    };
    Ok(Submission {
        name,
        code,
        description,
        kernels,
    })
}

/// Reads a file that describes the submission, and returns how messages name it.
fn described_by(tree: &mut Tree, path: &str, limits: &Limits) -> Result<(String, Description), ReadError> {
    let shown = tree.shown_path(path);
    let text = tree.take_text(path, "a description", limits.description as u64)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let description = grammar::description(&Text::of_file(&shown, text), limits.description)?;
    Ok((format!("`{shown}`"), description))
}

/// The description of a library that comes without one: it has the function `solution`.
fn nothing_said(shown: &str) -> Description {
    Description {
        name: None,
        file: None,
        options: Vec::new(),
        compiler: Compiler::Any,
        body: Body::Nothing,
        text: String::new(),
        at: Position {
            file: shown.into(),
            line: 1,
            column: 1,
        },
    }
}

fn refuse_kernels_of_a_library(description: &Description) -> Result<(), Mistake> {
    let rule = match &description.body {
        Body::Library(_) | Body::Nothing => return Ok(()),
        Body::Steps(_) => "a shared library is called, not launched: describe it with `[library]`",
    };
    Err(Mistake::new(description.at.clone(), What::Rule(rule)))
}

fn source(
    tree: &mut Tree,
    form: SourceForm,
    main: String,
    contents: Vec<u8>,
    description: &Description,
    limits: &Limits,
) -> Result<Source, ReadError> {
    let rule = match (&description.body, form) {
        // Its host code is compiled to a library.
        (Body::Library(_), SourceForm::Cuda) => None,
        (Body::Library(_), _) => Some("`[library]` needs a shared library or CUDA C++, and these are compiled kernels"),
        (Body::Nothing, _) => Some("it says nothing of the launch (hint: `grid` and `block`, or `[[step]]`)"),
        (Body::Steps(_), SourceForm::Cuda) => None,
        (Body::Steps(_), _) if !description.options.is_empty() => {
            Some("`options` are for a compiler, and this code is compiled")
        }
        (Body::Steps(_), _) if description.compiler == Compiler::Nvcc => {
            Some("`compiler` is for CUDA C++, and this code is compiled")
        }
        (Body::Steps(_), _) => None,
    };
    if let Some(rule) = rule {
        return Err(Mistake::new(description.at.clone(), What::Rule(rule)).into());
    }
    let name = main.clone();
    let files = match form {
        SourceForm::Cuda => {
            // It was a text before.
            let text = String::from_utf8(contents).unwrap_or_default();
            with_headers(tree, main, text, &description.options, limits)?
        }
        _ => vec![SourceFile { path: main, contents }],
    };
    let form = match description.compiler {
        Compiler::Nvcc => SourceForm::CudaForNvcc,
        Compiler::Any => form,
    };
    Ok(Source {
        name,
        form,
        files,
        options: description.options.clone(),
    })
}

/// Most kernels that a description names. The text of the source is searched for each of them.
pub(crate) const MOST_KERNELS: usize = 32;

/// Reads the kernels that the description names, and checks that they exist.
fn checked_kernels(source: &Source, description: &Description) -> Result<Kernels, Mistake> {
    let Body::Steps(steps) = &description.body else {
        return Ok(Kernels::default());
    };
    let launches = || {
        steps.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            Step::Memset { .. } | Step::Copy { .. } => None,
        })
    };
    let named: BTreeSet<&str> = launches()
        .filter_map(|launch| Some(&*launch.kernel.as_ref()?.inner))
        .collect();
    if named.len() > MOST_KERNELS {
        let (key, given, most) = ("kernel".to_owned(), named.len(), MOST_KERNELS);
        return Err(Mistake::new(description.at.clone(), What::Many { key, given, most }));
    }
    let kernels = Kernels::of(source, &named);
    for launch in launches() {
        let kernel = launch.kernel.as_ref();
        let at = kernel.map_or(&launch.at, |kernel| &kernel.at);
        let what = match kernels.which(kernel.map(|kernel| &*kernel.inner)) {
            Which::Found(_) => continue,
            Which::Missing(known) => What::NoKernel {
                name: kernel.map(|kernel| kernel.inner.clone()).unwrap_or_default(),
                known,
            },
            Which::Template(name) => What::Template { name },
            Which::Unclear(known) => What::WhichKernel(known),
        };
        return Err(Mistake::new(at.clone(), what));
    }
    Ok(kernels)
}

#[cfg(test)]
mod tests;
