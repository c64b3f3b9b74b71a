//! Implementations of one problem side by side.

use std::collections::HashSet;

use super::style::{FAINT, GOOD, Styling, TITLE};
use super::text::{padded, printable, width};
use crate::report::units::time;
use crate::report::{BenchmarkComplete, Params};
use crate::verdict::Verdict;

/// The results that passed, in the order in which they came.
#[derive(Default)]
pub(super) struct Contests(Vec<Entry>);

/// An implementation that passed.
struct Entry {
    package: String,
    problem: String,
    benchmark: String,
    params: Params,
    median_ns: f64,
    interval_ns: [f64; 2],
}

impl Contests {
    /// Enters a result that passed; a wrong answer wins nothing.
    pub(super) fn enter(&mut self, result: &BenchmarkComplete) {
        let (Some(problem), Some(stats), Verdict::Pass) = (&result.problem, &result.stats, result.verdict) else {
            return;
        };
        self.0.push(Entry {
            package: result.package.clone(),
            problem: problem.clone(),
            benchmark: result.benchmark.clone(),
            params: result.params.clone(),
            median_ns: stats.median_ns,
            interval_ns: stats.ci95_ns,
        });
    }

    /// A ranking for every problem that at least two implementations solved, at every set of values of the axes that all of them have; nothing
    /// where there is none.
    pub(super) fn table(&self, styling: Styling) -> String {
        let mut problems: Vec<(&str, &str)> = self.0.iter().map(|entry| (&*entry.package, &*entry.problem)).collect();
        let mut seen = HashSet::new();
        problems.retain(|problem| seen.insert(*problem));
        let contests = problems.into_iter().flat_map(|problem| self.contests(problem));
        contests.map(|contest| contest.ranking(styling)).collect()
    }

    fn contests(&self, (package, problem): (&str, &str)) -> Vec<Contest<'_>> {
        let of_problem = |entry: &&Entry| entry.package == package && entry.problem == problem;
        let entries: Vec<&Entry> = self.0.iter().filter(of_problem).collect();
        let shared = |name: &str| {
            entries
                .iter()
                .all(|entry| entry.params.0.iter().any(|(own, _)| own == name))
        };
        let mut contests: Vec<Contest<'_>> = Vec::new();
        for entry in &entries {
            let (params, own): (Vec<_>, Vec<_>) = entry.params.0.iter().cloned().partition(|(name, _)| shared(name));
            let (params, own) = (Params(params), Params(own));
            let contest = match contests.iter_mut().find(|contest| contest.params == params) {
                Some(contest) => contest,
                None => {
                    contests.push(Contest {
                        problem: &entry.problem,
                        params,
                        entries: Vec::new(),
                    });
                    let last = contests.len() - 1;
                    &mut contests[last]
                }
            };
            let label = printable(format!("{} {own}", entry.benchmark).trim_end());
            contest.entries.push((label, entry));
        }
        contests.retain(|contest| {
            contest
                .entries
                .iter()
                .any(|(_, entry)| entry.benchmark != contest.entries[0].1.benchmark)
        });
        contests
    }
}

/// One problem at one set of values of the axes that all its implementations have.
struct Contest<'a> {
    problem: &'a str,
    params: Params,
    /// Implementations, each named with the values of the axes that only it has.
    entries: Vec<(String, &'a Entry)>,
}

impl Contest<'_> {
    fn ranking(mut self, styling: Styling) -> String {
        self.entries
            .sort_by(|(_, one), (_, other)| one.median_ns.total_cmp(&other.median_ns));
        let longest = self.entries.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
        let title = styling.paint(TITLE, &printable(self.problem));
        let params = styling.paint(FAINT, &printable(&self.params.to_string()));
        let best = self.entries[0].1;
        let lines = self
            .entries
            .iter()
            .map(|(label, entry)| format!("  {}  {}\n", padded(label, longest), entry.standing(best, styling)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ParamValue;

    fn entry(benchmark: &str, params: &[(&str, i64)], median_ns: f64) -> Entry {
        Entry {
            package: "suite".to_owned(),
            problem: "matmul".to_owned(),
            benchmark: benchmark.to_owned(),
            params: Params(
                params
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), ParamValue::Int(*value)))
                    .collect(),
            ),
            median_ns,
            interval_ns: [median_ns - 1.0, median_ns + 1.0],
        }
    }

    #[test]
    fn an_axis_that_only_one_implementation_has_names_its_entries() {
        let contests = Contests(vec![
            entry("naive", &[("n", 64)], 400.0),
            entry("tiled", &[("n", 64), ("tile", 16)], 100.0),
            entry("tiled", &[("n", 64), ("tile", 32)], 200.0),
            entry("naive", &[("n", 128)], 800.0),
        ]);
        insta::assert_snapshot!(contests.table(Styling::Plain), @r"

        matmul n=64
          tiled tile=16  100.0 ns  fastest
          tiled tile=32  200.0 ns  2.00× the time
          naive          400.0 ns  4.00× the time
        ");
    }
}
