//! Names of the driver's functions, and their variants.

/// Whether a symbol of the driver is a function that programs call. `cudbg…` is for debuggers,
/// and `curl_…` of another library.
pub(super) fn is_driver_function(symbol: &str) -> bool {
    let rest = symbol.strip_prefix("cu");
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Returns a symbol without the ending of the variant that uses each thread's own default stream.
pub(crate) fn without_stream_variant(symbol: &str) -> &str {
    let stripped = symbol.strip_suffix("_ptsz").or_else(|| symbol.strip_suffix("_ptds"));
    stripped.unwrap_or(symbol)
}

/// Whether a symbol is the variant that uses each thread's own default stream.
pub(crate) fn is_per_thread(symbol: &str) -> bool {
    without_stream_variant(symbol) != symbol
}

/// Returns the name that programs call: `cuMemAlloc` for `cuMemAlloc_v2`.
pub(crate) fn canonical(symbol: &str) -> &str {
    let name = without_stream_variant(symbol);
    match name.rsplit_once("_v") {
        Some((before, version)) if version.parse::<u32>().is_ok() => before,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_have_the_name_that_programs_call() {
        for symbol in ["cuMemcpyHtoD", "cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2_ptds"] {
            assert_eq!(canonical(symbol), "cuMemcpyHtoD");
        }
        assert_eq!(canonical("cuLaunchKernel_ptsz"), "cuLaunchKernel");
        assert!(is_per_thread("cuLaunchKernel_ptsz") && !is_per_thread("cuLaunchKernel"));
        assert!(is_driver_function("cuInit") && !is_driver_function("cudbgMain") && !is_driver_function("cudaMalloc"));
    }
}
