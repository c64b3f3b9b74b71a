//! The modes of a case.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Value;
use gpubench_contract::Mode;
use gpubench_diagnostic::{closest, in_backticks, suggestion};

/// The modes in which a case is measured, in order: at least one, each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    first: Mode,
    others: [Option<Mode>; Mode::ALL.len() - 1],
}

/// An invalid list of modes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidModes {
    /// A word is not a mode.
    #[error(
        "unknown mode `{word}`; the modes are {}{}",
        in_backticks(words()),
        suggestion(closest(word, words()))
    )]
    Unknown {
        /// The word.
        word: String,
    },
    /// A mode appears twice.
    #[error("duplicate mode `{mode}`")]
    Twice {
        /// The mode.
        mode: Mode,
    },
}

impl Value for Modes {}

impl Modes {
    /// Returns a single mode.
    pub const fn only(mode: Mode) -> Modes {
        Modes {
            first: mode,
            others: [None; Mode::ALL.len() - 1],
        }
    }

    /// Returns the modes in their order.
    pub fn iter(&self) -> impl Iterator<Item = Mode> + use<> {
        std::iter::once(self.first).chain(self.others.into_iter().flatten())
    }

    /// Returns the first mode.
    pub fn first(&self) -> Mode {
        self.first
    }

    fn add(&mut self, mode: Mode) -> Result<(), InvalidModes> {
        if self.iter().any(|known| known == mode) {
            return Err(InvalidModes::Twice { mode });
        }
        // There is a place for each mode, and each is added once.
        if let Some(place) = self.others.iter_mut().find(|place| place.is_none()) {
            *place = Some(mode);
        }
        Ok(())
    }
}

impl FromStr for Modes {
    type Err = InvalidModes;

    fn from_str(text: &str) -> Result<Modes, InvalidModes> {
        let (first, others) = match text.split_once(',') {
            None => (text, None),
            Some((first, others)) => (first, Some(others)),
        };
        let mut modes = Modes::only(mode_of(first)?);
        for word in others.into_iter().flat_map(|others| others.split(',')) {
            modes.add(mode_of(word)?)?;
        }
        Ok(modes)
    }
}

impl fmt::Display for Modes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.iter().map(Mode::as_str).collect();
        f.write_str(&words.join(","))
    }
}

fn mode_of(word: &str) -> Result<Mode, InvalidModes> {
    let word = word.trim();
    let mode = Mode::ALL.iter().find(|mode| mode.as_str() == word);
    mode.copied()
        .ok_or_else(|| InvalidModes::Unknown { word: word.to_owned() })
}

fn words() -> impl Iterator<Item = &'static str> {
    Mode::ALL.iter().map(|mode| mode.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_in_their_order() {
        let modes: Modes = "warm, cold".parse().expect("modes");
        assert_eq!(modes.iter().collect::<Vec<_>>(), [Mode::Warm, Mode::Cold]);
        assert_eq!((modes.first(), modes.to_string()), (Mode::Warm, "warm,cold".to_owned()));
        assert_eq!("cold".parse(), Ok(Modes::only(Mode::Cold)));
    }

    #[test]
    fn every_mode_can_be_in_one_list() {
        let all: Vec<&str> = words().collect();
        let modes: Modes = all.join(",").parse().expect("modes");
        assert_eq!(modes.iter().collect::<Vec<_>>(), Mode::ALL);
    }

    #[test]
    fn a_wrong_word_or_a_second_one_is_an_error_with_the_word() {
        let error = |text: &str| text.parse::<Modes>().expect_err(text).to_string();
        let unknown = error("cold,wram");
        assert!(
            unknown.starts_with("unknown mode `wram`; the modes are `cold`, `warm`"),
            "{unknown}"
        );
        assert!(unknown.ends_with(" (hint: did you mean `warm`?)"), "{unknown}");
        assert!(error("").starts_with("unknown mode ``"));
        assert!(error("cold,").starts_with("unknown mode ``"));
        assert_eq!(error("cold,warm,cold"), "duplicate mode `cold`");
    }
}
