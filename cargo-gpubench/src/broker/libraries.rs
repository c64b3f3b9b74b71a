//! The libraries of a run, built here or taken from an archive.

use camino::Utf8Path;
use gpubench::catalog::{DeviceFacts, DeviceKind};

use super::authors::ListingError;
use super::options::LibrarySource;
use crate::archive::{AheadCompiler, ArchiveError, Manifest, Unpacked, fitting, unpack};
use crate::build::kernels::{BASELINE, Compiler};
use crate::build::{Built, build_cdylibs};
use crate::clients::Interrupt;
use crate::error::{ExpectedError, print_warning};

/// Libraries, and the folder they lie in where it goes with the run.
#[derive(Debug)]
pub(super) struct Libraries {
    /// What a build yields.
    pub(super) built: Built,
    /// The archive that it comes from.
    pub(super) unpacked: Option<Unpacked>,
}

impl Libraries {
    /// Builds, or unpacks.
    ///
    /// # Errors
    /// When the one or the other fails.
    pub(super) fn obtain(source: &LibrarySource, interrupt: &Interrupt) -> Result<Libraries, ExpectedError> {
        match source {
            LibrarySource::Build(options) => {
                let built = build_cdylibs(options, interrupt.flag())?;
                built.notices.iter().for_each(|notice| print_warning(notice));
                Ok(Libraries { built, unpacked: None })
            }
            LibrarySource::Archive(archived) => {
                let unpacked = unpack(&archived.archive, &archived.extract_to)?;
                Ok(Libraries {
                    built: unpacked.built(),
                    unpacked: Some(unpacked),
                })
            }
        }
    }

    /// The compiler of a run: where there is an archive, what it has for the device comes before a compiler of this machine.
    ///
    /// # Errors
    /// There is no compiler here, and the archive has nothing for the device.
    pub(super) fn compiler(
        &self,
        device: &DeviceFacts,
        here: Result<Box<dyn Compiler>, ExpectedError>,
    ) -> Result<Box<dyn Compiler>, ExpectedError> {
        match &self.unpacked {
            None => here,
            Some(Unpacked { folder, manifest }) => ahead_of(here, manifest, folder.path(), device),
        }
    }

    /// A library that was built here could not be listed; one from elsewhere may not fit this machine.
    pub(super) fn explain(&self, error: ListingError) -> ExpectedError {
        match &self.unpacked {
            Some(_) if error.is_of_the_library() => ArchiveError::Library {
                package: error.package().to_owned(),
                source: Box::new(error),
            }
            .into(),
            _ => error.into(),
        }
    }
}

fn ahead_of(
    here: Result<Box<dyn Compiler>, ExpectedError>,
    manifest: &Manifest,
    folder: &Utf8Path,
    device: &DeviceFacts,
) -> Result<Box<dyn Compiler>, ExpectedError> {
    let fitting = fitting(manifest, device);
    match (fitting.is_empty(), here) {
        (true, Err(missing)) if !manifest.kernels.is_empty() => Err(ArchiveError::OtherArchitecture {
            compiled_for: manifest.targets(),
            device: architecture(device),
            reason: missing.to_string(),
        }
        .into()),
        (true, here) => here,
        (false, here) => {
            let here = here.map_err(|missing| missing.to_string());
            Ok(Box::new(AheadCompiler::new(&fitting, folder, here)))
        }
    }
}

/// What kernels for a device are compiled for.
fn architecture(device: &DeviceFacts) -> String {
    match device.kind {
        DeviceKind::Cpu => BASELINE.to_owned(),
        DeviceKind::Cuda => format!("sm_{}", device.capability),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{ArchivedFile, ArchivedKernels, Digest, FORMAT, typical_device};
    use crate::error::{Expected, Explanation};

    fn manifest(targets: &[&str]) -> Manifest {
        let kernels = |&target: &&str| ArchivedKernels {
            source: Digest::of(b"a.cu"),
            source_name: "a.cu".to_owned(),
            names: vec!["k".to_owned()],
            target: target.to_owned(),
            compiler: "NVRTC 13.0".to_owned(),
            file: ArchivedFile {
                path: format!("kernels/{target}/0"),
                size: 0,
                sha256: Digest::of(b""),
            },
        };
        Manifest {
            format: FORMAT,
            tool_version: "0.1.0".to_owned(),
            runtime_version: "0.1.0".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            created_at: "2026-01-02T03:04:05Z".to_owned(),
            libraries: Vec::new(),
            kernels: targets.iter().map(kernels).collect(),
        }
    }

    fn without_a_compiler(targets: &[&str]) -> Result<Box<dyn Compiler>, ExpectedError> {
        let missing = ExpectedError::SetupMissing {
            what: "there is neither NVRTC nor nvcc".to_owned(),
            hint: "`pip install nvidia-cuda-nvrtc`".to_owned(),
        };
        ahead_of(
            Err(missing),
            &manifest(targets),
            Utf8Path::new("/x"),
            &typical_device(90),
        )
    }

    #[test]
    fn kernels_for_other_devices_and_no_compiler_are_an_archive_that_cannot_be_used() {
        let error = without_a_compiler(&["sm_80", BASELINE]).err().expect("nothing can run");
        assert_eq!(error.exit_code().number(), 103);
        let shown = anstream::adapter::strip_str(&Explanation(&error).to_string()).to_string();
        insta::assert_snapshot!(shown.replace(BASELINE, "[processors]"));
    }

    #[test]
    fn an_archive_without_kernels_and_no_compiler_lacks_a_compiler() {
        let error = without_a_compiler(&[]).err().expect("nothing can run");
        assert_eq!(error.exit_code().number(), 96);
    }

    #[test]
    fn kernels_that_fit_need_no_compiler() {
        let compiler = without_a_compiler(&["sm_80", "sm_90"]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(compiler.identity(), "ahead: NVRTC 13.0");
    }
}
