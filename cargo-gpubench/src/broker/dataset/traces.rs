//! The results of a run as traces, one on each line.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::problem::DatasetProblem;
use gpubench_contract::{BenchmarkComplete, BenchmarkStarted, RunFinished, RunStarted};
use gpubench_diagnostic::{print_warning, printable_json};
use gpubench_report::{Output, OutputError, Reporter};
use gpubench_trace::{Environment, Outcome, Trace};

/// Writes a trace for each solution and workload, as soon as its result is there.
pub(crate) struct TraceReporter {
    output: Output,
    problem: Arc<DatasetProblem>,
    /// The names of the solutions, by those of their benchmarks.
    solutions: BTreeMap<String, String>,
    environment: Environment,
    /// The starts of the earlier runs whose results this one takes over, by their IDs.
    earlier: BTreeMap<String, String>,
    /// The cases that have had their first result. Further modes and metrics have no place.
    written: HashSet<(String, String)>,
    /// The cases that say nothing about a solution.
    left_out: Vec<String>,
}

impl TraceReporter {
    /// Returns a reporter that writes to `output`. `solutions` has the names of the solutions.
    pub(crate) fn new(
        output: Output,
        problem: Arc<DatasetProblem>,
        solutions: BTreeMap<String, String>,
    ) -> TraceReporter {
        TraceReporter {
            output,
            problem,
            solutions,
            environment: Environment {
                hardware: String::new(),
                libs: std::iter::empty::<(String, String)>().collect(),
            },
            earlier: BTreeMap::new(),
            written: HashSet::new(),
            left_out: Vec::new(),
        }
    }
}

/// Returns the starts of the earlier runs whose results a run takes over, by their IDs.
fn earlier_starts(run: &RunStarted) -> BTreeMap<String, String> {
    let earlier = run.grading.iter().flat_map(|grading| &grading.resumed);
    earlier
        .map(|run| (run.run_id.clone(), run.started_at.clone()))
        .collect()
}

/// Returns when a result was measured: now, or, if an earlier run measured it, when that began.
fn measured_at(earlier: &BTreeMap<String, String>, result: &BenchmarkComplete) -> String {
    let source = result.resumed_from.as_ref();
    let earlier = source.and_then(|run| earlier.get(run).cloned());
    earlier.unwrap_or_else(|| jiff::Timestamp::now().to_string())
}

impl Reporter for TraceReporter {
    fn run_started(&mut self, run: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        let named = |name: &str, version: &Option<String>| Some((name.to_owned(), version.clone()?));
        let libs = [
            named("cargo-gpubench", &Some(run.tool_version.clone())),
            named("driver", &run.environment.driver),
            named("compiler", &run.environment.compiler),
        ];
        self.environment = Environment {
            hardware: run.device.name.clone(),
            libs: libs.into_iter().flatten().collect(),
        };
        self.earlier = earlier_starts(run);
        Ok(())
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        if !self.written.insert((result.benchmark.clone(), result.case.clone())) {
            return Ok(());
        }
        let Some(workload) = self.problem.workload(&result.params) else {
            return Ok(());
        };
        let outcome = Outcome::of_record(result, self.environment.clone(), measured_at(&self.earlier, result));
        let Ok(evaluation) = outcome.evaluation(self.problem.dialect) else {
            self.left_out.push(result.case.clone());
            return Ok(());
        };
        let trace = Trace {
            definition: self.problem.name().to_owned(),
            workload: workload.clone(),
            solution: Some(
                self.solutions
                    .get(&result.benchmark)
                    .unwrap_or(&result.benchmark)
                    .clone(),
            ),
            evaluation: Some(evaluation),
        };
        match trace.to_line() {
            Ok(line) => self.output.print(&(printable_json(&line) + "\n")),
            Err(_) => {
                self.left_out.push(result.case.clone());
                Ok(())
            }
        }
    }

    fn run_finished(&mut self, _: &RunFinished) -> Result<(), OutputError> {
        if let Some(first) = self.left_out.first() {
            print_warning(&format!(
                "{} without a trace, the first is `{first}`: they say nothing about their solutions",
                gpubench_contract::units::counted(self.left_out.len() as u64, "result")
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{EarlierRun, Grading};
    use gpubench_testing::{competition, submitted};

    #[test]
    fn what_an_earlier_run_measured_keeps_its_time() {
        let sample = submitted(competition());
        let mut run = sample.started;
        run.grading = Some(Box::new(Grading {
            problem: "matmul::square".to_owned(),
            problem_sha256: String::new(),
            settings_sha256: String::new(),
            resumed: vec![EarlierRun {
                run_id: "0f3a".to_owned(),
                started_at: "2026-11-01T08:00:00Z".to_owned(),
                seed_commitment: String::new(),
                seed: None,
            }],
        }));
        let earlier = earlier_starts(&run);
        let mut result = sample.results[0].clone();
        assert!(
            measured_at(&earlier, &result).as_str() > "2026-11-01T08:00:00Z",
            "it is measured now"
        );
        result.resumed_from = Some("0f3a".to_owned());
        assert_eq!(measured_at(&earlier, &result), "2026-11-01T08:00:00Z");
    }
}
