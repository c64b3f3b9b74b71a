//! Options that say on what, how long and how often is measured.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use gpubench::catalog::DeviceKind;

use super::{byte_size::ByteSize, case::CaseArguments, seed::Seed};
use crate::broker::options::{DeviceChoice, DeviceOptions, MasterSeed, MeasurementOptions};
use crate::config::CaseLayers;
use gpubench_device::FlushKind;

pub(super) const HEADING: &str = "Measurement options";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct MeasurementArguments {
    /// Measure on this kind of device
    ///
    /// `auto` is the first GPU where there is one, and otherwise the CPU device, whose times say nothing about a GPU. `cuda` demands a
    /// GPU, `cuda:1` the second of several, `cpu` the CPU device.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceArgument,

    /// Give the CPU device this many threads
    ///
    /// Without it, as many as the process may use; at most 1024.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Compile kernels for a GPU with this NVRTC
    ///
    /// A library (`libnvrtc.so.13`) or a folder that has one: a toolkit, or the `site-packages` of Python. Without it the toolkit in
    /// `CUDA_HOME` or `CUDA_PATH`, those in `/usr/local`, the loader's path and Python's `nvidia` packages are searched, in this order.
    #[arg(long, value_name = "PATH")]
    nvrtc: Option<PathBuf>,

    /// Run the threads of a block in another order on the CPU device
    ///
    /// A number, 0 for their own order. Between two barriers threads may run in any order; a kernel that lacks a barrier can be right in one
    /// order and wrong in another.
    #[arg(long, value_name = "SEED", default_value = "0")]
    schedule: u64,

    /// Draw inputs, orders and keys from this seed, for reproduction
    ///
    /// Up to 64 hexadecimal digits. Without it the operating system draws a fresh one for every run. Someone who knows the seed can
    /// prepare for the inputs, so leave it out when kernels are not trusted.
    #[arg(long, value_name = "HEX")]
    seed: Option<Seed>,

    #[command(flatten)]
    pub(super) case: CaseArguments,

    /// Which settings hold for which cases; known only when everything that speaks of them has been heard.
    #[arg(skip)]
    pub(super) cases: CaseLayers,

    /// Flush this much cache before every call [default: twice a GPU's L2 cache, 8MiB on the CPU device]
    ///
    /// `8MiB`, `512KiB`, `64MB`, or bytes; `0` measures with a warm cache. On the CPU device the whole cache is not the default: shared
    /// machines report caches of hundreds of MiB.
    #[arg(long, value_name = "SIZE")]
    flush_bytes: Option<ByteSize>,

    /// How the cache is flushed
    ///
    /// `read` leaves no dirty lines behind that the kernel would have to write back; `write` does.
    #[arg(long, value_name = "HOW", default_value = "read")]
    flush: FlushArgument,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FlushArgument {
    /// Read through the flush buffer
    Read,
    /// Write the flush buffer
    Write,
}

impl From<FlushArgument> for FlushKind {
    fn from(flush: FlushArgument) -> Self {
        match flush {
            FlushArgument::Read => Self::Read,
            FlushArgument::Write => Self::Write,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceArgument {
    choice: DeviceChoice,
    ordinal: u32,
}

/// A `--device` that is none.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is none of `auto`, `cpu`, `cuda` and `cuda:NUMBER`")]
pub(super) struct UnknownDevice(String);

impl FromStr for DeviceArgument {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, UnknownDevice> {
        let first = |choice| Self { choice, ordinal: 0 };
        let unknown = || UnknownDevice(text.to_owned());
        match text {
            "auto" => Ok(first(DeviceChoice::Auto)),
            "cpu" => Ok(first(DeviceChoice::Kind(DeviceKind::Cpu))),
            "cuda" => Ok(first(DeviceChoice::Kind(DeviceKind::Cuda))),
            _ => {
                let ordinal = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                Ok(Self {
                    choice: DeviceChoice::Kind(DeviceKind::Cuda),
                    ordinal: ordinal.parse().map_err(|_| unknown())?,
                })
            }
        }
    }
}

impl DeviceArgument {
    /// The device, with so many threads where it is the CPU device, and the compiler of its kernels that is named.
    pub(super) fn options(self, threads: Option<NonZeroUsize>, nvrtc: Option<PathBuf>) -> DeviceOptions {
        let Self { choice, ordinal } = self;
        DeviceOptions {
            choice,
            threads,
            ordinal,
            nvrtc,
        }
    }
}

impl MeasurementArguments {
    pub(super) fn into_options(self) -> (DeviceOptions, MeasurementOptions) {
        let Self {
            device,
            threads,
            schedule,
            seed,
            case: _,
            cases,
            flush_bytes,
            flush,
            nvrtc,
        } = self;
        let measurement = MeasurementOptions {
            seed: seed.map_or(MasterSeed::Fresh, |seed| MasterSeed::Pinned(seed.bytes())),
            flush_bytes: flush_bytes.map(|size| size.bytes()),
            flush: flush.into(),
            schedule,
            cases,
        };
        let threads = threads.and_then(|threads| NonZeroUsize::new(threads.into()));
        (device.options(threads, nvrtc), measurement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_by_its_kind_and_number() {
        let parsed = |text: &str| {
            text.parse::<DeviceArgument>()
                .map(|device| (device.choice, device.ordinal))
        };
        assert_eq!(parsed("auto").unwrap(), (DeviceChoice::Auto, 0));
        assert_eq!(parsed("cuda").unwrap(), (DeviceChoice::Kind(DeviceKind::Cuda), 0));
        assert_eq!(parsed("cuda:3").unwrap(), (DeviceChoice::Kind(DeviceKind::Cuda), 3));
        for wrong in ["gpu", "cuda:", "cuda:-1", "cpu:0", "CUDA"] {
            assert!(parsed(wrong).unwrap_err().to_string().contains(&format!("`{wrong}`")));
        }
    }
}
