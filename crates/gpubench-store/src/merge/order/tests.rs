//! Tests of the order of the results of several parts.

use super::*;
use gpubench_contract::Params;
use gpubench_testing::on_gpu;
use proptest::prelude::*;

fn result(benchmark: &str, params: &[(&str, ParamValue)]) -> BenchmarkComplete {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    BenchmarkComplete {
        benchmark: benchmark.to_owned(),
        params: Params(params.collect()),
        ..on_gpu().results.remove(0)
    }
}

/// Returns the cases of a run: one benchmark without axes, and one with types and sizes in an order
/// of their own.
fn cases(types: &[&str], sizes: &[i64]) -> Vec<BenchmarkComplete> {
    let mut cases = vec![result("a::plain", &[])];
    for of_type in types {
        let of = |size: &i64| {
            let params = [
                ("T", ParamValue::Text((*of_type).to_owned())),
                ("n", ParamValue::Int(*size)),
            ];
            result("sum", &params)
        };
        cases.extend(sizes.iter().map(of));
    }
    cases
}

fn names(results: &[BenchmarkComplete]) -> Vec<String> {
    results.iter().map(BenchmarkComplete::full_name).collect()
}

/// Deals cases to parts, and returns them in the order of one run.
fn dealt(cases: &[BenchmarkComplete], part_of: impl Fn(usize) -> usize) -> Vec<String> {
    let mut parts: BTreeMap<usize, Sequence> = BTreeMap::new();
    for (position, case) in cases.iter().enumerate() {
        let part = parts.entry(part_of(position)).or_default();
        part.packages = vec!["suite".to_owned()];
        part.results.push(case.clone());
    }
    names(&in_order(parts.into_values().collect()).results)
}

#[test]
fn alternating_parts_are_in_the_order_of_the_run() {
    for sizes in [[2, 10, 100, 1000], [1000, 100, 10, 2]] {
        let cases = cases(&["f32", "F16", "f64"], &sizes);
        for parts in 1..4 {
            assert_eq!(
                dealt(&cases, |position| position % parts),
                names(&cases),
                "{parts} parts"
            );
        }
    }
}

#[test]
fn packages_are_in_the_order_of_the_parts_that_know_it() {
    let part = |packages: &[&str]| Sequence {
        packages: packages.iter().map(|package| (*package).to_owned()).collect(),
        results: Vec::new(),
    };
    let parts = vec![part(&["d", "b"]), part(&["c"]), part(&["b", "e"])];
    assert_eq!(in_order(parts).packages, ["c", "d", "b", "e"]);
}

#[test]
fn axes_that_are_listed_together_do_not_hang_and_keep_the_order_of_each_part() {
    let of = |(m, n)| result("matmul", &[("m", ParamValue::Int(m)), ("n", ParamValue::Int(n))]);
    let cases = [(1, 2), (2, 1), (1, 3), (2, 4), (1, 1)].map(of);
    let merged = dealt(&cases, |position| position % 2);
    assert_eq!(merged.len(), cases.len());
    for part in 0..2 {
        let own: Vec<String> = names(&cases).into_iter().skip(part).step_by(2).collect();
        let kept: Vec<String> = merged.iter().filter(|name| own.contains(name)).cloned().collect();
        assert_eq!(kept, own);
    }
}

proptest! {
    #[test]
    fn growing_sizes_are_in_the_order_of_the_run_in_any_parts(parts in prop::collection::vec(0..3_usize, 13)) {
        let cases = cases(&["F16", "f32", "f64"], &[2, 10, 100, 1000]);
        prop_assert_eq!(dealt(&cases, |position| parts[position]), names(&cases));
    }
}
