//! Kernel sources embedded in a crate.

use crate::catalog::{Source, SourceFile, SourceForm};
use std::fmt;

/// Kernels embedded by [`cuda_source!`](crate::cuda_source) or [`cuda_image!`](crate::cuda_image).
#[derive(Debug)]
pub struct CudaSource {
    name: &'static str,
    contents: Embedded,
}

/// What a crate embeds.
#[derive(Debug)]
enum Embedded {
    Files {
        form: SourceForm,
        files: &'static [(&'static str, &'static [u8])],
        options: &'static [&'static str],
    },
    Image {
        /// Tells images of one name apart.
        path: &'static str,
        image: &'static (dyn ImageBytes + Sync),
    },
}

/// PTX, a cubin, a fatbin or CUDA C++ as another crate ships it: a text or bytes, for
/// [`cuda_image!`](crate::cuda_image).
pub trait ImageBytes: fmt::Debug {
    /// The image.
    fn bytes(&self) -> &[u8];
}

impl ImageBytes for &str {
    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl ImageBytes for &[u8] {
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl<const N: usize> ImageBytes for &[u8; N] {
    fn bytes(&self) -> &[u8] {
        *self
    }
}

impl<const N: usize> ImageBytes for [u8; N] {
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl CudaSource {
    #[doc(hidden)]
    pub const fn embedded(
        name: &'static str,
        form: SourceForm,
        files: &'static [(&'static str, &'static [u8])],
        options: &'static [&'static str],
    ) -> CudaSource {
        let contents = Embedded::Files { form, files, options };
        CudaSource { name, contents }
    }

    #[doc(hidden)]
    pub const fn image(name: &'static str, path: &'static str, image: &'static (dyn ImageBytes + Sync)) -> CudaSource {
        let contents = Embedded::Image { path, image };
        CudaSource { name, contents }
    }

    /// A kernel of this source by its name expression: `axpy`, `reduce<256>`,
    /// `image::blur<float, 3>`. A kernel of PTX, a cubin or a fatbin is named as it is there.
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
        let file = |path: &str, contents: &[u8]| SourceFile {
            path: path.to_owned(),
            contents: contents.to_owned(),
        };
        let (form, files, options) = match &self.contents {
            Embedded::Files { form, files, options } => {
                let files = files.iter().map(|(path, contents)| file(path, contents));
                (*form, files.collect(), *options)
            }
            Embedded::Image { path, image } => {
                let bytes = image.bytes();
                let form = SourceForm::of_image(bytes);
                // Compilers' messages have it as a file's path.
                let path = match form.is_compiled() {
                    true => path.replace("::", "/"),
                    false => (*path).to_owned(),
                };
                (form, vec![file(&path, bytes)], &[][..])
            }
        };
        Source {
            name: self.name.to_owned(),
            form,
            files,
            options: options.iter().map(|&option| option.to_owned()).collect(),
        }
    }
}

/// A kernel of a source, to be launched or to fill a tensor; made by [`CudaSource::kernel`].
#[derive(Clone)]
pub struct Kernel {
    pub(crate) source: &'static CudaSource,
    pub(crate) name: String,
}

/// A [`Kernel`]: what a launch and a [generator](crate::ByKernel) name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a kernel: a kernel is that of a source",
    label = "write `SOURCE.kernel(..)`, with the name that `cuda_source!(SOURCE = ..)` gives the source"
)]
pub trait LaunchedKernel: sealed::Sealed {
    #[doc(hidden)]
    fn kernel(self) -> Kernel;
}

impl LaunchedKernel for Kernel {
    fn kernel(self) -> Kernel {
        self
    }
}

impl LaunchedKernel for &Kernel {
    fn kernel(self) -> Kernel {
        self.clone()
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Kernel {}
    impl Sealed for &super::Kernel {}
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source.name, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TEXT: CudaSource = CudaSource::image("TEXT", "a::TEXT", &".version 8.0\n");
    static KERNELS: CudaSource = CudaSource::image("KERNELS", "a::KERNELS", &"__global__ void k() {}\n");
    static BYTES: CudaSource = CudaSource::image("BYTES", "a::BYTES", b"\x7fELF\x02");

    #[test]
    fn what_a_crate_ships_is_known_by_its_bytes() {
        assert_eq!(KERNELS.describe().form, SourceForm::Cuda);
        assert_eq!(KERNELS.describe().files[0].path, "a/KERNELS");
        assert_eq!(TEXT.describe().form, SourceForm::Ptx);
        assert_eq!(BYTES.describe().form, SourceForm::Cubin);
        assert_eq!(BYTES.describe().files[0].contents, b"\x7fELF\x02");
        assert_eq!(SourceForm::of_image(b"\x50\xed\x55\xba\x01\x00"), SourceForm::Fatbin);
    }
}
