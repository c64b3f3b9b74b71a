//! Options for baselines and comparisons.

use super::settings::BaselineArguments;
use crate::broker::options::{
    BaselineOptions, HistoryOptions, NewBenchmarks, OpponentSource, PageTarget, ResultOptions,
};

impl BaselineArguments {
    pub(super) fn into_options(self, page: Option<PageTarget>) -> ResultOptions {
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
        }
    }
}
