//! Kinds of frames, by who speaks to whom.

/// Kinds of frames from the broker to the referee.
pub mod to_referee {
    /// [`DeviceOrder`](gpubench_device::DeviceOrder): which device. Once.
    pub const HELLO: u32 = 1;
    /// [`OpenCase`](crate::wire::OpenCase), positions of modules, then the encoded recording, with
    /// the modules' descriptors.
    pub const OPEN_CASE: u32 = 2;
    /// [`WindowOrder`](crate::wire::WindowOrder): generate the window's inputs.
    pub const PREPARE: u32 = 3;
    /// [`WindowOrder`](crate::wire::WindowOrder): take the author's expected outputs, restore,
    /// flush, let the worker go, check.
    pub const RELEASE: u32 = 4;
    /// The worker is gone, or has had its time: wait for *done* no longer.
    pub const ABORT: u32 = 5;
    /// Forget the case and its memory.
    pub const CLOSE_CASE: u32 = 6;
    /// [`Begin`](crate::wire::Begin): the master seed and the cache flush. Once, before the first
    /// case.
    pub const BEGIN: u32 = 7;
    /// [`OccupancyOrder`](crate::wire::OccupancyOrder), then the kernel's name, with a descriptor
    /// of the compiled kernels.
    pub const OCCUPANCY: u32 = 9;
    /// [`WindowOrder`](crate::wire::WindowOrder): run the reference on the window's inputs, once
    /// the author has made its part of them.
    pub const REFERENCE: u32 = 8;
    /// [`WindowOrder`](crate::wire::WindowOrder): generate the window's inputs and run the
    /// reference on them, where nobody else has a part in either.
    pub const PREPARE_WITH_ANSWERS: u32 = 10;
}

/// Kinds of frames from the referee to the broker.
pub mod from_referee {
    /// [`Problem`](crate::wire::Problem): the order could not be carried out.
    pub const FAILED: u32 = 100;
    /// Answer to `HELLO`: the device's [`Facts`](gpubench_device::Facts), encoded.
    pub const READY: u32 = 101;
    /// Answer to `OPEN_CASE`: one [`BufferLayout`](crate::wire::BufferLayout) for every tensor and
    /// scratch allocation, with descriptors: a page for each worker, the worker under test's first,
    /// every buffer, and what the author shares.
    pub const CASE_OPENED: u32 = 102;
    /// Answer to `PREPARE` and `PREPARE_WITH_ANSWERS`: [`Generate`](crate::wire::Generate), the
    /// author's order about the same window.
    pub const PREPARED: u32 = 103;
    /// Answer to `RELEASE`, also to one that was aborted:
    /// [`WindowFacts`](crate::wire::WindowFacts).
    pub const FACTS: u32 = 104;
    /// Answer to `CLOSE_CASE`.
    pub const CASE_CLOSED: u32 = 105;
    /// Answer to `HELLO`: [`AbsentDevice`](crate::wire::AbsentDevice), there is no such device to
    /// be used.
    pub const ABSENT: u32 = 106;
    /// Answer to `BEGIN`.
    pub const BEGUN: u32 = 107;
    /// Answer to `OCCUPANCY`: `u32`, how many blocks of a kernel a multiprocessor holds.
    pub const OCCUPANCY_FOUND: u32 = 111;
    /// Answer to `REFERENCE`.
    pub const REFERENCE_DONE: u32 = 108;
    /// [`Problem`](crate::wire::Problem): a generator kernel of the crate failed.
    pub const GENERATOR_FAILED: u32 = 109;
    /// [`Problem`](crate::wire::Problem): the crate's reference failed.
    pub const REFERENCE_FAILED: u32 = 110;
    /// [`Problem`](crate::wire::Problem): the device has no memory for the order.
    pub const OUT_OF_MEMORY: u32 = 112;
}

/// Kinds of frames from the broker to a worker.
pub mod to_worker {
    /// [`WorkerSetup`](crate::wire::WorkerSetup), layouts, positions of modules, a name for
    /// profilers, the encoded request of a hosted benchmark and the encoded recording, with
    /// descriptors of the page, the buffers, the modules and the hosted benchmark's libraries.
    /// Again for the next case of a worker that holds no user's code.
    pub const SETUP: u32 = 1;
    /// [`WindowOrder`](crate::wire::WindowOrder): queue the window behind *go*.
    pub const ARM: u32 = 2;
    /// As `SETUP`, for a control worker: the recording is taken for its buffers, and its plan is left
    /// out.
    pub const SETUP_NULL: u32 = 3;
    /// Let go of the case's page and buffers: the referee is about to close it. For a worker that
    /// holds no user's code.
    pub const HAND_BACK: u32 = 4;
}

/// Kinds of frames from a worker to the broker.
pub mod from_worker {
    /// [`Problem`](crate::wire::Problem): the order could not be carried out.
    pub const FAILED: u32 = 100;
    /// Second answer to `SETUP`: `f64`, the median of the time between two events with nothing
    /// between them, in nanoseconds.
    pub const READY: u32 = 101;
    /// Answer to `ARM`: [`WindowOrder`](crate::wire::WindowOrder) as understood.
    pub const ARMED: u32 = 102;
    /// The window's work has ended: [`Claim`](crate::wire::Claim).
    pub const CLAIM: u32 = 103;
    /// [`SandboxReport`](crate::wire::SandboxReport): the first answer to `SETUP`, sent before any
    /// code of the user's is loaded.
    pub const SANDBOX: u32 = 104;
    /// [`Problem`](crate::wire::Problem): the user's host code could not be set up.
    pub const REFUSED: u32 = 105;
    /// [`Problem`](crate::wire::Problem): the device refuses the plan or its kernels.
    pub const PLAN_REFUSED: u32 = 106;
    /// Answer to `HAND_BACK`: `f64`, the shortest time between two events with nothing between them
    /// that was measured at the case's end, in a stream held back as that of a window is, in
    /// nanoseconds.
    pub const HANDED_BACK: u32 = 107;
    /// [`Problem`](crate::wire::Problem): the device has no memory for the order.
    pub const OUT_OF_MEMORY: u32 = 112;
}

/// Kinds of frames from the broker to an author.
pub mod to_author {
    /// Nothing but descriptors of the cdylib's libraries, itself the last. Once.
    pub const LOAD: u32 = 1;
    /// The number of a benchmark as `u32`, then the encoded request.
    pub const RECORD: u32 = 2;
    /// [`Attach`](crate::wire::Attach), layouts, positions of modules, the encoded request and the
    /// encoded recording, with descriptors.
    pub const ATTACH: u32 = 3;
    /// [`Generate`](crate::wire::Generate).
    pub const GENERATE: u32 = 4;
    /// Run the reference, function or plan, over the attached buffers.
    pub const REFERENCE: u32 = 5;
    /// Forget the attached buffers.
    pub const DETACH: u32 = 6;
}

/// Kinds of frames from an author to the broker.
pub mod from_author {
    /// [`SandboxReport`](crate::wire::SandboxReport): its first words, before it loads anything.
    pub const SANDBOX: u32 = 104;
    /// The order could not be carried out; an [`AuthorFailure`](crate::wire::AuthorFailure) as
    /// number, then text.
    pub const FAILED: u32 = 100;
    /// The order was carried out. Its payload is the encoded catalog (`LOAD`), the encoded
    /// recording (`RECORD`) or empty.
    pub const DONE: u32 = 101;
    /// Answer to `RECORD`: the recording depends on an occupancy; the encoded query.
    pub const NEEDS_OCCUPANCY: u32 = 102;
}
