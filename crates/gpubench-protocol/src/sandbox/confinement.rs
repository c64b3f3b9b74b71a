//! What has become of the sandbox round a hosted worker.

use bytemuck::Zeroable;

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
    /// What the broker makes of a worker's report. Anything but a report that says closed counts as open.
    pub fn of_report(report: &SandboxReport) -> Confinement {
        match SandboxState::from_number(report.state) {
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
            state: state as u32,
            reason,
            ..SandboxReport::zeroed()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confinement_travels_and_an_unknown_state_is_open() {
        for confinement in [Confinement::Closed, Confinement::Open("no filter".to_owned())] {
            assert_eq!(Confinement::of_report(&confinement.to_report()), confinement);
        }
        let unknown = SandboxReport {
            state: 7,
            ..Confinement::Closed.to_report()
        };
        assert!(matches!(Confinement::of_report(&unknown), Confinement::Open(_)));
    }
}
