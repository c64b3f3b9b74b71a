//! Selection of stored results by the same filters as cases.

use gpubench::catalog::AxisValue;

use crate::broker::cases::{Case, Disposition, NameFilter, Naming};
use crate::config::{Metrics, Modes};
use gpubench_contract::{BenchmarkComplete, ParamValue};

/// Returns the stored results whose names are selected.
pub(crate) fn chosen(results: Vec<BenchmarkComplete>, names: &NameFilter, naming: Naming) -> Vec<BenchmarkComplete> {
    let cases: Vec<Case> = results.iter().map(case_of).collect();
    let chosen = names.choose(&cases.iter().collect::<Vec<_>>(), naming);
    let results = results.into_iter().zip(chosen);
    results
        .filter_map(|(result, is_chosen)| is_chosen.then_some(result))
        .collect()
}

/// Returns the case of a result.
pub(crate) fn case_of(result: &BenchmarkComplete) -> Case {
    let value = |value: &ParamValue| match value {
        ParamValue::Bool(value) => AxisValue::Bool(*value),
        ParamValue::Int(value) => AxisValue::Int(*value),
        ParamValue::Float(value) => AxisValue::Float(*value),
        ParamValue::Text(value) => AxisValue::Text(value.clone()),
    };
    let params = result.params.0.iter();
    Case {
        package: result.package.clone(),
        library: 0,
        benchmark: 0,
        path: result.benchmark.clone(),
        params: params.map(|(name, param)| (name.clone(), value(param))).collect(),
        modes: Modes::only(result.mode),
        metrics: Metrics::from_metric(&result.metric),
        counters: result.throughput.counter_names(),
        disposition: Disposition::Run,
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::broker::cases::NamePattern;
    use gpubench_testing::on_gpu;

    fn names(filter: &NameFilter, naming: Naming) -> Vec<String> {
        let results = chosen(on_gpu().results, filter, naming);
        results.into_iter().map(|result| result.case).collect()
    }

    #[test]
    fn filters_select_stored_results_like_cases() {
        let search = |text| NamePattern::Search(Regex::new(text).unwrap());
        let filter = NameFilter {
            filters: vec![search("suite::axpy"), search("n=4096$")],
            skip: vec![search("n=1024|cublas")],
            ..NameFilter::default()
        };
        let expected = [
            "axpy::add_one::n=2097152",
            "axpy::add_one::n=67108864",
            "gemm::hand_made::n=4096",
        ];
        assert_eq!(names(&filter, Naming::WithinPackage), expected);
        assert_eq!(
            names(&NameFilter::default(), Naming::WithinPackage).len(),
            on_gpu().results.len()
        );
    }

    #[test]
    fn exact_names_match_either_form() {
        for name in ["gemm::cublas::n=4096", "suite::gemm::cublas::n=4096"] {
            let filter = NameFilter {
                filters: vec![NamePattern::Exact(name.to_owned())],
                ..NameFilter::default()
            };
            assert_eq!(names(&filter, Naming::WithinPackage), ["gemm::cublas::n=4096"]);
        }
    }
}
