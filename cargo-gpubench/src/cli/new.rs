//! `cargo gpubench new`.

use camino::Utf8PathBuf;
use clap::ValueHint;

use crate::config::settings;
use crate::scaffold::{NewOptions, Template};

settings! {
    /// The options of `cargo gpubench new`.
    #[command(after_long_help = EXAMPLES)]
    pub(super) struct NewArguments {
        /// The crate's folder
        #[arg(value_name = "PATH", value_hint = ValueHint::DirPath)]
        path: Utf8PathBuf => Line "my-kernels", common;

        /// The package's name [default: the folder's]
        #[arg(long, value_name = "NAME")]
        name: Option<String> => Line "my-kernels --name kernels", common;

        /// How the kernels are written and launched
        #[arg(long, value_name = "KIND", default_value = "cuda")]
        template: Template => Line "my-kernels --template ptx", common;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench new my-kernels                     CUDA C++
  cargo gpubench new my-kernels --template cudarc   launched by cudarc";

impl NewArguments {
    /// Returns the options.
    pub(super) fn into_options(self) -> NewOptions {
        NewOptions {
            path: self.path,
            name: self.name,
            template: self.template,
        }
    }
}
