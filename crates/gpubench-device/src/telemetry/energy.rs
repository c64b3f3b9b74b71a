//! The energy counter of a GPU, read at the moments when it moves.

use std::time::{Duration, Instant};

use super::Gauge;

/// How long to wait until the counter moves. Drivers update it at least every 100 ms.
const PATIENCE: Duration = Duration::from_millis(300);

/// Pause between two readings.
const PAUSE: Duration = Duration::from_micros(500);

/// A new value of the energy counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyReading {
    /// Energy since the driver was loaded, in joules.
    pub joules: f64,
    /// When the value appeared.
    pub at: Instant,
}

/// Waits until the energy counter moves, and returns its new value. `None` if the GPU has no
/// counter, or it does not move.
pub(super) fn next_reading(gauge: &mut dyn Gauge) -> Option<EnergyReading> {
    let first = gauge.energy_j()?;
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let joules = gauge.energy_j()?;
        if joules != first {
            let at = Instant::now();
            return Some(EnergyReading { joules, at });
        }
        std::thread::sleep(PAUSE);
    }
    None
}
