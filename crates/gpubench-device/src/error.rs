//! What can go wrong on a device.

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench_diagnostic::SetupMissing;
use serde::{Deserialize, Serialize};

use super::cuda::DriverError;
use crate::FaultCode;

/// A call to the driver failed, or work on a stream did.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is no such device that could be used.
    #[error("{0}")]
    Absent(Absence),
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
    /// A module has no such variable.
    #[error(
        "the compiled kernels have no variable `{0}` (hint: it is `__constant__`, stands at file scope or in a named namespace, is not `static`, and is used by a kernel; a `__device__` variable is given no value)"
    )]
    NoSymbol(String),
    /// The tool's own kernels are not in this build.
    #[error("this build has no kernels for the CPU device: {0}")]
    NoHarness(String),
    /// A check of the tool's own does not add up.
    #[error("a check does not add up")]
    Check(#[from] gpubench_harness::SummaryError),
    /// A GPU's driver refused a call.
    #[error("the GPU's driver refuses")]
    Driver(#[from] DriverError),
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

impl DeviceError {
    /// Whether there is no memory for what was asked.
    pub fn is_want_of_memory(&self) -> bool {
        match self {
            DeviceError::OutOfMemory { .. } => true,
            DeviceError::Driver(error) => error.is_want_of_memory(),
            _ => false,
        }
    }
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
    /// It left another context than the device's primary one current, so that what it queues next
    /// would not be measured.
    #[error(
        "it made another context current (hint: retain the device's primary context, as the CUDA runtime does, and make no context of your own)"
    )]
    ForeignContext,
}

/// Why a device is not to be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// Whether anybody would expect it.
    pub kind: AbsenceKind,
    /// Why, with the value that shows it.
    pub reason: String,
    /// What can be done.
    pub hint: String,
}

/// Whether a device that is not to be had is one that the machine seems to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, CheckedBitPattern, NoUninit)]
#[repr(u64)]
pub enum AbsenceKind {
    /// Nothing on this machine belongs to it.
    NotInstalled = 0,
    /// Something of it is there, and it cannot be used.
    Unusable = 1,
}

impl std::fmt::Display for Absence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Absence { reason, hint, .. } = self;
        match hint.as_str() {
            "" => f.write_str(reason),
            hint => write!(f, "{reason} (hint: {hint})"),
        }
    }
}

impl From<Absence> for SetupMissing {
    fn from(Absence { reason, hint, .. }: Absence) -> Self {
        SetupMissing { what: reason, hint }
    }
}

/// A fault inside a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What kind.
    pub code: FaultCode,
    /// Which launch, counted over the launches a stream was given since its last synchronisation,
    /// where it is known.
    pub launch: Option<u32>,
    /// The block, where it is known.
    pub block: Option<[u32; 3]>,
    /// The thread, where it is known exactly.
    pub thread: Option<[u32; 3]>,
    /// The address of a stray access.
    pub address: Option<u64>,
    /// The fault in words, without its place.
    pub text: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        if let Some([x, y, z]) = self.block {
            write!(f, " in block ({x}, {y}, {z})")?;
        }
        match self.thread {
            Some([x, y, z]) => write!(f, ", thread ({x}, {y}, {z})"),
            None => Ok(()),
        }
    }
}
