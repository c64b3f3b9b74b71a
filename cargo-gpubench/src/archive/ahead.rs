//! A compiler that takes kernels from an archive, and compiles the rest here if possible.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use gpubench::catalog::{DeviceFacts, Source};
use gpubench::codec;

use super::{ArchivedKernels, Digest, Manifest};
use gpubench_device::compilers::{Compiled, Compiler, KernelBuildError, Wanted};
use gpubench_device::{Backend, FrozenFile};
use gpubench_diagnostic::in_backticks;

/// Why there is no compiler here, as text for people.
pub type NoCompiler = String;

/// A compiler that prefers an archive's kernels for the device over a compiler of this machine.
pub struct AheadCompiler {
    images: Vec<Image>,
    identity: String,
    target: String,
    here: Result<Box<dyn Compiler>, NoCompiler>,
}

struct Image {
    source: Digest,
    names: BTreeSet<String>,
    path: PathBuf,
    sha256: Digest,
}

/// Returns the digest that identifies a source: of its files and options in the catalog.
pub fn source_digest(source: &Source) -> Digest {
    Digest::from_bytes(&codec::encode(source))
}

/// Returns the kernels of an archive that run on a device, best fit first.
pub fn fitting<'a>(manifest: &'a Manifest, device: &DeviceFacts) -> Vec<&'a ArchivedKernels> {
    let distance = Backend::from_kind(device.kind).distance;
    let mut fitting: Vec<(u32, &ArchivedKernels)> = manifest
        .kernels
        .iter()
        .filter_map(|kernels| Some((distance(&kernels.target, device)?, kernels)))
        .collect();
    fitting.sort_by_key(|(distance, _)| *distance);
    fitting.into_iter().map(|(_, kernels)| kernels).collect()
}

impl AheadCompiler {
    /// Returns the compiler for an archive that was unpacked to `folder`.
    pub fn new(
        fitting: &[&ArchivedKernels],
        folder: &Utf8Path,
        here: Result<Box<dyn Compiler>, NoCompiler>,
    ) -> AheadCompiler {
        let image = |kernels: &&ArchivedKernels| Image {
            source: kernels.source.clone(),
            names: kernels.names.iter().cloned().collect(),
            path: kernels.file.below(folder).into_std_path_buf(),
            sha256: kernels.file.sha256.clone(),
        };
        let ahead = fitting.first().map_or("nothing".to_owned(), |kernels| {
            format!("{} for {}", kernels.compiler, kernels.target)
        });
        AheadCompiler {
            images: fitting.iter().map(image).collect(),
            identity: match &here {
                // Both compile the same way, so one name is enough.
                Ok(here) if ahead == format!("{} for {}", here.identity(), here.target()) => here.identity().to_owned(),
                Ok(here) => format!("ahead: {ahead}; here: {}", here.identity()),
                Err(_) => format!("ahead: {ahead}"),
            },
            target: fitting
                .first()
                .map_or_else(String::new, |kernels| kernels.target.clone()),
            here,
        }
    }

    /// Returns this machine's compiler for a source, or why there is none. A source that is
    /// compiled already needs no compiler.
    fn here(&self, source: &Source) -> Result<&dyn Compiler, NoCompiler> {
        let here = self.here.as_ref().map_err(NoCompiler::clone)?;
        match here.lack().filter(|_| source.form.is_compiled()) {
            Some(reason) => Err(reason),
            None => Ok(&**here),
        }
    }

    /// Returns the image with the most of these names, and the names that it lacks.
    fn best(&self, source: &Source, names: &[String]) -> Option<(&Image, Vec<String>)> {
        let digest = source_digest(source);
        let missing = |image: &Image| -> Vec<String> {
            names
                .iter()
                .filter(|name| !image.names.contains(*name))
                .cloned()
                .collect()
        };
        self.images
            .iter()
            .filter(|image| image.source == digest)
            .map(|image| (image, missing(image)))
            .min_by_key(|(_, missing)| missing.len())
    }
}

impl Compiler for AheadCompiler {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn target(&self) -> String {
        self.target.clone()
    }

    fn notices(&self) -> Vec<String> {
        self.here.as_ref().map_or_else(|_| Vec::new(), |here| here.notices())
    }

    fn made_by(&self, compiled: &Path) -> String {
        match &self.here {
            Ok(here) if self.images.iter().all(|image| image.path != compiled) => here.made_by(compiled),
            _ => self.identity.clone(),
        }
    }

    fn made_otherwise(&self, source: &Source, compiled: &Path) -> Option<String> {
        self.here.as_ref().ok()?.made_otherwise(source, compiled)
    }

    fn compile(&self, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError> {
        let Wanted { source, names, .. } = wanted;
        let missing = match self.best(source, names) {
            Some((image, missing)) if missing.is_empty() => return Ok(image.path.clone()),
            Some((_, missing)) => missing,
            None => names.to_vec(),
        };
        match self.here(source) {
            Ok(here) => here.compile(wanted),
            Err(reason) => Err(not_ahead(source, &missing, &reason)),
        }
    }

    fn compile_library(&self, wanted: Wanted<'_>, linked: &[PathBuf]) -> Result<PathBuf, KernelBuildError> {
        match self.here(wanted.source) {
            Ok(here) => here.compile_library(wanted, linked),
            Err(reason) => Err(not_ahead(wanted.source, &[], &reason)),
        }
    }

    fn freeze(&self, compiled: &Path) -> Result<FrozenFile, KernelBuildError> {
        let sealed = FrozenFile::copy_of(compiled)?;
        let archived = self.images.iter().find(|image| image.path == compiled);
        match archived {
            // Checks the frozen copy, which nobody can replace.
            Some(image) if !image.sha256.is_of(&sealed) => Err(KernelBuildError::Unusable(format!(
                "the kernels in `{}` changed after they were unpacked (hint: run the archive again while nothing else writes to that \
                 folder)",
                compiled.display()
            ))),
            _ => Ok(sealed),
        }
    }

    fn compile_separately(&self, wanted: Wanted<'_>) -> Result<Compiled, KernelBuildError> {
        let Wanted { source, names, .. } = wanted;
        let best = self.best(source, names);
        let all = |path: &Path| Compiled {
            library: Some(path.to_owned()),
            rejected: Default::default(),
        };
        match (self.here(source), best) {
            (_, Some((image, missing))) if missing.is_empty() => Ok(all(&image.path)),
            (Ok(here), _) => here.compile_separately(wanted),
            (Err(reason), Some((image, missing))) if missing.len() < names.len() => {
                let rejection = |name: String| (name.clone(), not_ahead(source, &[name], &reason));
                Ok(Compiled {
                    rejected: missing.into_iter().map(rejection).collect(),
                    ..all(&image.path)
                })
            }
            (Err(reason), _) => Err(not_ahead(source, names, &reason)),
        }
    }
}

fn not_ahead(source: &Source, names: &[String], reason: &str) -> KernelBuildError {
    KernelBuildError::NoCompiler(format!(
        "the archive has no compiled code for {} of `{}`, and this machine cannot compile it: {reason} (hint: install a compiler here; an \
         archive has the kernels that the declared axis values need on a typical device)",
        in_backticks(names),
        source.name
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use gpubench::catalog::{Source, SourceForm};

    use super::*;
    use crate::archive::{ArchivedFile, typical_device};
    use gpubench_device::compilers::PORTABLE;

    #[test]
    fn machine_code_runs_on_its_major_version_and_later_minor_versions() {
        for (target, device, expected) in [
            ("sm_80", 80, Some(0)),
            ("sm_80", 86, Some(6)),
            ("sm_86", 80, None),
            ("sm_80", 90, None),
            ("sm_90a", 90, Some(0)),
            ("sm_100a", 103, None),
            ("sm_100f", 103, Some(3)),
            (PORTABLE, 90, None),
        ] {
            let typical = typical_device(device);
            let distance = (Backend::from_kind(typical.kind).distance)(target, &typical);
            assert_eq!(distance, expected, "{target} on {device}");
        }
    }

    fn source(name: &str) -> Source {
        Source {
            name: name.to_owned(),
            form: SourceForm::Cuda,
            files: Vec::new(),
            options: Vec::new(),
        }
    }

    fn kernels(source_name: &str, names: &[&str], path: &str) -> ArchivedKernels {
        ArchivedKernels {
            source: source_digest(&source(source_name)),
            source_name: source_name.to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            target: "sm_90".to_owned(),
            compiler: "NVRTC 13.0".to_owned(),
            file: ArchivedFile {
                path: path.to_owned(),
                size: 0,
                sha256: Digest::from_bytes(b""),
            },
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn kernels_that_change_after_their_check_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let mut archived = kernels("a.cu", &["k"], "image");
        archived.file.sha256 = Digest::from_bytes(b"compiled");
        let compiler = AheadCompiler::new(&[&archived], folder, Err("there is no NVRTC".to_owned()));
        let image = folder.join("image");
        fs_err::write(&image, "compiled").expect("written");
        let sealed = compiler.freeze(image.as_std_path()).expect("as it was unpacked");
        fs_err::write(&image, "exchanged").expect("written");
        assert_eq!(fs_err::read(sealed.path()).expect("readable"), b"compiled");
        let refused = compiler.freeze(image.as_std_path()).expect_err("it is another");
        let words = format!("the kernels in `{image}` changed after they were unpacked");
        assert!(refused.to_string().starts_with(&words), "{refused}");
    }

    #[test]
    fn compiled_kernels_are_used_and_missing_ones_are_named() {
        let archived = [
            kernels("a.cu", &["k<1>"], "small"),
            kernels("a.cu", &["k<1>", "k<2>"], "large"),
        ];
        let fitting: Vec<&ArchivedKernels> = archived.iter().collect();
        let compiler = AheadCompiler::new(&fitting, Utf8Path::new("/x"), Err("there is no NVRTC".to_owned()));
        assert_eq!(compiler.identity(), "ahead: NVRTC 13.0 for sm_90");
        let compile = |source: &Source, wanted: &[&str]| {
            compiler.compile_separately(Wanted {
                source,
                names: &names(wanted),
                cache: Path::new("/none"),
                interrupt: &AtomicBool::new(false),
                most: None,
            })
        };
        let both = compile(&source("a.cu"), &["k<1>", "k<2>"]).expect("it is there");
        assert_eq!(
            (both.library.as_deref(), both.rejected.len()),
            (Some(Path::new("/x/large")), 0)
        );
        let part = compile(&source("a.cu"), &["k<2>", "k<3>"]).expect("a part is there");
        assert_eq!(part.library.as_deref(), Some(Path::new("/x/large")));
        insta::assert_snapshot!(
            part.rejected["k<3>"],
            @"the archive has no compiled code for `k<3>` of `a.cu`, and this machine cannot compile it: there is no NVRTC (hint: install a compiler here; an archive has the kernels that the declared axis values need on a typical device)"
        );
        compile(&source("b.cu"), &["k<1>"]).expect_err("another source is not there");
    }
}
