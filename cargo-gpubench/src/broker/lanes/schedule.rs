//! Jobs one after another, side by side, or shared among devices.
//!
//! Times are measured one after another on a device: a neighbour would change them. Outputs and
//! counts do not change, so cases that are only tested or counted run side by side, each in
//! processes of its own. Several devices share the cases, whatever is measured.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::context::LaneContext;
use super::earlier_modes::EarlierModes;
use super::expected::PastDurations;
use super::job::Job;
use super::lane::{Finished, Lane, shown};
use super::queue::{OnLoss, Queue, Unit};
use super::results::Results;
use super::roles::Roles;
use super::station::Station;
use super::units::{Message, measure_units};
use crate::admission::memory_needed;
use crate::broker::libraries::authors::{AuthorSettings, Authors};
use gpubench_contract::RunEnd;
use gpubench_device::Backend;
use gpubench_device::telemetry::Telemetry;
use gpubench_diagnostic::Interrupted;
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::{LeavingWorkers, Outcome};
use gpubench_protocol::window::CodePlacement;

/// Memory of a lane's processes besides the buffers of its case, in bytes: two contexts on a GPU, a
/// worker under valgrind on the CPU device.
const OF_PROCESSES: u64 = 1 << 30;

/// Measures groups of jobs one after another, the jobs of each together. Returns the end of the run
/// if they end it.
pub(in crate::broker) fn in_order(
    lane: &mut Lane<'_, '_>,
    groups: &[Vec<&Job<'_>>],
    results: &mut Results<'_, '_>,
) -> Result<Option<RunEnd>, Interrupted> {
    for of_case in groups.chunk_by(|one, next| one[0].is_of_case_of(next[0])) {
        let mut earlier = EarlierModes::default();
        for jobs in of_case {
            jobs.iter().for_each(|job| results.start(job));
            let finished = lane.measure(jobs, &mut earlier, &mut |progress| results.progress(&progress))?;
            let ends = jobs
                .iter()
                .zip(finished)
                .map(|(job, finished)| results.complete(job, finished));
            if let Some(end) = ends.fold(None, Option::or) {
                return Ok(Some(end));
            }
        }
    }
    Ok(None)
}

/// Returns how many of these jobs run at the same time: one if times are taken, contestants
/// belong together or somebody watches, and at most as many as fit into the memory of the device.
pub(in crate::broker) fn lanes_for(groups: &[Vec<&Job<'_>>], context: &LaneContext<'_>) -> NonZeroUsize {
    let selected = context.selected;
    let jobs = groups.concat();
    let backend = Backend::for_facts(selected.facts);
    let most = if jobs.iter().all(|job| job.is_only_counted()) {
        (backend.counted_side_by_side)(&selected.device)
    } else if context.settings.tests_unwatched() && groups.iter().all(|group| group.len() == 1) {
        (backend.tested_side_by_side)(&selected.device)
    } else {
        return NonZeroUsize::MIN;
    };
    let needed = |job: &&Job<'_>| {
        let prepared = job.prepared.as_ref()?.as_ref().ok()?;
        let placement = CodePlacement::new(&prepared.recorded.recording, selected.facts.kernels_run_in);
        Some(memory_needed(&placement))
    };
    let largest = jobs
        .iter()
        .filter_map(needed)
        .max()
        .unwrap_or(0)
        .saturating_add(OF_PROCESSES);
    let fitting = selected.facts.free_memory.unwrap_or(u64::MAX) / largest;
    let lanes = jobs
        .len()
        .min(most.get())
        .min(usize::try_from(fitting).unwrap_or(usize::MAX));
    NonZeroUsize::new(lanes).unwrap_or(NonZeroUsize::MIN)
}

/// Measures jobs in several lanes of one device at once, and reports them in order. Returns the end
/// of the run if a job ends it; later jobs are then neither finished nor reported.
pub(in crate::broker) fn side_by_side(
    lanes: NonZeroUsize,
    groups: &[Vec<&Job<'_>>],
    results: &mut Results<'_, '_>,
) -> Result<Option<RunEnd>, Interrupted> {
    let interrupt = results.context.interrupt.child();
    let context = LaneContext {
        lanes,
        interrupt: &interrupt,
        ..results.context
    };
    let queue = Queue::new(units(groups.chunks(1)), lanes.get(), OnLoss::Reported);
    let (sender, messages) = channel();
    thread::scope(|scope| {
        for _ in 0..lanes.get() {
            let sender = sender.clone();
            scope.spawn(|| run_lane(context, &queue, sender));
        }
        drop(sender);
        let end = report_in_order(groups, &messages, results);
        interrupt.cancel();
        end
    })
}

/// Measures units that no other lane has taken, until there are none or the run is interrupted.
fn run_lane<'u, 'j>(context: LaneContext<'_>, queue: &Queue<'u, 'j>, messages: Sender<Message>) {
    let LaneContext {
        selected,
        settings,
        interrupt,
        ..
    } = context;
    // The thread of a role's parent must outlive it, so each lane starts its own.
    let mut roles = Roles::on(settings.device_of_lanes(), settings.begin(), None, interrupt);
    let mut authors = Authors::to_start(selected.libraries, AuthorSettings::new(settings.options, interrupt));
    let mut lane = Lane {
        context,
        roles: &mut roles,
        authors: &mut authors,
        telemetry: &mut Telemetry::new(selected.facts),
        leaving_workers: LeavingWorkers::default(),
    };
    measure_units(&mut lane, queue, &messages);
}

/// Deals groups of jobs out to devices of one kind, and reports them in order: a device that is
/// free takes what is expected to last longest. Returns the end of the run if a job ends it; later
/// jobs are then neither finished nor reported. `interrupt` ends the devices' processes.
pub(in crate::broker) fn deal(
    stations: &mut [Station<'_>],
    groups: &[Vec<&Job<'_>>],
    past: &PastDurations,
    interrupt: &Interrupt,
    results: &mut Results<'_, '_>,
) -> Result<Option<RunEnd>, Interrupted> {
    let facts = results.context.selected.facts;
    let mut units = units(groups.chunk_by(|one, next| one[0].is_of_case_of(next[0])));
    units.sort_by(|one, other| {
        let [one, other] = [one, other].map(|unit| past.expected(unit.groups, facts));
        other.total_cmp(&one)
    });
    let queue = Queue::new(units, stations.len(), OnLoss::Moved);
    let (sender, messages) = channel();
    thread::scope(|scope| {
        for station in stations {
            let context = LaneContext {
                interrupt,
                ..results.context
            };
            let (sender, queue) = (sender.clone(), &queue);
            scope.spawn(move || run_station(station, context, queue, &sender));
        }
        drop(sender);
        let end = report_in_order(groups, &messages, results);
        interrupt.cancel();
        end
    })
}

/// Measures units on one device until there are none, and gives the device back.
fn run_station<'u, 'j>(
    station: &mut Station<'_>,
    context: LaneContext<'_>,
    queue: &Queue<'u, 'j>,
    messages: &Sender<Message>,
) {
    station.keep_near();
    let Station {
        settings,
        roles,
        authors,
        ..
    } = &mut *station;
    let mut lane = Lane {
        context: context.on(settings),
        roles,
        authors,
        telemetry: &mut Telemetry::new(settings.facts),
        leaving_workers: LeavingWorkers::default(),
    };
    measure_units(&mut lane, queue, messages);
    drop(lane);
    // The processes that this thread has started must not outlive it.
    station.release();
}

/// Returns the units of jobs that lanes take, in the order of the jobs.
fn units<'u, 'j: 'u>(divided: impl Iterator<Item = &'u [Vec<&'u Job<'j>>]>) -> Vec<Unit<'u, 'j>> {
    let mut first = 0;
    let unit = |groups: &'u [Vec<&'u Job<'j>>]| {
        let unit = Unit {
            groups,
            first,
            moved_from: None,
        };
        first += groups.iter().map(Vec::len).sum::<usize>();
        unit
    };
    divided.map(unit).collect()
}

/// Reports jobs in order as their results arrive, until one ends the run. After an interrupt it
/// also reports the jobs that were finished out of turn.
pub(in crate::broker) fn report_in_order(
    groups: &[Vec<&Job<'_>>],
    messages: &Receiver<Message>,
    results: &mut Results<'_, '_>,
) -> Result<Option<RunEnd>, Interrupted> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    let jobs = groups.concat();
    for group in groups {
        let mut end = None;
        group.iter().for_each(|job| results.start(job));
        for job in group {
            let finished = await_job(&jobs, next, &mut early, messages, results);
            let Some(finished) = finished else {
                report_early(groups, early, next + 1, results);
                return Err(Interrupted);
            };
            next += 1;
            end = end.or(results.complete(job, finished));
        }
        if end.is_some() {
            return Ok(end);
        }
    }
    Ok(None)
}

/// Reports jobs that were finished before their turn, which does not come. Those before `started`
/// have begun.
fn report_early(
    groups: &[Vec<&Job<'_>>],
    early: BTreeMap<usize, Finished>,
    started: usize,
    results: &mut Results<'_, '_>,
) {
    let jobs = groups.concat();
    for (position, finished) in early {
        if position >= started {
            results.start(jobs[position]);
        }
        results.complete(jobs[position], finished);
    }
}

/// Waits for the result of a job. Keeps the results of others. `None` if it never comes.
fn await_job(
    jobs: &[&Job<'_>],
    position: usize,
    early: &mut BTreeMap<usize, Finished>,
    messages: &Receiver<Message>,
    results: &mut Results<'_, '_>,
) -> Option<Finished> {
    loop {
        if let Some(finished) = early.remove(&position) {
            return Some(finished);
        }
        match messages.recv().ok()? {
            Message::Progress(of, so_far) if of == position => results.progress(&so_far),
            Message::Progress(..) => {}
            Message::Failed(of, failure) => {
                let mut unmeasured = results.context.unmeasured(jobs[of]);
                unmeasured.device.uuid = None;
                let failed = Outcome::from(*failure).record(unmeasured);
                let finished = Finished::from(shown(failed, jobs[of], results.context.selected.entrants));
                if of != position {
                    results.hold_back(&finished);
                }
                early.insert(of, finished);
            }
            Message::Finished(of, finished) => {
                if of != position {
                    results.hold_back(&finished);
                }
                early.insert(of, *finished);
            }
        }
    }
}
