//! Text that fits the lines of a terminal. Lines of a pipe or a file have no end, and nothing is
//! wrapped there.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use anstream::adapter::strip_str;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a line without end.
pub const UNBOUNDED: usize = usize::MAX;

/// Columns of the lines of a stream: [`UNBOUNDED`] where it is no terminal, or one that does not
/// know.
pub fn columns_of(stream: &(impl IsTerminal + AsFd)) -> usize {
    let size = stream.is_terminal().then(|| rustix::termios::tcgetwinsize(stream));
    match size {
        Some(Ok(size)) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => UNBOUNDED,
    }
}

/// Columns a text takes; escape sequences take none.
pub fn width(text: &str) -> usize {
    strip_str(text).map(UnicodeWidthStr::width).sum()
}

/// A text in one line of at most `room` columns, with `…` where something was left out.
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

/// A space that [`wrapped`] keeps where the line has room for all that such spaces join; it shows
/// as a plain one.
const NO_BREAK: &str = "\u{a0}";

/// A phrase that stays in one line where there is one long enough.
pub fn unbroken(phrase: &str) -> String {
    phrase.replace(' ', NO_BREAK)
}

/// Lines of at most `room` columns, broken between words. A word that is longer stays whole: half a
/// name is of no use. A text of several lines is laid out already, as compilers do it, and stays as
/// it is.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let text = text.trim_end();
    match text.contains('\n') {
        true => text.lines().map(|line| line.trim_end().to_owned()).collect(),
        false => broken(text, room, room),
    }
}

/// A line as several, the first of which has at most `first` columns and each other one at most
/// `further`.
fn broken(text: &str, first: usize, further: usize) -> Vec<String> {
    if width(text) <= first {
        return vec![text.replace(NO_BREAK, " ")];
    }
    let phrases = text.split(' ');
    let words = phrases.flat_map(|phrase| match width(phrase) > further {
        true => phrase.split(NO_BREAK).collect(),
        false => vec![phrase],
    });
    // A sign, or the branches of a tree, are no line by themselves.
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

/// A page for lines of `columns` columns. What is too long for one goes on below it, between words
/// and a little further to the right.
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

/// Texts behind a head, line by line below where the first begins; below the head, where that takes
/// more than half of a line.
pub fn beside<'a>(head: &str, texts: impl IntoIterator<Item = &'a str>, columns: usize) -> String {
    let (head, indent) = match width(head) {
        indent if indent <= columns / 2 => (head.to_owned(), indent),
        _ => (format!("{}\n{GOING_ON}", head.trim_end()), GOING_ON.len()),
    };
    let room = columns.saturating_sub(indent);
    let lines: Vec<String> = texts.into_iter().flat_map(|text| wrapped(text, room)).collect();
    format!("{head}{}\n", lines.join(&format!("\n{}", " ".repeat(indent))))
}

/// Stands before what is left of a line that was too long.
const GOING_ON: &str = "    ";

/// A line that was laid out as it is, or as several of at most `room` columns, of which the further
/// ones are indented: broken at a space where there is one, else within a word.
pub fn folded(line: &str, room: usize) -> Vec<String> {
    let room = room.max(2 * GOING_ON.len());
    let mut pieces = Vec::new();
    let mut rest = line.trim_end_matches(' ').to_owned();
    while width(&rest) > room {
        let end = end_of_piece(&rest, room);
        let further = format!("{GOING_ON}{}", rest[end..].trim_start_matches(' '));
        pieces.push(rest[..end].trim_end_matches(' ').to_owned());
        rest = further;
    }
    pieces.push(rest);
    pieces
}

/// Where a text that is too long is broken.
fn end_of_piece(text: &str, room: usize) -> usize {
    let end = fitting(text, room);
    let indent = text.len() - text.trim_start_matches(' ').len();
    let is_between_words = text[end..].starts_with(' ');
    let space = text[..end].rfind(' ').filter(|space| *space > indent);
    space.filter(|_| !is_between_words).unwrap_or(end)
}

/// How many bytes of a text have at most `room` columns. Letters together may have more columns
/// than each by itself.
fn fitting(text: &str, room: usize) -> usize {
    let ends = text
        .char_indices()
        .map(|(position, letter)| position + letter.len_utf8());
    ends.take_while(|end| width(&text[..*end]) <= room).last().unwrap_or(0)
}

/// A text with spaces behind it up to `columns`.
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
    fn what_is_too_long_for_a_line_goes_on_further_to_the_right() {
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
            beside("head  ", ["one two", "three"], 12),
            "head  one\n      two\n      three\n"
        );
        assert_eq!(
            beside("head  ", ["one two", "three"], 11),
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
        let behind_spaces = format!("{}run it alone", " ".repeat(30));
        assert_eq!(folded(&behind_spaces, 20), ["", "    run it alone"]);
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
        fn a_folded_line_always_fits_and_loses_nothing_but_spaces(text in " {0,60}.{0,60}( .{0,20}){0,3}", room in 20usize..40) {
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
