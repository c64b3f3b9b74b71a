//! Compiled kernels as text, to read.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::super::scratch::with_paths_of_the_crate;
use super::ptx_text;
use super::sass::Disassembler;
use crate::cuda::{AssemblerReport, ImageForm, KernelImage};
use gpubench_diagnostic::{ExitCode, Expected};

/// The language of a listing.
#[derive(Clone, Debug)]
pub enum Listing {
    /// PTX, NVIDIA's portable assembly language.
    Ptx,
    /// SASS, the instructions of the GPU.
    Sass(Disassembler),
}

/// Why there is no listing of an image.
#[derive(Debug, thiserror::Error)]
pub enum NoListing {
    /// The image has no PTX.
    #[error("it is machine code, which has no PTX")]
    MachineCode,
    /// The image is PTX.
    #[error("it is PTX, which the driver compiles where it runs")]
    Ptx,
    /// The image is a fatbin.
    #[error("it is a fatbin, which only NVIDIA's `cuobjdump` can unpack")]
    Fatbin,
    /// The disassembler failed.
    #[error("`{}` could not read the machine code: {reason}", .program.display())]
    Disassembler {
        /// The program.
        program: PathBuf,
        /// What it said.
        reason: String,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl Expected for NoListing {
    fn exit_code(&self) -> ExitCode {
        match self {
            NoListing::Interrupted => ExitCode::Interrupted,
            NoListing::Disassembler { .. } => ExitCode::SetupMissing,
            NoListing::MachineCode | NoListing::Ptx | NoListing::Fatbin => ExitCode::BuildFailed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            NoListing::MachineCode => "`--sass` prints it",
            NoListing::Ptx => "`--ptx` prints it; for SASS, use a compiler that supports the architecture",
            NoListing::Fatbin => "`cuobjdump -ptx -sass FILE` prints its parts",
            NoListing::Disassembler { .. } => "an `nvdisasm` of a newer toolkit may know the architecture",
            NoListing::Interrupted => return None,
        };
        Some(hint.to_owned())
    }
}

impl Listing {
    /// Returns the kernels of an image as text. `wanted` names the kernels, or all are printed.
    ///
    /// # Errors
    /// When the image has no such code, or the disassembler fails.
    pub fn of(
        &self,
        image: &KernelImage,
        wanted: Option<&[String]>,
        interrupt: &AtomicBool,
    ) -> Result<String, NoListing> {
        let kernels = Kernels {
            reports: &image.reports,
            ..Kernels::of(&image.names, wanted)
        };
        let text = match (self, image.form()) {
            (_, ImageForm::Fatbin) => Err(NoListing::Fatbin),
            (Listing::Ptx, ImageForm::Ptx) => {
                let text = String::from_utf8_lossy(&image.image);
                Ok(ptx_text::only(&kernels, text.trim_end_matches('\0')))
            }
            (Listing::Sass(disassembler), ImageForm::Cubin) => disassembler.print(&kernels, &image.image, interrupt),
            (Listing::Ptx, ImageForm::Cubin) => Err(NoListing::MachineCode),
            (Listing::Sass(_), ImageForm::Ptx) => Err(NoListing::Ptx),
        }?;
        let lines: Vec<String> = text.lines().map(with_paths_of_the_crate).collect();
        Ok(lines.join("\n") + "\n")
    }
}

/// The kernels that a listing has.
pub(super) struct Kernels<'a> {
    /// Pairs of a name and its symbol.
    names: &'a [(String, String)],
    wanted: Option<&'a [String]>,
    reports: &'a [AssemblerReport],
}

impl<'a> Kernels<'a> {
    pub(super) fn of(names: &'a [(String, String)], wanted: Option<&'a [String]>) -> Kernels<'a> {
        Kernels {
            names,
            wanted,
            reports: &[],
        }
    }

    /// Returns how many kernels are wanted. `None` if all are.
    pub(super) fn number(&self) -> Option<usize> {
        self.wanted.map(<[String]>::len)
    }

    pub(super) fn wants(&self, symbol: &str) -> bool {
        let name = self.name_of(symbol);
        self.wanted
            .is_none_or(|wanted| wanted.iter().any(|wanted| wanted == name))
    }

    /// Returns what the compiler says of a kernel: `: 22 registers, 512 bytes of shared memory, …`.
    pub(super) fn needs_of(&self, symbol: &str) -> Option<String> {
        let report = self.reports.iter().find(|report| report.symbol == symbol)?;
        Some(format!(": {report}"))
    }

    /// Returns the name expression of a symbol. A symbol without one is its own name.
    pub(super) fn name_of<'s>(&self, symbol: &'s str) -> &'s str
    where
        'a: 's,
    {
        let found = self.names.iter().find(|(_, known)| known == symbol);
        found.map_or(symbol, |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(listing: &Listing, image: &[u8]) -> String {
        let image = KernelImage {
            image: image.to_vec(),
            ..KernelImage::default()
        };
        let listed = listing.of(&image, None, &AtomicBool::new(false));
        listed.unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn an_image_of_the_other_language_is_refused() {
        assert_eq!(listed(&Listing::Ptx, b".version 8.8\n\0"), ".version 8.8\n");
        assert_eq!(
            listed(&Listing::Ptx, b"\x7fELF"),
            "it is machine code, which has no PTX"
        );
        let fatbin = listed(&Listing::Ptx, b"\x50\xed\x55\xba");
        assert_eq!(fatbin, "it is a fatbin, which only NVIDIA's `cuobjdump` can unpack");
    }
}
