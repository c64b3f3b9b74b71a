//! The referee process: pristine of the inputs, expected outputs, poison, decoys, flush, its own
//! clock and the checks. It never sees user host code.
//!
//! On a GPU it runs the kernels of generators and references (`own_kernels`): they cannot reach its
//! process. It reports facts and decides nothing: `process` takes the broker's orders, `case` holds
//! the buffers of the open case, `page` the pages shared with its workers, `instance` makes a
//! window's inputs or takes them from the author, `preparation` brings everything into the state a
//! call starts from, `check` looks at what the worker made of them, `wrong_output` closer where it
//! is wrong, `other_answers` whether another call's answer or zeros would have passed, `stamps` is
//! the clock, `window` the sequence.
#![forbid(unsafe_code)]

mod buffers;
mod case;
mod check;
mod flush;
mod instance;
mod other_answers;
mod own_kernels;
mod page;
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
    /// The broker is gone.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The shared page could not be made.
    #[error("cannot share a page with the worker")]
    Page(#[source] std::io::Error),
    /// The operating system does not tell copies of code apart.
    #[error("cannot tell which code was received")]
    Code(#[source] std::io::Error),
    /// A kernel of the crate that fills inputs failed.
    #[error(transparent)]
    Generator(ReplayError),
    /// The crate's reference failed.
    #[error(transparent)]
    Reference(ReplayError),
    /// The broker's order makes no sense.
    #[error("the broker's order makes no sense: {0}")]
    Order(&'static str),
}
