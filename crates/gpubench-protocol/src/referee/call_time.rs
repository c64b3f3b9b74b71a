//! The time of a call that the worker's host holds back, by a clock of the referee's host.
//!
//! Each end errs on the side of a longer call, whenever the referee's host looks: the call begins
//! before *go* can be seen, and ends when *returned* is seen.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::page::WorkerPage;
use super::window::{POLL_INTERVAL, handle_abort};
use crate::wire::{Channel, WindowEnd, WindowOrder};

/// What the referee's host has seen of a call.
pub(super) enum SeenCall {
    /// It has returned, this long after the last look that did not find *go*.
    Took(Duration),
    /// It has returned at this time of the device's clock, which the host can read, in nanoseconds.
    ReturnedAt(u64),
    /// The window was over without *returned*.
    NotReturned,
    /// The broker ended the window, or its time was up.
    EndedEarly(WindowEnd),
}

impl SeenCall {
    /// Returns the time of the call in nanoseconds; 0 if it has not returned. `s1_ns` is the
    /// device's clock right before *go*.
    pub(super) fn wall_ns(&self, s1_ns: u64) -> u64 {
        match self {
            SeenCall::Took(took) => took.as_nanos() as u64,
            SeenCall::ReturnedAt(at_ns) => at_ns.saturating_sub(s1_ns),
            SeenCall::NotReturned | SeenCall::EndedEarly(_) => 0,
        }
    }

    /// Returns how the window ended, if it ended early.
    pub(super) fn ended_early(&self) -> Option<WindowEnd> {
        match self {
            SeenCall::EndedEarly(end) => Some(*end),
            SeenCall::Took(_) | SeenCall::ReturnedAt(_) | SeenCall::NotReturned => None,
        }
    }
}

/// How a wait for a word ended.
enum Wait {
    Seen,
    /// *Done* came first. A window whose call is counted has no *returned*.
    Over,
    EndedEarly(WindowEnd),
}

impl Referee {
    /// Waits for *returned*. `queued_from` is a time before *go* was queued. A worker that writes
    /// *returned* too early makes the rest of its window longer by the device's clock.
    pub(super) fn time_call(
        &mut self,
        case: &OpenCase,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
        queued_from: Instant,
    ) -> Result<SeenCall, RefereeError> {
        let mut before_go = queued_from;
        let go = case.start.words.on_host().in_window(order.window).go();
        let returned = page.words.on_host().in_window(order.window).returned();
        if self.driver.host_reads_clock_ns().is_none() {
            match self.see(go, page, order, broker, &mut before_go)? {
                Wait::Seen => {}
                Wait::Over => return Ok(SeenCall::NotReturned),
                Wait::EndedEarly(end) => return Ok(SeenCall::EndedEarly(end)),
            }
        }
        Ok(match self.see(returned, page, order, broker, &mut Instant::now())? {
            Wait::Seen => match self.driver.host_reads_clock_ns() {
                Some(at_ns) => SeenCall::ReturnedAt(at_ns),
                None => SeenCall::Took(before_go.elapsed()),
            },
            Wait::Over => SeenCall::NotReturned,
            Wait::EndedEarly(end) => SeenCall::EndedEarly(end),
        })
    }

    /// Waits until a word has the window's number, or the window has ended. `missed` is the time of
    /// the last look that did not find it.
    fn see(
        &mut self,
        word: u64,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
        missed: &mut Instant,
    ) -> Result<Wait, RefereeError> {
        let (patience, began) = (Duration::from_nanos(order.patience_ns), Instant::now());
        let done = &page.words.in_window(order.window).done;
        while !self.driver.see_value(word, order.window, POLL_INTERVAL, missed) {
            if broker.is_readable()? {
                return Ok(Wait::EndedEarly(handle_abort(page, order, broker)?));
            }
            if done.load(Ordering::Acquire) == order.window {
                // The worker may have written both since the look.
                let is_seen = self.driver.see_value(word, order.window, Duration::ZERO, missed);
                return Ok(if is_seen { Wait::Seen } else { Wait::Over });
            }
            if began.elapsed() >= patience {
                return Ok(Wait::EndedEarly(WindowEnd::NotDone));
            }
        }
        Ok(Wait::Seen)
    }
}
