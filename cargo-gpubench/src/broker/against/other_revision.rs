//! The other revision of a run against one: checked out and built here, or unpacked.

use std::error::Error;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::{Catalog, DeviceFacts};

use crate::archive::ExtractTo;
use crate::broker::libraries::Libraries;
use crate::broker::options::{LibrarySource, OpponentSource, Verbosity};
use crate::broker::recording::authors::{AuthorSettings, Authors};
use crate::broker::status::{first_of, status};
use crate::build::{BuildOptions, Built, WorkspaceFolders};
use crate::checkout::Checkout;
use crate::git::Git;
use gpubench_contract::Revision;
use gpubench_device::compilers::Compiler;
use gpubench_diagnostic::{ExitCode, Expected, Failure, print_warning};
use gpubench_measure::clients::Interrupt;

/// Another revision before the candidate is built.
#[derive(Debug)]
pub(crate) enum BaselineSource<'o> {
    /// It is checked out, and is built as the candidate is.
    CheckedOut(Checkout, &'o BuildOptions),
    /// It was built when it was archived.
    Unpacked(Box<OtherRevision>),
}

/// A revision that is built.
#[derive(Debug)]
pub(crate) struct OtherRevision {
    /// What it was asked for by: a revision, or an archive's file.
    name: String,
    /// Where it was built here; none where it was unpacked.
    checkout: Option<Checkout>,
    libraries: Libraries,
}

/// `--against` names a revision where there is an archive and no sources.
#[derive(Debug, thiserror::Error)]
#[error("`--against {revision}` needs sources, and `{archive}` is an archive")]
struct NoSources {
    revision: String,
    archive: Utf8PathBuf,
}

impl Expected for NoSources {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        Some("`--against-archive FILE` takes an archive of the revision".to_owned())
    }
}

/// Another revision cannot be built, unpacked or listed.
#[derive(Debug)]
struct Unmeasurable {
    /// What was asked for.
    name: String,
    why: Failure,
}

impl fmt::Display for Unmeasurable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the baseline, `{}`, cannot be measured", self.name)
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
    /// Checks out or unpacks what the candidate is measured in turns with, so that what is wrong
    /// with it is known before anything is built.
    ///
    /// # Errors
    /// It cannot be checked out, the archive cannot be used, or there are no sources whose
    /// repository has the revision.
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
            (OpponentSource::Revision(revision), LibrarySource::Archive { archive, .. }) => Err(NoSources {
                revision: revision.clone(),
                archive: archive.clone(),
            }
            .into()),
        }
    }

    /// Builds what is not built yet, with what the candidate's build selects.
    ///
    /// # Errors
    /// When it does not build.
    pub(crate) fn build(self, verbosity: Verbosity, interrupt: &Interrupt) -> Result<OtherRevision, Failure> {
        let (checkout, candidate) = match self {
            BaselineSource::CheckedOut(checkout, candidate) => (checkout, candidate),
            BaselineSource::Unpacked(revision) => return Ok(*revision),
        };
        let (name, revision) = (checkout.name().to_owned(), checkout.revision().short());
        let what = format_args!("the baseline, `{name}` ({revision})");
        status(verbosity, "Building", what);
        let options = LibrarySource::Build(checkout.build_options(candidate));
        match Libraries::obtain(&options, interrupt) {
            Ok(libraries) => Ok(OtherRevision {
                name,
                checkout: Some(checkout),
                libraries,
            }),
            Err(error) => Err(of_the_baseline(&name, error)),
        }
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
        let what = format_args!("what is not committed is part of what is measured, and not of `{revision}`");
        status(verbosity, "Note", what);
    }
    warn_of_what_is_shared(&checkout);
    Ok(checkout)
}

/// Links that are named in a warning; the others are counted.
const LINKS_NAMED: usize = 3;

/// What a link leads to outside of the repository has no revisions: a change of it would be on both
/// sides, and not be found.
fn warn_of_what_is_shared(checkout: &Checkout) {
    let shared = checkout.shared();
    if shared.is_empty() {
        return;
    }
    print_warning(&format!(
        "links lead out of the sources: {}; what is behind them is the same on both sides, whatever `{}` had there",
        first_of(shared, LINKS_NAMED),
        checkout.name()
    ));
}

impl OtherRevision {
    fn unpack(archive: &Utf8Path, verbosity: Verbosity, interrupt: &Interrupt) -> Result<OtherRevision, Failure> {
        let source = LibrarySource::Archive {
            archive: archive.to_owned(),
            extract_to: ExtractTo::Temporary,
        };
        let libraries =
            Libraries::obtain(&source, interrupt).map_err(|error| of_the_baseline(archive.as_str(), error))?;
        if let Some(archive) = &libraries.archive {
            status(verbosity, "Unpacked", format_args!("the baseline, {archive}"));
        }
        Ok(OtherRevision {
            name: archive.to_string(),
            checkout: None,
            libraries,
        })
    }

    /// What it was asked for by: a revision, or an archive's file.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What that is, where it is known.
    pub(crate) fn revision(&self) -> Option<Revision> {
        match &self.checkout {
            Some(checkout) => Some(checkout.revision()),
            None => self.libraries.archive.as_ref()?.revision().cloned(),
        }
    }

    /// What was built.
    pub(crate) fn built(&self) -> &Built {
        &self.libraries.built
    }

    /// Starts the authors of its libraries.
    ///
    /// # Errors
    /// When one of them cannot be listed.
    pub(crate) fn authors<'a>(&'a self, settings: AuthorSettings<'a>) -> Result<(Authors<'a>, Vec<Catalog>), Failure> {
        Authors::start(&self.built().libraries, settings)
            .map_err(|error| of_the_baseline(self.name(), self.libraries.explain(error)))
    }

    /// Whether kernels that were compiled elsewhere are measured on one of the sides, so that what
    /// is compiled here should be compiled as they were.
    pub(crate) fn is_measured_as_archived(&self, candidate: &Libraries, device: &DeviceFacts) -> bool {
        let sides = [candidate, &self.libraries];
        self.checkout.is_none() && sides.iter().any(|libraries| libraries.has_kernels_for(device))
    }

    /// The compiler of its kernels, where that is another than the candidate's: an archive's own
    /// kernels come before a compiler of this machine.
    ///
    /// # Errors
    /// There is no compiler here, and the archive has nothing for the device.
    pub(crate) fn compiler(
        &self,
        device: &DeviceFacts,
        catalogs: &[Catalog],
        here: impl FnOnce() -> Result<Box<dyn Compiler>, Failure>,
    ) -> Result<Option<Box<dyn Compiler>>, Failure> {
        if self.checkout.is_some() {
            return Ok(None);
        }
        let compiler = self.libraries.compiler(device, catalogs, here());
        compiler.map(Some).map_err(|error| of_the_baseline(&self.name, error))
    }
}

/// An error of the other revision's, which must not look like one of the candidate's.
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
