//! How many files a run may hold open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the number of descriptors that this process and those that it starts may have to what the
/// system lets it: a sealed copy of every compiled source is held open.
///
/// Where the system refuses, what needs a descriptor that there is not says so.
pub fn allow_many_descriptors() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let many = Rlimit {
        current: maximum,
        maximum,
    };
    let _ = setrlimit(Resource::Nofile, many);
}
