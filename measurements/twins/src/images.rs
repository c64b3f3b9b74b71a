//! The suite's compiled kernels, read from an archive.

use gpubench::prelude::*;

include!(concat!(env!("TWINS_KERNELS"), "/table.rs"));

/// An image for the driver, and the symbols of its kernels.
pub(crate) struct Image {
    names: Vec<(String, String)>,
    pub(crate) code: &'static [u8],
}

impl Image {
    /// Reads the image of a source.
    pub(crate) fn from_source(source: &str) -> Result<Image> {
        let found = IMAGES.iter().find(|(name, _)| *name == source);
        let (_, file) =
            found.ok_or_else(|| Error::new(format!("the archive of the suite has no kernels of `{source}`")))?;
        Image::decode(file).ok_or_else(|| Error::new(format!("the kernels of `{source}` are damaged")))
    }

    /// The format of `KernelImage::encode` in gpubench-device.
    fn decode(file: &'static [u8]) -> Option<Image> {
        let file = file.strip_suffix(b"GBKIMG03")?;
        let (file, length) = file.split_last_chunk()?;
        let (code, mut rest) = file.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        let number = |rest: &mut &'static [u8]| {
            let (number, after) = rest.split_first_chunk()?;
            *rest = after;
            Some(u32::from_le_bytes(*number) as usize)
        };
        let mut names = Vec::new();
        for _ in 0..number(&mut rest)? {
            let mut text = || {
                let length = number(&mut rest)?;
                let (text, after) = rest.split_at_checked(length)?;
                rest = after;
                String::from_utf8(text.to_vec()).ok()
            };
            names.push((text()?, text()?));
        }
        Some(Image { names, code })
    }

    /// Returns the symbol of a kernel.
    pub(crate) fn symbol<'a>(&'a self, kernel: &'a str) -> &'a str {
        let found = self.names.iter().find(|(name, _)| name == kernel);
        found.map_or(kernel, |(_, symbol)| symbol)
    }
}
