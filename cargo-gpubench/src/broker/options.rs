//! What a run is asked to do, as types: the command line and its environment variables come in as this, and nothing else does.
#![forbid(unsafe_code)]

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::DeviceKind;

use super::cases::{Case, CaseSelection};
use crate::archive::ExtractTo;
use crate::build::BuildOptions;
use crate::compare::{Rules, Setups};
use crate::config::{CaseLayers, CaseNames, CaseSettings, CompleteSettings};
use crate::device::cuda::Architecture;
use crate::report::Color;
use crate::stats::Confidence;
use crate::store::RunName;
use crate::wire::FlushKind;

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
    /// What happens after a failure.
    pub after_failure: AfterFailure,
    /// What is marked for a profiler.
    pub annotations: Annotations,
    /// What is shown and written.
    pub output: OutputOptions,
    /// What becomes of the results.
    pub results: ResultOptions,
}

/// Where the libraries with benchmarks come from.
#[derive(Clone, Debug)]
pub enum LibrarySource {
    /// They are built.
    Build(BuildOptions),
    /// `--archive-file`: they were built elsewhere.
    Archive(ArchivedLibraries),
}

/// Libraries in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedLibraries {
    /// The archive.
    pub archive: Utf8PathBuf,
    /// Where it is unpacked to.
    pub extract_to: ExtractTo,
}

/// Everything `cargo gpubench archive` is asked to do.
#[derive(Clone, Debug)]
pub struct ArchiveOptions {
    /// The archive to write.
    pub archive: Utf8PathBuf,
    /// GPUs that kernels are compiled ahead for.
    pub architectures: Vec<Architecture>,
    /// The NVRTC that compiles them, or a folder that has it; searched for where it is not said.
    pub nvrtc: Option<PathBuf>,
    /// What is built and how.
    pub build: BuildOptions,
    /// How long a library may take to list or to record a benchmark.
    pub within: Duration,
    /// What is shown.
    pub output: OutputOptions,
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

/// Which device measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// The kind, or the best there is.
    pub choice: DeviceChoice,
    /// Threads of the CPU device; all that the process may use where it is not said.
    pub threads: Option<NonZeroUsize>,
    /// Which of several GPUs.
    pub ordinal: u32,
    /// The NVRTC that compiles kernels for a GPU, or a folder that has it; searched for where it is not said.
    pub nvrtc: Option<PathBuf>,
}

/// Which kind of device measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A GPU where there is one.
    #[default]
    Auto,
    /// This kind and no other.
    Kind(DeviceKind),
}

/// How long and how often is measured.
#[derive(Clone, Debug)]
pub struct MeasurementOptions {
    /// Where the inputs and their order come from.
    pub seed: MasterSeed,
    /// Bytes the cache flush goes through; what the device asks for where it is not said.
    pub flush_bytes: Option<u64>,
    /// How the flush goes through them.
    pub flush: FlushKind,
    /// Seed of the order in which threads of a block run on the CPU device; 0 is their own order.
    pub schedule: u64,
    /// What may differ from case to case.
    pub cases: CaseLayers,
}

/// How long and how often one case is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaseOptions {
    /// How many fresh workers the case's samples come from.
    pub workers: NonZeroUsize,
    /// When there are enough samples.
    pub stopping: StoppingOptions,
    /// How long parts of the case may take.
    pub limits: TimeLimits,
}

impl MeasurementOptions {
    /// What holds for a case whose package asks for `package`.
    pub fn of_case(&self, case: &Case, package: CaseSettings) -> CaseOptions {
        let (name, full_name) = (case.name(), case.full_name());
        let names = CaseNames {
            name: &name,
            full_name: &full_name,
        };
        CaseOptions::from(self.cases.of_case(names, package))
    }

    /// What holds where no single case is meant.
    pub fn everywhere(&self) -> CaseOptions {
        CaseOptions::from(self.cases.everywhere())
    }
}

impl From<CompleteSettings> for CaseOptions {
    fn from(settings: CompleteSettings) -> Self {
        let CompleteSettings {
            timeout,
            reference_timeout,
            workers,
            target_cv,
            min_samples,
            max_samples,
            max_time,
            noise_threshold: _,
        } = settings;
        Self {
            workers: workers.number(),
            stopping: StoppingOptions {
                target_cv: target_cv.fraction(),
                min_samples: min_samples.number(),
                max_samples: max_samples.number(),
                max_time: max_time.duration(),
            },
            limits: TimeLimits {
                window: timeout.duration(),
                reference: reference_timeout.duration(),
            },
        }
    }
}

/// Where the master seed of a run comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MasterSeed {
    /// The operating system draws it.
    #[default]
    Fresh,
    /// `--seed`.
    Pinned([u8; 32]),
}

/// When there are enough samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingOptions {
    /// The coefficient of variation that is good enough, as a fraction above zero.
    pub target_cv: f64,
    /// Never fewer samples than this; at least one.
    pub min_samples: u32,
    /// Never more samples than this; at least `min_samples`.
    pub max_samples: u32,
    /// No more samples after this time on one case.
    pub max_time: Duration,
}

/// How long parts of a case may take before they count as hung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// One window: a call of the kernel with everything around it.
    pub window: Duration,
    /// One CPU reference or CPU generator.
    pub reference: Duration,
}

/// What happens after a benchmark has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterFailure {
    /// The others still run.
    #[default]
    Continue,
    /// `--fail-fast`: the run ends.
    Stop,
}

/// What is marked for a profiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Annotations {
    /// Nothing.
    #[default]
    None,
    /// `--nvtx`: every window, as an NVTX range.
    Nvtx,
}

/// What is shown and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Who reads standard output.
    pub format: MessageFormat,
    /// Whether it is coloured.
    pub color: Color,
    /// How much is shown.
    pub verbosity: Verbosity,
    /// Whether progress is.
    pub progress: ProgressShown,
    /// Whether what user code prints is shown.
    pub user_output: UserOutput,
    /// Files that get the results as well.
    pub exports: Vec<Export>,
}

impl OutputOptions {
    /// The files that are written.
    pub fn files(&self) -> impl Iterator<Item = &Utf8Path> {
        self.exports.iter().map(|export| &*export.path)
    }
}

/// Who reads standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageFormat {
    /// People.
    #[default]
    Human,
    /// Programs: one JSON object a line.
    Json,
}

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// `--quiet`: results, warnings and errors.
    Quiet,
    /// As usual.
    #[default]
    Normal,
    /// `--verbose`: details of every case as well.
    Verbose,
}

/// Whether progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressShown {
    /// On a terminal.
    #[default]
    Auto,
    /// Nowhere.
    Never,
}

/// What becomes of the text that benchmark functions, generators and references print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserOutput {
    /// It is kept, and shown where something fails.
    #[default]
    Captured,
    /// `--no-capture`: it goes to standard error as it comes.
    Shown,
}

/// A file that gets the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// In which format.
    pub format: ExportFormat,
    /// Which file.
    pub path: Utf8PathBuf,
}

/// Formats of files with results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// The lines of `--message-format json`.
    Json,
    /// A row a case.
    Csv,
    /// A table for a page or a comment.
    Markdown,
    /// XML for CI services.
    Junit,
}

/// What becomes of the results, beside being shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultOptions {
    /// Where they come from.
    pub source: ResultSource,
    /// What they are compared with.
    pub baseline: Option<BaselineOptions>,
    /// `--against`: the revision that they are measured in turns with.
    pub against: Option<String>,
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
    /// Whether anything is asked for that needs files other than those of the results themselves.
    pub fn is_about_files(&self) -> bool {
        self.baseline.is_some()
            || self.against.is_some()
            || self.save.is_some()
            || self.source != ResultSource::Measured
            || self.history.recording == Recording::On
            || self.page.is_some()
    }

    /// Stored runs that are read.
    pub fn runs_read(&self) -> impl Iterator<Item = &RunName> {
        let loaded = match &self.source {
            ResultSource::Measured => None,
            ResultSource::Loaded(name) => Some(name),
        };
        let compared = self.baseline.as_ref().map(|baseline| &baseline.name);
        loaded.into_iter().chain(compared)
    }

    /// The file of the page, where one is named.
    pub fn page_file(&self) -> Option<&Utf8Path> {
        match self.page.as_ref()? {
            PageTarget::File(path) => Some(path),
            PageTarget::TargetDirectory => None,
        }
    }

    /// Whether something is asked for that only a workspace has: a run to measure, or the place of a name.
    pub fn needs_a_workspace(&self) -> bool {
        if self.source == ResultSource::Measured {
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
    /// This file.
    File(Utf8PathBuf),
}

/// Where results come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResultSource {
    /// They are measured.
    #[default]
    Measured,
    /// `--load-baseline`: they were measured before, and nothing is now.
    Loaded(RunName),
}

/// What results are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineOptions {
    /// The stored run.
    pub name: RunName,
    /// What becomes of benchmarks that it lacks.
    pub newcomers: Newcomers,
}

/// What becomes of benchmarks that a baseline lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newcomers {
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
    /// What the command makes of a regression.
    pub on_regression: OnRegression,
}

impl Default for JudgingOptions {
    fn default() -> JudgingOptions {
        JudgingOptions {
            noise_threshold: Rules::FLOOR,
            confidence: Confidence::DEFAULT,
            setups: Setups::MustAgree,
            on_regression: OnRegression::Fail,
        }
    }
}

/// What the command makes of a regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRegression {
    /// It fails.
    #[default]
    Fail,
    /// `--no-fail-on-regression`: it shows it.
    Show,
}

/// Where the history of the results is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryOptions {
    /// Whether the run is added to it.
    pub recording: Recording,
    /// Its folder; in the target directory where it is not said.
    pub folder: Option<Utf8PathBuf>,
}

/// Whether a run is added to the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    /// It is not.
    #[default]
    Off,
    /// `--history`: it is.
    On,
}
