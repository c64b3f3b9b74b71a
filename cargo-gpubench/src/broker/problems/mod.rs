//! `cargo gpubench problem`: the problems of a crate, for people who write kernels elsewhere.
//!
//! `listed` finds the problems of the built libraries, and `described` records the first case of
//! one. `text` and `json` show them, and `starter` writes the file that a submission begins with.
//! `hidden` has the cases that only a grader runs.

mod described;
pub(super) mod error;
pub(super) mod hidden;
mod json;
pub(super) mod listed;
mod starter;
mod text;

use camino::Utf8PathBuf;

use super::libraries::authors::{AuthorSettings, Authors};
use super::libraries::built::Libraries;
use super::options::{LibrarySource, MessageFormat, Verbosity};
use super::process::{catch_interrupts, prepare_for_roles};
use super::status::status;
use crate::config::CaseSettings;
use described::Described;
use gpubench_diagnostic::layout::{columns_of, fitted};
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_measure::clients::Output as UserOutput;
use gpubench_report::Output;

pub use starter::StarterForm;

/// The options of `cargo gpubench problem`.
#[derive(Clone, Debug)]
pub struct ProblemOptions {
    /// Where the problems come from.
    pub libraries: LibrarySource,
    /// What to do.
    pub action: ProblemAction,
    /// The format of standard output.
    pub format: MessageFormat,
    /// How much is shown.
    pub verbosity: Verbosity,
}

/// What to do with problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemAction {
    /// List them.
    List,
    /// Show the one of this name.
    Show(String),
    /// Write the file that a submission begins with.
    Starter {
        /// The problem's name.
        name: String,
        /// What the submission is.
        form: StarterForm,
        /// The file. Standard output without one.
        output: Option<Utf8PathBuf>,
    },
}

/// Lists or shows problems, or writes a starter.
///
/// # Errors
/// The libraries cannot be built or listed, they have no problem or none of the name, or nothing
/// can be written.
pub fn problem(options: &ProblemOptions) -> Result<ExitCode, Failure> {
    let interrupt = catch_interrupts()?;
    let libraries = Libraries::obtain(&options.libraries, &interrupt)?;
    let built = &libraries.built;
    prepare_for_roles();
    let settings = AuthorSettings {
        within: CaseSettings::BUILT_IN.complete().reference_timeout.duration(),
        output: UserOutput::Captured,
        interrupt: &interrupt,
    };
    let (mut authors, catalogs) =
        Authors::start(&built.libraries, settings).map_err(|error| libraries.explain(error))?;
    let problems = listed::own_problems(built, &catalogs)?;
    let (name, shows) = match &options.action {
        ProblemAction::List => {
            print(options, &text::list(&problems), &json::list(&problems)?)?;
            return Ok(ExitCode::Success);
        }
        ProblemAction::Show(name) => (name, None),
        ProblemAction::Starter { name, form, output } => (name, Some((*form, output))),
    };
    let problem = problems.named(name)?;
    let described = Described::record(problem, &mut authors, &interrupt)?;
    match shows {
        None => print(
            options,
            &text::show(&described, columns_of(&std::io::stdout())),
            &json::show(&described)?,
        )?,
        Some((form, output)) => {
            let starter = starter::starter(&described, form, output.as_deref())?;
            match output {
                None => Output::stdout().print(&starter.in_one_file())?,
                Some(file) => {
                    for path in starter.write(file)? {
                        status(options.verbosity, "Wrote", format_args!("`{path}`"));
                    }
                }
            }
        }
    }
    Ok(ExitCode::Success)
}

fn print(options: &ProblemOptions, text: &str, json: &str) -> Result<(), Failure> {
    match options.format {
        MessageFormat::Human => Output::stdout_as_styled().print(&fitted(text, columns_of(&std::io::stdout())))?,
        MessageFormat::Json => Output::stdout().print(json)?,
    }
    Ok(())
}

/// Returns a problem without parameters, for tests.
#[cfg(test)]
pub(super) fn example(path: &str) -> gpubench::catalog::StatedProblem {
    use gpubench::catalog::{Benchmark, HiddenCases, ReferenceKind, Score, Selection, StatedProblem, SubmissionLimits};
    StatedProblem {
        outline: Benchmark {
            library: "sums".to_owned(),
            path: path.to_owned(),
            problem: path.to_owned(),
            file: "src/lib.rs".to_owned(),
            line: 1,
            selection: Selection::Default,
            requirements: Vec::new(),
            axes: Vec::new(),
            own_axes: Vec::new(),
            counters: Vec::new(),
            device_axes: Vec::new(),
            settings: Vec::new(),
            own_library: None,
        },
        statement: String::new(),
        signature: Vec::new(),
        work: Vec::new(),
        hidden: HiddenCases::default(),
        score: Score::default(),
        limits: SubmissionLimits::default(),
        reference: ReferenceKind::Function,
        device_references: Vec::new(),
    }
}
