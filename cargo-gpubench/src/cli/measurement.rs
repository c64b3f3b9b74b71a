//! Options of the device and the measurement.

use std::num::NonZeroUsize;

use super::settings::{DeviceArguments, MeasurementArguments};
use crate::broker::options::{Audit, DeviceOptions, MeasurementOptions, OtherRuns};
use crate::config::{CaseLayers, ThreadCount};
use gpubench_device::compilers::NamedCompilers;
use gpubench_measure::measurement::EvidenceUse;

impl DeviceArguments {
    /// Returns the options of the device. `threads` applies to the CPU device.
    pub(super) fn into_options(self, threads: Option<NonZeroUsize>) -> DeviceOptions {
        let (choice, ordinals) = self.device;
        DeviceOptions {
            choice,
            ordinals,
            threads,
            compilers: NamedCompilers {
                nvrtc: self.nvrtc,
                nvcc: self.nvcc,
            },
        }
    }
}

impl MeasurementArguments {
    /// Returns the options. `cases` has the settings that may differ between cases.
    pub(super) fn into_options(self, cases: CaseLayers) -> (DeviceOptions, MeasurementOptions) {
        let measurement = MeasurementOptions {
            seed: self.seed.unwrap_or_default(),
            flush_bytes: self.flush_bytes,
            flush: self.flush,
            schedule: self.schedule,
            other_runs: if self.no_wait {
                OtherRuns::Ignored
            } else {
                OtherRuns::Awaited
            },
            audit: if self.audit { Audit::Made } else { Audit::Left },
            evidence: if self.evidence {
                EvidenceUse::JudgedAndKept
            } else {
                EvidenceUse::Judged
            },
            keep_callgrind: self.keep_callgrind,
            keep_wrong_outputs: self.keep_wrong_outputs,
            lock_clocks: self.lock_clocks,
            cases,
        };
        let threads = self.threads.map(ThreadCount::number);
        (self.device.into_options(threads), measurement)
    }
}
