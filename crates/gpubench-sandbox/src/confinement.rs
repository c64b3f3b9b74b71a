//! Whether a sandbox is closed.

/// Whether the sandbox round code of others is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// All of it.
    Closed,
    /// Not all of it, for the reasons given.
    Open(String),
}
