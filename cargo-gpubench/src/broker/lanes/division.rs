//! Whether all contestants fit on the device at once.

use std::num::NonZeroU32;

use gpubench::catalog::Recording;

use super::job::{Entry, Job};
use crate::admission::memory_needed_in_turns;
use crate::broker::options::CaseOptions;
use crate::broker::recording::same_tensors::difference;
use gpubench_contract::units::size;
use gpubench_contract::{Cause, ContestShare};
use gpubench_device::Facts;
use gpubench_diagnostic::print_warning;
use gpubench_measure::measurement::CaseFailure;
use gpubench_protocol::window::{Allocations, CodePlacement};
use gpubench_protocol::wire::{MAX_ALLOCATIONS, MAX_ARMS};

/// What the user can do about too many contestants.
const HINT: &str = "(hint: select fewer of them with a filter, or leave out `--contest`)";

/// The cases of a contest, divided into those that can be measured together.
pub(super) struct Division<'e, 'j> {
    /// Cases that alternate, at least one in each group.
    pub(super) groups: Vec<Vec<Entry<'e, 'j>>>,
    /// Cases that do not fit on the device at once.
    pub(super) misfits: Vec<(Entry<'e, 'j>, CaseFailure)>,
}

/// Divides the cases of a contest into those that can alternate: cases with other tensors or
/// another kind of time compete apart.
pub(super) fn divide<'e, 'j>(entries: Vec<Entry<'e, 'j>>, facts: &Facts) -> Division<'e, 'j> {
    let mut groups: Vec<Vec<Entry<'_, '_>>> = Vec::new();
    for entry in entries {
        match groups.iter_mut().find(|group| can_alternate(&group[0], &entry)) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    set_apart(&mut groups);
    let mut division = Division {
        groups: Vec::new(),
        misfits: Vec::new(),
    };
    for group in groups {
        let recordings = group.iter().map(|entry| &entry.prepared.recorded.recording);
        match misfit(&recordings.collect::<Vec<_>>(), facts).filter(|_| group.len() > 1) {
            Some(failure) => division
                .misfits
                .extend(group.into_iter().map(|entry| (entry, failure.clone()))),
            None => {
                let jobs: Vec<&Job<'_>> = group.iter().map(|entry| entry.job).collect();
                warn_of_other_settings(&jobs);
                division.groups.push(group);
            }
        }
    }
    division
}

fn can_alternate(one: &Entry<'_, '_>, other: &Entry<'_, '_>) -> bool {
    let [one, other] = [one, other].map(|entry| ("a case", &entry.prepared.recorded.recording));
    difference(one, other).is_none()
}

/// Leaves the contest to the first group with rivals. Each other group becomes a contest of its
/// own, or none if it has a single case.
fn set_apart(groups: &mut [Vec<Entry<'_, '_>>]) {
    if groups.len() < 2 {
        return;
    }
    let kept = groups.iter().position(|group| group.len() > 1);
    let others = groups
        .iter_mut()
        .enumerate()
        .filter(|(position, _)| Some(*position) != kept);
    for (_, group) in others {
        let number = group[0].job.announced.index;
        let has_rivals = group.len() > 1;
        for entry in group {
            let contest = entry.job.contest.clone().filter(|_| has_rivals);
            entry.contest = contest.map(|contest| ContestShare { number, ..contest });
        }
    }
}

/// Warns of contestants whose own settings have no effect: all of a contest have those of the
/// first.
fn warn_of_other_settings(contestants: &[&Job<'_>]) {
    let Some((first, others)) = contestants.split_first() else {
        return;
    };
    let of_measurement = |options: &CaseOptions| CaseOptions {
        criteria: first.options.criteria,
        ..options.clone()
    };
    for other in others {
        if of_measurement(&other.options) != first.options {
            print_warning(&format!(
                "`{}` is measured with the settings of `{}`: all contestants need the same settings",
                other.announced.case, first.announced.case
            ));
        }
    }
}

/// Returns why cases cannot be measured alternately, if they cannot. They share the inputs of the
/// first, and each has outputs and scratch of its own.
fn misfit(contestants: &[&Recording], facts: &Facts) -> Option<CaseFailure> {
    let number = contestants.len();
    if number > MAX_ARMS {
        let message = format!("a contest has at most {MAX_ARMS} contestants, and this one has {number} {HINT}");
        return Some(CaseFailure::error(Cause::PlanInvalid, message));
    }
    let (recording, others) = contestants.split_first()?;
    let scratch = contestants.iter().map(|recording| recording.plan.scratch.len());
    let buffers = Allocations::new(&recording.tensors, NonZeroU32::MIN, scratch).number();
    if buffers > MAX_ALLOCATIONS {
        let message = format!(
            "the {number} contestants have {buffers} tensors and scratch allocations together, and {MAX_ALLOCATIONS} are possible {HINT}"
        );
        return Some(CaseFailure::error(Cause::PlanInvalid, message));
    }
    let placement = CodePlacement::new(recording, facts.kernels_run_in);
    let needed = memory_needed_in_turns(&placement, others.iter().copied());
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

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Execution, Fill, Reference, Role, Tensor, Tolerance, Work};
    use gpubench::plan::Plan;

    use super::*;

    const TENSOR_BYTES: u64 = 4_000;

    /// A case with an input, an output and this scratch.
    fn recording(scratch: &[u64]) -> Recording {
        let tensor = |name: &str, role, fill| Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![TENSOR_BYTES / 4],
            role,
            fill,
            tolerance: Tolerance::Exact,
            record: None,
        };
        Recording {
            tensors: vec![
                tensor("x", Role::Input, Fill::Uniform { low: 0.0, high: 1.0 }),
                tensor("y", Role::Output, Fill::Poison),
            ],
            work: Work::default(),
            plan: Plan {
                scratch: scratch.to_vec(),
                ..Plan::default()
            },
            execution: Execution::Sealed,
            call: None,
            reference: Reference::Author,
        }
    }

    fn facts(free_memory: Option<u64>) -> Facts {
        Facts {
            free_memory,
            ..gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN)
        }
    }

    #[test]
    fn each_further_contestant_needs_memory_for_its_outputs_and_scratch() {
        let scratch: [&[u64]; 3] = [&[500], &[1_000, 2_000], &[]];
        let recordings = scratch.map(recording);
        let contestants: Vec<&Recording> = recordings.iter().collect();
        let alone = crate::admission::memory_needed(&CodePlacement::new(&recordings[0], facts(None).kernels_run_in));
        let needed = alone + TENSOR_BYTES + 1_000 + 2_000 + TENSOR_BYTES;
        for enough in [None, Some(needed), Some(u64::MAX)] {
            assert_eq!(misfit(&contestants, &facts(enough)), None, "{enough:?}");
        }
        for too_little in [needed - 1, alone, 0] {
            let failure = misfit(&contestants, &facts(Some(too_little))).unwrap();
            assert_eq!(failure.cause, Cause::OutOfMemory, "{too_little}");
            assert!(
                failure.message.starts_with("the 3 contestants need "),
                "{}",
                failure.message
            );
        }
    }

    #[test]
    fn a_contest_has_a_largest_number_of_contestants_and_of_allocations() {
        let cause = |contestants: usize, scratch: usize| {
            let recording = recording(&vec![8; scratch]);
            misfit(&vec![&recording; contestants], &facts(None)).map(|failure| failure.cause)
        };
        assert_eq!(cause(MAX_ARMS, 0), None);
        assert_eq!(cause(MAX_ARMS + 1, 0), Some(Cause::PlanInvalid));
        // One input of all, and an output and the scratch of each.
        let each = MAX_ALLOCATIONS / MAX_ARMS;
        assert_eq!(cause(MAX_ARMS, each - 2), None);
        assert_eq!(cause(MAX_ARMS, each), Some(Cause::PlanInvalid));
    }

    #[test]
    fn the_last_allocation_that_is_possible_is_still_allowed() {
        let fits = |scratch: usize| {
            let (one, other) = (recording(&vec![8; scratch]), recording(&[]));
            misfit(&[&one, &other], &facts(None)).is_none()
        };
        // One input of both, and an output of each.
        assert!(fits(MAX_ALLOCATIONS - 3));
        assert!(!fits(MAX_ALLOCATIONS - 2));
    }
}
