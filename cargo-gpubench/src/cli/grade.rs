//! `cargo gpubench grade`.

use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueHint;

use super::UsageError;
use super::observer::{observer, profilers, sanitizer_tools};
use super::overwriting::{refuse_to_overwrite, refuse_to_overwrite_files};
use super::parsers::file_to_go_on_with;
use super::settings::{CargoArguments, FleetArguments, MeasurementArguments, OutputArguments};
use super::standard_output::refuse_to_mix;
use crate::archive::ExtractTo;
use crate::broker::cases::{AxisOverride, CaseSelection, NameFilter, NamePattern, ShownBy};
use crate::broker::options::{
    Action, CaseOrder, DatasetOptions, Export, ExportFormat, GradedCases, GradingOptions, LibrarySource, OnSkip,
    OutputOptions, Profiler, ResultOptions, Rival, RunOptions, SubmissionPlace,
};
use crate::config::{CaseLayers, TimeLimit, settings};
use gpubench_contract::SanitizerTool;
use gpubench_report::{OutputTarget, RewardFile};

/// The name of the subcommand.
pub(super) const GRADE: &str = "grade";

/// The interpreter of a definition's reference, unless another is named.
const PYTHON: &str = "python3";

settings! {
    /// The options of `cargo gpubench grade`.
    #[command(after_long_help = EXAMPLES)]
    pub(super) struct GradeArguments {
        /// Grade these files, folders or archives
        ///
        /// CUDA C++ (`.cu`), PTX, a cubin or fatbin, a shared library, a folder or a tarball with
        /// one of them, or `-`: CUDA C++ or a tarball from standard input. How it is launched is
        /// written in the submission itself. Each has results of its own, in the given order.
        #[arg(value_name = "SUBMISSION", required_unless_present = "definition", num_args = 1.., value_hint = ValueHint::AnyPath,
            help_heading = "Grade")]
        submissions: Vec<Utf8PathBuf> => Line "--problem row_sums fast.cu", common;

        /// Grade against this problem: the name of a `#[problem]`
        ///
        /// Its last part is enough if no other problem has it.
        #[arg(long, value_name = "NAME", required_unless_present = "definition", help_heading = "Grade")]
        problem: Option<String> => Line "--problem row_sums fast.cu", common;

        /// Grade against this definition of FlashInfer-Bench
        ///
        /// Or of SOL-ExecBench. Its reference runs as a command, with your rights.
        #[arg(long, value_name = "FILE", requires = "workloads", value_hint = ValueHint::FilePath,
            conflicts_with_all = ["problem", "archive_file", "axis", "runner", "CargoArguments"], help_heading = "Grade")]
        definition: Option<Utf8PathBuf> => Line "--definition sum.json --workloads sum.jsonl --solution fast.json", common;

        /// The workloads of `--definition`: a case for each line
        #[arg(long, value_name = "FILE", requires = "definition", value_hint = ValueHint::FilePath, help_heading = "Grade")]
        workloads: Option<Utf8PathBuf> => Line "--definition sum.json --workloads sum.jsonl --solution fast.json", common;

        /// Grade this solution of `--definition`
        ///
        /// May be given several times.
        #[arg(long, value_name = "FILE", num_args = 1.., requires = "definition", value_hint = ValueHint::FilePath,
            help_heading = "Grade")]
        solution: Vec<Utf8PathBuf> => Line "--definition sum.json --workloads sum.jsonl --solution fast.json", common;

        /// Run the reference of `--definition` with this Python
        #[arg(long, value_name = "PROGRAM", default_value = PYTHON, requires = "definition",
            value_hint = ValueHint::CommandName, help_heading = "Grade")]
        python: String => Line "--definition sum.json --workloads sum.jsonl --python .venv/bin/python --solution fast.json";

        /// Only check the submissions, without measuring
        ///
        /// Each case gets a fresh process and at least three calls with fresh inputs.
        #[arg(long, help_heading = "Grade")]
        test: bool => Line "--problem row_sums --test fast.cu", common;

        /// Also grade the hidden cases of the problem
        ///
        /// Each has a number and a verdict, and nothing else: no time, no cause, no message.
        /// Values that the problem draws follow from the seed of the run. The score is that of the
        /// public cases, and a submission with a failed hidden case has none.
        #[arg(long, conflicts_with_all = ["contest", "axis", "no_capture", "trace", "keep_wrong_outputs"], help_heading = "Grade")]
        leaderboard: bool => Line "--problem row_sums --leaderboard fast.cu", common;

        /// Measure the submissions alternately, and rank them
        ///
        /// A case that fails drops out.
        #[arg(long, conflicts_with = "test", help_heading = "Grade")]
        contest: bool => Line "--problem row_sums --contest fast.cu slow.cu";

        /// Grade only the case with this name
        ///
        /// May be given several times.
        #[arg(long, value_name = "CASE", help_heading = "Grade")]
        exact: Vec<String> => Line "--problem row_sums --exact fast::rows=64 fast.cu";

        /// Show how many times as fast the others are as the submission with this name
        ///
        /// The scores then have the ratio, and the share of cases in which each is faster. With
        /// `reference`, it is the reference of the problem, if that launches kernels: it
        /// alternates with each submission, and the speed-ups over it decide the ranks.
        #[arg(long, value_name = "SUBMISSION", conflicts_with = "test", help_heading = "Grade")]
        over: Option<String> => Line "--problem row_sums --over naive naive.cu fast.cu";

        /// Write the records to this file, and go on from those that it has
        ///
        /// If the file is missing, the grading begins. If a grading was killed, the same command
        /// goes on with it: results whose submission, problem, settings and device are the same are
        /// taken from the file, and all other cases are judged. At the end the file is that of one
        /// run, as with `--export-json`. The file is trusted: whoever can edit it can edit
        /// verdicts.
        #[arg(long, value_name = "FILE", value_parser = file_to_go_on_with,
            conflicts_with = "contest", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        resume: Option<Utf8PathBuf> => Line "--problem row_sums --resume run.jsonl a.cu b.cu";

        /// Also write the reward of the submission to this file: `.json` or `.txt`
        ///
        /// It is 1 if each case passed, or with `--over` how many times as fast the submission is.
        /// Else it is 0, from the start of the run on. `.json` gets an object of numbers, `.txt`
        /// the reward alone. There must be one submission, not counting that of `--over`.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        reward: Option<RewardFile> => Line "--problem row_sums --reward reward.json fast.cu";

        /// Also write the ranking to this file as CSV, one row per submission
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_ranking: Option<OutputTarget> => Line "--problem row_sums --export-ranking scores.csv a.cu b.cu";

        /// Also write the results to this file as traces of FlashInfer-Bench, one a line
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", requires = "definition", conflicts_with = "test", value_hint = ValueHint::FilePath,
            help_heading = "Save and report")]
        export_trace: Option<OutputTarget> => Line "--definition sum.json --workloads sum.jsonl --solution fast.json --export-trace traces.jsonl";

        /// Check each kernel once with this tool of compute-sanitizer
        ///
        /// As `cargo gpubench --sanitize`. A finding has the kernel, the line, the block and the
        /// thread. Not for libraries: their sandbox would be open.
        #[arg(long, value_name = "TOOL", value_parser = sanitizer_tools(), help_heading = "Observe",
            conflicts_with_all = ["test", "leaderboard", "contest", "over", "reward", "export_ranking", "export_trace",
            "profile_with", "report"])]
        sanitize: Option<SanitizerTool> => Line "--problem row_sums --sanitize memcheck fast.cu";

        /// Run one case under this profiler, `ncu` or `nsys`, whose report shows only the call
        ///
        /// As `cargo gpubench --profile-with`. Words after `--` are arguments of the profiler.
        /// Select the case with `--exact`. Not for libraries: their sandbox would be open.
        #[arg(long, value_name = "PROFILER", value_parser = profilers(), help_heading = "Observe",
            conflicts_with_all = ["test", "leaderboard", "contest", "over", "reward", "export_ranking", "export_trace",
            "report"])]
        profile_with: Option<Profiler> => Line "--problem row_sums --exact fast::rows=64 --profile-with ncu fast.cu -- --set full";

        /// Replace the values of an axis
        #[arg(long, value_name = "NAME=VALUES", help_heading = "Grade")]
        axis: Vec<AxisOverride> => Line "--problem row_sums --axis rows=64 fast.cu";

        /// Give up on a submission if its compiler takes longer than this
        #[arg(long, value_name = "DURATION", default_value_t = TimeLimit::seconds(60), help_heading = "Grade")]
        compile_timeout: TimeLimit => Line "--problem row_sums --compile-timeout 5min fast.cu";

        /// Take the problem from this archive instead of building its crate
        #[arg(long, value_name = "FILE", conflicts_with = "CargoArguments", value_hint = ValueHint::FilePath,
            help_heading = "Build")]
        archive_file: Option<Utf8PathBuf> => Line "--archive-file problems.tar.gz --problem row_sums fast.cu";

        #[command(flatten)]
        measurement: MeasurementArguments;

        #[command(flatten)]
        fleet: FleetArguments;

        #[command(flatten)]
        output: OutputArguments;

        #[command(flatten)]
        cargo: CargoArguments;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench grade --problem row_sums fast.cu            one submission
  cargo gpubench grade --problem row_sums --test inbox/*.cu  check many, measure none
  cargo gpubench grade --problem row_sums --contest a.cu b.cu
                                                             rank two
  cargo gpubench grade --definition sum.json --workloads sum.jsonl --solution fast.json
                                                             files of FlashInfer-Bench
";

impl GradeArguments {
    /// Returns the options of the run. `cases` has the settings that may differ between cases,
    /// `repeated` the options that a command to repeat one needs, `profiler_arguments` those of the
    /// profiler, and `configuration` is the file of the settings.
    ///
    /// # Errors
    /// Nothing is graded, two outputs use the same file, or a reward would be of several
    /// submissions.
    pub(super) fn into_options(
        self,
        cases: CaseLayers,
        repeated: Vec<String>,
        profiler_arguments: Vec<OsString>,
        configuration: Option<Utf8PathBuf>,
    ) -> Result<RunOptions, UsageError> {
        let page = self.output.report.clone();
        let observer = observer(self.sanitize, self.profile_with, None, profiler_arguments);
        let (device, measurement) = self.measurement.into_options(cases);
        let mut output = OutputOptions {
            reward: self.reward,
            records: self.resume,
            ..self.output.into_options()
        };
        output.exports.extend(self.export_ranking.map(|outlet| Export {
            format: ExportFormat::Ranking,
            outlet,
        }));
        output.exports.extend(self.export_trace.map(|outlet| Export {
            format: ExportFormat::Traces,
            outlet,
        }));
        let solutions = self.solution.into_iter().map(SubmissionPlace::Solution);
        let submissions: Vec<SubmissionPlace> = self
            .submissions
            .into_iter()
            .map(SubmissionPlace::from_path)
            .chain(solutions)
            .collect();
        if submissions.is_empty() {
            return Err(UsageError::NothingToGrade);
        }
        let problem = match (&self.problem, &self.definition, &self.workloads) {
            (_, Some(definition), Some(workloads)) => vec![
                "--definition".to_owned(),
                definition.to_string(),
                "--workloads".to_owned(),
                workloads.to_string(),
            ],
            (problem, ..) => [vec!["--problem".to_owned()], problem.iter().cloned().collect()].concat(),
        };
        let python = match self.python.as_str() {
            PYTHON => Vec::new(),
            python => vec!["--python".to_owned(), python.to_owned()],
        };
        let over = self.over.map(Rival::from_word);
        let wanted = match &over {
            Some(Rival::Submission(_)) => 2,
            Some(Rival::Reference) | None => 1,
        };
        // A case is graded again without the other submissions.
        let over_reference = match &over {
            Some(rival @ Rival::Reference) => vec!["--over".to_owned(), rival.word().to_owned()],
            Some(Rival::Submission(_)) | None => Vec::new(),
        };
        if self.contest && over == Some(Rival::Reference) {
            return Err(UsageError::ReferenceInContest);
        }
        if output.reward.is_some() && submissions.len() > wanted {
            return Err(UsageError::SeveralRewards {
                submissions: submissions.len(),
            });
        }
        let results = ResultOptions {
            page,
            ..ResultOptions::default()
        };
        let written = || output.files().chain(results.page_file());
        refuse_to_overwrite(results.runs_read(), written())?;
        let files = submissions.iter().filter_map(SubmissionPlace::path);
        let files = files.chain(self.definition.as_deref()).chain(self.workloads.as_deref());
        refuse_to_overwrite_files(&files.collect::<Vec<_>>(), written())?;
        refuse_to_mix(&output, &results)?;
        let written_files = written().map(Utf8Path::to_owned).collect();
        Ok(RunOptions {
            action: match self.test || observer.is_some() {
                true => Action::Test,
                false => Action::Measure,
            },
            // Each result adds its own submission.
            repeated: [
                vec![GRADE.to_owned()],
                problem,
                python,
                flag("--test", self.test),
                flag("--leaderboard", self.leaderboard),
                over_reference,
                repeated,
            ]
            .concat(),
            cases: CaseSelection {
                names: NameFilter {
                    filters: self.exact.into_iter().map(NamePattern::Exact).collect(),
                    ..NameFilter::default()
                },
                axes: self.axis,
                shown_by: match &self.problem {
                    Some(problem) => ShownBy::Problem(problem.clone()),
                    None => ShownBy::Workloads,
                },
                ..CaseSelection::default()
            },
            libraries: match (self.archive_file, self.definition, self.workloads) {
                (Some(archive), ..) => LibrarySource::Archive {
                    archive,
                    extract_to: ExtractTo::Temporary,
                },
                (None, Some(definition), Some(workloads)) => LibrarySource::Dataset(DatasetOptions {
                    definition,
                    workloads,
                    python: self.python,
                    written: written_files,
                }),
                (None, ..) => LibrarySource::Build(self.cargo.into_options(&output)),
            },
            device,
            measurement,
            order: if self.contest {
                CaseOrder::InContests
            } else {
                CaseOrder::OneByOne
            },
            fail_fast: false,
            on_skip: OnSkip::Show,
            nvtx: false,
            observer,
            output,
            results,
            grading: Some(GradingOptions {
                problem: self.problem,
                cases: if self.leaderboard {
                    GradedCases::All
                } else {
                    GradedCases::Public
                },
                submissions,
                over,
                compile_within: self.compile_timeout.duration(),
            }),
            fleet: self.fleet.into_options(configuration),
        })
    }
}

fn flag(name: &str, is_set: bool) -> Vec<String> {
    is_set.then(|| name.to_owned()).into_iter().collect()
}
