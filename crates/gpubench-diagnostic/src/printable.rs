//! Text of others for people: names and messages come from crates, files and compilers that nobody
//! vouches for. One rule for everything that people read, whether on a terminal, in a comment, in a
//! table or on a page.

/// A text in which nothing happens that cannot be seen: escape sequences are taken out, control
/// characters become U+FFFD, and marks that reorder their neighbours or hide among them are spelled
/// out, as in `⟨U+202E⟩`. Line breaks stay; a tab is four spaces.
pub fn printable(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
        return text.to_owned();
    }
    // Without an escape character there is no sequence to take out, and stripping would hide other
    // control characters.
    let stripped = match text.contains('\x1b') {
        true => anstream::adapter::strip_str(text).to_string(),
        false => text.to_owned(),
    };
    let shown = stripped.replace("\r\n", "\n");
    let letters = shown.chars();
    letters
        .map(|letter| stand_in(letter).unwrap_or_else(|| letter.to_string()))
        .collect()
}

/// The same on one line: a break is a space.
pub fn printable_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}

/// Names in backticks: `` `axpy`, `softmax` ``.
pub fn in_backticks(names: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a letter stands for itself: [`printable`] leaves it as it is.
pub fn is_printable(letter: char) -> bool {
    stand_in(letter).is_none()
}

/// What is shown of a letter that does something to its surroundings; `None` for one that stands
/// for itself.
fn stand_in(letter: char) -> Option<String> {
    Some(match letter {
        '\n' | '\u{2028}' | '\u{2029}' => "\n".to_owned(),
        '\t' => "    ".to_owned(),
        // Without a picture, and without a place in XML.
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER.to_string(),
        _ if letter.is_control() => char::REPLACEMENT_CHARACTER.to_string(),
        // Unicode 16, chapter 23: bidirectional controls, zero-width spaces, the byte order mark
        // and tags. The joiners of words (U+200C, U+200D) are part of how some scripts are written
        // and stay.
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
    fn what_cannot_be_seen_is_spelled_out() {
        assert_eq!(printable("a\u{202e}b\u{200b}c\u{feff}"), "a⟨U+202E⟩b⟨U+200B⟩c⟨U+FEFF⟩");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(
            printable("one\r\ntwo\u{2028}three\n\tfour"),
            "one\ntwo\nthree\n    four"
        );
        assert_eq!(printable_line("one\r\ntwo\u{2029}three"), "one two three");
    }

    #[test]
    fn letters_of_every_script_stay() {
        assert_eq!(printable("ядро 核 نواة µs ✓"), "ядро 核 نواة µs ✓");
    }

    proptest! {
        #[test]
        fn everything_that_comes_out_can_be_seen_and_comes_out_the_same_again(text in any::<String>()) {
            let shown = printable(&text);
            prop_assert!(shown.chars().all(|letter| letter == '\n' || is_printable(letter)), "{:?}", shown);
            prop_assert_eq!(printable(&shown), shown);
        }
    }
}
