//! Moves the alignment of `__shared__` variables to where host compilers accept it.

use gpubench_declarations::{after_parentheses, tokens};

/// Specifiers that may appear with `__shared__` before a type.
const SPECIFIERS: [&str; 6] = ["__shared__", "extern", "static", "const", "volatile", "__device__"];

/// Returns the text with the `alignas` of every `__shared__` variable moved in front of its
/// specifiers; `None` if nothing moved. CUDA compilers accept `alignas` between the specifiers,
/// host compilers do not.
pub(super) fn alignment_first(text: &str) -> Option<String> {
    let tokens = tokens(text);
    let (mut moved, mut copied) = (String::new(), 0);
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.text == "alignas") {
        let before = tokens[..at].iter().rev();
        let specifiers = before.take_while(|token| SPECIFIERS.contains(&token.text));
        let first = specifiers.clone().last().map_or(token.start, |token| token.start);
        // An `alignas` inside the parentheses of another has moved with it.
        if first >= copied && specifiers.clone().any(|token| token.text == "__shared__") {
            let last = tokens[after_parentheses(&tokens, at + 1)? - 1];
            let end = last.start + last.text.len();
            let parts = [
                &text[copied..first],
                &text[token.start..end],
                " ",
                &text[first..token.start],
            ];
            moved.extend(parts);
            copied = end;
        }
    }
    (copied > 0).then(|| moved + &text[copied..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_alignas_between_specifiers_of_shared_memory_is_moved() {
        let text = "struct alignas(8) S {};\nextern __shared__ alignas(16) char a[];\n\
                    __shared__ const alignas(alignof(float4)) // why\n float b[4];\nalignas(4) int c;\n";
        let expected = "struct alignas(8) S {};\nalignas(16) extern __shared__  char a[];\n\
                        alignas(alignof(float4)) __shared__ const  // why\n float b[4];\nalignas(4) int c;\n";
        assert_eq!(alignment_first(text).as_deref(), Some(expected));
        for left in [
            "alignas(8) __shared__ float x;",
            "__shared__ float x; alignas(8) float y;",
            "__shared__ alignas(8",
        ] {
            assert_eq!(alignment_first(left), None, "{left}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(__shared__ |alignas|[() ]|[ -~\u{e9}]){0,20}") {
            let _ = alignment_first(&text);
        }
    }
}
