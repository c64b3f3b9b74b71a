//! Shared memory: physical GPU allocations, exported as file descriptors and mapped between
//! unmapped addresses, and host memfds that the GPU can copy from and to.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use cudarc::driver::sys::{
    CU_MEMHOSTREGISTER_DEVICEMAP, CU_MEMHOSTREGISTER_PORTABLE, CUmemAccess_flags, CUmemAccessDesc,
    CUmemAllocationGranularity_flags, CUmemAllocationHandleType, CUmemAllocationProp,
    CUmemAllocationProp_st__bindgen_ty_1 as AllocationFlags, CUmemAllocationType, CUmemGenericAllocationHandle,
    CUmemLocation, CUmemLocationType,
};

use super::call::{DriverError, call};
use super::context::Context;
use crate::memfd::{MemfdTable, other_size, unmapped};
use crate::{Access, DeviceError, DevicePtr, Freeze, Memory};

const POSIX_FD: CUmemAllocationHandleType = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// `CUDA_ERROR_INVALID_VALUE`, `CUDA_ERROR_INVALID_HANDLE`, `CUDA_ERROR_NOT_SUPPORTED` and
/// `CUDA_ERROR_UNKNOWN`: the results for a descriptor that is not an allocation. Driver 580 returns
/// the last one.
const NOT_AN_ALLOCATION: [c_int; 4] = [1, 400, 801, 999];

/// The shareable allocations of one process.
#[derive(Default)]
pub(super) struct SharedMemory {
    allocations: HashMap<Memory, Allocation>,
    host: MemfdTable,
    next: u32,
}

enum Allocation {
    Device(DeviceAllocation),
    Host {
        /// The allocation in the memfd table.
        memory: Memory,
        bytes: u64,
        /// The address at which it is mapped and registered.
        registered: Option<u64>,
    },
}

struct DeviceAllocation {
    handle: CUmemGenericAllocationHandle,
    bytes: u64,
    mapping: Option<Mapping>,
}

/// A mapping with one granule of unmapped addresses on each side, so that shorter overruns fault.
/// Address space costs nothing.
#[derive(Clone, Copy)]
struct Mapping {
    reserved: u64,
    reserved_bytes: usize,
    start: u64,
    access: Access,
}

/// Returns the granularity of allocations in bytes.
pub(super) fn granularity(context: &Context) -> Result<u64, DriverError> {
    let properties = properties(context);
    let flags = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM as c_uint;
    let mut bytes = 0;
    // SAFETY: it reads the properties and writes one number.
    unsafe {
        call!(
            context.api,
            cuMemGetAllocationGranularity(&mut bytes, &raw const properties, flags)
        )
    }?;
    Ok(bytes as u64)
}

fn location(context: &Context) -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        id: context.gpu.handle,
    }
}

fn properties(context: &Context) -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: POSIX_FD,
        location: location(context),
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: AllocationFlags {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

impl SharedMemory {
    pub(super) fn create(&mut self, context: &Context, bytes: u64) -> Result<Memory, DeviceError> {
        let properties = properties(context);
        let mut handle = 0;
        // SAFETY: it reads the properties and writes one handle.
        unsafe {
            call!(
                context.api,
                cuMemCreate(&mut handle, bytes as usize, &raw const properties, 0)
            )
        }
        .map_err(|error| error.for_bytes(bytes))?;
        Ok(self.insert(Allocation::Device(DeviceAllocation {
            handle,
            bytes,
            mapping: None,
        })))
    }

    pub(super) fn create_host(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        let memory = self.host.create(bytes)?;
        Ok(self.insert(Allocation::Host {
            memory,
            bytes,
            registered: None,
        }))
    }

    pub(super) fn export(&self, context: &Context, memory: Memory) -> Result<OwnedFd, DeviceError> {
        match self.get(memory)? {
            Allocation::Host { memory, .. } => self.host.export(*memory),
            Allocation::Device(DeviceAllocation { handle, .. }) => {
                let mut descriptor: c_int = -1;
                let target: *mut c_void = (&raw mut descriptor).cast();
                // SAFETY: for this type of handle it writes one descriptor.
                unsafe { call!(context.api, cuMemExportToShareableHandle(target, *handle, POSIX_FD, 0)) }?;
                // SAFETY: the descriptor is new and has no other owner.
                Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
            }
        }
    }

    pub(super) fn import(
        &mut self,
        context: &Context,
        descriptor: &OwnedFd,
        bytes: u64,
    ) -> Result<Memory, DeviceError> {
        let mut handle = 0;
        let number = descriptor.as_raw_fd() as usize as *mut c_void;
        // SAFETY: for this handle type the pointer is the descriptor's number; the driver does not
        // keep it.
        unsafe {
            call!(
                context.api,
                cuMemImportFromShareableHandle(&mut handle, number, POSIX_FD)
            )
        }
        .map_err(|error| foreign(error, bytes))?;
        Ok(self.insert(Allocation::Device(DeviceAllocation {
            handle,
            bytes,
            mapping: None,
        })))
    }

    pub(super) fn map(&mut self, context: &Context, memory: Memory, access: Access) -> Result<DevicePtr, DeviceError> {
        let allocation = self.allocations.get_mut(&memory).ok_or_else(unknown_memory)?;
        match allocation {
            Allocation::Device(allocation) => {
                let mapping = Mapping::make(context, allocation, access)?;
                if let Some(previous) = allocation.mapping.replace(mapping) {
                    previous.unmap(context, allocation.bytes);
                }
                Ok(DevicePtr(mapping.start))
            }
            Allocation::Host {
                memory,
                bytes,
                registered,
            } => {
                let address = self.host.map(*memory, access)?;
                let on_device = register(context, address.0, *bytes)?;
                *registered = Some(address.0);
                Ok(on_device)
            }
        }
    }

    /// Maps `new` where `old` is mapped, instead of `old`, which stays allocated.
    pub(super) fn remap(&mut self, context: &Context, old: Memory, new: Memory) -> Result<(), DeviceError> {
        let (Allocation::Device(from), Allocation::Device(to)) = (self.get(old)?, self.get(new)?) else {
            return Err(DeviceError::Unsupported("replace host memory".to_owned()));
        };
        if from.bytes != to.bytes {
            return Err(other_size(to.bytes, from.bytes));
        }
        let mapping = from.mapping.ok_or_else(unmapped)?;
        mapping.clear(context, from.bytes);
        if let Err(error) = mapping.fill(context, to) {
            let _ = mapping.fill(context, from);
            return Err(error);
        }
        for (memory, mapping) in [(old, None), (new, Some(mapping))] {
            if let Some(Allocation::Device(allocation)) = self.allocations.get_mut(&memory) {
                allocation.mapping = mapping;
            }
        }
        Ok(())
    }

    pub(super) fn freeze(&self, memory: Memory, freeze: Freeze) -> Result<(), DeviceError> {
        match self.get(memory)? {
            Allocation::Host { memory, .. } => self.host.freeze(*memory, freeze),
            // GPU memory cannot be frozen; its contents are restored before every window.
            Allocation::Device(_) => Ok(()),
        }
    }

    pub(super) fn release(&mut self, context: &Context, memory: Memory) {
        match self.allocations.remove(&memory) {
            Some(Allocation::Device(allocation)) => allocation.release(context),
            Some(Allocation::Host { memory, registered, .. }) => {
                if let Some(address) = registered {
                    unregister(context, address);
                }
                self.host.release(memory);
            }
            None => {}
        }
    }

    /// Releases all allocations.
    pub(super) fn release_all(&mut self, context: &Context) {
        let all: Vec<Memory> = self.allocations.keys().copied().collect();
        all.into_iter().for_each(|memory| self.release(context, memory));
    }

    fn insert(&mut self, allocation: Allocation) -> Memory {
        let memory = Memory(self.next);
        self.next += 1;
        self.allocations.insert(memory, allocation);
        memory
    }

    fn get(&self, memory: Memory) -> Result<&Allocation, DeviceError> {
        self.allocations.get(&memory).ok_or_else(unknown_memory)
    }
}

impl DeviceAllocation {
    fn release(self, context: &Context) {
        if let Some(mapping) = self.mapping {
            mapping.unmap(context, self.bytes);
        }
        // SAFETY: this value owns the handle. After a fault the call fails, and the end of the
        // process frees the memory.
        let _ = unsafe { (context.api.cuMemRelease)(self.handle) };
    }
}

impl Mapping {
    fn make(context: &Context, allocation: &DeviceAllocation, access: Access) -> Result<Mapping, DeviceError> {
        let bytes = allocation.bytes;
        let guard = granularity(context)?;
        let reserved_bytes = bytes
            .checked_add(2 * guard)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or_else(|| DeviceError::ForeignMemory(format!("{bytes} bytes exceed the address space")))?;
        let mut reserved = 0;
        // SAFETY: it writes one address.
        unsafe { call!(context.api, cuMemAddressReserve(&mut reserved, reserved_bytes, 0, 0, 0)) }?;
        let mapping = Mapping {
            reserved,
            reserved_bytes,
            start: reserved + guard,
            access,
        };
        mapping
            .fill(context, allocation)
            .inspect_err(|_| mapping.free_addresses(context))?;
        Ok(mapping)
    }

    /// Maps an allocation in the range, in which nothing is mapped.
    fn fill(&self, context: &Context, allocation: &DeviceAllocation) -> Result<(), DeviceError> {
        let DeviceAllocation { handle, bytes, .. } = *allocation;
        // SAFETY: the target lies inside a range that was reserved for an allocation of this size,
        // and that nothing else uses.
        unsafe { call!(context.api, cuMemMap(self.start, bytes as usize, 0, handle, 0)) }
            .map_err(|error| foreign(error, bytes))?;
        self.permit(context, bytes).map_err(|error| {
            self.clear(context, bytes);
            error.into()
        })
    }

    fn permit(&self, context: &Context, bytes: u64) -> Result<(), DriverError> {
        let description = CUmemAccessDesc {
            location: location(context),
            flags: match self.access {
                Access::Read => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ,
                Access::ReadWrite => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            },
        };
        let (start, bytes, description) = (self.start, bytes as usize, &raw const description);
        // SAFETY: it reads one description; the range was mapped just now.
        unsafe { call!(context.api, cuMemSetAccess(start, bytes, description, 1)) }
    }

    fn unmap(self, context: &Context, bytes: u64) {
        self.clear(context, bytes);
        self.free_addresses(context);
    }

    /// Unmaps what is mapped. The addresses stay reserved.
    fn clear(&self, context: &Context, bytes: u64) {
        // SAFETY: `fill` mapped the range, and the callers no longer use it. After a fault the call
        // fails.
        let _ = unsafe { (context.api.cuMemUnmap)(self.start, bytes as usize) };
    }

    fn free_addresses(self, context: &Context) {
        // SAFETY: the range was reserved by `make` with this length, and nothing is mapped in it.
        let _ = unsafe { (context.api.cuMemAddressFree)(self.reserved, self.reserved_bytes) };
    }
}

/// Pins mapped host memory, maps it for the device, and returns its device address.
pub(super) fn register(context: &Context, address: u64, bytes: u64) -> Result<DevicePtr, DeviceError> {
    let flags = CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE;
    let pointer = address as *mut c_void;
    // SAFETY: the callers pass whole mapped pages that stay mapped until `unregister`.
    unsafe { call!(context.api, cuMemHostRegister_v2(pointer, bytes as usize, flags)) }
        .map_err(|error| error.for_bytes(bytes))?;
    let mut on_device = 0;
    // SAFETY: it writes one address; the memory was registered just now.
    let found = unsafe { call!(context.api, cuMemHostGetDevicePointer_v2(&mut on_device, pointer, 0)) };
    if let Err(error) = found {
        unregister(context, address);
        return Err(error.into());
    }
    Ok(DevicePtr(on_device))
}

/// Reverts [`register`].
pub(super) fn unregister(context: &Context, address: u64) {
    // SAFETY: the callers registered the address. After a fault the call fails.
    let _ = unsafe { (context.api.cuMemHostUnregister)(address as *mut c_void) };
}

fn foreign(error: DriverError, bytes: u64) -> DeviceError {
    if NOT_AN_ALLOCATION.contains(&error.code) {
        DeviceError::ForeignMemory(error.to_string())
    } else {
        error.for_bytes(bytes)
    }
}

fn unknown_memory() -> DeviceError {
    DeviceError::ForeignMemory("it has been released".to_owned())
}
