//! Implementations of one problem side by side.

use super::style::{FAINT, GOOD, Styling, TITLE};
use super::text::{padded, printable, width};
use crate::report::units::time;
use crate::report::{BenchmarkComplete, Params};
use crate::verdict::Verdict;

/// The results of every problem with the same axis values, in the order in which the first of them came.
#[derive(Default)]
pub(super) struct Contests(Vec<Contest>);

/// One problem at one set of axis values.
struct Contest {
    package: String,
    problem: String,
    params: Params,
    entries: Vec<Entry>,
}

/// An implementation that passed.
struct Entry {
    benchmark: String,
    median_ns: f64,
    interval_ns: [f64; 2],
}

impl Contests {
    /// Enters a result that passed; a wrong answer wins nothing.
    pub(super) fn enter(&mut self, result: &BenchmarkComplete) {
        let (Some(problem), Some(stats), Verdict::Pass) = (&result.problem, &result.stats, result.verdict) else {
            return;
        };
        let entry = Entry {
            benchmark: printable(&result.benchmark),
            median_ns: stats.median_ns,
            interval_ns: stats.ci95_ns,
        };
        let same = |contest: &&mut Contest| {
            contest.package == result.package && contest.problem == *problem && contest.params == result.params
        };
        match self.0.iter_mut().find(same) {
            Some(contest) => contest.entries.push(entry),
            None => self.0.push(Contest {
                package: result.package.clone(),
                problem: problem.clone(),
                params: result.params.clone(),
                entries: vec![entry],
            }),
        }
    }

    /// A ranking for every problem that at least two implementations solved; nothing where there is none.
    pub(super) fn table(&self, styling: Styling) -> String {
        let contests = self.0.iter().filter(|contest| contest.entries.len() > 1);
        contests.map(|contest| contest.ranking(styling)).collect()
    }
}

impl Contest {
    fn ranking(&self, styling: Styling) -> String {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by(|one, other| one.median_ns.total_cmp(&other.median_ns));
        let longest = entries.iter().map(|entry| width(&entry.benchmark)).max().unwrap_or(0);
        let title = styling.paint(TITLE, &printable(&self.problem));
        let params = styling.paint(FAINT, &printable(&self.params.to_string()));
        let lines = entries.iter().map(|entry| {
            format!(
                "  {}  {}\n",
                padded(&entry.benchmark, longest),
                entry.standing(entries[0], styling)
            )
        });
        format!(
            "\n{}\n{}",
            format_args!("{title} {params}").to_string().trim_end(),
            lines.collect::<String>()
        )
    }
}

impl Entry {
    /// The median and how it compares with the best; two medians whose 95 % intervals overlap are not told apart.
    fn standing(&self, best: &Entry, styling: Styling) -> String {
        let median = format!("{:>8}", time(self.median_ns));
        let ratio = self.median_ns / best.median_ns;
        if std::ptr::eq(self, best) {
            format!("{median}  {}", styling.paint(GOOD, "fastest"))
        } else if self.interval_ns[0] <= best.interval_ns[1] {
            format!("{median}  as fast, within the 95% intervals")
        } else if ratio.is_finite() {
            format!("{median}  {ratio:.2}× the time")
        } else {
            median
        }
    }
}
