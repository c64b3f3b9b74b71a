//! The submissions of a run, in the catalog of the problem's crate.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gpubench::catalog::{
    AxisValue, Benchmark, Catalog, DeviceFacts, DeviceKind, Execution, Params, Recording, Score, SubmissionLimits,
};
use gpubench::codec;

use super::error::GradingError;
use super::hidden::Hidden;
use super::names::{check_reference, check_rival, check_solutions, name_of, unused};
use crate::archive::Digest;
use crate::broker::cases::Case;
use crate::broker::dataset::{DatasetProblem, Described, ReadSolution, read_solution};
use crate::broker::options::{GradingOptions, ObserverChoice, ReadSubmission, Rival, SubmissionPlace};
use crate::broker::problems::listed::own_problems;
use crate::cdylibs::Built;
use gpubench_contract::{Cause, ScoreRule, SubmissionFacts};
use gpubench_device::FrozenFile;
use gpubench_diagnostic::{Expected, Failure, chain};
use gpubench_measure::measurement::CaseFailure;
use gpubench_submission::{Body, Code, Launches, Limits, Packed, ReadError, Submission};

/// The submissions of a run, as benchmarks in the catalog of the problem's library.
#[derive(Debug)]
pub(in crate::broker) struct Entrants {
    /// Name of the problem.
    problem_name: String,
    /// Position of its library.
    library: usize,
    /// Position of the problem for the author.
    problem: u32,
    /// Time limit of a compiler.
    pub(in crate::broker) compile_within: Duration,
    entrants: Vec<Entrant>,
    /// What each benchmark of the catalog is.
    benchmarks: Vec<Entered>,
    hidden: Hidden,
    draws: Draws,
    /// The problem, if no crate has it.
    dataset: Option<Arc<DatasetProblem>>,
    over: Option<Rival>,
}

/// A benchmark of the catalog.
#[derive(Clone, Copy, Debug)]
struct Entered {
    /// Position of the submission.
    entrant: usize,
    cases: Visibility,
}

/// Whether the cases of a benchmark have their own axes, or only numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    Public,
    /// Their only axis is their number, so no name, record or message can show a value.
    Hidden,
}

/// What follows from the seed of a run, besides inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draws {
    Nothing,
    /// The values of the hidden cases.
    HiddenCases,
}

/// Where a submission's library comes from.
#[derive(Clone, Copy, Debug)]
pub(in crate::broker) enum Library<'s> {
    /// It is the submission, which was copied when it was read.
    Given(&'s Result<FrozenFile, CaseFailure>),
    /// It is compiled from a source.
    Compiled {
        /// Position in the catalog.
        source: u32,
        /// Libraries that it needs.
        linked: &'s [PathBuf],
    },
}

/// A submission, or why it cannot be read.
#[derive(Debug)]
struct Entrant {
    /// The name of a solution, if its file says it.
    solution: Option<String>,
    facts: SubmissionFacts,
    submission: Result<Submission, CaseFailure>,
    /// The copy of a submission that is a library.
    library: Option<Result<FrozenFile, CaseFailure>>,
    /// Position of its source in the catalog.
    source: u32,
    /// Libraries that its host code needs.
    linked: Vec<PathBuf>,
}

impl Entrants {
    /// Reads the submissions, and replaces the benchmarks of the catalogs by them. A submission
    /// that cannot be read fails alone, in its cases. `seed` decides what hidden cases are drawn.
    ///
    /// # Errors
    /// There is no problem of that name, or its hidden cases are too many.
    pub(in crate::broker) fn enter(
        options: &GradingOptions,
        (built, dataset): (&Built, Option<&Arc<DatasetProblem>>),
        catalogs: &mut [Catalog],
        device: DeviceKind,
        seed: &[u8; 32],
    ) -> Result<Entrants, Failure> {
        let of_dataset = dataset.map(|dataset| dataset.name());
        let name = options.problem.as_deref().or(of_dataset).unwrap_or_default();
        let listed = *own_problems(built, catalogs)?.named(name)?;
        let (library, problem, stated) = (listed.library, listed.position, listed.problem.clone());
        let hidden = Hidden::of_problem(&stated, options.cases, device, seed)?;
        let problem_name = stated.outline.path.clone();
        let draws = match stated.hidden.draws.is_empty() {
            true => Draws::Nothing,
            false => Draws::HiddenCases,
        };
        catalogs.iter_mut().for_each(|catalog| catalog.benchmarks.clear());
        let catalog = &mut catalogs[library];
        let stated_reference = stated.reference_on(device);
        let outline = with_limits(stated.outline, stated.limits);
        let score_rule = match stated.score {
            Score::GeometricMean => ScoreRule::GeometricMean,
            Score::ArithmeticMean => ScoreRule::ArithmeticMean,
            Score::Last => ScoreRule::Last,
        };
        let (mut names, mut wanted) = (HashSet::new(), Vec::new());
        let (mut entrants, mut benchmarks): (Vec<Entrant>, Vec<Entered>) = Default::default();
        for place in &options.submissions {
            let ReadSolution {
                name: solution,
                mut submission,
                linked,
            } = read(place, stated.limits, dataset.map(|dataset| &**dataset));
            let named = submission.as_ref().map(|submission| submission.name.to_string());
            let source = catalog.sources.len() as u32;
            let code = submission.as_ref().map(|submission| &submission.code);
            if let Ok(Code::Kernels(source)) = code {
                catalog.sources.push(source.clone());
            }
            let name = named.unwrap_or_else(|_| name_of(place));
            wanted.push(name.clone());
            let public = Benchmark {
                path: unused(name, &mut names),
                own_library: match code {
                    Ok(Code::Library { file, .. }) => Some(file.clone()),
                    Ok(Code::Kernels(source)) if submission.as_ref().is_ok_and(is_called) => Some(source.name.clone()),
                    Ok(Code::Kernels(_)) | Err(_) => None,
                },
                ..outline.clone()
            };
            let entrant = entrants.len();
            let hidden = hidden.numbered(&public).map(|numbered| (numbered, Visibility::Hidden));
            for (benchmark, cases) in std::iter::once((public, Visibility::Public)).chain(hidden) {
                catalog.benchmarks.push(benchmark);
                benchmarks.push(Entered { entrant, cases });
            }
            let sha256 = submission
                .as_ref()
                .ok()
                .map(|submission| digest(submission).to_string());
            entrants.push(Entrant {
                facts: SubmissionFacts {
                    place: place.to_string(),
                    sha256,
                    is_solution: matches!(place, SubmissionPlace::Solution(_)),
                    score_rule,
                    hidden_case: None,
                },
                solution,
                library: submission.as_mut().ok().and_then(frozen_library),
                submission,
                source,
                linked,
            });
        }
        match &options.over {
            Some(Rival::Reference) => check_reference(stated_reference, &wanted)?,
            Some(Rival::Submission(name)) => check_rival(name, &wanted)?,
            None => {}
        }
        check_solutions(
            entrants
                .iter()
                .map(|entrant| (entrant.solution.as_deref(), &*entrant.facts.place)),
        )?;
        Ok(Entrants {
            problem_name,
            library,
            draws,
            problem,
            compile_within: options.compile_within,
            entrants,
            benchmarks,
            hidden,
            dataset: dataset.cloned(),
            over: options.over.clone(),
        })
    }

    /// Whether a case alternates with the reference of the problem. Nobody sees times of hidden
    /// cases.
    pub(in crate::broker) fn has_reference_in_turns(&self, case: &Case) -> bool {
        self.over == Some(Rival::Reference) && !self.is_hidden(case)
    }

    fn entrant(&self, case: &Case) -> &Entrant {
        &self.entrants[self.benchmarks[case.benchmark].entrant]
    }

    /// Returns the number of a hidden case, from 1.
    fn number(&self, case: &Case) -> Option<usize> {
        match (self.benchmarks[case.benchmark].cases, &case.params[..]) {
            (Visibility::Hidden, [(_, AxisValue::Int(number))]) => usize::try_from(*number).ok(),
            (Visibility::Hidden | Visibility::Public, _) => None,
        }
    }

    /// Whether only the verdict of a case may be shown.
    pub(in crate::broker) fn is_hidden(&self, case: &Case) -> bool {
        self.benchmarks[case.benchmark].cases == Visibility::Hidden
    }

    /// Whether another seed would give the case other arguments.
    pub(in crate::broker) fn is_drawn(&self, case: &Case) -> bool {
        self.draws == Draws::HiddenCases && self.is_hidden(case)
    }

    /// Returns the name of the problem.
    pub(in crate::broker) fn problem_name(&self) -> &str {
        &self.problem_name
    }

    /// Returns the position of the library with the problem.
    pub(in crate::broker) fn library_of_problem(&self) -> usize {
        self.library
    }

    /// Returns the problem, if no crate has it.
    pub(in crate::broker) fn dataset(&self) -> Option<&DatasetProblem> {
        self.dataset.as_deref()
    }

    /// Returns the arguments of a case, also of a hidden one.
    pub(in crate::broker) fn params<'p>(&'p self, case: &'p Case) -> &'p Params {
        let hidden = self.number(case).and_then(|number| self.hidden.params(number));
        hidden.unwrap_or(&case.params)
    }

    /// Returns what a user should know of the hidden cases.
    pub(in crate::broker) fn note(&self) -> Option<&'static str> {
        match self.hidden {
            Hidden::Left => Some("the hidden cases of the problem are not graded: add `--leaderboard`"),
            Hidden::Graded(_) | Hidden::Absent => None,
        }
    }

    /// Checks that a program may observe the calls: its worker has no closed sandbox.
    ///
    /// # Errors
    /// A submission has host code.
    pub(in crate::broker) fn may_be_observed_by(&self, choice: &ObserverChoice) -> Result<(), GradingError> {
        let submissions = self
            .entrants
            .iter()
            .filter_map(|entrant| entrant.submission.as_ref().ok());
        match submissions.into_iter().find(|submission| has_host_code(submission)) {
            None => Ok(()),
            Some(submission) => Err(GradingError::ObservedLibrary {
                name: submission.name.to_string(),
                option: choice.option(),
            }),
        }
    }

    /// Returns the position of the problem for the author.
    pub(in crate::broker) fn problem(&self) -> u32 {
        self.problem
    }

    /// Returns where the submission of a case came from.
    pub(in crate::broker) fn facts(&self, case: &Case) -> SubmissionFacts {
        SubmissionFacts {
            hidden_case: self.number(case).map(|number| number as u64),
            ..self.entrant(case).facts.clone()
        }
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
        let Entrant {
            submission,
            source,
            solution,
            ..
        } = self.entrant(case);
        let submission = submission.as_ref().map_err(Clone::clone)?;
        let all = self.dataset.as_ref().map(|dataset| dataset.params(&case.params));
        let all = all.transpose()?;
        if let (Some(dataset), Some(_), Body::Library(called)) = (&self.dataset, solution, &submission.description.body)
        {
            let call = dataset.call(&case.params, &called.function, called.at.of_line())?;
            recording.call = Some(Box::new(call));
            recording.execution = Execution::HostedSync;
            return Ok(());
        }
        let of_plan = gpubench_submission::Case {
            tensors: &recording.tensors,
            params: all.as_ref().unwrap_or_else(|| self.params(case)),
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

    /// Returns what the files of a definition say about a case, if the problem is one.
    pub(in crate::broker) fn described(&self, case: &Case) -> Option<Result<Described, CaseFailure>> {
        // What no submission can be blamed for comes first, but a refused one needs no reference.
        let refused = self.entrant(case).submission.as_ref().err();
        let dataset = self.dataset.as_ref()?;
        Some(match refused {
            Some(failure) => Err(failure.clone()),
            None => dataset.record(&case.params),
        })
    }

    /// Returns what traces need of the submissions, if the problem is a definition. `catalogs` are
    /// those of the run.
    pub(in crate::broker) fn solutions(&self, catalogs: &[Catalog]) -> Option<Solutions> {
        let benchmarks = catalogs.iter().flat_map(|catalog| &catalog.benchmarks);
        let named = benchmarks.zip(&self.benchmarks).filter_map(|(benchmark, entered)| {
            let solution = self.entrants[entered.entrant].solution.clone()?;
            Some((benchmark.path.clone(), solution))
        });
        Some(Solutions {
            names: named.collect(),
            problem: Arc::clone(self.dataset.as_ref()?),
        })
    }

    /// Returns where the library of a case's submission comes from, if it is host code.
    pub(in crate::broker) fn library(&self, case: &Case) -> Option<Library<'_>> {
        let entrant = self.entrant(case);
        let is_compiled = || entrant.submission.as_ref().is_ok_and(is_called);
        match &entrant.library {
            Some(copy) => Some(Library::Given(copy)),
            None => is_compiled().then_some(Library::Compiled {
                source: entrant.source,
                linked: &entrant.linked,
            }),
        }
    }
}

/// Returns the benchmark with the limit of a call that the problem has.
fn with_limits(mut benchmark: Benchmark, limits: SubmissionLimits) -> Benchmark {
    let timeout = limits.call_ns.map(|ns| ("timeout".to_owned(), format!("{ns}ns")));
    benchmark.settings.extend(timeout);
    benchmark
}

/// The solutions of a definition, for traces.
#[derive(Clone, Debug)]
pub(in crate::broker) struct Solutions {
    pub(in crate::broker) problem: Arc<DatasetProblem>,
    /// Their names, by those of their benchmarks.
    pub(in crate::broker) names: BTreeMap<String, String>,
}

fn read(place: &SubmissionPlace, of_problem: SubmissionLimits, dataset: Option<&DatasetProblem>) -> ReadSolution {
    let mut limits = Limits::default();
    if let Some(most) = of_problem.source_bytes {
        (limits.total, limits.text) = (limits.total.min(most), limits.text.min(most));
    }
    let submission = match (place, dataset) {
        (SubmissionPlace::Solution(path), Some(dataset)) => return read_solution(path, dataset, &limits),
        (SubmissionPlace::Path(path) | SubmissionPlace::Solution(path), _) => {
            Submission::read(path.as_std_path(), &limits).map_err(|error| message(&error))
        }
        (SubmissionPlace::StandardInput, _) => {
            Submission::from_reader(io::stdin().lock(), &limits).map_err(|error| message(&error))
        }
        (SubmissionPlace::Read(read), _) => match &read.packed {
            Ok(packed) => packed.submission(&limits).map_err(|error| message(&error)),
            Err(message) => Err(message.clone()),
        },
    };
    ReadSolution {
        name: None,
        linked: Vec::new(),
        submission: submission.map_err(|message| CaseFailure::error(Cause::SubmissionInvalid, message)),
    }
}

/// Reads a submission for other machines.
pub(in crate::broker) fn read_for_others(place: &SubmissionPlace) -> ReadSubmission {
    let limits = Limits::default();
    let packed = match place {
        SubmissionPlace::Path(path) | SubmissionPlace::Solution(path) => Packed::read(path.as_std_path(), &limits),
        SubmissionPlace::StandardInput => Packed::from_reader(io::stdin().lock(), &limits),
        SubmissionPlace::Read(read) => return read.clone(),
    };
    ReadSubmission {
        place: place.to_string(),
        packed: packed.map(Arc::new).map_err(|error| message(&error)),
    }
}

fn message(error: &ReadError) -> String {
    with_hint(error, error.hint())
}

/// Copies a submission that is a library, and drops its bytes.
fn frozen_library(submission: &mut Submission) -> Option<Result<FrozenFile, CaseFailure>> {
    let Code::Library { file, contents } = &mut submission.code else {
        return None;
    };
    let copy = FrozenFile::of_contents(file, &std::mem::take(contents)[..]);
    Some(copy.map_err(|error| CaseFailure::error(Cause::SetupFailed, format!("its library cannot be copied: {error}"))))
}

/// Whether a submission has host code. A library needs no description.
fn has_host_code(submission: &Submission) -> bool {
    is_called(submission) || matches!(submission.code, Code::Library { .. })
}

/// Whether a submission is host code, which is called.
fn is_called(submission: &Submission) -> bool {
    matches!(submission.description.body, Body::Library(_))
}

/// Returns the digest of all that is graded. For a file that describes itself, it is that of the
/// file.
fn digest(submission: &Submission) -> Digest {
    let description = &submission.description;
    let parts = match &submission.code {
        Code::Kernels(source) => match &source.files[..] {
            [only] if !description.at.file.ends_with(".toml") => return Digest::from_bytes(&only.contents),
            _ => codec::encode(source),
        },
        Code::Library { contents, .. } => contents.clone(),
    };
    Digest::from_bytes(&[&parts[..], description.text.as_bytes()].concat())
}

fn invalid(error: &dyn Error, hint: Option<String>) -> CaseFailure {
    CaseFailure::error(Cause::SubmissionInvalid, with_hint(error, hint))
}

fn with_hint(error: &dyn Error, hint: Option<String>) -> String {
    let hint = hint.map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
    chain(error) + &hint
}
