//! Solutions, as submissions.

use std::error::Error;
use std::path::PathBuf;

use camino::Utf8Path;

use super::error::DatasetError;
use super::files::document;
use super::problem::DatasetProblem;
use super::tvm_ffi::{TvmFfi, includes_tvm_ffi};
use gpubench_contract::Cause;
use gpubench_diagnostic::{Expected, chain};
use gpubench_measure::measurement::CaseFailure;
use gpubench_submission::{Code, Limits, Name, SourceTexts, Submission};
use gpubench_trace::{MOST_DOCUMENT_BYTES, Solution, Submission as Buildable};

/// A solution, as far as it could be read.
#[derive(Debug)]
pub(crate) struct ReadSolution {
    /// Its name, if the file says it.
    pub(crate) name: Option<String>,
    /// The submission, or why there is none.
    pub(crate) submission: Result<Submission, CaseFailure>,
    /// Libraries that it needs.
    pub(crate) linked: Vec<PathBuf>,
}

/// Reads a solution of a problem. One that cannot be graded fails alone.
pub(crate) fn read_solution(path: &Utf8Path, problem: &DatasetProblem, limits: &Limits) -> ReadSolution {
    match document(path, "solutions", MOST_DOCUMENT_BYTES, Solution::parse) {
        Ok(solution) => {
            let read = submission(path, &solution, problem, limits);
            let (submission, linked) = match read {
                Ok((submission, linked)) => (Ok(submission), linked),
                Err(failure) => (Err(failure), Vec::new()),
            };
            ReadSolution {
                name: Some(solution.name),
                submission,
                linked,
            }
        }
        Err(error) => ReadSolution {
            name: None,
            linked: Vec::new(),
            // The hint of an error about a file of solutions is one about the format.
            submission: Err(invalid::<DatasetError>(&error)),
        },
    }
}

fn submission(
    path: &Utf8Path,
    solution: &Solution,
    problem: &DatasetProblem,
    limits: &Limits,
) -> Result<(Submission, Vec<PathBuf>), CaseFailure> {
    let buildable = Buildable::new(solution, problem.name()).map_err(|error| invalid(&error))?;
    let files: Vec<(&str, &str)> = buildable
        .sources
        .iter()
        .map(|source| (source.path.as_str(), source.content.as_str()))
        .collect();
    let texts = SourceTexts {
        shown: path.as_str(),
        files: &files,
        function: &buildable.function,
    };
    let stem = || Name::new(path.file_stem().unwrap_or_default());
    // A name in the file may be too long for a table. Traces still have it.
    let name = Name::new(&solution.name).or_else(|error| stem().map_err(|_| error));
    let name = name.map_err(|error| CaseFailure::error(Cause::SubmissionInvalid, error.to_string()))?;
    let mut submission = Submission::of_sources(name, &texts, limits).map_err(|error| invalid(&error))?;
    let mut linked = Vec::new();
    if let Code::Kernels(source) = &mut submission.code
        && source.files.iter().any(|file| includes_tvm_ffi(&file.text()))
    {
        let TvmFfi { includes, library } = problem.tvm_ffi()?;
        source.options = includes.iter().map(|folder| format!("-I{folder}")).collect();
        linked.push(library.clone());
    }
    Ok((submission, linked))
}

fn invalid<E: Error + Expected>(error: &E) -> CaseFailure {
    let hint = error.hint().map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
    CaseFailure::error(Cause::SubmissionInvalid, chain(error) + &hint)
}
