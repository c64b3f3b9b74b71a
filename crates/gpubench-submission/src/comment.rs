//! The comment of a source that describes the submission.

use crate::position::Text;

/// The first word of the comment.
const WORD: &str = "gpubench";

/// Returns the TOML in the block comments whose first word is `gpubench`: the first two, since two
/// are one too many.
pub(crate) fn descriptions<'t>(source: &Text<'t>) -> Vec<Text<'t>> {
    let text = source.as_str();
    let comments = block_comments(text).into_iter();
    let parts = comments.filter_map(|(start, end)| {
        let inner = &text[start..end];
        let rest = inner.trim_start().strip_prefix(WORD)?;
        let is_word = rest.is_empty() || rest.starts_with(char::is_whitespace);
        is_word.then(|| source.part(end - rest.len(), end))
    });
    parts.take(2).collect()
}

/// Returns where the inside of each block comment starts and ends. The last may have no end.
fn block_comments(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut comments = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        at = match &bytes[at..] {
            [b'/', b'*', ..] => {
                let length = text[at + 2..].find("*/");
                let end = length.map_or(text.len(), |length| at + 2 + length);
                comments.push((at + 2, end));
                end + 2
            }
            [b'/', b'/', ..] => text[at..].find('\n').map_or(text.len(), |length| at + length),
            [b'R', b'"', ..] if !continues_a_word(bytes, at) => after_raw_string(text, at + 1),
            [quote @ (b'"' | b'\''), ..] if *quote == b'"' || !continues_a_word(bytes, at) => {
                after_quoted(bytes, at, *quote)
            }
            _ => at + 1,
        };
    }
    comments
}

/// Whether a letter or a digit is before a place: `1'000` has no character constant.
fn continues_a_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

/// Returns the place after a quoted text: its quote, or the end of its line.
fn after_quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn after_raw_string(text: &str, quote: usize) -> usize {
    // The delimiter has at most 16 characters.
    let opening = text.as_bytes()[quote..].iter().take(18).position(|byte| *byte == b'(');
    let Some(open) = opening else { return quote + 1 };
    let closing = format!("){}\"", &text[quote + 1..quote + open]);
    let length = text[quote + open..].find(&closing);
    length.map_or(text.len(), |length| quote + open + length + closing.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        let parts = descriptions(&Text::of_file("a.cu", text));
        let shown = |part: Text<'_>| (part.position(0).to_string(), part.as_str().to_owned());
        parts.into_iter().map(shown).collect()
    }

    #[test]
    fn the_comment_is_found_with_its_place() {
        let text = "// µ /* gpubench a */\nint x = 1'000; /*\n  gpubench\nkernel = \"k\"\n*/\n/* gpubenches */ /**/";
        assert_eq!(found(text), [("a.cu:3:11".to_owned(), "\nkernel = \"k\"\n".to_owned())]);
        assert_eq!(found("/* gpubench grid = 1").len(), 1, "without an end");
        assert_eq!(found("/* gpubench\n*/ /* gpubench\n*/").len(), 2);
    }

    #[test]
    fn a_comment_in_a_string_is_none() {
        for text in [
            "const char *s = \"/* gpubench */\";",
            "auto s = R\"(\" /* gpubench */)\";",
            "auto s = R\"x(/* gpubench */)x\";",
            "char c = '\"'; char d[] = \"\\\"/* gpubench */\";",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
        assert_eq!(found("char c = '\"'; /* gpubench */ char d = '\"';").len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_searched_without_a_panic(text in "[ -~\nµ/*\"'R(]{0,120}") {
            let _ = found(&text);
            let _ = found(&format!("R\"{text} /* gpubench {text}"));
        }
    }
}
