//! Text of others for a terminal: names and messages come from crates, files and compilers that nobody vouches for.
#![forbid(unsafe_code)]

/// A text without escape sequences and control characters, line breaks aside.
pub fn printable(text: &str) -> String {
    anstream::adapter::strip_str(text)
        .to_string()
        .replace('\t', "    ")
        .chars()
        .filter(|letter| *letter == '\n' || !letter.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_cannot_move_the_cursor() {
        assert_eq!(printable("a\x1b[2J\x1b[31mb\rc\td\u{7}"), "abc    d");
        assert_eq!(printable("first\nsecond"), "first\nsecond");
    }
}
