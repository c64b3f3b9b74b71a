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
            written: HashSet::new(),
            left_out: Vec::new(),
        }
    }
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
        Ok(())
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        if !self.written.insert((result.benchmark.clone(), result.case.clone())) {
            return Ok(());
        }
        let Some(workload) = self.problem.workload(&result.params) else {
            return Ok(());
        };
        let now = jiff::Timestamp::now().to_string();
        let outcome = Outcome::of_record(result, self.environment.clone(), now);
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
