//! Options that say where stored runs and histories are.

use camino::Utf8PathBuf;
use clap::{Args, ValueHint};

use crate::broker::PlaceOptions;
use crate::build::ManifestOptions;

#[derive(Debug, Args)]
#[command(next_help_heading = "Manifest options")]
pub(super) struct PlaceArguments {
    /// Take histories from this folder instead of the target directory
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    history_dir: Option<Utf8PathBuf>,

    /// Look for baselines and histories in this target directory
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    target_dir: Option<Utf8PathBuf>,

    /// Look for baselines and histories of the workspace of this `Cargo.toml`
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    manifest_path: Option<Utf8PathBuf>,
}

impl PlaceArguments {
    pub(super) fn into_options(self) -> PlaceOptions {
        let Self {
            history_dir,
            target_dir,
            manifest_path,
        } = self;
        PlaceOptions {
            histories: history_dir,
            manifest: ManifestOptions {
                manifest_path,
                ..ManifestOptions::default()
            },
            target_dir,
        }
    }
}
