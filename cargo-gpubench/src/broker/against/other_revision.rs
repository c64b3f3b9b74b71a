//! The baseline of an interleaved run: a revision that is checked out and built here, or an
//! unpacked archive.

use std::error::Error;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::{Catalog, DeviceFacts};

use crate::archive::ExtractTo;
use crate::broker::libraries::authors::{AuthorSettings, Authors};
use crate::broker::libraries::built::Libraries;
use crate::broker::options::{DatasetOptions, LibrarySource, OpponentSource, Verbosity};
use crate::broker::status::{first_of, status};
use crate::cdylibs::{BuildError, BuildOptions, Built, WorkspaceFolders, names_runtime};
use crate::checkout::{Checkout, CheckoutError};
use crate::git::Git;
use gpubench_contract::Revision;
use gpubench_device::compilers::Compiler;
use gpubench_diagnostic::{ExitCode, Expected, Failure, print_warning};
use gpubench_measure::clients::Interrupt;

/// The baseline before the candidate is built.
#[derive(Debug)]
pub(crate) enum BaselineSource<'o> {
    /// A checkout, to be built like the candidate.
    CheckedOut(Checkout, &'o BuildOptions),
    /// An archive, built elsewhere.
    Unpacked(Box<OtherRevision>),
}

/// A baseline that is built.
#[derive(Debug)]
pub(crate) struct OtherRevision {
    /// The requested name: a revision, or an archive's file.
    name: String,
    /// The checkout; `None` for an archive.
    checkout: Option<Checkout>,
    libraries: Libraries,
}

/// `--against` names a revision, but the candidate is an archive without sources.
#[derive(Debug, thiserror::Error)]
#[error("`--against {revision}` needs sources, but `{archive}` is an archive")]
struct NoSources {
    revision: String,
    archive: Utf8PathBuf,
}

impl Expected for NoSources {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        Some("use `--against-archive FILE` with an archive of the revision".to_owned())
    }
}

/// The baseline cannot be built, unpacked or listed.
#[derive(Debug)]
struct Unmeasurable {
    /// The requested name.
    name: String,
    why: Failure,
}

impl fmt::Display for Unmeasurable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot measure the baseline `{}`", self.name)
    }
}

impl Error for Unmeasurable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.why.as_error())
    }
}

impl Expected for Unmeasurable {
    fn exit_code(&self) -> ExitCode {
        self.why.exit_code()
    }

    fn hint(&self) -> Option<String> {
        self.why.hint()
    }
}

impl<'o> BaselineSource<'o> {
    /// Checks out or unpacks the baseline. Runs before any build, so that mistakes show early.
    ///
    /// # Errors
    /// The revision cannot be checked out, the archive cannot be used, or there are no sources with
    /// a repository.
    pub(crate) fn obtain(
        source: &OpponentSource,
        candidate: &'o LibrarySource,
        verbosity: Verbosity,
        interrupt: &Interrupt,
    ) -> Result<BaselineSource<'o>, Failure> {
        match (source, candidate) {
            (OpponentSource::Archive(archive), _) => {
                let unpacked = OtherRevision::unpack(archive, verbosity, interrupt)?;
                Ok(BaselineSource::Unpacked(Box::new(unpacked)))
            }
            (OpponentSource::Revision(revision), LibrarySource::Build(build)) => {
                let checkout = check_out(revision, build, verbosity, interrupt)?;
                Ok(BaselineSource::CheckedOut(checkout, build))
            }
            (
                OpponentSource::Revision(revision),
                LibrarySource::Archive { archive, .. }
                | LibrarySource::Dataset(DatasetOptions {
                    definition: archive, ..
                }),
            ) => Err(NoSources {
                revision: revision.clone(),
                archive: archive.clone(),
            }
            .into()),
        }
    }

    /// Builds the baseline with the candidate's selection of packages. Does nothing for an archive.
    ///
    /// # Errors
    /// The build fails.
    pub(crate) fn build(self, verbosity: Verbosity, interrupt: &Interrupt) -> Result<OtherRevision, Failure> {
        let (checkout, candidate) = match self {
            BaselineSource::CheckedOut(checkout, candidate) => (checkout, candidate),
            BaselineSource::Unpacked(revision) => return Ok(*revision),
        };
        let (name, revision) = (checkout.name().to_owned(), checkout.revision().short());
        let of = if name == revision {
            String::new()
        } else {
            format!(" ({revision})")
        };
        status(verbosity, "Building", format_args!("the baseline `{name}`{of}"));
        let options = checkout.build_options(candidate);
        let libraries = match libraries_of(&checkout, options.clone(), interrupt) {
            Ok(libraries) => libraries,
            Err(error) => match lack_of_benchmarks(&error, &options) {
                Some(lack) => {
                    print_warning(&format!(
                        "the baseline `{name}` has no benchmarks, since {lack}; nothing is compared"
                    ));
                    Libraries::none_of(&checkout)
                }
                None => return Err(of_the_baseline(&name, error)),
            },
        };
        Ok(OtherRevision {
            name,
            checkout: Some(checkout),
            libraries,
        })
    }
}

/// Builds the libraries of a checkout. Leaves out packages that it lacks, if others are requested,
/// too.
fn libraries_of(checkout: &Checkout, mut options: BuildOptions, interrupt: &Interrupt) -> Result<Libraries, Failure> {
    checkout.refuse_without_manifest()?;
    loop {
        let error = match Libraries::obtain(&LibrarySource::Build(options.clone()), interrupt) {
            Ok(libraries) => return Ok(libraries),
            Err(error) => error,
        };
        let unusable = error.as_error().downcast_ref().and_then(BuildError::unusable_package);
        match unusable.and_then(|package| options.packages.without(package)) {
            Some(left) => options.packages = left,
            None => return Err(error),
        }
        print_warning(&format!(
            "the baseline `{}` lacks benchmarks of a requested package, whose cases are new: {}",
            checkout.name(),
            error.as_error()
        ));
    }
}

/// Returns why the revision has no benchmarks, unless the error has another cause. The candidate
/// was built with the same options, so a package or feature that is missing is new. Benchmarks of
/// the revision may do without the feature.
fn lack_of_benchmarks(error: &Failure, options: &BuildOptions) -> Option<String> {
    let error = error.as_error();
    if let Some(no_manifest @ CheckoutError::NoManifest { .. }) = error.downcast_ref() {
        return Some(no_manifest.to_string());
    }
    match error.downcast_ref()? {
        error @ BuildError::FeatureNotFound => {
            let is_known = names_runtime(options).unwrap_or(true);
            (!is_known).then(|| error.to_string())
        }
        error => BuildError::lack_of_benchmarks(error),
    }
}

fn check_out(
    revision: &str,
    build: &BuildOptions,
    verbosity: Verbosity,
    interrupt: &Interrupt,
) -> Result<Checkout, Failure> {
    let target_dir = build.compilation.target_dir.as_deref();
    let WorkspaceFolders { root, target } = WorkspaceFolders::find(&build.manifest, target_dir)?;
    let checkout = Checkout::make(revision, build, &target, interrupt.flag())?;
    if verbosity > Verbosity::Quiet && Git::in_folder(&root).revision().is_some_and(|ours| ours.modified) {
        let what = format_args!("the candidate includes uncommitted changes; `{revision}` does not");
        status(verbosity, "Note", what);
    }
    warn_of_shared_files(&checkout);
    warn_of_empty_submodules(&checkout);
    Ok(checkout)
}

/// Number of paths to name in a warning; the rest are counted.
const PATHS_NAMED: usize = 3;

/// Warns of links that lead out of the repository. A change of their target affects both sides, so
/// the comparison cannot find it.
fn warn_of_shared_files(checkout: &Checkout) {
    let shared = checkout.shared();
    if shared.is_empty() {
        return;
    }
    print_warning(&format!(
        "symbolic links lead out of the repository: {}; the candidate and the baseline both read the current files there, not those of `{}`",
        first_of(shared, PATHS_NAMED),
        checkout.name()
    ));
}

/// Warns of submodules that the build does without.
fn warn_of_empty_submodules(checkout: &Checkout) {
    let empty = checkout.empty_submodules();
    if !empty.is_empty() {
        print_warning(&format!(
            "submodules of `{}` are empty, because your checkout does not have their commits: {} (hint: run `git submodule update --init` in that revision first)",
            checkout.name(),
            first_of(empty, PATHS_NAMED)
        ));
    }
}

impl OtherRevision {
    fn unpack(archive: &Utf8Path, verbosity: Verbosity, interrupt: &Interrupt) -> Result<OtherRevision, Failure> {
        let source = LibrarySource::Archive {
            archive: archive.to_owned(),
            extract_to: ExtractTo::Temporary,
        };
        let libraries =
            Libraries::obtain(&source, interrupt).map_err(|error| of_the_baseline(archive.as_str(), error))?;
        if let Some(archive) = libraries.archive() {
            status(verbosity, "Unpacked", format_args!("the baseline {archive}"));
        }
        Ok(OtherRevision {
            name: archive.to_string(),
            checkout: None,
            libraries,
        })
    }

    /// Returns the requested name: a revision, or an archive's file.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the revision, if it is known.
    pub(crate) fn revision(&self) -> Option<Revision> {
        match &self.checkout {
            Some(checkout) => Some(checkout.revision()),
            None => self.libraries.archive()?.revision().cloned(),
        }
    }

    /// Returns the built libraries.
    pub(crate) fn built(&self) -> &Built {
        &self.libraries.built
    }

    /// Starts the authors of the libraries.
    ///
    /// # Errors
    /// A library cannot be listed.
    pub(crate) fn authors<'a>(&'a self, settings: AuthorSettings<'a>) -> Result<(Authors<'a>, Vec<Catalog>), Failure> {
        Authors::start(&self.built().libraries, settings)
            .map_err(|error| of_the_baseline(self.name(), self.libraries.explain(error)))
    }

    /// Returns whether one of the sides has kernels that were compiled elsewhere. Kernels compiled
    /// here must then be compiled in the same way.
    pub(crate) fn is_measured_as_archived(&self, candidate: &Libraries, device: &DeviceFacts) -> bool {
        let sides = [candidate, &self.libraries];
        self.checkout.is_none() && sides.iter().any(|libraries| libraries.has_kernels_for(device))
    }

    /// Returns the compiler of the baseline's kernels if it differs from the candidate's: the
    /// kernels of an archive take precedence over a compiler of this machine.
    ///
    /// # Errors
    /// There is no compiler here, and the archive has no kernels for the device.
    pub(crate) fn compiler(
        &self,
        device: &DeviceFacts,
        catalogs: &[Catalog],
        here: impl FnOnce() -> Result<Box<dyn Compiler>, Failure>,
    ) -> Result<Option<Box<dyn Compiler>>, Failure> {
        if self.checkout.is_some() {
            return Ok(None);
        }
        let compiler = self.libraries.compiler(device, catalogs, here);
        compiler.map(Some).map_err(|error| of_the_baseline(&self.name, error))
    }
}

/// Marks an error as the baseline's, so that it does not look like one of the candidate.
fn of_the_baseline(name: &str, error: Failure) -> Failure {
    match error.exit_code() {
        ExitCode::Interrupted => error,
        _ => Unmeasurable {
            name: name.to_owned(),
            why: error,
        }
        .into(),
    }
}
