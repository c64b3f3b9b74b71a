//! `__launch_bounds__` of a kernel.

use crate::declarations::Declarations;
use crate::parameters::{function_name, parameter_list};
use crate::words::Token;

impl Declarations<'_> {
    /// Returns the most threads of a block that the `__launch_bounds__` of the kernel with a name
    /// expression allow: the largest limit of its declarations. `None` if one has no limit, or no
    /// plain number. Namespaces and `#if` may choose between them.
    pub fn thread_limit(&self, name: &str) -> Option<u32> {
        let wanted = function_name(name)?;
        let limits = self.files.iter().flat_map(|file| {
            let kernels = file.kernels.iter();
            kernels.filter_map(|&at| limit(&file.tokens[at + 1..], wanted))
        });
        limits.collect::<Option<Vec<u32>>>()?.into_iter().max()
    }
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
    use crate::declarations::tests::of_text;

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
            assert_eq!(of_text(text, |found| found.thread_limit(name)), limit, "{name}");
        }
    }
}
