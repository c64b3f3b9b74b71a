//! What a run and its cases are called in records.

use super::cases::{Case, Naming};
use gpubench_contract::{BenchmarkStarted, SchemaVersion};

/// What a run and its cases are called.
pub(super) struct RunNames {
    pub(super) run_id: String,
    naming: Naming,
}

impl RunNames {
    /// Draws the run's id: sixteen random hexadecimal digits, or the time where the system has no
    /// randomness to give.
    pub(super) fn draw(naming: Naming) -> RunNames {
        let number = getrandom::u64().unwrap_or_else(|_| jiff::Timestamp::now().as_nanosecond() as u64);
        RunNames {
            run_id: format!("{number:016x}"),
            naming,
        }
    }

    /// The first record of a case.
    pub(super) fn announce(&self, case: &Case, index: usize) -> BenchmarkStarted {
        BenchmarkStarted {
            schema_version: SchemaVersion,
            run_id: self.run_id.clone(),
            package: case.package.clone(),
            benchmark: case.path.clone(),
            params: (&case.params).into(),
            case: case.name_as(self.naming),
            index: index as u64,
        }
    }
}
