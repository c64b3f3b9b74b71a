//! The ranking of submissions as comma-separated values (RFC 4180): one row per submission, best
//! first, and empty fields for unknown values.
//!
//! The columns and their order are fixed. Later versions append columns.

use super::csv::{Field, line, number, text};
use super::{Output, OutputError, Reporter, grading};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ProblemComplete, RunFinished, RunStarted, Score, SpeedOfLight, Speedup,
};

/// The value of a submission in one column.
type Value = fn(&ProblemComplete) -> Field;

const COLUMNS: [(&str, Value); 22] = [
    ("rank", |one| number(one.rank)),
    ("submission", |one| text(Some(&one.submission))),
    ("place", |one| text(Some(&one.graded.place))),
    ("sha256", |one| text(one.graded.sha256.as_ref())),
    ("verdict", |one| text(Some(one.verdict))),
    ("cause", |one| text(one.cause)),
    ("cases", |one| number(Some(one.public.cases + one.hidden.cases))),
    ("passed", |one| number(Some(one.public.passed + one.hidden.passed))),
    ("score", |one| number(score(one).map(|score| score.value))),
    ("unit", |one| text(Some(&one.metric.unit))),
    ("ci_low", |one| {
        number(score(one).and_then(|score| score.ci95).map(|[low, _]| low))
    }),
    ("ci_high", |one| {
        number(score(one).and_then(|score| score.ci95).map(|[_, high]| high))
    }),
    ("speedup", |one| number(speedup(one).map(|speedup| speedup.ratio))),
    ("grade", |one| text(one.grade)),
    ("metric", |one| text(Some(&one.metric.name))),
    ("mode", |one| text(Some(one.mode))),
    ("mean_flops_per_s", |one| {
        number(score(one).and_then(|score| score.mean_flops_per_s))
    }),
    ("sol_fraction", |one| number(light(one).map(|light| light.fraction))),
    ("sol_score", |one| number(light(one).and_then(|light| light.sol_score))),
    ("over", |one| text(speedup(one).map(|speedup| &speedup.over))),
    ("speedup_low", |one| {
        number(speedup(one).and_then(|speedup| speedup.ci95).map(|[low, _]| low))
    }),
    ("speedup_high", |one| {
        number(speedup(one).and_then(|speedup| speedup.ci95).map(|[_, high]| high))
    }),
];

fn score(one: &ProblemComplete) -> Option<&Score> {
    one.score.as_ref()
}

fn speedup(one: &ProblemComplete) -> Option<&Speedup> {
    score(one)?.speedup.as_ref()
}

fn light(one: &ProblemComplete) -> Option<SpeedOfLight> {
    score(one)?.speed_of_light
}

/// Writes the rows at the end of the run: one per submission and way of measuring.
pub struct RankingReporter {
    output: Output,
    graded: Vec<ProblemComplete>,
}

impl RankingReporter {
    /// Returns a reporter that writes to `output`.
    pub fn new(output: Output) -> RankingReporter {
        RankingReporter {
            output,
            graded: Vec::new(),
        }
    }
}

impl Reporter for RankingReporter {
    fn run_started(&mut self, _: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        let titles: Vec<Field> = COLUMNS.iter().map(|(title, _)| text(Some(title))).collect();
        self.output.print(&line(&titles))
    }

    fn benchmark_complete(&mut self, _: &BenchmarkComplete) -> Result<(), OutputError> {
        Ok(())
    }

    fn problem_complete(&mut self, graded: &ProblemComplete) -> Result<(), OutputError> {
        self.graded.push(graded.clone());
        Ok(())
    }

    fn run_finished(&mut self, _: &RunFinished) -> Result<(), OutputError> {
        let rows = grading::tables(&self.graded).into_iter().flatten().map(|one| {
            let fields: Vec<Field> = COLUMNS.iter().map(|(_, field)| field(one)).collect();
            line(&fields)
        });
        let rows: String = rows.collect();
        self.output.print(&rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_store::{StoredRun, graded};
    use gpubench_testing::{competition, submitted};

    /// Returns the text for `competition`, after a change of what each submission says.
    fn written(change: impl Fn(&mut ProblemComplete)) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = camino::Utf8PathBuf::from_path_buf(folder.path().join("ranking.csv")).expect("UTF-8");
        let run = submitted(competition());
        let stored = StoredRun::new(run.started.clone(), run.results, Some(run.finished.clone()), None);
        let mut reporter = RankingReporter::new(Output::file(&path).expect("a file"));
        reporter.run_started(&run.started, &run.cases).expect("it is written");
        for mut one in graded(&stored, Some("matmul::naive")) {
            change(&mut one);
            reporter.problem_complete(&one).expect("nothing is written");
        }
        reporter.run_finished(&run.finished).expect("it is written");
        std::fs::read_to_string(path).expect("a text")
    }

    #[test]
    fn a_row_a_submission_best_first_then_those_without_a_score() {
        insta::assert_snapshot!(written(|_| ()).replace("\r\n", "\n"));
    }

    #[test]
    fn a_name_is_neither_a_line_nor_a_formula() {
        let text = written(|one| {
            one.submission = "=HYPERLINK(1)\n::error::forged,".to_owned();
            one.graded.place = "+1\r\n::error::x".to_owned();
        });
        assert_eq!(text.lines().count(), 5);
        assert!(text.contains("\"'=HYPERLINK(1)") && text.contains("'+1"), "{text}");
        assert!(!text.contains("\n::"), "{text}");
    }
}
