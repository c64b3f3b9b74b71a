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
    /// Every option of `cargo gpubench archive`.
    pub(super) struct ArchiveArguments {
        /// Write the archive to this file, a `.tar.gz`
        ///
        /// A file of the name is replaced once the archive is complete.
        #[arg(long, value_name = "FILE", help_heading = "Archive options")]
        archive_file: Utf8PathBuf => Line "--archive-file kernels.tar.gz";

        /// Compile kernels ahead for GPUs of this architecture: `sm_90`, `9.0`
        ///
        /// May be given several times. It needs NVRTC or nvcc here and no GPU. Plans are recorded
        /// for a typical device of the architecture; what another device needs beyond that, and
        /// every architecture that is not named, is compiled where the archive is run.
        #[arg(long, value_name = "ARCH", help_heading = "Archive options", value_parser = Architecture::of_a_gpu)]
        gpu_arch: Vec<Architecture> => Line "--gpu-arch sm_90 --gpu-arch sm_80";

        /// Compile kernels for GPUs with this NVRTC, a library or a folder that has one
        ///
        /// Without it NVRTC is looked for where a run looks for it.
        #[arg(long, value_name = "PATH", help_heading = "Archive options")]
        nvrtc: Option<PathBuf> => Profile "--nvrtc /usr/local/cuda";

        /// Compile kernels for GPUs with this nvcc, a program or a folder that has one
        ///
        /// Without it nvcc is looked for where a run looks for it.
        #[arg(long, value_name = "PATH", help_heading = "Archive options")]
        nvcc: Option<PathBuf> => Profile "--nvcc /usr/local/cuda/bin/nvcc";

        /// Give up when a library takes longer than this to list or to record a benchmark
        #[arg(long, value_name = "DURATION", default_value_t = CaseSettings::BUILT_IN.complete().reference_timeout, help_heading = "Archive options")]
        reference_timeout: TimeLimit => Profile "--reference-timeout 5min";

        /// Show warnings and errors only
        #[arg(short, long, help_heading = "Output options")]
        quiet: bool => Line "--quiet";

        #[command(flatten)]
        cargo: CargoArguments;
    }
}

impl ArchiveArguments {
    /// Says what is to be done.
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
