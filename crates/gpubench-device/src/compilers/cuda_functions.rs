//! The table of CUDA's device functions, and which of them the CPU device lacks.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("cuda_functions.txt");

/// The construct of functions that belong to no other one.
pub(super) const LACKING: &str = "a function that is not on the CPU device";

/// Each function that is refused, with its construct.
static REFUSED: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let refused = sections("refused: ");
    refused
        .flat_map(|(construct, names)| names.into_iter().map(move |name| (name, construct)))
        .collect()
});

/// Returns the construct for a function that the CPU device lacks.
pub(super) fn refused_function(word: &str) -> Option<&'static str> {
    REFUSED.get(word).copied()
}

/// Returns the sections of a kind: each with the rest of its first line, and its words.
fn sections(kind: &'static str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    TABLE.split("\n\n").filter_map(move |section| {
        let (title, rest) = section.strip_prefix(kind)?.split_once('\n')?;
        Some((title, rest.split_whitespace().collect()))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::tests::source_of;
    use super::super::{Compiler as _, HostCompiler, KernelBuildError, Optimization, Wanted};
    use super::*;

    /// Compiles the only kernel of a source, `k`.
    fn compile(text: &str) -> Result<(), KernelBuildError> {
        let cache = tempfile::tempdir().expect("a directory");
        let compiler = HostCompiler::find().expect("a C++ compiler");
        let compiled = compiler.optimizing(Optimization::ForDebugger).compile(Wanted {
            source: &source_of(text),
            names: &["k".to_owned()],
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        });
        compiled.map(drop)
    }

    #[test]
    fn every_function_that_is_there_compiles_with_a_call() {
        for (title, calls) in sections("there: ") {
            let header = title
                .split_once(" <")
                .map_or("", |(_, header)| header.trim_end_matches('>'));
            let number = if title.starts_with("bfloat16") {
                "__nv_bfloat16"
            } else {
                "__half"
            };
            let pair = if title.starts_with("bfloat16") {
                "__nv_bfloat162"
            } else {
                "__half2"
            };
            let included = if header.is_empty() { "cuda_fp16.h" } else { header };
            let statements: String = calls.iter().map(|call| format!("(void)({call});\n")).collect();
            let text = format!(
                "#include <cuda_fp16.h>\n#include <{included}>\n__global__ void k(int i, unsigned u, long long l, unsigned long long w, float f, double d, \
                 float2 f2, bool b, {number} h, {pair} p) {{\n{statements}}}\n"
            );
            compile(&text).unwrap_or_else(|error| panic!("{title}: {error}"));
        }
    }

    #[test]
    fn every_refused_function_is_named() {
        let calls: Vec<String> = REFUSED.keys().map(|name| format!("{name}(1);\n")).collect();
        let error = compile(&format!("__global__ void k() {{\n{}}}\n", calls.concat())).expect_err("it is refused");
        assert!(matches!(error, KernelBuildError::Refused(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains("`requires(cuda)`"), "{text}");
        for (at, (name, construct)) in REFUSED.iter().enumerate() {
            let line = format!("  a.cu:{}: {construct} (`{name}`)", at + 2);
            let is_named = text.lines().any(|found| found.starts_with(&line));
            assert!(
                is_named || (*construct != LACKING && text.contains(construct)),
                "{name}\n{text}"
            );
        }
    }

    #[test]
    fn a_source_may_define_a_function_that_the_cpu_device_lacks() {
        compile("__device__ int __all(int x) { return x; }\n__global__ void k(int *x) { x[0] = __all(x[1]); }\n")
            .expect("its own function is called");
    }

    #[test]
    fn no_function_is_both_there_and_refused() {
        let there = sections("there: ").flat_map(|(_, calls)| calls);
        let both: Vec<&str> = there
            .filter(|call| refused_function(call.split('(').next().unwrap_or_default()).is_some())
            .collect();
        assert!(both.is_empty(), "{both:?}");
    }

    #[test]
    fn the_page_on_the_cpu_device_lists_the_refused_functions() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cpu-device.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        let missing: Vec<&&str> = REFUSED
            .keys()
            .filter(|name| !page.contains(&format!("`{name}`")))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
