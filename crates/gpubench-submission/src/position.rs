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
    }
}
