//! Counts the instructions of kernels, launch by launch.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::profile::{OwnObjects, instructions_by_function};
use crate::cpu::executor::Pool;
use crate::cpu::valgrind;
use crate::{Count, Counter, DeviceError, FrozenFile};

/// The name that the process's callgrind writes to, in its folder for temporary files. Callgrind
/// appends a number.
pub const PROFILE: &str = "callgrind.out";

/// Counts instructions in a process that runs under callgrind.
pub(in crate::cpu) struct CallgrindCounter {
    pool: Arc<Pool>,
    own: OwnObjects,
    /// Number of the last file that callgrind wrote.
    written: u32,
    range: String,
    counts: Vec<Count>,
}

impl CallgrindCounter {
    /// Returns the counter for launches of a pool. No kernel has been loaded yet.
    ///
    /// # Errors
    /// When callgrind does not run this process.
    pub(in crate::cpu) fn open(pool: &Arc<Pool>) -> Result<CallgrindCounter, DeviceError> {
        if !valgrind::is_under_valgrind() {
            return Err(DeviceError::Unsupported(
                "count instructions, because the process does not run under valgrind".to_owned(),
            ));
        }
        pool.forbid_new_tasks();
        let own = own_objects().map_err(|source| DeviceError::Os {
            what: "listing the libraries of this process",
            source,
        })?;
        Ok(CallgrindCounter {
            pool: Arc::clone(pool),
            own,
            written: 0,
            range: String::new(),
            counts: Vec::new(),
        })
    }

    /// Makes callgrind write its profile. Returns its text.
    fn profile(&mut self) -> io::Result<String> {
        valgrind::write_down();
        self.written += 1;
        let path: PathBuf = std::env::temp_dir().join(format!("{PROFILE}.{}", self.written));
        fs_err::read_to_string(path)
    }
}

impl Counter for CallgrindCounter {
    fn description(&self) -> String {
        "callgrind of valgrind".to_owned()
    }

    fn start(&mut self, _ranges: usize) -> Result<(), DeviceError> {
        self.counts.clear();
        Ok(())
    }

    fn begin(&mut self, range: &str) -> Result<(), DeviceError> {
        range.clone_into(&mut self.range);
        valgrind::forget();
        self.pool.collect_costs(true);
        Ok(())
    }

    fn end(&mut self) -> Result<(), DeviceError> {
        self.pool.collect_costs(false);
        let profile = self.profile().map_err(|source| DeviceError::Os {
            what: "reading callgrind's profile",
            source,
        })?;
        let functions =
            instructions_by_function(&profile, &self.own).map_err(|error| DeviceError::Count(error.to_string()))?;
        self.counts
            .extend(functions.into_iter().map(|(of, instructions)| Count {
                range: self.range.clone(),
                of,
                value: instructions as f64,
            }));
        Ok(())
    }

    fn stop(&mut self) -> Result<Option<Vec<Count>>, DeviceError> {
        Ok(Some(std::mem::take(&mut self.counts)))
    }
}

/// Why the instructions of a module are not counted.
#[derive(Debug, thiserror::Error)]
pub(in crate::cpu) enum Uncountable {
    /// The module could not be copied, or its threads not be denied.
    #[error(transparent)]
    Os(#[from] io::Error),
    /// It could turn the counter off.
    #[error(
        "the kernels send requests to valgrind, which could hide instructions from the count (hint: measure their \
         times, or leave out the requests)"
    )]
    SpeaksToValgrind,
}

/// Copies a module to the folder for temporary files, since valgrind does not read the symbols of a
/// file without a name. What the module's code does is counted on the threads that run blocks, so
/// the calling thread, which loads it, can start no other from now on.
pub(in crate::cpu) fn countable_copy(module: &FrozenFile, number: usize) -> Result<PathBuf, Uncountable> {
    let code = fs_err::read(module.path())?;
    if valgrind::speaks_to_valgrind(&code) {
        return Err(Uncountable::SpeaksToValgrind);
    }
    gpubench_sandbox::deny_new_tasks()?;
    let path = std::env::temp_dir().join(format!("kernels-{number}.so"));
    fs_err::write(&path, code)?;
    Ok(path)
}

/// Returns the program and the libraries of this process.
fn own_objects() -> io::Result<OwnObjects> {
    let maps = fs_err::read_to_string("/proc/self/maps")?;
    let files = maps
        .lines()
        .filter_map(|line| line.find('/').map(|start| &line[start..]));
    let mut libraries: BTreeSet<String> = files.map(str::to_owned).collect();
    let program = fs_err::read_link("/proc/self/exe")?.to_string_lossy().into_owned();
    libraries.remove(&program);
    Ok(OwnObjects { program, libraries })
}
