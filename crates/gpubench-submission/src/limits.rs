//! What a submission may have at most.

/// The limits of a submission. Reading one takes time and memory in proportion to them, whatever
/// the submission is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of text: the main file and its headers together. They are split into words, which
    /// takes 32 times as much memory.
    pub text: u64,
    /// Most bytes of compiled code, and of everything in a tarball.
    pub total: u64,
    /// Most files and folders in a folder or tarball.
    pub entries: usize,
    /// Most folders inside of each other.
    pub depth: usize,
    /// Most bytes of a description.
    pub description: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            text: 4 << 20,
            total: 256 << 20,
            entries: 4096,
            depth: 16,
            description: 64 << 10,
        }
    }
}
