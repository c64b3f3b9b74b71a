//! The limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit on open descriptors of this process and its children to the system's maximum.
/// The run holds a frozen copy of every compiled source open.
///
/// If the system refuses, an operation that lacks a descriptor fails later.
pub fn allow_many_descriptors() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let many = Rlimit {
        current: maximum,
        maximum,
    };
    let _ = setrlimit(Resource::Nofile, many);
}
