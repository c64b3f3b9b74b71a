//! The files of a kernel source: the named file and the files that it includes, if they are in the
//! package.

use crate::cuda_source::image_form;
use crate::include_folders::{IncludeFolders, normal};
use gpubench_declarations::includes;
use proc_macro2::Span;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use syn::{Error, LitStr, Result};

/// Most bytes of a file with text. Macros read all of it.
const MOST_BYTES_OF_TEXT: u64 = 16 << 20;

/// Most bytes of a compiled file, or of a file of tensors.
pub(crate) const MOST_BYTES_COMPILED: u64 = 256 << 20;

/// A file of a source.
pub(crate) struct File {
    /// Path relative to the package root, with `/` as separator.
    pub(crate) inside: String,
    /// Path for the compiler.
    pub(crate) absolute: String,
    /// The text. Empty for a compiled file.
    pub(crate) text: String,
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
                "this macro needs cargo, which passes the package's location",
            )),
        }
    }

    /// Returns the package's `-I` folders among a source's options.
    pub(crate) fn include_folders(&self, options: &[LitStr]) -> Result<IncludeFolders> {
        IncludeFolders::named_by(options, &self.root)
    }

    /// Returns the file, then every file that it includes from the package, without duplicates.
    pub(crate) fn collect(&self, literal: &LitStr, folders: &IncludeFolders) -> Result<Vec<File>> {
        let main = self.locate(literal)?;
        let project = self.project(&main);
        let mut seen = vec![main];
        let mut files = Vec::new();
        let mut next = 0;
        while next < seen.len() {
            let path = seen[next].clone();
            next += 1;
            let text = match image_form(&literal.value()) {
                None => text_of(&path),
                Some(_) => check_compiled(&path).map(|()| String::new()),
            };
            let text =
                text.map_err(|reason| Error::new(literal.span(), format!("`{}` {reason}", self.shown(&path))))?;
            let folder = path.parent().unwrap_or(&self.root);
            for include in includes(&text) {
                // A missing file may be a toolkit header, or excluded by the preprocessor. Leave it
                // to the compiler.
                let Some(included) = folders.find(&include, folder) else {
                    continue;
                };
                let is_ours = folders.contain(&included) || project.iter().any(|folder| included.starts_with(folder));
                if !is_ours && self.outside(&included).is_some() {
                    let message = format!(
                        "`{}` includes `{}`, which is not in the package's repository (hint: name its folder with the \
                         option `-I`)",
                        self.shown(&path),
                        included.display()
                    );
                    return Err(Error::new(literal.span(), message));
                }
                if !seen.contains(&included) {
                    seen.push(included);
                }
            }
            files.push(File {
                text,
                ..self.file(&path, literal)?
            });
        }
        Ok(files)
    }

    /// Returns one file, without those that it includes.
    pub(crate) fn one(&self, literal: &LitStr) -> Result<File> {
        self.file(&self.locate(literal)?, literal)
    }

    /// Returns the folders whose files a source may include. What is included gets into the
    /// library, and a source of somebody else must not get other files there.
    fn project(&self, main: &Path) -> Vec<PathBuf> {
        let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        let folders = [&*self.root, main.parent().unwrap_or(main)];
        let repositories = folders.map(|folder| folder.ancestors().find(|above| above.join(".git").exists()));
        let common = self.root.ancestors().find(|above| main.starts_with(above));
        let above = repositories.into_iter().flatten().chain(common);
        let above = above.filter(|folder| !home.starts_with(folder) && folder.parent().is_some());
        folders.into_iter().chain(above).map(Path::to_owned).collect()
    }

    /// Returns the file that a literal names, relative to the Rust file.
    fn locate(&self, literal: &LitStr) -> Result<PathBuf> {
        let named = PathBuf::from(literal.value());
        if named.is_absolute() {
            return Err(Error::new(literal.span(), "the path must be relative to the Rust file"));
        }
        // Editors may expand macros without a file name. Try the package root and its `src`.
        let folders = match literal.span().unwrap().local_file().as_deref().and_then(Path::parent) {
            Some(folder) => vec![std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())],
            None => vec![self.root.join("src"), self.root.clone()],
        };
        let found = folders
            .iter()
            .map(|folder| normal(&folder.join(&named)))
            .find(|path| path.is_file());
        found.ok_or_else(|| {
            let message = format!(
                "there is no file `{}`; the path is relative to this Rust file",
                literal.value()
            );
            Error::new(literal.span(), message)
        })
    }

    fn file(&self, path: &Path, literal: &LitStr) -> Result<File> {
        let inside = self.inside(path).or_else(|| self.outside(path)).ok_or_else(|| {
            let message = format!(
                "`{}` is outside the package, so it would be missing in the published package (hint: move it, or set \
                 `publish = false` in the manifest's `[package]`)",
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
            text: String::new(),
        })
    }

    /// Returns the path relative to the package root, if it is inside. It compares the text first,
    /// to keep links inside the package as they are.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let by_text = path.strip_prefix(&self.root).ok().map(Path::to_owned);
        by_text.or_else(|| {
            let (root, path) = (self.root.canonicalize().ok()?, path.canonicalize().ok()?);
            path.strip_prefix(root).ok().map(Path::to_owned)
        })
    }

    /// Returns the path from the root of an unpublished package to a file outside of it.
    fn outside(&self, path: &Path) -> Option<PathBuf> {
        if !is_unpublished(&std::fs::read_to_string(self.root.join("Cargo.toml")).ok()?) {
            return None;
        }
        let up = self.root.ancestors().position(|above| path.starts_with(above))?;
        let inside = path.strip_prefix(self.root.ancestors().nth(up)?).ok()?;
        Some(std::iter::repeat_n("..", up).collect::<PathBuf>().join(inside))
    }

    /// Returns a path for messages: relative to the package if it is inside.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

/// Reads a file with text.
///
/// # Errors
/// What it is or has instead.
fn text_of(path: &Path) -> std::result::Result<String, String> {
    let file = open(path, MOST_BYTES_OF_TEXT, "a kernel source")?;
    let mut contents = Vec::new();
    // The file may grow meanwhile.
    file.take(MOST_BYTES_OF_TEXT)
        .read_to_end(&mut contents)
        .map_err(cannot_be_read)?;
    String::from_utf8(contents).map_err(|_| "is not UTF-8".to_owned())
}

/// Checks a compiled file.
///
/// # Errors
/// What it is or has instead.
fn check_compiled(path: &Path) -> std::result::Result<(), String> {
    open(path, MOST_BYTES_COMPILED, "a compiled kernel").map(drop)
}

fn open(path: &Path, most: u64, what: &str) -> std::result::Result<fs::File, String> {
    // Opening a pipe would wait for its writer.
    let about = path.metadata().map_err(cannot_be_read)?;
    match about.len() {
        _ if !about.is_file() => Err("is no regular file".to_owned()),
        bytes if bytes > most => Err(format!("has {bytes} bytes; the limit for {what} is {most}")),
        _ => fs::File::open(path).map_err(cannot_be_read),
    }
}

fn cannot_be_read(error: std::io::Error) -> String {
    format!("cannot be read: {error}")
}

/// Returns whether a manifest has `publish = false` or an empty list of registries.
fn is_unpublished(manifest: &str) -> bool {
    let lines = manifest
        .lines()
        .map(|line| line.split('#').next().unwrap_or(line).trim());
    let of_package = lines
        .skip_while(|line| *line != "[package]")
        .skip(1)
        .take_while(|line| !line.starts_with('['));
    let mut values = of_package.filter_map(|line| line.strip_prefix("publish")?.trim_start().strip_prefix('='));
    values.any(|value| matches!(value.trim(), "false" | "[]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_large_or_not_text_is_refused() {
        let path = std::env::temp_dir().join(format!("gpubench-macros-source-{}", std::process::id()));
        let read = |bytes: u64| {
            let file = fs::File::create(&path).expect("created");
            file.set_len(bytes).expect("a sparse file");
            (text_of(&path).map(|text| text.len()), check_compiled(&path))
        };
        assert_eq!(read(16 << 20), (Ok(16 << 20), Ok(())));
        let too_large = "has 16777217 bytes; the limit for a kernel source is 16777216".to_owned();
        assert_eq!(read((16 << 20) + 1), (Err(too_large), Ok(())));
        let too_large = "has 268435457 bytes; the limit for a compiled kernel is 268435456".to_owned();
        assert_eq!(read((256 << 20) + 1).1, Err(too_large));
        fs::write(&path, b"\xff").expect("written");
        assert_eq!(text_of(&path), Err("is not UTF-8".to_owned()));
        fs::remove_file(&path).expect("removed");
        assert!(text_of(&path).expect_err("no file").starts_with("cannot be read: "));
        let device = Path::new("/dev/zero");
        let refused = "is no regular file".to_owned();
        assert_eq!(
            (text_of(device), check_compiled(device)),
            (Err(refused.clone()), Err(refused))
        );
    }

    #[test]
    fn an_unpublished_package_is_detected_from_its_package_table() {
        assert!(is_unpublished(
            "[package]\nname = \"a\"\npublish=false # never\n[lib]\n"
        ));
        assert!(is_unpublished("[workspace]\n[package]\npublish = []\n"));
        assert!(!is_unpublished(
            "[package]\nname = \"a\"\n[package.metadata.x]\npublish = false\n"
        ));
        assert!(!is_unpublished("[package]\npublish = true\n"));
    }

    #[test]
    fn a_project_is_a_repository_or_what_the_rust_file_names_and_never_a_home_folder() {
        let folder = std::env::temp_dir().join(format!("gpubench-macros-project-{}", std::process::id()));
        let root = folder.join("benches/gpu");
        std::fs::create_dir_all(&root).expect("a folder");
        let package = Package { root: root.clone() };
        let has = |main: &str, file: &str| {
            let project = package.project(&folder.join(main));
            project
                .iter()
                .any(|above| normal(&folder.join(file)).starts_with(above))
        };
        assert!(has("benches/gpu/k.cu", "benches/gpu/k.cuh") && !has("benches/gpu/k.cu", "src/k.cuh"));
        assert!(has("src/k.cu", "include/k.cuh") && !has("src/k.cu", "../k.cuh"));
        std::fs::create_dir(folder.join(".git")).expect("a folder");
        assert!(has("benches/gpu/k.cu", "src/k.cuh") && !has("benches/gpu/k.cu", "../k.cuh"));
        let home = PathBuf::from(std::env::var_os("HOME").expect("a home folder"));
        let above = Package { root: home.join("a") }.project(&home.join("b/k.cu"));
        assert!(!above.contains(&home), "{above:?}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_file_outside_of_the_package_is_named_relative_to_its_root() {
        let folder = std::env::temp_dir().join(format!("gpubench-macros-{}", std::process::id()));
        let root = folder.join("benches/gpu");
        std::fs::create_dir_all(&root).expect("a folder");
        let package = Package { root: root.clone() };
        let outside = folder.join("src/k.cu");
        std::fs::write(root.join("Cargo.toml"), "[package]\n").expect("written");
        assert_eq!(package.outside(&outside), None);
        std::fs::write(root.join("Cargo.toml"), "[package]\npublish = false\n").expect("written");
        assert_eq!(package.outside(&outside), Some(PathBuf::from("../../src/k.cu")));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
