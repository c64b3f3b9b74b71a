//! Where compiled images are kept: in a cache by everything that went into them, and in a folder of images compiled ahead by what is asked for.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gpubench::catalog::Source;
use sha2::{Digest as _, Sha256};

use crate::device::cuda::{Architecture, KernelImage};

/// The extension of the files.
const EXTENSION: &str = "gbk";
/// Half a hash tells the names apart among the images of one source.
const NAMES_DIGITS: usize = 32;

/// A hash of parts, each with its length.
#[derive(Default)]
struct Hash(Sha256);

impl Hash {
    fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn add_all<T: AsRef<[u8]>>(&mut self, parts: &[T]) {
        self.0.update((parts.len() as u64).to_le_bytes());
        parts.iter().for_each(|part| self.add(part));
    }

    fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Where a cache keeps the image that a compiler makes of a source.
pub(super) fn cached(
    cache: &Path,
    source: &Source,
    names: &[String],
    compiler: &str,
    architecture: Architecture,
) -> PathBuf {
    let mut hash = Hash::default();
    hash.add(env!("CARGO_PKG_VERSION"));
    hash.add(compiler);
    hash.add(source_key(source, architecture));
    hash.add_all(names);
    cache.join(format!("{}.{EXTENSION}", hash.finish()))
}

/// Whether a file is there and whole.
pub(super) fn is_image(path: &Path) -> bool {
    fs_err::read(path).is_ok_and(|bytes| KernelImage::decode(&bytes).is_ok())
}

/// Writes an image, so that other processes see it whole or not at all.
pub(super) fn write(path: &Path, image: &KernelImage) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&image.encode())?;
    file.persist(path)?;
    Ok(())
}

/// An image in a folder of images compiled ahead, by whichever compiler, that has all these kernels of a source for an architecture.
pub fn precompiled(folder: &Path, source: &Source, names: &[String], architecture: Architecture) -> Option<PathBuf> {
    let beginning = format!("{}-", source_key(source, architecture));
    let mut files: Vec<PathBuf> = fs_err::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&beginning) && path.extension().is_some_and(|it| it == EXTENSION)
        })
        .collect();
    files.sort();
    files.into_iter().find(|path| {
        let image = fs_err::read(path)
            .ok()
            .and_then(|bytes| KernelImage::decode(&bytes).ok());
        image.is_some_and(|image| {
            names
                .iter()
                .all(|name| image.names.iter().any(|(known, _)| known == name))
        })
    })
}

/// Writes an image of a source into a folder where [`precompiled`] finds it, and answers the file's path.
///
/// # Errors
/// If it cannot be written.
pub fn keep_precompiled(
    folder: &Path,
    source: &Source,
    architecture: Architecture,
    image: &KernelImage,
) -> io::Result<PathBuf> {
    let mut names: Vec<&str> = image.names.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let mut hash = Hash::default();
    hash.add_all(&names);
    let names = &hash.finish()[..NAMES_DIGITS];
    let path = folder.join(format!("{}-{names}.{EXTENSION}", source_key(source, architecture)));
    write(&path, image)?;
    Ok(path)
}

/// A source, its options and an architecture as a file name.
fn source_key(source: &Source, architecture: Architecture) -> String {
    let mut hash = Hash::default();
    hash.add(source.form.to_string());
    hash.add_all(&source.options);
    hash.add(architecture.to_string());
    for file in &source.files {
        hash.add(&file.path);
        hash.add(&file.contents);
    }
    hash.finish()
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{SourceFile, SourceForm};

    use super::*;

    const SM_90: Architecture = Architecture::of_capability(90);

    fn source(text: &str) -> Source {
        Source {
            name: "a.cu".into(),
            form: SourceForm::Cuda,
            files: vec![SourceFile {
                path: "src/a.cu".into(),
                contents: text.into(),
            }],
            options: Vec::new(),
        }
    }

    fn image(names: &[&str]) -> KernelImage {
        KernelImage {
            names: names
                .iter()
                .map(|&name| (name.to_owned(), format!("_Z{name}")))
                .collect(),
            image: vec![1],
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn everything_that_goes_into_an_image_is_in_its_place() {
        let (folder, source) = (Path::new("/cache"), source("x"));
        let mut changed = [source.clone(), source.clone(), source.clone(), source.clone()];
        changed[0].files[0].contents.push(b' ');
        changed[1].files[0].path.push('x');
        changed[2].options.push("-DN=1".into());
        changed[3].form = SourceForm::CudaForNvcc;
        let mut places: Vec<PathBuf> = changed
            .iter()
            .chain([&source])
            .map(|source| cached(folder, source, &names(&["k"]), "nvrtc 12.9", SM_90))
            .collect();
        places.push(cached(folder, &source, &names(&["k", "l"]), "nvrtc 12.9", SM_90));
        places.push(cached(folder, &source, &names(&["k"]), "nvrtc 13.0", SM_90));
        places.push(cached(
            folder,
            &source,
            &names(&["k"]),
            "nvrtc 12.9",
            Architecture::of_capability(80),
        ));
        let count = places.len();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), count);
    }

    #[test]
    fn an_image_compiled_ahead_is_found_by_source_architecture_and_names() {
        let folder = tempfile::tempdir().expect("a directory");
        let source = source("x");
        keep_precompiled(folder.path(), &source, SM_90, &image(&["k"])).expect("it is written");
        let both = keep_precompiled(folder.path(), &source, SM_90, &image(&["k", "l"])).expect("it is written");
        let find = |source: &Source, wanted: &[&str], architecture| {
            precompiled(folder.path(), source, &names(wanted), architecture)
        };
        assert_eq!(find(&source, &["l"], SM_90), Some(both.clone()));
        assert_eq!(find(&source, &["l", "k"], SM_90), Some(both));
        assert_eq!(find(&source, &["m"], SM_90), None);
        assert_eq!(find(&source, &["k"], Architecture::of_capability(80)), None);
        assert_eq!(find(&self::source("y"), &["k"], SM_90), None);
        assert_eq!(precompiled(Path::new("/nowhere"), &source, &names(&["k"]), SM_90), None);
    }

    #[test]
    fn a_damaged_file_is_no_image() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = keep_precompiled(folder.path(), &source("x"), SM_90, &image(&["k"])).expect("it is written");
        assert!(is_image(&path));
        std::fs::write(&path, b"GBKIMG01\x09").expect("it is there");
        assert!(!is_image(&path));
        assert_eq!(precompiled(folder.path(), &source("x"), &names(&["k"]), SM_90), None);
    }
}
