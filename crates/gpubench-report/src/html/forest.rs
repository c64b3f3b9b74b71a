//! The forest plot of a comparison: one line per case, on a common scale of ratios.

use super::chart::{Path, Scale, drawing, label, line, rectangle};
use super::markup::{Element, Markup};
use crate::wording::{interval, lower_and_higher, metric_of};
use gpubench_contract::units::change;
use gpubench_contract::{Change, ChangeVerdict, ComparisonComplete};

const WIDTH: f64 = 200.0;
const HEIGHT: f64 = 20.0;

/// Space for an arrow on each side.
const MARGIN: f64 = 8.0;

/// Maximum range of the scale: from a quarter of the time to four times the time.
const WIDEST: f64 = std::f64::consts::LN_2 * 2.0;

/// The logarithmic scale of ratios for all lines.
pub(super) struct Forest {
    reach: f64,
    /// Words for a lower and a higher ratio.
    words: [&'static str; 2],
    scale: Scale,
}

impl Forest {
    /// Returns a scale that fits nine of ten intervals and every threshold. An arrow marks an
    /// interval that exceeds it.
    pub(super) fn new(comparison: &ComparisonComplete) -> Forest {
        let changes = || comparison.rows.iter().filter_map(|row| row.change.as_ref());
        let extent = |change: &Change| {
            change
                .interval
                .map(|bound| bound.ln().abs())
                .into_iter()
                .fold(0.0, f64::max)
        };
        let mut extents: Vec<f64> = changes().map(extent).filter(|extent| extent.is_finite()).collect();
        extents.sort_by(f64::total_cmp);
        let typical = extents
            .get(extents.len() * 9 / 10)
            .or(extents.last())
            .copied()
            .unwrap_or(0.0);
        let threshold = changes()
            .map(|change| change.threshold)
            .filter(|threshold| threshold.is_finite());
        let reach = (1.25 * typical).max(2.0 * threshold.fold(0.01, f64::max)).min(WIDEST);
        Forest {
            words: lower_and_higher(&metric_of(comparison)),
            reach,
            scale: Scale::new((-reach, reach), (MARGIN, WIDTH - MARGIN)),
        }
    }

    fn at(&self, ratio: f64) -> f64 {
        self.scale.at(ratio.ln())
    }

    /// Returns the labels of the scale, to put above the lines.
    pub(super) fn axis(&self) -> Element {
        let marks = self.marks();
        let labels = marks.map(|ratio| label("t middle", self.at(ratio), 12.0, named(ratio)));
        let ticks = marks.map(|ratio| line("axis", (self.at(ratio), 16.0), (self.at(ratio), HEIGHT)));
        let shapes: Markup = labels.into_iter().chain(ticks).collect();
        let ([lower, higher], [least, _, most]) = (self.words, marks.map(named));
        let words = format_args!("Scale of ratios: {lower} to the left, {higher} to the right, {least} to {most}");
        drawing("forest", (WIDTH, HEIGHT), words, shapes)
    }

    /// Round ratios on both sides of 1.
    fn marks(&self) -> [f64; 3] {
        // Keep a distance to the edges, which would cut labels off.
        let inside = (0.8 * self.reach).exp() - 1.0;
        let step = Scale::new((0.0, inside), (0.0, 1.0)).step(2);
        if step < 0.5 {
            [1.0 - step, 1.0, 1.0 + step]
        } else {
            [0.5, 1.0, 2.0]
        }
    }

    /// Returns the line of a case: a band for the threshold, a line for the interval and a mark for
    /// the ratio. The verdict sets the mark's shape.
    pub(super) fn line(&self, figures: &Change, verdict: ChangeVerdict) -> Element {
        let middle = HEIGHT / 2.0;
        let [low, high] = figures.interval;
        let band = (
            self.at(1.0 / (1.0 + figures.threshold)),
            self.at(1.0 + figures.threshold),
        );
        let class = match verdict {
            ChangeVerdict::NowFails | ChangeVerdict::Regressed => "ink-bad",
            ChangeVerdict::Improved => "ink-good",
            ChangeVerdict::Inconclusive => "ink-doubtful",
            ChangeVerdict::WithinNoise | ChangeVerdict::NoChange | ChangeVerdict::NotCompared => "ink",
        };
        let shapes = Markup::from(rectangle("band", band, (0.0, HEIGHT)))
            .then(line("axis", (self.at(1.0), 0.0), (self.at(1.0), HEIGHT)))
            .then(line(class, (self.at(low), middle), (self.at(high), middle)))
            .then(self.arrow(low, class))
            .then(self.arrow(high, class))
            .then(mark(self.at(figures.ratio), middle, verdict).drawn_as(class));
        let (ratio, interval) = (change(figures.ratio), interval(figures.interval));
        let words = format_args!("Ratio: {ratio}, interval {interval}");
        drawing("forest", (WIDTH, HEIGHT), words, shapes)
    }

    /// Returns an arrow if a bound is beyond the scale.
    fn arrow(&self, ratio: f64, class: &'static str) -> Option<Element> {
        let (edge, towards) = if ratio < 1.0 {
            (MARGIN, -1.0)
        } else {
            (WIDTH - MARGIN, 1.0)
        };
        let middle = HEIGHT / 2.0;
        let tip = edge + 6.0 * towards;
        let arrow = Path::polygon([(edge, middle - 4.0), (tip, middle), (edge, middle + 4.0)]);
        (!self.scale.contains(ratio.ln())).then(|| arrow.drawn_as(class))
    }
}

/// Up if slower, down if faster, otherwise a diamond.
fn mark(x: f64, y: f64, verdict: ChangeVerdict) -> Path {
    match verdict {
        ChangeVerdict::Regressed => Path::polygon([(x - 5.0, y + 4.0), (x, y - 5.0), (x + 5.0, y + 4.0)]),
        ChangeVerdict::Improved => Path::polygon([(x - 5.0, y - 4.0), (x, y + 5.0), (x + 5.0, y - 4.0)]),
        _ => Path::polygon([(x - 4.0, y), (x, y - 4.0), (x + 4.0, y), (x, y + 4.0)]),
    }
}

/// `-5%`, `same`, `2×`.
fn named(ratio: f64) -> String {
    let per_cent = ((ratio - 1.0).abs() * 1e4).round() / 100.0;
    match ratio {
        1.0 => "same".to_owned(),
        0.5 | 2.0 => format!("{ratio}×"),
        _ if ratio < 1.0 => format!("−{per_cent}%"),
        _ => format!("+{per_cent}%"),
    }
}
