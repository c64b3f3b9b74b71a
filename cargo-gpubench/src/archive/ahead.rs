//! Kernels that were compiled ahead as a compiler: what the archive has is taken from it, the rest
//! is compiled here where that is possible.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use gpubench::catalog::{DeviceFacts, Source};
use gpubench::codec;

use super::{ArchivedKernels, Digest, Manifest};
use gpubench_device::compilers::{Compiled, Compiler, KernelBuildError, Wanted};
use gpubench_device::{Backend, FrozenFile};
use gpubench_diagnostic::in_backticks;

/// Why no compiler is here, as a person reads it.
pub type NoCompiler = String;

/// The kernels of an archive that a device can run, before a compiler of this machine.
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

/// The digest a source is found by: of its files and options as the catalog has them.
pub fn source_digest(source: &Source) -> Digest {
    Digest::of(&codec::encode(source))
}

/// The kernels of an archive that run on a device, those that fit it best first.
pub fn fitting<'a>(manifest: &'a Manifest, device: &DeviceFacts) -> Vec<&'a ArchivedKernels> {
    let distance = Backend::of(device.kind).distance;
    let mut fitting: Vec<(u32, &ArchivedKernels)> = manifest
        .kernels
        .iter()
        .filter_map(|kernels| Some((distance(&kernels.target, device)?, kernels)))
        .collect();
    fitting.sort_by_key(|(distance, _)| *distance);
    fitting.into_iter().map(|(_, kernels)| kernels).collect()
}

impl AheadCompiler {
    /// The compiler of an archive that was unpacked to `folder`.
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
                // It makes no difference then what was compiled where.
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

    /// The compiler of this machine for a source, or why there is none. What is compiled already
    /// needs no compiler.
    fn here(&self, source: &Source) -> Result<&dyn Compiler, NoCompiler> {
        let here = self.here.as_ref().map_err(NoCompiler::clone)?;
        match here.lack().filter(|_| source.form.is_compiled()) {
            Some(reason) => Err(reason),
            None => Ok(&**here),
        }
    }

    /// The image with most of the names: all of them, if there is one.
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

    fn freeze(&self, compiled: &Path) -> Result<FrozenFile, KernelBuildError> {
        let sealed = FrozenFile::copy_of(compiled)?;
        let archived = self.images.iter().find(|image| image.path == compiled);
        match archived {
            // The copy is looked at, which nobody can exchange any more.
            Some(image) if !image.sha256.is_of(&sealed) => Err(KernelBuildError::Unusable(format!(
                "the kernels in `{}` were changed after they were unpacked (hint: run the archive again, where nothing else writes to that \
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
        "`{}` was not compiled ahead with {}, and cannot be compiled here: {reason} (hint: archive again, or install a compiler here)",
        source.name,
        in_backticks(names)
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
    fn machine_code_runs_on_its_major_version_from_its_own_minor_version_on() {
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
            let distance = (Backend::of(typical.kind).distance)(target, &typical);
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
                sha256: Digest::of(b""),
            },
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn kernels_that_were_exchanged_behind_their_check_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let mut archived = kernels("a.cu", &["k"], "image");
        archived.file.sha256 = Digest::of(b"compiled");
        let compiler = AheadCompiler::new(&[&archived], folder, Err("there is no NVRTC".to_owned()));
        let image = folder.join("image");
        fs_err::write(&image, "compiled").expect("written");
        let sealed = compiler.freeze(image.as_std_path()).expect("as it was unpacked");
        fs_err::write(&image, "exchanged").expect("written");
        assert_eq!(fs_err::read(sealed.path()).expect("readable"), b"compiled");
        let refused = compiler.freeze(image.as_std_path()).expect_err("it is another");
        let words = format!("the kernels in `{image}` were changed after they were unpacked");
        assert!(refused.to_string().starts_with(&words), "{refused}");
    }

    #[test]
    fn what_was_compiled_ahead_is_used_and_what_was_not_is_named() {
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
            @"`a.cu` was not compiled ahead with `k<3>`, and cannot be compiled here: there is no NVRTC (hint: archive again, or install a compiler here)"
        );
        compile(&source("b.cu"), &["k<1>"]).expect_err("another source is not there");
    }
}
