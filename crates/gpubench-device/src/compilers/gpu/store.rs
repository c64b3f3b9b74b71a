//! Compiled images in the cache, under a hash of all their inputs.

use std::io;
use std::path::{Path, PathBuf};

use super::super::cache_file::{is_intact, keep};
use super::super::cache_key::CacheKey;
use super::super::compiler::Wanted;
use crate::cuda::{Architecture, KernelImage};

/// How an image was made. It is part of the file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// It was not compiled.
    Given,
    Nvrtc,
    /// NVRTC compiled the source after its host code was removed.
    NvrtcOfDevice,
    /// The same, but unmarked functions remain host functions.
    NvrtcAsMarked,
    Nvcc,
}

impl Maker {
    const ALL: [Maker; 5] = [
        Maker::Given,
        Maker::Nvrtc,
        Maker::NvrtcOfDevice,
        Maker::NvrtcAsMarked,
        Maker::Nvcc,
    ];

    fn ending(self) -> &'static str {
        match self {
            Maker::Given => "given.gbk",
            Maker::Nvrtc => "nvrtc.gbk",
            Maker::NvrtcOfDevice => "nvrtc-device.gbk",
            Maker::NvrtcAsMarked => "nvrtc-as-marked.gbk",
            Maker::Nvcc => "nvcc.gbk",
        }
    }

    /// Returns the maker of a file named by [`cached`].
    pub(super) fn from_path(path: &Path) -> Option<Maker> {
        let (_, ending) = path.file_name()?.to_str()?.split_once('.')?;
        Maker::ALL.into_iter().find(|maker| maker.ending() == ending)
    }
}

/// Returns the path of an image in the cache.
pub(super) fn cached(wanted: Wanted<'_>, maker: Maker, compiler: &str, architecture: Architecture) -> PathBuf {
    path(wanted, compiler, architecture, maker.ending())
}

/// Returns the path of a library with host code in the cache.
pub(super) fn cached_library(wanted: Wanted<'_>, compiler: &str, architecture: Architecture) -> PathBuf {
    path(wanted, compiler, architecture, "library.so")
}

fn path(wanted: Wanted<'_>, compiler: &str, architecture: Architecture, ending: &str) -> PathBuf {
    let mut key = CacheKey::new();
    key.add(compiler);
    key.add(wanted.source.form.to_string());
    key.add(architecture.to_string());
    key.add_wanted(wanted);
    wanted.cache.join(format!("{}.{ending}", key.finish()))
}

/// Returns whether a file exists and is an unchanged image.
pub(super) fn is_image(path: &Path) -> bool {
    is_intact(path) && fs_err::read(path).is_ok_and(|bytes| KernelImage::decode(&bytes).is_ok())
}

/// Writes an image atomically: other processes see the whole file or none.
pub(super) fn write(path: &Path, image: &KernelImage) -> io::Result<()> {
    keep(path, &image.encode())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use gpubench::catalog::{Source, SourceFile, SourceForm};

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

    #[test]
    fn every_input_of_an_image_changes_its_path() {
        let source = source("x");
        let cached = |source: &Source, names: &[&str], compiler, architecture| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let wanted = Wanted {
                source,
                names: &names,
                cache: Path::new("/cache"),
                interrupt: &AtomicBool::new(false),
                most: None,
            };
            cached(wanted, Maker::Nvrtc, compiler, architecture)
        };
        let mut changed = [source.clone(), source.clone(), source.clone(), source.clone()];
        changed[0].files[0].contents.push(b' ');
        changed[1].files[0].path.push('x');
        changed[2].options.push("-DN=1".into());
        changed[3].form = SourceForm::CudaForNvcc;
        let mut places: Vec<PathBuf> = changed
            .iter()
            .chain([&source])
            .map(|source| cached(source, &["k"], "nvrtc 12.9", SM_90))
            .collect();
        places.push(cached(&source, &["k", "l"], "nvrtc 12.9", SM_90));
        places.push(cached(&source, &["k"], "nvrtc 13.0", SM_90));
        places.push(cached(&source, &["k"], "nvrtc 12.9", Architecture::of_capability(80)));
        let count = places.len();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), count);
    }

    #[test]
    fn a_file_name_shows_how_the_file_was_made() {
        let source = source("x");
        for maker in Maker::ALL {
            let wanted = Wanted {
                source: &source,
                names: &[],
                cache: Path::new("/cache"),
                interrupt: &AtomicBool::new(false),
                most: None,
            };
            assert_eq!(
                Maker::from_path(&cached(wanted, maker, "nvcc 13.0", SM_90)),
                Some(maker)
            );
        }
        assert_eq!(Maker::from_path(Path::new("/cache/image")), None);
    }

    #[test]
    fn a_damaged_file_is_not_an_image() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("image");
        assert!(!is_image(&path));
        write(&path, &KernelImage::default()).expect("it is written");
        assert!(is_image(&path));
        keep(&path, b"\x09GBKIMG01").expect("it is there");
        assert!(!is_image(&path), "it was written so, and is none");
    }
}
