//! Refuses host code for several GPUs: a case is measured on one.

use object::{Object, ObjectSymbol};

use gpubench_contract::Cause;
use gpubench_device::FrozenFile;
use gpubench_measure::measurement::CaseFailure;

/// Prefixes of the names of functions that need another GPU. Between libraries, they have C names.
const OF_SEVERAL_GPUS: &[&str] = &[
    // NCCL, and RCCL, whose names are the same.
    "nccl",
    "pnccl",
    // NVSHMEM's, on the host and on a stream.
    "nvshmem",
    // Peer access and peer copies of the driver and of the runtime.
    "cuCtxEnablePeerAccess",
    "cuMemcpyPeer",
    "cuMemcpy3DPeer",
    "cudaDeviceEnablePeerAccess",
    "cudaMemcpyPeer",
    "cudaMemcpy3DPeer",
    // Multicast objects, and launches on several devices.
    "cuMulticast",
    "cuLaunchCooperativeKernelMultiDevice",
    "cudaLaunchCooperativeKernelMultiDevice",
];

/// Fails if a library imports a function that needs another GPU. What it looks up when it runs, or
/// links statically, is not seen.
pub(super) fn ensure_one_gpu(file: &FrozenFile) -> Result<(), CaseFailure> {
    let Some(function) = import_for_several(file) else {
        return Ok(());
    };
    let message = format!(
        "its library imports `{function}`, a function for several GPUs, and a case is measured on one (hint: benchmark the kernels that run \
         on each GPU without the exchange between them)"
    );
    Err(CaseFailure::error(Cause::Unsupported, message))
}

/// Returns the first function for several GPUs that a library imports. A file that is no library
/// has none: whoever loads it says what is wrong.
fn import_for_several(file: &FrozenFile) -> Option<String> {
    let bytes = fs_err::read(file.path()).ok()?;
    let library = object::File::parse(&*bytes).ok()?;
    let imports = library.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    let mut names = imports.filter_map(|import| import.name().ok());
    let found = names.find(|name| OF_SEVERAL_GPUS.iter().any(|prefix| name.starts_with(prefix)))?;
    Some(gpubench_diagnostic::printable_line(found).to_string())
}
