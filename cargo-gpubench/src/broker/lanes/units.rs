//! What a lane does with the units of a queue, one after another.

use std::sync::mpsc::Sender;

use super::earlier_modes::EarlierModes;
use super::job::Job;
use super::lane::{Finished, Lane, shown};
use super::queue::{LostDevice, OnLoss, Queue, Unit};
use gpubench_contract::{BenchmarkComplete, Cause, DeviceName, Verdict};
use gpubench_diagnostic::{print_warning, printable_line};
use gpubench_measure::measurement::{CaseFailure, Outcome};
use gpubench_report::Progress;

/// What a lane reports about the job at a position.
pub(in crate::broker) enum Message {
    Progress(usize, Progress),
    Finished(usize, Box<Finished>),
    /// Nobody could measure it.
    Failed(usize, Box<CaseFailure>),
}

/// How the work on a unit ended.
enum UnitEnd<'u, 'j> {
    Done,
    Interrupted,
    /// The device failed. The unit is what is left.
    Lost(Unit<'u, 'j>, LostDevice),
}

/// Measures units that no other lane has taken, until there are none, the run is interrupted, or
/// the device fails.
pub(super) fn measure_units<'u, 'j>(lane: &mut Lane<'_, '_>, queue: &Queue<'u, 'j>, messages: &Sender<Message>) {
    let _left = queue.left_by_a_panic();
    while let Some(unit) = queue.take(lane.context.interrupt) {
        match measure_unit(lane, unit, queue.on_loss, messages) {
            UnitEnd::Done => queue.done(),
            UnitEnd::Interrupted => {
                queue.leave(None);
                return;
            }
            UnitEnd::Lost(left, lost) => {
                print_warning(&format!("{lost}, and measures no more"));
                let left = moved(lane, left, &lost, messages);
                for unit in queue.leave(left) {
                    strand(lane, &unit, &lost, messages);
                }
                return;
            }
        }
    }
}

fn measure_unit<'u, 'j>(
    lane: &mut Lane<'_, '_>,
    unit: Unit<'u, 'j>,
    on_loss: OnLoss,
    messages: &Sender<Message>,
) -> UnitEnd<'u, 'j> {
    let mut earlier = EarlierModes::default();
    let mut position = unit.first;
    for (done, group) in unit.groups.iter().enumerate() {
        let mut progress = |progress| {
            // Nobody listens after the end of the run.
            let _ = messages.send(Message::Progress(position, progress));
        };
        let Ok(mut finished) = lane.measure(group, &mut earlier, &mut progress) else {
            return UnitEnd::Interrupted;
        };
        let may_be_lost = || {
            group
                .iter()
                .zip(&finished)
                .any(|(job, of_job)| may_be_lost(job, &of_job.result))
        };
        if on_loss == OnLoss::Moved
            && may_be_lost()
            && let Some(why) = lane.roles.loss_of_device()
        {
            let lost = LostDevice {
                name: name_of_device(lane),
                why: printable_line(&why).to_string(),
            };
            let left = Unit {
                groups: &unit.groups[done..],
                first: position,
                ..unit
            };
            return UnitEnd::Lost(left, lost);
        }
        if let Some(lost) = unit.moved_from.as_ref().filter(|_| done == 0) {
            let notice = format!("{lost} while it measured this case, so it was measured again on another");
            finished
                .iter_mut()
                .for_each(|finished| finished.result.notices.push(notice.clone()));
        }
        for finished in finished {
            let _ = messages.send(Message::Finished(position, Box::new(finished)));
            position += 1;
        }
    }
    UnitEnd::Done
}

/// How the work on groups ended.
pub(in crate::broker) enum GroupsEnd {
    /// All have their results.
    Done,
    /// The run was interrupted.
    Interrupted,
    /// The machine has a fault, and the first group without a result is not to blame.
    Fault(String),
}

/// Measures groups of jobs one after another, and reports the progress and the results of each.
pub(in crate::broker) fn measure_groups(
    lane: &mut Lane<'_, '_>,
    groups: &[Vec<&Job<'_>>],
    progress: &mut dyn FnMut(Progress),
    report: &mut dyn FnMut(Vec<BenchmarkComplete>),
) -> GroupsEnd {
    let mut earlier = EarlierModes::default();
    for group in groups {
        let Ok(finished) = lane.measure(group, &mut earlier, progress) else {
            return GroupsEnd::Interrupted;
        };
        let results: Vec<BenchmarkComplete> = finished.into_iter().map(|finished| finished.result).collect();
        if let Some(full) = results.iter().find(|result| result.cause == Some(Cause::DiskFull)) {
            let why = full.message.as_deref().unwrap_or_default();
            return GroupsEnd::Fault(format!("its disk is full: {}", printable_line(why)));
        }
        let may_be_lost = group.iter().zip(&results).any(|(job, result)| may_be_lost(job, result));
        if may_be_lost && let Some(why) = lane.roles.loss_of_device() {
            return GroupsEnd::Fault(format!("{} failed ({})", name_of_device(lane), printable_line(&why)));
        }
        report(results);
    }
    GroupsEnd::Done
}

/// Whether a result is one that a failed device can be the cause of.
fn may_be_lost(job: &Job<'_>, result: &BenchmarkComplete) -> bool {
    let is_measured = matches!(job.prepared, Some(Ok(_)));
    let has_broken_off = matches!(
        result.verdict,
        Verdict::Crashed | Verdict::Error | Verdict::Timeout | Verdict::ProtocolViolation
    );
    is_measured && has_broken_off
}

/// Returns what another device measures of a unit whose device failed. A unit moves once: what two
/// devices failed under fails.
fn moved<'u, 'j>(
    lane: &Lane<'_, '_>,
    mut left: Unit<'u, 'j>,
    lost: &LostDevice,
    messages: &Sender<Message>,
) -> Option<Unit<'u, 'j>> {
    let Some(before) = left.moved_from.take() else {
        left.moved_from = Some(lost.clone());
        return Some(left);
    };
    let (under_way, rest) = left.groups.split_first()?;
    let message = format!("two devices failed while they measured it: {before}; {lost}");
    fail(lane, under_way, left.first, &message, messages);
    (!rest.is_empty()).then_some(Unit {
        groups: rest,
        first: left.first + under_way.len(),
        moved_from: None,
    })
}

/// Reports the jobs of a unit that no device is left for.
fn strand(lane: &Lane<'_, '_>, unit: &Unit<'_, '_>, last: &LostDevice, messages: &Sender<Message>) {
    let message = match &unit.moved_from {
        Some(under_it) => format!("{under_it} while it measured this case, and no other device is left"),
        None => format!("no device is left to measure it: {last}, as the others had before"),
    };
    let mut position = unit.first;
    for group in unit.groups {
        fail(lane, group, position, &message, messages);
        position += group.len();
    }
}

fn fail(lane: &Lane<'_, '_>, group: &[&Job<'_>], first: usize, message: &str, messages: &Sender<Message>) {
    for (position, job) in group.iter().enumerate() {
        let unmeasured = lane.context.unmeasured(job);
        let result = match job.prepared {
            Some(Ok(_)) => {
                let failure = CaseFailure::error(Cause::DeviceLost, message);
                Outcome::from(failure).record(BenchmarkComplete {
                    device: DeviceName {
                        uuid: None,
                        ..unmeasured.device.clone()
                    },
                    ..unmeasured
                })
            }
            Some(Err(failure)) => Outcome::from(failure.clone()).record(unmeasured),
            None => unmeasured,
        };
        let result = shown(result, job, lane.context.selected.entrants);
        let _ = messages.send(Message::Finished(first + position, Box::new(result.into())));
    }
}

/// Returns what people call the device of a lane: `cuda:1 (GPU-01010101-…)`.
fn name_of_device(lane: &Lane<'_, '_>) -> String {
    let settings = lane.context.settings;
    let word = gpubench_device::Backend::for_facts(settings.facts).words().word;
    let name = format!("`{word}:{}`", settings.device.ordinal);
    match &settings.facts.identity {
        Some(identity) => format!("{name} ({})", printable_line(identity)),
        None => name,
    }
}
