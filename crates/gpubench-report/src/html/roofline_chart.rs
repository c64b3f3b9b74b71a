//! The roofline chart in two sizes: on a phone, the text of a scaled chart would be too small to
//! read.

use super::chart::{Scale, drawing, extent, label, line, point};
use super::log_scale::marks;
use super::markup::{Element, Markup};
use super::roofline_model::{Point, Roof, Roofline};
use gpubench_contract::units::{byte_rate, counted, flop_rate, percent};

/// A size of the chart: the class for the screens that show it, and its dimensions.
pub(super) type Shape = (&'static str, (f64, f64));

/// For wide screens.
pub(super) const WIDE: Shape = ("chart only-wide", (760.0, 400.0));

/// For phones.
pub(super) const NARROW: Shape = ("chart only-narrow", (340.0, 320.0));

const LEFT: f64 = 44.0;
const TOP: f64 = 20.0;

/// Space at the bottom for the labels and the name of the scale.
const BELOW: f64 = 36.0;

/// Space for a number next to a point.
const NUMBER: (f64, f64) = (16.0, 10.0);

/// The two logarithmic scales.
struct Axes {
    intensity: Scale,
    rate: Scale,
    /// Minimum intensity of the chart.
    least: f64,
    right: f64,
    base: f64,
}

impl Axes {
    fn new(roofline: &Roofline<'_>, (width, height): (f64, f64)) -> Axes {
        let ridge = roofline.ridge();
        let (least, most) = extent(roofline.points.iter().map(|point| point.intensity).chain([ridge]));
        let (from, to) = (least / 3.0, most * 3.0);
        let lowest = roofline.lowest_roof(from).rate;
        let rates = roofline.points.iter().map(|point| point.rate);
        let (least, most) = extent(rates.chain([lowest, roofline.compute.rate()]));
        let (right, base) = (width - 20.0, height - BELOW);
        Axes {
            intensity: Scale::new((from.log10(), to.log10()), (LEFT, right)),
            rate: Scale::new(((least / 1.6).log10(), (most * 2.0).log10()), (base, TOP)),
            least: from,
            right,
            base,
        }
    }

    fn at(&self, intensity: f64, rate: f64) -> (f64, f64) {
        (self.intensity.at(intensity.log10()), self.rate.at(rate.log10()))
    }
}

/// Returns the chart.
pub(super) fn chart(roofline: &Roofline<'_>, (class, size): Shape) -> Element {
    let axes = Axes::new(roofline, size);
    let shapes = grid(&axes)
        .then(roofs(roofline, &axes))
        .then(points(roofline, &axes))
        .then(label("t end", axes.right, axes.base + 30.0, "FLOP per byte →"))
        .then(label("t", 2.0, 10.0, "FLOP/s ↑"));
    let best = roofline
        .points
        .iter()
        .map(|point| point.rate / roofline.lowest_roof(point.intensity).rate)
        .fold(0.0, f64::max);
    let words = format_args!(
        "Roofline: {} below a bandwidth of {} and a compute rate of {}; the nearest reaches {} of its roof",
        counted(roofline.points.len(), "case"),
        byte_rate(roofline.bandwidth.rate()),
        flop_rate(roofline.compute.rate()),
        percent(best)
    );
    drawing(class, size, words, shapes)
}

/// Returns lines at round values.
fn grid(axes: &Axes) -> Markup {
    let upright = marks(&axes.intensity).into_iter().map(|mark| {
        let x = axes.intensity.at(mark.log10());
        let shown = label("t middle", x, axes.base + 14.0, mark.plain());
        Markup::from(line("grid", (x, TOP), (x, axes.base))).then(shown)
    });
    let level = marks(&axes.rate).into_iter().map(|mark| {
        let y = axes.rate.at(mark.log10());
        let shown = label("t end", LEFT - 5.0, y + 4.0, mark.prefixed());
        Markup::from(line("grid", (LEFT, y), (axes.right, y))).then(shown)
    });
    upright.chain(level).collect()
}

/// Returns both roofs, each with its name above it. The caption has their values.
fn roofs(roofline: &Roofline<'_>, axes: &Axes) -> Markup {
    let corner = axes.at(roofline.ridge(), roofline.compute.rate());
    let start = axes.at(axes.least, roofline.bandwidth.rate() * axes.least);
    Markup::from(line(style(roofline.bandwidth), start, corner))
        .then(line(style(roofline.compute), corner, (axes.right, corner.1)))
        .then(label("t", LEFT + 6.0, TOP + 10.0, "bandwidth"))
        .then(label("t end", axes.right, corner.1 - 6.0, "compute"))
}

fn style(roof: Roof) -> &'static str {
    match roof {
        Roof::Peak(_) => "roof",
        Roof::BestHere(_) => "roof dashed",
    }
}

fn points(roofline: &Roofline<'_>, axes: &Axes) -> Markup {
    let mut numbers = Numbers::without_roof_names(roofline, axes);
    let places: Vec<(f64, f64)> = roofline
        .points
        .iter()
        .map(|point| axes.at(point.intensity, point.rate))
        .collect();
    numbers
        .taken
        .extend(places.iter().map(|(x, y)| (x - 4.0, y - 4.0, x + 4.0, y + 4.0)));
    let drawn = (1..)
        .zip(&roofline.points)
        .zip(&places)
        .map(|((number, point), place)| {
            let shown = numbers
                .place(*place)
                .map(|(x, y)| label("t middle number", x, y, number));
            Markup::from(dot(number, point, *place)).then(shown)
        });
    drawn.collect()
}

fn dot(number: usize, of: &Point<'_>, (x, y): (f64, f64)) -> Element {
    let name = format!("{} {}", of.result.benchmark, of.result.params);
    let title = format!("{number}: {}, {}", name.trim_end(), flop_rate(of.rate));
    point(x, y, title)
}

/// Places the numbers of points without overlaps. A number without space is only in the table.
struct Numbers {
    taken: Vec<(f64, f64, f64, f64)>,
}

impl Numbers {
    /// The names of the roofs take space too.
    fn without_roof_names(roofline: &Roofline<'_>, axes: &Axes) -> Numbers {
        let (_, compute) = axes.at(roofline.ridge(), roofline.compute.rate());
        Numbers {
            taken: vec![
                (LEFT, TOP, LEFT + 64.0, TOP + 14.0),
                (axes.right - 56.0, compute - 18.0, axes.right, compute - 2.0),
            ],
        }
    }

    fn place(&mut self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let around = [
            (12.0, 4.0),
            (-12.0, 4.0),
            (0.0, -8.0),
            (0.0, 16.0),
            (11.0, -6.0),
            (-11.0, -6.0),
            (11.0, 14.0),
            (-11.0, 14.0),
        ];
        around
            .into_iter()
            .map(|(right, down)| (x + right, y + down))
            .find_map(|(x, y)| {
                let room = (x - NUMBER.0 / 2.0, y - NUMBER.1, x + NUMBER.0 / 2.0, y);
                let is_free = self
                    .taken
                    .iter()
                    .all(|other| room.2 < other.0 || other.2 < room.0 || room.3 < other.1 || other.3 < room.1);
                is_free.then(|| {
                    self.taken.push(room);
                    (x, y)
                })
            })
    }
}
