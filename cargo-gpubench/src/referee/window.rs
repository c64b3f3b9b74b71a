//! One window from the referee's side.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytemuck::Zeroable;

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::check::seal_keys;
use crate::window::{Place, WindowKind};
use crate::wire::{Channel, ChannelError, Patience, WindowEnd, WindowFacts, WindowOrder, to_referee};

/// How often the referee looks whether the broker gives a window up while it waits for *done*.
const LOOK_AROUND: Duration = Duration::from_millis(2);

impl Referee {
    /// Restores, flushes, lets the worker go, waits for *done*, and looks at what came of it.
    pub(super) fn release(
        &mut self,
        case: &OpenCase,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<WindowFacts, RefereeError> {
        let started = Instant::now();
        let kind = WindowKind::from_number(order.kind).ok_or(RefereeError::Order("unknown kind of window"))?;
        let place = Place {
            case: case.number,
            window: order.window,
        };
        let mut facts = WindowFacts {
            window: order.window,
            kind: order.kind,
            ..WindowFacts::zeroed()
        };

        self.take_from_author(case, order.window)?;
        self.restore(case, place)?;
        self.driver.synchronize(self.stream)?;
        let flush_started = Instant::now();
        self.flush()?;
        self.driver.synchronize(self.stream)?;
        let flush = flush_started.elapsed();
        self.reveal(case, place)?;
        facts.s1_ns = self.stamp(0)?;

        let waited_from = Instant::now();
        self.go(case, order.window, place);
        let end = self.wait_done(case, order, broker)?;
        let seals: Vec<u64> = case
            .page
            .seals
            .iter()
            .map(|seal| seal.load(Ordering::Acquire))
            .collect();
        facts.s2_ns = self.stamp(1)?;
        let waited = waited_from.elapsed();

        facts.end = end as u32;
        if end == WindowEnd::Checked {
            // First of all: what an early *done* left undone must not get more time.
            self.snapshot(case)?;
            facts.input_digest = self.digest_inputs(case)?;
            self.examine(case, place, kind, &seals, &mut facts)?;
            self.look_again(case, &mut facts)?;
        }
        facts.flush_ns = flush.as_nanos() as u64;
        facts.own_ns = started
            .elapsed()
            .saturating_sub(flush)
            .saturating_sub(waited)
            .as_nanos() as u64;
        Ok(facts)
    }

    /// Hands the seal keys out and stores *go*.
    fn go(&mut self, case: &OpenCase, window: u32, place: Place) {
        case.page.seals.iter().for_each(|seal| seal.store(0, Ordering::Relaxed));
        for (word, key) in case.page.keys.iter().zip(seal_keys(&self.seeds, place)) {
            word.store(key, Ordering::Relaxed);
        }
        self.driver.store_value(case.page.on_host().go(), window);
    }

    fn wait_done(&mut self, case: &OpenCase, order: &WindowOrder, broker: &Channel) -> Result<WindowEnd, RefereeError> {
        let deadline = Instant::now() + Duration::from_nanos(order.patience_ns);
        while !self
            .driver
            .await_value(case.page.on_host().done(), order.window, LOOK_AROUND)
        {
            if broker.is_readable()? {
                return self.heed_abort(broker);
            }
            if Instant::now() >= deadline {
                return Ok(WindowEnd::NotDone);
            }
        }
        // A worker that runs ahead would write a later window's number.
        match case.page.done.load(Ordering::Acquire) == order.window {
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

    /// Stamps the device's clock into private memory and reads it, in nanoseconds.
    fn stamp(&mut self, slot: u64) -> Result<u64, RefereeError> {
        let target = self.stamps.offset(8 * slot);
        self.harness.stamp(&mut *self.driver, self.stream, target)?;
        self.driver.synchronize(self.stream)?;
        let mut stamp = [0; 8];
        self.driver.read(target, &mut stamp)?;
        Ok(u64::from_le_bytes(stamp))
    }
}
