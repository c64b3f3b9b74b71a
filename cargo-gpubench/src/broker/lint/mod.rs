//! `cargo gpubench lint`: judges problems without a kernel.
//!
//! `session` makes the calls of each case. `flaw` groups what they show by problem and output, and
//! `allowed` knows what authors accept. `place` finds the attribute in the sources, and `fix`
//! changes its tolerance. `hidden` finds hidden cases that are public. `text` and `sarif` show the
//! result.

mod allowed;
mod fix;
mod flaw;
mod hidden;
mod place;
mod sarif;
mod session;
mod text;

use std::io;
use std::time::Duration;

use gpubench::catalog::Catalog;

use super::cases::CaseSelection;
use super::libraries::authors::{AuthorSettings, Authors};
use super::options::Verbosity;
use super::process::{catch_interrupts, prepare_for_roles};
use super::status::status;
use crate::cdylibs::{BuildOptions, build_cdylibs};
use gpubench_diagnostic::layout::{columns_of, fitted};
use gpubench_diagnostic::{ExitCode, Expected, Failure, print_to_stderr, print_warning};
use gpubench_measure::clients::Output as UserOutput;
use gpubench_report::{Output, OutputTarget};

/// The options of `cargo gpubench lint`.
#[derive(Clone, Debug)]
pub struct LintOptions {
    /// What to build and how.
    pub build: BuildOptions,
    /// The selected cases.
    pub cases: CaseSelection,
    /// Time limit of the trials of a case, after its first two calls.
    pub trial_time: Duration,
    /// Time limit of one run of a reference or a generator.
    pub within: Duration,
    /// A file for SARIF.
    pub sarif: Option<OutputTarget>,
    /// Whether tolerances are changed.
    pub fix: Fixing,
    /// How much is shown.
    pub verbosity: Verbosity,
}

/// Whether the sources are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fixing {
    /// They are not.
    #[default]
    Nothing,
    /// `--fix`: tolerances are, in files without changes that are not committed.
    CleanFiles,
    /// `--allow-dirty`: in all files.
    AllFiles,
}

/// All selected cases are left out.
#[derive(Debug, thiserror::Error)]
#[error("{}", session::NOTHING_JUDGED)]
struct NothingJudged;

impl Expected for NothingJudged {
    fn exit_code(&self) -> ExitCode {
        ExitCode::NothingSelected
    }

    fn hint(&self) -> Option<String> {
        Some("`lint` judges on the CPU device: select cases that run there too".to_owned())
    }
}

/// Judges the problems of the selected cases.
///
/// # Errors
/// The libraries cannot be built or listed, no case is selected or can be judged, or nothing can be
/// printed.
pub fn lint(options: &LintOptions) -> Result<ExitCode, Failure> {
    if let Some(target) = &options.sarif {
        target.ensure_writable()?;
    }
    let interrupt = catch_interrupts()?;
    let built = build_cdylibs(&options.build, interrupt.flag())?;
    built.notices.iter().for_each(|notice| print_warning(notice));
    prepare_for_roles();
    let settings = AuthorSettings {
        within: options.within,
        output: UserOutput::Captured,
        interrupt: &interrupt,
    };
    let (authors, mut catalogs) = Authors::start(&built.libraries, settings)?;
    catalogs.iter_mut().for_each(add_problems);
    let judged = session::judge(options, &built, &catalogs, authors, &interrupt)?;
    let mut flaws = flaw::flaws(&judged, &built, &catalogs);
    for flaw in &mut flaws {
        flaw.locate();
    }
    let hidden = hidden::hidden_flaws(&judged, &catalogs)?;
    let sarif = sarif::log(&flaws, &hidden, &judged);
    let text = text::report(&flaws, &hidden, &judged);
    match &options.sarif {
        _ if judged.has_judged_nothing() => {}
        Some(OutputTarget::StandardOutput) => print_to_stderr(&fitted(&text, columns_of(&io::stderr()))),
        _ => Output::stdout_as_styled().print(&fitted(&text, columns_of(&io::stdout())))?,
    }
    if let Some(target) = &options.sarif {
        target.write(&sarif)?;
    }
    if options.fix != Fixing::Nothing {
        for line in fix::apply(&flaws, options.fix)? {
            status(options.verbosity, line.word, format_args!("{}", line.text));
        }
    }
    if judged.has_judged_nothing() {
        return Err(NothingJudged.into());
    }
    Ok(
        match (judged.failures.is_empty(), flaws.is_empty() && hidden.is_empty()) {
            (false, _) => ExitCode::BenchmarkFailed,
            (true, false) => ExitCode::ProblemFlawed,
            (true, true) => ExitCode::Success,
        },
    )
}

/// Puts the problems after the benchmarks, so that those without a kernel have cases. Authors count
/// them like this too. A benchmark can have the path of its problem.
fn add_problems(catalog: &mut Catalog) {
    for problem in &catalog.problems {
        let mut outline = problem.outline.clone();
        if catalog.benchmarks.iter().any(|other| other.path == outline.path) {
            outline.path.push_str("::problem");
        }
        catalog.benchmarks.push(outline);
    }
}
