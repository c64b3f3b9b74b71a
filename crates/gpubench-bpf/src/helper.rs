//! Functions of the kernel that programs call, by their numbers in `linux/bpf.h`.

/// A function of the kernel. Arguments are in `R1` to `R5`, as `bpf-helpers(7)` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[expect(missing_docs, reason = "bpf-helpers(7) documents them")]
pub enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    MonotonicNanoseconds = 5,
    CurrentPidTgid = 14,
    CurrentUidGid = 15,
    CurrentCommand = 16,
    CurrentTask = 35,
    ReadUser = 112,
    ReadKernel = 113,
    ReadUserText = 114,
    ReadKernelText = 115,
    PidTgidInNamespace = 120,
    RingReserve = 131,
    RingSubmit = 132,
    RingDiscard = 133,
    AttachCookie = 174,
}
