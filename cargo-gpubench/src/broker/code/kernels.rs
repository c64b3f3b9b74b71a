//! Compilation of the kernels that the recorded cases use: every source once, several in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use camino::Utf8Path;
use gpubench::catalog::{Catalog, Fill, Recording, Source};
use gpubench::plan::{KernelRef, Plan};

use gpubench_contract::Cause;
use gpubench_device::FrozenFile;
use gpubench_device::compilers::{Compiler, KernelBuildError, Wanted};
use gpubench_diagnostic::is_full_disk;
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::CaseFailure;
use gpubench_measure::timeline::{self, Track};

/// Compiled sources of one library, by their positions in its catalog.
pub(crate) type Modules = BTreeMap<u32, Result<Module, CaseFailure>>;

/// A source with at least one usable kernel.
#[derive(Debug)]
pub(crate) struct Module {
    library: Option<CompiledModule>,
    /// The failures of kernels that the library lacks.
    rejected: BTreeMap<String, CaseFailure>,
}

impl Module {
    /// Returns whether a kernel cannot be used.
    pub(super) fn rejects(&self, name: &str) -> bool {
        self.rejected.contains_key(name)
    }
}

/// A compiled library: its path, and the copy that is loaded.
#[derive(Debug)]
struct CompiledModule {
    path: PathBuf,
    code: FrozenFile,
    /// The compiler of the library.
    made_by: String,
    /// A note for the user about the compilation.
    notice: Option<String>,
}

/// Returns the library that has a kernel, or why there is none.
pub(crate) fn library_of<'a>(modules: &'a Modules, kernel: &KernelRef) -> Result<&'a FrozenFile, CaseFailure> {
    let missing = || CaseFailure::error(Cause::Internal, "its kernels were not compiled");
    let module = modules.get(&kernel.source).ok_or_else(missing)?;
    let module = module.as_ref().map_err(CaseFailure::clone)?;
    match module.rejected.get(&kernel.name) {
        Some(failure) => Err(failure.clone()),
        None => module.library.as_ref().map(|library| &library.code).ok_or_else(missing),
    }
}

/// Returns the compilers of these kernels' libraries, each once.
pub(crate) fn makers_of<'a>(modules: &Modules, kernels: impl Iterator<Item = &'a KernelRef>) -> Vec<String> {
    let mut makers: Vec<String> = Vec::new();
    for kernel in kernels {
        let module = modules.get(&kernel.source).and_then(|module| module.as_ref().ok());
        let library = module.and_then(|module| module.library.as_ref());
        if let Some(library) = library.filter(|library| !makers.contains(&library.made_by)) {
            makers.push(library.made_by.clone());
        }
    }
    makers
}

/// Returns the notes for the user about the compilation, one line each.
pub(crate) fn notices(modules: &Modules) -> impl Iterator<Item = &str> {
    let libraries = modules
        .values()
        .filter_map(|module| module.as_ref().ok()?.library.as_ref());
    libraries.filter_map(|library| library.notice.as_deref())
}

/// Returns every failure of a source or kernel. A failure that several kernels of a source share
/// appears once.
pub(crate) fn failures(modules: &Modules) -> Vec<&CaseFailure> {
    let mut failures = Vec::new();
    for module in modules.values() {
        let of_module: Vec<&CaseFailure> = match module {
            Ok(module) => module.rejected.values().collect(),
            Err(failure) => vec![failure],
        };
        for failure in of_module {
            if !failures.contains(&failure) {
                failures.push(failure);
            }
        }
    }
    failures
}

/// Returns the kernels that a worker launches for a recording.
pub(crate) fn kernels_under_test(recording: &Recording) -> impl Iterator<Item = &KernelRef> {
    launched(&recording.plan)
}

/// Returns the kernels of a recording's generators and reference.
pub(crate) fn own_kernels(recording: &Recording) -> impl Iterator<Item = &KernelRef> {
    let generating = recording.tensors.iter().filter_map(|tensor| match &tensor.fill {
        Fill::Kernel(kernel) => Some(kernel),
        _ => None,
    });
    generating.chain(recording.reference.plan().into_iter().flat_map(launched))
}

fn launched(plan: &Plan) -> impl Iterator<Item = &KernelRef> {
    plan.launches().map(|launch| &launch.kernel)
}

/// Returns the kernel names that recordings use from each source.
pub(super) fn wanted_names<'a>(recordings: impl Iterator<Item = &'a Recording>) -> Vec<(u32, Vec<String>)> {
    let mut wanted: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for kernel in recordings.flat_map(|recording| kernels_under_test(recording).chain(own_kernels(recording))) {
        wanted.entry(kernel.source).or_default().insert(&kernel.name);
    }
    wanted
        .into_iter()
        .map(|(source, names)| (source, names.into_iter().map(str::to_owned).collect()))
        .collect()
}

/// Returns the files compiled for these recordings, each with the position of its source and the
/// kernel names.
pub(crate) fn images<'a>(
    modules: &Modules,
    recordings: impl Iterator<Item = &'a Recording>,
) -> Vec<(u32, Vec<String>, &Path)> {
    let image = |(source, mut names): (u32, Vec<String>)| {
        let module = modules.get(&source)?.as_ref().ok()?;
        names.retain(|name| !module.rejected.contains_key(name));
        Some((source, names, &*module.library.as_ref()?.path))
    };
    wanted_names(recordings).into_iter().filter_map(image).collect()
}

/// Returns the compiled files, each with the position of its source.
pub(crate) fn files(modules: &Modules) -> impl Iterator<Item = (u32, &Path)> {
    modules.iter().filter_map(|(source, module)| {
        let library = module.as_ref().ok()?.library.as_ref()?;
        Some((*source, &*library.path))
    })
}

/// The compiler, the catalog and the cache for the kernels of one library.
#[derive(Clone, Copy)]
pub(crate) struct KernelBuild<'a> {
    pub(crate) compiler: &'a dyn Compiler,
    pub(crate) catalog: &'a Catalog,
    /// The cache of compiled kernels.
    pub(crate) cache: &'a Path,
    pub(crate) interrupt: &'a Interrupt,
    /// The time limit of a compiler, if it is shorter than the compiler's own.
    pub(crate) most: Option<Duration>,
}

/// Returns the cache of compiled kernels in a target directory.
pub(crate) fn cache_below(target_directory: &Utf8Path) -> PathBuf {
    target_directory.join("gpubench").join("kernels").into_std_path_buf()
}

impl KernelBuild<'_> {
    /// Compiles the kernels that a library's recordings use. Stops all compilers when the user
    /// interrupts. A source or kernel that does not compile does not stop the others.
    pub(crate) fn compile<'r>(&self, recordings: impl Iterator<Item = &'r Recording>) -> Modules {
        self.for_each_source(&wanted_names(recordings), |position, names| {
            self.compile_source(position, names)
        })
    }

    /// Does the same for each source and its names, several at once. Leaves out the rest when the
    /// user interrupts.
    pub(super) fn for_each_source<T: Send>(
        &self,
        jobs: &[(u32, Vec<String>)],
        work: impl Fn(u32, &[String]) -> T + Sync,
    ) -> BTreeMap<u32, T> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        std::thread::scope(|scope| {
            for _ in 0..gpubench_device::cpu::available_threads().get().min(jobs.len()) {
                scope.spawn(|| {
                    while let Some((position, names)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if self.interrupt.is_set() {
                            break;
                        }
                        let one = work(*position, names);
                        done.lock()
                            .unwrap_or_else(|poisoned| poisoned.into_inner())
                            .insert(*position, one);
                    }
                });
            }
        });
        done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Compiles one kernel and returns its library.
    pub(crate) fn compile_one(&self, kernel: &KernelRef) -> Result<FrozenFile, CaseFailure> {
        let compiled = self.compile_source(kernel.source, std::slice::from_ref(&kernel.name))?;
        let modules = Modules::from([(kernel.source, Ok(compiled))]);
        library_of(&modules, kernel).cloned()
    }

    /// Compiles the host code of sources to libraries, several at once. Each source comes with the
    /// libraries that it needs. Returns copies of what is compiled, by the positions of the sources
    /// in the catalog.
    pub(crate) fn compile_libraries(
        &self,
        sources: &BTreeMap<u32, &[PathBuf]>,
    ) -> BTreeMap<u32, Result<FrozenFile, CaseFailure>> {
        let jobs: Vec<(u32, Vec<String>)> = sources.keys().map(|source| (*source, Vec::new())).collect();
        self.for_each_source(&jobs, |position, names| {
            let source = self.source(position)?;
            let linked = sources.get(&position).copied().unwrap_or_default();
            let _compiles = timeline::span(Track::Command, format!("compiles `{}`", source.name));
            let library = self.compiler.compile_library(self.wanted(source, names), linked);
            let copy = library.and_then(|library| Ok(FrozenFile::copy_of(&library)?));
            copy.map_err(|error| failure(&error))
        })
    }

    fn source(&self, position: u32) -> Result<&Source, CaseFailure> {
        let source = self.catalog.sources.get(position as usize);
        source.ok_or_else(|| CaseFailure::error(Cause::PlanInvalid, "a kernel refers to a source that does not exist"))
    }

    fn wanted<'w>(&'w self, source: &'w Source, names: &'w [String]) -> Wanted<'w> {
        Wanted {
            source,
            names,
            cache: self.cache,
            interrupt: self.interrupt.flag(),
            most: self.most,
        }
    }

    fn compile_source(&self, position: u32, names: &[String]) -> Result<Module, CaseFailure> {
        let source = self.source(position)?;
        let _compiles = timeline::span(Track::Command, format!("compiles `{}`", source.name));
        let compiled = self
            .compiler
            .compile_separately(self.wanted(source, names))
            .map_err(|error| failure(&error))?;
        let rejected = compiled
            .rejected
            .into_iter()
            .map(|(name, error)| (name, failure(&error)))
            .collect();
        let sealed = |path: PathBuf| {
            let code = self.compiler.freeze(&path).map_err(|error| failure(&error))?;
            Ok(CompiledModule {
                made_by: self.compiler.made_by(&path),
                notice: self.compiler.made_otherwise(source, &path),
                path,
                code,
            })
        };
        Ok(Module {
            library: compiled.library.map(sealed).transpose()?,
            rejected,
        })
    }
}

fn failure(error: &KernelBuildError) -> CaseFailure {
    let cause = cause(error);
    let hint = match cause {
        Cause::DiskFull => " (hint: free some space on that disk)",
        Cause::OutOfMemory => " (hint: give the control group more memory)",
        _ => "",
    };
    CaseFailure::error(cause, format!("{}{hint}", gpubench_diagnostic::chain(error)))
}

fn cause(error: &KernelBuildError) -> Cause {
    match error {
        KernelBuildError::Both { nvcc, .. } => cause(nvcc),
        KernelBuildError::Refused(_) | KernelBuildError::Unsupported(_) => Cause::Unsupported,
        KernelBuildError::NoCompiler(_) => Cause::CompilerMissing,
        KernelBuildError::UnknownKernel(_) => Cause::PlanInvalid,
        KernelBuildError::OutOfMemory { .. } => Cause::OutOfMemory,
        error if is_full_disk(error) => Cause::DiskFull,
        _ => Cause::CompileFailed,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use gpubench::catalog::{Source, SourceFile, SourceForm};

    use super::*;
    use gpubench_device::compilers::HostCompiler;

    #[test]
    fn a_full_disk_and_missing_memory_are_not_blamed_on_the_source() {
        let full = KernelBuildError::Io {
            action: "compile below",
            path: "/tmp/x".into(),
            source: io::Error::from_raw_os_error(28),
        };
        let text =
            "cannot compile below `/tmp/x`: No space left on device (os error 28) (hint: free some space on that disk)";
        assert_eq!(failure(&full), CaseFailure::error(Cause::DiskFull, text));
        let unreadable = KernelBuildError::Io {
            action: "read",
            path: "/tmp/x".into(),
            source: io::ErrorKind::NotFound.into(),
        };
        assert_eq!(cause(&unreadable), Cause::CompileFailed);
        let killed = KernelBuildError::OutOfMemory {
            compiler: "the C++ compiler",
            source_name: "add.cu".to_owned(),
            limit: gpubench_contract::units::size(150 << 20),
        };
        assert_eq!(
            failure(&killed).message,
            "the C++ compiler was killed while it compiled `add.cu`, because its control group may use at most 150 MiB of memory \
             (hint: give the control group more memory)"
        );
    }

    fn kernel(source: u32, name: &str) -> KernelRef {
        KernelRef {
            source,
            name: name.into(),
        }
    }

    fn module(text: &str, names: &[&str]) -> Result<Module, CaseFailure> {
        let cache = tempfile::tempdir().expect("a directory");
        let catalog = Catalog {
            sources: vec![Source {
                name: "a.cu".into(),
                form: SourceForm::Cuda,
                files: vec![SourceFile {
                    path: "src/a.cu".into(),
                    contents: text.into(),
                }],
                options: Vec::new(),
            }],
            ..Catalog::default()
        };
        let compiler = HostCompiler::find().expect("a C++ compiler");
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let build = KernelBuild {
            compiler: &compiler,
            catalog: &catalog,
            cache: cache.path(),
            interrupt: &Interrupt::default(),
            most: None,
        };
        build.compile_source(0, &names)
    }

    #[test]
    fn a_kernel_that_does_not_compile_fails_only_the_cases_that_use_it() {
        let text = "template <int N> __global__ void blur(float *x) { x[0] = N; }\n";
        let modules = Modules::from([
            (0, module(text, &["blur<2>", "blur<none>"])),
            (1, module("int wrong = true_;\n", &["blur<2>"])),
        ]);
        library_of(&modules, &kernel(0, "blur<2>")).expect("it compiles");
        let of_name = library_of(&modules, &kernel(0, "blur<none>")).expect_err("it does not");
        assert!(
            of_name.message.contains("kernel `blur<none>`: error: 'none'"),
            "{}",
            of_name.message
        );
        let of_source = library_of(&modules, &kernel(1, "blur<2>")).expect_err("the source does not");
        assert!(of_source.message.contains("src/a.cu:1:13"), "{}", of_source.message);
        assert_eq!(failures(&modules), [&of_name, &of_source]);
    }

    #[test]
    fn a_failure_of_two_kernels_is_reported_once() {
        let text = "template <class T> __device__ T later(T);\n\
            template <int N> __global__ void k(float *x) { x[0] = later(x[N]); }\n";
        let modules = Modules::from([(0, module(text, &["k<1>", "k<2>"]))]);
        let failure = library_of(&modules, &kernel(0, "k<1>")).expect_err("`later` is missing");
        let other = library_of(&modules, &kernel(0, "k<2>")).expect_err("for it as well");
        assert_eq!(other, failure);
        assert_eq!(failures(&modules), [&failure]);
    }
}
