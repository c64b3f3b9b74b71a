//! Options of a run as a whole.

use std::time::Duration;

use super::{
    Audit, DeviceOptions, FleetOptions, GradingOptions, LibrarySource, MeasurementOptions, ObserverChoice,
    OpponentSource, OutputOptions, PageTarget, ResultOptions,
};
use crate::broker::cases::CaseSelection;
use gpubench_contract::{Program, RepeatedCommand};
use gpubench_measure::measurement::RunMode;
use gpubench_report::OutputTarget;
use gpubench_sandbox::Rights;

/// What a skipped case does to the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnSkip {
    /// Nothing.
    #[default]
    Show,
    /// `--fail-on-skip`: the run fails.
    Fail,
}

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// What to do with the selected cases.
    pub action: Action,
    /// The source of the libraries with benchmarks.
    pub libraries: LibrarySource,
    /// The selection of cases.
    pub cases: CaseSelection,
    /// The device.
    pub device: DeviceOptions,
    /// Options of measurement.
    pub measurement: MeasurementOptions,
    /// The order in which cases are measured.
    pub order: CaseOrder,
    /// `--fail-fast`: whether the run ends after the first failed benchmark.
    pub fail_fast: bool,
    /// What a skipped case does to the exit code.
    pub on_skip: OnSkip,
    /// `--nvtx`: whether every window is an NVTX range for a profiler.
    pub nvtx: bool,
    /// `--sanitize`, `--profile-with`: the program that observes the calls.
    pub observer: Option<ObserverChoice>,
    /// Options of output.
    pub output: OutputOptions,
    /// Options of stored, compared and reported results.
    pub results: ResultOptions,
    /// Command-line words that a command to run a case again repeats.
    pub repeated: Vec<String>,
    /// The submissions that are measured, instead of the libraries' benchmarks.
    pub grading: Option<GradingOptions>,
    /// The agents that measure instead of this machine.
    pub fleet: Option<FleetOptions>,
}

impl RunOptions {
    /// Returns the command of the run, without the parts that depend on the case.
    pub fn repeated_command(&self) -> RepeatedCommand {
        RepeatedCommand {
            program: match &self.libraries {
                LibrarySource::Archive { .. } => Program::Executable,
                LibrarySource::Build(_) | LibrarySource::Dataset(_) => Program::Cargo,
            },
            options: self.repeated.clone(),
            overridden_axes: self.cases.axes.iter().map(|axis| axis.name.clone()).collect(),
        }
    }

    /// Whether a person debugs the call.
    pub fn is_debugged(&self) -> bool {
        matches!(self.observer, Some(ObserverChoice::Debugger(_)))
    }

    /// Returns what the run needs capabilities for, if its caller has some.
    pub fn rights(&self) -> Rights {
        let profiles = matches!(self.observer, Some(ObserverChoice::Profiler(..)));
        match self.measurement.audit {
            Audit::Made => Rights::Observe,
            Audit::Left if profiles || self.measurement.cases.count() => Rights::CountOnGpu,
            Audit::Left => Rights::None,
        }
    }

    /// Whether libraries come from an archive, whose author may be anybody, where cases are
    /// measured.
    pub fn runs_an_archive(&self) -> bool {
        let against = &self.results.against;
        self.fleet.is_some()
            || matches!(self.libraries, LibrarySource::Archive { .. })
            || matches!(against, Some(OpponentSource::Archive(_)))
    }

    /// Returns whether an export or a page uses standard output, so that the table goes elsewhere.
    pub fn gives_standard_output_away(&self) -> bool {
        let page = self.results.page == Some(PageTarget::OutputTarget(OutputTarget::StandardOutput));
        let mut exports = self.output.exports.iter();
        page || exports.any(|export| export.outlet == OutputTarget::StandardOutput)
    }
}

/// The order in which cases are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaseOrder {
    /// One after another.
    #[default]
    OneByOne,
    /// `--contest`: cases of one problem with the same arguments alternately.
    InContests,
}

/// What to do with the selected cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Measure them.
    #[default]
    Measure,
    /// `--list`: print their names.
    List,
    /// `--no-run`: only build their libraries.
    Build,
    /// `--test`: call each once and check it, perhaps with an observer.
    Test,
    /// `--profile-time`: call each for this long, for a profiler.
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
