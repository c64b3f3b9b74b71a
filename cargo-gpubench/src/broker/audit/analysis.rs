//! The record of an audit, and what a user should know of it.

use std::collections::BTreeMap;

use super::SeenCalls;
use super::calls::{Call, calls};
use gpubench_contract::units::{counted, size};
use gpubench_contract::{AuditedKernel, AuditedSystemCall, CallAudit};
use gpubench_measure::verdict::WindowSpan;

/// A kernel whose name the driver did not tell.
const UNNAMED: &str = "(unnamed)";

/// Longest kernel name that probes read whole, in bytes.
const LONGEST_NAME: usize = 4095;

/// Fewest submissions of a call, without an explanation, that are a finding. The driver may add one
/// to a few of the calls.
const UNEXPLAINED: f64 = 0.5;

/// The audited calls of a case.
#[derive(Debug)]
pub(super) struct AuditedCalls {
    calls: Vec<Call>,
    submissions: Option<Submissions>,
    lost_events: u64,
}

/// The submissions of a call to the GPU, as means.
#[derive(Clone, Copy, Debug)]
struct Submissions {
    counted: f64,
    /// What the call's calls of the driver explain at most.
    explained: f64,
}

impl AuditedCalls {
    /// Returns the calls in these spans, or `None` if nothing of their processes was seen.
    pub(super) fn from_calls(seen: &SeenCalls, spans: &[WindowSpan]) -> Option<AuditedCalls> {
        Some(AuditedCalls {
            calls: calls(seen, spans)?,
            submissions: None,
            lost_events: seen.lost,
        })
    }

    /// Adds how often a call submits work to the GPU, as its doorbell counts. `empty` has what the
    /// tool does in a window without a call.
    pub(super) fn add_submissions(&mut self, counted: f64, empty: Option<&AuditedCalls>) {
        let of_tool = empty.map_or(0.0, |empty| empty.mean(|call| call.explained as f64));
        let explained = self.mean(|call| (call.explained + call.launches()) as f64) - of_tool;
        self.submissions = Some(Submissions { counted, explained });
    }

    /// Returns how many launches of kernels and of graphs all calls made.
    pub(super) fn launches(&self) -> u64 {
        let of_call = |call: &Call| call.launches() + call.totals.graph_launches as u64;
        self.calls.iter().map(of_call).sum()
    }

    /// Returns what calls ask of the driver, as means.
    pub(super) fn audit(&self) -> CallAudit {
        let mut kernels: BTreeMap<String, u64> = BTreeMap::new();
        for (kernel, launches) in self.calls.iter().flat_map(|call| &call.kernels) {
            let name = kernel
                .as_ref()
                .map_or_else(|| UNNAMED.to_owned(), |kernel| kernel.name.clone());
            *kernels.entry(name).or_default() += launches;
        }
        let kernels = self.most_frequent(kernels, |name, launches| AuditedKernel { name, launches });
        CallAudit {
            calls: self.calls.len() as u64,
            launches: self.mean(|call| call.launches() as f64),
            graph_launches: self.mean(|call| call.totals.graph_launches),
            streams: self.mean(|call| call.streams.len() as f64),
            copies: self.mean(|call| call.totals.copies),
            copied_bytes: self.mean(|call| call.totals.copied_bytes),
            memsets: self.mean(|call| call.totals.memsets),
            allocations: self.mean(|call| call.totals.allocations),
            frees: self.mean(|call| call.totals.frees),
            unfreed_bytes: self.mean(|call| call.totals.unfreed_bytes),
            modules_loaded: self.mean(|call| call.totals.modules_loaded),
            failed_calls: self.mean(|call| call.totals.failed_calls),
            submissions: self.submissions.map(|submissions| submissions.counted),
            kernels,
            system_calls: self.system_calls(),
            lost_events: self.lost_events,
        }
    }

    /// Returns a kernel that a call launched although its plan, whose kernels have the symbols
    /// `planned`, does not launch it so often. Kernels without a whole name are not judged.
    pub(super) fn unplanned(&self, planned: &[String]) -> Option<String> {
        let of_plan = |name: &str| planned.iter().filter(|planned| *planned == name).count() as u64;
        let launches = self.calls.iter().flat_map(|call| &call.kernels);
        let mut unplanned = launches.filter_map(|(kernel, launches)| {
            let kernel = kernel.as_ref().filter(|kernel| kernel.symbol.len() < LONGEST_NAME)?;
            (*launches > of_plan(&kernel.symbol)).then(|| kernel.name.clone())
        });
        unplanned.next()
    }

    /// Returns what a user should know of the calls.
    pub(super) fn findings(&self) -> Vec<String> {
        let audit = self.audit();
        let in_all = |of_call: f64, what: &str| counted((of_call * audit.calls as f64).round() as u64, what);
        let calls = counted(audit.calls, "audited call");
        let mut findings = Vec::new();
        if audit.launches + audit.graph_launches + audit.copies + audit.memsets == 0.0 {
            findings.push(format!(
                "no launch, copy or fill was seen in {calls}, although their outputs are right (hint: the work may reach the driver in a way that probes do not see; see `docs/guides/probe.md`)"
            ));
        }
        // Calls whose events were lost are not seen either.
        if let Some(Submissions { counted, explained }) = self.submissions
            && counted - explained >= UNEXPLAINED
            && audit.lost_events == 0
        {
            let unexplained = in_all(counted - explained, "submission");
            findings.push(format!(
                "{unexplained} to the GPU in {calls} belong to no launch, copy, fill or record of an event that was seen (hint: waits for words in memory, writes of them and batches of copies are submissions, too; otherwise the work reaches the GPU in a way that probes do not see)"
            ));
        }
        if self.leak() {
            let who = if self.calls.iter().all(|call| call.totals.unfreed_bytes > 0.0) {
                "each call leaves"
            } else {
                "on average, a call leaves"
            };
            findings.push(format!(
                "{who} {} allocated: {} and {} in {calls} (hint: free what a call allocates, or allocate it once in the set-up)",
                size(audit.unfreed_bytes as u64),
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

    /// Whether memory grows as long as calls are made: in the first half of them and in the second.
    /// A workspace that is allocated or grows once is no leak.
    fn leak(&self) -> bool {
        let halves = self.calls.split_at(self.calls.len() / 2);
        let grows = |calls: &[Call]| calls.iter().map(|call| call.totals.unfreed_bytes).sum::<f64>() > 0.0;
        grows(halves.0) && grows(halves.1)
    }

    /// Returns the system calls of a call in its timed region, or `None` if it has no host code.
    fn system_calls(&self) -> Option<Vec<AuditedSystemCall>> {
        let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
        for call in &self.calls {
            for (name, number) in call.system_calls.as_ref()? {
                *numbers.entry(name.clone()).or_default() += number;
            }
        }
        Some(self.most_frequent(numbers, |name, calls| AuditedSystemCall { name, calls }))
    }

    fn mean(&self, of: impl Fn(&Call) -> f64) -> f64 {
        self.calls.iter().map(of).sum::<f64>() / self.calls.len() as f64
    }

    /// Returns entries with their number in a call, the largest first.
    fn most_frequent<K, T>(&self, numbers: BTreeMap<K, u64>, entry: impl Fn(K, f64) -> T) -> Vec<T> {
        let mut numbers: Vec<(K, u64)> = numbers.into_iter().collect();
        numbers.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        let of_call = |number: u64| number as f64 / self.calls.len() as f64;
        let entries = numbers.into_iter().map(|(key, number)| entry(key, of_call(number)));
        entries.collect()
    }
}

#[cfg(test)]
mod tests;
