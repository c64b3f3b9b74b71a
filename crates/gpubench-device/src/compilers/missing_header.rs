//! Headers of CUDA that a source forgot to include, by the names that a compiler does not know.

/// Ends of the messages about an unknown name, which they begin with in quotation marks.
const UNKNOWN: &[&str] = &[
    "was not declared in this scope",
    "does not name a type",
    "has not been declared",
    "is not a namespace-name",
    "is undefined",
];

/// The header of names that begin like this.
const HEADERS: &[(&str, &str)] = &[
    ("__nv_fp8", "cuda_fp8.h"),
    ("__nv_bfloat16", "cuda_bf16.h"),
    ("nv_bfloat16", "cuda_bf16.h"),
    ("__float2bfloat16", "cuda_bf16.h"),
    ("__bfloat162float", "cuda_bf16.h"),
    ("__half", "cuda_fp16.h"),
    ("half", "cuda_fp16.h"),
    ("__float2half", "cuda_fp16.h"),
    ("cooperative_groups", "cooperative_groups.h"),
    ("nvcuda", "mma.h"),
    ("curand", "curand_kernel.h"),
    ("cuFloatComplex", "cuComplex.h"),
    ("cuDoubleComplex", "cuComplex.h"),
];

/// Returns the header that declares the unknown name of a compiler's message.
pub(super) fn missing_header(message: &str) -> Option<&'static str> {
    let mut parts = message
        .strip_prefix("identifier ")
        .unwrap_or(message)
        .splitn(3, ['\'', '"']);
    let ("", name, what) = (parts.next()?, parts.next()?, parts.next()?) else {
        return None;
    };
    let is_unknown = UNKNOWN.iter().any(|end| what.trim_start().starts_with(end));
    // `half` also begins names of the user's own.
    let declares = |(start, _): &&(&str, &str)| match *start {
        "half" => ["half", "half2"].contains(&name),
        start => name.starts_with(start),
    };
    HEADERS
        .iter()
        .filter(|_| is_unknown)
        .find(declares)
        .map(|(_, header)| *header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_an_unknown_name_is_known_in_the_words_of_each_compiler() {
        for (message, header) in [
            (
                "'__half' was not declared in this scope; did you mean '__tanf'?",
                Some("cuda_fp16.h"),
            ),
            ("'half2' does not name a type", Some("cuda_fp16.h")),
            ("identifier \"__nv_bfloat162\" is undefined", Some("cuda_bf16.h")),
            (
                "'cooperative_groups' is not a namespace-name",
                Some("cooperative_groups.h"),
            ),
            ("'half_of' was not declared in this scope", None),
            ("'x' was not declared in this scope", None),
            ("'__half' is deprecated", None),
            ("'", None),
            ("", None),
        ] {
            assert_eq!(missing_header(message), header, "{message}");
        }
    }
}
