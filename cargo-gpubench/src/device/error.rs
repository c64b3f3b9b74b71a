//! What can go wrong on a device.

use crate::wire::FaultCode;

/// A call to the driver failed, or work on a stream did.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// Memory could not be had.
    #[error("the device has no memory for `{bytes}` bytes")]
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A descriptor from another process is not an allocation of the promised kind.
    #[error("the shared allocation is not what it should be: {0}")]
    ForeignMemory(String),
    /// A module could not be loaded.
    #[error("cannot load the compiled kernels")]
    Load(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A module has no such kernel.
    #[error("the compiled kernels do not include `{0}`")]
    NoFunction(String),
    /// The tool's own kernels are not in this build.
    #[error("this build has no kernels for the CPU device: {0}")]
    NoHarness(String),
    /// A check of the tool's own does not add up.
    #[error("a check does not add up")]
    Check(#[from] gpubench_harness::SummaryError),
    /// A kernel faulted; the stream carries out nothing after it.
    #[error("{0}")]
    Fault(Fault),
    /// The user's host code failed where it was called for a stream.
    #[error(transparent)]
    Host(#[from] HostFailure),
    /// The device cannot do what was asked.
    #[error("the device cannot {0}")]
    Unsupported(String),
    /// The operating system refused.
    #[error("the operating system refused: {what}")]
    Os {
        /// What was asked of it.
        what: &'static str,
        /// Its answer.
        #[source]
        source: std::io::Error,
    },
}

/// What a call of the user's host code failed by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostFailure {
    /// It returned an error.
    #[error("{0}")]
    Returned(String),
    /// It panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// It left another context than the device's primary one current, so that what it queues next would not be measured.
    #[error(
        "it made another context current (hint: retain the device's primary context, as the CUDA runtime does, and make no context of your own)"
    )]
    ForeignContext,
}

/// A fault inside a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What kind.
    pub code: FaultCode,
    /// Which launch, counted over the launches a stream was given since its last synchronisation.
    pub launch: u32,
    /// The block.
    pub block: [u32; 3],
    /// The thread, where it is known exactly.
    pub thread: Option<[u32; 3]>,
    /// The address of a stray access.
    pub address: Option<u64>,
    /// The fault in words, without its place.
    pub text: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.block;
        write!(f, "{} in block ({x}, {y}, {z})", self.text)?;
        match self.thread {
            Some([x, y, z]) => write!(f, ", thread ({x}, {y}, {z})"),
            None => Ok(()),
        }
    }
}
