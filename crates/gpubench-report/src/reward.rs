//! The reward of a submission, as one number in a file, for programs that learn from it.

use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::{OutputError, OutputTarget, Reporter};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ProblemComplete, RunEnd, RunFinished, RunStarted, Verdict,
};

/// The file of a reward, as given to an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewardFile {
    target: OutputTarget,
    path: Utf8PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// An object of numbers.
    Json,
    /// The reward alone.
    Text,
}

/// The path of a reward has another extension.
#[derive(Debug, thiserror::Error)]
#[error("the extension says the format: `reward.json` gets an object of numbers, `reward.txt` the reward alone")]
pub struct NotARewardFile;

impl FromStr for RewardFile {
    type Err = NotARewardFile;

    fn from_str(text: &str) -> Result<RewardFile, NotARewardFile> {
        let path = Utf8PathBuf::from(text);
        let format = match path.extension() {
            Some("json") => Format::Json,
            Some("txt") => Format::Text,
            _ => return Err(NotARewardFile),
        };
        Ok(RewardFile {
            target: OutputTarget::File(path.clone()),
            path,
            format,
        })
    }
}

impl RewardFile {
    /// Returns its path.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Writes a reward of 0. Until the run ends, nothing else is true, and no reward of an earlier
    /// run may stay.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(&self) -> Result<(), OutputError> {
        self.write(&Reward::default())
    }

    /// Writes the file atomically.
    fn write(&self, reward: &Reward) -> Result<(), OutputError> {
        let text = match self.format {
            Format::Json => serde_json::to_string(reward).unwrap_or_default(),
            Format::Text => format!("{:?}", reward.reward),
        };
        self.target.write(&(text + "\n"))
    }
}

/// What a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Reward {
    reward: f64,
    passed: u64,
    cases: u64,
}

/// Writes the reward of a run with one submission, not counting the one that it is compared with:
/// 0 unless the run is complete and each case passed; else 1, or how many times as fast it is.
pub struct RewardReporter {
    file: RewardFile,
    over: Option<String>,
    /// The submission, once for each way of measuring.
    graded: Vec<ProblemComplete>,
    is_skipped: bool,
}

impl RewardReporter {
    /// Returns a reporter that writes to `file`. `over` names the submission that the other one is
    /// compared with.
    pub fn new(file: RewardFile, over: Option<String>) -> RewardReporter {
        RewardReporter {
            file,
            over,
            graded: Vec::new(),
            is_skipped: false,
        }
    }

    fn reward(&self, finished: &RunFinished) -> Reward {
        let passed = self
            .graded
            .iter()
            .map(|one| one.public.passed + one.hidden.passed)
            .sum();
        let cases = self.graded.iter().map(|one| one.public.cases + one.hidden.cases).sum();
        let is_right = finished.end == RunEnd::Completed && !self.is_skipped && cases > 0 && passed == cases;
        let speedup = || {
            let score = self.graded.first()?.score.as_ref()?;
            let ratio = score.speedup.as_ref()?.ratio;
            ratio.is_finite().then_some(ratio)
        };
        let of_right = match self.over {
            None => 1.0,
            Some(_) => speedup().unwrap_or(0.0),
        };
        Reward {
            reward: if is_right { of_right } else { 0.0 },
            passed,
            cases,
        }
    }

    fn is_about(&self, submission: &str) -> bool {
        self.over.as_deref() != Some(submission)
    }
}

impl Reporter for RewardReporter {
    fn run_started(&mut self, _: &RunStarted, _: &[BenchmarkStarted]) -> Result<(), OutputError> {
        Ok(())
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        self.is_skipped |= result.verdict == Verdict::Skipped && self.is_about(&result.benchmark);
        Ok(())
    }

    fn problem_complete(&mut self, graded: &ProblemComplete) -> Result<(), OutputError> {
        if self.is_about(&graded.submission) {
            self.graded.push(graded.clone());
        }
        Ok(())
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        self.file.write(&self.reward(finished))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_store::{StoredRun, graded};
    use gpubench_testing::{competition, submitted};

    /// Returns the text of a file about one submission of `competition`, after a change of the run.
    fn written(file: &str, submission: &str, over: Option<&str>, change: impl FnOnce(&mut StoredRun)) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join(file)).expect("UTF-8");
        let file: RewardFile = path.as_str().parse().expect("a file");
        file.begin().expect("it is written");
        let run = submitted(competition());
        let mut run = StoredRun::new(run.started, run.results, Some(run.finished), None);
        run.results
            .retain(|result| result.benchmark == submission || Some(&*result.benchmark) == over);
        change(&mut run);
        let mut reporter = RewardReporter::new(file, over.map(str::to_owned));
        let all = run
            .results
            .iter()
            .try_for_each(|result| reporter.benchmark_complete(result));
        all.expect("nothing is written");
        for one in graded(&run, over) {
            reporter.problem_complete(&one).expect("nothing is written");
        }
        let finished = run.finished.expect("it is complete");
        reporter.run_finished(&finished).expect("it is written");
        std::fs::read_to_string(path).expect("a text")
    }

    const TILED: &str = "matmul::tiled";

    #[test]
    fn a_right_submission_gets_one_and_a_wrong_one_nothing() {
        let right = written("reward.json", TILED, None, |_| ());
        assert_eq!(right, "{\"reward\":1.0,\"passed\":2,\"cases\":2}\n");
        let wrong = written("reward.json", "matmul::wrong", None, |_| ());
        assert!(wrong.starts_with("{\"reward\":0.0,\"passed\":"), "{wrong}");
        assert_eq!(written("reward.txt", TILED, None, |_| ()), "1.0\n");
        assert_eq!(written("reward.txt", "matmul::wrong", None, |_| ()), "0.0\n");
    }

    #[test]
    fn over_another_it_is_the_speed_up_and_nothing_without_one() {
        let over = Some("matmul::naive");
        let faster: f64 = written("reward.txt", TILED, over, |_| ())
            .trim()
            .parse()
            .expect("a number");
        assert!((faster / 3.2 - 1.0).abs() < 0.02, "{faster}");
        let of_failed = |run: &mut StoredRun| run.results[0].verdict = Verdict::Timeout;
        assert_eq!(written("reward.txt", TILED, over, of_failed), "0.0\n");
    }

    #[test]
    fn what_was_not_checked_to_its_end_gets_nothing() {
        let interrupted = |run: &mut StoredRun| {
            let finished = run.finished.as_mut().expect("it has ended");
            finished.end = RunEnd::Interrupted;
        };
        assert_eq!(written("reward.txt", TILED, None, interrupted), "0.0\n");
        let skipped = |run: &mut StoredRun| run.results[1].verdict = Verdict::Skipped;
        assert_eq!(written("reward.txt", TILED, None, skipped), "0.0\n");
        assert_eq!(written("reward.txt", TILED, None, |run| run.results.clear()), "0.0\n");
    }

    #[test]
    fn the_extension_says_the_format() {
        for refused in ["-", "reward", "reward.csv", ".json"] {
            assert!(refused.parse::<RewardFile>().is_err(), "{refused}");
        }
    }
}
