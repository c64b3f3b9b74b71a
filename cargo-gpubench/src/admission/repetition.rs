//! Whether a method can measure a case.

use gpubench::catalog::{Execution, Recording};
use gpubench_contract::Method;
use gpubench_measure::measurement::changed_input;

/// Returns why a method cannot measure a recorded case, if it cannot.
pub fn unusable(method: Method, recording: &Recording) -> Option<String> {
    unrepeatable(method, recording).or_else(|| not_queued(method, recording.execution))
}

/// Calls that are timed from outside are made one by one.
fn not_queued(method: Method, execution: Execution) -> Option<String> {
    let why = match (execution, method) {
        (Execution::Sealed | Execution::Hosted, _) | (_, Method::Cold | Method::Warm) => return None,
        (Execution::HostedSync, Method::Graph) => "a call that may wait for the device cannot be captured in a graph",
        (Execution::HostedSync, Method::Hot) => {
            "a call that may wait for the device cannot be queued back to back with others"
        }
    };
    Some(format!(
        "{why}: the benchmark is `hosted(sync)` (hint: measure it with `--mode cold` or `--mode warm`)"
    ))
}

fn unrepeatable(method: Method, recording: &Recording) -> Option<String> {
    let tensor = changed_input(recording).filter(|_| method == Method::Hot)?;
    Some(format!(
        "hot calls are repeated on the same tensors, but each call changes its input `{}` (hint: measure it with `--mode cold` or `--mode graph`)",
        tensor.name
    ))
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Fill, Reference, Role, Tensor, Tolerance, Work};
    use gpubench::plan::Plan;

    use super::*;

    #[test]
    fn a_call_that_may_wait_for_the_device_is_measured_alone() {
        for method in Method::ALL {
            let refused = not_queued(*method, Execution::HostedSync);
            let is_alone = matches!(method, Method::Cold | Method::Warm);
            assert_eq!(refused.is_none(), is_alone, "{method}");
            assert!(refused.is_none_or(|reason| reason.contains("`hosted(sync)`") && reason.contains("(hint: ")));
            assert_eq!(not_queued(*method, Execution::Hosted), None, "{method}");
        }
    }

    #[test]
    fn a_call_that_changes_its_inputs_is_not_repeated() {
        let of_role = |role| Recording {
            tensors: vec![Tensor {
                name: "sums".to_owned(),
                dtype: DType::F32,
                shape: vec![4],
                role,
                fill: Fill::Bits,
                tolerance: Tolerance::Exact,
            }],
            work: Work::default(),
            plan: Plan::default(),
            reference: Reference::Author,
            execution: Default::default(),
        };
        for method in Method::ALL {
            let is_refused = unusable(*method, &of_role(Role::InOut)).is_some_and(|reason| reason.contains("`sums`"));
            assert_eq!(is_refused, *method == Method::Hot, "{method}");
        }
        assert_eq!(unusable(Method::Hot, &of_role(Role::Output)), None);
    }
}
