//! The outcome of a case from its record.

use gpubench_contract::{BenchmarkComplete, Check, ElementValue, NotFinite, RealValue};

use crate::outcome::{Errors, Outcome};
use crate::trace::Environment;

impl Outcome {
    /// Returns what a record says about its case. The time of the reference is unknown: the caller
    /// may set it.
    pub fn of_record(record: &BenchmarkComplete, environment: Environment, timestamp: String) -> Outcome {
        let time_ns = record.stats.as_ref().filter(|_| record.metric.is_time());
        Outcome {
            verdict: record.verdict,
            cause: record.cause,
            grade: record.grade,
            bound_ns: record
                .conservation
                .as_ref()
                .and_then(|conservation| conservation.bound_ns),
            message: record.message.clone(),
            errors: Errors::of_checks(&record.checks),
            latency_ms: time_ns.map(|stats| stats.value / 1e6),
            reference_latency_ms: None,
            environment,
            timestamp,
        }
    }
}

impl Errors {
    /// Returns the largest errors of all outputs. They are NaN or infinite if a wrong element that
    /// a check shows is. `None` if nothing was compared, or if a check has no errors.
    pub fn of_checks(checks: &[Check]) -> Option<Errors> {
        let mut errors = Errors::default();
        if checks.is_empty() {
            return None;
        }
        for check in checks {
            errors.absolute = errors.absolute.max(check.max_abs_error?);
            errors.relative = errors.relative.max(check.max_rel_error?);
        }
        let wrong = checks
            .iter()
            .flat_map(|check| check.first_wrong.iter().chain(&check.wrong));
        let kinds: Vec<NotFinite> = wrong.flat_map(|element| not_finite(&element.got)).collect();
        let figure = match kinds.contains(&NotFinite::Nan) {
            true => f64::NAN,
            false if kinds.is_empty() => return Some(errors),
            false => f64::INFINITY,
        };
        Some(Errors {
            absolute: figure,
            relative: figure,
        })
    }
}

/// Returns what is not finite in the value of an element.
fn not_finite(value: &ElementValue) -> Vec<NotFinite> {
    let of_part = |part: &RealValue| match part {
        RealValue::Finite(_) => None,
        RealValue::NotFinite(kind) => Some(*kind),
    };
    match value {
        ElementValue::Unsigned(_) | ElementValue::Signed(_) | ElementValue::Float(_) => Vec::new(),
        ElementValue::NotFinite(kind) => vec![*kind],
        ElementValue::Complex(parts) => parts.iter().filter_map(of_part).collect(),
    }
}

#[cfg(test)]
mod tests {
    use gpubench_contract::{Metric, Record, Verdict, WrongElement};
    use gpubench_testing::{every_verdict, on_gpu};

    use super::*;
    use crate::Dialect;

    fn results(run: &gpubench_testing::SampleRun) -> Vec<BenchmarkComplete> {
        let results = run.records().into_iter().filter_map(|record| match record {
            Record::BenchmarkComplete(result) => Some(*result),
            _ => None,
        });
        results.collect()
    }

    fn outcome(record: &BenchmarkComplete) -> Outcome {
        let environment = Environment {
            hardware: record.device.name.clone(),
            libs: crate::Named::default(),
        };
        Outcome::of_record(record, environment, "2026-01-01T00:00:00Z".to_owned())
    }

    #[test]
    fn records_of_every_verdict_are_evaluations_or_say_nothing() {
        let mut statuses = Vec::new();
        for record in results(&every_verdict()).iter().chain(&results(&on_gpu())) {
            let outcome = outcome(record);
            if !record.metric.is_time() {
                assert_eq!(outcome.latency_ms, None);
                continue;
            }
            let status = outcome
                .evaluation(Dialect::SolExecBench)
                .map(|evaluation| evaluation.status.word());
            statuses.push(format!("{} {}", record.verdict, status.unwrap_or("none")));
        }
        statuses.sort();
        statuses.dedup();
        insta::assert_snapshot!(statuses.join("\n"));
    }

    #[test]
    fn figures_of_a_record_are_those_of_its_outcome() {
        let records = results(&on_gpu());
        let record = records
            .iter()
            .find(|record| record.conservation.is_some() && record.stats.is_some());
        let record = record.expect("a record of a GPU");
        let found = outcome(record);
        let stats = record.stats.as_ref().expect("statistics");
        assert_eq!(found.latency_ms, Some(stats.value / 1_000_000.0));
        let counted = BenchmarkComplete {
            metric: Metric::instructions(),
            ..record.clone()
        };
        assert_eq!(outcome(&counted).latency_ms, None, "a count is no time");
        assert_eq!(
            (found.verdict, found.cause, found.grade),
            (record.verdict, record.cause, record.grade)
        );
        let bound = record
            .conservation
            .as_ref()
            .and_then(|conservation| conservation.bound_ns);
        assert!(bound.is_some() && found.bound_ns == bound, "{found:?}");
    }

    #[test]
    fn errors_are_the_largest_of_all_outputs() {
        let record = results(&every_verdict());
        let record = record
            .iter()
            .find(|record| record.verdict == Verdict::Pass && !record.checks.is_empty());
        let [check, ..] = &record.expect("a record with checks").checks[..] else {
            panic!("it has one")
        };
        let with = |absolute, relative, got: Option<ElementValue>| Check {
            max_abs_error: absolute,
            max_rel_error: relative,
            first_wrong: got.map(|got| WrongElement {
                index: 0,
                expected: ElementValue::Float(1.0),
                got,
            }),
            ..check.clone()
        };
        let found = |checks: &[Check]| Errors::of_checks(checks).map(|errors| (errors.absolute, errors.relative));
        let both = [with(Some(1.0), Some(0.5), None), with(Some(0.25), Some(2.0), None)];
        assert_eq!(found(&both), Some((1.0, 2.0)));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[with(Some(1.0), None, None)]), None);
        let infinite = ElementValue::NotFinite(NotFinite::NegativeInfinity);
        let infinite = with(Some(1.0), Some(1.0), Some(infinite));
        assert_eq!(
            found(&[both[0].clone(), infinite.clone()]),
            Some((f64::INFINITY, f64::INFINITY))
        );
        let nan = ElementValue::Complex([RealValue::Finite(0.0), RealValue::NotFinite(NotFinite::Nan)]);
        let (absolute, relative) = found(&[infinite, with(Some(1.0), Some(1.0), Some(nan))]).expect("errors");
        assert!(absolute.is_nan() && relative.is_nan());
    }
}
