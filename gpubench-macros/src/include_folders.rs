//! Resolution of `#include` lines in kernel sources.

use gpubench_declarations::Include;
use std::path::{Component, Path, PathBuf};
use syn::{Error, LitStr, Result};

/// The package's `-I` folders in search order.
#[derive(Debug, Default)]
pub(crate) struct IncludeFolders(Vec<PathBuf>);

/// Spellings of the option.
const NAMES: [&str; 2] = ["-I", "--include-path"];

impl IncludeFolders {
    /// Reads a source's options. Paths are relative to the package root, where compilers run.
    /// Absolute paths are ignored: they belong to the machine that compiles the kernels.
    pub(crate) fn named_by(options: &[LitStr], root: &Path) -> Result<IncludeFolders> {
        let mut folders = Vec::new();
        let mut rest = options.iter();
        while let Some(option) = rest.next() {
            let text = option.value();
            let named = if NAMES.contains(&text.as_str()) {
                rest.next().map(LitStr::value)
            } else {
                attached(&text).map(str::to_owned)
            };
            let Some(named) = named.filter(|named| Path::new(named).is_relative()) else {
                continue;
            };
            let folder = normal(&root.join(&named));
            if !folder.is_dir() {
                let message =
                    format!("there is no folder `{named}` in the package; the path is relative to the package root");
                return Err(Error::new(option.span(), message));
            }
            folders.push(folder);
        }
        Ok(IncludeFolders(folders))
    }

    /// Returns whether a file is in one of the folders.
    pub(crate) fn contain(&self, file: &Path) -> bool {
        self.0.iter().any(|folder| file.starts_with(folder))
    }

    /// Finds the included file for an `#include` in the folder `including`. `None` if the package
    /// does not have it. An absolute path belongs to the machine that compiles the kernels.
    pub(crate) fn find(&self, include: &Include<'_>, including: &Path) -> Option<PathBuf> {
        let (path, including) = match include {
            Include::Quoted(path) => (path, Some(including)),
            Include::Angled(path) => (path, None),
        };
        let folders = including.into_iter().chain(self.0.iter().map(PathBuf::as_path));
        let folders = folders.filter(|_| Path::new(path).is_relative());
        folders
            .map(|folder| normal(&folder.join(path)))
            .find(|path| path.is_file())
    }
}

/// Returns the path that is in the same word as the option.
fn attached(option: &str) -> Option<&str> {
    let path = match option.strip_prefix("--include-path") {
        Some(rest) => rest.strip_prefix('=')?,
        None => option.strip_prefix("-I")?,
    };
    Some(path).filter(|path| !path.is_empty())
}

/// Returns the path without `.` and `..`, without looking at the file system.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_an_option_may_be_in_the_same_word() {
        assert_eq!(attached("-Iinclude"), Some("include"));
        assert_eq!(attached("--include-path=a/b"), Some("a/b"));
        assert_eq!(attached("-DI=1"), None);
        assert_eq!(attached("--include-paths"), None);
    }

    #[test]
    fn dots_are_removed_from_paths() {
        assert_eq!(
            normal(Path::new("/a/src/../kernels/./x.cu")),
            Path::new("/a/kernels/x.cu")
        );
    }
}
