//! The driver's functions: what each does, the programs that record it in the kernel, and the
//! events that follow from their records.

mod calls;
mod capture;
mod contexts;
mod counted;
mod decoder;
mod layout;
mod map;
mod names;
mod plan;
mod programs;
mod queries;
mod role;
mod work;

pub(crate) use decoder::{Decoder, Decoding, Introduction};
pub(crate) use map::{FIRST_SEEN, Maps, PROCESSES_LOST, Pids, Recording, Scope, counter, process_value};
pub(crate) use names::{canonical, is_per_thread};
pub(crate) use plan::{Coverage, Functions, Plan};
pub use plan::{Recognised, Traps};
pub(crate) use programs::{Place, Probe, Programs, end_if_of_another};
pub(crate) use queries::is_observed;
pub(crate) use role::Role;
