//! `__launch_bounds__` of a kernel, read from the text of its source.

use gpubench::catalog::Source;

use super::parameters::{function_name, parameter_list};
use super::scan::{Token, definitions_apart, tokens};

/// Returns the most threads of a block that a kernel's `__launch_bounds__` allows. `None` if it has
/// none, or if the limit is no plain number.
pub fn declared_thread_limit(source: &Source, name: &str) -> Option<u32> {
    let wanted = function_name(name)?;
    source.files.iter().find_map(|file| {
        let (text, _) = definitions_apart(&file.text());
        let tokens = tokens(&text);
        let starts = (0..tokens.len()).filter(|&at| tokens[at].text == "__global__");
        let mut limits = starts.filter_map(|at| limit(&tokens[at + 1..], wanted));
        limits.next()
    })
}

/// Returns the limit of the next function, if it has the wanted name.
fn limit(tokens: &[Token<'_>], wanted: &str) -> Option<u32> {
    parameter_list(tokens, wanted)?;
    let name = tokens
        .windows(2)
        .position(|pair| pair[0].text == wanted && pair[1].text == "(")?;
    let words: Vec<&str> = tokens[..name].iter().map(|token| token.text).collect();
    let mut numbers = words.windows(4).filter_map(|words| match words {
        ["__launch_bounds__", "(", number, "," | ")"] => number.parse().ok(),
        _ => None,
    });
    numbers.next_back()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compilers::tests::source_of;

    #[test]
    fn plain_numbers_are_limits() {
        let text = "__global__ void free(int *x) {}
            __global__ void __launch_bounds__(128) bounded(int *x) {}
            template <int N> __global__ __launch_bounds__(256, 2) void of_template(int *x) {}
            __global__ void __launch_bounds__(LIMIT) by_macro(int *x) {}
            __global__ void __launch_bounds__(2 * 64) computed() {}
            __global__ void __launch_bounds__(64) empty() {}";
        for (name, limit) in [
            ("free", None),
            ("bounded", Some(128)),
            ("of_template<4>", Some(256)),
            ("ns::bounded", Some(128)),
            ("by_macro", None),
            ("computed", None),
            ("empty", Some(64)),
            ("missing", None),
        ] {
            assert_eq!(declared_thread_limit(&source_of(text), name), limit, "{name}");
        }
    }
}
