//! The benchmarks and sources of a library, as the macros register them.

mod benchmark;
mod case;
mod problem;

pub use benchmark::{BenchmarkEntry, Body};
pub(crate) use case::{Case, Unrecorded};
pub(crate) use problem::amount;
pub use problem::{Amount, Problem, ProblemDefinition, ReferenceFunction};

use crate::catalog::{Catalog, Source};
use crate::error::{Error, Result};
use crate::plan::KernelRef;
use crate::source::{CudaSource, Kernel};
use std::sync::OnceLock;

/// A source embedded by `cuda_source!`, and from which folder it was built; see `origin.rs`.
#[doc(hidden)]
pub struct SourceEntry(pub &'static CudaSource, pub &'static str);

inventory::collect!(BenchmarkEntry);
inventory::collect!(SourceEntry);

/// Every benchmark that is linked in, by path.
fn entries() -> &'static [&'static BenchmarkEntry] {
    static ENTRIES: OnceLock<Vec<&'static BenchmarkEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let mut entries: Vec<&BenchmarkEntry> = inventory::iter::<BenchmarkEntry>().collect();
        entries.sort_by_key(|entry| (entry.path(), entry.library(), entry.line));
        entries
    })
}

/// Every source that is linked in, each once.
fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut sources: Vec<Source> = inventory::iter::<SourceEntry>()
            .map(|entry| entry.0.describe())
            .collect();
        let place = |source: &Source| (source.files[0].path.clone(), source.options.clone());
        sources.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
        sources.dedup();
        sources
    })
}

/// The catalog.
///
/// # Errors
/// Two benchmarks of a library with one path.
pub(crate) fn catalog() -> Result<Catalog> {
    let entries = entries();
    for pair in entries.windows(2) {
        if pair[0].path() == pair[1].path() && pair[0].library() == pair[1].library() {
            return Err(Error::new(format!(
                "two benchmarks are named `{}`: at {}:{} and at {}:{}",
                pair[0].path(),
                pair[0].file,
                pair[0].line,
                pair[1].file,
                pair[1].line
            )));
        }
    }
    Ok(Catalog {
        benchmarks: entries.iter().map(|entry| entry.describe()).collect(),
        sources: sources().to_vec(),
    })
}

/// The benchmark at a position of the catalog.
pub(crate) fn entry(position: u32) -> Result<&'static BenchmarkEntry> {
    let entries = entries();
    entries.get(position as usize).copied().ok_or_else(|| {
        Error::new(format!(
            "there is no benchmark number {position}, only {}",
            entries.len()
        ))
    })
}

/// A kernel as plans name it.
pub(crate) fn kernel_ref(kernel: &Kernel) -> Result<KernelRef> {
    let source = kernel.source.describe();
    let position = sources().iter().position(|known| *known == source);
    let position = position.ok_or_else(|| Error::new(format!("the source of {kernel:?} is not one of the catalog")))?;
    Ok(KernelRef {
        source: position as u32,
        name: kernel.name.clone(),
    })
}

/// A path of `module_path!` without the crate's name, and a name at its end.
fn path(module: &str, name: &str) -> String {
    match module.split_once("::") {
        Some((_, module)) => format!("{module}::{name}"),
        None => name.to_owned(),
    }
}
