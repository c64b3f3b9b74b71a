//! The main file of a submission.

use gpubench::catalog::SourceForm;

use crate::description::Placed;
use crate::error::ReadError;
use crate::mistake::{Mistake, What};
use crate::tree::Tree;

/// The kind of a main file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Kernels(SourceForm),
    Library,
}

impl Kind {
    /// Returns the kind of a file by the end of its name.
    pub(crate) fn of_name(path: &str) -> Option<Kind> {
        let file = path.rsplit('/').next().unwrap_or_default();
        let (stem, extension) = file.rsplit_once('.')?;
        match extension {
            _ if stem.is_empty() => None,
            "cu" => Some(Kind::Kernels(SourceForm::Cuda)),
            "ptx" => Some(Kind::Kernels(SourceForm::Ptx)),
            "cubin" => Some(Kind::Kernels(SourceForm::Cubin)),
            "fatbin" => Some(Kind::Kernels(SourceForm::Fatbin)),
            "so" => Some(Kind::Library),
            _ => None,
        }
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(
            self,
            Kind::Kernels(SourceForm::Cuda | SourceForm::CudaForNvcc | SourceForm::Ptx)
        )
    }

    /// Returns what the file must be, if its first bytes tell.
    pub(crate) fn magic(self) -> Option<(&'static [u8], &'static str)> {
        match self {
            Kind::Kernels(SourceForm::Cubin) => Some((b"\x7fELF", "a cubin")),
            Kind::Kernels(SourceForm::Fatbin) => Some((&[0x50, 0xed, 0x55, 0xba], "a fatbin")),
            Kind::Library => Some((b"\x7fELF", "a shared library")),
            Kind::Kernels(_) => None,
        }
    }
}

/// Returns the main file: the named one, the only one of the folder itself, or the only one.
pub(crate) fn main_file(tree: &Tree, named: Option<&Placed<String>>) -> Result<String, ReadError> {
    if let Some(named) = named {
        let problem = match Kind::of_name(&named.inner) {
            Some(_) if tree.contains(&named.inner) => return Ok(named.inner.clone()),
            Some(_) => "there is no such file in the submission",
            None => "a kernel is a `.cu`, `.ptx`, `.cubin`, `.fatbin` or `.so`",
        };
        let (key, problem) = ("file".to_owned(), format!("`{}`: {problem}", named.inner));
        return Err(Mistake::new(named.at.clone(), What::Value { key, problem }).into());
    }
    let all: Vec<&str> = tree.paths().filter(|path| Kind::of_name(path).is_some()).collect();
    let at_top: Vec<&str> = all.iter().copied().filter(|path| !path.contains('/')).collect();
    let candidates = if at_top.is_empty() { all } else { at_top };
    let path = tree.shown.clone();
    match candidates.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(ReadError::NoMainFile { path }),
        several => {
            let files = several.iter().take(8).map(|file| format!("`{file}`")).collect();
            Err(ReadError::SeveralMainFiles { path, files })
        }
    }
}
