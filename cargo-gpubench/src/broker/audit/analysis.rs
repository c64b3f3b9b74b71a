//! The record of an audit, from events and the spans of calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::SeenEvents;
use gpubench_contract::units::{counted, size};
use gpubench_contract::{AuditedKernel, CallAudit};
use gpubench_device::harness::kernel_names;
use gpubench_measure::verdict::WindowSpan;
use gpubench_observe::ledger::demangled;
use gpubench_observe::{Event, EventKind, Execution, FunctionHandle, MemoryHandle, StreamHandle};

/// A kernel whose name the driver did not tell.
const UNNAMED: &str = "(unnamed)";

/// What happened in one call.
#[derive(Debug, Default)]
struct Call {
    totals: CallAudit,
    streams: BTreeSet<StreamHandle>,
    /// Launches by mangled name.
    kernels: BTreeMap<Arc<str>, u64>,
}

/// Returns what calls ask of the driver, as means. `None` without spans, or without any event of
/// their processes: the probes then saw nothing.
pub(crate) fn call_audit(seen: &SeenEvents, spans: &[WindowSpan]) -> Option<CallAudit> {
    let calls = calls(&seen.events, spans)?;
    let number = calls.len() as f64;
    let mean = |of: fn(&Call) -> f64| calls.iter().map(of).sum::<f64>() / number;
    let mut kernels: BTreeMap<String, u64> = BTreeMap::new();
    for (name, launches) in calls.iter().flat_map(|call| &call.kernels) {
        *kernels.entry(demangled(name)).or_default() += launches;
    }
    let mut kernels: Vec<AuditedKernel> = kernels
        .into_iter()
        .map(|(name, launches)| AuditedKernel {
            name,
            launches: launches as f64 / number,
        })
        .collect();
    kernels.sort_by(|one, other| other.launches.total_cmp(&one.launches));
    Some(CallAudit {
        calls: calls.len() as u64,
        launches: mean(|call| call.totals.launches),
        graph_launches: mean(|call| call.totals.graph_launches),
        streams: mean(|call| call.streams.len() as f64),
        copies: mean(|call| call.totals.copies),
        copied_bytes: mean(|call| call.totals.copied_bytes),
        fills: mean(|call| call.totals.fills),
        allocations: mean(|call| call.totals.allocations),
        frees: mean(|call| call.totals.frees),
        bytes_left: mean(|call| call.totals.bytes_left),
        modules_loaded: mean(|call| call.totals.modules_loaded),
        failed_calls: mean(|call| call.totals.failed_calls),
        kernels,
        lost_events: seen.lost,
    })
}

/// Returns a kernel that a call launched although its plan, whose kernels are `planned`, does not
/// launch it so often. Kernels without a name are not judged.
pub(crate) fn unplanned(seen: &SeenEvents, spans: &[WindowSpan], planned: &[&str]) -> Option<String> {
    let calls = calls(&seen.events, spans)?;
    let of_plan = |name: &str| planned.iter().filter(|planned| **planned == name).count() as u64;
    let launches = calls.iter().flat_map(|call| &call.kernels);
    let mut unplanned = launches.filter(|(name, launches)| ***name != *UNNAMED && **launches > of_plan(name));
    unplanned.next().map(|(name, _)| demangled(name))
}

/// Returns what a user should know of an audit.
pub(crate) fn findings(audit: &CallAudit) -> Vec<String> {
    let mut findings = Vec::new();
    let in_all = |of_call: f64, what: &str| counted((of_call * audit.calls as f64).round() as u64, what);
    let calls = counted(audit.calls, "audited call");
    if audit.bytes_left >= 1.0 {
        findings.push(format!(
            "each call leaves {} allocated: {} and {} in {calls} (hint: free what a call allocates, or allocate it once in the set-up)",
            size(audit.bytes_left as u64),
            in_all(audit.allocations, "allocation"),
            in_all(audit.frees, "free"),
        ));
    }
    if audit.failed_calls > 0.0 {
        let failures = in_all(audit.failed_calls, "call of the CUDA driver");
        findings.push(format!("{failures} failed in {calls}"));
    }
    if audit.lost_events > 0 {
        let events = counted(audit.lost_events, "event");
        findings.push(format!("the audit lost {events}, so its numbers may be too low"));
    }
    findings
}

/// Returns what happened in the span of each call. `None` if nothing of its processes was seen.
fn calls(events: &[Event], spans: &[WindowSpan]) -> Option<Vec<Call>> {
    let own: BTreeSet<&str> = kernel_names().collect();
    let processes: BTreeSet<u32> = spans.iter().map(|span| span.process).collect();
    let mut calls: Vec<Call> = spans.iter().map(|_| Call::default()).collect();
    let mut names: HashMap<FunctionHandle, Arc<str>> = HashMap::new();
    let mut sizes: HashMap<MemoryHandle, u64> = HashMap::new();
    let mut is_seen = false;
    let names_of_all = events.iter().filter(|event| processes.contains(&event.process.pid));
    // Names may come after launches.
    for event in names_of_all {
        is_seen |= !matches!(event.kind, EventKind::Started(_) | EventKind::Exited { .. });
        match &event.kind {
            EventKind::Name { function, name, .. } => {
                names.insert(*function, Arc::clone(name));
            }
            EventKind::Alias { function, of } => {
                if let Some(name) = names.get(of).cloned() {
                    names.insert(*function, name);
                }
            }
            _ => {}
        }
    }
    for event in events.iter().filter(|event| processes.contains(&event.process.pid)) {
        let is_within = |span: &WindowSpan| {
            span.process == event.process.pid && (span.began_ns..=span.ended_ns).contains(&event.at.0)
        };
        let size = match &event.kind {
            EventKind::Allocate(allocation) => {
                sizes.insert(allocation.handle(), allocation.bytes);
                0
            }
            EventKind::Free(handle) => sizes.remove(handle).unwrap_or(0),
            _ => 0,
        };
        if let Some(position) = spans.iter().position(is_within) {
            calls[position].add(&event.kind, size, &names, &own);
        }
    }
    (is_seen && !calls.is_empty()).then_some(calls)
}

impl Call {
    /// Adds an event. `freed` is the size of the memory that it frees.
    fn add(&mut self, kind: &EventKind, freed: u64, names: &HashMap<FunctionHandle, Arc<str>>, own: &BTreeSet<&str>) {
        match kind {
            EventKind::Launch(launch) if launch.execution == Execution::Runs => {
                let name = names.get(&launch.function).cloned().unwrap_or_else(|| UNNAMED.into());
                if own.contains(&*name) {
                    return;
                }
                self.totals.launches += 1.0;
                self.streams.insert(launch.stream);
                *self.kernels.entry(name).or_default() += 1;
            }
            EventKind::GraphLaunch { stream, .. } => {
                self.totals.graph_launches += 1.0;
                self.streams.insert(*stream);
            }
            EventKind::Copy(copy) if copy.execution == Execution::Runs => {
                self.totals.copies += 1.0;
                self.totals.copied_bytes += copy.bytes as f64;
                self.streams.insert(copy.stream);
            }
            EventKind::Set(set) if set.execution == Execution::Runs => {
                self.totals.fills += 1.0;
                self.streams.insert(set.stream);
            }
            EventKind::Allocate(allocation) => {
                self.totals.allocations += 1.0;
                self.totals.bytes_left += allocation.bytes as f64;
            }
            EventKind::Free(handle) if handle.value != 0 => {
                self.totals.frees += 1.0;
                self.totals.bytes_left -= freed as f64;
            }
            EventKind::ModuleLoad { .. } => self.totals.modules_loaded += 1.0,
            EventKind::Failed { .. } => self.totals.failed_calls += 1.0,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
