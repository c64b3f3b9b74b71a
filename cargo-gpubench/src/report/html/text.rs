//! Text of strangers, made harmless to read: names and messages come from crates that nobody vouches for.

use std::fmt::Display;

/// Characters of one text that are shown; the rest is counted.
const LONGEST: usize = 8_000;

/// A text in which everything that could be seen wrongly is visible: no escape sequences, no control characters, no marks that reorder what is
/// written or that take no space. Line breaks and tabs stay.
pub(super) fn readable(text: &impl Display) -> String {
    let text = text.to_string();
    if text.len() <= LONGEST && text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
        return text;
    }
    // Without an escape character there is no sequence to take out, and stripping would hide other control characters.
    let stripped = match text.contains('\x1b') {
        true => anstream::adapter::strip_str(&text).to_string(),
        false => text,
    };
    let mut letters = stripped.chars();
    let shown: String = letters
        .by_ref()
        .take(LONGEST)
        .map(Letter::of)
        .map(|letter| letter.shown())
        .collect();
    match letters.count() {
        0 => shown,
        more => format!("{shown}… ({more} more characters)"),
    }
}

/// A letter by what it does to its surroundings.
enum Letter {
    /// Nothing.
    Plain(char),
    /// Starts a line.
    LineBreak,
    /// Has no picture, and no place in XML either.
    Control,
    /// Reorders its neighbours or hides among them.
    Invisible(char),
}

impl Letter {
    fn of(letter: char) -> Letter {
        match letter {
            '\n' | '\u{2028}' | '\u{2029}' => Letter::LineBreak,
            '\t' => Letter::Plain('\t'),
            '\u{fffe}' | '\u{ffff}' => Letter::Control,
            _ if letter.is_control() => Letter::Control,
            // Unicode 16, chapter 23: bidirectional controls, zero-width spaces, the byte order mark and tags. The joiners of words
            // (U+200C, U+200D) are part of how some scripts are written and stay.
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
            | '\u{e0000}'..='\u{e007f}' => Letter::Invisible(letter),
            _ => Letter::Plain(letter),
        }
    }

    fn shown(self) -> String {
        match self {
            Letter::Plain(letter) => letter.to_string(),
            Letter::LineBreak => "\n".to_owned(),
            Letter::Control => "\u{fffd}".to_owned(),
            Letter::Invisible(letter) => format!("⟨U+{:04X}⟩", u32::from(letter)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(readable(&"a\u{202e}b\u{200b}c\u{feff}"), "a⟨U+202E⟩b⟨U+200B⟩c⟨U+FEFF⟩");
        assert_eq!(
            readable(&"bell\u{7} nul\0 c1\u{9b}"),
            "bell\u{fffd} nul\u{fffd} c1\u{fffd}"
        );
        assert_eq!(readable(&"one\u{2028}two\nthree\tfour"), "one\ntwo\nthree\tfour");
    }

    #[test]
    fn escape_sequences_of_compilers_are_taken_out() {
        assert_eq!(readable(&"\x1b[1m\x1b[31merror\x1b[0m: no"), "error: no");
    }

    #[test]
    fn letters_of_every_script_stay() {
        assert_eq!(readable(&"ядро 核 نواة µs ✓"), "ядро 核 نواة µs ✓");
    }

    #[test]
    fn a_text_without_an_end_is_cut_and_what_is_missing_counted() {
        let shown = readable(&"é".repeat(LONGEST + 5));
        assert!(shown.ends_with("é… (5 more characters)"), "{shown}");
    }
}
