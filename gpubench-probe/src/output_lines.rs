//! The output of an observed command as lines above the screen.

use gpubench_diagnostic::printable_line;

/// The longest line that is kept until its end comes.
const LONGEST: usize = 16 * 1024;

/// Text that becomes lines.
#[derive(Clone, Debug, Default)]
pub(super) struct OutputLines {
    begun: Vec<u8>,
}

impl OutputLines {
    /// Adds output, and returns the lines that it completes. They move no cursor.
    pub(super) fn add(&mut self, output: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for piece in output.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.begun.len() > LONGEST {
                lines.push(shown(&std::mem::take(&mut self.begun)));
            }
        }
        lines
    }

    /// Returns the line that has begun. `None` if there is none.
    pub(super) fn begun(&self) -> Option<String> {
        (!self.begun.is_empty()).then(|| shown(&self.begun))
    }
}

/// Returns a line as a terminal would show it at the end: after a carriage return, text replaces
/// that before it.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\n', '\r']);
    printable_line(text.rsplit('\r').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_in_pieces_becomes_lines_without_escapes() {
        let mut lines = OutputLines::default();
        assert!(lines.add(b"step 1 ").is_empty());
        assert_eq!(lines.begun().as_deref(), Some("step 1 "));
        assert_eq!(lines.add(b"of 2\r\n\x1b[31mred\x1b[0m\r\nla"), ["step 1 of 2", "red"]);
        assert_eq!(lines.add(b"st\n"), ["last"]);
        assert_eq!(lines.begun(), None);
    }

    #[test]
    fn a_line_that_a_program_redraws_is_its_last_state() {
        let mut lines = OutputLines::default();
        lines.add(b" 10%\r 20%\r");
        assert_eq!(lines.begun().as_deref(), Some(" 20%"));
        assert_eq!(lines.add(b"100%\r\n"), ["100%"]);
    }

    #[test]
    fn an_endless_line_is_shown_in_parts() {
        let mut lines = OutputLines::default();
        assert_eq!(lines.add(&vec![b'x'; LONGEST + 1]).len(), 1);
        assert_eq!(lines.begun(), None);
    }
}
