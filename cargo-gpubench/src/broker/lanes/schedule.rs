//! Jobs one after another, or side by side.
//!
//! Times are measured one after another: a neighbour would change them. Outputs and counts do not
//! change, so cases that are only tested or counted run side by side, each in processes of its own.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::context::LaneContext;
use super::earlier_modes::EarlierModes;
use super::job::Job;
use super::lane::{Finished, Lane};
use super::results::Results;
use super::roles::Roles;
use crate::admission::memory_needed;
use crate::broker::libraries::authors::{AuthorSettings, Authors};
use gpubench_contract::RunEnd;
use gpubench_device::Backend;
use gpubench_device::telemetry::Telemetry;
use gpubench_diagnostic::Interrupted;
use gpubench_measure::measurement::LeavingWorkers;
use gpubench_protocol::window::CodePlacement;
use gpubench_report::Progress;

/// Memory of a lane's processes besides the buffers of its case, in bytes: two contexts on a GPU, a
/// worker under valgrind on the CPU device.
const OF_PROCESSES: u64 = 1 << 30;

/// What a lane reports about the job at a position.
enum Message {
    Progress(usize, Progress),
    Finished(usize, Box<Finished>),
}

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

/// Measures jobs in several lanes at once, and reports them in order. Returns the end of the run if
/// a job ends it; later jobs are then neither finished nor reported.
pub(in crate::broker) fn side_by_side(
    lanes: NonZeroUsize,
    jobs: &[&Job<'_>],
    results: &mut Results<'_, '_>,
) -> Result<Option<RunEnd>, Interrupted> {
    let interrupt = results.context.interrupt.child();
    let context = LaneContext {
        lanes,
        interrupt: &interrupt,
        ..results.context
    };
    let next = AtomicUsize::new(0);
    let (sender, messages) = channel();
    thread::scope(|scope| {
        for _ in 0..lanes.get() {
            let sender = sender.clone();
            scope.spawn(|| run_lane(context, jobs, &next, sender));
        }
        drop(sender);
        let end = report_in_order(jobs, &messages, results);
        interrupt.cancel();
        end
    })
}

/// Measures jobs that no other lane has taken, until there are none or the run is interrupted.
fn run_lane(context: LaneContext<'_>, jobs: &[&Job<'_>], next: &AtomicUsize, messages: Sender<Message>) {
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
    loop {
        let position = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(position) else { return };
        let mut progress = |progress| {
            // Nobody listens after the end of the run.
            let _ = messages.send(Message::Progress(position, progress));
        };
        let Ok(finished) = lane.measure(&[job], &mut EarlierModes::default(), &mut progress) else {
            return;
        };
        for finished in finished {
            let _ = messages.send(Message::Finished(position, Box::new(finished)));
        }
    }
}

/// Reports jobs in order as their results arrive, until one ends the run. After an interrupt it
/// also reports the jobs that were finished out of turn.
fn report_in_order(
    jobs: &[&Job<'_>],
    messages: &Receiver<Message>,
    results: &mut Results<'_, '_>,
) -> Result<Option<RunEnd>, Interrupted> {
    let mut early = BTreeMap::new();
    for (position, job) in jobs.iter().enumerate() {
        results.start(job);
        let finished = await_job(position, &mut early, messages, &mut |progress| {
            results.progress(&progress)
        });
        let Some(finished) = finished else {
            for (position, finished) in early {
                results.start(jobs[position]);
                results.complete(jobs[position], finished);
            }
            return Err(Interrupted);
        };
        if let Some(end) = results.complete(job, finished) {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// Waits for the result of a job. Keeps the results of others. `None` if it never comes.
fn await_job(
    position: usize,
    early: &mut BTreeMap<usize, Finished>,
    messages: &Receiver<Message>,
    progress: &mut dyn FnMut(Progress),
) -> Option<Finished> {
    loop {
        if let Some(finished) = early.remove(&position) {
            return Some(finished);
        }
        match messages.recv().ok()? {
            Message::Progress(of, so_far) if of == position => progress(so_far),
            Message::Progress(..) => {}
            Message::Finished(of, finished) => {
                early.insert(of, *finished);
            }
        }
    }
}
