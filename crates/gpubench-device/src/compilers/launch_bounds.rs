//! `__launch_bounds__` of a kernel, read from the text of its source.

use gpubench::catalog::Source;

use super::parameters::{function_name, parameter_list};
use super::scan::{Token, definitions_apart, tokens};

/// Returns the most threads of a block that a kernel's `__launch_bounds__` allows: the largest
/// limit of its declarations. `None` if one has no limit, or no plain number. Namespaces and `#if`
/// may choose between them.
pub fn declared_thread_limit(source: &Source, name: &str) -> Option<u32> {
    let wanted = function_name(name)?;
    let mut limits = Vec::new();
    for file in &source.files {
        let (text, _) = definitions_apart(&file.text());
        let tokens = tokens(&text);
        let starts = (0..tokens.len()).filter(|&at| tokens[at].text == "__global__");
        limits.extend(starts.filter_map(|at| limit(&tokens[at + 1..], wanted)));
    }
    limits.into_iter().collect::<Option<Vec<u32>>>()?.into_iter().max()
}

/// Returns the limit of the next function if it has the wanted name, and `Some(None)` if that has
/// none.
fn limit(tokens: &[Token<'_>], wanted: &str) -> Option<Option<u32>> {
    parameter_list(tokens, wanted)?;
    let name = tokens
        .windows(2)
        .position(|pair| pair[0].text == wanted && pair[1].text == "(")?;
    let words: Vec<&str> = tokens[..name].iter().map(|token| token.text).collect();
    Some(words.windows(4).find_map(|words| match words {
        ["__launch_bounds__", "(", number, "," | ")"] => number.parse().ok(),
        _ => None,
    }))
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
            __global__ void __launch_bounds__(64) empty() {}
            namespace a { __global__ void __launch_bounds__(64) twice() {} }
            namespace b { __global__ void __launch_bounds__(256) twice() {} }
            namespace a { __global__ void __launch_bounds__(64) once() {} }
            namespace b { __global__ void once() {} }";
        for (name, limit) in [
            ("free", None),
            ("bounded", Some(128)),
            ("of_template<4>", Some(256)),
            ("ns::bounded", Some(128)),
            ("by_macro", None),
            ("computed", None),
            ("empty", Some(64)),
            ("b::twice", Some(256)),
            ("b::once", None),
            ("missing", None),
        ] {
            assert_eq!(declared_thread_limit(&source_of(text), name), limit, "{name}");
        }
    }
}
