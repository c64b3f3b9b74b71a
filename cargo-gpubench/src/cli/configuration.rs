//! Options that choose the configuration.

use camino::Utf8PathBuf;
use clap::{Args, ValueHint};

const HEADING: &str = "Configuration options";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct ConfigurationArguments {
    /// Use the settings of this profile of the configuration file
    ///
    /// `-P ci` is `[profile.ci]` in `.config/gpubench.toml` at the root of the workspace. Cargo's own profile is given by `--cargo-profile`.
    #[arg(short = 'P', long, value_name = "NAME", default_value = "default", global = true)]
    pub(super) profile: String,

    /// Read this configuration file instead of `.config/gpubench.toml`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, global = true)]
    pub(super) config_file: Option<Utf8PathBuf>,
}
