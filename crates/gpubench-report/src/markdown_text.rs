//! Text that stays text in GitHub's Markdown, whoever wrote it.

use gpubench_diagnostic::printable_line;

/// The most bytes a comment on GitHub holds.
pub const GITHUB_LIMIT: usize = 65_536;

/// Letters of a name or a remark; more would cost other rows their place.
const LONGEST_TEXT: usize = 300;

/// A name as code, whatever it holds: neither its backticks nor its bars end it, and nothing in it
/// mentions a person, opens a tag or is a link.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text);
    // A bar is escaped by a backslash, and that by a backslash before it, which code has no way to
    // write.
    if text.contains("\\|") {
        return format!("<code>{}</code>", plain(&text));
    }
    let text = text.replace('|', "\\|");
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest_run + 1);
    let space = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A text of which nothing is markup: no tag, no mention, no link, not even one that only looks
/// like an address.
pub(super) fn plain(text: &str) -> String {
    let escaped: String = one_line(text)
        .chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '@' => "&#64;".to_owned(),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '#' | '!' => format!("\\{c}"),
            other => other.to_string(),
        })
        .collect();
    // GitHub makes links of these by themselves.
    escaped.replace("://", "&#58;//").replace("www.", "www&#46;")
}

/// The tool's own words, in which backticks are code.
pub(super) fn remark(text: &str) -> String {
    let parts = one_line(text);
    parts
        .split('`')
        .enumerate()
        .map(|(position, part)| match position % 2 {
            0 => plain(part),
            _ => code(part),
        })
        .collect()
}

/// One line in which everything can be seen, cut where it is too long for a table.
fn one_line(text: &str) -> String {
    let beginning: String = text.chars().take(LONGEST_TEXT + 1).collect();
    let shown = printable_line(&beginning);
    let mut line: String = shown.chars().take(LONGEST_TEXT + 1).collect();
    if line.chars().count() > LONGEST_TEXT {
        line.pop();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bars that end a cell: those behind no backslash, or behind one that is escaped itself.
    fn bars(text: &str) -> usize {
        let mut letters = text.chars();
        let mut bars = 0;
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => drop(letters.next()),
                '|' => bars += 1,
                _ => {}
            }
        }
        bars
    }

    #[test]
    fn names_are_code_and_cannot_end_it() {
        assert_eq!(code("a`b|c"), "``a`b\\|c``");
        assert_eq!(code("`x"), "`` `x ``");
        assert_eq!(code("a\\|b"), "<code>a\\\\\\|b</code>");
        assert_eq!(code("one\n\u{202e}two\u{1b}[31m"), "`one ⟨U+202E⟩two`");
    }

    #[test]
    fn nothing_of_a_text_is_a_mention_a_link_or_a_tag() {
        assert_eq!(
            plain("@everyone <b> [a](http://x) www.example.org &lt; ![i](y)"),
            "&#64;everyone &lt;b&gt; \\[a\\](http&#58;//x) www&#46;example.org &amp;lt; \\!\\[i\\](y)"
        );
        assert_eq!(remark("use `--x` <now>"), "use `--x` &lt;now&gt;");
    }

    #[test]
    fn a_text_without_an_end_is_cut() {
        assert_eq!(code(&"x".repeat(1_000_000)).chars().count(), LONGEST_TEXT + 3);
        assert_eq!(code(&"\u{202e}".repeat(1_000)).chars().count(), LONGEST_TEXT + 3);
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_cell(text in prop_oneof![any::<String>(), r"[\\\\|`a\n]{0,12}"]) {
            for cell in [code(&text), plain(&text), remark(&text)] {
                prop_assert_eq!(bars(&cell), 0, "{}", cell);
                prop_assert!(!cell.contains('\n'), "{}", cell);
            }
        }
    }
}
