//! Settings that are on or off.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Value;

/// Whether something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// It is not.
    Off,
    /// It is.
    On,
}

impl Value for Switch {}

/// A text that is neither on nor off.
#[derive(Debug, Error)]
#[error("use `1`, `true`, `yes` or `on`, or else `0`, `false`, `no` or `off`")]
pub struct InvalidSwitch;

impl FromStr for Switch {
    type Err = InvalidSwitch;

    fn from_str(text: &str) -> Result<Self, InvalidSwitch> {
        match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(Self::On),
            "0" | "false" | "no" | "off" => Ok(Self::Off),
            _ => Err(InvalidSwitch),
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "false",
            Self::On => "true",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_on_and_off_are_parsed_and_others_refused() {
        for (text, switch) in [
            ("1", Switch::On),
            ("Yes", Switch::On),
            ("OFF", Switch::Off),
            ("0", Switch::Off),
        ] {
            assert_eq!(text.parse::<Switch>().ok(), Some(switch), "{text}");
        }
        for switch in [Switch::On, Switch::Off] {
            assert_eq!(switch.to_string().parse::<Switch>().ok(), Some(switch));
        }
        for text in ["", "2", "maybe", "-1"] {
            assert!(text.parse::<Switch>().is_err(), "{text}");
        }
    }
}
