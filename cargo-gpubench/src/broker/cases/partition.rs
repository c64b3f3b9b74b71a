//! `--partition`: one part of the cases, so that several machines can share a run.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::Case;

/// One of several parts. Every case is in exactly one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    division: Division,
    /// From 1 to `of`.
    part: NonZeroU32,
    of: NonZeroU32,
}

/// The way to divide cases into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Division {
    /// In the order of a digest of the full name, each part a contiguous range of equal size. When
    /// a case is added or removed, at most one case moves between two neighbouring parts.
    Hash,
    /// Round-robin, restarted for every package.
    Count,
    /// Round-robin over all cases.
    Slice,
}

/// An invalid partition.
#[derive(Debug, Error)]
#[error("expected `hash:M/N`, `count:M/N` or `slice:M/N`; N is the number of parts, and M is a part from 1 to N")]
pub struct InvalidPartition;

impl FromStr for Partition {
    type Err = InvalidPartition;

    fn from_str(text: &str) -> Result<Self, InvalidPartition> {
        let (division, parts) = text.split_once(':').ok_or(InvalidPartition)?;
        let (part, of) = parts.split_once('/').ok_or(InvalidPartition)?;
        let number = |text: &str| text.parse().map_err(|_| InvalidPartition);
        let (part, of): (NonZeroU32, NonZeroU32) = (number(part)?, number(of)?);
        let division = match division {
            "hash" => Division::Hash,
            "count" => Division::Count,
            "slice" => Division::Slice,
            _ => return Err(InvalidPartition),
        };
        if part > of {
            return Err(InvalidPartition);
        }
        Ok(Self { division, part, of })
    }
}

impl Partition {
    /// Returns the cases of this part, in their order.
    pub(super) fn select(self, cases: Vec<Case>) -> Vec<Case> {
        let own = u64::from(self.part.get() - 1);
        let parts = self.parts(&cases);
        let own_cases = cases.into_iter().zip(parts).filter(|(_, part)| *part == own);
        own_cases.map(|(case, _)| case).collect()
    }

    /// Returns the part of each case, from 0.
    fn parts(self, cases: &[Case]) -> Vec<u64> {
        let of = u64::from(self.of.get());
        match self.division {
            Division::Hash => {
                let ranks = ranks(cases.iter().map(Case::full_name));
                ranks.map(|rank| rank * of / cases.len() as u64).collect()
            }
            Division::Count => round_robin(cases.iter().map(|case| &*case.package), of),
            Division::Slice => round_robin(cases.iter().map(|_| ""), of),
        }
    }
}

/// Assigns parts round-robin, restarted for every key.
fn round_robin<'a>(keys: impl Iterator<Item = &'a str>, of: u64) -> Vec<u64> {
    let mut turns: HashMap<&str, u64> = HashMap::new();
    let deal = |key| {
        let turn = turns.entry(key).or_default();
        *turn += 1;
        (*turn - 1) % of
    };
    keys.map(deal).collect()
}

/// Returns the rank of each name in the order of their digests.
fn ranks(names: impl Iterator<Item = String>) -> impl Iterator<Item = u64> {
    let mut ordered: Vec<_> = names
        .enumerate()
        .map(|(place, name)| (digest(&name), name, place))
        .collect();
    ordered.sort();
    let mut ranks = vec![0; ordered.len()];
    for (rank, (.., place)) in ordered.into_iter().enumerate() {
        ranks[place] = rank as u64;
    }
    ranks.into_iter()
}

/// Returns a number that depends only on the name, on every machine and in every version of the
/// tool.
fn digest(name: &str) -> u64 {
    let digest = Sha256::digest(name);
    digest[..8]
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::AxisValue;
    use proptest::prelude::*;

    use super::*;
    use crate::broker::cases::Disposition;
    use crate::config::{Metrics, Modes};
    use gpubench_contract::Mode;

    fn case(package: &str, path: &str, n: i64) -> Case {
        Case {
            package: package.to_owned(),
            library: 0,
            benchmark: 0,
            path: path.to_owned(),
            params: [("n".to_owned(), AxisValue::Int(n))].into_iter().collect(),
            modes: Modes::only(Mode::Cold),
            metrics: Metrics::TIME,
            counters: Vec::new(),
            disposition: Disposition::Run,
        }
    }

    fn part(text: &str, cases: &[Case]) -> Vec<String> {
        let partition: Partition = text.parse().expect("a partition");
        partition.select(cases.to_vec()).iter().map(Case::full_name).collect()
    }

    #[test]
    fn a_partition_names_its_division_and_its_part() {
        for wrong in [
            "",
            "hash",
            "hash:1",
            "hash:0/2",
            "hash:3/2",
            "hash:1/0",
            "random:1/2",
            "hash:-1/2",
        ] {
            assert!(wrong.parse::<Partition>().is_err(), "{wrong}");
        }
        assert!("slice:2/2".parse::<Partition>().is_ok());
    }

    #[test]
    fn cases_are_dealt_out_per_package_or_over_all() {
        let cases = [
            case("a", "x", 1),
            case("a", "x", 2),
            case("a", "x", 3),
            case("b", "x", 1),
        ];
        assert_eq!(part("count:1/2", &cases), ["a::x::n=1", "a::x::n=3", "b::x::n=1"]);
        assert_eq!(part("slice:1/2", &cases), ["a::x::n=1", "a::x::n=3"]);
        assert_eq!(part("slice:2/2", &cases), ["a::x::n=2", "b::x::n=1"]);
    }

    #[test]
    fn three_cases_in_two_parts_are_two_and_one() {
        let cases = [case("a", "x", 1), case("a", "x", 2), case("a", "x", 3)];
        assert_eq!(part("hash:1/2", &cases).len(), 2);
        assert_eq!(part("hash:2/2", &cases).len(), 1);
    }

    #[test]
    fn the_digest_never_changes_between_versions() {
        assert_eq!(digest("suite::add1::n=1024"), 0x8287_a613_ae95_b996);
    }

    proptest! {
        #[test]
        fn every_case_is_in_exactly_one_part(
            names in proptest::collection::btree_set(("[ab]", "[a-z]{1,4}", 0..50_i64), 0..60),
            division in prop_oneof![Just("hash"), Just("count"), Just("slice")],
            of in 1..6_u32,
        ) {
            let cases: Vec<_> = names.iter().map(|(package, path, n)| case(package, path, *n)).collect();
            let parts = (1..=of).flat_map(|number| part(&format!("{division}:{number}/{of}"), &cases));
            let mut parts: Vec<_> = parts.collect();
            parts.sort();
            let mut all: Vec<_> = cases.iter().map(Case::full_name).collect();
            all.sort();
            prop_assert_eq!(parts, all);
        }

        #[test]
        fn parts_by_hash_have_equal_sizes(number in 0..60_i64, of in 1..8_u32) {
            let cases: Vec<_> = (0..number).map(|n| case("a", "x", n)).collect();
            let sizes: Vec<_> = (1..=of).map(|own| part(&format!("hash:{own}/{of}"), &cases).len()).collect();
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            prop_assert!(most - least <= 1, "{sizes:?}");
        }

        #[test]
        fn a_new_case_moves_at_most_one_case_between_neighbouring_parts(number in 1..60_i64, of in 1..8_u32) {
            let mut cases: Vec<_> = (0..number).map(|n| case("a", "x", n)).collect();
            let parts = |cases: &[Case]| format!("hash:1/{of}").parse::<Partition>().unwrap().parts(cases);
            let before = parts(&cases);
            cases.push(case("b", "y", 0));
            let after = parts(&cases);
            let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
            prop_assert!(moved < of as usize, "{before:?} {after:?}");
        }

        #[test]
        fn the_order_of_cases_does_not_change_their_part_by_hash(number in 1..40_i64) {
            let mut cases: Vec<_> = (0..number).map(|n| case("a", "x", n)).collect();
            let mut forwards = part("hash:1/3", &cases);
            cases.reverse();
            let mut backwards = part("hash:1/3", &cases);
            forwards.sort();
            backwards.sort();
            prop_assert_eq!(forwards, backwards);
        }
    }
}
