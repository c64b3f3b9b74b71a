//! The hidden cases of a problem for a seed. Only a grader runs them.

use std::collections::HashSet;

use gpubench::catalog::{Axis, AxisValue, DeviceKind, Draw, Params, StatedProblem};
use sha2::{Digest, Sha256};

use crate::broker::cases::{CaseError, MOST_CASES, axes_on, combinations};

/// Returns the public cases of a problem on a kind of device, in the order of its axes.
///
/// # Errors
/// There are too many.
pub(crate) fn public_cases(problem: &StatedProblem, device: DeviceKind) -> Result<Vec<Params>, CaseError> {
    let axes = axes_on(&problem.outline, device);
    combinations(&axes, MOST_CASES).ok_or_else(|| too_many(problem))
}

/// Returns the hidden cases of a problem on a kind of device, without those that are public too.
/// The values of `draw(..)` depend on the seed, on the problem's path and on the axis alone, so the
/// same seed gives the same cases on every machine.
///
/// No case appears twice. If a range has fewer values than the problem wants, there are fewer
/// cases.
///
/// # Errors
/// There are too many, or there are values for a part of a group of axes only.
pub(crate) fn hidden_cases(
    problem: &StatedProblem,
    device: DeviceKind,
    seed: &[u8; 32],
) -> Result<Vec<Params>, CaseError> {
    Ok(stated_cases(problem, device, seed)?.0)
}

/// Returns the hidden cases of a problem on a kind of device that are public too, so that nobody
/// grades them. Values of `draw(..)` never are.
///
/// # Errors
/// As [`hidden_cases`].
pub(crate) fn left_out_cases(problem: &StatedProblem, device: DeviceKind) -> Result<Vec<Params>, CaseError> {
    Ok(stated_cases(problem, device, &[0; 32])?.1)
}

/// Returns the cases of `hidden(..)`: those that are hidden, and those that are public too.
fn stated_cases(
    problem: &StatedProblem,
    device: DeviceKind,
    seed: &[u8; 32],
) -> Result<(Vec<Params>, Vec<Params>), CaseError> {
    let hidden = &problem.hidden;
    if hidden.axes.is_empty() && hidden.draws.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let public = public_cases(problem, device)?;
    let mut axes = hidden.axes.clone();
    if !hidden.draws.is_empty() {
        let count = hidden.count as usize;
        if count > MOST_CASES {
            return Err(too_many(problem));
        }
        let lottery = Lottery {
            seed,
            problem: &problem.outline.path,
            draws: &hidden.draws,
        };
        axes.push(Axis {
            names: hidden.draws.iter().map(|draw| draw.name.clone()).collect(),
            values: lottery.draw(count, &drawn_before(&public, &hidden.draws)),
        });
    }
    let declared = axes_on(&problem.outline, device);
    let order: Vec<String> = declared.iter().flat_map(|axis| axis.names.clone()).collect();
    let axes = Axis::replaced(declared, &axes).map_err(|part| CaseError::PartOfGroup {
        benchmark: problem.outline.path.clone(),
        part,
    })?;
    let mut cases = combinations(&axes, MOST_CASES).ok_or_else(|| too_many(problem))?;
    for case in &mut cases {
        // Axes that are drawn together are one group among the axes.
        case.sort_by_key(|(name, _)| order.iter().position(|known| known == name));
    }
    Ok(cases.into_iter().partition(|case| !public.contains(case)))
}

fn too_many(problem: &StatedProblem) -> CaseError {
    CaseError::TooMany {
        benchmark: problem.outline.path.clone(),
        most: MOST_CASES,
    }
}

/// Returns the values of the drawn axes in the public cases.
fn drawn_before(public: &[Params], draws: &[Draw]) -> HashSet<Vec<i64>> {
    let value = |case: &Params, draw: &Draw| match case.iter().find(|(name, _)| *name == draw.name) {
        Some((_, AxisValue::Int(value))) => Some(*value),
        _ => None,
    };
    let values = |case| draws.iter().map(|draw| value(case, draw)).collect();
    public.iter().filter_map(values).collect()
}

/// What the values of a problem's drawn axes are drawn from.
struct Lottery<'a> {
    seed: &'a [u8; 32],
    problem: &'a str,
    draws: &'a [Draw],
}

impl Lottery<'_> {
    /// Draws `count` different values for all axes at once, none of which is among `public`, or
    /// all that there are.
    fn draw(&self, count: usize, public: &HashSet<Vec<i64>>) -> Vec<Vec<AxisValue>> {
        let room = 2 * (count + public.len()) as u128;
        let drawn = match self.combinations() {
            Some(all) if all <= room => self.draw_of_few(all, count, public),
            _ => self.draw_of_many(count, public),
        };
        let ints = |values: Vec<i64>| values.into_iter().map(AxisValue::Int).collect();
        drawn.into_iter().map(ints).collect()
    }

    /// Returns how many different values there are. `None` if more than fit.
    fn combinations(&self) -> Option<u128> {
        let lengths = self.draws.iter().map(length);
        lengths.into_iter().try_fold(1_u128, u128::checked_mul)
    }

    /// Draws until there are enough: at least every second try succeeds.
    fn draw_of_many(&self, count: usize, public: &HashSet<Vec<i64>>) -> Vec<Vec<i64>> {
        let (mut drawn, mut seen) = (Vec::with_capacity(count), public.clone());
        for turn in 0.. {
            if drawn.len() == count {
                break;
            }
            let values: Vec<i64> = self.draws.iter().map(|draw| self.value(draw, turn)).collect();
            if seen.insert(values.clone()) {
                drawn.push(values);
            }
        }
        drawn
    }

    /// Shuffles all values that there are.
    fn draw_of_few(&self, all: u128, count: usize, public: &HashSet<Vec<i64>>) -> Vec<Vec<i64>> {
        let mut shuffled: Vec<(u128, Vec<i64>)> = (0..all)
            .map(|number| (self.number("", number as u64), self.numbered(number)))
            .filter(|(_, values)| !public.contains(values))
            .collect();
        shuffled.sort();
        shuffled.into_iter().take(count).map(|(_, values)| values).collect()
    }

    /// Returns the values with a number below [`combinations`](Lottery::combinations).
    fn numbered(&self, mut number: u128) -> Vec<i64> {
        let values = self.draws.iter().map(|draw| {
            let offset = number % length(draw);
            number /= length(draw);
            at(draw, offset)
        });
        values.collect()
    }

    /// Returns the value of an axis in a turn. No value is more probable than another by more than
    /// one part in 2^64.
    fn value(&self, draw: &Draw, turn: u64) -> i64 {
        at(draw, self.number(&draw.name, turn) % length(draw))
    }

    /// Returns the first 16 bytes of SHA-256 over the seed, the problem, the axis and the turn.
    fn number(&self, axis: &str, turn: u64) -> u128 {
        let mut hash = Sha256::new()
            .chain_update(b"gpubench hidden cases")
            .chain_update(self.seed);
        for name in [self.problem, axis] {
            hash = hash.chain_update((name.len() as u64).to_le_bytes()).chain_update(name);
        }
        let hash = hash.chain_update(turn.to_le_bytes()).finalize();
        let (first, _) = hash.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        u128::from_le_bytes(*first)
    }
}

/// Returns the number of values, at least 1.
fn length(draw: &Draw) -> u128 {
    (i128::from(draw.most) - i128::from(draw.least) + 1).max(1) as u128
}

/// Returns the value at an offset below [`length`].
fn at(draw: &Draw, offset: u128) -> i64 {
    (i128::from(draw.least) + offset as i128) as i64
}

#[cfg(test)]
mod tests;
