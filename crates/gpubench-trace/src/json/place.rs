//! Where a value is in the text of a document.
//!
//! The parser of `serde_json` knows the position of an error but not the names around it, and
//! rules that are checked afterwards know the names but not the position.

use super::fault::{Path, Step};

enum Frame {
    Object {
        /// The bytes of the last key, with its quotes.
        key: Option<(usize, usize)>,
        expects_key: bool,
    },
    Array {
        index: usize,
    },
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    frames: Vec<Frame>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Scanner<'t> {
        Scanner {
            text: text.as_bytes(),
            at: 0,
            frames: Vec::new(),
        }
    }

    /// Reads one byte, or a whole string. Returns whether a value may begin after it.
    fn step(&mut self) -> Option<bool> {
        let byte = *self.text.get(self.at)?;
        let start = self.at;
        self.at += 1;
        match byte {
            b'{' => self.frames.push(Frame::Object {
                key: None,
                expects_key: true,
            }),
            b'[' => {
                self.frames.push(Frame::Array { index: 0 });
                return Some(true);
            }
            b'}' | b']' => drop(self.frames.pop()),
            b',' => match self.frames.last_mut() {
                Some(Frame::Object { expects_key, .. }) => *expects_key = true,
                Some(Frame::Array { index }) => {
                    *index += 1;
                    return Some(true);
                }
                None => {}
            },
            b':' => {
                if let Some(Frame::Object { expects_key, .. }) = self.frames.last_mut() {
                    *expects_key = false;
                    return Some(true);
                }
            }
            b'"' => {
                while let Some(byte) = self.text.get(self.at) {
                    self.at += 1;
                    match byte {
                        b'"' => break,
                        b'\\' => self.at += 1,
                        _ => {}
                    }
                }
                let end = self.at.min(self.text.len());
                if let Some(Frame::Object { key, expects_key: true }) = self.frames.last_mut() {
                    *key = Some((start, end));
                }
            }
            _ => {}
        }
        Some(false)
    }

    fn path(&self) -> Path {
        let steps = self.frames.iter().map_while(|frame| match frame {
            Frame::Array { index } => Some(Step::Index(*index)),
            Frame::Object { key: None, .. } => None,
            Frame::Object { key: Some(key), .. } => {
                let quoted = &self.text[key.0..key.1];
                let key = serde_json::from_slice(quoted);
                Some(Step::Key(
                    key.unwrap_or_else(|_| String::from_utf8_lossy(quoted).into_owned()),
                ))
            }
        });
        Path(steps.collect())
    }

    /// Whether the scanner is where the value at `path` begins.
    fn is_at(&self, path: &[Step]) -> bool {
        self.frames.len() == path.len() && self.path().0 == path
    }
}

/// Returns the way to the value that ends at a line and a column, both counted from 1, as in errors
/// of `serde_json`.
pub(super) fn path_at(text: &str, line: usize, column: usize) -> Path {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let end = (before + column).saturating_sub(1).min(text.len());
    let mut scanner = Scanner::new(text);
    while scanner.at < end && scanner.step().is_some() {}
    let mut path = scanner.path();
    // The error is about the whole object or array that ends here.
    if matches!(text.as_bytes().get(end), Some(b'}' | b']')) {
        path.0.truncate(scanner.frames.len().saturating_sub(1));
    }
    path
}

/// Returns the line of the value at a path, counted from 1, or that of the closest value around it.
pub(super) fn line_of(text: &str, path: &Path) -> usize {
    let mut steps = path.0.as_slice();
    while !steps.is_empty() {
        let mut scanner = Scanner::new(text);
        while let Some(begins) = scanner.step() {
            if begins && scanner.is_at(steps) {
                // The value itself may be on a later line.
                let rest = &scanner.text[scanner.at..];
                let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                return line_at(text, scanner.at + blank);
            }
        }
        steps = &steps[..steps.len() - 1];
    }
    let blank = text.len() - text.trim_start().len();
    line_at(text, blank)
}

fn line_at(text: &str, position: usize) -> usize {
    1 + text.as_bytes()[..position]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  "a": {"b": [1, {"c\"}": 2}, "x]"]},
  "d":
    [[], [true]]
}"#;

    #[test]
    fn a_value_is_found_by_its_path() {
        let c = Path::key("a").then("b").at(1).then("c\"}");
        let d = Path::key("d").at(1).at(0);
        assert_eq!(line_of(TEXT, &Path::default()), 1);
        assert_eq!(line_of(TEXT, &c), 2);
        assert_eq!(line_of(TEXT, &d), 4);
        assert_eq!(
            line_of(TEXT, &Path::key("d").then("missing")),
            4,
            "the closest value around it"
        );
        assert_eq!(line_of("\n\n {}", &Path::key("a")), 3);
    }

    #[test]
    fn a_path_is_found_by_a_position() {
        assert_eq!(path_at(TEXT, 2, 26).to_string(), "a.b[1].c\"}");
        assert_eq!(path_at(TEXT, 4, 15).to_string(), "d[1]");
        assert_eq!(path_at(TEXT, 5, 1).to_string(), "");
        for (line, column) in [(0, 0), (99, 99), (1, usize::MAX / 2)] {
            path_at(TEXT, line, column);
        }
    }
}
