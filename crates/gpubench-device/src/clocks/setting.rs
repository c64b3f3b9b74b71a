//! The clock that a user asks for.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The clock of the multiprocessors to lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSetting {
    /// The clock that the GPU can keep within its rated power.
    Base,
    /// This clock, in MHz.
    Megahertz(NonZeroU32),
}

/// An invalid clock setting.
#[derive(Debug, thiserror::Error)]
#[error("must be `base` or a number of MHz such as `1410`")]
pub struct InvalidClockSetting;

impl FromStr for ClockSetting {
    type Err = InvalidClockSetting;

    fn from_str(text: &str) -> Result<ClockSetting, InvalidClockSetting> {
        match text {
            "base" => Ok(ClockSetting::Base),
            number => number
                .parse()
                .map(ClockSetting::Megahertz)
                .map_err(|_| InvalidClockSetting),
        }
    }
}

impl fmt::Display for ClockSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClockSetting::Base => f.write_str("base"),
            ClockSetting::Megahertz(megahertz) => megahertz.fmt(f),
        }
    }
}
