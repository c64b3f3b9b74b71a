//! Kernel sources embedded in a crate.

use crate::catalog::{Source, SourceFile};
use std::fmt;

/// A CUDA C++ source embedded by [`cuda_source!`](crate::cuda_source).
#[derive(Debug)]
pub struct CudaSource {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    options: &'static [&'static str],
}

impl CudaSource {
    #[doc(hidden)]
    pub const fn embedded(
        name: &'static str,
        files: &'static [(&'static str, &'static str)],
        options: &'static [&'static str],
    ) -> CudaSource {
        CudaSource { name, files, options }
    }

    /// A kernel of this source by its name expression: `axpy`, `reduce<256>`, `image::blur<float, 3>`.
    ///
    /// Whether the source has such a kernel is checked when it is compiled.
    pub fn kernel(&'static self, name: impl Into<String>) -> Kernel {
        Kernel {
            source: self,
            name: name.into(),
        }
    }

    /// The source as the catalog has it.
    pub(crate) fn describe(&self) -> Source {
        let file = |&(path, text): &(&str, &str)| SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        Source {
            name: self.name.to_owned(),
            files: self.files.iter().map(file).collect(),
            options: self.options.iter().map(|&option| option.to_owned()).collect(),
        }
    }
}

/// A kernel of a source, to be launched or to fill a tensor; made by [`CudaSource::kernel`].
#[derive(Clone)]
pub struct Kernel {
    pub(crate) source: &'static CudaSource,
    pub(crate) name: String,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source.name, self.name)
    }
}
