//! Times a window's call.

use std::sync::atomic::Ordering;

use crate::window::WindowKind;
use crate::wire::{Claim, PageAddresses, SharedPage};
use gpubench_device::{DeviceError, DevicePtr, Driver, Event, Stream};

/// Number of empty readings. Their median is reported as the overhead. The shortest one of a
/// control worker is the least possible claim.
const EMPTY_READINGS: usize = 101;

/// The stopwatch of a window's call. It is armed right before the call, disarmed right after it,
/// and read when the stream's work has ended.
#[derive(Clone, Copy)]
pub(super) enum Stopwatch {
    /// An event before and after the call.
    Events { start: Event, end: Event },
    /// No events: nothing may come between the call and the digest kernel, or the call's parts have
    /// their own.
    Absent,
}

impl Stopwatch {
    /// The two events of a device.
    pub(super) fn events(driver: &mut dyn Driver) -> Result<Stopwatch, DeviceError> {
        let (start, end) = (driver.event()?, driver.event()?);
        Ok(Stopwatch::Events { start, end })
    }

    /// Returns the stopwatch for a kind of window, with the device's events.
    pub(super) fn for_window(self, kind: WindowKind) -> Stopwatch {
        match kind {
            WindowKind::EarlyCheck | WindowKind::Parts | WindowKind::Outside => Stopwatch::Absent,
            // An empty window submits what a timed one does besides its call.
            WindowKind::Timed
            | WindowKind::Control
            | WindowKind::Single
            | WindowKind::SingleControl
            | WindowKind::Empty => self,
        }
    }

    /// Queues the first event. Nothing may come between it and the call.
    pub(super) fn arm(self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Stopwatch::Events { start, .. } => driver.record(start, stream),
            Stopwatch::Absent => Ok(()),
        }
    }

    /// Queues the second event.
    pub(super) fn disarm(self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Stopwatch::Events { end, .. } => driver.record(end, stream),
            Stopwatch::Absent => Ok(()),
        }
    }

    /// Writes the reading into a claim, after the stream's work has ended.
    pub(super) fn read(self, driver: &mut dyn Driver, claim: Claim) -> Result<Claim, DeviceError> {
        match self {
            Stopwatch::Events { start, end } => Ok(Claim {
                elapsed_ns: driver.elapsed_ns(start, end)?,
                ..claim
            }),
            Stopwatch::Absent => Ok(claim),
        }
    }

    /// Returns the median reading for no call, in nanoseconds.
    pub(super) fn overhead(self, driver: &mut dyn Driver, stream: Stream) -> Result<f64, DeviceError> {
        let mut readings = Vec::with_capacity(EMPTY_READINGS);
        for _ in 0..EMPTY_READINGS {
            self.arm(driver, stream)?;
            self.disarm(driver, stream)?;
            driver.synchronize(stream)?;
            readings.push(self.read(driver, Claim::empty(0))?.elapsed_ns);
        }
        Ok(middle(readings))
    }

    /// Returns the shortest reading for no call, in nanoseconds. As in a window, the stream waits
    /// until both events are queued. The page, which is no longer used, holds it back.
    pub(super) fn shortest_empty_reading(
        self,
        driver: &mut dyn Driver,
        stream: Stream,
        page: &SharedPage,
        on_device: PageAddresses,
    ) -> Result<f64, DeviceError> {
        let last = page.in_window(0).go.load(Ordering::Relaxed);
        let mut shortest_ns = f64::INFINITY;
        for reading in 1..=EMPTY_READINGS as u32 {
            let go = last.wrapping_add(reading);
            driver.wait_value(stream, DevicePtr(on_device.go()), go)?;
            self.arm(driver, stream)?;
            self.disarm(driver, stream)?;
            driver.store_value(page.on_host().go(), go);
            driver.synchronize(stream)?;
            shortest_ns = shortest_ns.min(self.read(driver, Claim::empty(0))?.elapsed_ns);
        }
        Ok(shortest_ns)
    }
}

/// Returns the one of some readings that as many are below as above.
fn middle(mut readings: Vec<f64>) -> f64 {
    readings.sort_by(f64::total_cmp);
    readings[readings.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_device::cpu::CpuDriver;
    use gpubench_device::cpu::executor::ScheduleSeed;
    use gpubench_device::faulty::FaultyDriver;
    use std::sync::{Arc, Mutex};

    #[test]
    fn empty_readings_wait_at_a_gate_until_both_events_are_queued() {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&calls);
        let cpu = CpuDriver::new(None, ScheduleSeed::Natural).unwrap();
        let mut driver = FaultyDriver::watched(cpu, move |_, call| log.lock().unwrap().push(call.clone()));
        let page = SharedPage::create(1).unwrap();
        page.in_window(0).go.store(41, Ordering::Relaxed);
        let on_device = page.mapped_at(driver.register(page.on_host().base(), page.bytes()).unwrap().0);
        let (stream, stopwatch) = (driver.stream().unwrap(), Stopwatch::events(&mut driver).unwrap());
        calls.lock().unwrap().clear();
        let shortest_ns = stopwatch
            .shortest_empty_reading(&mut driver, stream, &page, on_device)
            .unwrap();
        assert!(shortest_ns.is_finite() && shortest_ns >= 0.0, "{shortest_ns}");
        let calls = calls.lock().unwrap();
        let gates = calls.iter().filter(|call| !call.words.is_empty());
        let gates: Vec<_> = gates.map(|call| (call.name.as_str(), call.words[1])).collect();
        let expected = (1..=EMPTY_READINGS as u64).flat_map(|reading| {
            let go = 41 + reading;
            [("wait_value", go), ("store_value", go)]
        });
        assert_eq!(gates, expected.collect::<Vec<_>>());
        let first: Vec<&str> = calls.iter().take(5).map(|call| call.name.as_str()).collect();
        assert_eq!(first, ["wait_value", "record", "record", "store_value", "synchronize"]);
    }

    #[test]
    fn the_overhead_is_the_middle_reading() {
        assert_eq!(middle(vec![5.0, 1.0, 9.0, 2.0, 7.0]), 5.0);
    }

    #[test]
    fn early_checks_and_parts_are_not_timed_as_a_whole() {
        let mut driver = CpuDriver::new(None, ScheduleSeed::Natural).unwrap();
        let stopwatch = Stopwatch::events(&mut driver).unwrap();
        let is_timed = |kind| matches!(stopwatch.for_window(kind), Stopwatch::Events { .. });
        use WindowKind::*;
        assert!([Timed, Control, Single, SingleControl, Empty].into_iter().all(is_timed));
        assert!(![EarlyCheck, Parts].into_iter().any(is_timed));
    }
}
