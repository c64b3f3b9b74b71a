//! The author processes of a run, one for every library. A killed author is started again.

use std::time::Duration;

use gpubench::catalog::Catalog;

use crate::broker::options::RunOptions;
use crate::cdylibs::{BuiltLibrary, CargoTarget, LibraryForm, TargetName};
use gpubench_diagnostic::{ExitCode, Expected, quoted};
use gpubench_measure::clients::{AuthorClient, AuthorProblem, Interrupt, Output, RoleFailure};
use gpubench_protocol::wire::AuthorFailure;

/// Settings of authors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuthorSettings<'a> {
    /// Time limit for an answer.
    pub(crate) within: Duration,
    /// Where the output of user code goes.
    pub(crate) output: Output,
    /// Ctrl-C.
    pub(crate) interrupt: &'a Interrupt,
}

impl<'a> AuthorSettings<'a> {
    /// Returns the settings of a run.
    pub(crate) fn new(options: &RunOptions, interrupt: &'a Interrupt) -> AuthorSettings<'a> {
        AuthorSettings {
            within: options.measurement.everywhere().reference_within,
            output: options.output.user_output,
            interrupt,
        }
    }
}

/// The authors of a run, in the order of their libraries.
#[derive(Debug)]
pub(crate) struct Authors<'a> {
    libraries: &'a [BuiltLibrary],
    settings: AuthorSettings<'a>,
    clients: Vec<Option<AuthorClient>>,
}

/// The benchmarks of a library could not be listed.
#[derive(Debug, thiserror::Error)]
#[error("could not list the benchmarks of {library}")]
pub(crate) struct ListingError {
    pub(crate) library: TargetName,
    #[source]
    source: AuthorProblem,
}

impl Expected for ListingError {
    fn exit_code(&self) -> ExitCode {
        match &self.source {
            AuthorProblem::Role(RoleFailure::Interrupted) => ExitCode::Interrupted,
            _ => ExitCode::ListingFailed,
        }
    }

    fn hint(&self) -> Option<String> {
        match &self.source {
            AuthorProblem::Role(RoleFailure::Ended { log, .. }) if !log.is_empty() => {
                Some(format!("last output of the process that loaded the library:\n{}", quoted(log)))
            }
            AuthorProblem::Role(RoleFailure::Silent { .. }) => {
                Some("a constructor of the library or an axis expression may hang; if it is only slow, raise `--reference-timeout`".to_owned())
            }
            _ => None,
        }
    }
}

impl ListingError {
    /// Returns whether the library itself is unusable, rather than something in it.
    pub(crate) fn is_of_the_library(&self) -> bool {
        let failure = match &self.source {
            AuthorProblem::Refused { failure, .. } => *failure,
            AuthorProblem::Role(_) => return false,
        };
        matches!(failure, AuthorFailure::Library | AuthorFailure::NoBenchmarks)
    }
}

impl<'a> Authors<'a> {
    /// Starts an author for every library and lists the library's own benchmarks, without those of
    /// its dependencies.
    pub(crate) fn start(
        libraries: &'a [BuiltLibrary],
        settings: AuthorSettings<'a>,
    ) -> Result<(Authors<'a>, Vec<Catalog>), ListingError> {
        let mut clients = Vec::with_capacity(libraries.len());
        let mut catalogs = Vec::with_capacity(libraries.len());
        for library in libraries {
            let (client, mut catalog) = spawn(library, settings).map_err(|source| ListingError {
                library: library.name(),
                source,
            })?;
            name_by_target(&mut catalog, library);
            clients.push(Some(client));
            catalogs.push(catalog);
        }
        Ok((
            Authors {
                libraries,
                settings,
                clients,
            },
            catalogs,
        ))
    }

    /// Returns the authors of libraries that have been listed. Each starts when it is first needed.
    pub(crate) fn to_start(libraries: &'a [BuiltLibrary], settings: AuthorSettings<'a>) -> Authors<'a> {
        Authors {
            libraries,
            settings,
            clients: libraries.iter().map(|_| None).collect(),
        }
    }

    /// Returns the author of a library. Starts it if necessary.
    pub(crate) fn client(&mut self, library: usize) -> Result<&mut AuthorClient, AuthorProblem> {
        let slot = &mut self.clients[library];
        match slot {
            Some(client) => Ok(client),
            none => Ok(none.insert(spawn(&self.libraries[library], self.settings)?.0)),
        }
    }

    /// Drops an author whose state is not trustworthy any more.
    pub(crate) fn retire(&mut self, library: usize) {
        self.clients[library] = None;
    }

    /// Starts a second author of a library, to check that it gives the same answers as the first.
    pub(crate) fn second(&self, library: usize) -> Result<AuthorClient, AuthorProblem> {
        spawn(&self.libraries[library], self.settings).map(|(client, _)| client)
    }
}

/// Puts the name of an example before the names of its benchmarks and their problems. Other
/// examples and the library of the package can have the same names.
fn name_by_target(catalog: &mut Catalog, library: &BuiltLibrary) {
    if library.target == CargoTarget::Library {
        return;
    }
    let name = &library.crate_name;
    let problems = catalog.problems.iter_mut().map(|problem| &mut problem.outline);
    for benchmark in catalog
        .benchmarks
        .iter_mut()
        .chain(problems)
        .filter(|benchmark| benchmark.library == *name)
    {
        benchmark.path = format!("{name}::{}", benchmark.path);
        benchmark.problem = format!("{name}::{}", benchmark.problem);
    }
}

fn spawn(library: &BuiltLibrary, settings: AuthorSettings<'_>) -> Result<(AuthorClient, Catalog), AuthorProblem> {
    let AuthorSettings {
        within,
        output,
        interrupt,
    } = settings;
    match (library.form, &library.code[..]) {
        (LibraryForm::StoredTensors, [stored]) => {
            let client = AuthorClient::holding(stored, within, output, interrupt)?;
            Ok((client, Catalog::default()))
        }
        _ => AuthorClient::spawn(&library.code, &library.search_path(), within, output, interrupt),
    }
}
