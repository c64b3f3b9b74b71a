//! The ranking of several cases that were measured alternately, from the ratio of each pair.

use super::comparison::{Confidence, Ratio};
use super::log_ratio::LogRatio;
use super::paired::Paired;

/// The ratios of all pairs of contestants.
#[derive(Clone, Debug, PartialEq)]
pub struct PairTable {
    contestants: usize,
    /// For each pair of an earlier and a later contestant, row by row, the later one's ratio to the
    /// earlier one.
    ratios: Vec<LogRatio>,
}

/// A contestant's place in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The contestant's position in the table.
    pub contestant: usize,
    /// Its ratio to the winner. For the winner itself it is exactly 1.
    pub ratio: Ratio,
    /// The best and the worst rank, from 1, that the intervals leave possible.
    pub ranks: [usize; 2],
    /// The contestants that it may equal: the interval of their ratio contains 1.
    pub ties: Vec<usize>,
}

impl PairTable {
    /// Pairs the samples of each worker of each contestant, as [`Paired::new`]. `step` is the
    /// resolution of the samples.
    ///
    /// `None` if a pair has no ratio.
    pub fn new(contestants: &[Vec<&[f64]>], step: f64) -> Option<PairTable> {
        let pairs = pairs(contestants.len());
        let ratios = pairs.map(|[one, other]| {
            let paired = Paired::new(&contestants[one], &contestants[other])?;
            Some(paired.log_ratio(step))
        });
        Some(PairTable {
            contestants: contestants.len(),
            ratios: ratios.collect::<Option<_>>()?,
        })
    }

    /// Returns the geometric means over several tables of the same contestants. `None` if they
    /// differ in number, or without tables.
    pub fn mean(tables: &[PairTable]) -> Option<PairTable> {
        let contestants = tables.first()?.contestants;
        if tables.iter().any(|table| table.contestants != contestants) {
            return None;
        }
        let ratios = (0..pairs(contestants).count()).map(|pair| {
            let of_pair: Vec<LogRatio> = tables.iter().map(|table| table.ratios[pair]).collect();
            LogRatio::mean(&of_pair)
        });
        Some(PairTable {
            contestants,
            ratios: ratios.collect::<Option<_>>()?,
        })
    }

    /// Returns the ratio of each pair, with intervals that hold all at once with this confidence.
    pub fn ratios(&self, confidence: Confidence) -> Vec<Ratio> {
        let confidence = confidence.of_each(self.ratios.len());
        self.ratios.iter().map(|ratio| ratio.ratio(confidence)).collect()
    }

    /// Ranks the contestants, the one with the smallest values first.
    ///
    /// Their order is that of the geometric mean of a contestant's ratios to all others, which is
    /// the least-squares order of the logarithms (G. Crawford and C. Williams, "A note on the
    /// analysis of subjective judgment matrices", Journal of Mathematical Psychology 29 (1985)).
    ///
    /// The intervals of all pairs hold at once with this confidence, so they also hold for the
    /// winner, which the same samples chose. A contestant's best possible rank is one more than the
    /// number of those that are surely better, and its worst is as many ranks from the end as there
    /// are those that are surely worse. All of these ranks are right at once with this confidence
    /// (M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, "Inference for Ranks with
    /// Applications to Mobility across Neighbourhoods and Academic Achievement across Countries",
    /// The Review of Economic Studies 91 (2024)).
    pub fn ranking(&self, confidence: Confidence) -> Vec<Place> {
        let confidence = confidence.of_each(self.ratios.len());
        let everybody = 0..self.contestants;
        let score = |contestant: &usize| -> f64 {
            let others = everybody.clone().filter(|other| other != contestant);
            others.map(|other| self.to(*contestant, other).center).sum()
        };
        let mut order: Vec<(usize, f64)> = everybody
            .clone()
            .map(|contestant| (contestant, score(&contestant)))
            .collect();
        order.sort_by(|(_, one), (_, other)| one.total_cmp(other));
        let Some((winner, _)) = order.first().copied() else {
            return Vec::new();
        };
        let place = |contestant: usize| {
            let others = everybody.clone().filter(|other| *other != contestant);
            let to_others: Vec<(usize, Ratio)> = others
                .map(|other| (other, self.to(contestant, other).ratio(confidence)))
                .collect();
            let of = |is: fn(&Ratio) -> bool| to_others.iter().filter(move |(_, ratio)| is(ratio));
            Place {
                contestant,
                ratio: self.to(contestant, winner).ratio(confidence),
                ranks: [
                    1 + of(|ratio| ratio.interval.low > 1.0).count(),
                    self.contestants - of(|ratio| ratio.interval.high < 1.0).count(),
                ],
                ties: of(|ratio| ratio.interval.low <= 1.0 && ratio.interval.high >= 1.0)
                    .map(|(other, _)| *other)
                    .collect(),
            }
        };
        order.into_iter().map(|(contestant, _)| place(contestant)).collect()
    }

    /// Returns the ratio of one contestant to another, or exactly 1 to itself.
    fn to(&self, contestant: usize, other: usize) -> LogRatio {
        let mut pairs = pairs(self.contestants).zip(&self.ratios);
        let known = pairs.find_map(|(pair, ratio)| match pair {
            pair if pair == [other, contestant] => Some(*ratio),
            pair if pair == [contestant, other] => Some(ratio.inverse()),
            _ => None,
        });
        known.unwrap_or(LogRatio {
            center: 0.0,
            variance: 0.0,
            freedom: 1.0,
            least_reach: 0.0,
        })
    }
}

/// Returns the pairs of an earlier and a later contestant, row by row.
fn pairs(contestants: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..contestants).flat_map(move |one| (one + 1..contestants).map(move |other| [one, other]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rounds on a machine whose time drifts by a half from beginning to end, with a little noise.
    fn contestants(factors: &[f64], rounds: usize, noise: f64, seed: u64) -> Vec<Vec<Vec<f64>>> {
        let mut random = fastrand::Rng::with_seed(seed);
        let samples = 20;
        let all = (rounds * samples) as f64;
        let mut of_each: Vec<Vec<Vec<f64>>> = vec![Vec::new(); factors.len()];
        for round in 0..rounds {
            of_each.iter_mut().for_each(|workers| workers.push(Vec::new()));
            for sample in 0..samples {
                let drift = 1.0 + 0.5 * (round * samples + sample) as f64 / all;
                for (workers, factor) in of_each.iter_mut().zip(factors) {
                    let noise = 1.0 + noise * (random.f64() - 0.5);
                    workers[round].push(100.0 * factor * drift * noise);
                }
            }
        }
        of_each
    }

    fn table(factors: &[f64], rounds: usize, seed: u64) -> PairTable {
        let samples = contestants(factors, rounds, 0.01, seed);
        let samples: Vec<Vec<&[f64]>> = samples
            .iter()
            .map(|workers| workers.iter().map(Vec::as_slice).collect())
            .collect();
        PairTable::new(&samples, 0.0).unwrap()
    }

    fn order(places: &[Place]) -> Vec<usize> {
        places.iter().map(|place| place.contestant).collect()
    }

    #[test]
    fn contestants_are_ranked_in_spite_of_drift_and_twins_tie() {
        let places = table(&[1.3, 1.0, 1.03, 1.3], 5, 1).ranking(Confidence::DEFAULT);
        let (first, last) = (order(&places)[..2].to_vec(), &places[2..]);
        assert_eq!(first, [1, 2]);
        assert_eq!(places[0].ranks, [1, 1]);
        assert!(places[0].ties.is_empty() && places[0].ratio.estimate == 1.0);
        assert_eq!(places[1].ranks, [2, 2]);
        assert!((places[1].ratio.estimate - 1.03).abs() < 0.01, "{places:?}");
        for (twin, other) in [(&last[0], &last[1]), (&last[1], &last[0])] {
            assert_eq!((twin.ranks, &twin.ties[..]), ([3, 4], &[other.contestant][..]));
            assert!((twin.ratio.estimate - 1.3).abs() < 0.01, "{places:?}");
        }
    }

    #[test]
    fn a_mean_over_cases_is_geometric_and_needs_the_same_contestants() {
        let tables = [table(&[1.0, 1.2], 5, 1), table(&[1.1, 1.0], 5, 2)];
        let mean = PairTable::mean(&tables).unwrap().ranking(Confidence::DEFAULT);
        assert_eq!(order(&mean), [0, 1]);
        assert!(
            (mean[1].ratio.estimate - (1.2f64 / 1.1).sqrt()).abs() < 0.005,
            "{mean:?}"
        );
        assert_eq!(PairTable::mean(&[table(&[1.0; 2], 5, 1), table(&[1.0; 3], 5, 1)]), None);
        assert_eq!(PairTable::mean(&[]), None);
    }

    #[test]
    fn contestants_with_the_same_samples_tie_and_share_their_ranks() {
        let samples = vec![&[100.0, 101.0, 103.0][..]; 3];
        let slower = vec![&[200.0, 202.0, 206.0][..]; 3];
        let places = PairTable::new(&[samples.clone(), slower, samples], 0.0)
            .unwrap()
            .ranking(Confidence::DEFAULT);
        let shown: Vec<_> = places
            .iter()
            .map(|place| (place.contestant, place.ranks, place.ties.clone()))
            .collect();
        assert_eq!(shown, [(0, [1, 2], vec![2]), (2, [1, 2], vec![0]), (1, [3, 3], vec![])]);
    }

    #[test]
    fn too_few_rounds_have_no_ranking() {
        let two = contestants(&[1.0, 1.1], 2, 0.01, 1);
        let two: Vec<Vec<&[f64]>> = two
            .iter()
            .map(|side| side.iter().map(Vec::as_slice).collect())
            .collect();
        assert_eq!(PairTable::new(&two, 0.0), None);
    }

    #[test]
    fn twins_are_rarely_told_apart_however_many_there_are() {
        for twins in [2, 4, 8] {
            let wrong = (0..300).filter(|seed| {
                let places = table(&vec![1.0; twins], 5, *seed).ranking(Confidence::DEFAULT);
                places.iter().any(|place| place.ranks != [1, twins])
            });
            let wrong = wrong.count();
            assert!(wrong <= 6, "{wrong} of 300 contests of {twins} twins");
        }
    }

    #[test]
    fn intervals_are_wide_enough_for_all_pairs_at_once() {
        for contestants in [2, 3, 8] {
            let factors: Vec<f64> = (0..contestants)
                .map(|position| 1.0 + 0.1 * f64::from(position))
                .collect();
            let table = table(&factors, 5, 1);
            let pairs = factors.len() * (factors.len() - 1) / 2;
            let of_each = Confidence::DEFAULT.of_each(pairs);
            let expected: Vec<Ratio> = table.ratios.iter().map(|ratio| ratio.ratio(of_each)).collect();
            assert_eq!(table.ratios(Confidence::DEFAULT), expected);
            let to_winner = table.ranking(Confidence::DEFAULT).into_iter().skip(1);
            let to_winner: Vec<Ratio> = to_winner.map(|place| place.ratio).collect();
            // The winner is the first contestant, so these are the first pairs of the table.
            assert_eq!(to_winner, expected[..factors.len() - 1], "{contestants} contestants");
        }
    }

    #[test]
    fn a_contest_of_one_has_a_winner_and_one_of_none_has_not() {
        let alone = PairTable::new(&[vec![&[1.0][..]; 3]], 0.0)
            .unwrap()
            .ranking(Confidence::DEFAULT);
        assert_eq!((alone[0].ranks, alone.len()), ([1, 1], 1));
        assert!(
            PairTable::new(&[], 0.0)
                .unwrap()
                .ranking(Confidence::DEFAULT)
                .is_empty()
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn ties_are_mutual_and_ranks_agree_with_them(factors in prop::collection::vec(0.97..1.03f64, 2..6), seed: u64) {
            let places = table(&factors, 5, seed).ranking(Confidence::DEFAULT);
            for place in &places {
                prop_assert_eq!(place.ranks[1] - place.ranks[0], place.ties.len());
                for tie in &place.ties {
                    let other = places.iter().find(|other| other.contestant == *tie).unwrap();
                    prop_assert!(other.ties.contains(&place.contestant));
                }
            }
        }
    }
}
