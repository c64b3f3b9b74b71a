//! Compiling many names of a source so that one that does not compile harms no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::slice;

use gpubench::catalog::Source;

use super::error::KernelBuildError;
use super::host_compiler::HostCompiler;

/// What the names of a source became.
#[derive(Debug)]
pub struct Compiled {
    /// The kernels that compile; nothing if none does.
    pub library: Option<PathBuf>,
    /// The name expressions that do not, with the reason of each.
    pub rejected: BTreeMap<String, KernelBuildError>,
}

impl HostCompiler {
    /// Compiles as [`HostCompiler::compile`] does, but leaves out the names that do not compile.
    ///
    /// # Errors
    /// If no name can be compiled because of the source itself, or a file cannot be written.
    pub fn compile_separately(
        &self,
        source: &Source,
        names: &[String],
        cache: &Path,
    ) -> Result<Compiled, KernelBuildError> {
        let together = match self.compile(source, names, cache) {
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
        self.compile(source, &[], cache)?;
        let mut rejected = BTreeMap::new();
        for name in names {
            match self.compile(source, slice::from_ref(name), cache) {
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
            (false, false) => Some(self.compile(source, &good, cache)?),
        };
        Ok(Compiled { library, rejected })
    }
}
