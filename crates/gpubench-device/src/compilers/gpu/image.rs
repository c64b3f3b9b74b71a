//! Checks PTX, cubins and fatbins that need no compilation: their architectures and kernels.

use gpubench::catalog::{Source, SourceForm};
use object::elf;
use object::read::elf::{FileHeader as _, Sym as _};

use super::super::diagnostics::defines;
use super::super::error::KernelBuildError;
use super::job::Code;
use crate::cuda::{Architecture, Features, KernelImage};

/// Returns the image of a source if it runs on the device and has the kernels.
pub(super) fn accept(source: &Source, names: &[String], device: Architecture) -> Result<KernelImage, KernelBuildError> {
    let bytes = source.files.first().map_or(&[][..], |file| &file.contents);
    let unusable =
        |reason: &str| KernelBuildError::Unusable(format!("`{}` is not a usable image: {reason}", source.name));
    let contents = match source.form {
        SourceForm::Cubin => of_cubin(bytes).ok_or_else(|| unusable("it is not a cubin"))?,
        SourceForm::Fatbin => of_fatbin(bytes).ok_or_else(|| unusable("it is not a fatbin"))?,
        _ => of_ptx(bytes).ok_or_else(|| unusable("it is not PTX: it has no `.target`"))?,
    };
    if !contents.codes.iter().any(|code| code.runs_on(device)) {
        return Err(KernelBuildError::other_architecture(source, &contents.codes, device));
    }
    if let Some(kernels) = contents.kernels
        && let Some(name) = names.iter().find(|name| !kernels.contains(name))
    {
        let defines = defines(&source.name, &kernels);
        return Err(KernelBuildError::UnknownKernel(format!(
            "unknown kernel `{name}`; {defines}"
        )));
    }
    let mut image = bytes.to_vec();
    end_ptx(&mut image);
    Ok(KernelImage {
        image,
        ..KernelImage::default()
    })
}

/// The contents of an image.
#[derive(Debug, PartialEq, Eq)]
struct Contents {
    /// The kinds of code. At least one must run on the device.
    codes: Vec<Code>,
    /// The kernels, if the format shows them.
    kernels: Option<Vec<String>>,
}

impl Code {
    fn runs_on(self, device: Architecture) -> bool {
        match self {
            Code::Machine(architecture) => architecture.machine_code_runs_on(device),
            Code::Ptx(architecture) => architecture.ptx_runs_on(device),
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Code::Machine(architecture) => architecture.fmt(f),
            Code::Ptx(architecture) => write!(f, "{architecture} and later"),
        }
    }
}

fn of_ptx(bytes: &[u8]) -> Option<Contents> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut words = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(line))
        .flat_map(|line| line.split([' ', '\t', ',', '(', ';', '\0']))
        .filter(|word| !word.is_empty());
    let (mut target, mut kernels) = (None, Vec::new());
    while let Some(word) = words.next() {
        match word {
            ".target" if target.is_none() => target = Some(words.next()?.parse().ok()?),
            ".entry" => {
                let name = words.next()?.to_owned();
                if !kernels.contains(&name) {
                    kernels.push(name);
                }
            }
            _ => {}
        }
    }
    Some(Contents {
        codes: vec![Code::Ptx(target?)],
        kernels: Some(kernels),
    })
}

/// The first ABI version with the architecture at another place in the flags.
const SECOND_ABI: u8 = 8;
/// The bit of a symbol's `st_other` that marks a kernel.
const ENTRY: u8 = 0x10;

fn of_cubin(bytes: &[u8]) -> Option<Contents> {
    let header = elf::FileHeader64::<object::Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    if header.e_machine(endian) != elf::EM_CUDA {
        return None;
    }
    let flags = header.e_flags(endian).0;
    let (capability, is_specific) = match header.e_ident().abi_version {
        ..SECOND_ABI => (flags & 0xff, flags & 0x800 != 0),
        SECOND_ABI.. => (flags >> 8 & 0xff, flags & 0x8 != 0),
    };
    let features = if is_specific {
        Features::Specific
    } else {
        Features::Portable
    };
    let sections = header.sections(endian, bytes).ok()?;
    let symbols = sections.symbols(endian, bytes, elf::SHT_SYMTAB).ok()?;
    let kernels = symbols
        .iter()
        .filter(|symbol| symbol.st_type() == elf::STT_FUNC && symbol.st_other().0 & ENTRY != 0)
        .filter_map(|symbol| symbols.symbol_name(endian, symbol).ok())
        .map(|name| String::from_utf8_lossy(name).into_owned());
    Some(Contents {
        codes: vec![Code::Machine(
            Architecture::of_capability(capability).with_features(features),
        )],
        kernels: Some(kernels.collect()),
    })
}

const FATBIN_MAGIC: u32 = 0xba55_ed50;
const FATBIN_PTX: u16 = 1;
const FATBIN_MACHINE: u16 = 2;
/// The flag of a part with architecture-specific code.
const FATBIN_SPECIFIC: u32 = 1 << 20;

/// Parses a fatbin: a header, then parts. A part has its kind, the size of its header, the size of
/// its contents, the compute capability at byte 28 and flags at byte 40. The contents are
/// compressed, so the kernels are unknown.
fn of_fatbin(bytes: &[u8]) -> Option<Contents> {
    if u32_at(bytes, 0)? != FATBIN_MAGIC {
        return None;
    }
    let mut at = usize::from(u16_at(bytes, 6)?);
    let mut codes = Vec::new();
    while at < bytes.len() {
        let part = bytes.get(at..)?;
        let (kind, header, length) = (u16_at(part, 0)?, u32_at(part, 4)?, u64_at(part, 8)?);
        let features = match u32_at(part, 40)? & FATBIN_SPECIFIC {
            0 => Features::Portable,
            _ => Features::Specific,
        };
        let architecture = Architecture::of_capability(u32_at(part, 28)?).with_features(features);
        match kind {
            FATBIN_PTX => codes.push(Code::Ptx(architecture)),
            FATBIN_MACHINE => codes.push(Code::Machine(architecture)),
            _ => {}
        }
        let length = usize::try_from(length).ok()?.checked_add(header as usize)?;
        at = at.checked_add(length.max(1))?;
    }
    Some(Contents { codes, kernels: None })
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_le_bytes)
}

/// Ends PTX with a zero byte, as the driver requires.
pub(super) fn end_ptx(image: &mut Vec<u8>) {
    if !image.starts_with(b"\x7fELF") && image.last() != Some(&0) {
        image.push(0);
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::SourceFile;

    use super::*;

    const PTX: &str = "// .target sm_10\n.version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n\
        .visible .entry affine(\n.param .u64 x)\n{ ret; }\n.entry _Z1kPf;\n";

    fn accepted(form: SourceForm, contents: &[u8], names: &[&str], device: &str) -> Result<KernelImage, String> {
        let source = Source {
            name: "affine".into(),
            form,
            files: vec![SourceFile {
                path: "src/affine".into(),
                contents: contents.into(),
            }],
            options: Vec::new(),
        };
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let device = device.parse().expect("an architecture");
        accept(&source, &names, device).map_err(|error| error.to_string())
    }

    #[test]
    fn ptx_is_accepted_unchanged_with_a_zero_at_its_end() {
        let image = accepted(SourceForm::Ptx, PTX.as_bytes(), &["affine", "_Z1kPf"], "sm_90").expect("it fits");
        assert_eq!(image.image, [PTX.as_bytes(), b"\0"].concat());
        assert_eq!(image.symbol("affine"), "affine");
    }

    #[test]
    fn unusable_images_are_refused_with_the_reason() {
        insta::assert_snapshot!(
            accepted(SourceForm::Ptx, PTX.as_bytes(), &["affine"], "sm_75").expect_err("it is newer"),
            @"`affine` is for sm_80 and later, but this device is sm_75"
        );
        insta::assert_snapshot!(
            accepted(SourceForm::Ptx, PTX.as_bytes(), &["affinity"], "sm_80").expect_err("another name"),
            @"unknown kernel `affinity`; `affine` defines `affine`, `_Z1kPf`"
        );
        insta::assert_snapshot!(
            accepted(SourceForm::Ptx, b"hello", &[], "sm_80").expect_err("no PTX"),
            @"`affine` is not a usable image: it is not PTX: it has no `.target`"
        );
        insta::assert_snapshot!(
            accepted(SourceForm::Cubin, b"\x7fELF\x02\x01", &[], "sm_80").expect_err("no cubin"),
            @"`affine` is not a usable image: it is not a cubin"
        );
        insta::assert_snapshot!(
            accepted(SourceForm::Fatbin, b"\x50\xed\x55\xba", &[], "sm_80").expect_err("no fatbin"),
            @"`affine` is not a usable image: it is not a fatbin"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_no_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            of_ptx(&bytes);
            of_cubin(&[b"\x7fELF\x02\x01\x01\x41\x08", &bytes[..]].concat());
            of_fatbin(&[b"\x50\xed\x55\xba\x01\x00\x10\x00", &bytes[..]].concat());
        }
    }
}
