//! The roofline chart in two sizes: on a phone, the text of a scaled chart would be too small to
//! read.

use super::chart::{Scale, drawing, extent, label, line, point};
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

/// A round value on a logarithmic scale: a factor times a power of ten.
#[derive(Clone, Copy)]
struct Mark {
    factor: u32,
    power: i32,
}

/// Returns the tick values of a logarithmic scale: powers of ten, every other one if there are
/// many, and two and five times each if there are few.
fn marks(scale: &Scale) -> Vec<Mark> {
    let of_factor = |factor| (-30..=30).map(move |power| Mark { factor, power });
    let on_scale = |mark: &Mark| scale.contains(mark.log10());
    let decades: Vec<Mark> = of_factor(1).filter(on_scale).collect();
    if decades.len() < 3 {
        return [1, 2, 5].into_iter().flat_map(of_factor).filter(on_scale).collect();
    }
    let step = decades.len().div_ceil(7);
    decades.into_iter().step_by(step).collect()
}

impl Mark {
    fn log10(self) -> f64 {
        f64::from(self.factor).log10() + f64::from(self.power)
    }

    /// `0.01`, `1`, `1000`.
    fn plain(self) -> String {
        let Mark { factor, power } = self;
        match power {
            -3..=-1 => format!("0.{}{factor}", "0".repeat(power.unsigned_abs() as usize - 1)),
            0..=4 => format!("{factor}{}", "0".repeat(power.unsigned_abs() as usize)),
            _ => format!("{factor}e{power}"),
        }
    }

    /// `100 M`, `1 G`.
    fn prefixed(self) -> String {
        let Mark { factor, power } = self;
        let prefixes = ["", " k", " M", " G", " T", " P"];
        let prefix = usize::try_from(power.div_euclid(3))
            .ok()
            .and_then(|group| prefixes.get(group));
        match prefix {
            Some(prefix) => format!("{}{prefix}", factor * 10u32.pow(power.rem_euclid(3).unsigned_abs())),
            None => format!("{factor}e{power}"),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_readable_labels() {
        let mark = |factor, power| Mark { factor, power };
        assert_eq!(
            [mark(2, -2), mark(5, 0), mark(1, 3), mark(1, -9)].map(Mark::plain),
            ["0.02", "5", "1000", "1e-9"]
        );
        assert_eq!(
            [mark(2, 11), mark(1, 9), mark(5, 2), mark(1, -1)].map(Mark::prefixed),
            ["200 G", "1 G", "500", "1e-1"]
        );
    }

    #[test]
    fn a_scale_with_few_powers_of_ten_has_marks_between_them() {
        let named = |from: f64, to: f64| {
            marks(&Scale::new((from.log10(), to.log10()), (0.0, 1.0)))
                .into_iter()
                .map(Mark::plain)
                .collect::<Vec<_>>()
        };
        assert_eq!(named(0.09, 0.6), ["0.1", "0.2", "0.5"]);
        assert_eq!(named(0.5, 2_000.0), ["1", "10", "100", "1000"]);
    }
}
