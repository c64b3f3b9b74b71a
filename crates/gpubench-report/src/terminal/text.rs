//! Text that fits: width and wrapping.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns a text takes; escape sequences take none.
pub(super) fn width(text: &str) -> usize {
    anstream::adapter::strip_str(text).map(UnicodeWidthStr::width).sum()
}

/// A text in one line of at most `room` columns, with `…` where something was left out.
pub(super) fn in_one_line(text: &str, room: usize) -> String {
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

/// A space that [`wrapped`] keeps together; it shows as a plain one.
pub(super) const NO_BREAK: &str = "\u{a0}";

/// Lines of at most `room` columns, broken between words. A word that is longer stays whole: half a name is of no use.
/// A text of several lines is laid out already, as compilers do it, and stays as it is.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let text = text.trim_end();
    if text.contains('\n') {
        return text.lines().map(|line| line.trim_end().to_owned()).collect();
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && width(&line) + 1 + width(word) > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.into_iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// Stands before what is left of a line that was too long.
const GOING_ON: &str = "    ";

/// A line that was laid out as it is, or as several of at most `room` columns, of which the further ones are indented: broken at a space where there is one, else within a word.
pub(super) fn folded(line: &str, room: usize) -> Vec<String> {
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

/// How many bytes of a text have at most `room` columns. Letters together may have more columns than each by itself.
fn fitting(text: &str, room: usize) -> usize {
    let ends = text
        .char_indices()
        .map(|(position, letter)| position + letter.len_utf8());
    ends.take_while(|end| width(&text[..*end]) <= room).last().unwrap_or(0)
}

/// A text with spaces behind it up to `columns`.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use gpubench_diagnostic::printable;

    #[test]
    fn words_are_wrapped_and_laid_out_text_is_kept() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("took 1.5\u{a0}s of it", 9), ["took", "1.5 s of", "it"]);
        assert_eq!(wrapped("unbreakable_word x", 5), ["unbreakable_word", "x"]);
        assert_eq!(
            wrapped("a.cu:3:  error\n    foo()\n    ^~~\n", 5),
            ["a.cu:3:  error", "    foo()", "    ^~~"]
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
