//! Kernel sources embedded in a crate.

use crate::catalog::{Source, SourceFile, SourceForm};
use std::fmt;

/// Kernels embedded with [`cuda_source!`](crate::cuda_source) or
/// [`cuda_image!`](crate::cuda_image).
///
/// With `cuda_source!(IMAGE = ..)`, the function `IMAGE::blur` launches the kernel `blur`, and
/// [`IMAGE.kernel("blur")`](CudaSource::kernel) selects it by its name.
#[derive(Debug)]
pub struct CudaSource {
    name: &'static str,
    contents: Embedded,
}

/// The embedded contents.
#[derive(Debug)]
enum Embedded {
    Files {
        form: SourceForm,
        files: &'static [(&'static str, &'static [u8])],
        options: &'static [&'static str],
    },
    Image {
        /// Distinguishes images of the same name.
        path: &'static str,
        image: &'static (dyn ImageBytes + Sync),
    },
}

/// The contents of an image for [`cuda_image!`](crate::cuda_image), as text or bytes: PTX, a cubin,
/// a fatbin or CUDA C++.
pub trait ImageBytes: fmt::Debug {
    /// Returns the image.
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

    /// Returns the kernel of this name expression: `axpy`, `reduce<256>`, `image::blur<float, 3>`.
    /// In PTX, a cubin or a fatbin, kernels keep the names in the file.
    ///
    /// A wrong name is an error later, when the source is compiled.
    pub fn kernel(&'static self, name: impl Into<String>) -> Kernel {
        Kernel {
            source: self,
            name: name.into(),
        }
    }

    /// Returns the source's entry in the catalog.
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
                // Compiler messages show it as a file path.
                let path = if form.is_compiled() {
                    path.replace("::", "/")
                } else {
                    (*path).to_owned()
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

/// A kernel of a source, to launch or to fill a tensor with. [`CudaSource::kernel`] returns it.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) source: &'static CudaSource,
    pub(crate) name: String,
}

/// The kernel of a launch or a [generator](crate::ByKernel): only [`Kernel`] implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "write `SOURCE.kernel(..)`, where `cuda_source!(SOURCE = ..)` defines `SOURCE`"
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
    fn the_format_of_an_image_is_detected_from_its_bytes() {
        assert_eq!(KERNELS.describe().form, SourceForm::Cuda);
        assert_eq!(KERNELS.describe().files[0].path, "a/KERNELS");
        assert_eq!(TEXT.describe().form, SourceForm::Ptx);
        assert_eq!(BYTES.describe().form, SourceForm::Cubin);
        assert_eq!(BYTES.describe().files[0].contents, b"\x7fELF\x02");
        assert_eq!(SourceForm::of_image(b"\x50\xed\x55\xba\x01\x00"), SourceForm::Fatbin);
    }
}
