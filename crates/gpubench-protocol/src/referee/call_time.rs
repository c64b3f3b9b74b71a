//! The time of a call that the worker's host holds back, by the clock of the referee's host.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::page::WorkerPage;
use super::window::{POLL_INTERVAL, handle_abort};
use crate::wire::{Channel, WindowEnd, WindowOrder};

/// The time of a call.
pub(super) struct CallTime {
    /// From *go* to *returned*, if both came.
    pub(super) wall: Option<Duration>,
    /// How the window ended, if the broker ended it or its time was up.
    pub(super) ended_early: Option<WindowEnd>,
}

/// How a wait for a word ended.
enum Wait {
    Seen,
    /// *Done* came first. A window whose call is counted has no *returned*.
    Over,
    EndedEarly(WindowEnd),
}

impl Referee {
    /// Waits for *returned*, and takes the time from *go* on. A worker that writes *returned* too
    /// early makes the rest of its window longer by the device's clock.
    pub(super) fn time_call(
        &mut self,
        case: &OpenCase,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<CallTime, RefereeError> {
        let go = case.start.words.on_host().in_window(order.window).go();
        let returned = page.words.on_host().in_window(order.window).returned();
        let ended = |ended_early| CallTime {
            wall: None,
            ended_early,
        };
        match self.see(go, page, order, broker)? {
            Wait::Seen => {}
            Wait::Over => return Ok(ended(None)),
            Wait::EndedEarly(end) => return Ok(ended(Some(end))),
        }
        let began = Instant::now();
        Ok(match self.see(returned, page, order, broker)? {
            Wait::Seen => CallTime {
                wall: Some(began.elapsed()),
                ended_early: None,
            },
            Wait::Over => ended(None),
            Wait::EndedEarly(end) => ended(Some(end)),
        })
    }

    /// Waits until a word has the window's number, or the window has ended.
    fn see(
        &mut self,
        word: u64,
        page: &WorkerPage,
        order: &WindowOrder,
        broker: &Channel,
    ) -> Result<Wait, RefereeError> {
        let (patience, began) = (Duration::from_nanos(order.patience_ns), Instant::now());
        let done = &page.words.in_window(order.window).done;
        while !self.driver.see_value(word, order.window, POLL_INTERVAL) {
            if broker.is_readable()? {
                return Ok(Wait::EndedEarly(handle_abort(page, order, broker)?));
            }
            if done.load(Ordering::Acquire) == order.window {
                return Ok(Wait::Over);
            }
            if began.elapsed() >= patience {
                return Ok(Wait::EndedEarly(WindowEnd::NotDone));
            }
        }
        Ok(Wait::Seen)
    }
}
