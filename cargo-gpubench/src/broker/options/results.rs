//! Options of stored, compared and reported results.

use camino::{Utf8Path, Utf8PathBuf};

use gpubench_report::{Gate, OutputTarget};
use gpubench_stats::Confidence;
use gpubench_store::RunName;
use gpubench_store::compare::{AnalysesTaken, Fences, Floors, Matching, Rules, Setups};

/// Options of stored, compared and reported results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultOptions {
    /// `--load-baseline`: the stored runs to load instead of measuring. Several are parts of one.
    pub loaded: Vec<RunName>,
    /// The stored run to compare the results with.
    pub baseline: Option<BaselineOptions>,
    /// The revision or archive that the measurement alternates with.
    pub against: Option<OpponentSource>,
    /// `--save-baseline`: the name to save the results under.
    pub save: Option<RunName>,
    /// What counts as a change.
    pub judging: JudgingOptions,
    /// The history of the results.
    pub history: HistoryOptions,
    /// `--report`: where to write a page about the results.
    pub page: Option<PageTarget>,
    /// What is done with the last results of the same cases.
    pub last_run: LastRun,
}

/// What is done with the last results of the same cases on the same device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastRun {
    /// `--no-last-run`, or a run that measures nothing: they are neither read nor replaced.
    #[default]
    Ignored,
    /// New results replace them. The run is compared with something else.
    Replaced,
    /// The run is compared with them, and then replaces them.
    Compared,
}

impl ResultOptions {
    /// Returns whether the results are compared with others.
    pub fn compares(&self) -> bool {
        self.baseline.is_some() || self.against.is_some()
    }

    /// Returns whether an option reads or writes files other than the results themselves.
    pub fn is_about_files(&self) -> bool {
        self.baseline.is_some()
            || self.against.is_some()
            || self.save.is_some()
            || !self.loaded.is_empty()
            || self.history.is_recorded
            || self.page.is_some()
    }

    /// Returns the stored runs to read.
    pub fn runs_read(&self) -> impl Iterator<Item = &RunName> {
        let compared = self.baseline.as_ref().map(|baseline| &baseline.name);
        self.loaded.iter().chain(compared)
    }

    /// Returns the file of the page, if the user named one.
    pub fn page_file(&self) -> Option<&Utf8Path> {
        match self.page.as_ref()? {
            PageTarget::OutputTarget(outlet) => outlet.file(),
            PageTarget::TargetDirectory => None,
        }
    }

    /// Returns whether an option needs a workspace: to build a run that it measures, or to find a
    /// run by name.
    pub fn needs_a_workspace(&self) -> bool {
        if self.loaded.is_empty() {
            return self.is_about_files();
        }
        let mut names = self.runs_read().chain(&self.save);
        names.any(|name| matches!(name, RunName::Baseline(_)))
    }
}

/// The target of a page about results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageTarget {
    /// `gpubench/report.html` in the target directory.
    TargetDirectory,
    /// This file, or standard output.
    OutputTarget(OutputTarget),
}

/// The baseline that the measurement alternates with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpponentSource {
    /// `--against`: a revision of the repository that contains the sources.
    Revision(String),
    /// `--against-archive`: an archive made here or elsewhere.
    Archive(Utf8PathBuf),
}

/// The stored run that results are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineOptions {
    /// The stored run.
    pub name: RunName,
    /// What to do about benchmarks that it lacks.
    pub newcomers: NewBenchmarks,
}

/// What to do about benchmarks that a baseline lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewBenchmarks {
    /// `--baseline`: measure nothing and fail.
    Refused,
    /// `--baseline-lenient`: measure them and list them as new.
    Listed,
}

/// What counts as a change, and what a regression does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgingOptions {
    /// The relative change that always counts as noise, as a fraction.
    pub noise_threshold: f64,
    /// The relative change of a count that is too small to matter, as a fraction.
    pub count_threshold: f64,
    /// The confidence of intervals.
    pub confidence: Confidence,
    /// What to do about results of different measurement settings.
    pub setups: Setups,
    /// The changes that make the command fail.
    pub gate: Gate,
}

impl JudgingOptions {
    /// Returns the rules of a comparison by name, with a history's fences for usual changes.
    pub fn rules(&self, fences: Fences) -> Rules {
        Rules {
            floor: self.noise_threshold,
            count_floor: self.count_threshold,
            floors: Floors::new(),
            confidence: self.confidence,
            fences,
            analyses: AnalysesTaken::new(),
            matching: Matching::Names,
            setups: self.setups,
        }
    }
}

impl Default for JudgingOptions {
    fn default() -> JudgingOptions {
        JudgingOptions {
            noise_threshold: Rules::FLOOR,
            count_threshold: Rules::COUNT_FLOOR,
            confidence: Confidence::DEFAULT,
            setups: Setups::MustAgree,
            gate: Gate::default(),
        }
    }
}

/// Options of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryOptions {
    /// `--history`: whether to add the run to it.
    pub is_recorded: bool,
    /// The folder; by default, in the target directory.
    pub folder: Option<Utf8PathBuf>,
}
