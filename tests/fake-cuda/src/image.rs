//! Kinds of images: the tool's own kernels, or a library for the CPU device.

use std::ffi::{CStr, c_char, c_void};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use gpubench_harness::{Capability, Image as HarnessImage, image_for, ptx_for};

use crate::error::{INVALID_IMAGE, NO_BINARY_FOR_GPU, Refusal};

/// `EM_CUDA`.
const CUDA_MACHINE: u16 = 190;

/// A loadable image.
pub(crate) enum Image<'a> {
    Harness,
    Library(&'a [u8]),
}

impl<'a> Image<'a> {
    /// Recognises an image by its contents.
    ///
    /// # Safety
    /// `data` must point to a complete ELF file or to zero-terminated text.
    pub(crate) unsafe fn at(data: *const c_void) -> Result<Image<'a>, Refusal> {
        // SAFETY: both forms have at least one byte, and text that begins like an ELF file has
        // four.
        if !unsafe { CStr::from_ptr(data.cast::<c_char>()) }
            .to_bytes()
            .starts_with(b"\x7fELF")
        {
            // SAFETY: anything else is zero-terminated text.
            let text = unsafe { CStr::from_ptr(data.cast::<c_char>()) }.to_bytes();
            let ours = [7, 9].into_iter().any(|major| {
                let minor = if major == 7 { 5 } else { 0 };
                ptx_for(Capability { major, minor }).is_some_and(|ptx| ptx.as_bytes() == text)
            });
            return if ours {
                Ok(Image::Harness)
            } else {
                Err(Refusal(NO_BINARY_FOR_GPU))
            };
        }
        // SAFETY: the first bytes show an ELF file.
        let bytes = unsafe { elf(data.cast()) };
        if u16_at(bytes, 18) != CUDA_MACHINE {
            return Ok(Image::Library(bytes));
        }
        let ours = [7, 8, 9, 10, 12].into_iter().any(|major| {
            let minor = if major == 7 { 5 } else { 0 };
            matches!(image_for(Capability { major, minor }), Some(HarnessImage::Cubin(code)) if code.starts_with(&bytes[..64]))
        });
        if ours {
            Ok(Image::Harness)
        } else {
            Err(Refusal(NO_BINARY_FOR_GPU))
        }
    }
}

/// Returns the whole file. It ends with the section table, the segment table or the last section.
unsafe fn elf<'a>(start: *const u8) -> &'a [u8] {
    // SAFETY: a 64-bit ELF file has a header of 64 bytes.
    let header = unsafe { std::slice::from_raw_parts(start, 64) };
    let sections = u64_at(header, 40) as usize;
    let (size, count) = (usize::from(u16_at(header, 58)), usize::from(u16_at(header, 60)));
    let segments_end = u64_at(header, 32) as usize + usize::from(u16_at(header, 54)) * usize::from(u16_at(header, 56));
    // SAFETY: the header states the position of the table.
    let table = unsafe { std::slice::from_raw_parts(start.add(sections), size * count) };
    const NO_BITS: u32 = 8;
    let ends = table
        .chunks(size.max(1))
        .filter(|section| u32::from_le_bytes(array(section, 4)) != NO_BITS)
        .map(|section| (u64_at(section, 24) + u64_at(section, 32)) as usize);
    let end = ends
        .chain([64, segments_end, sections + size * count])
        .max()
        .unwrap_or(64);
    // SAFETY: every part that the file declares ends at or before this length.
    unsafe { std::slice::from_raw_parts(start, end) }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|position| bytes[at + position])
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// Puts a library into a private file, for loading by path. Each call makes a new file, so the
/// loader never takes two equal images for one.
pub(crate) struct Loadable {
    file: tempfile::NamedTempFile,
}

impl Loadable {
    pub(crate) fn new(bytes: &[u8]) -> Result<Loadable, Refusal> {
        let write = || -> std::io::Result<Loadable> {
            let mut file = tempfile::Builder::new().prefix("fake-cuda-").suffix(".so").tempfile()?;
            file.write_all(bytes)?;
            Ok(Loadable { file })
        };
        write().map_err(|_| Refusal(INVALID_IMAGE))
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }
}

/// The folder for images of compiled sources.
pub(crate) fn scratch() -> std::io::Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().to_owned();
    Ok((folder, path))
}
