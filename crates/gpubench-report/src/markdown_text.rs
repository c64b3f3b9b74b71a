//! Escaping of untrusted text for GitHub's Markdown.

use gpubench_diagnostic::printable_line;

/// Maximum size of a GitHub comment in bytes.
pub const GITHUB_LIMIT: usize = 65_536;

/// Maximum number of characters of a name or a remark, so that other rows keep their space.
const LONGEST_TEXT: usize = 300;

/// Returns a name as inline code. Backticks and bars in it do not end the code, and nothing in it
/// is a mention, a tag or a link.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text);
    // A backslash escapes the bar. A backslash directly before a bar cannot be written in inline
    // code.
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

/// Returns a text without any markup: no tag, mention or link, not even an implicit link from an
/// address.
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
    // GitHub turns these into links automatically.
    escaped.replace("://", "&#58;//").replace("www.", "www&#46;")
}

/// Returns the tool's own text, in which backticks mark code.
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

/// Returns one line with visible characters only, cut to the limit of a table.
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

    /// Counts the bars that end a cell: those without a backslash before them, or with an escaped
    /// one.
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
    fn names_cannot_end_inline_code() {
        assert_eq!(code("a`b|c"), "``a`b\\|c``");
        assert_eq!(code("`x"), "`` `x ``");
        assert_eq!(code("a\\|b"), "<code>a\\\\\\|b</code>");
        assert_eq!(code("one\n\u{202e}two\u{1b}[31m"), "`one ⟨U+202E⟩two`");
    }

    #[test]
    fn a_text_contains_no_mention_link_or_tag() {
        assert_eq!(
            plain("@everyone <b> [a](http://x) www.example.org &lt; ![i](y)"),
            "&#64;everyone &lt;b&gt; \\[a\\](http&#58;//x) www&#46;example.org &amp;lt; \\!\\[i\\](y)"
        );
        assert_eq!(remark("use `--x` <now>"), "use `--x` &lt;now&gt;");
    }

    #[test]
    fn an_endless_text_is_cut() {
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
