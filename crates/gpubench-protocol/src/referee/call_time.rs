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
use crate::wire::{Channel, WindowEnd, WindowFacts, WindowOrder};
use gpubench_device::monotonic_ns;

/// What the referee's host has seen of a call.
pub(super) enum SeenCall {
    /// It has returned.
    Returned {
        /// When.
        at: ReturnTime,
        /// When the host had seen *returned*, in nanoseconds of `CLOCK_MONOTONIC`.
        seen_ns: u64,
    },
    /// The window was over without *returned*.
    NotReturned,
    /// The broker ended the window, or its time was up.
    EndedEarly(WindowEnd),
}

/// When a call returned.
#[derive(Clone, Copy)]
pub(super) enum ReturnTime {
    /// When the host had seen it. The last look that did not find *go* was at this time, in
    /// nanoseconds of `CLOCK_MONOTONIC`.
    AfterGo { missed_ns: u64 },
    /// At this time of the device's clock, which the host can read, in nanoseconds.
    OnDevice(u64),
}

impl SeenCall {
    /// Adds the call to the facts about its window, if it has returned. They have the device's
    /// clock right before *go* already.
    pub(super) fn report(&self, facts: &mut WindowFacts) {
        let SeenCall::Returned { at, seen_ns } = *self else {
            return;
        };
        (facts.call_ns, facts.go_missed_ns) = match at {
            ReturnTime::AfterGo { missed_ns } => (seen_ns.saturating_sub(missed_ns), missed_ns),
            ReturnTime::OnDevice(at_ns) => (at_ns.saturating_sub(facts.s1_ns), 0),
        };
        facts.returned_seen_ns = seen_ns;
    }

    /// Returns how the window ended, if it ended early.
    pub(super) fn ended_early(&self) -> Option<WindowEnd> {
        match self {
            SeenCall::EndedEarly(end) => Some(*end),
            SeenCall::Returned { .. } | SeenCall::NotReturned => None,
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
    /// Waits for *returned*. `queued_from_ns` is a time before *go* was queued. A worker that
    /// writes *returned* too early makes the rest of its window longer by the device's clock.
    pub(super) fn time_call(
        &mut self,
        case: &OpenCase,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
        queued_from_ns: u64,
    ) -> Result<SeenCall, RefereeError> {
        let mut missed_ns = queued_from_ns;
        let go = case.start.words.on_host().in_window(order.window).go();
        let returned = page.words.on_host().in_window(order.window).returned();
        if self.driver.host_reads_clock_ns().is_none() {
            match self.see(go, page, order, broker, &mut missed_ns)? {
                Wait::Seen => {}
                Wait::Over => return Ok(SeenCall::NotReturned),
                Wait::EndedEarly(end) => return Ok(SeenCall::EndedEarly(end)),
            }
        }
        Ok(match self.see(returned, page, order, broker, &mut 0)? {
            Wait::Seen => SeenCall::Returned {
                at: match self.driver.host_reads_clock_ns() {
                    Some(at_ns) => ReturnTime::OnDevice(at_ns),
                    None => ReturnTime::AfterGo { missed_ns },
                },
                seen_ns: monotonic_ns(),
            },
            Wait::Over => SeenCall::NotReturned,
            Wait::EndedEarly(end) => SeenCall::EndedEarly(end),
        })
    }

    /// Waits until a word has the window's number, or the window has ended. `missed_ns` is the time
    /// of the last look that did not find it.
    fn see(
        &mut self,
        word: u64,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
        missed_ns: &mut u64,
    ) -> Result<Wait, RefereeError> {
        let (patience, began) = (Duration::from_nanos(order.patience_ns), Instant::now());
        let done = &page.words.in_window(order.window).done;
        while !self.driver.see_value(word, order.window, POLL_INTERVAL, missed_ns) {
            if broker.is_readable()? {
                return Ok(Wait::EndedEarly(handle_abort(page, order, broker)?));
            }
            if done.load(Ordering::Acquire) == order.window {
                // The worker may have written both since the look.
                let is_seen = self.driver.see_value(word, order.window, Duration::ZERO, missed_ns);
                return Ok(if is_seen { Wait::Seen } else { Wait::Over });
            }
            if began.elapsed() >= patience {
                return Ok(Wait::EndedEarly(WindowEnd::NotDone));
            }
        }
        Ok(Wait::Seen)
    }
}
