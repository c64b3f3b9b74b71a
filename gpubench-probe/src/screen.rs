//! A block of lines on a terminal that is redrawn in place, with other text above it.

use std::io::{self, IsTerminal, Write};

use gpubench_diagnostic::CommandMarks;
use gpubench_report::ScreenSize;

/// Which stream is the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error: standard output is the command's, or has records.
    Stderr,
}

impl Stream {
    /// Returns the size of the terminal. `None` if it is none that can move its cursor.
    pub(super) fn terminal(self) -> Option<ScreenSize> {
        let size = match self {
            Stream::Stdout => io::stdout()
                .is_terminal()
                .then(|| rustix::termios::tcgetwinsize(io::stdout())),
            Stream::Stderr => io::stderr()
                .is_terminal()
                .then(|| rustix::termios::tcgetwinsize(io::stderr())),
        };
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let size = size.filter(|_| !is_dumb)?.ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then(|| ScreenSize {
            columns: usize::from(size.ws_col),
            rows: usize::from(size.ws_row),
        })
    }

    /// Writes text. Styles are removed where they are not shown. Nobody can read a message about a
    /// closed stream, and the observation goes on.
    pub(super) fn write(self, text: &str) {
        let text = CommandMarks::default().mark(text);
        let _ = match self {
            Stream::Stdout => write_all(anstream::stdout().lock(), &text),
            Stream::Stderr => write_all(anstream::stderr().lock(), &text),
        };
    }
}

fn write_all(mut out: impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The block at the bottom of a terminal.
#[derive(Clone, Debug)]
pub(super) struct Block {
    stream: Stream,
    lines: Vec<String>,
    /// The number of lines on the terminal now.
    drawn: usize,
}

impl Block {
    pub(super) fn on(stream: Stream) -> Self {
        Self {
            stream,
            lines: Vec::new(),
            drawn: 0,
        }
    }

    /// Replaces the block.
    pub(super) fn draw(&mut self, lines: Vec<String>) {
        self.lines = lines;
        self.print_above(&[]);
    }

    /// Prints lines that stay, above the block.
    pub(super) fn print_above(&mut self, above: &[String]) {
        let text = self.redrawn(above);
        self.drawn = self.lines.len();
        write_raw(self.stream, &text);
    }

    /// Removes the block.
    pub(super) fn clear(&mut self) {
        self.draw(Vec::new());
    }

    /// Returns what replaces the block on the terminal by lines that stay and the block. Each line
    /// is erased by itself: some terminals keep a screen that is erased as a whole.
    fn redrawn(&self, above: &[String]) -> String {
        let mut text = up(self.drawn);
        let lines = above.iter().chain(&self.lines);
        text.extend(lines.map(|line| format!("{line}{ERASE_REST}\r\n")));
        let below = self.drawn.saturating_sub(above.len() + self.lines.len());
        text.extend(std::iter::repeat_n(format!("{ERASE_REST}\r\n"), below));
        text += &up(below);
        text
    }
}

/// Erases from the cursor to the end of its line.
const ERASE_REST: &str = "\x1b[K";

/// Returns what moves the cursor to the begin of a line above its own.
fn up(lines: usize) -> String {
    match lines {
        0 => "\r".to_owned(),
        lines => format!("\r\x1b[{lines}A"),
    }
}

/// Writes text with movements of the cursor, and styles if they are enabled.
fn write_raw(stream: Stream, text: &str) {
    let plain = match stream {
        Stream::Stdout => anstream::AutoStream::choice(&io::stdout()),
        Stream::Stderr => anstream::AutoStream::choice(&io::stderr()),
    } == anstream::ColorChoice::Never;
    let text = if plain { without_styles(text) } else { text.to_owned() };
    let _ = match stream {
        Stream::Stdout => write_all(io::stdout().lock(), &text),
        Stream::Stderr => write_all(io::stderr().lock(), &text),
    };
}

/// Removes styles, and keeps movements of the cursor.
fn without_styles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        let (before, sequence) = rest.split_at(start);
        let end = sequence[2..].find(|letter: char| letter.is_ascii_alphabetic());
        let end = end.map_or(sequence.len(), |end| end + 3);
        kept.push_str(before);
        if !sequence[..end].ends_with('m') {
            kept.push_str(&sequence[..end]);
        }
        rest = &sequence[end..];
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_only_styles_go() {
        assert_eq!(
            without_styles("\r\x1b[3A\x1b[J\x1b[1mname\x1b[0m x"),
            "\r\x1b[3A\x1b[Jname x"
        );
        assert_eq!(without_styles("plain"), "plain");
    }

    #[test]
    fn a_smaller_block_leaves_nothing_of_the_larger_one_and_printed_lines_stay() {
        let mut block = Block::on(Stream::Stderr);
        block.drawn = 3;
        block.lines = vec!["new".to_owned()];
        let text = block.redrawn(&["output".to_owned()]);
        assert_eq!(text, "\r\x1b[3Aoutput\x1b[K\r\nnew\x1b[K\r\n\x1b[K\r\n\r\x1b[1A");
    }
}
