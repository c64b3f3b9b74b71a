//! Splits CUDA C++ into words: enough to find declarations and constructs, without a parser.

/// A word or punctuation mark of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The word or mark.
    pub text: &'a str,
    /// Offset in bytes in the text.
    pub start: usize,
    /// The line, from 1.
    pub line: u32,
}

/// Returns a text with its macro definitions blanked out, and the definitions.
pub(crate) fn definitions_apart(text: &str) -> (String, String) {
    let (mut rest, mut definitions) = (String::with_capacity(text.len()), String::new());
    let mut continued = false;
    for line in text.lines() {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let defines = continued || directive.is_some_and(|directive| directive.starts_with("define"));
        if defines {
            definitions.push_str(line);
            definitions.push('\n');
        } else {
            rest.push_str(line);
        }
        rest.push('\n');
        continued = defines && line.ends_with('\\');
    }
    (rest, definitions)
}

/// Returns the position after the closing parenthesis. A `__global__` inside means that it is
/// missing.
pub fn after_parentheses(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            "__global__" => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the tokens of a statement after its `using` or `typedef`. None if another such statement
/// begins in it.
pub(crate) fn statement<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> &'t [Token<'a>] {
    let rest = &tokens[at + 1..];
    let end = rest
        .iter()
        .position(|token| matches!(token.text, ";" | "using" | "typedef"));
    match end {
        Some(end) if rest[end].text == ";" => &rest[..end],
        Some(_) => &[],
        None => rest,
    }
}

/// Returns whether a token is a word, not a number or a mark.
pub fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// Splits a source into words and single punctuation marks, without comments, strings and character
/// constants.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => end_of_line(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => find(text, at + 2, "*/"),
            b'"' if is_raw_string(bytes, at) => end_of_raw_string(text, at),
            quote @ (b'"' | b'\'') => end_of_quoted(bytes, at, quote),
            byte if byte.is_ascii_whitespace() => at + 1,
            byte => {
                let end = if is_word_byte(byte) {
                    end_of_word(bytes, at)
                } else {
                    end_of_character(text, at)
                };
                tokens.push(Token {
                    text: &text[at..end],
                    start: at,
                    line,
                });
                end
            }
        };
        line += bytes[at..end].iter().filter(|&&byte| byte == b'\n').count() as u32;
        at = end;
    }
    tokens
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the end of a word or a number; a number keeps its digit separators.
fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let number = bytes[start].is_ascii_digit();
    let separator =
        |at: usize| number && bytes[at] == b'\'' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
    (start..bytes.len())
        .find(|&at| !is_word_byte(bytes[at]) && !separator(at))
        .unwrap_or(bytes.len())
}

fn end_of_character(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

fn end_of_line(bytes: &[u8], start: usize) -> usize {
    (start..bytes.len())
        .find(|&at| bytes[at] == b'\n' && bytes[at - 1] != b'\\')
        .unwrap_or(bytes.len())
}

fn find(text: &str, from: usize, what: &str) -> usize {
    text.get(from..)
        .and_then(|rest| rest.find(what))
        .map_or(text.len(), |found| from + found + what.len())
}

/// Returns the end of a quoted text: its quote, or the end of its line if the quote is missing.
fn end_of_quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn is_raw_string(bytes: &[u8], quote: usize) -> bool {
    quote > 0 && bytes[quote - 1] == b'R'
}

fn end_of_raw_string(text: &str, quote: usize) -> usize {
    let Some(open) = text[quote..].find('(') else {
        return text.len();
    };
    let closing = format!("){}\"", &text[quote + 1..quote + open]);
    find(text, quote + open, &closing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_through_comments_and_raw_strings() {
        let text = "/* a\nb */ one\nR\"x(\n\"quoted\n)x\" two // three\n'\\'' 1'000 four";
        let found: Vec<(&str, u32)> = tokens(text).iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(found, [("one", 2), ("R", 3), ("two", 5), ("1'000", 6), ("four", 6)]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split_without_a_panic(text in "[ -~\n\u{e9}\\\\\"'/*R()]{0,200}") {
            for token in tokens(&text) {
                proptest::prop_assert!(!token.text.is_empty());
            }
        }
    }
}
