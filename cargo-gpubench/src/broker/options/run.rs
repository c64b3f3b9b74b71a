//! A run as a whole.

use std::time::Duration;

use super::{DeviceOptions, LibrarySource, MeasurementOptions, OutputOptions, PageTarget, ResultOptions};
use crate::broker::cases::CaseSelection;
use gpubench_measure::measurement::RunMode;
use gpubench_report::OutputTarget;

/// Everything a run is asked to do.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// What is done with the selected cases.
    pub action: Action,
    /// Where the libraries with benchmarks come from.
    pub libraries: LibrarySource,
    /// Which cases.
    pub cases: CaseSelection,
    /// On which device.
    pub device: DeviceOptions,
    /// How long and how often.
    pub measurement: MeasurementOptions,
    /// `--fail-fast`: whether the run ends after a benchmark has failed.
    pub fail_fast: bool,
    /// `--nvtx`: whether every window is marked for a profiler, as an NVTX range.
    pub nvtx: bool,
    /// What is shown and written.
    pub output: OutputOptions,
    /// What becomes of the results.
    pub results: ResultOptions,
    /// Options of the command line, word by word, that a command which runs a case again repeats.
    pub repeated: Vec<String>,
}

impl RunOptions {
    /// Whether standard output is for an export or a page, so that the table has to be elsewhere.
    pub fn gives_standard_output_away(&self) -> bool {
        let page = self.results.page == Some(PageTarget::OutputTarget(OutputTarget::StandardOutput));
        let mut exports = self.output.exports.iter();
        page || exports.any(|export| export.outlet == OutputTarget::StandardOutput)
    }
}

/// What is done with the selected cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// They are measured.
    #[default]
    Measure,
    /// `--list`: their names are printed.
    List,
    /// `--no-run`: their libraries are built.
    Build,
    /// `--test`: each is called once and checked.
    Test,
    /// `--profile-time`: each is called for so long, for a profiler.
    Profile(Duration),
}

impl From<Action> for RunMode {
    fn from(action: Action) -> RunMode {
        match action {
            Action::Test => RunMode::Test,
            Action::Profile(duration) => RunMode::Profile(duration),
            Action::Measure | Action::List | Action::Build => RunMode::Measure,
        }
    }
}
