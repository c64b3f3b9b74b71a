//! Options for baselines and comparisons.

use super::settings::BaselineArguments;
use crate::broker::options::{
    BaselineOptions, HistoryOptions, LastRun, NewBenchmarks, OpponentSource, PageTarget, ResultOptions,
};

impl BaselineArguments {
    pub(super) fn into_options(self, page: Option<PageTarget>) -> ResultOptions {
        let last_run = self.last_run();
        let with = |newcomers| move |name| BaselineOptions { name, newcomers };
        let strict = self.baseline.map(with(NewBenchmarks::Refused));
        let lenient = self.baseline_lenient.map(with(NewBenchmarks::Listed));
        let revision = self.against.map(OpponentSource::Revision);
        let keeps = !self.discard_baseline;
        ResultOptions {
            loaded: self.load_baseline,
            baseline: strict.or(lenient),
            against: revision.or(self.against_archive.map(OpponentSource::Archive)),
            save: self.save_baseline.filter(|_| keeps),
            judging: self.judging.into_options(),
            history: HistoryOptions {
                is_recorded: self.history && keeps,
                folder: self.history_dir,
            },
            page,
            last_run,
        }
    }

    /// Returns what is done with the last results. Those of an alternating run are not comparable
    /// with others, and loaded ones are not new.
    fn last_run(&self) -> LastRun {
        let is_measured_alone =
            self.load_baseline.is_empty() && self.against.is_none() && self.against_archive.is_none();
        if self.no_last_run || self.discard_baseline || !is_measured_alone {
            LastRun::Ignored
        } else if self.baseline.is_some() || self.baseline_lenient.is_some() {
            LastRun::Replaced
        } else {
            LastRun::Compared
        }
    }
}
