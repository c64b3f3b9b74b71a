//! Whether the calls of a case can be repeated on the same tensors.

use gpubench::catalog::Recording;
use gpubench_contract::Method;
use gpubench_measure::measurement::changed_input;

/// Returns why a method cannot measure a recorded case, if it cannot.
pub fn unusable(method: Method, recording: &Recording) -> Option<String> {
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
