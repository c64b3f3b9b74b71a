//! The files of a kernel source: the one that is named and what it includes, as far as it is in the package.

use crate::cuda_source::image_form;
use crate::include_folders::{IncludeFolders, includes, normal};
use proc_macro2::Span;
use std::path::{Path, PathBuf};
use syn::{Error, LitStr, Result};

/// A file of a source.
pub(crate) struct File {
    /// Path inside the package, with `/`.
    pub(crate) inside: String,
    /// Path for the compiler.
    pub(crate) absolute: String,
}

/// The package being compiled.
pub(crate) struct Package {
    root: PathBuf,
}

impl Package {
    pub(crate) fn of_the_compilation() -> Result<Package> {
        match std::env::var_os("CARGO_MANIFEST_DIR") {
            Some(root) => Ok(Package {
                root: PathBuf::from(root),
            }),
            None => Err(Error::new(
                Span::call_site(),
                "`cuda_source!` needs to be compiled by cargo, which says where the package is",
            )),
        }
    }

    /// The folders that `-I` names among a source's options, those of the package alone.
    pub(crate) fn include_folders(&self, options: &[LitStr]) -> Result<IncludeFolders> {
        IncludeFolders::named_by(options, &self.root)
    }

    /// The file and everything of the package that it includes, each once, the file first.
    pub(crate) fn collect(&self, literal: &LitStr, folders: &IncludeFolders) -> Result<Vec<File>> {
        let main = self.locate(literal)?;
        let mut seen = vec![main];
        let mut files = Vec::new();
        let mut next = 0;
        while next < seen.len() {
            let path = seen[next].clone();
            next += 1;
            let contents = std::fs::read(&path)
                .map_err(|error| Error::new(literal.span(), format!("cannot read `{}`: {error}", self.shown(&path))))?;
            files.push(self.file(&path, literal)?);
            let beside = path.parent().unwrap_or(&self.root);
            let text = match image_form(&literal.value()) {
                None => String::from_utf8(contents).map_err(|_| {
                    let message = format!("`{}` is not UTF-8", self.shown(&path));
                    Error::new(literal.span(), message)
                })?,
                Some(_) => String::new(),
            };
            for include in includes(&text) {
                // A file that is not there may be one of the toolkit's headers, or left out by the preprocessor: the compiler knows.
                let Some(included) = folders.find(&include, beside) else {
                    continue;
                };
                if !seen.contains(&included) {
                    seen.push(included);
                }
            }
        }
        Ok(files)
    }

    /// The file that a literal names, relative to the Rust file it is in.
    fn locate(&self, literal: &LitStr) -> Result<PathBuf> {
        let named = PathBuf::from(literal.value());
        if named.is_absolute() {
            return Err(Error::new(
                literal.span(),
                "the path is relative to the Rust file, so that the package can be moved",
            ));
        }
        // Editors may expand macros without saying in which file: they have the root and `src` of the package to go by.
        let folders = match literal.span().unwrap().local_file().as_deref().and_then(Path::parent) {
            Some(folder) => vec![std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())],
            None => vec![self.root.join("src"), self.root.clone()],
        };
        let found = folders
            .iter()
            .map(|folder| normal(&folder.join(&named)))
            .find(|path| path.is_file());
        found.ok_or_else(|| {
            let message = format!("there is no file `{}` beside this Rust file", literal.value());
            Error::new(literal.span(), message)
        })
    }

    fn file(&self, path: &Path, literal: &LitStr) -> Result<File> {
        let inside = self.inside(path).ok_or_else(|| {
            let message = format!(
                "`{}` is outside the package, which could not be published with it",
                path.display()
            );
            Error::new(literal.span(), message)
        })?;
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| Error::new(literal.span(), format!("the path `{}` is not UTF-8", path.display())))
        };
        Ok(File {
            inside: text(&inside)?,
            absolute: text(path)?,
        })
    }

    /// The path from the package's root, if it is inside; by its text first, so that links inside the package are kept as they are.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let by_text = path.strip_prefix(&self.root).ok().map(Path::to_owned);
        by_text.or_else(|| {
            let (root, path) = (self.root.canonicalize().ok()?, path.canonicalize().ok()?);
            path.strip_prefix(root).ok().map(Path::to_owned)
        })
    }

    /// A path for people: inside the package where it is.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}
