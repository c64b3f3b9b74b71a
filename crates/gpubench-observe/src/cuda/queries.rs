//! Which of the driver's functions are observed.

use super::Role;
use super::calls::role;
use super::names::{canonical, is_driver_function};

/// Whether a symbol is a function of the driver whose calls are observed: one that does something.
pub(crate) fn is_observed(symbol: &str) -> bool {
    is_driver_function(symbol) && !only_asks(symbol)
}

/// Whether a function only tells something: it changes nothing, and no figure needs it.
///
/// Frameworks ask all the time. Nine of ten calls of a PyTorch loop of small kernels are
/// `cuCtxGetDevice` and its like, and a probe on them would slow the program down for nothing.
fn only_asks(symbol: &str) -> bool {
    let name = canonical(symbol);
    let is_pure = PURE.iter().any(|family| name.starts_with(family));
    let has_word = WORDS.iter().any(|word| has_word(name, word));
    role(symbol) == Role::Other && (is_pure || has_word) && !HANDED_OUT.contains(&name)
}

/// Words in the names of functions that ask.
const WORDS: [&str; 9] = [
    "Get",
    "Query",
    "Is",
    "Can",
    "Enumerate",
    "Find",
    "Elapsed",
    "Total",
    "Compute",
];

/// Families that only compute.
const PURE: [&str; 2] = ["cuOccupancy", "cuTensorMap"];

/// These make what they give: a mapping, or memory or an event for other processes.
const HANDED_OUT: [&str; 5] = [
    "cuExternalMemoryGetMappedBuffer",
    "cuExternalMemoryGetMappedMipmappedArray",
    "cuIpcGetEventHandle",
    "cuIpcGetMemHandle",
    "cuMemGetHandleForAddressRange",
];

/// Whether a name has a word, each of which begins with a capital letter.
fn has_word(name: &str, word: &str) -> bool {
    let ends = |at: usize| !name[at + word.len()..].starts_with(|next: char| next.is_ascii_lowercase());
    name.match_indices(word).any(|(at, _)| ends(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_tell_something_only_ask() {
        for name in [
            "cuCtxGetDevice",
            "cuDevicePrimaryCtxGetState",
            "cuCtxGetCurrent",
            "cuStreamIsCapturing_ptsz",
            "cuStreamGetCaptureInfo_v3_ptsz",
            "cuEventQuery",
            "cuEventElapsedTime_v2",
            "cuStreamQuery",
            "cuPointerGetAttributes",
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            "cuFuncGetAttribute",
            "cuFuncIsLoaded",
            "cuDeviceGet",
            "cuDeviceGetAttribute",
            "cuDeviceCanAccessPeer",
            "cuDeviceTotalMem_v2",
            "cuDriverGetVersion",
            "cuGetProcAddress_v2",
            "cuGetErrorString",
            "cuMemGetInfo_v2",
            "cuModuleEnumerateFunctions",
            "cuModuleGetGlobal_v2",
            "cuTensorMapEncodeTiled",
        ] {
            assert!(only_asks(name), "{name}");
        }
    }

    #[test]
    fn functions_that_change_something_or_tell_names_do_not() {
        for name in [
            "cuInit",
            "cuCtxSetCurrent",
            "cuCtxSetLimit",
            "cuCtxPushCurrent_v2",
            "cuDevicePrimaryCtxSetFlags_v2",
            "cuModuleGetFunction",
            "cuLibraryGetKernel",
            "cuKernelGetName",
            "cuFuncGetName",
            "cuKernelGetFunction",
            "cuLaunchKernel",
            "cuMemcpyBatchAsync_v2",
            "cuMemPrefetchAsync",
            "cuStreamWaitValue32_v2",
            "cuThreadExchangeStreamCaptureMode",
            "cuIpcGetMemHandle",
            "cuIpcOpenMemHandle_v2",
            "cuMemRetainAllocationHandle",
            "cuGraphInstantiateWithParams",
            "cuLinkComplete",
        ] {
            assert!(!only_asks(name), "{name}");
        }
    }
}
