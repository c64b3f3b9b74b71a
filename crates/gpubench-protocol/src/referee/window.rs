//! One window from the referee's side: all of it is queued in one stream, from the restored buffers
//! to the looks at what the worker made.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytemuck::Zeroable;

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::check::Looks;
use super::page::WorkerPage;
use super::stamps::Stamps;
use crate::window::WindowId;
use crate::wire::{
    Channel, ChannelError, MAX_BUFFERS, MAX_OUTPUTS, PageLeft, Patience, WindowEnd, WindowFacts, WindowOrder,
    to_referee,
};
use gpubench_device::DevicePtr;
use gpubench_device::harness::{Batch, Captured, Ticket};

/// How often the referee looks whether the broker gives a window up while its stream waits for
/// *done*.
const LOOK_AROUND: Duration = Duration::from_millis(2);

/// How long a stream may take behind a *done* that the referee has written itself: the looks are
/// queued there. The broker waits more than twice as long.
const RELEASED: Duration = Duration::from_secs(50);

/// Reports of a window whatever its buffers are: six stamps, what is handed in for the page, and
/// what is left on it.
const OTHER_REPORTS: usize = 8;

/// The most reports of a buffer, one that is read and written: two digests with their keys, two
/// looks at its redzone, a check, and a second look.
const REPORTS_OF_A_BUFFER: usize = 6;

/// The most that a stream holds back while it waits for *done*: a copy of each output, its digest,
/// its check and the second look; a digest of each input; two looks at the redzone round each buffer;
/// two stamps and the page.
const MOST_HELD_BACK: usize = 4 * MAX_OUTPUTS + (1 + 2) * MAX_BUFFERS + 3;

// Behind some 1 000 launches a GPU's driver has the host wait, which could give no window up then.
const _: () = assert!(MOST_HELD_BACK < 500);

/// A window that is queued, and what will be read of it.
struct Queued {
    stamps: Stamps,
    left: Ticket<Captured>,
    looks: Looks,
}

impl Referee {
    /// Prepares, lets the worker go, waits for *done*, and looks at what came of it.
    pub(super) fn release(
        &mut self,
        case: &OpenCase,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowFacts, RefereeError> {
        let page = case.page_of(order.owner)?;
        let released = self.lead_through(case, page, order, broker);
        if released.is_err() {
            self.give_up(page, order);
        }
        released
    }

    fn lead_through(
        &mut self,
        case: &OpenCase,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowFacts, RefereeError> {
        let started = Instant::now();
        let (kind, place) = (order.kind, case.place(order.window));
        let mut facts = WindowFacts {
            window: order.window,
            kind,
            ..WindowFacts::zeroed()
        };

        self.take_instance(case, kind, order.window)?;
        self.driver.reset_persisting_lines()?;
        let most = OTHER_REPORTS + case.buffers.len() * REPORTS_OF_A_BUFFER;
        let mut batch = self.harness.begin(&mut *self.driver, self.stream, most)?;
        let Queued { stamps, left, looks } = self.queue(case, page, place, order, &mut batch)?;
        facts.end = self.wait_done(page, order, broker)?;

        let found = self.harness.collect(&mut *self.driver, batch)?;
        stamps.report(&found, &mut facts)?;
        let left = PageLeft::of(&found.of(left)?.0).ok_or(RefereeError::Order("the page is cut short"))?;
        // A worker that runs ahead would write a later window's number.
        if facts.end == WindowEnd::Checked && left.done != order.window {
            facts.end = WindowEnd::NotDone;
        }
        if facts.end == WindowEnd::Checked {
            self.report(case, place, looks, &found, &left.digests, &mut facts)?;
        }
        let waited = facts.s2_ns.saturating_sub(facts.s1_ns) + facts.flush_ns;
        facts.own_ns = (started.elapsed().as_nanos() as u64).saturating_sub(waited);
        Ok(facts)
    }

    /// Queues the window: the preparation, *go*, the wait for *done*, the copies of what is there
    /// then, and the looks at it. The host has no part in it: nothing lies between the true inputs
    /// and *go*, or between *done* and the copies, that it could hold up.
    fn queue(
        &mut self,
        case: &OpenCase,
        page: &WorkerPage,
        place: WindowId,
        order: &WindowOrder,
        batch: &mut Batch,
    ) -> Result<Queued, RefereeError> {
        let (stream, on_device) = (self.stream, page.on_device.in_window(order.window));
        let keys = self.hand_in_keys(case, place, batch)?;
        let preparation = self.prepare(case, page, place, batch)?;
        self.driver
            .write_value(stream, DevicePtr(on_device.go()), order.window)?;

        self.driver
            .wait_value(stream, DevicePtr(on_device.done()), order.window)?;
        let s2 = self.stamp(batch)?;
        // First of all: what an early *done* left undone must not get more time.
        self.snapshot(case)?;
        let done = DevicePtr(on_device.done());
        let left = self.harness.capture(&mut *self.driver, batch, done, PageLeft::BYTES)?;
        let s3 = self.stamp(batch)?;
        Ok(Queued {
            stamps: Stamps { preparation, s2, s3 },
            left,
            // Where *done* does not come they look at what nobody reads.
            looks: self.queue_looks(case, place, order.kind, keys, batch)?,
        })
    }

    /// Waits until all that was queued has been carried out. A window that is given up, by the
    /// broker or for its time, is over at once: the referee writes *done* itself.
    fn wait_done(
        &mut self,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowEnd, RefereeError> {
        let patience = Duration::from_nanos(order.patience_ns);
        let began = Instant::now();
        let mut given_up: Option<(WindowEnd, Instant)> = None;
        while !self.driver.synchronize_within(self.stream, LOOK_AROUND)? {
            let end = match given_up {
                Some((_, since)) if since.elapsed() >= RELEASED => {
                    return Err(RefereeError::Order("the worker takes back that the window is over"));
                }
                Some((end, _)) => end,
                None if broker.is_readable()? => heed_abort(page, order, broker)?,
                None if began.elapsed() >= patience => WindowEnd::NotDone,
                None => continue,
            };
            given_up.get_or_insert((end, Instant::now()));
            // Again and again: the worker can write there, too.
            self.let_pass(page, order);
        }
        Ok(given_up.map_or(WindowEnd::Checked, |(end, _)| end))
    }

    /// Sees to it that the stream waits for nobody and uses nothing of the case any more.
    fn give_up(&mut self, page: &WorkerPage, order: &WindowOrder) {
        let began = Instant::now();
        while began.elapsed() < RELEASED {
            self.let_pass(page, order);
            match self.driver.synchronize_within(self.stream, LOOK_AROUND) {
                Ok(false) => {}
                // It has failed, or is at its end.
                Ok(true) | Err(_) => break,
            }
        }
    }

    fn let_pass(&mut self, page: &WorkerPage, order: &WindowOrder) {
        self.driver
            .store_value(page.words.on_host().in_window(order.window).done(), order.window);
    }
}

/// What the broker's word to wait no longer means: nothing where *done* is there, and only the
/// looks take their time.
fn heed_abort(page: &WorkerPage, order: &WindowOrder, broker: &Channel) -> Result<WindowEnd, RefereeError> {
    match broker.receive(Patience::Forever)?.kind {
        to_referee::ABORT if page.words.in_window(order.window).done.load(Ordering::Acquire) == order.window => {
            Ok(WindowEnd::Checked)
        }
        to_referee::ABORT => Ok(WindowEnd::Aborted),
        _ => Err(ChannelError::Protocol("an order came in the middle of a window").into()),
    }
}
