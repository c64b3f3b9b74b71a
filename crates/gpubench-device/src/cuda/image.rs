//! The file format of compiled sources: the image for the driver, and the symbols of its kernels.
//! The image comes first, so that tools for such images can read the file.

use serde::{Deserialize, Serialize};

use super::ptxas::AssemblerReport;

/// The last bytes of the file.
const MAGIC: &[u8; 8] = b"GBKIMG03";

/// A compiled source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelImage {
    /// Pairs of a name expression and its symbol. A name that is not listed is its own symbol.
    pub names: Vec<(String, String)>,
    /// What the assembler says of the kernels. Empty if it did not make the image.
    pub reports: Vec<AssemblerReport>,
    /// An image for `cuModuleLoadData`: a cubin, a fatbin, or PTX that ends with a zero byte.
    pub image: Vec<u8>,
}

/// The form of the code in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageForm {
    /// Machine code for one architecture.
    Cubin,
    /// Several images, compressed.
    Fatbin,
    /// Text that the driver compiles.
    Ptx,
}

/// The first bytes of a fatbin.
const FATBIN: &[u8] = b"\x50\xed\x55\xba";

/// Why bytes are not a kernel image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamagedImage {
    /// The last bytes are wrong.
    #[error("the file is truncated, or not a compiled kernel of this version of the tool")]
    Magic,
    /// A length is wrong.
    #[error("the file is damaged")]
    Length,
    /// A name is not UTF-8.
    #[error("a name in the file is not UTF-8")]
    Name,
}

impl KernelImage {
    /// Returns the symbol of a kernel by its name expression.
    pub fn symbol<'a>(&'a self, name: &'a str) -> &'a str {
        let found = self.names.iter().find(|(expression, _)| expression == name);
        found.map_or(name, |(_, symbol)| symbol)
    }

    /// Returns what the assembler says of a kernel by its name expression.
    pub fn report(&self, name: &str) -> Option<&AssemblerReport> {
        let symbol = self.symbol(name);
        self.reports.iter().find(|report| report.symbol == symbol)
    }

    /// Returns the form of the code.
    pub fn form(&self) -> ImageForm {
        match &*self.image {
            image if image.starts_with(b"\x7fELF") => ImageForm::Cubin,
            image if image.starts_with(FATBIN) => ImageForm::Fatbin,
            _ => ImageForm::Ptx,
        }
    }

    /// Returns the bytes of the file: the image, the names, the reports, the length of the image.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.image.clone();
        bytes.extend_from_slice(&(self.names.len() as u32).to_le_bytes());
        for text in self.names.iter().flat_map(|(name, symbol)| [name, symbol]) {
            put_text(&mut bytes, text);
        }
        bytes.extend_from_slice(&(self.reports.len() as u32).to_le_bytes());
        for report in &self.reports {
            put_text(&mut bytes, &report.symbol);
            for number in report.numbers() {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        bytes.extend_from_slice(&(self.image.len() as u64).to_le_bytes());
        bytes.extend_from_slice(MAGIC);
        bytes
    }

    /// Parses the output of [`KernelImage::encode`].
    ///
    /// # Errors
    /// When the bytes are not such an output.
    pub fn decode(bytes: &[u8]) -> Result<KernelImage, DamagedImage> {
        let bytes = bytes.strip_suffix(MAGIC).ok_or(DamagedImage::Magic)?;
        let (bytes, length) = bytes.split_last_chunk().ok_or(DamagedImage::Length)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| DamagedImage::Length)?;
        let (image, mut rest) = bytes.split_at_checked(length).ok_or(DamagedImage::Length)?;
        let count = take_number(&mut rest)?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push((take_text(&mut rest)?, take_text(&mut rest)?));
        }
        let count = take_number(&mut rest)?;
        let mut reports = Vec::new();
        for _ in 0..count {
            let symbol = take_text(&mut rest)?;
            let mut numbers = [0; 5];
            for number in &mut numbers {
                *number = take_number(&mut rest)?;
            }
            reports.push(AssemblerReport::of_numbers(symbol, numbers));
        }
        if !rest.is_empty() {
            return Err(DamagedImage::Length);
        }
        Ok(KernelImage {
            names,
            reports,
            image: image.to_vec(),
        })
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn take_number(rest: &mut &[u8]) -> Result<u32, DamagedImage> {
    let (number, after) = rest.split_first_chunk().ok_or(DamagedImage::Length)?;
    *rest = after;
    Ok(u32::from_le_bytes(*number))
}

fn take_text(rest: &mut &[u8]) -> Result<String, DamagedImage> {
    let length = take_number(rest)? as usize;
    let (text, after) = rest.split_at_checked(length).ok_or(DamagedImage::Length)?;
    *rest = after;
    String::from_utf8(text.to_vec()).map_err(|_| DamagedImage::Name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> KernelImage {
        KernelImage {
            names: vec![
                ("reduce<256>".into(), "_Z6reduceILi256EEvPf".into()),
                ("c".into(), "c".into()),
            ],
            reports: vec![AssemblerReport {
                symbol: "c".into(),
                registers: 22,
                static_shared: 512,
                stack: 256,
                spill_stores: 24,
                spill_loads: 48,
            }],
            image: b"\x7fELF\x02\x01".to_vec(),
        }
    }

    #[test]
    fn an_image_survives_a_round_trip() {
        for image in [image(), KernelImage::default()] {
            assert_eq!(KernelImage::decode(&image.encode()), Ok(image));
        }
    }

    #[test]
    fn the_format_does_not_change() {
        let small = KernelImage {
            names: vec![("a".into(), "bc".into())],
            image: vec![9],
            ..KernelImage::default()
        };
        assert_eq!(
            small.encode(),
            b"\x09\x01\0\0\0\x01\0\0\0a\x02\0\0\0bc\0\0\0\0\x01\0\0\0\0\0\0\0GBKIMG03"
        );
    }

    #[test]
    fn a_name_without_an_entry_is_its_own_symbol() {
        assert_eq!(image().symbol("reduce<256>"), "_Z6reduceILi256EEvPf");
        assert_eq!(image().symbol("plain"), "plain");
        assert_eq!(image().report("c").map(|report| report.registers), Some(22));
        assert_eq!(image().report("reduce<256>"), None);
    }

    #[test]
    fn damage_is_detected() {
        let bytes = image().encode();
        for end in 0..bytes.len() {
            assert_eq!(KernelImage::decode(&bytes[..end]), Err(DamagedImage::Magic), "{end}");
        }
        for missing in 1..bytes.len() - MAGIC.len() {
            assert_eq!(
                KernelImage::decode(&bytes[missing..]),
                Err(DamagedImage::Length),
                "{missing}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn decoding_never_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let file = [&bytes[..], MAGIC].concat();
            if let Ok(image) = KernelImage::decode(&file) {
                proptest::prop_assert_eq!(image.encode(), file);
            }
        }
    }
}
