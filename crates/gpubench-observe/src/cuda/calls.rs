//! The table of the driver's functions, as `cuda.h` declares them.

use super::names::without_stream_variant;
use super::role::{Amount, Argument, CopyArguments, Dimensions, Role, WaitsFor};
use crate::{CopyDirection, HandleSpace, LaunchKind, MemoryKind, Waiting};

use super::contexts::ContextCall::{Create, Destroy, Pop, Push, Release, Reset, Retain, Use};
use Amount::{Bytes, Elements, Product};
use CopyDirection::{ByAddress, DeviceToDevice, DeviceToHost, HostToDevice, PeerToPeer};

/// Returns what a symbol of the driver does. The first versions of functions that have later ones
/// have other types and no role: no program uses them since CUDA 3.2.
pub(super) fn role(symbol: &str) -> Role {
    match without_stream_variant(symbol) {
        "cuLaunchKernel" => Role::Launch(LaunchKind::Plain),
        "cuLaunchCooperativeKernel" => Role::Launch(LaunchKind::Cooperative),
        "cuLaunchKernelEx" => Role::LaunchExtended,
        "cuLaunch" | "cuLaunchGrid" => Role::LaunchGrid { stream: None },
        "cuLaunchGridAsync" => Role::LaunchGrid { stream: Some(3) },
        "cuGraphLaunch" => Role::GraphLaunch,
        "cuLaunchHostFunc" | "cuLaunchHostFunc_v2" | "cuStreamAddCallback" => Role::HostFunction,

        "cuMemAlloc_v2" => Role::Allocate(MemoryKind::Device, Bytes(1)),
        "cuMemAllocPitch_v2" => Role::Allocate(MemoryKind::Device, Product(2, 3, 1)),
        "cuMemAllocAsync" => Role::AllocateInStream(MemoryKind::StreamOrdered, 2),
        "cuMemAllocFromPoolAsync" => Role::AllocateInStream(MemoryKind::Pool, 3),
        "cuMemAllocManaged" => Role::Allocate(MemoryKind::Managed, Bytes(1)),
        "cuMemAllocHost_v2" | "cuMemHostAlloc" => Role::Allocate(MemoryKind::Pinned, Bytes(1)),
        "cuMemCreate" => Role::Allocate(MemoryKind::Physical, Bytes(1)),
        "cuMemHostRegister_v2" => Role::Register,
        "cuArrayCreate_v2" => Role::AllocateArray(Dimensions::Two),
        "cuArray3DCreate_v2" | "cuMipmappedArrayCreate" => Role::AllocateArray(Dimensions::Three),

        "cuMemFree_v2" | "cuMemFreeHost" => Role::Free(HandleSpace::Address),
        "cuMemFreeAsync" => Role::FreeInStream,
        "cuMemMap" => Role::Map,
        "cuMemUnmap" => Role::Unmap,
        "cuMemRetainAllocationHandle" => Role::RetainHandle,
        "cuMemImportFromShareableHandle" => Role::ImportHandle,
        "cuMemRelease" => Role::Free(HandleSpace::Physical),
        "cuMemHostUnregister" => Role::Free(HandleSpace::Registration),
        "cuArrayDestroy" | "cuMipmappedArrayDestroy" => Role::Free(HandleSpace::Array),

        "cuModuleGetFunction" | "cuLibraryGetKernel" => Role::FindKernel,
        "cuFuncGetName" | "cuKernelGetName" => Role::NameOfKernel,
        "cuKernelGetFunction" => Role::Alias,
        "cuModuleLoad" | "cuModuleLoadData" | "cuModuleLoadDataEx" | "cuModuleLoadFatBinary" => Role::LoadModule,
        "cuLibraryLoadData" | "cuLibraryLoadFromFile" => Role::LoadModule,
        "cuModuleUnload" | "cuLibraryUnload" => Role::UnloadModule,

        "cuStreamCreate" | "cuStreamCreateWithPriority" | "cuGreenCtxStreamCreate" => Role::CreateStream,
        "cuStreamDestroy_v2" => Role::DestroyStream,
        "cuCtxSynchronize" | "cuCtxSynchronize_v2" => Role::Synchronize(WaitsFor::Context),
        "cuStreamSynchronize" => Role::Synchronize(WaitsFor::Stream),
        "cuEventSynchronize" => Role::Synchronize(WaitsFor::Event),
        "cuStreamBeginCapture" | "cuStreamBeginCapture_v2" | "cuStreamBeginCaptureToGraph" => Role::BeginCapture,
        "cuStreamEndCapture" => Role::EndCapture,
        "cuEventRecord" | "cuEventRecordWithFlags" => Role::RecordEvent,
        "cuStreamWaitEvent" => Role::WaitForEvent,

        "cuCtxCreate" | "cuCtxCreate_v2" | "cuCtxCreate_v3" | "cuCtxCreate_v4" => Role::Context(Create),
        "cuCtxDestroy" | "cuCtxDestroy_v2" => Role::Context(Destroy),
        "cuCtxSetCurrent" => Role::Context(Use),
        "cuCtxPushCurrent" | "cuCtxPushCurrent_v2" => Role::Context(Push),
        "cuCtxPopCurrent" | "cuCtxPopCurrent_v2" => Role::Context(Pop),
        "cuDevicePrimaryCtxRetain" => Role::Context(Retain),
        "cuDevicePrimaryCtxRelease" | "cuDevicePrimaryCtxRelease_v2" => Role::Context(Release),
        "cuDevicePrimaryCtxReset" | "cuDevicePrimaryCtxReset_v2" => Role::Context(Reset),

        name if name.starts_with("cuMemcpy") => copy_role(name),
        name if name.starts_with("cuMemset") => set_role(name),
        _ => Role::Other,
    }
}

/// Copies that need no host return before they are done, although they have no stream.
fn copy_role(name: &str) -> Role {
    match name {
        "cuMemcpyHtoD_v2" => copy(HostToDevice, [0, 1, 2], None),
        "cuMemcpyHtoDAsync_v2" => copy(HostToDevice, [0, 1, 2], Some(3)),
        "cuMemcpyDtoH_v2" => copy(DeviceToHost, [0, 1, 2], None),
        "cuMemcpyDtoHAsync_v2" => copy(DeviceToHost, [0, 1, 2], Some(3)),
        "cuMemcpyDtoD_v2" => copy(DeviceToDevice, [0, 1, 2], None),
        "cuMemcpyDtoDAsync_v2" => copy(DeviceToDevice, [0, 1, 2], Some(3)),
        "cuMemcpy" => copy(ByAddress, [0, 1, 2], None),
        "cuMemcpyAsync" => copy(ByAddress, [0, 1, 2], Some(3)),
        "cuMemcpyPeer" => copy(PeerToPeer, [0, 2, 4], None),
        "cuMemcpyPeerAsync" => copy(PeerToPeer, [0, 2, 4], Some(5)),
        "cuMemcpyHtoA_v2" => copy(HostToDevice, [0, 2, 3], None),
        "cuMemcpyHtoAAsync_v2" => copy(HostToDevice, [0, 2, 3], Some(4)),
        "cuMemcpyAtoH_v2" => copy(DeviceToHost, [0, 1, 3], None),
        "cuMemcpyAtoHAsync_v2" => copy(DeviceToHost, [0, 1, 3], Some(4)),
        "cuMemcpyDtoA_v2" => copy(DeviceToDevice, [0, 2, 3], None),
        "cuMemcpyAtoD_v2" => copy(DeviceToDevice, [0, 1, 3], None),
        "cuMemcpyAtoA_v2" => copy(DeviceToDevice, [0, 2, 4], None),
        "cuMemcpy2D_v2" | "cuMemcpy2DUnaligned_v2" => copy_structure(Dimensions::Two, None),
        "cuMemcpy2DAsync_v2" => copy_structure(Dimensions::Two, Some(1)),
        "cuMemcpy3D_v2" | "cuMemcpy3DPeer" => copy_structure(Dimensions::Three, None),
        "cuMemcpy3DAsync_v2" | "cuMemcpy3DPeerAsync" => copy_structure(Dimensions::Three, Some(1)),
        _ => Role::Other,
    }
}

fn copy(direction: CopyDirection, [destination, source, bytes]: [Argument; 3], stream: Option<Argument>) -> Role {
    let waiting = match (direction, stream) {
        (HostToDevice | DeviceToHost, None) => Waiting::Blocks,
        _ => Waiting::Queues,
    };
    Role::Copy(CopyArguments {
        direction,
        destination,
        source,
        bytes,
        stream,
        waiting,
    })
}

fn copy_structure(dimensions: Dimensions, stream: Option<Argument>) -> Role {
    Role::CopyStructure { dimensions, stream }
}

fn set_role(name: &str) -> Role {
    let set = |amount, stream| Role::Set { amount, stream };
    match name {
        "cuMemsetD8_v2" => set(Elements(2, 1), None),
        "cuMemsetD16_v2" => set(Elements(2, 2), None),
        "cuMemsetD32_v2" => set(Elements(2, 4), None),
        "cuMemsetD8Async" => set(Elements(2, 1), Some(3)),
        "cuMemsetD16Async" => set(Elements(2, 2), Some(3)),
        "cuMemsetD32Async" => set(Elements(2, 4), Some(3)),
        "cuMemsetD2D8_v2" => set(Product(3, 4, 1), None),
        "cuMemsetD2D16_v2" => set(Product(3, 4, 2), None),
        "cuMemsetD2D32_v2" => set(Product(3, 4, 4), None),
        "cuMemsetD2D8Async" => set(Product(3, 4, 1), Some(5)),
        "cuMemsetD2D16Async" => set(Product(3, 4, 2), Some(5)),
        "cuMemsetD2D32Async" => set(Product(3, 4, 4), Some(5)),
        _ => Role::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_with_the_threads_own_stream_have_the_same_role() {
        for name in [
            "cuLaunchKernel",
            "cuMemcpyHtoDAsync_v2",
            "cuMemsetD32Async",
            "cuStreamSynchronize",
        ] {
            assert_eq!(role(&format!("{name}_ptsz")), role(name));
            assert_ne!(role(name), Role::Other);
        }
    }

    #[test]
    fn first_versions_with_other_types_have_no_role() {
        assert_eq!(role("cuMemAlloc"), Role::Other);
        assert_eq!(role("cuMemcpyHtoD"), Role::Other);
    }

    #[test]
    fn a_copy_within_the_device_is_not_measured_as_if_it_waited() {
        let waits = |name| {
            matches!(
                role(name),
                Role::Copy(CopyArguments {
                    waiting: Waiting::Blocks,
                    ..
                })
            )
        };
        assert!(waits("cuMemcpyHtoD_v2") && waits("cuMemcpyDtoH_v2"));
        assert!(!waits("cuMemcpyDtoD_v2") && !waits("cuMemcpyHtoDAsync_v2"));
    }
}
