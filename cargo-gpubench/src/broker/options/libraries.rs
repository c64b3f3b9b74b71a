//! Options of libraries with benchmarks, and of archives of them.

use std::time::Duration;

use camino::Utf8PathBuf;

use super::OutputOptions;
use crate::archive::ExtractTo;
use crate::cdylibs::BuildOptions;
use gpubench_device::compilers::NamedCompilers;
use gpubench_device::cuda::Architecture;

/// The source of the libraries with benchmarks.
#[derive(Clone, Debug)]
pub enum LibrarySource {
    /// Built from sources.
    Build(BuildOptions),
    /// `--archive-file`: built on another machine.
    Archive {
        /// The archive.
        archive: Utf8PathBuf,
        /// The folder to unpack to.
        extract_to: ExtractTo,
    },
    /// `--definition`: there are none, and a definition with workloads is the only problem.
    Dataset(DatasetOptions),
}

/// A problem in the files of FlashInfer-Bench or SOL-ExecBench.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetOptions {
    /// `--definition`: the file of the definition.
    pub definition: Utf8PathBuf,
    /// `--workloads`: the file of its workloads.
    pub workloads: Utf8PathBuf,
    /// `--python`: the interpreter of its reference, a name on the `PATH` or a path.
    pub python: String,
    /// The files that the run writes. None of them may be a file of tensors that a workload names.
    pub written: Vec<Utf8PathBuf>,
}

/// The options of `cargo gpubench archive`.
#[derive(Clone, Debug)]
pub struct ArchiveOptions {
    /// The archive to write.
    pub archive: Utf8PathBuf,
    /// GPU architectures to compile kernels for.
    pub architectures: Vec<Architecture>,
    /// The named compilers of GPU kernels. The tool searches for the others.
    pub compilers: NamedCompilers,
    /// What to build and how.
    pub build: BuildOptions,
    /// Time limit for a library to list or record a benchmark.
    pub within: Duration,
    /// What to show.
    pub output: OutputOptions,
}
