//! `cargo gpubench archive`.

use std::path::PathBuf;

use camino::Utf8PathBuf;

use super::output::verbosity;
use super::settings::CargoArguments;
use crate::broker::options::{ArchiveOptions, OutputOptions};
use crate::config::{CaseSettings, TimeLimit, Value, settings};
use gpubench_device::compilers::NamedCompilers;
use gpubench_device::cuda::Architecture;
use gpubench_report::Color;

impl Value for Architecture {}

settings! {
    /// The options of `cargo gpubench archive`.
    pub(super) struct ArchiveArguments {
        /// Write the archive to this file, a `.tar.gz`
        ///
        /// An existing file is replaced when the archive is complete.
        #[arg(long, value_name = "FILE", help_heading = "Build")]
        archive_file: Utf8PathBuf => Line "--archive-file kernels.tar.gz", common;

        /// Compile kernels for this architecture: `sm_90`, `9.0`
        ///
        /// May be given several times. It needs NVRTC or nvcc, but no GPU. Plans are recorded for a
        /// typical device of the architecture. The machine that runs the archive compiles the rest:
        /// other architectures, and what a different device of this architecture needs.
        #[arg(long, value_name = "ARCH", help_heading = "Build", value_parser = Architecture::of_a_gpu)]
        gpu_arch: Vec<Architecture> => Line "--gpu-arch sm_90 --gpu-arch sm_80", common;

        /// Compile GPU kernels with this NVRTC
        ///
        /// A library or a folder that contains one. By default it is searched for in the same
        /// places as for a run.
        #[arg(long, value_name = "PATH", help_heading = "Build")]
        nvrtc: Option<PathBuf> => Line "--nvrtc /usr/local/cuda";

        /// Compile GPU kernels with this nvcc
        ///
        /// A program or a folder that contains one. By default it is searched for in the same
        /// places as for a run.
        #[arg(long, value_name = "PATH", help_heading = "Build")]
        nvcc: Option<PathBuf> => Line "--nvcc /usr/local/cuda/bin/nvcc";

        /// Give up if a library takes longer than this to list or record a benchmark
        #[arg(long, value_name = "DURATION", default_value_t = CaseSettings::BUILT_IN.complete().reference_timeout, help_heading = "Build")]
        reference_timeout: TimeLimit => Profile "--reference-timeout 5min";

        /// Show only warnings and errors
        #[arg(short, long, help_heading = "Output")]
        quiet: bool => Line "--quiet", common;

        #[command(flatten)]
        cargo: CargoArguments;
    }
}

impl ArchiveArguments {
    pub(super) fn into_options(self, color: Color) -> ArchiveOptions {
        let output = OutputOptions {
            color,
            verbosity: verbosity(self.quiet, false),
            ..OutputOptions::default()
        };
        ArchiveOptions {
            archive: self.archive_file,
            architectures: self.gpu_arch,
            compilers: NamedCompilers {
                nvrtc: self.nvrtc,
                nvcc: self.nvcc,
            },
            build: self.cargo.into_options(&output),
            within: self.reference_timeout.duration(),
            output,
        }
    }
}
