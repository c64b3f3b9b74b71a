//! Libraries with benchmarks, and archives of them.

use std::time::Duration;

use camino::Utf8PathBuf;

use super::OutputOptions;
use crate::archive::ExtractTo;
use crate::build::BuildOptions;
use gpubench_device::compilers::NamedCompilers;
use gpubench_device::cuda::Architecture;

/// Where the libraries with benchmarks come from.
#[derive(Clone, Debug)]
pub enum LibrarySource {
    /// They are built.
    Build(BuildOptions),
    /// `--archive-file`: they were built elsewhere.
    Archive {
        /// The archive.
        archive: Utf8PathBuf,
        /// Where it is unpacked to.
        extract_to: ExtractTo,
    },
}

/// Everything `cargo gpubench archive` is asked to do.
#[derive(Clone, Debug)]
pub struct ArchiveOptions {
    /// The archive to write.
    pub archive: Utf8PathBuf,
    /// GPUs that kernels are compiled ahead for.
    pub architectures: Vec<Architecture>,
    /// The compilers that compile them, as far as they are named; the others are searched for.
    pub compilers: NamedCompilers,
    /// What is built and how.
    pub build: BuildOptions,
    /// How long a library may take to list or to record a benchmark.
    pub within: Duration,
    /// What is shown.
    pub output: OutputOptions,
}
