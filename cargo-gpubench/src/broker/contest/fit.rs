//! Whether all contestants fit on the device at once.

use super::grouping::warn_of_other_settings;
use crate::admission::memory_needed;
use crate::broker::job::Job;
use crate::broker::lane::Entry;
use crate::broker::recording::preparation::PreparedCase;
use crate::broker::same_tensors::difference;
use gpubench_contract::Cause;
use gpubench_contract::units::size;
use gpubench_device::Facts;
use gpubench_measure::measurement::CaseFailure;
use gpubench_protocol::window::CodePlacement;
use gpubench_protocol::wire::{MAX_ARMS, MAX_BUFFERS};

/// What the user can do about too many contestants.
const HINT: &str = "(hint: select fewer of them with a filter, or leave out `--contest`)";

/// Removes the cases that cannot alternate with the first, or all if they do not fit on the device.
/// Their results say why.
pub(in crate::broker) fn exclude_misfits(entries: &mut Vec<Entry<'_, '_>>, facts: &Facts) {
    let Some((first, others)) = entries.split_first_mut() else {
        return;
    };
    if others.is_empty() {
        return;
    }
    let (name, recording) = (named(first), &first.prepared.recorded.recording);
    for other in others {
        let other_recording = &other.prepared.recorded.recording;
        if let Some(reason) = difference((&named(other), other_recording), (&name, recording)) {
            let message = format!("it cannot compete with {name}: {reason}");
            CaseFailure::error(Cause::PlanInvalid, message).fill_in(&mut other.finished.result);
        }
    }
    entries.retain(|entry| entry.finished.result.cause.is_none());
    let prepared: Vec<&PreparedCase> = entries.iter().map(|entry| entry.prepared).collect();
    if let Some(failure) = misfit(&prepared, facts) {
        let none = entries.drain(..);
        none.for_each(|entry| failure.clone().fill_in(&mut entry.finished.result));
    }
    let jobs: Vec<&Job<'_>> = entries.iter().map(|entry| entry.job).collect();
    warn_of_other_settings(&jobs);
}

fn named(entry: &Entry<'_, '_>) -> String {
    format!("`{}`", entry.job.announced.case)
}

/// Returns why cases cannot be measured alternately, if they cannot. They share the tensors of the
/// first, and each has scratch of its own.
fn misfit(contestants: &[&PreparedCase], facts: &Facts) -> Option<CaseFailure> {
    let number = contestants.len();
    if number > MAX_ARMS {
        let message = format!("a contest has at most {MAX_ARMS} contestants, and this one has {number} {HINT}");
        return Some(CaseFailure::error(Cause::PlanInvalid, message));
    }
    let (first, others) = contestants.split_first()?;
    let recording = &first.recorded.recording;
    let further = || others.iter().flat_map(|other| &other.recorded.recording.plan.scratch);
    let buffers = recording.tensors.len() + recording.plan.scratch.len() + further().count();
    if buffers > MAX_BUFFERS {
        let message = format!(
            "the {number} contestants have {buffers} tensors and scratch allocations together, and {MAX_BUFFERS} are possible {HINT}"
        );
        return Some(CaseFailure::error(Cause::PlanInvalid, message));
    }
    let of_first = memory_needed(&CodePlacement::new(recording, facts.kernels_run_in));
    let needed = further().fold(of_first, |sum, bytes| sum.saturating_add(*bytes));
    let free = facts.free_memory.unwrap_or(u64::MAX);
    (needed > free).then(|| {
        let message = format!(
            "the {number} contestants need {} of memory at once, including the copies for checking, and {} are free {HINT}",
            size(needed),
            size(free)
        );
        CaseFailure::error(Cause::OutOfMemory, message)
    })
}
