//! The referee's part of a window. All of it is queued in one stream, from the restore of the
//! buffers to the checks.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytemuck::Zeroable;

use super::RefereeError;
use super::buffers::Buffer;
use super::call_time::SeenCall;
use super::case::{OpenCase, Referee};
use super::check::{QueuedChecks, digest_keys};
use super::page::WorkerPage;
use super::stamps::Stamps;
use crate::window::Gate;
use crate::wire::{
    Channel, ChannelError, MAX_OUTPUTS, MAX_WINDOW_BUFFERS, PageLeft, Patience, WindowEnd, WindowFacts, WindowOrder,
    opening_words, to_referee,
};
use gpubench_device::harness::{Batch, Captured, Ticket};
use gpubench_device::{DevicePtr, monotonic_ns};

/// How often the referee polls for the broker's abort while its stream waits for *done*.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Time limit for the stream after the referee itself has written *done*: the queued checks still
/// run. The broker waits more than twice as long.
const AFTER_DONE: Duration = Duration::from_secs(50);

/// Number of a window's reports that do not depend on its buffers: seven timestamps, the data
/// written to the page, and the copy of the page.
const OTHER_REPORTS: usize = 9;

/// Most reports of a buffer, for an in-out tensor: two digests with their keys, two redzone checks,
/// an output check and a late-write check.
const REPORTS_OF_A_BUFFER: usize = 6;

/// Most launches that are queued while the stream waits for *done*: for each output a copy, a
/// digest, a check and a late-write check; for each buffer an input digest and two redzone checks;
/// two timestamps and the page.
const MOST_QUEUED: usize = 4 * MAX_OUTPUTS + (1 + 2) * MAX_WINDOW_BUFFERS + 3;

// A GPU's driver blocks the host after about 1 000 queued launches. Then the host could not abort a
// window.
const _: () = assert!(MOST_QUEUED < 700);

/// A queued window, and the results to read.
struct Queued {
    stamps: Stamps,
    left: Ticket<Captured>,
    checks: QueuedChecks,
}

impl Referee {
    /// Runs a window: prepares, releases the worker, waits for *done* and checks the result.
    pub(super) fn release(
        &mut self,
        case: &OpenCase,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowFacts, RefereeError> {
        let page = case.page_of(order.owner)?;
        let released = self.run_window(case, page, order, broker);
        if released.is_err() {
            self.release_queued(page, order);
        }
        released
    }

    fn run_window(
        &mut self,
        case: &OpenCase,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowFacts, RefereeError> {
        let started = Instant::now();
        let kind = order.kind;
        let side = case.buffers_of(order.side)?;
        let mut facts = WindowFacts {
            window: order.window,
            kind,
            gate: order.gate,
            ..WindowFacts::zeroed()
        };

        self.differences_of_window.clear();
        self.take_instance(case, kind, order.window)?;
        self.driver.reset_persisting_lines()?;
        let most = OTHER_REPORTS + side.len() * REPORTS_OF_A_BUFFER;
        let mut batch = self.harness.begin(&mut *self.driver, self.stream, most)?;
        let queued_from_ns = monotonic_ns();
        let Queued { stamps, left, checks } = self.queue(case, side, page, order, &mut batch)?;
        let call = match order.gate {
            Gate::Stream => None,
            Gate::Host => Some(self.time_call(case, page, order, broker, queued_from_ns)?),
        };
        let ended_early = call.as_ref().and_then(SeenCall::ended_early);
        facts.end = self.wait_done(page, order, broker, ended_early)?;

        let found = self.harness.collect(&mut *self.driver, batch)?;
        stamps.report(&found, &mut facts)?;
        if let Some(call) = call {
            call.report(&mut facts);
        }
        let left = PageLeft::from_bytes(&found.get(left)?.0).ok_or(RefereeError::Order("the page is too short"))?;
        // A worker that runs ahead writes a later window's number.
        if facts.end == WindowEnd::Checked && left.done != order.window {
            facts.end = WindowEnd::NotDone;
        }
        if facts.end == WindowEnd::Checked {
            self.report(case, checks, &found, &left.digests, &mut facts, broker)?;
        }
        let waited = facts.s2_ns.saturating_sub(facts.s1_ns) + facts.flush_ns;
        facts.own_ns = (started.elapsed().as_nanos() as u64).saturating_sub(waited);
        Ok(facts)
    }

    /// Queues the window: the preparation, *go*, the wait for *done*, the copies of the outputs,
    /// and the checks. The host takes no part, so it cannot delay *go* after the true inputs, or
    /// the copies after *done*.
    fn queue(
        &mut self,
        case: &OpenCase,
        side: &[Buffer],
        page: &WorkerPage,
        order: &WindowOrder,
        batch: &mut Batch,
    ) -> Result<Queued, RefereeError> {
        let (stream, on_device) = (self.stream, page.on_device.in_window(order.window));
        let place = case.place(order.window);
        let keys = self.hand_in_keys(side, place, batch)?;
        let opening = opening_words(digest_keys(&self.seeds, place));
        let opening = self
            .harness
            .hand_in(&mut *self.driver, batch, bytemuck::cast_slice(&opening))?;
        let made = case.tensors_of(order.kind.made_calls());
        let preparation = self.prepare(case, side, made, place, batch)?;
        let digest_keys = DevicePtr(on_device.keys());
        self.harness.hand_out(&mut *self.driver, batch, opening, digest_keys)?;
        let s1 = self.reveal(&side[..made], place, batch)?;
        if order.gate == Gate::Host {
            let start = DevicePtr(case.start.on_device.go());
            self.driver.write_value(stream, start, order.window)?;
        }
        self.driver
            .write_value(stream, DevicePtr(on_device.go()), order.window)?;

        self.driver
            .wait_value(stream, DevicePtr(on_device.done()), order.window)?;
        let s2 = self.stamp(batch)?;
        // The copies come first, so that a worker with an early *done* gets no more time.
        self.snapshot(side)?;
        let done = DevicePtr(on_device.done());
        let left = self.harness.capture(&mut *self.driver, batch, done, PageLeft::BYTES)?;
        let s3 = self.stamp(batch)?;
        Ok(Queued {
            stamps: Stamps {
                preparation,
                s1,
                s2,
                s3,
            },
            left,
            // If *done* does not come, nobody reads the checks.
            checks: self.queue_all_checks(case, side, place, order.kind, keys, batch)?,
        })
    }

    /// Waits until all queued work is complete. If the broker aborts the window or its time is up,
    /// the referee writes *done* itself and the window is over at once.
    fn wait_done(
        &mut self,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
        ended_early: Option<WindowEnd>,
    ) -> Result<WindowEnd, RefereeError> {
        let patience = Duration::from_nanos(order.patience_ns);
        let began = Instant::now();
        let mut ended_early: Option<(WindowEnd, Instant)> = ended_early.map(|end| (end, Instant::now()));
        while !self.driver.synchronize_within(self.stream, POLL_INTERVAL)? {
            let end = match ended_early {
                Some((_, since)) if since.elapsed() >= AFTER_DONE => {
                    return Err(RefereeError::Order("the worker withdraws the end of the window"));
                }
                Some((end, _)) => end,
                None if broker.is_readable()? => handle_abort(page, order, broker)?,
                None if began.elapsed() >= patience => WindowEnd::NotDone,
                None => continue,
            };
            ended_early.get_or_insert((end, Instant::now()));
            // Repeated, because the worker can overwrite it.
            self.write_done(page, order);
        }
        Ok(ended_early.map_or(WindowEnd::Checked, |(end, _)| end))
    }

    /// Waits until the stream is idle and no longer uses the case.
    fn release_queued(&mut self, page: &WorkerPage, order: &WindowOrder) {
        let began = Instant::now();
        while began.elapsed() < AFTER_DONE {
            self.write_done(page, order);
            match self.driver.synchronize_within(self.stream, POLL_INTERVAL) {
                Ok(false) => {}
                // The stream is idle, or has failed.
                Ok(true) | Err(_) => break,
            }
        }
    }

    fn write_done(&mut self, page: &WorkerPage, order: &WindowOrder) {
        let done = page.words.on_host().in_window(order.window).done();
        self.driver.store_value(done, order.window);
    }
}

/// Handles the broker's abort. If *done* has come, only the checks take their time, and the window
/// ends normally.
pub(super) fn handle_abort(
    page: &WorkerPage,
    order: &WindowOrder,
    broker: &Channel,
) -> Result<WindowEnd, RefereeError> {
    match broker.receive(Patience::Forever)?.kind {
        to_referee::ABORT if page.words.in_window(order.window).done.load(Ordering::Acquire) == order.window => {
            Ok(WindowEnd::Checked)
        }
        to_referee::ABORT => Ok(WindowEnd::Aborted),
        _ => Err(ChannelError::Protocol("it sent an order during a window").into()),
    }
}
