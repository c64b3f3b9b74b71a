//! Safe display of untrusted text, such as names and messages of crates, files and compilers. The
//! same rules apply to all output for people: terminals, comments, tables and pages.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Makes a text safe to display. Removes escape sequences, replaces control characters by U+FFFD,
/// and spells out invisible characters and those that reorder text, as in `⟨U+202E⟩`. Line breaks
/// stay; a tab becomes four spaces.
pub fn printable(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
        return text.to_owned();
    }
    // Without an escape character there is no sequence to remove, and stripping would drop other
    // control characters without a trace.
    let stripped = if text.contains('\x1b') {
        anstream::adapter::strip_str(text).to_string()
    } else {
        text.to_owned()
    };
    let shown = stripped.replace("\r\n", "\n");
    replaced(&shown, |_| true)
}

/// Does the same with letters that are not ASCII, for text that may have styles of the tool.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        text.into()
    } else {
        replaced(text, |letter| !letter.is_ascii()).into()
    }
}

fn replaced(text: &str, is_untrusted: impl Fn(char) -> bool) -> String {
    let letters = text.chars();
    let shown = |letter| replacement(letter).filter(|_| is_untrusted(letter));
    letters
        .map(|letter| shown(letter).unwrap_or_else(|| letter.to_string()))
        .collect()
}

/// Makes a text safe to display on one line. A line break becomes a space.
pub fn printable_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}

/// Lists names in backticks: `` `axpy`, `softmax` ``.
pub fn in_backticks(names: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Formats bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Replaces what must not reach a terminal or a log in JSON by escapes, which mean the same:
/// characters that [`printable`] replaces, and the hashes of CI systems' commands.
pub fn printable_json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        // In JSON, all of these are in strings.
        let is_second_hash = letter == '#' && escaped.ends_with('#');
        if is_second_hash || letter != '\n' && !is_printable(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                // Writing to a string does not fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// Whether [`printable`] leaves a letter unchanged.
pub fn is_printable(letter: char) -> bool {
    replacement(letter).is_none()
}

/// Returns the replacement for a letter that is not safe to display. `None` if it is safe.
fn replacement(letter: char) -> Option<String> {
    Some(match letter {
        '\n' | '\u{2028}' | '\u{2029}' => "\n".to_owned(),
        '\t' => "    ".to_owned(),
        // Noncharacters, which have no glyph and are not allowed in XML.
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER.to_string(),
        _ if letter.is_control() => char::REPLACEMENT_CHARACTER.to_string(),
        // Unicode 16, chapter 23: bidirectional controls, zero-width spaces, the byte order mark
        // and tags. The joiners U+200C and U+200D stay, because some scripts need them.
        '\u{61c}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => format!("⟨U+{:04X}⟩", u32::from(letter)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_cannot_move_the_cursor() {
        assert_eq!(printable("a\x1b[2J\x1b[31mb"), "ab");
        assert_eq!(printable("\x1b[1m\x1b[31merror\x1b[0m: no"), "error: no");
        assert_eq!(
            printable("bell\u{7} nul\0 c1\u{9b}2J"),
            "bell\u{fffd} nul\u{fffd} c1\u{fffd}2J"
        );
        assert_eq!(printable("over\rwritten"), "over\u{fffd}written");
    }

    #[test]
    fn invisible_characters_are_spelled_out() {
        assert_eq!(printable("a\u{202e}b\u{200b}c\u{feff}"), "a⟨U+202E⟩b⟨U+200B⟩c⟨U+FEFF⟩");
    }

    #[test]
    fn line_breaks_stay() {
        assert_eq!(
            printable("one\r\ntwo\u{2028}three\n\tfour"),
            "one\ntwo\nthree\n    four"
        );
        assert_eq!(printable_line("one\r\ntwo\u{2029}three"), "one two three");
    }

    #[test]
    fn json_keeps_its_meaning_without_what_a_log_must_not_have() {
        assert_eq!(
            printable_json("\"a##[b]###\u{202e}\u{e0001}µ\"\n"),
            "\"a#\\u0023[b]#\\u0023#\\u202e\\udb40\\udc01µ\"\n"
        );
        assert_eq!(printable_json("{\"a\":[\"#\"]}"), "{\"a\":[\"#\"]}");
    }

    #[test]
    fn letters_of_all_scripts_stay() {
        assert_eq!(printable("ядро 核 نواة µs ✓"), "ядро 核 نواة µs ✓");
    }

    proptest! {
        #[test]
        fn printable_text_is_visible_and_stays_the_same(text in any::<String>()) {
            let shown = printable(&text);
            prop_assert!(shown.chars().all(|letter| letter == '\n' || is_printable(letter)), "{:?}", shown);
            prop_assert_eq!(printable(&shown), shown);
        }
    }
}
