//! Perf events: what can be seen of a process without eBPF.
//!
//! A [`Watchpoint`] counts the writes to one word of a process, in hardware. [`Records`] tell which
//! files processes map, and when they fork, exec and end. Where `perf_event_paranoid` is at most 2,
//! both work without rights on processes of the same user.

mod attribute;
mod record;
mod records;
mod uprobe;
mod watchpoint;

pub use record::{Lifecycle, Record};
pub use records::{Records, Watched};
pub use watchpoint::Watchpoint;

pub(crate) use uprobe::{UprobeEvent, uprobe_source};
