//! Rests of the device between windows.

use std::time::{Duration, Instant};

use super::protocol::Protocol;
use crate::clients::Interrupt;
use gpubench_protocol::window::WindowKind;
use gpubench_stats::Spent;

/// Length of a rest in multiples of the window's time on the device. FlashInfer's benchmarks rest
/// as long with `cooldown`, and no longer than [`LONGEST`] either.
const TIMES: f64 = 5.0;

const LONGEST: Duration = Duration::from_secs(1);

/// Whether the device rests after each window, to cool down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// It does not.
    #[default]
    Skipped,
    /// `--cooldown`: five times as long as the calls took on it, at most 1 s.
    Taken,
}

/// The rests of a measurement. Each is taken before the next window, so there is none at the end.
/// Nothing is queued meanwhile.
#[derive(Debug)]
pub(super) struct Rests {
    rest: Rest,
    /// Length of the rest after a window.
    length: Duration,
    /// Whether there was a window since the last rest.
    is_due: bool,
    /// Number of rests so far.
    count: u64,
    /// Length of all rests so far.
    taken: Duration,
}

/// Takes wall time without rests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    started: Instant,
    /// Length of the rests before.
    taken: Duration,
}

impl Rests {
    /// Returns the rests of a measurement, before its first window.
    pub(super) fn from_protocol(protocol: &Protocol<'_>) -> Rests {
        Rests::new(if protocol.takes_times() {
            protocol.rest
        } else {
            Rest::Skipped
        })
    }

    fn new(rest: Rest) -> Rests {
        Rests {
            rest,
            length: Duration::ZERO,
            is_due: false,
            count: 0,
            taken: Duration::ZERO,
        }
    }

    /// Returns the number of rests so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the length of all rests so far.
    pub(super) fn taken(&self) -> Duration {
        self.taken
    }

    /// Notes that a window has ended, and the time of its calls. After a window of another kind the
    /// rest is as long as after the last timed one: early checks make the same calls, and control
    /// windows are compared with timed windows.
    pub(super) fn note_window(&mut self, kind: WindowKind, elapsed_ns: Option<f64>) {
        self.is_due = self.rest == Rest::Taken;
        if let (WindowKind::Timed, Some(elapsed_ns)) = (kind, elapsed_ns) {
            self.length = Spent::device_ns(TIMES * elapsed_ns).min(LONGEST);
        }
    }

    /// Takes the rest that is due, if one is. It ends early if the user ends the run.
    pub(super) fn take(&mut self, interrupt: &Interrupt) {
        if std::mem::take(&mut self.is_due) {
            let began = Instant::now();
            interrupt.sleep(self.length);
            self.count += 1;
            self.taken += began.elapsed();
        }
    }

    /// Starts a stopwatch.
    pub(super) fn stopwatch(&self) -> Stopwatch {
        Stopwatch {
            started: Instant::now(),
            taken: self.taken,
        }
    }
}

impl Stopwatch {
    /// Returns the time since its start without the rests since then.
    pub(super) fn read(self, rests: &Rests) -> Duration {
        self.started.elapsed().saturating_sub(rests.taken - self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::super::run_mode::RunMode;
    use super::*;

    /// Returns the length of the rest after windows of these kinds and times.
    fn after(rest: Rest, windows: &[(WindowKind, f64)]) -> Option<Duration> {
        let mut rests = Rests::new(rest);
        for (kind, elapsed_ns) in windows {
            rests.note_window(*kind, Some(*elapsed_ns));
        }
        rests.is_due.then_some(rests.length)
    }

    #[test]
    fn a_rest_is_five_times_as_long_as_the_calls_and_at_most_a_second() {
        let after_timed = |ns| after(Rest::Taken, &[(WindowKind::Timed, ns)]);
        assert_eq!(after_timed(2e6), Some(Duration::from_millis(10)));
        assert_eq!(after_timed(199e6), Some(Duration::from_millis(995)));
        for long in [200e6, 1e12, f64::INFINITY] {
            assert_eq!(after_timed(long), Some(Duration::from_secs(1)));
        }
        assert_eq!(after_timed(f64::NAN), Some(Duration::ZERO));
        assert_eq!(after(Rest::Skipped, &[(WindowKind::Timed, 2e6)]), None);
    }

    #[test]
    fn windows_without_a_time_of_the_case_are_followed_by_the_same_rest() {
        use WindowKind::{Control, EarlyCheck, Empty, Parts, Single, SingleControl};
        for kind in [EarlyCheck, Control, Parts, Single, SingleControl, Empty] {
            let length = after(Rest::Taken, &[(WindowKind::Timed, 2e6), (kind, 7.0)]);
            assert_eq!(length, Some(Duration::from_millis(10)), "{kind:?}");
        }
    }

    #[test]
    fn a_rest_is_taken_once_and_no_stopwatch_counts_it() {
        let (mut rests, interrupt) = (Rests::new(Rest::Taken), Interrupt::default());
        rests.note_window(WindowKind::Timed, Some(2e6));
        let (began, stopwatch) = (Instant::now(), rests.stopwatch());
        rests.take(&interrupt);
        assert!(began.elapsed() >= Duration::from_millis(10));
        assert!(stopwatch.read(&rests) <= began.elapsed() - Duration::from_millis(10));
        rests.take(&interrupt);
        assert_eq!(rests.count(), 1, "nothing has run since the first");
    }

    #[test]
    fn only_a_measurement_of_times_rests() {
        use gpubench_contract::MetricKind::{Instructions, Time};
        let stage = super::super::simulated_case::Stage::of(1);
        for (rest, mode, kind, rests) in [
            (Rest::Taken, RunMode::Measure, Time, Rest::Taken),
            (Rest::Skipped, RunMode::Measure, Time, Rest::Skipped),
            (Rest::Taken, RunMode::Measure, Instructions, Rest::Skipped),
            (Rest::Taken, RunMode::Test, Time, Rest::Skipped),
        ] {
            let metric = crate::clients::MetricRequest {
                kind,
                ..Default::default()
            };
            let protocol = Protocol {
                rest,
                mode,
                metric,
                ..stage.protocol()
            };
            assert_eq!(
                Rests::from_protocol(&protocol).rest,
                rests,
                "{rest:?} {mode:?} {kind:?}"
            );
        }
    }
}
