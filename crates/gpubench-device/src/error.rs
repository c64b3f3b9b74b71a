//! Device errors.

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench_diagnostic::SetupMissing;
use serde::{Deserialize, Serialize};

use super::cuda::DriverError;
use crate::FaultCode;

/// A failed driver call, or a failure of queued work.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The device is missing or unusable.
    #[error("{0}")]
    Absent(Absence),
    /// There is not enough memory.
    #[error("cannot allocate {bytes} bytes of device memory")]
    OutOfMemory {
        /// The requested size.
        bytes: u64,
        /// The operating system's reason.
        #[source]
        source: std::io::Error,
    },
    /// A descriptor from another process is not the expected allocation.
    #[error("the shared allocation is invalid: {0}")]
    ForeignMemory(String),
    /// The compiled kernels could not be loaded.
    #[error("cannot load the compiled kernels")]
    Load(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The compiled kernels have no kernel of this name.
    #[error("the compiled kernels have no kernel `{0}`")]
    NoFunction(String),
    /// The compiled kernels have no variable of this name.
    #[error(
        "the compiled kernels have no variable `{0}` (hint: declare it `__constant__`, not `static`, at file scope or in a named namespace, and use it in a kernel; a `__device__` variable cannot be set)"
    )]
    NoSymbol(String),
    /// This build does not include the tool's own kernels.
    #[error("this build has no kernels for the CPU device: {0}")]
    NoHarness(String),
    /// The partial results of a check are inconsistent.
    #[error("the results of a check are inconsistent")]
    Check(#[from] gpubench_harness::SummaryError),
    /// A GPU driver refused a call.
    #[error("the GPU driver returned an error")]
    Driver(#[from] DriverError),
    /// A kernel faulted. Nothing queued after it runs.
    #[error("{0}")]
    Fault(Fault),
    /// The user's host code failed.
    #[error(transparent)]
    Host(#[from] HostFailure),
    /// The device does not support the operation.
    #[error("the device cannot {0}")]
    Unsupported(String),
    /// What kernels did could not be counted.
    #[error("cannot count: {0}")]
    Count(String),
    /// The device does not have a metric.
    #[error(
        "the GPU has no metric `{0}` (hint: `ncu --query-metrics` lists those of each chip; most need a suffix such as `.sum`, `.avg` or `.pct`)"
    )]
    UnknownMetric(String),
    /// The operating system refused an operation.
    #[error("{what} failed")]
    Os {
        /// The operation.
        what: &'static str,
        /// The operating system's reason.
        #[source]
        source: std::io::Error,
    },
}

impl DeviceError {
    /// Returns whether the cause is a lack of memory.
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            DeviceError::OutOfMemory { .. } => true,
            DeviceError::Driver(error) => error.is_out_of_memory(),
            _ => false,
        }
    }
}

/// The failure of a call into the user's host code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostFailure {
    /// The call returned an error.
    #[error("{0}")]
    Returned(String),
    /// The call panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// The call left a context other than the device's primary one current. Work that it queues
    /// next would not be measured.
    #[error(
        "it made another context current (hint: use the device's primary context, as the CUDA runtime does, instead of a new one)"
    )]
    ForeignContext,
}

/// The reason why a device cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// Whether the machine seems to have the device.
    pub kind: AbsenceKind,
    /// The reason, with the value that shows it.
    pub reason: String,
    /// What the user can do.
    pub hint: String,
}

/// Whether the machine seems to have an unusable device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, CheckedBitPattern, NoUninit)]
#[repr(u64)]
pub enum AbsenceKind {
    /// The machine shows no sign of the device.
    NotInstalled = 0,
    /// Parts of the device or its driver are there, but it cannot be used, or not by this process.
    Unusable = 1,
    /// The driver works, and has fewer devices than the number that was asked for.
    BeyondLast = 2,
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

/// A line of a kernel's source, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine(pub String);

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A fault inside a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The kind of fault.
    pub code: FaultCode,
    /// The index of the launch among those queued on the stream since its last synchronization, if
    /// known.
    pub launch: Option<u32>,
    /// The block, if known.
    pub block: Option<[u32; 3]>,
    /// The thread, if known exactly.
    pub thread: Option<[u32; 3]>,
    /// The address of an invalid access.
    pub address: Option<u64>,
    /// The line of the source in words, if known and not in the text.
    pub line: Option<Box<SourceLine>>,
    /// The fault in words, without block and thread.
    pub text: Box<str>,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = &self.line {
            write!(f, "at {line}: ")?;
        }
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
