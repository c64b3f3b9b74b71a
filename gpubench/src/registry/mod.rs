//! The registered benchmarks and sources of a library.

mod benchmark;
mod case;
mod problem;
mod statement;

pub use benchmark::{BenchmarkEntry, Body};
pub(crate) use case::{Case, CheckVerdict, Unrecorded};
pub(crate) use problem::amount;
pub use problem::{Amount, CheckFunction, Comparand, Problem, ProblemDefinition, ReferenceFunction};
pub use statement::{ProblemStatement, StatedParameter};

use crate::catalog::{Catalog, Source};
use crate::error::{Error, Result};
use crate::plan::KernelRef;
use crate::source::{CudaSource, Kernel};
use std::sync::OnceLock;

/// A source embedded by `cuda_source!`, and the folder that it was built from; see `origin.rs`.
#[doc(hidden)]
pub struct SourceEntry(pub &'static CudaSource, pub &'static str);

inventory::collect!(BenchmarkEntry);
inventory::collect!(SourceEntry);

/// Returns every linked benchmark, sorted by path, and then every linked problem.
fn entries() -> &'static [&'static BenchmarkEntry] {
    static ENTRIES: OnceLock<Vec<&'static BenchmarkEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let mut entries: Vec<&BenchmarkEntry> = inventory::iter::<BenchmarkEntry>().collect();
        entries.sort_by_key(|entry| (entry.is_problem(), entry.path(), entry.library(), entry.line));
        entries
    })
}

/// Returns every linked source, without duplicates.
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

/// Returns the catalog.
///
/// # Errors
/// Returns an error if two benchmarks or two problems of a library have the same path.
pub(crate) fn catalog() -> Result<Catalog> {
    let entries = entries();
    for pair in entries.windows(2) {
        let place = |entry: &BenchmarkEntry| (entry.is_problem(), entry.path(), entry.library());
        if place(pair[0]) == place(pair[1]) {
            let kind = if pair[0].is_problem() { "problems" } else { "benchmarks" };
            return Err(Error::new(format!(
                "two {kind} are named `{}`: at {}:{} and at {}:{}",
                pair[0].path(),
                pair[0].file,
                pair[0].line,
                pair[1].file,
                pair[1].line
            )));
        }
    }
    let (benchmarks, problems) = entries.split_at(entries.partition_point(|entry| !entry.is_problem()));
    Ok(Catalog {
        benchmarks: benchmarks.iter().map(|entry| entry.describe()).collect(),
        problems: problems.iter().filter_map(|entry| entry.describe_problem()).collect(),
        sources: sources().to_vec(),
    })
}

/// Returns the benchmark at a position in the catalog. The problems follow the benchmarks.
pub(crate) fn entry(position: u32) -> Result<&'static BenchmarkEntry> {
    let entries = entries();
    entries.get(position as usize).copied().ok_or_else(|| {
        Error::new(format!(
            "there is no benchmark number {position}, only {}",
            entries.len()
        ))
    })
}

/// Returns a kernel's reference for plans.
pub(crate) fn kernel_ref(kernel: &Kernel) -> Result<KernelRef> {
    let source = kernel.source.describe();
    let position = sources().iter().position(|known| *known == source);
    let position = position.ok_or_else(|| Error::new(format!("the source of {kernel:?} is not in the catalog")))?;
    Ok(KernelRef {
        source: position as u32,
        name: kernel.name.clone(),
    })
}

/// Returns the path without the crate's name, followed by `name`.
fn path(module: &str, name: &str) -> String {
    match module.split_once("::") {
        Some((_, module)) => format!("{module}::{name}"),
        None => name.to_owned(),
    }
}
