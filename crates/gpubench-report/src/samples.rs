//! Every sample as comma-separated values (RFC 4180): one row per sample.
//!
//! The columns and their order are fixed. Later versions append columns, before those of the axes.

use super::csv::{Field, axes_of, header, line, number, params_of, text};
use super::{Output, OutputError, Reporter};
use gpubench_contract::{BenchmarkComplete, BenchmarkStarted, RunFinished, RunStarted, SampleFlagKind, WorkerShare};

/// Columns before those of the axes.
const COLUMNS: [&str; 12] = [
    "package",
    "benchmark",
    "case",
    "device",
    "mode",
    "verdict",
    "metric",
    "unit",
    "worker",
    "sample",
    "value",
    "flags",
];

/// Writes the samples of each result as soon as it has its verdict, also those of a failed case.
/// Every axis of a selected case has a column `param_<axis>` after the others.
pub struct SamplesReporter {
    output: Output,
    axes: Vec<String>,
}

impl SamplesReporter {
    /// Returns a reporter that writes to `output`.
    pub fn new(output: Output) -> SamplesReporter {
        SamplesReporter {
            output,
            axes: Vec::new(),
        }
    }
}

impl Reporter for SamplesReporter {
    fn run_started(&mut self, _: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.axes = axes_of(cases);
        self.output.print(&header(COLUMNS.into_iter(), &self.axes, &[]))
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        let workers = workers_of_samples(&result.workers);
        let workers = workers.map(Some).chain(std::iter::repeat(None));
        let rows = result.samples.iter().zip(workers).enumerate();
        let rows: String = rows
            .map(|(sample, (value, worker))| line(&fields(result, sample as u64, *value, worker, &self.axes)))
            .collect();
        self.output.print(&rows)
    }

    fn run_finished(&mut self, _: &RunFinished) -> Result<(), OutputError> {
        Ok(())
    }
}

/// Returns the position of each sample's worker.
fn workers_of_samples(workers: &[WorkerShare]) -> impl Iterator<Item = usize> {
    let workers = workers.iter().enumerate();
    workers.flat_map(|(worker, share)| (0..share.samples).map(move |_| worker))
}

/// The word that records have for a flag.
fn word(flag: SampleFlagKind) -> &'static str {
    match flag {
        SampleFlagKind::Throttled => "throttled",
        SampleFlagKind::ClockChanged => "clock-changed",
        SampleFlagKind::Preempted => "preempted",
    }
}

fn fields(result: &BenchmarkComplete, sample: u64, value: f64, worker: Option<usize>, axes: &[String]) -> Vec<Field> {
    let flags = result.sample_flags.iter().filter(|flag| flag.sample == sample);
    let flags: Vec<&str> = flags.map(|flag| word(flag.flag)).collect();
    let columns: [Field; COLUMNS.len()] = [
        text(Some(&result.package)),
        text(Some(&result.benchmark)),
        text(Some(&result.case)),
        text(Some(&result.device.name)),
        text(Some(result.mode)),
        text(Some(result.verdict)),
        text(Some(&result.metric.name)),
        text(Some(&result.metric.unit)),
        number(worker),
        number(Some(sample)),
        number(Some(value)),
        text(Some(flags.join(" "))),
    ];
    columns.into_iter().chain(params_of(result, axes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::written;
    use gpubench_contract::SampleFlag;

    /// The rows of a run, without the header.
    fn rows(run: &gpubench_testing::SampleRun) -> Vec<Vec<String>> {
        let text = written(run, SamplesReporter::new);
        let lines = text.lines().skip(1);
        lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn each_sample_is_a_row_with_its_worker_and_its_flags() {
        let mut run = gpubench_testing::all_passed();
        run.cases.truncate(1);
        run.results.truncate(1);
        let result = &mut run.results[0];
        result.samples = vec![5.0, 6.5, 7.0];
        let share = |samples| WorkerShare {
            samples,
            value: None,
            placements: Vec::new(),
        };
        result.workers = vec![share(2), share(0), share(1)];
        result.sample_flags = vec![SampleFlag {
            sample: 1,
            flag: SampleFlagKind::Preempted,
            reasons: Vec::new(),
        }];
        let columns = ["worker", "sample", "value", "flags"];
        let places = columns.map(|title| COLUMNS.iter().position(|column| *column == title).expect("a column"));
        let found: Vec<[String; 4]> = rows(&run)
            .iter()
            .map(|row| places.map(|place| row[place].clone()))
            .collect();
        assert_eq!(
            found,
            [["0", "0", "5", ""], ["0", "1", "6.5", "preempted"], ["2", "2", "7", ""]]
        );
    }

    #[test]
    fn a_failed_case_has_the_samples_from_before_its_failure() {
        let run = gpubench_testing::every_verdict();
        let samples: usize = run.results.iter().map(|result| result.samples.len()).sum();
        assert!(samples > 0);
        assert_eq!(written(&run, SamplesReporter::new).lines().count(), samples + 1);
    }

    #[test]
    fn the_columns_are_these() {
        let text = written(&gpubench_testing::on_gpu(), SamplesReporter::new);
        insta::assert_snapshot!(text.lines().take(3).collect::<Vec<_>>().join("\n"));
    }
}
