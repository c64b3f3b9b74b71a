//! `__launch_bounds__` of a kernel.

use crate::declarations::Declarations;
use crate::parameters::function_name;
use crate::words::Token;

impl Declarations<'_> {
    /// Returns the most threads of a block that the `__launch_bounds__` of the kernel with a name
    /// expression allow: the largest limit of its declarations. `None` if one has no limit, or no
    /// plain number. Namespaces and `#if` may choose between them.
    pub fn thread_limit(&self, name: &str) -> Option<u32> {
        let functions = self.functions.named(function_name(name)?).iter();
        let limits = functions.map(|function| limit(function.attributes(&self.files)));
        limits.collect::<Option<Vec<u32>>>()?.into_iter().max()
    }
}

/// Returns the limit among a function's attributes.
fn limit(attributes: &[Token<'_>]) -> Option<u32> {
    let words: Vec<&str> = attributes.iter().map(|token| token.text).collect();
    words.windows(4).find_map(|words| match words {
        ["__launch_bounds__", "(", number, "," | ")"] => number.parse().ok(),
        _ => None,
    })
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
