//! The libraries of a run, built here or unpacked from an archive.

use std::fmt;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::{Catalog, DeviceFacts};

use super::authors::ListingError;
use crate::archive::{AheadCompiler, ArchiveError, Manifest, Unpacked, fitting, unpack};
use crate::broker::dataset::DatasetProblem;
use crate::broker::options::LibrarySource;
use crate::cdylibs::{Built, Coverage, build_cdylibs};
use crate::checkout::Checkout;
use gpubench_contract::{Revision, UNKNOWN_REVISION};
use gpubench_device::compilers::Compiler;
use gpubench_device::{Backend, FoundCompiler};
use gpubench_diagnostic::{Failure, print_warning, printable_line};
use gpubench_measure::clients::Interrupt;

/// The libraries, with their temporary folder if there is one.
#[derive(Debug)]
pub(crate) struct Libraries {
    /// The result of the build.
    pub(crate) built: Built,
    /// The archive that they come from.
    archive: Option<Box<OpenedArchive>>,
    /// The definition and workloads that they stand for.
    dataset: Option<Arc<DatasetProblem>>,
}

/// An archive that libraries come from.
#[derive(Debug)]
pub(crate) struct OpenedArchive {
    pub(crate) path: Utf8PathBuf,
    unpacked: Unpacked,
}

impl OpenedArchive {
    /// Returns the revision of the archived sources, if the archive names one.
    pub(crate) fn revision(&self) -> Option<&Revision> {
        self.unpacked.manifest.revision.as_ref()
    }
}

impl fmt::Display for OpenedArchive {
    /// `` `old.tar.gz` (012345678 on main, archived 2026-11-20 13:43 UTC) ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let revision = self
            .revision()
            .map_or_else(|| UNKNOWN_REVISION.to_owned(), Revision::in_words);
        let created = &self.unpacked.manifest.created_at;
        let created = match created.parse::<jiff::Timestamp>() {
            Ok(moment) => moment.strftime("%Y-%m-%d %H:%M UTC").to_string(),
            Err(_) => created.clone(),
        };
        // The text of an archive is untrusted.
        let details = printable_line(&format!("({revision}, archived {created})"));
        write!(f, "`{}` {details}", self.path)
    }
}

impl Libraries {
    /// Builds or unpacks the libraries.
    ///
    /// # Errors
    /// The build or the unpacking fails.
    pub(crate) fn obtain(source: &LibrarySource, interrupt: &Interrupt) -> Result<Libraries, Failure> {
        match source {
            LibrarySource::Build(options) => {
                let built = build_cdylibs(options, interrupt.flag())?;
                built.notices.iter().for_each(|notice| print_warning(notice));
                Ok(Libraries {
                    built,
                    archive: None,
                    dataset: None,
                })
            }
            LibrarySource::Dataset(options) => {
                let problem = DatasetProblem::read(options)?;
                Ok(Libraries {
                    built: problem.built(),
                    archive: None,
                    dataset: Some(problem),
                })
            }
            LibrarySource::Archive { archive, extract_to } => {
                let unpacked = unpack(archive, extract_to, interrupt.flag())?;
                Ok(Libraries {
                    built: unpacked.built()?,
                    archive: Some(Box::new(OpenedArchive {
                        path: archive.clone(),
                        unpacked,
                    })),
                    dataset: None,
                })
            }
        }
    }

    /// Returns the libraries of a revision without benchmarks: none.
    pub(crate) fn none_of(checkout: &Checkout) -> Libraries {
        let built = Built {
            libraries: Vec::new(),
            coverage: Coverage::Workspace,
            target_directory: checkout.target_directory().to_owned(),
            target: String::new(),
            runtime_version: String::new(),
            notices: Vec::new(),
        };
        Libraries {
            built,
            archive: None,
            dataset: None,
        }
    }

    /// Returns the archive that the libraries come from.
    pub(crate) fn archive(&self) -> Option<&OpenedArchive> {
        self.archive.as_deref()
    }

    /// Returns the definition and workloads that they stand for, if no crate has the problem.
    pub(crate) fn dataset(&self) -> Option<&Arc<DatasetProblem>> {
        self.dataset.as_ref()
    }

    /// Returns the compiler of a run. Kernels of an archive that fit the device take precedence
    /// over a compiler of this machine.
    ///
    /// # Errors
    /// There is no compiler here, and the archive has no kernels for the device.
    pub(crate) fn compiler(
        &self,
        device: &DeviceFacts,
        catalogs: &[Catalog],
        here: impl FnOnce() -> FoundCompiler,
    ) -> FoundCompiler {
        match &self.archive {
            None => here(),
            Some(archive) => {
                let Unpacked { folder, manifest } = &archive.unpacked;
                ahead_of(here(), &archive.path, manifest, folder.path(), device, catalogs)
            }
        }
    }

    /// Returns whether the archive has compiled kernels for the device.
    pub(crate) fn has_kernels_for(&self, device: &DeviceFacts) -> bool {
        self.archive()
            .is_some_and(|archive| !fitting(&archive.unpacked.manifest, device).is_empty())
    }

    /// Explains why a library could not be listed: one from an archive may not fit this machine.
    pub(crate) fn explain(&self, error: ListingError) -> Failure {
        match self.archive() {
            Some(archive) if error.is_of_the_library() => ArchiveError::Library {
                archive: archive.path.clone(),
                library: error.library.clone(),
                source: Box::new(error),
            }
            .into(),
            _ => error.into(),
        }
    }
}

/// Returns a compiler that prefers the compiled kernels of the archive unpacked to `folder` over a
/// compiler of this machine.
fn ahead_of(
    here: Result<Box<dyn Compiler>, Failure>,
    archive: &Utf8Path,
    manifest: &Manifest,
    folder: &Utf8Path,
    device: &DeviceFacts,
    catalogs: &[Catalog],
) -> Result<Box<dyn Compiler>, Failure> {
    let fitting = fitting(manifest, device);
    let lack = match &here {
        Ok(here) => here.lack().filter(|_| all_are_compiled(catalogs)),
        Err(missing) => Some(missing.to_string()),
    };
    match lack {
        Some(reason) if fitting.is_empty() && !manifest.kernels.is_empty() => Err(ArchiveError::OtherArchitecture {
            archive: archive.to_owned(),
            compiled_for: manifest.targets(),
            device: (Backend::from_kind(device.kind).target)(device),
            reason,
        }
        .into()),
        _ if fitting.is_empty() => here,
        _ => {
            let here = here.map_err(|missing| missing.to_string());
            Ok(Box::new(AheadCompiler::new(&fitting, folder, here)))
        }
    }
}

/// Returns whether every kernel needs a compiler. PTX may run without any compiled kernels.
fn all_are_compiled(catalogs: &[Catalog]) -> bool {
    let mut sources = catalogs.iter().flat_map(|catalog| &catalog.sources);
    sources.all(|source| source.form.is_compiled())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use gpubench::catalog::{Source, SourceForm};

    use super::*;
    use crate::archive::{ArchivedFile, ArchivedKernels, Digest, FORMAT, typical_device};
    use gpubench_device::compilers::{CompilerMissing, GpuCompiler, GpuCompilers, NoHostCompiler, PORTABLE, Wanted};
    use gpubench_device::cuda::Architecture;
    use gpubench_diagnostic::Explanation;

    fn manifest(targets: &[&str]) -> Manifest {
        let kernels = |&target: &&str| ArchivedKernels {
            source: Digest::from_bytes(b"a.cu"),
            source_name: "a.cu".to_owned(),
            names: vec!["k".to_owned()],
            target: target.to_owned(),
            compiler: "NVRTC 13.0".to_owned(),
            file: ArchivedFile {
                path: format!("kernels/{target}/0"),
                size: 0,
                sha256: Digest::from_bytes(b""),
            },
        };
        Manifest {
            format: FORMAT,
            tool_version: "0.1.0".to_owned(),
            runtime_version: "0.1.0".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            created_at: "2026-01-02T03:04:05Z".to_owned(),
            revision: None,
            libraries: Vec::new(),
            kernels: targets.iter().map(kernels).collect(),
        }
    }

    fn ahead(
        targets: &[&str],
        here: Result<Box<dyn Compiler>, Failure>,
        device: &DeviceFacts,
        catalogs: &[Catalog],
    ) -> Result<Box<dyn Compiler>, Failure> {
        let (archive, folder) = (Utf8Path::new("kernels.tar.gz"), Utf8Path::new("/x"));
        ahead_of(here, archive, &manifest(targets), folder, device, catalogs)
    }

    /// On a GPU of compute capability 9.0.
    fn without_a_compiler(targets: &[&str], sources: &[SourceForm]) -> Result<Box<dyn Compiler>, Failure> {
        let none = GpuCompiler::new(Architecture::of_capability(90), GpuCompilers::default());
        let source = |&form: &SourceForm| Source {
            name: "a.cu".to_owned(),
            form,
            files: Vec::new(),
            options: Vec::new(),
        };
        let catalog = Catalog {
            sources: sources.iter().map(source).collect(),
            ..Catalog::default()
        };
        ahead(targets, Ok(Box::new(none)), &typical_device(90), &[catalog])
    }

    /// On the CPU device.
    fn without_a_cpp_compiler(targets: &[&str]) -> Result<Box<dyn Compiler>, Failure> {
        let missing = NoHostCompiler(CompilerMissing {
            tried: "c++".to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        });
        let device = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN).device;
        ahead(targets, Err(missing.into()), &device, &[])
    }

    fn refused(compiler: Result<Box<dyn Compiler>, Failure>, code: u8) -> String {
        let error = compiler.err().expect("nothing can run");
        assert_eq!(error.exit_code().number(), code);
        let shown = anstream::adapter::strip_str(&Explanation(&*error).to_string()).to_string();
        shown.replace(PORTABLE, "[processors]")
    }

    #[test]
    fn an_archive_for_other_devices_is_unusable_without_a_compiler() {
        let gpu = refused(without_a_compiler(&["sm_80", PORTABLE], &[SourceForm::Cuda]), 103);
        let cpu = refused(without_a_cpp_compiler(&["sm_80"]), 103);
        insta::assert_snapshot!(format!("{gpu}\n{cpu}"));
    }

    #[test]
    fn an_archive_without_kernels_and_no_compiler_lacks_a_compiler() {
        refused(without_a_cpp_compiler(&[]), 96);
        let compiler = without_a_compiler(&[], &[SourceForm::Cuda]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(compiler.identity(), "none");
    }

    #[test]
    fn kernels_without_need_of_a_compiler_are_tried() {
        let sources = [SourceForm::Cuda, SourceForm::Ptx];
        let compiler = without_a_compiler(&["sm_80"], &sources).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(compiler.identity(), "none");
    }

    #[test]
    fn kernels_that_fit_need_no_compiler() {
        let compiler = without_a_compiler(&["sm_80", "sm_90"], &[SourceForm::Cuda]);
        let compiler = compiler.unwrap_or_else(|error| panic!("{error}"));
        let source = Source {
            name: "a.cu".to_owned(),
            form: SourceForm::Cuda,
            files: Vec::new(),
            options: Vec::new(),
        };
        let names = ["missing".to_owned()];
        let error = compiler
            .compile_separately(Wanted {
                source: &source,
                names: &names,
                cache: std::path::Path::new("/none"),
                interrupt: &AtomicBool::new(false),
                most: None,
            })
            .expect_err("it was not compiled ahead");
        assert!(
            error.to_string().contains(
                "no compiled code for `missing` of `a.cu`, and this machine cannot compile it: found neither"
            ),
            "{error}"
        );
    }
}
