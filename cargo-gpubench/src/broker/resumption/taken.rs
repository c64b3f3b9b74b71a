//! The results of an earlier run that another one takes over.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use camino::Utf8Path;

use super::ResumeError;
use crate::broker::options::Verbosity;
use crate::broker::recording::selected::Selected;
use crate::broker::status::status;
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, Cause, DeviceIdentity, EarlierRun, ResultKey, RunStarted, SubmissionFacts,
    Verdict,
};
use gpubench_diagnostic::print_warning;
use gpubench_store::{RecordsFile, StoredRun};

/// The file of a run, and the results that it takes over from there.
pub(in crate::broker) struct Resumed {
    file: RecordsFile,
    results: BTreeMap<u64, BenchmarkComplete>,
    /// Their cases, by position.
    cases: BTreeSet<usize>,
}

impl Resumed {
    /// Compares a run that is about to start with the records in its file, and notes in `run` whose
    /// results it takes over. `announced` has the first records of each case's results.
    ///
    /// # Errors
    /// The file is of another run, or has results of benchmarks that this one does not measure.
    pub(in crate::broker) fn new(
        (file, earlier): (RecordsFile, Option<StoredRun>),
        run: &mut RunStarted,
        announced: &[Vec<BenchmarkStarted>],
        selected: &Selected<'_>,
        verbosity: Verbosity,
    ) -> Result<Resumed, ResumeError> {
        let mut resumed = Resumed {
            file,
            results: BTreeMap::new(),
            cases: BTreeSet::new(),
        };
        if resumed.file.is_cut_off() {
            let path = resumed.file.path();
            print_warning(&format!(
                "`{path}` had only a part of its first record, so the run begins anew"
            ));
        }
        let Some(earlier) = earlier else {
            return Ok(resumed);
        };
        let path = resumed.file.path();
        let mut sources = sources_of(path, &earlier, run)?;
        ensure_same(path, &earlier.run, run)?;
        ensure_all_are_graded(path, &earlier, selected)?;
        let by_key: HashMap<ResultKey, &BenchmarkComplete> =
            earlier.results.iter().map(|result| (result.key(), result)).collect();
        for (position, announced) in announced.iter().enumerate() {
            let case = &selected.cases[position];
            let facts = selected.entrants.map(|entrants| entrants.facts(case));
            let is_drawn = selected.entrants.is_some_and(|entrants| entrants.is_drawn(case));
            let result = |started: &BenchmarkStarted| {
                let result = *by_key.get(&started.key())?;
                let source = result.resumed_from.as_ref().unwrap_or(&earlier.run.run_id);
                let source = sources.iter().find(|run| run.run_id == *source)?;
                let has_same_case = !is_drawn || source.seed_commitment == run.seed_commitment;
                (has_same_case && is_final(result, facts.as_ref())).then(|| BenchmarkComplete {
                    run_id: run.run_id.clone(),
                    case: started.case.clone(),
                    index: started.index,
                    submission: facts.clone(),
                    resumed_from: Some(source.run_id.clone()),
                    ..result.clone()
                })
            };
            let results: Option<Vec<BenchmarkComplete>> = announced.iter().map(result).collect();
            if let Some(results) = results {
                resumed.cases.insert(position);
                resumed
                    .results
                    .extend(results.into_iter().map(|result| (result.index, result)));
            }
        }
        sources.retain(|source| resumed.is_from(source));
        let (taken, all) = (resumed.results.len(), run.cases);
        let what = format_args!("{taken} of {all} results from `{path}`");
        status(verbosity, "Resumed", what);
        if let Some(grading) = &mut run.grading {
            grading.resumed = sources;
        } else if let Some(resumption) = &mut run.resumption {
            resumption.resumed = sources;
        }
        Ok(resumed)
    }

    fn is_from(&self, source: &EarlierRun) -> bool {
        let mut results = self.results.values();
        results.any(|result| result.resumed_from.as_ref() == Some(&source.run_id))
    }

    /// Whether the results of the case at a position are taken over.
    pub(in crate::broker) fn has(&self, case: usize) -> bool {
        self.cases.contains(&case)
    }

    /// Returns the file, and the results by their positions in the run.
    pub(in crate::broker) fn into_parts(self) -> (RecordsFile, BTreeMap<u64, BenchmarkComplete>) {
        (self.file, self.results)
    }
}

/// Returns the runs that the results of a file are from: the run itself last.
fn sources_of(path: &Utf8Path, earlier: &StoredRun, run: &RunStarted) -> Result<Vec<EarlierRun>, ResumeError> {
    let there = &earlier.run;
    let before = match (&run.grading, &there.grading, &there.resumption) {
        (Some(grading), Some(there), _) if there.problem != grading.problem => {
            return Err(other(path, "problem", &there.problem, &grading.problem));
        }
        (Some(_), Some(there), _) => &there.resumed,
        (Some(_), None, _) => return Err(ResumeError::NoGrading { path: path.to_owned() }),
        (None, None, Some(there)) => &there.resumed,
        (None, ..) => return Err(ResumeError::NoRun { path: path.to_owned() }),
    };
    let itself = EarlierRun {
        run_id: there.run_id.clone(),
        started_at: there.started_at.clone(),
        seed_commitment: there.seed_commitment.clone(),
        seed: earlier.finished.as_ref().map(|finished| finished.seed.clone()),
    };
    Ok(before.iter().cloned().chain([itself]).collect())
}

/// Checks what decides all results.
fn ensure_same(path: &Utf8Path, there: &RunStarted, here: &RunStarted) -> Result<(), ResumeError> {
    if there.tool_version != here.tool_version {
        return Err(other(
            path,
            "version of the tool",
            &there.tool_version,
            &here.tool_version,
        ));
    }
    let [of_there, of_here] = [there, here].map(DeviceIdentity::from_run);
    if let Some((what, there, here)) = of_there.difference(&of_here) {
        return Err(other(path, what, &there, &here));
    }
    let compiler = |run: &RunStarted| run.environment.compiler.clone().unwrap_or_default();
    if compiler(there) != compiler(here) {
        return Err(other(path, "compiler", &compiler(there), &compiler(here)));
    }
    let path = path.to_owned();
    let [of_there, of_here] = [there, here].map(|run| run.grading.as_deref());
    if of_there.map(|grading| &grading.problem_sha256) != of_here.map(|grading| &grading.problem_sha256) {
        let problem = of_here.map(|grading| grading.problem.clone()).unwrap_or_default();
        return Err(ResumeError::OtherProblem { path, problem });
    }
    let code = |run: &RunStarted| run.resumption.as_ref().map(|resumption| resumption.code_sha256.clone());
    if code(there) != code(here) {
        return Err(ResumeError::OtherCode { path });
    }
    let settings = |run: &RunStarted| match (&run.grading, &run.resumption) {
        (Some(grading), _) => Some(grading.settings_sha256.clone()),
        (None, resumption) => resumption.as_ref().map(|resumption| resumption.settings_sha256.clone()),
    };
    if settings(there) != settings(here) {
        let command = there.repeat.as_ref().map(|repeat| repeat.options.join(" "));
        let command = command.unwrap_or_default();
        return Err(ResumeError::OtherSettings { path, command });
    }
    Ok(())
}

/// Checks that no result of a submission would be lost, except of one that has changed.
fn ensure_all_are_graded(path: &Utf8Path, earlier: &StoredRun, selected: &Selected<'_>) -> Result<(), ResumeError> {
    let cases = selected.cases.iter().filter_map(|case| selected.benchmark(case));
    let entered = selected.catalogs.iter().flat_map(|catalog| &catalog.benchmarks);
    let entered = entered.filter(|_| selected.entrants.is_some());
    let graded: BTreeSet<&str> = cases.chain(entered).map(|benchmark| &*benchmark.path).collect();
    let there: BTreeSet<&str> = earlier.results.iter().map(|result| &*result.benchmark).collect();
    let names: Vec<String> = there.difference(&graded).map(|name| (*name).to_owned()).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(ResumeError::NotGraded {
            path: path.to_owned(),
            names,
        }),
    }
}

/// Whether a result says for good how the case does. Faults of the machine, of the
/// problem and of this tool do not, nor does a hidden case's error, whose cause nobody sees.
fn is_final(result: &BenchmarkComplete, now: Option<&SubmissionFacts>) -> bool {
    let is_same = match (&result.submission, now) {
        (None, None) => true,
        (Some(then), Some(now)) => {
            let known = then.sha256.is_some();
            known && (&then.sha256, then.score_rule, then.hidden_case) == (&now.sha256, now.score_rule, now.hidden_case)
        }
        _ => false,
    };
    let of_submission = [
        Cause::SubmissionInvalid,
        Cause::PlanInvalid,
        Cause::BlindCheck,
        Cause::GradeTooLow,
    ];
    let says_for_good = match result.verdict {
        Verdict::Skipped => false,
        Verdict::Error => result.cause.is_some_and(|cause| of_submission.contains(&cause)),
        _ => result.cause != Some(Cause::EccError),
    };
    is_same && says_for_good
}

fn other(path: &Utf8Path, what: &str, there: &str, here: &str) -> ResumeError {
    ResumeError::Other {
        path: path.to_owned(),
        what: what.to_owned(),
        there: there.to_owned(),
        here: here.to_owned(),
    }
}
