//! One window from the referee's side: all of it is queued in one stream, from the restored buffers to the copies of what the worker made.

use std::time::{Duration, Instant};

use bytemuck::Zeroable;

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::page::WorkerPage;
use super::stamps::Stamps;
use crate::window::Place;
use crate::wire::{Channel, ChannelError, PageLeft, Patience, WindowEnd, WindowFacts, WindowOrder, to_referee};
use gpubench_device::DevicePtr;
use gpubench_device::harness::{Batch, Captured, Ticket};

/// How often the referee looks whether the broker gives a window up while its stream waits for *done*.
const LOOK_AROUND: Duration = Duration::from_millis(2);

/// How long a stream may take behind a *done* that the referee has written itself.
const RELEASED: Duration = Duration::from_secs(10);

impl Referee {
    /// Prepares, lets the worker go, waits for *done*, and looks at what came of it.
    pub(super) fn release(
        &mut self,
        case: &OpenCase,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowFacts, RefereeError> {
        let page = case.page_of(order.seat)?;
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
        let mut batch = self.harness.begin(&mut *self.driver, self.stream)?;
        let keys = self.hand_in_keys(case, place, kind, &mut batch)?;
        let (stamps, left) = self.queue(case, page, place, order, &mut batch)?;
        facts.end = self.wait_done(page, order, broker)?;
        let looks = match facts.end {
            WindowEnd::Checked => Some(self.queue_looks(case, place, kind, keys, &mut batch)?),
            WindowEnd::NotDone | WindowEnd::Aborted => None,
        };

        let found = self.harness.collect(&mut *self.driver, batch)?;
        stamps.report(&found, &mut facts)?;
        let left = PageLeft::of(&found.of(left)?.0).ok_or(RefereeError::Order("the page is cut short"))?;
        match looks {
            // A worker that runs ahead would write a later window's number.
            Some(_) if left.done != order.window => facts.end = WindowEnd::NotDone,
            Some(looks) => self.report(case, place, looks, &found, &left.seals, &mut facts)?,
            None => {}
        }
        let waited = facts.s2_ns.saturating_sub(facts.s1_ns) + facts.flush_ns;
        facts.own_ns = (started.elapsed().as_nanos() as u64).saturating_sub(waited);
        Ok(facts)
    }

    /// Queues the window: the preparation, *go*, the wait for *done*, and the copies of what is there then. The host has no part in it: nothing lies between the
    /// true inputs and *go*, or between *done* and the copies, that it could hold up.
    fn queue(
        &mut self,
        case: &OpenCase,
        page: &WorkerPage,
        place: Place,
        order: &WindowOrder,
        batch: &mut Batch,
    ) -> Result<(Stamps, Ticket<Captured>), RefereeError> {
        let (stream, on_device) = (self.stream, page.on_device);
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
        Ok((Stamps { preparation, s2, s3 }, left))
    }

    /// Waits until all that was queued has been carried out. A window that is given up, by the broker or for its time, is over at once: the referee writes *done*
    /// itself.
    fn wait_done(
        &mut self,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowEnd, RefereeError> {
        let patience = Duration::from_nanos(order.patience_ns);
        let mut end = WindowEnd::Checked;
        let mut began = Instant::now();
        while !self.driver.synchronize_within(self.stream, LOOK_AROUND)? {
            if end == WindowEnd::Checked {
                end = match began.elapsed() {
                    _ if broker.is_readable()? => self.heed_abort(broker)?,
                    waited if waited >= patience => WindowEnd::NotDone,
                    _ => continue,
                };
                began = Instant::now();
            } else if began.elapsed() >= RELEASED {
                return Err(RefereeError::Order("the worker takes back that the window is over"));
            }
            // Again and again: the worker can write there, too.
            self.let_pass(page, order);
        }
        Ok(end)
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
        self.driver.store_value(page.words.on_host().done(), order.window);
    }

    fn heed_abort(&self, broker: &Channel) -> Result<WindowEnd, RefereeError> {
        match broker.receive(Patience::Forever)?.kind {
            to_referee::ABORT => Ok(WindowEnd::Aborted),
            _ => Err(ChannelError::Protocol("an order came in the middle of a window").into()),
        }
    }
}
