//! The distribution of a case's samples, together and by worker.

use super::chart::{self, Path, Scale, drawing, label, line, rectangle};
use super::markup::{Element, Markup, element, text};
use gpubench_contract::units::counted;
use gpubench_contract::{BenchmarkComplete, Metric, Stats, WorkerShare};
use gpubench_stats::{Histogram, InterimAnalyses, quantile};

const WIDTH: f64 = 340.0;
const LEFT: f64 = 6.0;
const RIGHT: f64 = WIDTH - 6.0;
const TOP: f64 = 6.0;
const BASE: f64 = 96.0;

/// Height of a worker's row.
const LINE: f64 = 13.0;

/// Maximum number of workers drawn: all workers of a default run, and all rounds of a comparison.
const WORKERS: usize = InterimAnalyses::ROUNDS[InterimAnalyses::ROUNDS.len() - 1];

/// Points of the cumulative distribution's line.
const STEPS: usize = 60;

/// Returns the figure. `None` if there are no samples.
pub(super) fn figure(result: &BenchmarkComplete, stats: &Stats) -> Option<Element> {
    let metric = &result.metric;
    let histogram = Histogram::from_samples(&result.samples)?;
    let mut sorted = result.samples.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let scale = Scale::new((histogram.low, histogram.high), (LEFT, RIGHT));
    let workers = workers(result);
    let axis = BASE + LINE * workers.len() as f64 + 4.0;
    let interval = stats.ci95.map(|interval| interval.map(|bound| scale.at(bound)));
    let band = interval.map(|[low, high]| rectangle("band", (low, high), (TOP, axis)));
    let shapes = band
        .into_iter()
        .collect::<Markup>()
        .then(bars(&histogram, &scale).drawn_as("mass"))
        .then(share_below(&sorted, &scale).drawn_as("curve"))
        .then(line(
            "value",
            (scale.at(stats.value), TOP),
            (scale.at(stats.value), axis),
        ))
        .then(
            workers
                .iter()
                .enumerate()
                .map(|(position, (share, samples))| worker(position, share, samples, &scale))
                .collect::<Markup>(),
        )
        .then(labelled_axis(&scale, metric, axis));
    let words = format_args!(
        "Distribution of the samples: {} from {}, {} {}, quartiles {}",
        counted(stats.n, "sample"),
        metric.range([stats.min, stats.max]),
        metric.name,
        metric.quantity(stats.value),
        metric.range([stats.q1, stats.q3])
    );
    let drawing = drawing("chart", (WIDTH, axis + 18.0), words, shapes);
    let caption = caption(&histogram, metric, workers.len(), result.workers.len());
    Some(chart::figure(drawing, caption))
}

/// Returns a small histogram for a row of a table.
pub(super) fn strip(samples: &[f64]) -> Option<Element> {
    let histogram = Histogram::from_samples(samples)?;
    let scale = Scale::new((0.0, histogram.counts.len() as f64), (0.0, 72.0));
    let bars = Path::default().move_to(0.0, 16.0);
    let bars = columns(bars, &histogram, (16.0, 1.0), |edge| scale.at(edge as f64))
        .close()
        .drawn_as("mass");
    Some(
        element("svg")
            .class("strip")
            .with("viewBox", "0 0 72 16")
            .with("aria-hidden", "true")
            .child(bars),
    )
}

fn bars(histogram: &Histogram, scale: &Scale) -> Path {
    let (low, high) = (scale.at(histogram.low), scale.at(histogram.high));
    // Equal samples give a bar no width, so use a fixed one.
    let (from, to) = if histogram.high > histogram.low {
        (low, high)
    } else {
        (low - 12.0, low + 12.0)
    };
    let place = |edge: usize| from + (to - from) * edge as f64 / histogram.counts.len() as f64;
    let path = Path::default().move_to(place(0), BASE);
    columns(path, histogram, (BASE, TOP), place).close()
}

/// Returns the outline of the bars, between the heights for zero and for the maximum.
fn columns(path: Path, histogram: &Histogram, (none, most): (f64, f64), place: impl Fn(usize) -> f64) -> Path {
    let largest = histogram.counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let height = |count: u64| none - (none - most) * count as f64 / largest;
    let drawn = histogram.counts.iter().enumerate().fold(path, |path, (bin, count)| {
        path.vertical_to(height(*count)).horizontal_to(place(bin + 1))
    });
    drawn.vertical_to(none)
}

/// Returns the line of the cumulative distribution.
fn share_below(sorted: &[f64], scale: &Scale) -> Path {
    let height = |share: f64| BASE - (BASE - TOP) * share;
    let steps = sorted.len().min(STEPS);
    (1..=steps).fold(Path::default().move_to(scale.at(sorted[0]), BASE), |path, step| {
        let reached = (step * sorted.len()).div_ceil(steps);
        let share = reached as f64 / sorted.len() as f64;
        path.horizontal_to(scale.at(sorted[reached - 1]))
            .vertical_to(height(share))
    })
}

/// Returns the samples of each worker, if there are several workers.
fn workers(result: &BenchmarkComplete) -> Vec<(&WorkerShare, &[f64])> {
    let samples = result.samples_by_worker();
    let several = if samples.len() > 1 { samples } else { Vec::new() };
    let workers = result.workers.iter().zip(several);
    workers
        .filter(|(_, samples)| !samples.is_empty())
        .take(WORKERS)
        .collect()
}

/// Returns a worker's range, its quartiles, and its value in the record.
fn worker(position: usize, share: &WorkerShare, samples: &[f64], scale: &Scale) -> Markup {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share| scale.at(quantile(&sorted, share).unwrap_or(0.0));
    let y = BASE + 4.0 + LINE * (position as f64 + 0.5);
    let value = share.value.map(|value| {
        let x = scale.at(value);
        line("tick", (x, y - 5.0), (x, y + 5.0))
    });
    Markup::from(line("range", (at(0.0), y), (at(1.0), y)))
        .then(rectangle("mass", (at(0.25), at(0.75)), (y - 3.5, y + 3.5)))
        .then(value)
}

/// Returns the labels of the scale.
fn labelled_axis(scale: &Scale, metric: &Metric, y: f64) -> Markup {
    let marks = scale.marks(5, &metric.unit).into_iter().map(|(x, text)| {
        let class = match x {
            x if x < LEFT + 16.0 => "t",
            x if x > RIGHT - 22.0 => "t end",
            _ => "t middle",
        };
        Markup::from(line("axis", (x, y), (x, y + 3.0))).then(label(class, x, y + 14.0, text))
    });
    Markup::from(line("axis", (LEFT, y), (RIGHT, y))).then(marks.collect::<Markup>())
}

fn caption(histogram: &Histogram, metric: &Metric, shown: usize, workers: usize) -> Markup {
    let beyond = histogram.below + histogram.above;
    let lines = match shown {
        0 => String::new(),
        _ if shown < workers => {
            format!(
                " Each line below shows the range, quartiles and value of one of the first {shown} of {workers} workers."
            )
        }
        _ => format!(" Each line below shows the range, quartiles and value of one of {workers} workers."),
    };
    let outside = match beyond {
        0 => String::new(),
        1 => " One sample is outside the chart.".to_owned(),
        _ => format!(" {beyond} samples are outside the chart."),
    };
    let name = &metric.name;
    text(format_args!(
        "Histogram and cumulative distribution of the samples by {name}. The vertical line is the {name} of the case, in its 95% interval.{lines}{outside}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_stats::{summary, worker_share};
    use gpubench_testing::all_passed;

    fn share(samples: u64) -> WorkerShare {
        WorkerShare {
            samples,
            value: None,
            placements: Vec::new(),
        }
    }

    /// Returns the figure of a case with this many workers and ten samples each.
    fn figure_of(workers: usize) -> String {
        let mut result = all_passed().results.remove(0);
        result.samples = (0..10 * workers).map(|sample| 3e3 + (sample % 7) as f64).collect();
        let by_worker: Vec<&[f64]> = result.samples.chunks(10).collect();
        let stats = summary(&by_worker);
        result.workers = by_worker.into_iter().map(worker_share).collect();
        let figure = figure(&result, &stats.expect("samples")).expect("a figure");
        Markup::from(figure).into_html()
    }

    #[test]
    fn every_worker_of_a_default_run_has_a_line() {
        for workers in [5, 10, 20] {
            let figure = figure_of(workers);
            assert_eq!(figure.matches("\"tick\"").count(), workers);
            assert!(figure.contains(&format!("one of {workers} workers.")), "{figure}");
        }
        let figure = figure_of(64);
        assert_eq!(figure.matches("\"tick\"").count(), 20);
        assert!(figure.contains("one of the first 20 of 64 workers."), "{figure}");
    }

    #[test]
    fn a_workers_tick_is_at_the_value_of_its_record() {
        let scale = Scale::new((0.0, 10.0), (0.0, 100.0));
        let samples = [1.0, 2.0, 3.0, 9.0, 9.0];
        let drawn = |share: &WorkerShare| worker(0, share, &samples, &scale).into_html();
        let mean = worker_share(&samples);
        assert_eq!(mean.value, Some(4.5));
        assert!(drawn(&mean).contains("\"tick\" d=\"M45 "), "{}", drawn(&mean));
        assert!(!drawn(&share(5)).contains("tick"), "there is none in the record");
    }
}
