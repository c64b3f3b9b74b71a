//! The submissions of a run, in the catalog of the problem's crate.

use std::collections::HashSet;
use std::error::Error;
use std::io;
use std::time::Duration;

use gpubench::catalog::{Axis, Benchmark, Catalog, DeviceFacts, DeviceKind, Params, Recording, SubmissionLimits};
use gpubench::codec;

use crate::archive::Digest;
use crate::broker::cases::Case;
use crate::broker::options::{GradedCases, GradingOptions, SubmissionPlace};
use crate::broker::problems::hidden::hidden_cases;
use crate::broker::problems::listed::own_problems;
use crate::cdylibs::Built;
use gpubench_contract::{Cause, ScoreRule, SubmissionFacts};
use gpubench_diagnostic::{Expected, Failure, chain};
use gpubench_measure::measurement::CaseFailure;
use gpubench_submission::{Body, Code, Launches, Limits, ReadError, Submission};

/// The submissions of a run. Their positions are those of benchmarks in the catalog of the
/// problem's library: one for the public cases of each, and another one for its hidden cases.
#[derive(Debug)]
pub(in crate::broker) struct Entrants {
    /// Position of the problem for the author.
    problem: u32,
    /// Time limit of a compiler.
    pub(in crate::broker) compile_within: Duration,
    rule: ScoreRule,
    entrants: Vec<Entrant>,
    hidden: Vec<Params>,
}

/// Where a submission's library comes from.
#[derive(Clone, Copy, Debug)]
pub(in crate::broker) enum Library<'s> {
    /// It is the submission.
    Given { file: &'s str, contents: &'s [u8] },
    /// It is compiled from the source at this position of the catalog.
    Compiled(u32),
}

/// A submission, or why it cannot be read.
#[derive(Debug)]
struct Entrant {
    facts: SubmissionFacts,
    submission: Result<Submission, CaseFailure>,
    /// Position of its source in the catalog.
    source: u32,
}

impl Entrants {
    /// Reads the submissions, and replaces the benchmarks of the catalogs by them. A submission
    /// that cannot be read fails alone, in its cases. `seed` decides what hidden cases are drawn.
    ///
    /// # Errors
    /// There is no problem of that name, or its hidden cases are too many.
    pub(in crate::broker) fn enter(
        options: &GradingOptions,
        built: &Built,
        catalogs: &mut [Catalog],
        device: DeviceKind,
        seed: &[u8; 32],
    ) -> Result<Entrants, Failure> {
        let listed = *own_problems(built, catalogs)?.named(&options.problem)?;
        let (library, problem, stated) = (listed.library, listed.position, listed.problem.clone());
        let hidden = match options.cases {
            GradedCases::Public => Vec::new(),
            GradedCases::All => hidden_cases(&stated, device, seed)?,
        };
        catalogs.iter_mut().for_each(|catalog| catalog.benchmarks.clear());
        let catalog = &mut catalogs[library];
        let outline = with_limits(stated.outline, stated.limits);
        let mut names = HashSet::new();
        let mut entrants = Vec::new();
        for place in &options.submissions {
            let submission = read(place, stated.limits);
            let named = submission.as_ref().map(|submission| submission.name.to_string());
            let source = catalog.sources.len() as u32;
            let code = submission.as_ref().map(|submission| &submission.code);
            if let Ok(Code::Kernels(source)) = code {
                catalog.sources.push(source.clone());
            }
            let public = Benchmark {
                path: unused(named.unwrap_or_else(|_| name_of(place)), &mut names),
                own_library: match code {
                    Ok(Code::Library { file, .. }) => Some(file.clone()),
                    Ok(Code::Kernels(source)) if submission.as_ref().is_ok_and(is_called) => Some(source.name.clone()),
                    Ok(Code::Kernels(_)) | Err(_) => None,
                },
                ..outline.clone()
            };
            let of_hidden = with_cases(&public, &hidden);
            catalog.benchmarks.extend([public, of_hidden]);
            entrants.push(Entrant {
                facts: SubmissionFacts {
                    place: place.to_string(),
                    sha256: submission
                        .as_ref()
                        .ok()
                        .map(|submission| digest(submission).to_string()),
                    hidden_case: None,
                },
                submission: submission.map_err(|error| invalid(&error, error.hint())),
                source,
            });
        }
        Ok(Entrants {
            problem,
            compile_within: options.compile_within,
            rule: match stated.score {
                gpubench::catalog::Score::GeometricMean => ScoreRule::GeometricMean,
                gpubench::catalog::Score::ArithmeticMean => ScoreRule::ArithmeticMean,
                gpubench::catalog::Score::Last => ScoreRule::Last,
            },
            entrants,
            hidden,
        })
    }

    /// Marks the hidden ones among the selected cases.
    pub(in crate::broker) fn hide(&self, cases: &mut [Case]) {
        for case in cases.iter_mut().filter(|case| case.benchmark % 2 == 1) {
            let position = self.hidden.iter().position(|params| *params == case.params);
            case.hidden = position.map(|position| position as u32 + 1);
        }
    }

    fn entrant(&self, case: &Case) -> &Entrant {
        &self.entrants[case.benchmark / 2]
    }

    /// Returns the position of the problem for the author.
    pub(in crate::broker) fn problem(&self) -> u32 {
        self.problem
    }

    /// Returns where the submission of a case came from.
    pub(in crate::broker) fn facts(&self, case: &Case) -> SubmissionFacts {
        SubmissionFacts {
            hidden_case: case.hidden.map(u64::from),
            ..self.entrant(case).facts.clone()
        }
    }

    /// Returns how the cases of a submission make a score.
    pub(in crate::broker) fn rule(&self) -> ScoreRule {
        self.rule
    }

    /// Adds the launches of a case's submission to the recording of its problem.
    ///
    /// # Errors
    /// The submission cannot be read, or its launches do not fit the case.
    pub(in crate::broker) fn complete(
        &self,
        case: &Case,
        recording: &mut Recording,
        facts: &DeviceFacts,
    ) -> Result<(), CaseFailure> {
        let Entrant { submission, source, .. } = self.entrant(case);
        let submission = submission.as_ref().map_err(Clone::clone)?;
        let of_plan = gpubench_submission::Case {
            tensors: &recording.tensors,
            params: &case.params,
            facts,
        };
        match submission
            .launches(&of_plan, *source)
            .map_err(|mistake| invalid(&mistake, mistake.hint()))?
        {
            Launches::Sealed(plan) => recording.plan = plan,
            Launches::Hosted { call, execution } => {
                recording.call = Some(Box::new(call));
                recording.execution = execution;
            }
        }
        Ok(())
    }

    /// Returns where the library of a case's submission comes from, if it is host code.
    pub(in crate::broker) fn library(&self, case: &Case) -> Option<Library<'_>> {
        let Entrant { submission, source, .. } = self.entrant(case);
        let submission = submission.as_ref().ok()?;
        match &submission.code {
            Code::Library { file, contents } => Some(Library::Given { file, contents }),
            Code::Kernels(_) if is_called(submission) => Some(Library::Compiled(*source)),
            Code::Kernels(_) => None,
        }
    }
}

/// Returns the benchmark with the limit of a call that the problem has.
fn with_limits(mut benchmark: Benchmark, limits: SubmissionLimits) -> Benchmark {
    let timeout = limits.call_ns.map(|ns| ("timeout".to_owned(), format!("{ns}ns")));
    benchmark.settings.extend(timeout);
    benchmark
}

/// Returns the benchmark with these cases instead of its own. Without any, it has none.
fn with_cases(benchmark: &Benchmark, cases: &[Params]) -> Benchmark {
    let names = cases.first().into_iter().flatten().map(|(name, _)| name.clone());
    let values = cases.iter();
    let values = values.map(|params| params.iter().map(|(_, value)| value.clone()).collect());
    Benchmark {
        axes: vec![Axis {
            names: names.collect(),
            values: values.collect(),
        }],
        device_axes: Vec::new(),
        ..benchmark.clone()
    }
}

fn read(place: &SubmissionPlace, of_problem: SubmissionLimits) -> Result<Submission, ReadError> {
    let mut limits = Limits::default();
    if let Some(most) = of_problem.source_bytes {
        (limits.total, limits.text) = (limits.total.min(most), limits.text.min(most));
    }
    match place {
        SubmissionPlace::Path(path) => Submission::read(path.as_std_path(), &limits),
        SubmissionPlace::StandardInput => Submission::from_reader(io::stdin().lock(), &limits),
    }
}

/// Whether a submission is host code, which is called.
fn is_called(submission: &Submission) -> bool {
    matches!(submission.description.body, Body::Library(_))
}

/// Returns the digest of all that is graded. For a file that describes itself, it is that of the
/// file.
fn digest(submission: &Submission) -> Digest {
    let is_described_by = |path: &str| submission.description.at.file.ends_with(path);
    let parts = match &submission.code {
        Code::Kernels(source) => match &source.files[..] {
            [only] if is_described_by(&only.path) => return Digest::from_bytes(&only.contents),
            _ => codec::encode(source),
        },
        Code::Library { contents, .. } => contents.clone(),
    };
    let description = format!("{:?}", submission.description);
    Digest::from_bytes(&[&parts[..], description.as_bytes()].concat())
}

fn invalid(error: &dyn Error, hint: Option<String>) -> CaseFailure {
    let hint = hint.map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
    CaseFailure::error(Cause::SubmissionInvalid, chain(error) + &hint)
}

/// Returns the name of a submission that cannot be read.
fn name_of(place: &SubmissionPlace) -> String {
    match place {
        SubmissionPlace::Path(path) => path.file_stem().unwrap_or(path.as_str()).to_owned(),
        SubmissionPlace::StandardInput => "-".to_owned(),
    }
}

/// Returns the name, with a number if another submission has it.
fn unused(wanted: String, names: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{wanted} ({number})"));
    let name = std::iter::once(wanted.clone())
        .chain(numbered)
        .find(|name| names.insert(name.clone()));
    name.unwrap_or(wanted)
}
