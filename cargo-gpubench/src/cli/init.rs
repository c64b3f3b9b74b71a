//! `cargo gpubench init`.

use camino::Utf8PathBuf;
use clap::ValueHint;

use super::parsers::target_name;
use crate::config::settings;
use crate::scaffold::InitOptions;

settings! {
    /// The options of `cargo gpubench init`.
    #[command(after_long_help = EXAMPLES)]
    pub(super) struct InitArguments {
        /// Files of CUDA C++ [default: all `.cu` files of the package]
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        files: Vec<Utf8PathBuf> => Line "src/sums.cu", common;

        /// The example that gets the benchmarks
        #[arg(long, value_name = "NAME", default_value = "gpu", value_parser = target_name)]
        example: String => Line "--example sums", common;

        /// The package's manifest
        #[arg(long, value_name = "PATH", default_value = "Cargo.toml", value_hint = ValueHint::FilePath)]
        manifest_path: Utf8PathBuf => Line "--manifest-path kernels/Cargo.toml", common;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench init               a benchmark for each kernel of the package
  cargo gpubench init src/sums.cu   for each kernel of one file";

impl InitArguments {
    /// Returns the options.
    pub(super) fn into_options(self) -> InitOptions {
        InitOptions {
            files: self.files,
            manifest: self.manifest_path,
            example: self.example,
        }
    }
}
