//! Kernel sources: their embedded files and formats.

use gpubench::catalog::{Source, SourceForm};

use crate::SHIPPED_PTX;
use crate::client::catalog;

/// Returns a source of the kernel crate by name.
fn source(name: &str) -> Source {
    let mut sources = catalog().sources.into_iter();
    sources.find(|source| source.name == name).unwrap()
}

fn paths(source: &Source) -> Vec<&str> {
    source.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn compiled_files_are_embedded_unchanged() {
    let catalog = catalog();
    let source = |name: &str| {
        let found = catalog.sources.iter().find(|source| source.name == name);
        found.map(|source| (source.form, source.files[0].contents.clone()))
    };
    let file = include_bytes!("kernels/affine.ptx").to_vec();
    assert_eq!(source("kernels/affine.ptx"), Some((SourceForm::Ptx, file)));
    assert_eq!(source("SHIPPED"), Some((SourceForm::Ptx, SHIPPED_PTX.into())));
    assert_eq!(source("SHIPPED_BYTES"), Some((SourceForm::Cubin, b"\x7fELF".to_vec())));
    let forms = catalog.sources.iter().filter(|source| source.name == "kernels/sums.cu");
    let forms: Vec<SourceForm> = forms.map(|source| source.form).collect();
    assert_eq!(forms, [SourceForm::Cuda, SourceForm::CudaForNvcc]);
}

#[test]
fn a_source_is_embedded_with_everything_it_includes() {
    let source = source("kernels/image.cu");
    assert_eq!(
        paths(&source),
        [
            "tests/abi/kernels/image.cu",
            "tests/abi/kernels/pixel.cuh",
            "tests/abi/kernels/weights.cuh"
        ]
    );
    assert!(source.files[2].text().contains("#define RED"));
    assert_eq!(source.options, ["-DFAST"]);
}

#[test]
fn files_included_from_a_folder_of_the_package_are_embedded() {
    let source = source("kernels/by_folders.cu");
    assert_eq!(
        paths(&source),
        [
            "tests/abi/kernels/by_folders.cu",
            "tests/abi/kernels/folders/quoted.cuh",
            "tests/abi/kernels/folders/deeper/angled.cuh",
            "tests/abi/kernels/folders/deeper/sibling.cuh",
        ]
    );
}

#[test]
fn a_source_that_is_embedded_twice_is_listed_once() {
    let sources = catalog()
        .sources
        .into_iter()
        .filter(|source| source.form == SourceForm::Cuda);
    let sources: Vec<String> = sources.map(|source| source.name).collect();
    assert_eq!(
        sources,
        ["kernels/by_folders.cu", "kernels/image.cu", "kernels/sums.cu"]
    );
}
