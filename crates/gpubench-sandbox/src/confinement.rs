//! The state of a sandbox.

/// The state of the sandbox around user code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Every part is closed.
    Closed,
    /// Some part is open, for these reasons.
    Open(String),
}
