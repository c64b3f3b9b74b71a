//! Change points of a series: where its values begin to have another distribution.
//!
//! E-divisive (D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple Change Point
//! Analysis of Multivariate Data", Journal of the American Statistical Association 109, 2014) as
//! Hunter changed it (M. Fleming, P. Kołaczkowski and others, "Hunter: Using Change Point Detection
//! to Hunt for Performance Regressions", ICPE 2023): windows that overlap, Student's t-test instead
//! of permutations, and a strict look at the points that a tolerant one found. Apache Otava, which
//! Hunter became, finds the same points with the settings of [`Divisive::hunter`].

mod energy;
mod segments;

#[cfg(test)]
mod tests;

use energy::{Candidate, Energy};
use segments::Segments;

/// How change points are searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divisive {
    /// Number of values in a window. Windows overlap by half.
    pub window: usize,
    /// Largest p-value of a change point.
    pub most_p: f64,
    /// Smallest relative change of the mean, as a fraction.
    pub least_change: f64,
    /// Fewest values between two change points.
    pub least_segment: usize,
    /// Whose way of judging candidates.
    pub judgement: Judgement,
}

/// How candidates are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// As Otava does, for the same points: a segment's variance has n in the denominator, which is
    /// too small, the more so the shorter the segment is; and if a point is dropped, the next two
    /// points are judged again instead of the ones before and after it.
    AsOtava,
    /// The variance has n − 1 in the denominator; the neighbours of a dropped point are judged
    /// again; and a candidate is judged by the values after it that made it one, without those
    /// after a further change. So a level that came and went does not hide in a window.
    Strict,
}

/// A change point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The position of the first value with the change.
    pub position: usize,
    /// How probable it is that the values between this point's neighbours differ as much before and
    /// after it by chance. It does not account for the choice of the position.
    pub p_value: f64,
    /// Mean of the values from the change point before to this one.
    before: f64,
    /// Mean of the values from this change point to the next.
    after: f64,
}

impl ChangePoint {
    /// Returns the relative change of the mean, forwards or backwards, whichever is larger.
    fn magnitude(&self) -> f64 {
        let relative = |from: f64, to: f64| if from == 0.0 { 0.0 } else { (to / from - 1.0).abs() };
        relative(self.before, self.after).max(relative(self.after, self.before))
    }
}

impl Divisive {
    /// Returns the settings with which Hunter, and Otava after it, finds the same points.
    pub fn hunter(window: usize, most_p: f64, least_change: f64) -> Divisive {
        Divisive {
            window,
            most_p,
            least_change,
            least_segment: 1,
            judgement: Judgement::AsOtava,
        }
    }

    /// Returns the change points of a series, in order. None if a value is not finite.
    pub fn change_points(&self, series: &[f64]) -> Vec<ChangePoint> {
        if self.window < 2 || !series.iter().all(|value| value.is_finite()) {
            return Vec::new();
        }
        self.merged(series, &self.split(series))
    }

    /// The limit of the first, tolerant look.
    fn tolerant_p(&self) -> f64 {
        match self.most_p {
            p if p < 0.05 => p * 10.0,
            p if p < 0.5 => p * 2.0,
            p => p,
        }
    }

    /// Returns the positions that are change points of a window for a tolerant look.
    fn split(&self, series: &[f64]) -> Vec<usize> {
        let mut found = Vec::new();
        let mut start = 0;
        while start < series.len() {
            let end = (start + self.window).min(series.len());
            let here = self.split_window(&series[start..end]);
            let last = here.last().map_or(0, |last| start + last);
            found.extend(here.iter().map(|position| start + position));
            start = last.max(start + self.window / 2);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Splits a window again and again at its best candidate, until that one is no change point.
    fn split_window(&self, window: &[f64]) -> Vec<usize> {
        let energy = Energy::of(window);
        let mut positions: Vec<usize> = Vec::new();
        loop {
            let segments = Segments::new(window.len(), &positions);
            let mut best: Option<Candidate> = None;
            for segment in segments.iter() {
                let here = energy.candidate(segment, self.least_segment);
                best = match (best, here) {
                    (Some(best), Some(here)) if here.divergence <= best.divergence => Some(best),
                    (best, here) => here.or(best),
                };
            }
            let Some(best) = best else { return positions };
            let segment = segments.around(best.position);
            let end = match self.judgement {
                Judgement::AsOtava => segment.end,
                Judgement::Strict => best.end,
            };
            let point = self.judged(window, segment.start, best.position, end);
            if point.p_value.is_nan() || point.p_value > self.tolerant_p() {
                return positions;
            }
            positions.push(best.position);
            positions.sort_unstable();
        }
    }

    /// Drops the weakest point until all that remain are strong.
    fn merged(&self, series: &[f64], positions: &[usize]) -> Vec<ChangePoint> {
        let again = |positions: &[usize], index: usize| {
            let start = index.checked_sub(1).map_or(0, |before| positions[before]);
            let end = positions.get(index + 1).copied().unwrap_or(series.len());
            self.judged(series, start, positions[index], end)
        };
        let mut points: Vec<ChangePoint> = (0..positions.len()).map(|index| again(positions, index)).collect();
        while let Some(weakest) = self.weakest(&points) {
            points.remove(weakest);
            let positions: Vec<usize> = points.iter().map(|point| point.position).collect();
            let judged_again = match self.judgement {
                Judgement::AsOtava => weakest..weakest + 2,
                Judgement::Strict => weakest.saturating_sub(1)..weakest + 1,
            };
            for index in judged_again.filter(|index| *index < positions.len()) {
                points[index] = again(&positions, index);
            }
        }
        points
    }

    /// Returns the point to drop: the most probable one if it is too probable, else the smallest
    /// one if it is too small.
    fn weakest(&self, points: &[ChangePoint]) -> Option<usize> {
        let (index, likeliest) = first_most(points, |point| point.p_value)?;
        if likeliest.p_value.is_nan() || likeliest.p_value >= self.most_p {
            return Some(index);
        }
        let (index, smallest) = first_most(points, |point| -point.magnitude())?;
        (smallest.magnitude() <= self.least_change).then_some(index)
    }

    fn judged(&self, series: &[f64], start: usize, position: usize, end: usize) -> ChangePoint {
        let (before, after) = (&series[start..position], &series[position..end]);
        segments::compared(position, before, after, self.judgement)
    }
}

/// Returns the first point with the largest key.
fn first_most(points: &[ChangePoint], key: impl Fn(&ChangePoint) -> f64) -> Option<(usize, &ChangePoint)> {
    points
        .iter()
        .enumerate()
        .reduce(|most, here| if key(here.1) > key(most.1) { here } else { most })
}
