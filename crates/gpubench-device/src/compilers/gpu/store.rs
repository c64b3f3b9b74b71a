//! Where compiled images are kept: in a cache, by everything that went into them.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gpubench::catalog::Source;

use super::super::cache_key::CacheKey;
use crate::cuda::{Architecture, KernelImage};

/// Where a cache keeps the image that a compiler makes of a source.
pub(super) fn cached(
    cache: &Path,
    source: &Source,
    names: &[String],
    compiler: &str,
    architecture: Architecture,
) -> PathBuf {
    let mut key = CacheKey::new();
    key.add(compiler);
    key.add(source.form.to_string());
    key.add(architecture.to_string());
    key.add_all(&source.options);
    key.add_all(names);
    for file in &source.files {
        key.add(&file.path);
        key.add(&file.contents);
    }
    cache.join(format!("{}.gbk", key.finish()))
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
    fn a_damaged_file_is_no_image() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("image");
        assert!(!is_image(&path));
        write(&path, &KernelImage::default()).expect("it is written");
        assert!(is_image(&path));
        std::fs::write(&path, b"GBKIMG01\x09").expect("it is there");
        assert!(!is_image(&path));
    }
}
