//! What becomes of the results, beside being shown.

use camino::{Utf8Path, Utf8PathBuf};

use gpubench_report::{Gate, OutputTarget};
use gpubench_stats::Confidence;
use gpubench_store::RunName;
use gpubench_store::compare::{AnalysesTaken, Fences, Floors, Matching, Rules, Setups};

/// What becomes of the results, beside being shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultOptions {
    /// `--load-baseline`: they were measured before, and nothing is now.
    pub loaded: Option<RunName>,
    /// What they are compared with.
    pub baseline: Option<BaselineOptions>,
    /// What they are measured in turns with.
    pub against: Option<OpponentSource>,
    /// `--save-baseline`: what they are saved as.
    pub save: Option<RunName>,
    /// What is taken for a change.
    pub judging: JudgingOptions,
    /// Where their history goes.
    pub history: HistoryOptions,
    /// `--report`: where a page about them is written to.
    pub page: Option<PageTarget>,
}

impl ResultOptions {
    /// Whether the results are compared with others.
    pub fn compares(&self) -> bool {
        self.baseline.is_some() || self.against.is_some()
    }

    /// Whether anything is asked for that needs files other than those of the results themselves.
    pub fn is_about_files(&self) -> bool {
        self.baseline.is_some()
            || self.against.is_some()
            || self.save.is_some()
            || self.loaded.is_some()
            || self.history.is_recorded
            || self.page.is_some()
    }

    /// Stored runs that are read.
    pub fn runs_read(&self) -> impl Iterator<Item = &RunName> {
        let compared = self.baseline.as_ref().map(|baseline| &baseline.name);
        self.loaded.iter().chain(compared)
    }

    /// The file of the page, where one is named.
    pub fn page_file(&self) -> Option<&Utf8Path> {
        match self.page.as_ref()? {
            PageTarget::OutputTarget(outlet) => outlet.file(),
            PageTarget::TargetDirectory => None,
        }
    }

    /// Whether something is asked for that only a workspace has: a run to measure, or the place of
    /// a name.
    pub fn needs_a_workspace(&self) -> bool {
        if self.loaded.is_none() {
            return self.is_about_files();
        }
        let mut names = self.runs_read().chain(&self.save);
        names.any(|name| matches!(name, RunName::Baseline(_)))
    }
}

/// Where a page about results is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageTarget {
    /// `gpubench/report.html` in the target directory.
    TargetDirectory,
    /// This file, or standard output.
    OutputTarget(OutputTarget),
}

/// What results are measured in turns with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpponentSource {
    /// `--against`: a revision of the repository that the sources lie in.
    Revision(String),
    /// `--against-archive`: what was archived, here or elsewhere.
    Archive(Utf8PathBuf),
}

/// What results are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineOptions {
    /// The stored run.
    pub name: RunName,
    /// What becomes of benchmarks that it lacks.
    pub newcomers: NewBenchmarks,
}

/// What becomes of benchmarks that a baseline lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewBenchmarks {
    /// `--baseline`: nothing is measured.
    Refused,
    /// `--baseline-lenient`: they are measured and listed as new.
    Listed,
}

/// What is taken for a change, and what a change for the worse means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgingOptions {
    /// The relative change that is noise in any case, as a fraction.
    pub noise_threshold: f64,
    /// How sure intervals are.
    pub confidence: Confidence,
    /// What becomes of results that were not measured alike.
    pub setups: Setups,
    /// What of a comparison makes the command fail.
    pub gate: Gate,
}

impl JudgingOptions {
    /// The rules of a comparison by names, with what a history says is usual.
    pub fn rules(&self, fences: Fences) -> Rules {
        Rules {
            floor: self.noise_threshold,
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
            confidence: Confidence::DEFAULT,
            setups: Setups::MustAgree,
            gate: Gate::default(),
        }
    }
}

/// Where the history of the results is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryOptions {
    /// `--history`: whether the run is added to it.
    pub is_recorded: bool,
    /// Its folder; in the target directory where it is not said.
    pub folder: Option<Utf8PathBuf>,
}
