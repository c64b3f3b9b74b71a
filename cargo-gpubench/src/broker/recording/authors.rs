//! The author processes of a run: one for every library, started again after one had to be killed.

use std::time::Duration;

use gpubench::catalog::Catalog;

use crate::broker::options::RunOptions;
use crate::build::BuiltLibrary;
use gpubench_diagnostic::{ExitCode, Expected, quoted};
use gpubench_measure::clients::{AuthorClient, AuthorProblem, Interrupt, Output, RoleFailure};
use gpubench_protocol::wire::AuthorFailure;

/// How authors are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuthorSettings<'a> {
    /// How long an answer may take.
    pub(crate) within: Duration,
    /// What becomes of what user code prints.
    pub(crate) output: Output,
    /// Ctrl-C.
    pub(crate) interrupt: &'a Interrupt,
}

impl<'a> AuthorSettings<'a> {
    /// Those of a run.
    pub(crate) fn of(options: &RunOptions, interrupt: &'a Interrupt) -> AuthorSettings<'a> {
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

/// The benchmarks of a package could not be listed.
#[derive(Debug, thiserror::Error)]
#[error("could not list the benchmarks of `{package}`")]
pub(crate) struct ListingError {
    pub(crate) package: String,
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
                Some(format!("the process that loaded the library last wrote:\n{}", quoted(log)))
            }
            AuthorProblem::Role(RoleFailure::Silent { .. }) => {
                Some("a constructor of the library or an axis expression may be stuck; `--reference-timeout` gives it more time".to_owned())
            }
            _ => None,
        }
    }
}

impl ListingError {
    /// Whether the library itself could not be used, rather than that something in it failed.
    pub(crate) fn is_of_the_library(&self) -> bool {
        let failure = match &self.source {
            AuthorProblem::Refused { failure, .. } => *failure,
            AuthorProblem::Role(_) => return false,
        };
        matches!(failure, AuthorFailure::Library | AuthorFailure::NoBenchmarks)
    }
}

impl<'a> Authors<'a> {
    /// Starts an author for every library and lists what each holds of its own; what its
    /// dependencies bring is theirs to list.
    pub(crate) fn start(
        libraries: &'a [BuiltLibrary],
        settings: AuthorSettings<'a>,
    ) -> Result<(Authors<'a>, Vec<Catalog>), ListingError> {
        let mut clients = Vec::with_capacity(libraries.len());
        let mut catalogs = Vec::with_capacity(libraries.len());
        for library in libraries {
            let (client, catalog) = spawn(library, settings).map_err(|source| ListingError {
                package: library.package.clone(),
                source,
            })?;
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

    /// The author of a library, started if there is none.
    pub(crate) fn client(&mut self, library: usize) -> Result<&mut AuthorClient, AuthorProblem> {
        let slot = &mut self.clients[library];
        match slot {
            Some(client) => Ok(client),
            none => Ok(none.insert(spawn(&self.libraries[library], self.settings)?.0)),
        }
    }

    /// Lets an author go whose state is not to be trusted any more.
    pub(crate) fn retire(&mut self, library: usize) {
        self.clients[library] = None;
    }

    /// A second author of a library, to see that it says the same as the first.
    pub(crate) fn second(&self, library: usize) -> Result<AuthorClient, AuthorProblem> {
        spawn(&self.libraries[library], self.settings).map(|(client, _)| client)
    }
}

fn spawn(library: &BuiltLibrary, settings: AuthorSettings<'_>) -> Result<(AuthorClient, Catalog), AuthorProblem> {
    let search = library.search_path();
    AuthorClient::spawn(
        &library.code,
        &search,
        settings.within,
        settings.output,
        settings.interrupt,
    )
}
