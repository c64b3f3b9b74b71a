//! The set-up of a worker, and its sandbox report.

use bytemuck::{CheckedBitPattern, NoUninit};

use crate::window::WindowCalls;
use crate::wire::FixedText;
use gpubench_contract::MetricKind;
use gpubench_device::{CounterHold, DeviceOrder};
use gpubench_sandbox::Confinement;

/// Head of a `SETUP` frame.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct WorkerSetup {
    /// Number of layouts that follow: all tensors, then all scratch allocations of the plan. A
    /// control worker has the tensors of all sides.
    pub buffers: u32,
    /// Bytes of the module positions after the layouts.
    pub module_bytes: u32,
    /// Bytes of the name for a profiler after the modules; 0 for none.
    pub annotation_bytes: u32,
    /// Position of a hosted benchmark in its catalog.
    pub benchmark: u32,
    /// Number of library files at the end of the descriptors: the dependencies, then the user's
    /// cdylib; 0 if the benchmark is not hosted.
    pub library_files: u32,
    /// Bytes of the encoded request after the name.
    pub request_bytes: u32,
    /// Processes, besides the broker, whose memory a hosted worker must not reach: referee and
    /// author.
    pub guarded: [u32; 2],
    /// The calls of the windows.
    pub calls: WindowCalls,
    /// What is read in timed windows.
    pub metric: MetricKind,
    /// Bytes of the names of hardware metrics after the modules, each with a line feed.
    pub metric_bytes: u32,
    /// Who observes the worker.
    pub observer: Observer,
    /// How long it keeps the counters of a GPU.
    pub hold: CounterHold,
    /// Number of sides whose outputs are among the buffers: 1, or all for a control worker.
    pub sides: u32,
    /// Zero.
    pub reserved: u32,
    /// The device.
    pub device: DeviceOrder,
}

/// A program of others that observes a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum Observer {
    /// There is none.
    #[default]
    None = 0,
    /// A sanitizer. The call works on private copies of the buffers, so that the sanitizer knows
    /// where they end.
    Sanitizer = 1,
    /// A profiler, which records only the call.
    Profiler = 2,
    /// A debugger, in which a person may stop the worker at any time.
    Debugger = 3,
}

/// The state of the sandbox around the user's code.
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
    fn a_confinement_round_trips() {
        for confinement in [Confinement::Closed, Confinement::Open("no filter".to_owned())] {
            assert_eq!(Confinement::from(&SandboxReport::from(&confinement)), confinement);
        }
    }
}
