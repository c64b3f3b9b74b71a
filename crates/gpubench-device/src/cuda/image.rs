//! A compiled source as a file: the image for the driver, and how its kernels are called there.

use serde::{Deserialize, Serialize};

/// First bytes of such a file.
const MAGIC: &[u8; 8] = b"GBKIMG01";

/// A compiled source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelImage {
    /// Name expressions with the symbols they stand for. A name that is not here is looked up as it
    /// stands.
    pub names: Vec<(String, String)>,
    /// A cubin, a fatbin, or PTX that ends with a zero: what `cuModuleLoadData` takes.
    pub image: Vec<u8>,
}

/// Bytes that are no kernel image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamagedImage {
    /// They begin otherwise.
    #[error("it is no compiled kernel, or one of another version of this tool")]
    Magic,
    /// They end early, or a length in them is wrong.
    #[error("it is damaged or was cut short")]
    Truncated,
    /// A name is no UTF-8.
    #[error("a name in it is no text")]
    Name,
}

impl KernelImage {
    /// The symbol of a kernel by its name expression.
    pub fn symbol<'a>(&'a self, name: &'a str) -> &'a str {
        let found = self.names.iter().find(|(expression, _)| expression == name);
        found.map_or(name, |(_, symbol)| symbol)
    }

    /// The file's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(self.names.len() as u32).to_le_bytes());
        for text in self.names.iter().flat_map(|(name, symbol)| [name, symbol]) {
            bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes.extend_from_slice(&self.image);
        bytes
    }

    /// Reads what [`KernelImage::encode`] made.
    ///
    /// # Errors
    /// When the bytes are something else.
    pub fn decode(bytes: &[u8]) -> Result<KernelImage, DamagedImage> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(DamagedImage::Magic)?;
        let count = take_number(&mut rest)?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push((take_text(&mut rest)?, take_text(&mut rest)?));
        }
        Ok(KernelImage {
            names,
            image: rest.to_vec(),
        })
    }
}

fn take_number(rest: &mut &[u8]) -> Result<u32, DamagedImage> {
    let (number, behind) = rest.split_first_chunk().ok_or(DamagedImage::Truncated)?;
    *rest = behind;
    Ok(u32::from_le_bytes(*number))
}

fn take_text(rest: &mut &[u8]) -> Result<String, DamagedImage> {
    let length = take_number(rest)? as usize;
    let (text, behind) = rest.split_at_checked(length).ok_or(DamagedImage::Truncated)?;
    *rest = behind;
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
            image: b"\x7fELF\x02\x01".to_vec(),
        }
    }

    #[test]
    fn an_image_is_read_as_it_was_written() {
        for image in [image(), KernelImage::default()] {
            assert_eq!(KernelImage::decode(&image.encode()), Ok(image));
        }
    }

    #[test]
    fn the_format_stays_as_it_is() {
        let small = KernelImage {
            names: vec![("a".into(), "bc".into())],
            image: vec![9],
        };
        assert_eq!(small.encode(), b"GBKIMG01\x01\0\0\0\x01\0\0\0a\x02\0\0\0bc\x09");
    }

    #[test]
    fn a_name_that_is_not_in_the_table_stands_for_itself() {
        assert_eq!(image().symbol("reduce<256>"), "_Z6reduceILi256EEvPf");
        assert_eq!(image().symbol("plain"), "plain");
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = image().encode();
        assert_eq!(KernelImage::decode(b"GBKIMG02"), Err(DamagedImage::Magic));
        for end in MAGIC.len()..bytes.len() - image().image.len() {
            assert_eq!(
                KernelImage::decode(&bytes[..end]),
                Err(DamagedImage::Truncated),
                "{end}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_no_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let mut file = MAGIC.to_vec();
            file.extend_from_slice(&bytes);
            if let Ok(image) = KernelImage::decode(&file) {
                proptest::prop_assert_eq!(image.encode(), file);
            }
        }
    }
}
