//! Layout of text for the width of a terminal. Output to a pipe or a file is never wrapped.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use anstream::adapter::strip_str;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width of a stream without a limit.
pub const UNBOUNDED: usize = usize::MAX;

/// Returns the width of a stream in columns. [`UNBOUNDED`] if it is not a terminal or its width is
/// not known.
pub fn columns_of(stream: &(impl IsTerminal + AsFd)) -> usize {
    let size = stream.is_terminal().then(|| rustix::termios::tcgetwinsize(stream));
    match size {
        Some(Ok(size)) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => UNBOUNDED,
    }
}

/// Returns the columns that a text takes. Escape sequences take none.
pub fn width(text: &str) -> usize {
    strip_str(text).map(UnicodeWidthStr::width).sum()
}

/// Returns a text on one line of at most `room` columns, with `…` at the end if it was cut.
pub fn in_one_line(text: &str, room: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width(&line) <= room {
        return line;
    }
    let mut kept = String::new();
    for letter in line.chars() {
        if width(&kept) + letter.width().unwrap_or(0) + 1 > room {
            break;
        }
        kept.push(letter);
    }
    if room > 0 {
        kept.push('…');
    }
    kept
}

/// A space that [`wrapped`] avoids to break at. It is printed as a plain space.
const NO_BREAK: &str = "\u{a0}";

/// Returns a phrase that stays on one line if one is long enough.
pub fn unbroken(phrase: &str) -> String {
    phrase.replace(' ', NO_BREAK)
}

/// Wraps a text into lines of at most `room` columns, at spaces. A longer word is not broken. A
/// text of several lines, such as compiler output, is already laid out and stays unchanged.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let text = text.trim_end();
    if text.contains('\n') {
        text.lines().map(|line| line.trim_end().to_owned()).collect()
    } else {
        broken(text, room, room)
    }
}

/// Wraps a line. The first part has at most `first` columns and each other part at most `further`.
fn broken(text: &str, first: usize, further: usize) -> Vec<String> {
    if width(text) <= first {
        return vec![text.replace(NO_BREAK, " ")];
    }
    let phrases = text.split(' ');
    let words = phrases.flat_map(|phrase| {
        if width(phrase) > further {
            phrase.split(NO_BREAK).collect()
        } else {
            vec![phrase]
        }
    });
    // A symbol or the branches of a tree must not be a line of their own.
    let is_begun = |line: &str| strip_str(line).any(|piece| piece.contains(char::is_alphanumeric));
    let mut lines = Vec::new();
    let mut line: Option<String> = None;
    for word in words {
        let room = if lines.is_empty() { first } else { further };
        let full = line.take_if(|line| width(line) + 1 + width(word) > room && is_begun(line));
        lines.extend(full);
        match &mut line {
            Some(line) => line.extend([" ", word]),
            None if word.is_empty() && !lines.is_empty() => {}
            None => line = Some(word.to_owned()),
        }
    }
    lines.extend(line);
    let shown = lines.into_iter().map(|line| line.replace(NO_BREAK, " "));
    shown.map(|line| line.trim_end_matches(' ').to_owned()).collect()
}

/// Wraps the lines of a page at `columns` columns. Continuation lines are indented a little more.
pub fn fitted(page: &str, columns: usize) -> String {
    let fitted_line = |line: &str| {
        let text = strip_str(line).to_string();
        let indent = text.len() - text.trim_start_matches(' ').len();
        let further = (indent + 2).min(columns / 2);
        broken(line, columns, columns - further).join(&format!("\n{}", " ".repeat(further)))
    };
    let lines: Vec<String> = page.split('\n').map(fitted_line).collect();
    lines.join("\n")
}

/// Places texts next to a heading, each line aligned below the first. If the heading takes more
/// than half of the line, the texts start below it.
pub fn with_heading<'a>(head: &str, texts: impl IntoIterator<Item = &'a str>, columns: usize) -> String {
    let (head, indent) = match width(head) {
        indent if indent <= columns / 2 => (head.to_owned(), indent),
        _ => (format!("{}\n{CONTINUATION}", head.trim_end()), CONTINUATION.len()),
    };
    let room = columns.saturating_sub(indent);
    let lines: Vec<String> = texts.into_iter().flat_map(|text| wrapped(text, room)).collect();
    format!("{head}{}\n", lines.join(&format!("\n{}", " ".repeat(indent))))
}

/// Indent of continuation lines.
const CONTINUATION: &str = "    ";

/// Folds a preformatted line at `room` columns, with indented continuation lines. Breaks at a space
/// if there is one, else within a word.
pub fn folded(line: &str, room: usize) -> Vec<String> {
    let room = room.max(2 * CONTINUATION.len());
    let mut pieces = Vec::new();
    let mut rest = line.trim_end_matches(' ').to_owned();
    while width(&rest) > room {
        let end = end_of_piece(&rest, room);
        let further = format!("{CONTINUATION}{}", rest[end..].trim_start_matches(' '));
        pieces.push(rest[..end].trim_end_matches(' ').to_owned());
        rest = further;
    }
    pieces.push(rest);
    pieces
}

/// Returns the position at which to break a text that is too long.
fn end_of_piece(text: &str, room: usize) -> usize {
    let end = fitting(text, room);
    let indent = text.len() - text.trim_start_matches(' ').len();
    let is_between_words = text[end..].starts_with(' ');
    let space = text[..end].rfind(' ').filter(|space| *space > indent);
    space.filter(|_| !is_between_words).unwrap_or(end)
}

/// Returns how many bytes of a text fit into `room` columns. The width of a string can exceed the
/// sum of the widths of its letters.
fn fitting(text: &str, room: usize) -> usize {
    let ends = text
        .char_indices()
        .map(|(position, letter)| position + letter.len_utf8());
    ends.take_while(|end| width(&text[..*end]) <= room).last().unwrap_or(0)
}

/// Pads a text with spaces to `columns` columns.
pub fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::printable;

    #[test]
    fn words_are_wrapped_and_laid_out_text_is_kept() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("took 1.5\u{a0}s of it", 9), ["took", "1.5 s of", "it"]);
        assert_eq!(
            wrapped(&format!("a {}", unbroken("long phrase")), 8),
            ["a long", "phrase"]
        );
        assert_eq!(wrapped("unbreakable_word x", 5), ["unbreakable_word", "x"]);
        assert_eq!(wrapped("╰─ unbreakable_word", 5), ["╰─ unbreakable_word"]);
        assert_eq!(
            wrapped("a.cu:3:  error\n    foo()\n    ^~~\n", 5),
            ["a.cu:3:  error", "    foo()", "    ^~~"]
        );
    }

    #[test]
    fn continuation_lines_are_indented() {
        assert_eq!(
            fitted("error: one two\n  three  four five\n\n", 13),
            "error: one\n  two\n  three  four\n    five\n\n"
        );
        assert_eq!(
            fitted(&format!("{}deep down", " ".repeat(8)), 10),
            format!("{}deep\n     down", " ".repeat(8))
        );
        let long = "a  page of\n  two lines".repeat(99);
        assert_eq!(fitted(&long, UNBOUNDED), long);
    }

    #[test]
    fn texts_stand_beside_their_head_where_there_is_room_and_else_below_it() {
        assert_eq!(
            with_heading("head  ", ["one two", "three"], 12),
            "head  one\n      two\n      three\n"
        );
        assert_eq!(
            with_heading("head  ", ["one two", "three"], 11),
            "head\n    one two\n    three\n"
        );
    }

    #[test]
    fn a_line_that_was_laid_out_is_folded_behind_its_indent() {
        assert_eq!(folded("a.cu:3:  error", 14), ["a.cu:3:  error"]);
        assert_eq!(
            folded("  one  two three four", 12),
            ["  one  two", "    three", "    four"]
        );
        assert_eq!(folded("    abcdefgh", 8), ["    abcd", "    efgh"]);
        let after_spaces = format!("{}run it alone", " ".repeat(30));
        assert_eq!(folded(&after_spaces, 20), ["", "    run it alone"]);
        assert_eq!(folded("☁\u{fe0f}☁\u{fe0f}☁\u{fe0f}☁\u{fe0f}x", 8)[1], "    x");
    }

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!(in_one_line("核核核", 5), "核核…");
        assert_eq!(padded("核", 3), "核 ");
    }

    proptest! {
        #[test]
        fn one_line_always_fits(text in ".{0,60}", room in 0usize..40) {
            let line = in_one_line(&printable(&text), room);
            prop_assert!(width(&line) <= room, "{:?}", line);
            prop_assert!(!line.contains('\n'));
        }

        #[test]
        fn a_folded_line_always_fits_and_loses_only_spaces(text in " {0,60}.{0,60}( .{0,20}){0,3}", room in 20usize..40) {
            let line = printable(&text).replace('\n', " ");
            let pieces = folded(&line, room);
            for piece in &pieces {
                prop_assert!(width(piece) <= room, "{:?}", piece);
            }
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&pieces.concat()), letters(&line));
        }
    }
}
