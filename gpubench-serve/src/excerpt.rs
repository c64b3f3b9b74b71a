//! Excerpts of what clients send, for errors, results and logs.

/// Most characters at the beginning of an excerpt, and at its end.
const MOST_FIRST: usize = 120;
const MOST_LAST: usize = 79;

/// Shortens a text to 200 characters: its beginning, `…` and its end, where parsers say what they
/// expected.
pub(crate) fn excerpt(text: &str) -> String {
    let Some((cut, _)) = text.char_indices().nth(MOST_FIRST) else {
        return text.to_owned();
    };
    let is_long = text[cut..].chars().nth(MOST_LAST + 1).is_some();
    match text.char_indices().rev().nth(MOST_LAST - 1) {
        Some((end, _)) if is_long => format!("{}…{}", &text[..cut], &text[end..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_has_both_ends_and_at_most_200_characters() {
        for whole in ["", "short", &"é".repeat(120), &"é".repeat(200)] {
            assert_eq!(excerpt(whole), whole);
        }
        let long = format!("begins{}ends", "é".repeat(191));
        let short = excerpt(&long);
        assert!(short.starts_with("begins") && short.ends_with("ends"), "{short}");
        assert_eq!(short.chars().count(), 200);
        assert_eq!(excerpt(&"é".repeat(1 << 20)).chars().count(), 200);
    }
}
