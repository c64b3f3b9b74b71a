//! Whether a method can measure a case.

use gpubench::catalog::{Execution, Recording};
use gpubench_contract::{Launching, Method};
use gpubench_device::Facts;

use super::calls_per_sample::too_large_for_hot_calls;

/// Returns why a method cannot measure a recorded case, if it cannot.
pub fn unusable(method: Method, recording: &Recording, facts: &Facts) -> Option<String> {
    not_queued(method, recording.execution).or_else(|| too_large_for_hot_calls(method, recording, facts))
}

/// Calls that are timed from outside are made one by one.
fn not_queued(method: Method, execution: Execution) -> Option<String> {
    let why = match (execution, method.launching()) {
        (Execution::Sealed | Execution::Hosted, _) | (_, Launching::Alone) => return None,
        (Execution::HostedSync, Launching::InGraph) => {
            "a call that may wait for the device cannot be captured in a graph"
        }
        (Execution::HostedSync, Launching::BackToBack) => {
            "a call that may wait for the device cannot be queued back to back with others"
        }
    };
    Some(format!(
        "{why}: the benchmark is `hosted(sync)` (hint: measure it with `--mode cold` or `--mode warm`)"
    ))
}

#[cfg(test)]
mod tests {
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
}
