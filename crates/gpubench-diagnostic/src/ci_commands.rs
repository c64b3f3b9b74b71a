//! Commands of CI systems. Their runners obey what a job prints, whoever wrote it: GitHub's and
//! Forgejo's a line that begins with `::error …::` after any blanks, GitHub's `##[group]`, Azure's
//! `##vso[…]` and TeamCity's `##teamcity[…]` even within a line, GitLab's and Travis's
//! `section_start:…` and `travis_fold:…`.

use crate::printable::visible;

/// What is put into a command. No runner knows the rest, and to a shell it is nothing: between
/// quotes, it ends and begins them.
const MARK: &[u8] = b"''";

/// Words that are commands before a colon.
const WORDS: [&str; 4] = ["section_start", "section_end", "travis_fold", "travis_time"];
const LONGEST_WORD: usize = 13;

/// Follows a text that is printed in pieces, and puts two apostrophes into every command, as in
/// `:'':error`, `##''[group]` and `section_start'':`. The tool prints no commands, so all of them
/// are other people's. Bytes that are not ASCII pass, so that the text may be cut anywhere.
#[derive(Clone, Debug, Default)]
pub struct CommandMarks {
    line: Line,
    hashes: Hashes,
    word: Vec<u8>,
    escape: Escape,
}

/// What the line had until now, besides blanks and the lines of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Nothing,
    Colon,
    Text,
}

/// Whether the text may go on as a command that is known by its hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hashes {
    #[default]
    None,
    One,
    /// Two, and letters.
    Two,
}

/// A style of the tool. Where it is not shown it is removed, so commands go on after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    Outside,
    Begun,
    Parameters,
}

impl CommandMarks {
    /// Returns the next piece of the text, with marks. Spells out invisible letters, should any
    /// have come this far.
    pub fn mark(&mut self, piece: &str) -> String {
        // Only ASCII is added, before ASCII.
        String::from_utf8_lossy(&self.mark_bytes(visible(piece).as_bytes())).into_owned()
    }

    /// Returns the next piece of the text, with marks.
    pub fn mark_bytes(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut marked = Vec::with_capacity(piece.len());
        for byte in piece {
            if self.completes_command(*byte) {
                marked.extend_from_slice(MARK);
            }
            marked.push(*byte);
        }
        marked
    }

    fn completes_command(&mut self, byte: u8) -> bool {
        if self.is_of_a_style(byte) {
            return false;
        }
        let by_hashes = byte == b'[' && self.hashes == Hashes::Two;
        self.hashes = match (byte, self.hashes) {
            (b'#', Hashes::None) => Hashes::One,
            (b'#', _) => Hashes::Two,
            (byte, Hashes::Two) if is_of_a_word(byte) => Hashes::Two,
            _ => Hashes::None,
        };
        let by_colons = byte == b':' && self.line == Line::Colon;
        self.line = match (byte, self.line) {
            (b'\n' | b'\r', _) => Line::Nothing,
            (b':', Line::Nothing) => Line::Colon,
            (byte, Line::Nothing) if !byte.is_ascii_graphic() || byte == b'|' => Line::Nothing,
            _ => Line::Text,
        };
        let by_word = byte == b':' && WORDS.iter().any(|word| self.word.ends_with(word.as_bytes()));
        if is_of_a_word(byte) {
            self.word.push(byte)
        } else {
            self.word.clear()
        }
        if self.word.len() > LONGEST_WORD {
            self.word.remove(0);
        }
        by_hashes || by_colons || by_word
    }

    fn is_of_a_style(&mut self, byte: u8) -> bool {
        let before = self.escape;
        self.escape = match (before, byte) {
            (_, 0x1b) => Escape::Begun,
            (Escape::Begun, b'[') => Escape::Parameters,
            (Escape::Parameters, b'\x20'..=b'\x3f') => Escape::Parameters,
            _ => Escape::Outside,
        };
        // What follows an escape character that begins no style is text, to be safe.
        self.escape != Escape::Outside || before == Escape::Parameters && byte.is_ascii_alphabetic()
    }
}

fn is_of_a_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(text: &str) -> String {
        CommandMarks::default().mark(text)
    }

    #[test]
    fn commands_of_every_kind_are_marked() {
        for (command, expected) in [
            ("::error file=a,line=1::x", ":'':error file=a,line=1::x"),
            ("::stop-commands::x", ":'':stop-commands::x"),
            ("\u{a0} \t::add-mask::x", "\u{a0} \t:'':add-mask::x"),
            ("│ ::error::x", "│ :'':error::x"),
            ("| ::error::x", "| :'':error::x"),
            ("\u{1b}[1m:\u{1b}[0m:error::", "\u{1b}[1m:\u{1b}[0m'':error::"),
            ("text\n::error::x", "text\n:'':error::x"),
            ("text\r::error::x", "text\r:'':error::x"),
            ("##[error]x", "##''[error]x"),
            ("text ##[error]x", "text ##''[error]x"),
            ("a###vso[task.complete]", "a###vso''[task.complete]"),
            ("#\u{1b}[1m#vso\u{1b}[0m[x", "#\u{1b}[1m#vso\u{1b}[0m''[x"),
            ("##teamcity[message text='x']", "##teamcity''[message text='x']"),
            // In a command for a shell, the word is the same.
            ("x '##vso[$(evil)]'", "x '##vso''[$(evil)]'"),
            ("\u{202e}::error::x", "⟨U+202E⟩::error::x"),
            ("a\u{2028}::error::x\u{9b}", "a\n:'':error::x\u{fffd}"),
            ("section_start:1:a", "section_start'':1:a"),
            ("\u{1b}[0Ksection_end:1:a", "\u{1b}[0Ksection_end'':1:a"),
            ("x travis_fold:start:a", "x travis_fold'':start:a"),
        ] {
            assert_eq!(marked(command), expected);
            let mut marks = CommandMarks::default();
            let letter_by_letter: String = command.chars().map(|letter| marks.mark(&letter.to_string())).collect();
            assert_eq!(letter_by_letter, expected, "cut anywhere");
        }
    }

    #[test]
    fn other_text_is_unchanged() {
        for text in [
            "rows::sums::n=1  1.2 µs ::",
            "## Title\n| a | b |\n|:--|--:|\n",
            "#[test] # [x] ## [x]",
            "error: a\n: b",
            "section: start:",
            "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: `x`",
        ] {
            assert_eq!(marked(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_text_in_any_pieces_contains_a_command(pieces in prop::collection::vec("[:#\\[a-z \n\r|]{0,6}|section_start|##vso|\u{1b}\\[1m", 0..12)) {
            let mut marks = CommandMarks::default();
            let text: String = pieces.iter().map(|piece| marks.mark(piece)).collect();
            let shown = anstream::adapter::strip_str(&text).to_string();
            for line in shown.split(['\n', '\r']) {
                let begin = line.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '|');
                prop_assert!(!begin.starts_with("::"), "{line:?}");
                for word in ["##[", "##vso[", "section_start:"] {
                    prop_assert!(!line.contains(word), "{line:?}");
                }
            }
            prop_assert_eq!(marked(&text), text, "marked text needs no marks");
        }
    }
}
