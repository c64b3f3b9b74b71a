//! Memory that a process allocates through the driver.

use std::time::Duration;

/// How memory was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryKind {
    /// Memory of the device: `cuMemAlloc`, `cuMemAllocPitch`.
    Device,
    /// In the order of a stream, from the device's default pool: `cuMemAllocAsync`.
    StreamOrdered,
    /// In the order of a stream, from a pool that the call names: `cuMemAllocFromPoolAsync`.
    Pool,
    /// Moves between host and device: `cuMemAllocManaged`.
    Managed,
    /// Memory of the host, pinned: `cuMemAllocHost`, `cuMemHostAlloc`.
    Pinned,
    /// Memory of the process that the driver pinned: `cuMemHostRegister`.
    Registered,
    /// Physical memory that the process maps itself: `cuMemCreate`.
    Physical,
    /// An array for textures and surfaces: `cuArrayCreate`, `cuArray3DCreate`,
    /// `cuMipmappedArrayCreate`.
    Array,
}

impl MemoryKind {
    /// Whether memory of this kind belongs to a context and ends with it. The rest belongs to a
    /// device, or to a pool of a device.
    pub(crate) fn ends_with_context(self) -> bool {
        !matches!(
            self,
            MemoryKind::StreamOrdered | MemoryKind::Pool | MemoryKind::Physical
        )
    }

    /// All kinds, in the order of tables.
    pub const ALL: [MemoryKind; 8] = [
        MemoryKind::Device,
        MemoryKind::StreamOrdered,
        MemoryKind::Pool,
        MemoryKind::Managed,
        MemoryKind::Pinned,
        MemoryKind::Registered,
        MemoryKind::Physical,
        MemoryKind::Array,
    ];

    /// Returns which handles name memory of this kind.
    pub fn space(self) -> HandleSpace {
        match self {
            MemoryKind::Device | MemoryKind::StreamOrdered | MemoryKind::Pool => HandleSpace::Address,
            MemoryKind::Managed | MemoryKind::Pinned => HandleSpace::Address,
            MemoryKind::Registered => HandleSpace::Registration,
            MemoryKind::Physical => HandleSpace::Physical,
            MemoryKind::Array => HandleSpace::Array,
        }
    }
}

/// What a handle of memory is. Handles of different spaces may have the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HandleSpace {
    /// An address. `cuMemFree` frees memory of several kinds, so the kind is not part of it.
    Address,
    /// The address of memory that the process owns and registered.
    Registration,
    /// A handle of `cuMemCreate`, which `cuMemRelease` gives back.
    Physical,
    /// A handle of an array.
    Array,
}

/// What a process calls a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryHandle {
    /// What `value` is.
    pub space: HandleSpace,
    /// The address or handle.
    pub value: u64,
}

/// Memory that a call allocated. The driver gives its address when the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// How it was allocated.
    pub kind: MemoryKind,
    /// The address, or the handle where the kind has no address.
    pub value: u64,
    /// Its size as requested, in bytes. For pitched memory and arrays, rows times their length.
    pub bytes: u64,
    /// The context of the thread, with which most kinds of memory end.
    pub context: ContextHandle,
    /// From the call's begin to its return.
    pub duration: Duration,
}

/// A handle of a context. 0 is one that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextHandle(pub u64);

impl Allocation {
    /// Returns what a call that frees this memory names.
    pub fn handle(&self) -> MemoryHandle {
        MemoryHandle {
            space: self.kind.space(),
            value: self.value,
        }
    }
}
