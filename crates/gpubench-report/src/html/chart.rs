//! Parts of all charts: scales, round tick values, and paths.

use std::fmt::Display;

use super::markup::{Element, Markup, element};
use gpubench_contract::units::scale_of;

/// Returns a position with one decimal, a tenth of a pixel.
fn position(at: f64) -> String {
    // NaN becomes 0.
    let tenths = (at * 10.0).round() as i64;
    let (sign, size) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
    match size % 10 {
        0 => format!("{sign}{}", size / 10),
        tenth => format!("{sign}{}.{tenth}", size / 10),
    }
}

/// A mapping from an interval of values to an interval of positions. Values outside are drawn at
/// the nearest end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    values: (f64, f64),
    positions: (f64, f64),
}

impl Scale {
    /// Returns a scale. An empty or invalid interval is widened on both sides.
    pub(super) fn new(values: (f64, f64), positions: (f64, f64)) -> Scale {
        let (low, high) = values;
        let extent = high - low;
        let values = if extent.is_finite() && extent > 0.0 && (low / extent).abs() < 1e12 {
            values
        } else if low.is_finite() && low.abs() < 1e300 {
            let room = (low.abs() * 0.005).max(1.0);
            (low - room, low + room)
        } else {
            (0.0, 1.0)
        };
        Scale { values, positions }
    }

    /// Returns the position of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        let (from, to) = self.positions;
        from + share * (to - from)
    }

    /// Returns whether a value is on the scale.
    pub(super) fn contains(&self, value: f64) -> bool {
        (self.values.0..=self.values.1).contains(&value)
    }

    /// Returns the step for at most `most` round tick values: one, two or five times a power of
    /// ten.
    pub(super) fn step(&self, most: usize) -> f64 {
        let (low, high) = self.values;
        let least = (high - low) / most as f64;
        let magnitude = 10f64.powf(least.log10().floor());
        [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * magnitude)
            .into_iter()
            .find(|step| *step >= least * (1.0 - 1e-9))
            .unwrap_or(10.0 * magnitude)
    }

    /// Returns the positions and labels of the tick values, in one unit and with enough decimals to
    /// distinguish them. The last one has the unit.
    pub(super) fn marks(&self, most: usize, unit: &str) -> Vec<(f64, String)> {
        let ((low, high), step) = (self.values, self.step(most));
        let first = (low / step).ceil();
        let values: Vec<f64> = (0..=most)
            .map(|position| (first + position as f64) * step)
            .take_while(|value| *value <= high + step * 1e-6)
            .collect();
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let (worth, unit) = scale_of(largest, unit);
        let decimals = (-(step / worth).log10().floor()).clamp(0.0, 9.0) as usize;
        let mark = |value: &f64| (self.at(*value), format!("{:.decimals$}", value / worth + 0.0));
        let mut marks: Vec<(f64, String)> = values.iter().map(mark).collect();
        if let Some((_, last)) = marks.last_mut() {
            last.extend([" ", &unit]);
        }
        marks
    }
}

/// Returns the minimum and maximum of some values.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values
        .into_iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        })
}

/// The `d` of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Path(String);

impl Path {
    /// Returns a closed shape with these corners.
    pub(super) fn polygon<const CORNERS: usize>(corners: [(f64, f64); CORNERS]) -> Path {
        let steps = corners.into_iter().zip(["M"].into_iter().chain(std::iter::repeat("L")));
        let path = steps.fold(Path::default(), |path, ((x, y), step)| {
            path.then(&format!("{step}{} {}", position(x), position(y)))
        });
        path.then("Z")
    }

    fn then(mut self, step: &str) -> Path {
        self.0.push_str(step);
        self
    }

    /// Moves to a point.
    pub(super) fn move_to(self, x: f64, y: f64) -> Path {
        self.then(&format!("M{} {}", position(x), position(y)))
    }

    /// Draws a line to a point.
    pub(super) fn line_to(self, x: f64, y: f64) -> Path {
        self.then(&format!("L{} {}", position(x), position(y)))
    }

    /// Draws a vertical line.
    pub(super) fn vertical_to(self, y: f64) -> Path {
        self.then(&format!("V{}", position(y)))
    }

    /// Draws a horizontal line.
    pub(super) fn horizontal_to(self, x: f64) -> Path {
        self.then(&format!("H{}", position(x)))
    }

    /// Draws a dot, if line ends are round.
    pub(super) fn dot(self, x: f64, y: f64) -> Path {
        self.then(&format!("M{} {}h0", position(x), position(y)))
    }

    /// Closes the current part.
    pub(super) fn close(self) -> Path {
        self.then("Z")
    }

    /// Returns the path element with this class.
    pub(super) fn drawn_as(self, class: impl Display) -> Element {
        element("path").with("class", class).with("d", self.0)
    }
}

/// Returns a straight line.
pub(super) fn line(class: &'static str, from: (f64, f64), to: (f64, f64)) -> Element {
    Path::default()
        .move_to(from.0, from.1)
        .line_to(to.0, to.1)
        .drawn_as(class)
}

/// Returns a rectangle between two positions in each direction.
pub(super) fn rectangle(class: &'static str, x: (f64, f64), y: (f64, f64)) -> Element {
    element("rect")
        .class(class)
        .with("x", position(x.0.min(x.1)))
        .with("y", position(y.0.min(y.1)))
        .with("width", position((x.1 - x.0).abs()))
        .with("height", position((y.1 - y.0).abs()))
}

/// Returns a dot with a tooltip.
pub(super) fn point(x: f64, y: f64, title: impl Display) -> Element {
    element("circle")
        .class("point")
        .with("cx", position(x))
        .with("cy", position(y))
        .with("r", "4")
        .child(element("title").text(title))
}

/// Returns a text at a position. The class sets its alignment.
pub(super) fn label(class: &'static str, x: f64, y: f64, text: impl Display) -> Element {
    element("text")
        .class(class)
        .with("x", position(x))
        .with("y", position(y))
        .text(text)
}

/// Returns an SVG image of this width and height, in pixels if there is room, with a description in
/// words.
pub(super) fn drawing(
    class: &'static str,
    (width, height): (f64, f64),
    words: impl Display,
    shapes: Markup,
) -> Element {
    element("svg")
        .class(class)
        .with("viewBox", format_args!("0 0 {} {}", position(width), position(height)))
        .with("role", "img")
        .with("aria-label", words)
        .child(shapes)
}

/// Returns a figure with a caption.
pub(super) fn figure(drawing: Element, caption: impl Into<Markup>) -> Element {
    element("figure")
        .child(drawing)
        .child(element("figcaption").child(caption))
}

/// Returns a bar for the value.
pub(super) fn bar(share: f64) -> Element {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    element("svg")
        .class("bar")
        .with("viewBox", "0 0 100 4")
        .with("aria-hidden", "true")
        .with("preserveAspectRatio", "none")
        .child(rectangle("mass", (0.0, 100.0 * share), (0.0, 4.0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marks(low: f64, high: f64) -> Vec<String> {
        let marks = Scale::new((low, high), (0.0, 100.0)).marks(5, "ns");
        marks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_distinct() {
        assert_eq!(marks(203_870.0, 204_130.0), ["203.9", "204.0", "204.1 µs"]);
        assert_eq!(marks(0.0, 9.0), ["0", "2", "4", "6", "8 ns"]);
        assert!(marks(950.0, 1_050.0).concat().ends_with(" µs"));
    }

    #[test]
    fn positions_have_one_decimal_and_no_sign_of_zero() {
        assert_eq!(
            [0.04, -0.04, 12.0, 3.25, -0.5, -12.04, f64::NAN].map(position),
            ["0", "0", "12", "3.3", "-0.5", "-12", "0"]
        );
    }

    #[test]
    fn equal_values_are_in_the_middle() {
        for value in [0.0, 1.0, -5.0, 1e9] {
            assert_eq!(Scale::new((value, value), (0.0, 100.0)).at(value), 50.0);
        }
    }

    proptest! {
        #[test]
        fn every_value_has_a_position_in_the_chart(low in any::<f64>(), high in any::<f64>(), value in any::<f64>()) {
            let scale = Scale::new((low, high), (10.0, 90.0));
            prop_assert!((10.0..=90.0).contains(&scale.at(value)));
            let marks = scale.marks(5, "ns");
            prop_assert!(marks.len() <= 6, "{:?}", marks);
            prop_assert!(marks.iter().all(|(at, _)| (10.0..=90.0).contains(at)), "{:?}", marks);
        }
    }
}
