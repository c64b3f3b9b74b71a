//! What every compiler of kernels does, and how one kernel that does not compile harms no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::slice;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gpubench::catalog::Source;

use super::diagnostics::{readable, unknown_kernel};
use super::error::KernelBuildError;
use super::process::{Finished, Patience, Unfinished, run};
use super::scratch::Scratch;
use crate::FrozenFile;

/// What the names of a source became.
#[derive(Debug)]
pub struct Compiled {
    /// The kernels that compile; nothing if none does.
    pub library: Option<PathBuf>,
    /// The name expressions that do not, with the reason of each.
    pub rejected: BTreeMap<String, KernelBuildError>,
}

/// Kernels that are wanted of a source.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The source.
    pub source: &'a Source,
    /// The kernels' name expressions, such as `axpy` or `reduce<256>`.
    pub names: &'a [String],
    /// The directory that keeps what is compiled.
    pub cache: &'a Path,
    /// A compilation that runs when it is set is ended.
    pub interrupt: &'a AtomicBool,
}

impl Wanted<'_> {
    /// Runs a compiler's command until its time is up. `name` is what messages call it.
    pub(super) fn run(
        &self,
        (name, limit): (&'static str, Duration),
        command: &mut Command,
        input: Stdio,
        scratch: &Scratch,
    ) -> Result<Finished, KernelBuildError> {
        let patience = Patience {
            limit,
            interrupt: self.interrupt,
        };
        run(command, input, scratch.directory(), patience).map_err(|unfinished| match unfinished {
            Unfinished::Interrupted => KernelBuildError::Interrupted,
            Unfinished::TimedOut => KernelBuildError::Unusable(format!(
                "{name} did not finish `{}` within {} s",
                self.source.name,
                limit.as_secs()
            )),
            Unfinished::Io(error) => KernelBuildError::io("run", Path::new(command.get_program()))(error),
        })
    }

    /// Why a compiler rejected the source: a kernel that is not there, or else its own words.
    pub(super) fn rejection(&self, target: String, scratch: &Scratch, messages: &str) -> KernelBuildError {
        unknown_kernel(self.source, self.names, messages).unwrap_or_else(|| KernelBuildError::Compile {
            source_name: self.source.name.clone(),
            target,
            diagnostics: readable(self.source, scratch, messages),
        })
    }
}

/// Makes of kernel sources what a device loads.
pub trait Compiler: Sync {
    /// The compiler's own name and version, and where it is, for people.
    fn identity(&self) -> &str;

    /// What its files run on: `native` for this machine's processor alone, a level of processors
    /// such as `x86-64-v3`, or an architecture of GPUs such as `sm_90`.
    fn target(&self) -> String;

    /// What a person should know before kernels are compiled, a line each.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Why no source can be compiled, where only what is compiled already can be used. What a
    /// person can do is said by who asks.
    fn lack(&self) -> Option<String> {
        None
    }

    /// Compiles kernels into a file in the cache, or finds it there; answers its path.
    ///
    /// # Errors
    /// If the source does not compile, uses what the device cannot run, lacks a kernel, or a file
    /// cannot be written.
    fn compile(&self, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError>;

    /// What made a file that this compiler gave, for people: one of its compilers, where it has
    /// several.
    fn made_by(&self, _compiled: &Path) -> String {
        self.identity().to_owned()
    }

    /// What a person should know of how a file was made, where that is not the usual way for its
    /// source.
    fn made_otherwise(&self, _source: &Source, _compiled: &Path) -> Option<String> {
        None
    }

    /// What is loaded of a file that this compiler gave: from now on, it does not matter what
    /// becomes of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or is known to be another than it was.
    fn freeze(&self, compiled: &Path) -> Result<FrozenFile, KernelBuildError> {
        Ok(FrozenFile::copy_of(compiled)?)
    }

    /// Compiles as [`Compiler::compile`] does, but leaves out the names that do not compile.
    ///
    /// # Errors
    /// If no name can be compiled because of the source itself, or a file cannot be written.
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
            Err(error) if error.may_be_of_one_name() => error,
            Err(error) => return Err(error),
        };
        // What is wrong with the source itself is said once, and not of every name.
        compile(&[])?;
        let mut rejected = BTreeMap::new();
        for name in names {
            match compile(slice::from_ref(name)) {
                Ok(_) => {}
                Err(error) if error.may_be_of_one_name() => {
                    rejected.insert(name.clone(), error);
                }
                Err(error) => return Err(error),
            }
        }
        let (bad, good): (Vec<String>, Vec<String>) =
            names.iter().cloned().partition(|name| rejected.contains_key(name));
        let library = match (bad.is_empty(), good.is_empty()) {
            // Each compiles alone, but not with the others.
            (true, _) => return Err(together),
            (false, true) => None,
            (false, false) => Some(compile(&good)?),
        };
        Ok(Compiled { library, rejected })
    }
}
