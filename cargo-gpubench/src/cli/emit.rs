//! `cargo gpubench emit`.

use clap::{ArgGroup, ValueHint};

use super::UsageError;
use super::output::verbosity;
use super::settings::{CargoArguments, DeviceArguments, SelectionArguments};
use crate::broker::options::OutputOptions;
use crate::broker::{EmitOptions, KernelScope, Language};
use crate::config::{CaseSettings, TimeLimit, settings};
use gpubench_device::cuda::Architecture;
use gpubench_report::{Color, OutputTarget};

settings! {
    /// The options of `cargo gpubench emit`.
    #[command(after_long_help = EXAMPLES, group = ArgGroup::new("language").required(true).args(["ptx", "sass"]))]
    pub(super) struct EmitArguments {
        /// Print PTX, NVIDIA's portable assembly language
        #[arg(long, help_heading = "Output")]
        ptx: bool => Line "--ptx add1", common;

        /// Print SASS, the instructions of the GPU, with source lines
        ///
        /// It needs NVIDIA's `nvdisasm`, which is searched for next to the compilers that `--nvrtc`
        /// and `--nvcc` name, on `PATH`, in toolkits and in Python packages. `pip install
        /// nvidia-cuda-nvdisasm` installs it alone.
        #[arg(long, help_heading = "Output")]
        sass: bool => Line "--sass add1", common;

        /// Print every kernel in the sources of the cases
        ///
        /// By default only those that the cases measure.
        #[arg(long, help_heading = "Output")]
        all_kernels: bool => Line "--ptx --all-kernels add1";

        /// Write to this file; `-`, the default, is standard output
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
        output: Option<OutputTarget> => Line "--sass add1 --output add1.sass", common;

        /// Compile for this architecture: `sm_90`, `9.0`
        ///
        /// No GPU is needed. Plans are recorded for a typical device of the architecture. By
        /// default kernels are compiled for the GPU of this machine.
        #[arg(long, value_name = "ARCH", help_heading = "Machine", value_parser = Architecture::of_a_gpu)]
        gpu_arch: Option<Architecture> => Line "--ptx add1 --gpu-arch sm_90", common;

        /// Give up if a library takes longer than this to list or record a benchmark
        #[arg(long, value_name = "DURATION", default_value_t = CaseSettings::BUILT_IN.complete().reference_timeout, help_heading = "Build")]
        reference_timeout: TimeLimit => Profile "--ptx add1 --reference-timeout 5min";

        /// Show only warnings and errors
        #[arg(short, long, help_heading = "Output")]
        quiet: bool => Line "--ptx add1 --quiet";

        #[command(flatten)]
        selection: SelectionArguments;

        #[command(flatten)]
        device: DeviceArguments;

        #[command(flatten)]
        cargo: CargoArguments;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench emit --ptx --exact image::blur::width=1024   the kernels of a case
  cargo gpubench emit --sass blur --gpu-arch sm_90            on a machine without a GPU";

impl EmitArguments {
    /// Checks the rules that clap cannot express.
    ///
    /// # Errors
    /// A filter or the selection is invalid.
    pub(super) fn into_options(self, color: Color) -> Result<EmitOptions, UsageError> {
        let output = OutputOptions {
            color,
            verbosity: verbosity(self.quiet, false),
            ..OutputOptions::default()
        };
        Ok(EmitOptions {
            language: match self.sass {
                true => Language::Sass,
                false => Language::Ptx,
            },
            scope: match self.all_kernels {
                true => KernelScope::All,
                false => KernelScope::Measured,
            },
            architecture: self.gpu_arch,
            device: self.device.into_options(None),
            cases: self.selection.into_selection()?,
            build: self.cargo.into_options(&output),
            within: self.reference_timeout.duration(),
            output,
            target: self.output.unwrap_or(OutputTarget::StandardOutput),
        })
    }
}
