//! Messages between the roles: frames on sockets, records of fixed size, and the page that referee
//! and worker share.
//!
//! Everything that a worker sends is a record of fixed size, except the counts after a claim. So is
//! everything from the referee, except the facts of its device (`READY`, JSON) and a list of
//! records (`CASE_OPENED`). The broker parses nothing else from them. Orders of the broker may be
//! longer, such as an encoded recording, because the broker is trusted.

mod channel;
mod counts;
mod json;
mod modules;
mod page;
mod records;
mod text;

pub use channel::{Channel, ChannelError, Frame, Limits, MAX_DESCRIPTORS, Patience, poll_readable, read_head};
pub use counts::{decode_counts, encode_counts};
pub use modules::{SourceModule, decode_modules, encode_modules, module_descriptors, take_files};
pub use page::{PAGE_BYTES, PLACES, PageAddresses, PageLayout, PageLeft, SharedPage, opening_words};
pub use records::*;
pub use text::FixedText;

/// Version of every message and of the shared page. All roles are one binary, so a difference means
/// a mixed installation.
pub const WIRE_VERSION: u32 = 16;

/// Most output tensors of a window. The shared page has room for this many output digests.
pub const MAX_OUTPUTS: usize = 60;

/// Most tensors and scratch allocations of a call.
pub const MAX_BUFFERS: usize = 64;

/// Most tensors and scratch allocations of all calls of a window. The author has memory for each.
pub const MAX_WINDOW_BUFFERS: usize = 128;

/// Most allocations that the workers of a case map, those of all sides together. Their descriptors
/// must fit in one frame. Any two sides have fewer.
pub const MAX_ALLOCATIONS: usize = 192;

/// Most cases that are measured alternately.
pub const MAX_ARMS: usize = 32;

/// Most parts of a call that are timed one by one.
pub const MAX_PARTS: usize = 64;

/// Most sources of a benchmark's kernels. Their modules must fit in one frame with the buffers.
pub const MAX_SOURCES: usize = 64;

// A worker receives a page and every buffer, the author inputs and answers.
const _: () = assert!(1 + MAX_BUFFERS + MAX_SOURCES <= MAX_DESCRIPTORS);
const _: () = assert!(MAX_WINDOW_BUFFERS + MAX_OUTPUTS + MAX_SOURCES <= MAX_DESCRIPTORS);
// The broker receives a page of each worker with the author's inputs and answers, and then what the
// workers map. A control worker receives a page and the tensors of all sides.
const _: () = assert!(MAX_ARMS + 1 + MAX_WINDOW_BUFFERS + MAX_OUTPUTS <= MAX_DESCRIPTORS);
const _: () = assert!(2 * MAX_BUFFERS <= MAX_ALLOCATIONS && MAX_ALLOCATIONS < MAX_DESCRIPTORS);
