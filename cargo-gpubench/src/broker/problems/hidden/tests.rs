use gpubench::catalog::HiddenCases;
use proptest::prelude::*;

use super::*;
use crate::broker::problems::example;

const SEED: [u8; 32] = [7; 32];

fn axis(name: &str, values: &[i64]) -> Axis {
    Axis::of(name, values.iter().copied().map(AxisValue::Int).collect())
}

fn problem(public: Vec<Axis>, axes: Vec<Axis>, draws: &[(&str, i64, i64)], count: u32) -> StatedProblem {
    let mut problem = example("sums::row_sums");
    problem.outline.axes = public;
    let draw = |(name, least, most): &(&str, i64, i64)| Draw {
        name: (*name).to_owned(),
        least: *least,
        most: *most,
    };
    problem.hidden = HiddenCases {
        axes,
        draws: draws.iter().map(draw).collect(),
        count,
    };
    problem
}

fn cases_of(problem: &StatedProblem, seed: [u8; 32]) -> Vec<String> {
    let cases = hidden_cases(problem, DeviceKind::Cpu, &seed).expect("cases");
    cases.iter().map(shown).collect()
}

fn shown(case: &Params) -> String {
    let pairs = case.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join(",")
}

#[test]
fn a_problem_without_hidden_cases_has_none() {
    let problem = problem(vec![axis("n", &[1, 2])], Vec::new(), &[], 0);
    assert_eq!(cases_of(&problem, SEED), [""; 0]);
}

#[test]
fn listed_values_replace_those_of_their_axis_and_the_others_stay() {
    let problem = problem(
        vec![axis("m", &[1, 2]), axis("n", &[3])],
        vec![axis("n", &[4, 5])],
        &[],
        0,
    );
    assert_eq!(cases_of(&problem, SEED), ["m=1,n=4", "m=1,n=5", "m=2,n=4", "m=2,n=5"]);
}

#[test]
fn a_case_that_is_public_too_is_not_hidden() {
    let problem = problem(vec![axis("n", &[1, 2])], vec![axis("n", &[2, 3])], &[], 0);
    assert_eq!(cases_of(&problem, SEED), ["n=3"]);
}

#[test]
fn axes_that_are_drawn_together_keep_their_places() {
    let public = vec![axis("m", &[1]), axis("k", &[2]), axis("n", &[3])];
    let problem = problem(public, Vec::new(), &[("m", 10, 10), ("n", 30, 30)], 1);
    assert_eq!(cases_of(&problem, SEED), ["m=10,k=2,n=30"]);
}

#[test]
fn draws_combine_with_listed_values() {
    let public = vec![axis("m", &[1]), axis("n", &[2])];
    let problem = problem(public, vec![axis("m", &[4, 5])], &[("n", 100, 1 << 40)], 3);
    let cases = cases_of(&problem, SEED);
    let (fours, fives) = cases.split_at(3);
    assert!(fours.iter().all(|case| case.starts_with("m=4,n=")), "{cases:?}");
    let other: Vec<String> = fours.iter().map(|case| case.replace("m=4", "m=5")).collect();
    assert_eq!(fives, other);
}

// A change of this list changes what every published seed means.
#[test]
fn the_values_of_a_seed_are_always_the_same() {
    let problem = problem(vec![axis("n", &[1])], Vec::new(), &[("n", 1, 99_999)], 4);
    insta::assert_snapshot!(cases_of(&problem, SEED).join(" "), @"n=44044 n=34964 n=73350 n=7434");
}

#[test]
fn problems_and_axes_have_values_of_their_own() {
    let first = problem(vec![axis("n", &[1])], Vec::new(), &[("n", 1, 1 << 40)], 4);
    let mut second = first.clone();
    second.outline.path = "sums::col_sums".to_owned();
    assert_ne!(cases_of(&first, SEED), cases_of(&second, SEED));
    let twins = problem(
        vec![axis("m", &[1]), axis("n", &[1])],
        Vec::new(),
        &[("m", 1, 1 << 40), ("n", 1, 1 << 40)],
        1,
    );
    let cases = hidden_cases(&twins, DeviceKind::Cpu, &SEED).expect("cases");
    assert_ne!(cases[0][0].1, cases[0][1].1);
}

#[test]
fn a_range_with_too_few_values_gives_each_of_them_once() {
    let problem = problem(vec![axis("n", &[2])], Vec::new(), &[("n", 1, 4)], 9);
    let mut cases = cases_of(&problem, SEED);
    cases.sort();
    assert_eq!(cases, ["n=1", "n=3", "n=4"]);
}

#[test]
fn the_whole_range_of_integers_can_be_drawn_from() {
    let problem = problem(vec![axis("n", &[0])], Vec::new(), &[("n", i64::MIN, i64::MAX)], 50);
    let cases = hidden_cases(&problem, DeviceKind::Cpu, &SEED).expect("cases");
    let negative = cases.iter().filter(|case| matches!(case[0].1, AxisValue::Int(..0)));
    assert!((10..40).contains(&negative.count()), "{cases:?}");
}

#[test]
fn absurd_numbers_of_cases_are_refused() {
    for count in [MOST_CASES as u32 + 1, u32::MAX] {
        let problem = problem(vec![axis("n", &[0])], Vec::new(), &[("n", 0, i64::MAX)], count);
        let error = hidden_cases(&problem, DeviceKind::Cpu, &SEED).expect_err("too many");
        assert!(matches!(error, CaseError::TooMany { .. }), "{error:?}");
    }
}

#[test]
fn a_part_of_a_group_is_refused() {
    let group = Axis {
        names: ["m", "n"].map(str::to_owned).to_vec(),
        values: vec![[1, 2].map(AxisValue::Int).to_vec()],
    };
    let problem = problem(vec![group], Vec::new(), &[("n", 1, 9)], 1);
    let error = hidden_cases(&problem, DeviceKind::Cpu, &SEED).expect_err("a part");
    assert!(matches!(error, CaseError::PartOfGroup { .. }), "{error:?}");
}

proptest! {
    #[test]
    fn drawn_cases_follow_from_the_seed_and_are_different_and_within_their_ranges(
        seed: [u8; 32],
        least in -1000_i64..1000,
        width in 0_i64..5000,
        count in 1_u32..60,
        wide: u32,
    ) {
        let ranges = [("m", least, least + width), ("n", 1, 1 + i64::from(wide))];
        let problem = problem(vec![axis("m", &[0]), axis("n", &[1])], Vec::new(), &ranges, count);
        let cases = cases_of(&problem, seed);
        prop_assert_eq!(&cases, &cases_of(&problem, seed));
        let different: HashSet<&String> = cases.iter().collect();
        prop_assert_eq!(different.len(), cases.len());
        let is_public = i128::from(least <= 0 && least + width >= 0);
        let all = i128::from(width + 1) * (i128::from(wide) + 1) - is_public;
        prop_assert_eq!(cases.len() as i128, all.min(i128::from(count)));
        for case in hidden_cases(&problem, DeviceKind::Cpu, &seed).expect("cases") {
            for ((_, value), (_, least, most)) in case.iter().zip(ranges) {
                prop_assert!(matches!(value, AxisValue::Int(value) if (least..=most).contains(value)));
            }
        }
    }

    #[test]
    fn another_seed_draws_other_cases(one: [u8; 32], other: [u8; 32]) {
        prop_assume!(one != other);
        let problem = problem(vec![axis("n", &[1])], Vec::new(), &[("n", 1, i64::MAX)], 3);
        prop_assert_ne!(cases_of(&problem, one), cases_of(&problem, other));
    }

    #[test]
    fn every_value_of_a_short_range_is_drawn_by_some_seed(value in 1_i64..=5) {
        let problem = problem(vec![axis("n", &[0])], Vec::new(), &[("n", 1, 5)], 1);
        let is_drawn = |byte: u8| cases_of(&problem, [byte; 32]) == [format!("n={value}")];
        prop_assert!((0..=255).any(is_drawn));
    }
}
