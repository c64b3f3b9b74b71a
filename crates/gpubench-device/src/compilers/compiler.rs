//! The interface of kernel compilers. A kernel that does not compile does not affect the others.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gpubench::catalog::Source;

use super::diagnostics::{readable, unknown_kernel};
use super::error::KernelBuildError;
use super::options::include_folders;
use super::process::{Finished, Patience, Unfinished, run};
use super::readable::Readable;
use super::scratch::Scratch;
use crate::FrozenFile;
use crate::cgroup::MemoryWatch;
use gpubench_contract::units::size;

/// What compilers say if a disk is full. A source can make them say it, too.
const DISK_FULL: &str = "No space left on device";

/// A disk with this much free space was not full. A compiler removes what it could not finish.
const ENOUGH_BYTES: u64 = 64 << 20;

/// Returns the free space of the file system of a folder, in bytes.
fn free_bytes(folder: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The result of compiling the kernels of a source separately.
#[derive(Debug)]
pub struct Compiled {
    /// The file with the kernels that compile; `None` if none does.
    pub library: Option<PathBuf>,
    /// The name expressions of the other kernels, with the error of each.
    pub rejected: BTreeMap<String, KernelBuildError>,
}

/// A request to compile kernels of a source.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The source.
    pub source: &'a Source,
    /// The kernels' name expressions, such as `axpy` or `reduce<256>`.
    pub names: &'a [String],
    /// The cache directory.
    pub cache: &'a Path,
    /// A flag that ends a running compilation when it is set.
    pub interrupt: &'a AtomicBool,
    /// The time limit of a compiler, if it is shorter than the compiler's own.
    pub most: Option<Duration>,
}

impl Wanted<'_> {
    /// Runs a compiler's command with a time limit. `name` is the compiler's name in messages.
    pub(super) fn run(
        &self,
        (name, limit, readable): (&'static str, Duration, &Readable),
        command: &mut Command,
        input: Stdio,
        scratch: &Scratch,
    ) -> Result<Finished, KernelBuildError> {
        let limit = self.most.map_or(limit, |most| most.min(limit));
        let patience = Patience {
            limit,
            interrupt: self.interrupt,
        };
        // Others are relative to the copy of the source, not to this process's folder.
        let folders = include_folders(&self.source.options).into_iter();
        let readable = readable.clone().and(folders.filter(|folder| folder.is_absolute()));
        let memory = MemoryWatch::begin();
        let finished = run(command, input, scratch.directory(), &readable, patience);
        let finished = finished.map_err(|unfinished| match unfinished {
            Unfinished::Interrupted => KernelBuildError::Interrupted,
            Unfinished::TimedOut => KernelBuildError::Unusable(format!(
                "{name} did not finish `{}` within {} s",
                self.source.name,
                limit.as_secs()
            )),
            Unfinished::Io(error) => KernelBuildError::io("run", Path::new(command.get_program()))(error),
        })?;
        match self.shortage(name, &finished, memory, scratch) {
            Some(shortage) => Err(shortage),
            None => Ok(finished),
        }
    }

    /// Returns what the machine lacked, if that is why a compiler failed.
    fn shortage(
        &self,
        name: &'static str,
        finished: &Finished,
        memory: MemoryWatch,
        scratch: &Scratch,
    ) -> Option<KernelBuildError> {
        if finished.status.success() {
            return None;
        }
        let is_full = || free_bytes(scratch.directory()).is_ok_and(|free| free < ENOUGH_BYTES);
        if finished.stderr.contains(DISK_FULL) && is_full() {
            let full = io::Error::from(rustix::io::Errno::NOSPC);
            return Some(KernelBuildError::io("compile below", scratch.directory())(full));
        }
        memory.exceeded().map(|limit| KernelBuildError::OutOfMemory {
            compiler: name,
            source_name: self.source.name.clone(),
            limit: size(limit),
        })
    }

    /// Returns why a compiler rejected the source: a missing kernel, or else the compiler's
    /// messages.
    pub(super) fn rejection(&self, target: String, scratch: &Scratch, messages: &str) -> KernelBuildError {
        unknown_kernel(self.source, self.names, messages).unwrap_or_else(|| KernelBuildError::Compile {
            source_name: self.source.name.clone(),
            target,
            diagnostics: readable(self.source, scratch, messages),
        })
    }
}

/// Compiles kernel sources for a device.
pub trait Compiler: Sync {
    /// Returns the compiler's name, version and path, for messages.
    fn identity(&self) -> &str;

    /// Returns the target of its files: `native` for this machine's processor, a processor level
    /// such as `x86-64-v3`, or a GPU architecture such as `sm_90`.
    fn target(&self) -> String;

    /// Returns notices for the user before kernels are compiled, one line each.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns why nothing can be compiled, if only files in the cache can be used. The caller adds
    /// the hint.
    fn lack(&self) -> Option<String> {
        None
    }

    /// Compiles kernels into a file in the cache, or finds the file there. Returns its path.
    ///
    /// # Errors
    /// When the source does not compile, uses features that the device lacks, lacks a kernel, or a
    /// file cannot be written.
    fn compile(&self, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError>;

    /// Compiles the host code of a source, with the kernels that it launches, to a library in
    /// the cache, or finds it there. Returns its path. [`Wanted::names`] does not matter. `linked`
    /// are shared libraries that it needs.
    ///
    /// # Errors
    /// When the source does not compile, this compiler has none for host code, or a file cannot be
    /// written.
    fn compile_library(&self, wanted: Wanted<'_>, linked: &[PathBuf]) -> Result<PathBuf, KernelBuildError>;

    /// Returns the compiler that made a file of this one, for messages. It matters if this compiler
    /// consists of several.
    fn made_by(&self, _compiled: &Path) -> String {
        self.identity().to_owned()
    }

    /// Returns a notice about how a file was made, if that is unusual for its source.
    fn made_otherwise(&self, _source: &Source, _compiled: &Path) -> Option<String> {
        None
    }

    /// Returns an immutable copy of a file that this compiler made. Later changes to the file have
    /// no effect.
    ///
    /// # Errors
    /// When the file cannot be read, or is known to have changed.
    fn freeze(&self, compiled: &Path) -> Result<FrozenFile, KernelBuildError> {
        Ok(FrozenFile::copy_of(compiled)?)
    }

    /// Compiles as [`Compiler::compile`] does, but leaves out the names that do not compile.
    ///
    /// # Errors
    /// When no name can be compiled because of the source itself, or a file cannot be written.
    fn compile_separately(&self, wanted: Wanted<'_>) -> Result<Compiled, KernelBuildError> {
        let names = wanted.names;
        let compile = |names: &[String]| self.compile(Wanted { names, ..wanted });
        let together = match compile(names) {
            Ok(library) => {
                return Ok(Compiled {
                    library: Some(library),
                    rejected: BTreeMap::new(),
                });
            }
            Err(error) if error.may_concern_one_name() => error,
            Err(error) => return Err(error),
        };
        // Reports errors of the source itself once, instead of once per name.
        compile(&[])?;
        if let [name] = names {
            return Ok(Compiled {
                library: None,
                rejected: BTreeMap::from([(name.clone(), together)]),
            });
        }
        let mut rejected = BTreeMap::new();
        reject(&compile, names, &mut rejected)?;
        let (bad, good): (Vec<String>, Vec<String>) =
            names.iter().cloned().partition(|name| rejected.contains_key(name));
        let library = match (bad.is_empty(), good.is_empty()) {
            // Each name compiles alone, but not with the others.
            (true, _) => return Err(together),
            (false, true) => None,
            (false, false) => Some(compile(&good)?),
        };
        Ok(Compiled { library, rejected })
    }
}

/// Finds the names that do not compile, half by half, because most compile together.
fn reject(
    compile: &dyn Fn(&[String]) -> Result<PathBuf, KernelBuildError>,
    names: &[String],
    rejected: &mut BTreeMap<String, KernelBuildError>,
) -> Result<(), KernelBuildError> {
    let (first, second) = names.split_at(names.len() / 2);
    for part in [first, second] {
        match (part, compile(part)) {
            (_, Ok(_)) => {}
            (_, Err(error)) if !error.may_concern_one_name() => return Err(error),
            ([name], Err(error)) => {
                rejected.insert(name.clone(), error);
            }
            (_, Err(_)) => reject(compile, part, rejected)?,
        }
    }
    Ok(())
}
