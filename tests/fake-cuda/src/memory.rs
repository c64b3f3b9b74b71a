//! Memory: shared allocations as memfds with handles and mappings, private memory, and registered
//! host memory.

use std::collections::{HashMap, HashSet};
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::sync::Arc;

use cudarc::driver::sys::{
    CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemAllocationProp,
    CUmemGenericAllocationHandle,
};
use gpubench_device::{DevicePtr, Driver as _};

use crate::activity;
use crate::behaviour::behaviour;
use crate::call::{in_context, with_gpu};
use crate::error::{INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, Refusal};
use crate::ledger::Kind;

/// The granularity of allocations in bytes.
const GRANULARITY: usize = 64 << 10;

/// The name of the memfds. Imports recognise them by it.
const NAME: &std::ffi::CStr = c"fake-gpu-memory";

struct Physical {
    memory: Arc<OwnedFd>,
    bytes: usize,
}

struct Mapped {
    /// Kept alive by the mapping, even after its release.
    memory: Arc<OwnedFd>,
    bytes: usize,
}

/// The memory of this process.
#[derive(Default)]
pub(crate) struct AddressSpace {
    handles: HashMap<u64, Physical>,
    last_handle: u64,
    reserved: HashMap<u64, usize>,
    mapped: HashMap<u64, Mapped>,
    private: HashSet<u64>,
    registered: HashSet<u64>,
}

impl AddressSpace {
    fn insert(&mut self, memory: OwnedFd, bytes: usize) -> u64 {
        self.last_handle += 1;
        let memory = Arc::new(memory);
        self.handles.insert(self.last_handle, Physical { memory, bytes });
        self.last_handle
    }

    fn get(&self, handle: u64) -> Result<&Physical, Refusal> {
        self.handles.get(&handle).ok_or(Refusal(INVALID_HANDLE))
    }

    /// Whether an address lies in mapped shared memory.
    pub(crate) fn shares(&self, address: u64) -> bool {
        let inside = |(first, mapped): (&u64, &Mapped)| (*first..first + mapped.bytes as u64).contains(&address);
        self.mapped.iter().any(inside)
    }

    /// Whether a range lies in a reserved range.
    fn reserves(&self, start: u64, bytes: usize) -> bool {
        let inside =
            |(first, length): (&u64, &usize)| *first <= start && start + bytes as u64 <= first + *length as u64;
        self.reserved.iter().any(inside)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemGetAllocationGranularity(
    bytes: *mut usize,
    _properties: *const CUmemAllocationProp,
    _option: c_uint,
) -> c_int {
    in_context("cuMemGetAllocationGranularity", |_| {
        // SAFETY: the caller passes a valid pointer to a number.
        unsafe { *bytes = GRANULARITY };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemCreate(
    handle: *mut CUmemGenericAllocationHandle,
    bytes: usize,
    _properties: *const CUmemAllocationProp,
    _flags: c_ulonglong,
) -> c_int {
    in_context("cuMemCreate", |gpu| {
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
            return Err(Refusal(INVALID_VALUE));
        }
        if bytes > behaviour().largest || gpu.cpu.facts().free_memory.is_some_and(|free| bytes as u64 > free) {
            return Err(Refusal(OUT_OF_MEMORY));
        }
        // SAFETY: the name ends with a zero.
        let memory = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC) };
        if memory < 0 {
            return Err(Refusal(OUT_OF_MEMORY));
        }
        // SAFETY: the descriptor is new and has no other owner.
        let memory = unsafe { OwnedFd::from_raw_fd(memory) };
        // SAFETY: the descriptor is open.
        if unsafe { libc::ftruncate(memory.as_raw_fd(), bytes as libc::off_t) } != 0 {
            return Err(Refusal(OUT_OF_MEMORY));
        }
        gpu.ledger.take(Kind::Allocation);
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *handle = gpu.addresses.insert(memory, bytes) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemRelease(handle: CUmemGenericAllocationHandle) -> c_int {
    in_context("cuMemRelease", |gpu| {
        gpu.addresses.handles.remove(&handle).ok_or(Refusal(INVALID_HANDLE))?;
        gpu.ledger.give_back(Kind::Allocation);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemExportToShareableHandle(
    target: *mut c_void,
    handle: CUmemGenericAllocationHandle,
    _kind: CUmemAllocationHandleType,
    _flags: c_ulonglong,
) -> c_int {
    in_context("cuMemExportToShareableHandle", |gpu| {
        let memory = &gpu.addresses.get(handle)?.memory;
        let copy = memory.try_clone().map_err(|_| Refusal(OUT_OF_MEMORY))?;
        // SAFETY: for a descriptor, the caller passes a valid pointer to an integer.
        unsafe { *target.cast::<c_int>() = copy.into_raw_fd() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemImportFromShareableHandle(
    handle: *mut CUmemGenericAllocationHandle,
    descriptor: *mut c_void,
    _kind: CUmemAllocationHandleType,
) -> c_int {
    in_context("cuMemImportFromShareableHandle", |gpu| {
        let number = descriptor as usize as c_int;
        let name = std::fs::read_link(format!("/proc/self/fd/{number}")).map_err(|_| Refusal(INVALID_VALUE))?;
        if !name.to_string_lossy().contains(&*NAME.to_string_lossy()) {
            return Err(Refusal(INVALID_VALUE));
        }
        // SAFETY: the check above shows that the descriptor is open.
        let memory = unsafe { BorrowedFd::borrow_raw(number) };
        let memory = memory.try_clone_to_owned().map_err(|_| Refusal(OUT_OF_MEMORY))?;
        let file = std::fs::File::from(memory);
        let bytes = file.metadata().map_err(|_| Refusal(INVALID_VALUE))?.len() as usize;
        gpu.ledger.take(Kind::Allocation);
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *handle = gpu.addresses.insert(file.into(), bytes) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemAddressReserve(
    address: *mut CUdeviceptr,
    bytes: usize,
    _alignment: usize,
    _wish: CUdeviceptr,
    _flags: c_ulonglong,
) -> c_int {
    in_context("cuMemAddressReserve", |gpu| {
        let start = reserve(std::ptr::null_mut(), bytes, 0)?;
        gpu.addresses.reserved.insert(start, bytes);
        gpu.ledger.take(Kind::Reservation);
        // SAFETY: the caller passes a valid pointer to an address.
        unsafe { *address = start };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemAddressFree(address: CUdeviceptr, bytes: usize) -> c_int {
    in_context("cuMemAddressFree", |gpu| {
        if gpu.addresses.reserved.get(&address) != Some(&bytes) {
            return Err(Refusal(INVALID_VALUE));
        }
        gpu.addresses.reserved.remove(&address);
        gpu.ledger.give_back(Kind::Reservation);
        // SAFETY: the range was reserved with this length, and the caller has unmapped everything
        // in it.
        unsafe { libc::munmap(address as *mut c_void, bytes) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemMap(
    address: CUdeviceptr,
    bytes: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    _flags: c_ulonglong,
) -> c_int {
    in_context("cuMemMap", |gpu| {
        let physical = gpu.addresses.get(handle)?;
        let fits = offset == 0 && bytes == physical.bytes && gpu.addresses.reserves(address, bytes);
        if !fits || gpu.addresses.mapped.contains_key(&address) {
            return Err(Refusal(INVALID_VALUE));
        }
        let memory = Arc::clone(&physical.memory);
        gpu.addresses.mapped.insert(address, Mapped { memory, bytes });
        gpu.ledger.take(Kind::Mapping);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemSetAccess(
    address: CUdeviceptr,
    bytes: usize,
    description: *const CUmemAccessDesc,
    _count: usize,
) -> c_int {
    in_context("cuMemSetAccess", |gpu| {
        let mapped = gpu.addresses.mapped.get(&address);
        let mapped = mapped.filter(|it| it.bytes == bytes).ok_or(Refusal(INVALID_VALUE))?;
        // SAFETY: the caller passes a valid pointer to a description.
        let protection = match unsafe { (*description).flags } {
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => libc::PROT_READ,
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => libc::PROT_READ | libc::PROT_WRITE,
            _ => return Err(Refusal(INVALID_VALUE)),
        };
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let (start, descriptor) = (address as *mut c_void, mapped.memory.as_raw_fd());
        // SAFETY: the range was reserved, and only this mapping is in it.
        match unsafe { libc::mmap(start, bytes, protection, flags, descriptor, 0) } {
            libc::MAP_FAILED => Err(Refusal(OUT_OF_MEMORY)),
            _ => Ok(()),
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemUnmap(address: CUdeviceptr, bytes: usize) -> c_int {
    in_context("cuMemUnmap", |gpu| {
        let mapped = gpu.addresses.mapped.get(&address).ok_or(Refusal(INVALID_VALUE))?;
        if mapped.bytes != bytes {
            return Err(Refusal(INVALID_VALUE));
        }
        gpu.addresses.mapped.remove(&address);
        gpu.ledger.give_back(Kind::Mapping);
        // The addresses stay reserved.
        reserve(address as *mut c_void, bytes, libc::MAP_FIXED).map(|_| ())
    })
}

fn reserve(address: *mut c_void, bytes: usize, flags: c_int) -> Result<u64, Refusal> {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the address is null, or the caller reserved it and no longer uses it.
    match unsafe { libc::mmap(address, bytes, libc::PROT_NONE, flags, -1, 0) } {
        libc::MAP_FAILED => Err(Refusal(OUT_OF_MEMORY)),
        start => Ok(start as u64),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) -> c_int {
    in_context("cuMemAlloc_v2", |gpu| {
        if bytes == 0 {
            return Err(Refusal(INVALID_VALUE));
        }
        gpu.wait_for_all()?;
        let memory = gpu.cpu.alloc(bytes as u64)?;
        gpu.addresses.private.insert(memory.0);
        gpu.ledger.take(Kind::Private);
        activity::allocated(memory.0, bytes as u64);
        // SAFETY: the caller passes a valid pointer to an address.
        unsafe { *address = memory.0 };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemFree_v2(address: CUdeviceptr) -> c_int {
    in_context("cuMemFree_v2", |gpu| {
        if !gpu.addresses.private.remove(&address) {
            return Err(Refusal(INVALID_VALUE));
        }
        gpu.wait_for_all()?;
        gpu.cpu.free(DevicePtr(address));
        activity::released(address);
        gpu.ledger.give_back(Kind::Private);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    in_context("cuMemHostRegister_v2", |gpu| {
        if bytes == 0 || !gpu.addresses.registered.insert(pointer as u64) {
            return Err(Refusal(INVALID_VALUE));
        }
        gpu.ledger.take(Kind::Registration);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemHostUnregister(pointer: *mut c_void) -> c_int {
    in_context("cuMemHostUnregister", |gpu| {
        if !gpu.addresses.registered.remove(&(pointer as u64)) {
            return Err(Refusal(INVALID_VALUE));
        }
        gpu.ledger.give_back(Kind::Registration);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemHostGetDevicePointer_v2(
    address: *mut CUdeviceptr,
    pointer: *mut c_void,
    _flags: c_uint,
) -> c_int {
    with_gpu("cuMemHostGetDevicePointer_v2", |gpu| {
        gpu.sound()?;
        if !gpu.addresses.registered.contains(&(pointer as u64)) {
            return Err(Refusal(INVALID_VALUE));
        }
        // SAFETY: the caller passes a valid pointer to an address.
        unsafe { *address = pointer as u64 };
        Ok(())
    })
}
