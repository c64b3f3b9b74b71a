//! What the driver's functions do, and in which arguments they say it.

use super::contexts::ContextCall;
use crate::{CopyDirection, HandleSpace, LaunchKind, MemoryKind, Waiting};

/// The number of an argument, from 0.
pub(crate) type Argument = usize;

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Launches: the kernel is argument 0, shape and stream follow.
    Launch(LaunchKind),
    /// Launches as `cuLaunchKernelEx` does: shape and stream in a structure.
    LaunchExtended,
    /// Launches a grid of one-dimensional or two-dimensional blocks whose shape was set before.
    LaunchGrid {
        stream: Option<Argument>,
    },
    GraphLaunch,
    HostFunction,
    /// Allocates: argument 0 says where the address goes.
    Allocate(MemoryKind, Amount),
    /// Registers the memory at argument 0, of as many bytes as argument 1.
    Register,
    /// Allocates an array that the structure at argument 1 describes.
    AllocateArray(Dimensions),
    /// Allocates as many bytes as argument 1 in the order of a stream: argument 0 says where the
    /// address goes.
    AllocateInStream(MemoryKind, Argument),
    Free(HandleSpace),
    /// Frees argument 0 in the order of the stream of argument 1.
    FreeInStream,
    /// Maps the physical memory of argument 3 at argument 0.
    Map,
    /// Ends mappings from argument 0 on, of as many bytes as argument 1.
    Unmap,
    /// Gives a handle of the physical memory that is mapped at argument 1.
    RetainHandle,
    /// Gives a handle of physical memory that another process may have created.
    ImportHandle,
    Copy(CopyArguments),
    /// Copies as the structure at argument 0 says.
    CopyStructure {
        dimensions: Dimensions,
        stream: Option<Argument>,
    },
    Set {
        amount: Amount,
        stream: Option<Argument>,
    },
    /// Gives the handle of the kernel with the name at argument 2, from the module at argument 1.
    FindKernel,
    /// Gives the name of the kernel at argument 1.
    NameOfKernel,
    /// Gives another handle of the kernel at argument 1.
    Alias,
    LoadModule,
    UnloadModule,
    CreateStream,
    DestroyStream,
    Synchronize(WaitsFor),
    BeginCapture,
    EndCapture,
    /// Puts the event of argument 0 into the stream of argument 1.
    RecordEvent,
    /// Makes the stream of argument 0 wait for the event of argument 1.
    WaitForEvent,
    Context(ContextCall),
    /// Anything else. Its calls and errors are counted.
    Other,
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// An argument.
    Bytes(Argument),
    /// The product of two arguments and of the bytes in an element.
    Product(Argument, Argument, u64),
    /// An argument, times the bytes in an element.
    Elements(Argument, u64),
}

/// Which structure describes an array or a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimensions {
    Two,
    Three,
}

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    Context,
    Stream,
    Event,
}

/// Which arguments describe a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyArguments {
    pub(crate) direction: CopyDirection,
    pub(crate) destination: Argument,
    pub(crate) source: Argument,
    pub(crate) bytes: Argument,
    pub(crate) stream: Option<Argument>,
    pub(crate) waiting: Waiting,
}
