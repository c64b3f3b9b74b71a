//! One window from the referee's side.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytemuck::Zeroable;

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::check::seal_keys;
use crate::window::Place;
use crate::wire::{Channel, ChannelError, Patience, SharedPage, WindowEnd, WindowFacts, WindowOrder, to_referee};

/// How often the referee looks whether the broker gives a window up while it waits for *done*.
const LOOK_AROUND: Duration = Duration::from_millis(2);

impl Referee {
    /// Prepares, lets the worker go, waits for *done*, and looks at what came of it.
    pub(super) fn release(
        &mut self,
        case: &OpenCase,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowFacts, RefereeError> {
        let started = Instant::now();
        let (kind, place) = (order.kind, case.place(order.window));
        let page = case.page_of(kind, order.seat)?;
        let mut facts = WindowFacts {
            window: order.window,
            kind,
            ..WindowFacts::zeroed()
        };

        self.take_instance(case, kind, order.window)?;
        let (mut batch, stamps) = self.prepare(case, place)?;
        // While the device flushes: behind *done* they would take time of their own.
        let keys = self.hand_in_keys(case, place, kind, &mut batch)?;
        self.driver.synchronize(self.stream)?;

        let waited_from = Instant::now();
        self.go(page, order.window, place);
        let end = self.wait_done(page, order, broker)?;
        let seals: Vec<u64> = page.seals.iter().map(|seal| seal.load(Ordering::Acquire)).collect();
        let s2 = self.stamp(&mut batch)?;
        let waited = waited_from.elapsed();

        facts.end = end;
        if end == WindowEnd::Checked {
            // First of all: what an early *done* left undone must not get more time.
            self.snapshot(case)?;
        }
        let s3 = self.stamp(&mut batch)?;
        let looks = match end {
            WindowEnd::Checked => Some(self.queue_looks(case, place, kind, keys, &mut batch)?),
            WindowEnd::NotDone | WindowEnd::Aborted => None,
        };
        let found = self.harness.collect(&mut *self.driver, batch)?;
        stamps.report([s2, s3], &found, &mut facts)?;
        if let Some(looks) = looks {
            self.report(case, place, looks, &found, &seals, &mut facts)?;
        }
        let own = started.elapsed().saturating_sub(waited).as_nanos() as u64;
        facts.own_ns = own.saturating_sub(facts.flush_ns);
        Ok(facts)
    }

    /// Hands the seal keys out and stores *go*.
    fn go(&mut self, page: &SharedPage, window: u32, place: Place) {
        page.seals.iter().for_each(|seal| seal.store(0, Ordering::Relaxed));
        for (word, key) in page.keys.iter().zip(seal_keys(&self.seeds, place)) {
            word.store(key, Ordering::Relaxed);
        }
        self.driver.store_value(page.on_host().go(), window);
    }

    fn wait_done(
        &mut self,
        page: &SharedPage,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowEnd, RefereeError> {
        let deadline = Instant::now() + Duration::from_nanos(order.patience_ns);
        while !self
            .driver
            .await_value(page.on_host().done(), order.window, LOOK_AROUND)
        {
            if broker.is_readable()? {
                return self.heed_abort(broker);
            }
            if Instant::now() >= deadline {
                return Ok(WindowEnd::NotDone);
            }
        }
        // A worker that runs ahead would write a later window's number.
        match page.done.load(Ordering::Acquire) == order.window {
            true => Ok(WindowEnd::Checked),
            false => Ok(WindowEnd::NotDone),
        }
    }

    fn heed_abort(&self, broker: &Channel) -> Result<WindowEnd, RefereeError> {
        match broker.receive(Patience::Forever)?.kind {
            to_referee::ABORT => Ok(WindowEnd::Aborted),
            _ => Err(ChannelError::Protocol("an order came in the middle of a window").into()),
        }
    }
}
