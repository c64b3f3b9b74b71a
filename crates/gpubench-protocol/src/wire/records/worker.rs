//! What a worker is told, and its words before it can be armed.

use bytemuck::{CheckedBitPattern, NoUninit};

use crate::wire::FixedText;
use gpubench_contract::Method;
use gpubench_device::DeviceOrder;
use gpubench_sandbox::Confinement;

/// First words to a worker.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct WorkerSetup {
    /// Layouts that follow: every tensor, then every scratch allocation of the plan.
    pub buffers: u32,
    /// Bytes of the positions of modules that follow the layouts.
    pub module_bytes: u32,
    /// Bytes of the name that windows are marked with for a profiler, behind the modules; 0 marks
    /// nothing.
    pub annotation_bytes: u32,
    /// Position of the benchmark in its catalog; used by a hosted one.
    pub benchmark: u32,
    /// Last descriptors of the frame that are the user's library, behind the libraries that it
    /// needs; 0 where the benchmark is not hosted.
    pub library_files: u32,
    /// Bytes of the encoded request that follow the name.
    pub request_bytes: u32,
    /// Processes whose memory must be closed to a hosted worker, beside the broker: referee and
    /// author.
    pub guarded: [u32; 2],
    /// How calls are measured: what the worker arms round each, and reads after it.
    pub method: Method,
    /// Zero.
    pub reserved: u32,
    /// The device.
    pub device: DeviceOrder,
}

/// Whether the sandbox around the user's code is closed, and if not, why.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct SandboxReport {
    /// Whether it is closed.
    pub state: SandboxState,
    /// Zero.
    pub reserved: u32,
    /// Why it is open.
    pub reason: FixedText,
}

impl From<&Confinement> for SandboxReport {
    fn from(confinement: &Confinement) -> SandboxReport {
        let (state, reason) = match confinement {
            Confinement::Closed => (SandboxState::Closed, FixedText::EMPTY),
            Confinement::Open(reason) => (SandboxState::Open, FixedText::new(reason)),
        };
        SandboxReport {
            state,
            reserved: 0,
            reason,
        }
    }
}

impl From<&SandboxReport> for Confinement {
    fn from(report: &SandboxReport) -> Confinement {
        match report.state {
            SandboxState::Closed => Confinement::Closed,
            SandboxState::Open => Confinement::Open(report.reason.printable()),
        }
    }
}

/// Whether a sandbox is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum SandboxState {
    Open = 0,
    Closed = 1,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confinement_travels() {
        for confinement in [Confinement::Closed, Confinement::Open("no filter".to_owned())] {
            assert_eq!(Confinement::from(&SandboxReport::from(&confinement)), confinement);
        }
    }
}
