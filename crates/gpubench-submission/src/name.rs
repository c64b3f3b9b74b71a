//! The name of a submission.

use std::fmt;

use gpubench_diagnostic::is_printable;

/// The name of a submission, which reports and rankings show: 1 to 64 printable characters on one
/// line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// Most characters of a name.
const LONGEST: usize = 64;

/// A text that cannot be a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is no name: a name has 1 to {LONGEST} printable characters, no `::`, and no space at its ends",
    shown(.0)
)]
pub struct NotAName(String);

/// Returns the beginning of a text, on one line.
fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(LONGEST + 1).collect();
    beginning.escape_debug().to_string()
}

impl Name {
    /// Returns a text as a name.
    ///
    /// # Errors
    /// It is empty, too long, not printable, or has space at its ends.
    pub fn new(text: &str) -> Result<Name, NotAName> {
        let is_visible = |letter: char| is_printable(letter) && !matches!(letter, '\n' | '\u{2028}' | '\u{2029}');
        // Reports split the names of cases at `::`.
        let is_name = text.trim() == text && !text.contains("::") && (1..=LONGEST).contains(&text.chars().count());
        if is_name && text.chars().all(is_visible) {
            Ok(Name(text.to_owned()))
        } else {
            Err(NotAName(text.to_owned()))
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_short_printable_line() {
        for text in ["one block a row", "v2", "ядро 核", &"x".repeat(64)] {
            assert_eq!(Name::new(text).map(|name| name.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            " ",
            " x",
            "x\n",
            "a\nb",
            "a\x1b[2Jb",
            "a\u{202e}b",
            "a\u{2028}b",
            "a\tb",
            &"x".repeat(65),
        ] {
            let error = Name::new(text).expect_err(text).to_string();
            assert!(error.chars().all(is_printable) && error.len() < 300, "{error:?}");
        }
    }
}
