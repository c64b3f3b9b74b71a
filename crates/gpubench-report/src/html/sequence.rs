//! The samples in the order taken, which shows drift and steps.

use super::chart::{self, Path, Scale, drawing, extent, label, line};
use super::markup::{Element, Markup, text};
use gpubench_contract::{BenchmarkComplete, Metric, SampleFlagKind};
use gpubench_stats::Histogram;

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 118.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 6.0;
const TOP: f64 = 8.0;
const BASE: f64 = 96.0;

/// Maximum number of samples with a dot each.
const DOTS: usize = 240;

/// Columns of the chart if there are more samples. Several samples share a column.
const COLUMNS: usize = 110;

/// Maximum number of marked disturbed samples.
const MARKED: usize = 60;

/// Returns the figure. `None` if there are fewer than two samples.
pub(super) fn figure(result: &BenchmarkComplete) -> Option<Element> {
    let samples = &result.samples;
    let range = Histogram::from_samples(samples).filter(|_| samples.len() > 1)?;
    let x = Scale::new((0.0, (samples.len() - 1) as f64), (LEFT, RIGHT));
    let y = Scale::new((range.low, range.high), (BASE, TOP));
    let last = format!("sample {}", samples.len());
    let shapes = values(&y, &result.metric)
        .then(borders(result, &x))
        .then(trace(samples, &x, &y))
        .then(flags(result, &x, &y).drawn_as("cross"))
        .then(line("axis", (LEFT, BASE + 4.0), (RIGHT, BASE + 4.0)))
        .then(label("t", LEFT, HEIGHT - 4.0, "first"))
        .then(label("t end", RIGHT, HEIGHT - 4.0, last));
    let words = format_args!(
        "Samples in the order taken: first {}, last {}",
        result.metric.quantity(samples[0]),
        result.metric.quantity(samples[samples.len() - 1])
    );
    let drawing = drawing("chart", (WIDTH, HEIGHT), words, shapes);
    Some(chart::figure(drawing, caption(result)))
}

/// Returns round times on the left, each with a line through the chart.
fn values(y: &Scale, metric: &Metric) -> Markup {
    let lines = y.marks(3, &metric.unit).into_iter().map(|(height, text)| {
        let named = label("t end", LEFT - 6.0, height + 4.0, text);
        Markup::from(line("grid", (LEFT, height), (RIGHT, height))).then(named)
    });
    lines.collect()
}

/// Returns a dot per sample, or a vertical line from the minimum to the maximum of the samples in a
/// column.
fn trace(samples: &[f64], x: &Scale, y: &Scale) -> Element {
    let per_column = if samples.len() <= DOTS {
        1
    } else {
        samples.len().div_ceil(COLUMNS)
    };
    let columns = samples.chunks(per_column).enumerate();
    let path = columns.fold(Path::default(), |path, (column, samples)| {
        let place = x.at(column as f64 * per_column as f64 + (samples.len() - 1) as f64 / 2.0);
        let (least, most) = extent(samples.iter().copied());
        match samples.len() {
            1 => path.dot(place, y.at(least)),
            _ => path.move_to(place, y.at(least)).vertical_to(y.at(most)),
        }
    });
    path.drawn_as("dots")
}

/// Returns lines between the samples of different workers.
fn borders(result: &BenchmarkComplete, x: &Scale) -> Markup {
    let counts = result.samples_by_worker();
    let ends = counts.iter().map(|samples| samples.len()).scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    let inner = ends.filter(|end| *end > 0 && *end < result.samples.len());
    let lines = inner
        .map(|end| x.at(end as f64 - 0.5))
        .map(|at| line("border", (at, TOP - 4.0), (at, BASE + 4.0)));
    lines.take(64).collect()
}

fn flags(result: &BenchmarkComplete, x: &Scale, y: &Scale) -> Path {
    let flagged = result.sample_flags.iter().take(MARKED).filter_map(|flag| {
        let sample = usize::try_from(flag.sample).ok()?;
        Some((sample, result.samples.get(sample)?))
    });
    flagged.fold(Path::default(), |path, (sample, value)| {
        let (x, y) = (x.at(sample as f64), y.at(*value));
        path.move_to(x - 3.0, y - 3.0)
            .line_to(x + 3.0, y + 3.0)
            .move_to(x - 3.0, y + 3.0)
            .line_to(x + 3.0, y - 3.0)
    })
}

fn caption(result: &BenchmarkComplete) -> Markup {
    let workers = match result.workers.len() {
        0 | 1 => String::new(),
        count => format!(" Vertical lines separate the {count} workers."),
    };
    let disturbed = disturbances(result).map_or_else(String::new, |disturbances| format!(" Crosses: {disturbances}."));
    text(format_args!("Samples in the order taken.{workers}{disturbed}"))
}

/// `3 throttled (power-cap), 1 preempted`.
pub(super) fn disturbances(result: &BenchmarkComplete) -> Option<String> {
    let kinds = [
        (SampleFlagKind::Throttled, "throttled"),
        (SampleFlagKind::ClockChanged, "at a changed clock"),
        (SampleFlagKind::Preempted, "preempted"),
    ];
    let counted = kinds.into_iter().filter_map(|(kind, word)| {
        let of_kind = || result.sample_flags.iter().filter(move |flag| flag.flag == kind);
        let mut reasons: Vec<&str> = of_kind()
            .flat_map(|flag| flag.reasons.iter().map(String::as_str))
            .collect();
        reasons.sort_unstable();
        reasons.dedup();
        let why = match &reasons[..] {
            [] => String::new(),
            reasons => format!(" ({})", reasons.join(", ")),
        };
        let count = of_kind().count();
        (count > 0).then(|| format!("{count} {word}{why}"))
    });
    let counted: Vec<String> = counted.collect();
    (!counted.is_empty()).then(|| counted.join(", "))
}
