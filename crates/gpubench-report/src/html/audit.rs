//! What a call asks of the CUDA driver.

use super::facts::Facts;
use super::markup::{Element, Markup};
use super::names::name;
use crate::wording::{mean, mean_of};
use gpubench_contract::units::size;
use gpubench_contract::{BenchmarkComplete, CallAudit};

/// Returns the facts of an audit, without what is zero. `None` if the calls were not audited.
pub(super) fn facts(result: &BenchmarkComplete) -> Option<Element> {
    let audit = result.audit.as_ref()?;
    let copies = (audit.copies > 0.0).then(|| format!("{}, {}", mean(audit.copies), bytes(audit.copied_bytes)));
    let facts = Facts::default()
        .and_known("Launches", some(audit.launches))
        .and_known("Graph launches", some(audit.graph_launches))
        .and_known("Copies", copies)
        .and_known("Memsets", some(audit.memsets))
        .and_known("Allocations", some(audit.allocations))
        .and_known("Frees", some(audit.frees))
        .and_known(
            "Left allocated",
            (audit.unfreed_bytes > 0.0).then(|| bytes(audit.unfreed_bytes)),
        )
        .and_known("Modules loaded", some(audit.modules_loaded))
        .and_known("Failed calls", some(audit.failed_calls))
        .and_known("Streams", some(audit.streams))
        .and_known("Submissions to the GPU", audit.submissions.map(mean))
        .and_known("Audited calls", Some(audit.calls))
        .and_known("Lost events", (audit.lost_events > 0).then_some(audit.lost_events));
    let facts = kernels(audit)
        .into_iter()
        .fold(facts, |facts, kernel| facts.and("Kernel", kernel));
    let system_calls = audit.system_calls.iter().flatten();
    let system_calls = system_calls
        .map(|call| mean_of(call.calls, &call.name))
        .collect::<Vec<_>>();
    facts
        .and_known(
            "System calls",
            (!system_calls.is_empty()).then(|| system_calls.join(", ")),
        )
        .list()
}

fn kernels(audit: &CallAudit) -> Vec<Markup> {
    let launches = |launches: f64| super::markup::text(format!(" × {}", mean(launches)));
    let kernels = audit.kernels.iter();
    kernels
        .map(|kernel| Markup::from(name(&kernel.name)).then(launches(kernel.launches)))
        .collect()
}

fn some(number: f64) -> Option<String> {
    (number > 0.0).then(|| mean(number))
}

fn bytes(bytes: f64) -> String {
    size(bytes as u64).to_string()
}
