//! `--partition`: one of several parts of the cases, so that machines can share a run.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::Case;

/// One of several parts. Every case is in exactly one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    division: Division,
    /// From 1 to `of`.
    part: NonZeroU32,
    of: NonZeroU32,
}

/// How cases are divided among parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Division {
    /// By a digest of the full name: a case stays in its part whatever other cases there are.
    Hash,
    /// In turn, anew for every package.
    Count,
    /// In turn over all cases.
    Slice,
}

/// A text that is no partition.
#[derive(Debug, Error)]
#[error("a partition is `hash:M/N`, `count:M/N` or `slice:M/N`, the part M of N parts, from 1 to N")]
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
    /// The cases of this part, in their order.
    pub(super) fn of(self, cases: Vec<Case>) -> Vec<Case> {
        let mut turns: HashMap<String, u64> = HashMap::new();
        let mut number_of = |case: &Case| {
            let counted = match self.division {
                Division::Hash => return digest(&case.full_name()),
                Division::Count => case.package.clone(),
                Division::Slice => String::new(),
            };
            let turn = turns.entry(counted).or_default();
            *turn += 1;
            *turn - 1
        };
        let own = u64::from(self.part.get() - 1);
        let parts = u64::from(self.of.get());
        cases
            .into_iter()
            .filter(|case| number_of(case) % parts == own)
            .collect()
    }
}

/// The same on every machine and in every version of the tool.
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

    fn case(package: &str, path: &str, n: i64) -> Case {
        Case {
            package: package.to_owned(),
            benchmark: 0,
            path: path.to_owned(),
            params: [("n".to_owned(), AxisValue::Int(n))].into_iter().collect(),
            disposition: Disposition::Run,
        }
    }

    fn part(text: &str, cases: &[Case]) -> Vec<String> {
        let partition: Partition = text.parse().expect("a partition");
        partition.of(cases.to_vec()).iter().map(Case::full_name).collect()
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
    fn cases_are_counted_anew_for_every_package_or_over_all() {
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
    fn a_digest_is_what_it_was_in_the_first_version() {
        assert_eq!(digest("suite::add1::n=1024"), 0x8287_a613_ae95_b996);
    }

    proptest! {
        #[test]
        fn all_parts_together_are_all_cases_and_no_two_share_one(
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
        fn a_case_keeps_its_part_by_hash_whatever_else_is_selected(others in 0..40_i64) {
            let own = case("a", "x", 1000);
            let alone = part("hash:1/3", std::slice::from_ref(&own)).len();
            let mut cases: Vec<_> = (0..others).map(|n| case("a", "x", n)).collect();
            cases.push(own.clone());
            let among = part("hash:1/3", &cases).iter().filter(|name| **name == own.full_name()).count();
            prop_assert_eq!(alone, among);
        }
    }
}
