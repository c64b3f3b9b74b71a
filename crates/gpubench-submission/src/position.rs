//! Places in the files of a submission, for messages.

use std::fmt;
use std::sync::Arc;

/// A character of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file, as messages show it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
}

impl Position {
    /// Returns the line as `file:line`, as a plan names its steps.
    pub fn of_line(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Returns the position some characters to the right.
    pub(crate) fn plus(&self, characters: usize) -> Position {
        Position {
            column: self.column.saturating_add(characters as u32),
            ..self.clone()
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A part of a file's text, which knows where it is in the file.
#[derive(Clone, Debug)]
pub(crate) struct Text<'t> {
    text: &'t str,
    start: Position,
}

impl<'t> Text<'t> {
    /// Returns the whole text of a file.
    pub(crate) fn of_file(file: &str, text: &'t str) -> Text<'t> {
        let (line, column) = (1, 1);
        let file = file.into();
        Text {
            text,
            start: Position { file, line, column },
        }
    }

    /// Returns a part: the bytes from `start` to `end`, both at characters.
    pub(crate) fn part(&self, start: usize, end: usize) -> Text<'t> {
        Text {
            text: &self.text[start..end],
            start: self.position(start),
        }
    }

    pub(crate) fn as_str(&self) -> &'t str {
        self.text
    }

    /// Returns the position of a byte of the part.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let lines = before.iter().filter(|byte| **byte == b'\n').count() as u32;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let is_first = |byte: &&u8| (**byte & 0xc0) != 0x80;
        let characters = before[line_start..].iter().filter(is_first).count() as u32;
        Position {
            file: self.start.file.clone(),
            line: self.start.line.saturating_add(lines),
            column: characters.saturating_add(if lines == 0 { self.start.column } else { 1 }),
        }
    }
}

/// The positions of all bytes of a short text.
#[derive(Clone, Debug)]
pub(crate) struct Positions<'t> {
    text: &'t str,
    file: Arc<str>,
    /// Line and column of each byte, and of the end.
    of_bytes: Vec<(u32, u32)>,
}

impl<'t> Positions<'t> {
    pub(crate) fn of(text: &Text<'t>) -> Positions<'t> {
        let Position { file, line, column } = text.start.clone();
        let mut at = (line, column);
        let mut of_bytes = Vec::with_capacity(text.text.len() + 1);
        for letter in text.text.chars() {
            of_bytes.extend(std::iter::repeat_n(at, letter.len_utf8()));
            let (line, column) = at;
            at = if letter == '\n' {
                (line.saturating_add(1), 1)
            } else {
                (line, column.saturating_add(1))
            };
        }
        of_bytes.push(at);
        let text = text.text;
        Positions { text, file, of_bytes }
    }

    pub(crate) fn as_str(&self) -> &'t str {
        self.text
    }

    /// Returns the position of a byte.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let (line, column) = self.of_bytes[offset.min(self.of_bytes.len() - 1)];
        let file = self.file.clone();
        Position { file, line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_lines_of_the_file_and_characters_of_the_line() {
        let text = Text::of_file("a.cu", "int x;\n/* µ gpubench\nkernel = 1 */\n");
        let part = text.part(9, 35);
        assert_eq!(part.position(0).to_string(), "a.cu:2:3");
        assert_eq!(part.position(4).to_string(), "a.cu:2:6");
        assert_eq!(part.position(13).to_string(), "a.cu:3:1");
        assert_eq!(part.position(usize::MAX).of_line(), "a.cu:3");
        let positions = Positions::of(&part);
        for offset in 0..30 {
            if part.as_str().is_char_boundary(offset) {
                assert_eq!(positions.position(offset), part.position(offset), "{offset}");
            }
        }
    }
}
