//! Whether a mode can measure a case.

use gpubench::DeviceKind;
use gpubench::catalog::{Execution, Recording};
use gpubench_contract::{Launching, Mode};
use gpubench_device::Facts;

use super::calls_per_sample::too_large_for_hot_calls;

/// Returns why a mode cannot measure a recorded case, if it cannot.
pub fn unusable(mode: Mode, recording: &Recording, facts: &Facts) -> Option<String> {
    not_queued(mode, recording.execution)
        .or_else(|| not_captured(mode, recording.execution, facts.device.kind))
        .or_else(|| too_large_for_hot_calls(mode, recording, facts))
}

/// Calls that are timed from outside are made one by one.
fn not_queued(mode: Mode, execution: Execution) -> Option<String> {
    let why = match (execution, mode.launching()) {
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

/// Host code does its work on the CPU device itself.
fn not_captured(mode: Mode, execution: Execution, device: DeviceKind) -> Option<String> {
    let is_captured = (mode.launching(), device) == (Launching::InGraph, DeviceKind::Cpu);
    (is_captured && execution != Execution::Sealed).then(|| {
        "the CPU device cannot capture host code in a graph (hint: measure it with `--mode cold` or `--mode hot`)"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_code_is_in_a_graph_on_a_gpu_only() {
        for mode in Mode::ALL {
            let is_graph = matches!(mode, Mode::Graph | Mode::HotGraph);
            let refused = |execution, device| not_captured(*mode, execution, device).is_some();
            assert_eq!(refused(Execution::Hosted, DeviceKind::Cpu), is_graph, "{mode}");
            assert!(!refused(Execution::Hosted, DeviceKind::Cuda) && !refused(Execution::Sealed, DeviceKind::Cpu));
        }
    }

    #[test]
    fn a_call_that_may_wait_for_the_device_is_measured_alone() {
        for mode in Mode::ALL {
            let refused = not_queued(*mode, Execution::HostedSync);
            let is_alone = matches!(mode, Mode::Cold | Mode::Warm);
            assert_eq!(refused.is_none(), is_alone, "{mode}");
            assert!(refused.is_none_or(|reason| reason.contains("`hosted(sync)`") && reason.contains("(hint: ")));
            assert_eq!(not_queued(*mode, Execution::Hosted), None, "{mode}");
        }
    }
}
