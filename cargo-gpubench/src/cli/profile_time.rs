//! Times for profilers on the command line.

use std::{str::FromStr, time::Duration};

use crate::config::{InvalidTimeLimit, TimeLimit};

/// A time longer than nothing; a number without a unit is of seconds, as criterion takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProfileTime(Duration);

impl ProfileTime {
    pub(super) fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for ProfileTime {
    type Err = InvalidTimeLimit;

    fn from_str(text: &str) -> Result<Self, InvalidTimeLimit> {
        let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
        match seconds {
            Some(Ok(Duration::ZERO)) => Err(InvalidTimeLimit::Zero),
            Some(Ok(duration)) => Ok(Self(duration)),
            Some(Err(_)) => Err(InvalidTimeLimit::Form),
            None => text.parse().map(TimeLimit::duration).map(Self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_need_no_unit() {
        for (text, ms) in [("5", 5000), ("0.5", 500), ("5s", 5000), ("1min", 60_000)] {
            assert_eq!(
                text.parse::<ProfileTime>().ok(),
                Some(ProfileTime(Duration::from_millis(ms))),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "0", "-1", "NaN", "inf", "soon", "0s"] {
            assert!(text.parse::<ProfileTime>().is_err(), "{text}");
        }
    }
}
