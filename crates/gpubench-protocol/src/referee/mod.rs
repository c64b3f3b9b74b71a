//! The referee process: it has the pristine inputs, expected outputs, poison, decoys, flush, second
//! clock and checks. It never loads the user's host code.
//!
//! On a GPU it runs the kernels of generators and references (`own_kernels`), which cannot reach
//! its process. It reports facts and decides nothing. `process` carries out the broker's orders.
//! `case` has the buffers of the open case, and `page` the pages shared with its workers.
//! `instance` makes a window's inputs or copies them from the author, `preparation` sets the
//! initial state of a call, `window` runs the sequence and `stamps` reads the clock. `check` checks
//! the worker's buffers, `wrong_output` classifies wrong outputs, `differences` lists their wrong
//! elements, `contents` reads tensors for people, and `other_answers` finds out whether another
//! call's answer or zeros would pass. `new_memory` places the buffers anew between two windows.
#![forbid(unsafe_code)]

mod author_check;
mod buffers;
mod call_time;
mod case;
mod check;
mod contents;
mod differences;
mod instance;
mod new_memory;
mod other_answers;
mod own_kernels;
mod page;
mod parts;
mod preparation;
mod process;
mod stamps;
mod window;
mod wrong_output;

#[cfg(test)]
mod tests;

pub use process::serve;

use crate::replay::ReplayError;
use crate::wire::ChannelError;
use gpubench_device::DeviceError;

/// Why the referee could not carry out an order.
#[derive(Debug, thiserror::Error)]
pub enum RefereeError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The connection to the broker failed.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The shared page could not be made.
    #[error("cannot share a page with the worker")]
    Page(#[source] std::io::Error),
    /// The operating system did not report the identity of a file with code.
    #[error("cannot identify the received code")]
    Code(#[source] std::io::Error),
    /// A generator kernel of the crate failed.
    #[error(transparent)]
    Generator(ReplayError),
    /// The crate's reference failed.
    #[error(transparent)]
    Reference(ReplayError),
    /// The broker's order is invalid.
    #[error("invalid order from the broker: {0}")]
    Order(&'static str),
}
