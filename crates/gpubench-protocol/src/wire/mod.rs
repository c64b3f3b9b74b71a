//! What crosses between the roles: frames on sockets, fixed-size records, the page that referee and
//! worker share.
//!
//! Everything that a worker says is a record of fixed size, and what a referee says too, but for
//! the facts of its device (`READY`, JSON) and a list of records (`CASE_OPENED`): the broker parses
//! nothing else from them. What the broker says to them may be longer (an encoded recording),
//! because it is trusted.

mod channel;
mod modules;
mod page;
mod records;
mod text;

pub use channel::{Channel, ChannelError, Frame, Limits, MAX_DESCRIPTORS, Patience, poll_readable, read_head};
pub use modules::{SourceModule, decode_modules, encode_modules, module_descriptors, take_files};
pub use page::{PAGE_BYTES, PLACES, PageAddresses, PageLayout, PageLeft, SharedPage, opening_words};
pub use records::*;
pub use text::FixedText;

/// Version of every message and of the shared page. The roles are one binary, so a difference means
/// a mixed installation.
pub const WIRE_VERSION: u32 = 7;

/// Most output tensors of a benchmark: the shared page has room for as many output digests.
pub const MAX_OUTPUTS: usize = 16;

/// Most tensors and scratch allocations of a benchmark together: as many descriptors travel in one
/// frame.
pub const MAX_BUFFERS: usize = 64;

/// Most sources that the kernels of a benchmark are compiled from: as many modules travel beside
/// the buffers.
pub const MAX_SOURCES: usize = 64;

// To a worker go a page and every buffer, to the author contents and answers.
const _: () = assert!(1 + MAX_BUFFERS + MAX_SOURCES <= MAX_DESCRIPTORS);
const _: () = assert!(MAX_BUFFERS + MAX_OUTPUTS + MAX_SOURCES <= MAX_DESCRIPTORS);
