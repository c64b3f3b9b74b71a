//! The kinds of windows.

/// What a window is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKind {
    /// wait(go) · event · call · event · seal · done.
    Timed,
    /// wait(go) · call · check kernel launched with programmatic stream serialization and nothing between them · done. It carries no times: an
    /// event between the two would keep the check from starting early (measured on an H200: 3.1 µs after the kernel's end instead of 96.6 µs before it).
    EarlyCheck,
}

impl WindowKind {
    /// The number that travels.
    pub fn number(self) -> u32 {
        match self {
            WindowKind::Timed => 0,
            WindowKind::EarlyCheck => 1,
        }
    }

    /// The kind of a number.
    pub fn from_number(number: u32) -> Option<WindowKind> {
        [WindowKind::Timed, WindowKind::EarlyCheck]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}
