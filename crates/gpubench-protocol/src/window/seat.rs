//! Whose window it is.

/// Which side of a case a worker under test is on. Each side has a shared page of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Seat {
    /// The code that is measured.
    #[default]
    Candidate,
    /// The other state of the code that it is compared with, in turns.
    Baseline,
}

impl Seat {
    /// The number that travels.
    pub fn number(self) -> u32 {
        match self {
            Seat::Candidate => 0,
            Seat::Baseline => 1,
        }
    }

    /// The seat of a number.
    pub fn from_number(number: u32) -> Option<Seat> {
        [Seat::Candidate, Seat::Baseline]
            .into_iter()
            .find(|seat| seat.number() == number)
    }
}
