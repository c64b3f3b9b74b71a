//! The files of CUDA C++ that get benchmarks.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_diagnostic::printable_line;

use super::ScaffoldError;

/// The largest file that is read. Kernels that people write are far smaller.
const LARGEST: u64 = 16 << 20;

/// Files of CUDA C++.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) files: Vec<SourceFile>,
    /// Files that are left out, each with the reason.
    pub(super) left_out: Vec<String>,
}

/// A file of CUDA C++.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// The path from the package.
    pub(super) path: Utf8PathBuf,
    /// The path from the folder of the examples.
    pub(super) from_examples: Utf8PathBuf,
    pub(super) text: String,
}

impl Sources {
    /// Reads files of a package in the folder `root`. Without any, all `.cu` files there.
    ///
    /// # Errors
    /// A file cannot be read, or its name has characters that no text can have.
    pub(super) fn read(root: &Utf8Path, files: &[Utf8PathBuf]) -> Result<Sources, ScaffoldError> {
        let found = match files {
            [] => below(root),
            files => files.to_vec(),
        };
        let root = canonical(root, root)?;
        let examples = root.join("examples");
        let examples = examples.canonicalize_utf8().unwrap_or(examples);
        let (mut sources, mut seen) = (Sources::default(), HashSet::new());
        for file in &found {
            let place = place(file)?;
            let path = from_folder(&root, &place);
            if printable_line(path.as_str()) != path.as_str() {
                let name = path.as_str().escape_default().to_string();
                return Err(ScaffoldError::NameOfFile { name });
            }
            if !seen.insert(place.clone()) {
                continue;
            }
            match text_of(file)? {
                Ok(text) => sources.files.push(SourceFile {
                    from_examples: from_folder(&examples, &place),
                    path,
                    text,
                }),
                Err(reason) => sources.left_out.push(format!("`{path}`: {reason}")),
            }
        }
        Ok(sources)
    }
}

/// Returns a file's text, or why it is left out.
fn text_of(file: &Utf8Path) -> Result<Result<String, &'static str>, ScaffoldError> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|source| ScaffoldError::Unreadable {
        path: file.to_owned(),
        source,
    })?;
    if bytes.len() as u64 > LARGEST {
        return Ok(Err("it is larger than 16 MiB"));
    }
    Ok(String::from_utf8(bytes).map_err(|_| "it is not UTF-8"))
}

/// Returns the `.cu` files of a package in order, without those of packages in it.
fn below(root: &Utf8Path) -> Vec<Utf8PathBuf> {
    let folder = or_current(root);
    let Ok(entries) = folder.read_dir_utf8() else {
        return Vec::new();
    };
    let mut paths: Vec<Utf8PathBuf> = entries.flatten().map(|entry| entry.path().to_owned()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.starts_with('.') || name == "target");
        // A link could lead back.
        if is_hidden || path.is_symlink() {
            continue;
        }
        if path.extension() == Some("cu") && path.is_file() {
            found.push(path);
        } else if path.is_dir() && !path.join("Cargo.toml").exists() {
            found.extend(below(&path));
        }
    }
    found
}

/// Returns the absolute path of a file, whose folder is no link. The file itself may be one: its
/// target can be outside of the package.
fn place(file: &Utf8Path) -> Result<Utf8PathBuf, ScaffoldError> {
    let folder = canonical(file.parent().unwrap_or(file), file)?;
    Ok(folder.join(file.file_name().unwrap_or_default()))
}

/// Returns the absolute path of a folder without links. An error names what was to be `read` there.
fn canonical(folder: &Utf8Path, read: &Utf8Path) -> Result<Utf8PathBuf, ScaffoldError> {
    let canonical = or_current(folder).canonicalize_utf8();
    canonical.map_err(|source| ScaffoldError::Unreadable {
        path: read.to_owned(),
        source,
    })
}

/// Returns a folder, or `.` if its path is empty.
fn or_current(folder: &Utf8Path) -> &Utf8Path {
    match folder.as_str() {
        "" => Utf8Path::new("."),
        _ => folder,
    }
}

/// Returns the way from a folder to a file. Both paths are absolute, without `..`.
fn from_folder(folder: &Utf8Path, file: &Utf8Path) -> Utf8PathBuf {
    let common = folder.ancestors().find(|above| file.starts_with(above));
    let common = common.unwrap_or(Utf8Path::new(""));
    let up = folder.components().count() - common.components().count();
    let mut way: Utf8PathBuf = std::iter::repeat_n("..", up).collect();
    way.extend(file.strip_prefix(common));
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_goes_up_to_the_common_folder() {
        let way = |folder: &str, file: &str| from_folder(Utf8Path::new(folder), Utf8Path::new(file)).to_string();
        assert_eq!(way("/a/b/examples", "/a/b/src/k.cu"), "../src/k.cu");
        assert_eq!(way("/a/b/examples", "/a/k.cu"), "../../k.cu");
        assert_eq!(way("/a/b/examples", "/a/bc/k.cu"), "../../bc/k.cu");
        assert_eq!(way("/a", "/a/k.cu"), "k.cu");
        assert_eq!(way("/", "/k.cu"), "k.cu");
    }

    #[test]
    fn files_that_cannot_be_a_source_are_left_out_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
        std::fs::write(root.join("latin.cu"), b"// \xe4\n").expect("written");
        std::fs::write(root.join("k.cu"), "__global__ void k(float *x) {}").expect("written");
        let large = File::create(root.join("large.cu")).expect("a file");
        large.set_len(LARGEST + 1).expect("a size");
        let sources = Sources::read(root, &[]).expect("sources");
        assert_eq!(sources.files.len(), 1);
        assert_eq!(
            sources.left_out,
            ["`large.cu`: it is larger than 16 MiB", "`latin.cu`: it is not UTF-8"]
        );
    }
}
