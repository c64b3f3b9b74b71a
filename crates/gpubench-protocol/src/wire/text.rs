//! Short text in a record of fixed size.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use gpubench_diagnostic::continued;

const CAPACITY: usize = 504;

/// At most 504 bytes of text. Longer text is cut off.
#[derive(Clone, Copy, Debug, Pod, Zeroable, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[repr(C)]
pub struct FixedText {
    length: u64,
    bytes: [u8; CAPACITY],
}

impl From<String> for FixedText {
    fn from(text: String) -> FixedText {
        FixedText::new(&text)
    }
}

impl From<FixedText> for String {
    fn from(text: FixedText) -> String {
        String::from_utf8_lossy(text.written()).into_owned()
    }
}

impl FixedText {
    /// No text.
    pub const EMPTY: FixedText = FixedText {
        length: 0,
        bytes: [0; CAPACITY],
    };

    /// Returns `text`, cut to the size limit.
    pub fn new(text: &str) -> FixedText {
        let end = (0..=text.len().min(CAPACITY))
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(0);
        let mut bytes = [0; CAPACITY];
        bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
        FixedText {
            length: end as u64,
            bytes,
        }
    }

    /// Returns the text, safe to print whoever wrote the record: valid UTF-8, without control
    /// characters, with later lines indented.
    pub fn printable(&self) -> String {
        let text = String::from_utf8_lossy(self.written());
        let shown: String = text
            .chars()
            .map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c })
            .collect();
        continued(&shown)
    }

    fn written(&self) -> &[u8] {
        &self.bytes[..(self.length as usize).min(CAPACITY)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_a_character_and_has_no_escape_sequences() {
        assert_eq!(FixedText::new("a\u{1b}[31mb\nc").printable(), "a\u{fffd}[31mb\n    c");
        let long = "é".repeat(400);
        assert_eq!(FixedText::new(&long).printable(), "é".repeat(CAPACITY / 2));
        let forged = FixedText {
            length: u64::MAX,
            bytes: [0xff; CAPACITY],
        };
        assert_eq!(forged.printable().chars().count(), CAPACITY);
    }
}
