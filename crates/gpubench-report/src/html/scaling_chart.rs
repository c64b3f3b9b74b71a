//! A chart of a quantity over an axis, both logarithmic, with a line per kernel.

use super::chart::{Path, Scale, drawing, extent, label, line as straight};
use super::log_scale::{marks, rounded};
use super::markup::{Element, Markup, element};
use super::scaling_model::{Chart, Line, Point};
use gpubench_contract::units::{Quantity, byte_rate, counter_rate, flop_rate, in_unit};
use gpubench_contract::{Metric, ParamValue};

/// Maximum number of lines in a chart. More would look alike.
pub(super) const LINES: usize = 8;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 230.0;
const TOP: f64 = 24.0;
const BASE: f64 = HEIGHT - 34.0;
const RIGHT: f64 = WIDTH - 14.0;

/// Width of a letter of a label.
const LETTER: f64 = 6.1;

/// A peak is drawn if it is at most this many times the best rate. A higher one would flatten the
/// lines.
const PEAK_IN_SIGHT: f64 = 20.0;

/// What a chart shows of its results.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown {
    /// The value of the metric.
    Value(Metric),
    /// Bytes per second.
    Bytes,
    /// Floating-point operations per second.
    Flops,
    /// A declared counter per second.
    Counter(String),
}

impl Shown {
    /// Returns what a chart's results have, the metric first.
    pub(super) fn of(chart: &Chart<'_>) -> Vec<Shown> {
        let mut shown = vec![Shown::Value(chart.metric.clone()), Shown::Bytes, Shown::Flops];
        for point in chart.lines.iter().flat_map(|line| &line.points) {
            for counter in &point.place.result.throughput.counters {
                let counter = Shown::Counter(counter.name.clone());
                if !shown.contains(&counter) {
                    shown.push(counter);
                }
            }
        }
        shown.retain(|shown| {
            let is_known = |point: &&Point<'_>| shown.of_point(point).is_some();
            let mut lines = chart.lines.iter();
            lines.any(|line| line.points.iter().filter(is_known).count() > 1)
        });
        shown
    }

    /// Returns the title of a chart or a column.
    pub(super) fn title(&self) -> &str {
        match self {
            Shown::Value(metric) => &metric.name,
            Shown::Bytes => "bandwidth",
            Shown::Flops => "compute",
            Shown::Counter(name) => name,
        }
    }

    /// Returns the quantity and its interval at a point. The interval of a rate is that of the
    /// time. `None` if a logarithmic scale cannot show it.
    pub(super) fn of_point(&self, point: &Point<'_>) -> Option<(f64, Option<[f64; 2]>)> {
        let throughput = &point.place.result.throughput;
        let rate = match self {
            Shown::Value(_) => return Some((point.value, point.interval)),
            Shown::Bytes => throughput.bytes_per_s,
            Shown::Flops => throughput.flops_per_s,
            Shown::Counter(name) => throughput
                .counters
                .iter()
                .find(|counter| counter.name == *name)
                .map(|counter| counter.per_s),
        };
        let rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0)?;
        let at = |value: f64| rate * (point.value / value);
        Some((rate, point.interval.map(|[low, high]| [at(high), at(low)])))
    }

    /// Formats a value.
    pub(super) fn quantity(&self, value: f64) -> Quantity {
        match self {
            Shown::Value(metric) => metric.in_column(value),
            Shown::Bytes => byte_rate(value),
            Shown::Flops => flop_rate(value),
            Shown::Counter(name) => counter_rate(name, value),
        }
    }

    /// `1 µs`, `200 GB/s`.
    fn tick(&self, value: f64) -> String {
        without_zeros(&match self {
            // The title of the chart names the counter.
            Shown::Counter(_) => in_unit(value, "/s"),
            _ => self.quantity(value),
        })
    }
}

/// `1.5 M`, and not `1.500 M`.
fn without_zeros(Quantity { number, unit }: &Quantity) -> String {
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    format!("{number} {unit}").trim_end().to_owned()
}

/// The two scales.
struct Axes {
    x: Scale,
    y: Scale,
    left: f64,
}

impl Axes {
    fn new(lines: &[&Line<'_>], shown: &Shown, peak: Option<f64>) -> Axes {
        let points = || lines.iter().flat_map(|line| &line.points);
        let (least, most) = extent(points().map(|point| point.place.x));
        let values = points()
            .filter_map(|point| shown.of_point(point))
            .flat_map(|(value, interval)| {
                let bounds = interval.unwrap_or([value; 2]);
                bounds.into_iter().chain([value])
            });
        let y = Scale::new(rounded(extent(values.chain(peak))), (BASE, TOP));
        let longest = marks(&y)
            .into_iter()
            .map(|mark| shown.tick(mark.value()).chars().count())
            .max();
        let left = (longest.unwrap_or_default() as f64 * LETTER + 8.0).min(WIDTH / 3.0);
        // Room for half a marker.
        let x = Scale::new((least.log10(), most.log10()), (left + 8.0, RIGHT - 8.0));
        Axes { x, y, left }
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x.log10()), self.y.at(y.log10()))
    }
}

/// Returns the chart. `peak` is the device's, in the unit of what is shown.
pub(super) fn drawn(chart: &Chart<'_>, lines: &[&Line<'_>], shown: &Shown, peak: Option<f64>) -> Element {
    let rates = lines
        .iter()
        .flat_map(|line| &line.points)
        .filter_map(|point| shown.of_point(point));
    let best = rates.map(|(rate, _)| rate).fold(0.0, f64::max);
    let peak = peak.filter(|peak| best > 0.0 && *peak <= best * PEAK_IN_SIGHT && *peak >= best / PEAK_IN_SIGHT);
    let axes = Axes::new(lines, shown, peak);
    let roof = peak.map(|peak| {
        let (_, y) = axes.at(1.0, peak);
        let words = label("t end", RIGHT, y - 4.0, format_args!("peak {}", shown.quantity(peak)));
        Markup::from(straight("roof dashed", (axes.left, y), (RIGHT, y))).then(words)
    });
    let curves = (0..).zip(lines).map(|(number, line)| curve(number, line, shown, &axes));
    let shapes = grid(lines, shown, &axes)
        .then(roof)
        .then(curves.collect::<Markup>())
        .then(label("t", 2.0, 11.0, shown.title()))
        .then(label("t end", RIGHT, HEIGHT - 4.0, format_args!("{} →", chart.axis)));
    drawing("chart", (WIDTH, HEIGHT), words(chart, lines, shown), shapes)
}

/// `time over n from 1024 to 4096: naive 12.00 µs to 48.00 µs, tiled …`.
fn words(chart: &Chart<'_>, lines: &[&Line<'_>], shown: &Shown) -> String {
    let ends = chart
        .ends()
        .map(|(least, most)| format!(" from {} to {}", least.shown, most.shown));
    let lines = lines.iter().filter_map(|line| {
        let mut values = line.points.iter().filter_map(|point| shown.of_point(point));
        let (first, _) = values.next()?;
        let (last, _) = values.next_back().unwrap_or((first, None));
        let name = format!("{} {}", line.benchmark, line.own);
        let [first, last] = [first, last].map(|value| shown.quantity(value));
        Some(format!("{} {first} to {last}", name.trim_end()))
    });
    let lines: Vec<String> = lines.collect();
    let title = shown.title();
    format!(
        "{title} over {}{}: {}",
        chart.axis,
        ends.unwrap_or_default(),
        lines.join(", ")
    )
}

/// Returns lines at round values, and at the values of the axis.
fn grid(lines: &[&Line<'_>], shown: &Shown, axes: &Axes) -> Markup {
    let level = marks(&axes.y).into_iter().map(|mark| {
        let y = axes.y.at(mark.log10());
        let words = label("t end", axes.left - 4.0, y + 4.0, shown.tick(mark.value()));
        Markup::from(straight("grid", (axes.left, y), (RIGHT, y))).then(words)
    });
    let upright = axis_labels(lines, axes).into_iter().map(|(x, words)| {
        let tick = straight("axis", (x, BASE), (x, BASE + 4.0));
        Markup::from(tick).then(label("t middle", x, BASE + 16.0, words))
    });
    let base = straight("axis", (axes.left, BASE), (RIGHT, BASE));
    level.chain(upright).chain([base.into()]).collect()
}

/// Returns the values of the axis that have room for their labels: the largest one, and from there
/// those that do not touch the label to their right.
fn axis_labels(lines: &[&Line<'_>], axes: &Axes) -> Vec<(f64, String)> {
    let points = lines.iter().flat_map(|line| &line.points);
    let mut values: Vec<(f64, &ParamValue)> = points.map(|point| (point.place.x, point.place.shown)).collect();
    values.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    values.dedup_by(|(one, _), (other, _)| one == other);
    let mut free_until = f64::INFINITY;
    let mut labels = Vec::new();
    for (x, shown) in values {
        let (place, words) = (axes.x.at(x.log10()), short(shown));
        let half = words.chars().count() as f64 * LETTER / 2.0;
        // The last label may not leave the chart.
        let place = place.min(WIDTH - half);
        if place + half + 6.0 <= free_until {
            free_until = place - half;
            labels.push((place, words));
        }
    }
    labels
}

/// Returns the value of an axis in few letters: `4096`, `64 Ki`, `1.5 M`.
fn short(value: &ParamValue) -> String {
    const BINARY: [(i64, &str); 4] = [(1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    match value {
        ParamValue::Int(value) if *value > 9_999 => {
            let exact = BINARY.iter().find(|(worth, _)| value % worth == 0);
            match exact {
                Some((worth, unit)) => format!("{} {unit}", value / worth),
                None => without_zeros(&in_unit(*value as f64, "")),
            }
        }
        ParamValue::Float(value) if !(1e-3..1e5).contains(value) => format!("{value:e}"),
        value => value.to_string(),
    }
}

/// Returns a line with its intervals and markers.
fn curve(number: usize, line: &Line<'_>, shown: &Shown, axes: &Axes) -> Markup {
    let points = line
        .points
        .iter()
        .filter_map(|point| Some((point, shown.of_point(point)?)));
    let points: Vec<_> = points
        .map(|(point, (value, interval))| (point, value, interval))
        .collect();
    let mut path = Path::default();
    for (position, (point, value, _)) in points.iter().enumerate() {
        let (x, y) = axes.at(point.place.x, *value);
        path = match position > 0 && !point.is_after_a_gap {
            true => path.line_to(x, y),
            false => path.move_to(x, y),
        };
    }
    let whiskers = points.iter().fold(Path::default(), |path, (point, _, interval)| {
        let Some([low, high]) = interval else { return path };
        let ((x, low), (_, high)) = (axes.at(point.place.x, *low), axes.at(point.place.x, *high));
        let path = path.move_to(x, low).vertical_to(high);
        let path = path.move_to(x - 3.0, low).horizontal_to(x + 3.0);
        path.move_to(x - 3.0, high).horizontal_to(x + 3.0)
    });
    let markers = points.iter().map(|(point, value, interval)| {
        let (x, y) = axes.at(point.place.x, *value);
        let name = format!("{} {}", line.benchmark, line.own);
        let range = interval.map(|[low, high]| format!(" ({} to {})", shown.quantity(low), shown.quantity(high)));
        let title = format!(
            "{}, {}: {}{}",
            name.trim_end(),
            point.place.shown,
            shown.quantity(*value),
            range.unwrap_or_default()
        );
        marker(number, x, y).child(element("title").text(title))
    });
    Markup::from(path.drawn_as(format_args!("line line-{number}")))
        .then(whiskers.drawn_as(format_args!("whisker line-{number}")))
        .then(markers.collect::<Markup>())
}

/// Returns the marker of a line. Lines differ in shape as well as in colour.
fn marker(number: usize, x: f64, y: f64) -> Element {
    let shape = match number % 4 {
        0 => Path::polygon(octagon(x, y)),
        1 => Path::polygon([
            (x - 3.5, y - 3.5),
            (x + 3.5, y - 3.5),
            (x + 3.5, y + 3.5),
            (x - 3.5, y + 3.5),
        ]),
        2 => Path::polygon([(x, y - 4.5), (x + 4.5, y + 3.5), (x - 4.5, y + 3.5)]),
        _ => Path::polygon([(x, y - 5.0), (x + 5.0, y), (x, y + 5.0), (x - 5.0, y)]),
    };
    shape.drawn_as(format_args!("marker line-{number}"))
}

/// A dot is an octagon, so that every marker is a path.
fn octagon(x: f64, y: f64) -> [(f64, f64); 8] {
    let (far, near) = (4.0, 1.7);
    [
        (near, far),
        (far, near),
        (far, -near),
        (near, -far),
        (-near, -far),
        (-far, -near),
        (-far, near),
        (-near, far),
    ]
    .map(|(right, down)| (x + right, y + down))
}

/// Returns a sample of a line, for the list of names.
pub(super) fn swatch(number: usize) -> Element {
    let path = Path::default().move_to(0.0, 6.0).line_to(28.0, 6.0);
    element("svg")
        .class("swatch")
        .with("viewBox", "0 0 28 12")
        .with("aria-hidden", "true")
        .child(path.drawn_as(format_args!("line line-{number}")))
        .child(marker(number, 14.0, 6.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_axis_are_short() {
        let int = |value| short(&ParamValue::Int(value));
        assert_eq!(
            [4096, 9999, 65_536, 1 << 20, 1_000_000, 1_500_000, 10_240].map(int),
            ["4096", "9999", "64 Ki", "1 Mi", "1 M", "1.5 M", "10 Ki"]
        );
        assert_eq!(short(&ParamValue::Float(0.25)), "0.25");
        assert_eq!(short(&ParamValue::Float(1e-9)), "1e-9");
    }

    #[test]
    fn ticks_have_their_unit() {
        assert_eq!(Shown::Value(Metric::time()).tick(200_000.0), "200 µs");
        assert_eq!(Shown::Bytes.tick(1e12), "1 TB/s");
        assert_eq!(Shown::Counter("tokens".into()).tick(2e9), "2 G/s");
        assert_eq!(Shown::Counter("tokens".into()).tick(20.0), "20 /s");
    }
}
