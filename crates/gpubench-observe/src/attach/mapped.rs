//! Drivers that processes map while they are observed: in containers, or in unusual places.

use std::path::PathBuf;

use gpubench_bpf::BpfError;
use gpubench_bpf::perf::{Lifecycle, Records, Watched};

use super::libraries::{below_root, is_driver, mapped_by};

/// A driver that a process mapped.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) pid: u32,
    /// A path from here that leads to the file, while the process runs.
    pub(super) file: PathBuf,
    /// The number of the file within its file system.
    pub(super) number: u64,
}

/// The files that processes map from now on.
#[derive(Debug)]
pub(super) struct MappedDrivers(Records);

impl MappedDrivers {
    pub(super) fn watch() -> Result<MappedDrivers, BpfError> {
        Records::open(Watched::System).map(MappedDrivers)
    }

    /// Returns the drivers that were mapped since the last call.
    pub(super) fn next(&mut self) -> Vec<Mapped> {
        let mut found = Vec::new();
        for record in self.0.read() {
            if let Lifecycle::Mapped { name, inode, .. } = record.what
                && is_driver(&name)
            {
                // A process that has ended leaves the path as it called it.
                let in_process = below_root(record.pid, &name);
                let elsewhere = mapped_by(record.pid).into_iter().next();
                let exists = |path: &PathBuf| path.exists();
                let file = elsewhere.or(Some(in_process).filter(exists)).unwrap_or(name);
                found.push(Mapped {
                    pid: record.pid,
                    file,
                    number: inode,
                });
            }
        }
        found
    }
}
