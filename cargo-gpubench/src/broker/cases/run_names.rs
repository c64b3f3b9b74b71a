//! Names of a run and its cases in records.

use super::{Case, Naming};
use gpubench_contract::{BenchmarkStarted, Metric, Mode, SchemaVersion};

/// Names of a run and its cases.
pub(in crate::broker) struct RunNames {
    pub(in crate::broker) run_id: String,
    naming: Naming,
}

impl RunNames {
    /// Draws the run's id: sixteen random hexadecimal digits, or the time if the system has no
    /// randomness.
    pub(in crate::broker) fn draw(naming: Naming) -> RunNames {
        let number = getrandom::u64().unwrap_or_else(|_| jiff::Timestamp::now().as_nanosecond() as u64);
        RunNames {
            run_id: format!("{number:016x}"),
            naming,
        }
    }

    /// Returns the names of a run that another process has announced.
    pub(in crate::broker) fn of_run(run_id: String, naming: Naming) -> RunNames {
        RunNames { run_id, naming }
    }

    /// Returns the first record of each of a case's results; `index` is the position of the first
    /// in the run.
    pub(in crate::broker) fn announce(&self, case: &Case, index: usize) -> Vec<BenchmarkStarted> {
        let results = case.measured().into_iter().zip(index..);
        results
            .map(|(measured, index)| self.announce_one(case, measured, index))
            .collect()
    }

    fn announce_one(&self, case: &Case, (mode, metric): (Mode, Metric), index: usize) -> BenchmarkStarted {
        BenchmarkStarted {
            schema_version: SchemaVersion,
            run_id: self.run_id.clone(),
            package: case.package.clone(),
            benchmark: case.path.clone(),
            params: case.params_in_record(),
            case: case.name_as(self.naming),
            mode,
            metric,
            counters: case.counters.clone(),
            index: index as u64,
        }
    }
}
