//! `cargo gpubench archive`.

use std::{env, path::PathBuf};

use camino::Utf8PathBuf;
use clap::Args;

use super::{cargo::CargoArguments, output::color};
use crate::broker::options::{ArchiveOptions, OutputOptions, Verbosity};
use crate::config::TimeLimit;
use gpubench_device::cuda::Architecture;
use gpubench_report::Color;

const ARCHIVE: &str = "Archive options";
const OUTPUT: &str = "Output options";

/// Every option of `cargo gpubench archive`.
#[derive(Debug, Args)]
pub(super) struct ArchiveArguments {
    /// Write the archive to this file, a `.tar.gz`
    ///
    /// A file of the name is replaced once the archive is complete.
    #[arg(long, value_name = "FILE", help_heading = ARCHIVE)]
    archive_file: Utf8PathBuf,

    /// Compile kernels ahead for GPUs of this architecture: `sm_90`, `9.0`
    ///
    /// May be given several times. It needs NVRTC or nvcc here and no GPU. Plans are recorded for a typical device of the architecture; what another device needs
    /// beyond that, and every architecture that is not named, is compiled where the archive is run.
    #[arg(long, value_name = "ARCH", help_heading = ARCHIVE, value_parser = Architecture::of_a_gpu)]
    gpu_arch: Vec<Architecture>,

    /// Compile kernels for GPUs with this NVRTC, a library or a folder that has one
    ///
    /// Without it NVRTC is looked for where a run looks for it.
    #[arg(long, value_name = "PATH", help_heading = ARCHIVE)]
    nvrtc: Option<PathBuf>,

    /// Give up when a library takes longer than this to list or to record a benchmark
    #[arg(long, value_name = "DURATION", default_value = "60s", help_heading = ARCHIVE)]
    reference_timeout: TimeLimit,

    /// Colour the output
    #[arg(long, value_name = "WHEN", help_heading = OUTPUT)]
    color: Option<Color>,

    /// Show warnings and errors only
    #[arg(short, long, help_heading = OUTPUT)]
    quiet: bool,

    #[command(flatten)]
    cargo: CargoArguments,
}

impl ArchiveArguments {
    /// Says what is to be done.
    pub(super) fn into_options(self) -> ArchiveOptions {
        let Self {
            archive_file,
            gpu_arch,
            nvrtc,
            reference_timeout,
            color: color_argument,
            quiet,
            cargo,
        } = self;
        let output = OutputOptions {
            color: color(color_argument, env::var("CARGO_TERM_COLOR").ok().as_deref()),
            verbosity: if quiet { Verbosity::Quiet } else { Verbosity::Normal },
            ..OutputOptions::default()
        };
        ArchiveOptions {
            archive: archive_file,
            architectures: gpu_arch,
            nvrtc,
            build: cargo.into_options(&output),
            within: reference_timeout.duration(),
            output,
        }
    }
}
