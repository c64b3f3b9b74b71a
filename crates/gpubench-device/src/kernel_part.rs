//! How much the tool's own part of a window, between the referee's stamps S1 and S2, depends on the kernel that runs in it.

use gpubench_contract::KernelPartSource;

/// The most by which the tool's own part of two windows may differ because other kernels run in them. More windows do not make it smaller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelPart {
    /// How much, in nanoseconds.
    pub ns: f64,
    /// How that is known.
    pub source: KernelPartSource,
}

/// Devices that were measured: a part of their name, and the figure.
///
/// H200, driver 580.159: the medians of honest cases, the suite's and those of the GPU fixture, lie 4 µs below to 6 µs above the null worker's
/// (`docs/measurements/2026-11-21.md`); calls of milliseconds have more, which `stats::conservation` allows them. H100, same driver: 1.3 µs below to 9.2 µs above
/// (`docs/measurements/2026-11-23-one-stream.md`).
const MEASURED: [(&str, f64); 2] = [("H200", 8_000.0), ("H100 80GB HBM3", 12_000.0)];

/// For devices that nobody has measured.
const ASSUMED_NS: f64 = 20_000.0;

impl KernelPart {
    /// That of the device with this name.
    pub fn of_device(name: &str) -> KernelPart {
        let measured = MEASURED.iter().find(|(part, _)| name.contains(part));
        match measured {
            Some((_, ns)) => KernelPart {
                ns: *ns,
                source: KernelPartSource::Measured,
            },
            None => KernelPart {
                ns: ASSUMED_NS,
                source: KernelPartSource::Assumed,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_was_not_measured_is_given_more_and_says_so() {
        let measured = KernelPart::of_device("NVIDIA H200");
        let assumed = KernelPart::of_device("NVIDIA A100-SXM4-80GB");
        assert_eq!(
            (measured.source, assumed.source),
            (KernelPartSource::Measured, KernelPartSource::Assumed)
        );
        assert!(measured.ns < assumed.ns);
    }
}
