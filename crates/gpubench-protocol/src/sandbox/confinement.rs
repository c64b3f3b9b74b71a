//! What has become of the sandbox round a hosted worker.

use crate::wire::{FixedText, SandboxReport, SandboxState};

/// Whether the sandbox round a hosted worker is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// All of it.
    Closed,
    /// Not all of it, for the reasons given.
    Open(String),
}

impl Confinement {
    /// What the broker makes of a worker's report.
    pub fn of_report(report: &SandboxReport) -> Confinement {
        match report.state {
            SandboxState::Closed => Confinement::Closed,
            SandboxState::Open => Confinement::Open(report.reason.printable()),
        }
    }

    /// The record that travels.
    pub fn to_report(&self) -> SandboxReport {
        let (state, reason) = match self {
            Confinement::Closed => (SandboxState::Closed, FixedText::EMPTY),
            Confinement::Open(reason) => (SandboxState::Open, FixedText::new(reason)),
        };
        SandboxReport {
            state,
            reserved: 0,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confinement_travels() {
        for confinement in [Confinement::Closed, Confinement::Open("no filter".to_owned())] {
            assert_eq!(Confinement::of_report(&confinement.to_report()), confinement);
        }
    }
}
