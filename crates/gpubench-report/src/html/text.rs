//! Text of strangers, made harmless to read: names and messages come from crates that nobody vouches for.

use std::fmt::Display;

use gpubench_diagnostic::printable;

/// Characters of one text that are shown; the rest is counted.
const LONGEST: usize = 8_000;

/// A text as [`printable`] has it, cut where it is longer than anybody reads.
pub(super) fn readable(text: &impl Display) -> String {
    let text = text.to_string();
    let mut letters = text.chars();
    let kept: String = letters.by_ref().take(LONGEST).collect();
    match letters.count() {
        0 => printable(&kept),
        more => format!("{}… ({more} more characters)", printable(&kept)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_an_end_is_cut_and_what_is_missing_counted() {
        let shown = readable(&"é".repeat(LONGEST + 5));
        assert!(shown.ends_with("é… (5 more characters)"), "{shown}");
    }
}
