//! One window from the referee's side.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytemuck::Zeroable;

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::check::seal_keys;
use super::stamps::Moment;
use crate::window::{Place, WindowKind};
use crate::wire::{Channel, ChannelError, Patience, SharedPage, WindowEnd, WindowFacts, WindowOrder, to_referee};

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

        let page = case.page_of(kind)?;
        match kind {
            WindowKind::Null => self.repeat_takings(case)?,
            WindowKind::Timed | WindowKind::EarlyCheck => self.take_from_author(case, order.window)?,
        }
        self.driver.reset_persisting_lines()?;
        // From here to S1 nothing waits for the host, so that a gap between the stamps is the device's.
        self.stamp(Moment::S0)?;
        self.restore(case, place)?;
        self.stamp(Moment::FlushBegins)?;
        self.flush()?;
        self.stamp(Moment::FlushEnds)?;
        self.reveal(case, place)?;
        self.stamp(Moment::S1)?;
        self.driver.synchronize(self.stream)?;

        let waited_from = Instant::now();
        self.go(page, order.window, place);
        let end = self.wait_done(page, order, broker)?;
        let seals: Vec<u64> = page.seals.iter().map(|seal| seal.load(Ordering::Acquire)).collect();
        self.stamp(Moment::S2)?;
        let waited = waited_from.elapsed();

        facts.end = end as u32;
        if end == WindowEnd::Checked {
            // First of all: what an early *done* left undone must not get more time.
            self.snapshot(case)?;
        }
        self.stamp(Moment::S3)?;
        self.driver.synchronize(self.stream)?;
        let stamped = self.stamped()?;
        match (end, kind) {
            (WindowEnd::Checked, WindowKind::Null) => self.compare_seals(case, place, kind, &seals, &mut facts)?,
            (WindowEnd::Checked, WindowKind::Timed | WindowKind::EarlyCheck) => {
                facts.input_digest = self.digest_inputs(case)?;
                self.examine(case, place, kind, &seals, &mut facts)?;
                self.look_again(case, &mut facts)?;
            }
            (WindowEnd::NotDone | WindowEnd::Aborted, _) => {}
        }
        facts.s0_ns = stamped.at(Moment::S0);
        facts.s1_ns = stamped.at(Moment::S1);
        facts.s2_ns = stamped.at(Moment::S2);
        facts.s3_ns = stamped.at(Moment::S3);
        facts.flush_ns = stamped.between(Moment::FlushBegins, Moment::FlushEnds);
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
