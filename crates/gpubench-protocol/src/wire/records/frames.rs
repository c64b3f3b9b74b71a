//! Kinds of frames, by sender and receiver.

/// Kinds of frames from the broker to the referee.
pub mod to_referee {
    /// [`DeviceOrder`](gpubench_device::DeviceOrder): open this device. Once.
    pub const HELLO: u32 = 1;
    /// [`OpenCase`](crate::wire::OpenCase), one [`SideScratch`](crate::wire::SideScratch) for each
    /// scratch allocation, module positions and the encoded recording, with the modules'
    /// descriptors.
    pub const OPEN_CASE: u32 = 2;
    /// [`WindowOrder`](crate::wire::WindowOrder): make the window's inputs.
    pub const PREPARE: u32 = 3;
    /// [`WindowOrder`](crate::wire::WindowOrder): copy the author's expected outputs, restore,
    /// flush, release the worker, check.
    pub const RELEASE: u32 = 4;
    /// Stop waiting for *done*: the worker has ended, or its time is up.
    pub const ABORT: u32 = 5;
    /// Close the case and free its memory.
    pub const CLOSE_CASE: u32 = 6;
    /// [`Begin`](crate::wire::Begin): the master seed and the cache flush. Once, before the first
    /// case.
    pub const BEGIN: u32 = 7;
    /// [`LaunchShape`](crate::wire::LaunchShape) and the kernel's name, with a descriptor of the
    /// compiled kernels: tell the resources of its launches.
    pub const RESOURCES: u32 = 9;
    /// [`WindowOrder`](crate::wire::WindowOrder): run the reference on the window's inputs, after
    /// the author has made its inputs.
    pub const REFERENCE: u32 = 8;
    /// [`WindowOrder`](crate::wire::WindowOrder): make the window's inputs and run the reference on
    /// them, if the author is not needed.
    pub const PREPARE_WITH_ANSWERS: u32 = 10;
    /// [`DifferencesOrder`](crate::wire::DifferencesOrder): tell where an output of the last window
    /// differs from the expected one.
    pub const DIFFERENCES: u32 = 11;
    /// [`ContentsOrder`](crate::wire::ContentsOrder): read contents of a tensor in the last window.
    pub const CONTENTS: u32 = 12;
    /// [`Checked`](crate::wire::Checked), the answer to `NEEDS_CHECK`. Only then.
    pub const CHECKED: u32 = 13;
    /// Replace the memory of the buffers that workers map by new memory.
    pub const REPLACE_MEMORY: u32 = 14;
}

/// Kinds of frames from the referee to the broker.
pub mod from_referee {
    /// [`Problem`](crate::wire::Problem): the order failed.
    pub const FAILED: u32 = 100;
    /// Answer to `HELLO`: the device's [`Facts`](gpubench_device::Facts), encoded.
    pub const READY: u32 = 101;
    /// First answer to `OPEN_CASE`. There is no payload. The descriptors are a page for each worker
    /// (the candidate's first), and the memory shared with the author.
    pub const CASE_OPENED: u32 = 102;
    /// Second answer to `OPEN_CASE`: one [`BufferLayout`](crate::wire::BufferLayout) for each of
    /// the [`Allocations`](crate::window::Allocations) that workers map, with their descriptors.
    pub const ALLOCATIONS: u32 = 113;
    /// Answer to `PREPARE` and `PREPARE_WITH_ANSWERS`: [`Generate`](crate::wire::Generate), the
    /// author's order for the same window.
    pub const PREPARED: u32 = 103;
    /// Answer to `RELEASE`, even after an abort: [`WindowFacts`](crate::wire::WindowFacts).
    pub const FACTS: u32 = 104;
    /// Answer to `CLOSE_CASE`.
    pub const CASE_CLOSED: u32 = 105;
    /// Answer to `HELLO`: [`AbsentDevice`](crate::wire::AbsentDevice), the device does not exist or
    /// cannot be used.
    pub const ABSENT: u32 = 106;
    /// Answer to `BEGIN`.
    pub const BEGUN: u32 = 107;
    /// Answer to `RESOURCES`: [`KernelNeeds`](crate::wire::KernelNeeds), or nothing if the device
    /// has no such resources.
    pub const RESOURCES_FOUND: u32 = 111;
    /// Answer to `DIFFERENCES`: [`Differences`](crate::wire::Differences).
    pub const DIFFERENCES_FOUND: u32 = 114;
    /// Answer to `CONTENTS`: the bytes.
    pub const CONTENTS_READ: u32 = 115;
    /// [`CheckOrder`](crate::wire::CheckOrder), before `FACTS`: the author shall check the outputs
    /// in the memory that it shares with the referee.
    pub const NEEDS_CHECK: u32 = 116;
    /// Answer to `REPLACE_MEMORY`. There is no payload. The descriptors are those of the new
    /// memory, in the order of `ALLOCATIONS`. There are none if the device lacks memory for it: the
    /// old one remains.
    pub const MEMORY_REPLACED: u32 = 117;
    /// Answer to `REFERENCE`.
    pub const REFERENCE_DONE: u32 = 108;
    /// [`Problem`](crate::wire::Problem): a generator kernel of the crate failed.
    pub const GENERATOR_FAILED: u32 = 109;
    /// [`Problem`](crate::wire::Problem): the crate's reference failed.
    pub const REFERENCE_FAILED: u32 = 110;
    /// [`Problem`](crate::wire::Problem): the device lacks memory for the order.
    pub const OUT_OF_MEMORY: u32 = 112;
}

/// Kinds of frames from the broker to a worker.
pub mod to_worker {
    /// [`WorkerSetup`](crate::wire::WorkerSetup), layouts, module positions, names of metrics, a
    /// name for profilers, the encoded request of a hosted benchmark and the encoded recording. The
    /// descriptors are the page, the buffers, the modules and the hosted benchmark's libraries. A
    /// worker without user host code receives it again for its next case.
    pub const SETUP: u32 = 1;
    /// [`WindowOrder`](crate::wire::WindowOrder): queue the window, to start at *go*.
    pub const ARM: u32 = 2;
    /// As `SETUP`, for a control worker. It uses the tensors of all sides and ignores the plan.
    pub const SETUP_NULL: u32 = 3;
    /// Release the case's page and buffers, because the referee will close the case. For workers
    /// without user host code.
    pub const HAND_BACK: u32 = 4;
    /// Release the case's page and buffers, and wait for the next `SETUP`. For workers without user
    /// host code.
    pub const REST: u32 = 5;
    /// Map other memory in place of that of the case's buffers, at the same addresses. The
    /// descriptors are those of the other memory, in the order of `SETUP`. For workers without user
    /// host code.
    pub const REPLACE_MEMORY: u32 = 6;
}

/// Kinds of frames from a worker to the broker.
pub mod from_worker {
    /// [`Problem`](crate::wire::Problem): the order failed.
    pub const FAILED: u32 = 100;
    /// Second answer to `SETUP`: `f64`, the median time between two events with nothing between
    /// them, in nanoseconds.
    pub const READY: u32 = 101;
    /// Answer to `ARM`: the same [`WindowOrder`](crate::wire::WindowOrder).
    pub const ARMED: u32 = 102;
    /// [`Claim`](crate::wire::Claim): the window's work has ended.
    pub const CLAIM: u32 = 103;
    /// [`SandboxReport`](crate::wire::SandboxReport): the first answer to `SETUP`, sent before any
    /// code of the user is loaded.
    pub const SANDBOX: u32 = 104;
    /// [`Problem`](crate::wire::Problem): the set-up of the user's host code failed.
    pub const REFUSED: u32 = 105;
    /// [`Problem`](crate::wire::Problem): the device rejected the plan or its kernels.
    pub const PLAN_REFUSED: u32 = 106;
    /// Answer to `HAND_BACK`: `f64`, the shortest time between two events with nothing between
    /// them, in nanoseconds. It is measured at the end of the case, in a stream that waits as in a
    /// window.
    pub const HANDED_BACK: u32 = 107;
    /// Answer to `REST`. There is no payload.
    pub const RESTS: u32 = 108;
    /// Answer to `REPLACE_MEMORY`. There is no payload.
    pub const MEMORY_REPLACED: u32 = 109;
    /// [`Problem`](crate::wire::Problem): the device lacks memory for the order.
    pub const OUT_OF_MEMORY: u32 = 112;
}

/// Kinds of frames from the broker to an author.
pub mod to_author {
    /// Load the cdylib. There is no payload; the descriptors are its dependencies, then the cdylib.
    /// Once.
    pub const LOAD: u32 = 1;
    /// Record a case: the number of a benchmark as `u32`, then the encoded request.
    pub const RECORD: u32 = 2;
    /// [`Attach`](crate::wire::Attach), layouts, module positions, the encoded request and the
    /// encoded recording, with descriptors.
    pub const ATTACH: u32 = 3;
    /// [`Generate`](crate::wire::Generate): make the author's inputs of a window.
    pub const GENERATE: u32 = 4;
    /// Run the reference, a function or a plan, on the attached buffers.
    pub const REFERENCE: u32 = 5;
    /// Release the attached buffers.
    pub const DETACH: u32 = 6;
    /// [`CheckOrder`](crate::wire::CheckOrder): run the check on the attached buffers.
    pub const CHECK: u32 = 7;
    /// Instead of `LOAD`: there is no library, and the descriptor is a file with the contents of
    /// stored tensors. The request of a case is then where each of its stored tensors begins in the
    /// file, as `u64`.
    pub const HOLD: u32 = 8;
}

/// Kinds of frames from an author to the broker.
pub mod from_author {
    /// [`SandboxReport`](crate::wire::SandboxReport): the first message, before the author loads
    /// anything.
    pub const SANDBOX: u32 = 104;
    /// The order failed: an [`AuthorFailure`](crate::wire::AuthorFailure) as a number, then text.
    pub const FAILED: u32 = 100;
    /// The order succeeded. The payload is the encoded catalog (`LOAD`), the encoded
    /// recording (`RECORD`) or empty. For `CHECK`, it is empty if the outputs are accepted, or
    /// else the number of the first rejected call as `u32` and the reason.
    pub const DONE: u32 = 101;
    /// Answer to `RECORD`: the encoded query for an occupancy that the recording needs.
    pub const NEEDS_OCCUPANCY: u32 = 102;
}
