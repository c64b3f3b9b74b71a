//! The files with the host code of a case. Each library of a benchmark's own is copied once, so
//! that all cases that name it run the same code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::recordings::RecordedCase;
use super::several_gpus::ensure_one_gpu;
use crate::archive::Digest;
use crate::cdylibs::BuiltLibrary;
use gpubench_contract::Cause;
use gpubench_device::FrozenFile;
use gpubench_measure::measurement::CaseFailure;

/// The files of a case's host code.
pub(super) struct HostCode {
    /// The files to load, in order.
    pub(super) files: Vec<FrozenFile>,
    /// Folders to search for further ones.
    pub(super) search: Vec<PathBuf>,
    /// The digest of the benchmark's own library, if it has one.
    pub(super) own: Option<Digest>,
}

/// The libraries of benchmarks' own that were copied so far, by the path that benchmarks name.
#[derive(Default)]
pub(super) struct HostCodes {
    copied: BTreeMap<String, Result<(FrozenFile, Digest), CaseFailure>>,
    /// Whether each file is for one GPU. The files are kept: a path is a copy's while that lives.
    examined: BTreeMap<PathBuf, (FrozenFile, Result<(), CaseFailure>)>,
}

impl HostCodes {
    /// Returns the host code of a case of `library`'s package, which names `own` as its library.
    pub(super) fn of_case(&mut self, library: &BuiltLibrary, own: Option<&str>) -> Result<HostCode, CaseFailure> {
        let Some(named) = own else {
            return Ok(HostCode {
                files: library.code.clone(),
                search: library.search_path(),
                own: None,
            });
        };
        let copied = self
            .copied
            .entry(named.to_owned())
            .or_insert_with(|| copy(library, named));
        let (file, digest) = copied.clone()?;
        Ok(HostCode {
            files: vec![file],
            search: Vec::new(),
            own: Some(digest),
        })
    }

    /// Fails if a worker would run host code for several GPUs. Each file is read once.
    pub(super) fn ensure_one_gpu(&mut self, code: &HostCode, recorded: &RecordedCase) -> Result<(), CaseFailure> {
        if !recorded.recording.execution.is_hosted() {
            return Ok(());
        }
        code.files.iter().try_for_each(|file| {
            let examined = self.examined.entry(file.path());
            let (_, result) = examined.or_insert_with(|| (file.clone(), ensure_one_gpu(file)));
            result.clone()
        })
    }
}

fn copy(library: &BuiltLibrary, named: &str) -> Result<(FrozenFile, Digest), CaseFailure> {
    let failed = |message: String| CaseFailure::error(Cause::SetupFailed, message);
    let copy = library.own_libraries.copy(&library.root, named);
    let copy = copy.map_err(|error| failed(error.printable()))?;
    let digest = Digest::of_copy(&copy).ok_or_else(|| failed(format!("the copy of `{named}` cannot be read")))?;
    Ok((copy, digest))
}

impl HostCode {
    /// Returns the host code of a submission, which is this library, linked with others.
    pub(super) fn of_submission(
        library: Result<FrozenFile, CaseFailure>,
        linked: &[PathBuf],
    ) -> Result<HostCode, CaseFailure> {
        let copy = library?;
        Ok(HostCode {
            own: Digest::of_copy(&copy),
            files: vec![copy],
            search: linked
                .iter()
                .filter_map(|library| library.parent())
                .map(Path::to_owned)
                .collect(),
        })
    }

    /// Fails unless the recording calls a library exactly if the catalog names one. Otherwise a
    /// worker would load another file than the one whose code it runs.
    pub(super) fn agreeing_with(self, recorded: &RecordedCase) -> Result<HostCode, CaseFailure> {
        if recorded.recording.call.is_some() == self.own.is_some() {
            Ok(self)
        } else {
            let message = "its recording and its catalog disagree about a library of its own";
            Err(CaseFailure::error(Cause::PlanInvalid, message))
        }
    }
}
