//! The order of the results of several parts.
//!
//! A run orders its cases by package, benchmark and axis, the last axis fastest. Records do not say
//! in which order an axis lists its values, but neighbours do: where they first differ, the value
//! of the first one is listed earlier. What no part tells is in the order of numbers and letters,
//! which is that of benchmarks, or the reverse of it if a part lists the values downwards.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use gpubench_contract::{BenchmarkComplete, ParamValue};

/// The results of a part, in their order.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) packages: Vec<String>,
    pub(super) results: Vec<BenchmarkComplete>,
}

/// Something that orders results: the packages, the benchmarks of a package, the values of an axis
/// of a benchmark, the metrics or the modes.
type Level = Vec<String>;

/// A value on a level.
#[derive(Clone, Debug)]
struct Step(ParamValue);

impl Ord for Step {
    fn cmp(&self, other: &Step) -> Ordering {
        use ParamValue::{Bool, Float, Int, Text};
        let kind = |step: &Step| match step.0 {
            Bool(_) => 0,
            Int(_) => 1,
            Float(_) => 2,
            Text(_) => 3,
        };
        match (&self.0, &other.0) {
            (Bool(one), Bool(other)) => one.cmp(other),
            (Int(one), Int(other)) => one.cmp(other),
            (Float(one), Float(other)) => one.total_cmp(other),
            (Text(one), Text(other)) => one.cmp(other),
            _ => kind(self).cmp(&kind(other)),
        }
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Step) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Step {}

/// What the parts tell of the order on a level: each value with those that come right after it.
#[derive(Debug, Default)]
struct Told(BTreeMap<Step, BTreeSet<Step>>);

impl Told {
    fn follows(&mut self, one: &Step, next: &Step) {
        self.0.entry(next.clone()).or_default();
        self.0.entry(one.clone()).or_default().insert(next.clone());
    }

    /// Returns the values in order. Values of axes that are listed together may come in circles: a
    /// circle is cut at the value that comes first by itself.
    fn in_order(&self) -> Vec<&Step> {
        let pairs = || {
            self.0
                .iter()
                .flat_map(|(one, nexts)| nexts.iter().map(move |next| (one, next)))
        };
        let is_downwards = pairs().next().is_some() && pairs().all(|(one, next)| one > next);
        let mut sorted: Vec<&Step> = self.0.keys().collect();
        if is_downwards {
            sorted.reverse();
        }
        let places: BTreeMap<&Step, usize> = sorted.iter().enumerate().map(|(place, step)| (*step, place)).collect();
        let mut before = vec![0_usize; sorted.len()];
        pairs().for_each(|(_, next)| before[places[next]] += 1);
        let mut left: BTreeSet<usize> = (0..sorted.len()).collect();
        let mut ready: BTreeSet<usize> = left.iter().copied().filter(|place| before[*place] == 0).collect();
        let mut order = Vec::new();
        while let Some(place) = ready.pop_first().or_else(|| left.first().copied()) {
            left.remove(&place);
            order.push(sorted[place]);
            for next in self.0[sorted[place]].iter().map(|next| places[next]) {
                before[next] -= 1;
                if before[next] == 0 && left.contains(&next) {
                    ready.insert(next);
                }
            }
        }
        order
    }
}

fn text(text: &str) -> Step {
    Step(ParamValue::Text(text.to_owned()))
}

/// Returns the levels of a result with its values, the slowest first.
fn steps(result: &BenchmarkComplete) -> Vec<(Level, Step)> {
    let of = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Level>();
    let (package, benchmark) = (&*result.package, &*result.benchmark);
    let mut steps = vec![(of(&[]), text(package)), (of(&[package]), text(benchmark))];
    let axes = result.params.0.iter();
    steps.extend(axes.map(|(axis, value)| (of(&[package, benchmark, axis]), Step(value.clone()))));
    steps.push((of(&["", "metric"]), text(&result.metric.name)));
    steps.push((of(&["", "mode"]), text(result.mode.as_str())));
    steps
}

/// Returns the packages and the results of the parts in the order of one run. Each part keeps its
/// order.
pub(super) fn in_order(parts: Vec<Sequence>) -> Sequence {
    let mut told: HashMap<Level, Told> = HashMap::new();
    let packages = told.entry(Level::new()).or_default();
    for part in &parts {
        for package in &part.packages {
            packages.0.entry(text(package)).or_default();
        }
        for pair in part.packages.windows(2) {
            packages.follows(&text(&pair[0]), &text(&pair[1]));
        }
    }
    for part in &parts {
        let mut before: Option<Vec<(Level, Step)>> = None;
        for result in &part.results {
            let now = steps(result);
            for (level, step) in &now {
                told.entry(level.clone())
                    .or_default()
                    .0
                    .entry(step.clone())
                    .or_default();
            }
            let pairs = before.iter().flatten().zip(&now);
            if let Some(((_, one), (level, next))) = pairs.into_iter().find(|(one, next)| one != next) {
                told.entry(level.clone()).or_default().follows(one, next);
            }
            before = Some(now);
        }
    }
    let ranks: HashMap<&Level, BTreeMap<&Step, usize>> = told
        .iter()
        .map(|(level, told)| (level, told.in_order().into_iter().zip(0..).collect()))
        .collect();
    let rank_of = |(level, step): (Level, Step)| ranks[&level][&step];
    let place = |result: &BenchmarkComplete| steps(result).into_iter().map(rank_of).collect::<Vec<usize>>();

    let mut left: Vec<_> = parts
        .into_iter()
        .map(|part| part.results.into_iter().peekable())
        .collect();
    let mut next: BinaryHeap<Reverse<(Vec<usize>, usize)>> = BinaryHeap::new();
    for (part, results) in left.iter_mut().enumerate() {
        next.extend(results.peek().map(|result| Reverse((place(result), part))));
    }
    let mut results = Vec::new();
    while let Some(Reverse((_, part))) = next.pop() {
        results.extend(left[part].next());
        next.extend(left[part].peek().map(|result| Reverse((place(result), part))));
    }
    let packages = told[&Level::new()].in_order().into_iter();
    Sequence {
        packages: packages.map(|package| package.0.to_string()).collect(),
        results,
    }
}

#[cfg(test)]
mod tests;
