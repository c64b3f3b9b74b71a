//! The records in a file that a later run goes on with.

use std::collections::BTreeSet;

use super::output::not_written;
use super::{OutputError, Reporter, json_line};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ContestComplete, ProblemComplete, Record, RunFinished, RunStarted,
};
use gpubench_store::RecordsFile;

/// Writes every record to a file at once. At the end the file has the records of one run in their
/// order.
pub struct RecordsReporter {
    file: RecordsFile,
    /// All records until now, in their order.
    text: String,
    /// Positions of the results that the file has.
    written: BTreeSet<u64>,
}

impl RecordsReporter {
    /// Writes the first record, and the results that the run takes over.
    ///
    /// # Errors
    /// They cannot be written. The file is then as it was.
    pub fn begin<'r>(
        mut file: RecordsFile,
        run: &RunStarted,
        resumed: impl IntoIterator<Item = &'r BenchmarkComplete>,
    ) -> Result<RecordsReporter, OutputError> {
        let mut text = json_line(&Record::RunStarted(Box::new(run.clone())))?;
        let mut written = BTreeSet::new();
        for result in resumed {
            text += &line_of(result)?;
            written.insert(result.index);
        }
        let path = file.path().to_owned();
        file.replace(&text).map_err(not_written(path))?;
        Ok(RecordsReporter {
            file,
            text: String::new(),
            written,
        })
    }

    /// Writes a result that the file does not have.
    fn write(&mut self, result: &BenchmarkComplete, line: &str) -> Result<(), OutputError> {
        if self.written.insert(result.index) {
            self.file.append(line).map_err(not_written(self.file.path()))?;
        }
        Ok(())
    }

    fn note(&mut self, record: &Record) -> Result<(), OutputError> {
        self.text += &json_line(record)?;
        Ok(())
    }
}

fn line_of(result: &BenchmarkComplete) -> Result<String, OutputError> {
    json_line(&Record::BenchmarkComplete(Box::new(result.clone())))
}

impl Reporter for RecordsReporter {
    fn run_started(&mut self, run: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.note(&Record::RunStarted(Box::new(run.clone())))
    }

    fn benchmark_started(&mut self, started: &BenchmarkStarted) -> Result<(), OutputError> {
        self.note(&Record::BenchmarkStarted(started.clone()))
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        let line = line_of(result)?;
        self.text += &line;
        self.write(result, &line)
    }

    fn benchmark_held_back(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        self.write(result, &line_of(result)?)
    }

    fn contest_complete(&mut self, contest: &ContestComplete) -> Result<(), OutputError> {
        self.note(&Record::ContestComplete(Box::new(contest.clone())))
    }

    fn problem_complete(&mut self, graded: &ProblemComplete) -> Result<(), OutputError> {
        self.note(&Record::ProblemComplete(Box::new(graded.clone())))
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        self.note(&Record::RunFinished(finished.clone()))?;
        let written = self.file.replace(&self.text);
        written.map_err(not_written(self.file.path()))
    }
}
