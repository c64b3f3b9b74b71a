//! The agent: it measures on the device of its machine what the head of a run asks for.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;

use super::agent_error::AgentError;
use super::lessee::measure;
use super::listener::Listener;
use super::message::{FromAgent, Order, ToAgent};
use super::node_archive;
use super::speaker::Speaker;
use super::submissions::with_submissions_of_head;
use crate::archive::ExtractTo;
use crate::broker::options::{Action, LibrarySource, OutputOptions, ResultOptions, RunOptions, Verbosity};
use crate::broker::process::catch_interrupts;
use gpubench_diagnostic::{ExitCode, Failure, InternalError, chain};
use gpubench_measure::clients::Interrupt;
use gpubench_sandbox::{hide_from_others, keep_in_broker};

/// Makes the options of a run from the head's command line. The folder is for its configuration.
pub type ReadOrder<'r> = &'r dyn Fn(&Order, &Utf8Path) -> Result<RunOptions, Failure>;

/// Works for the head of a run at standard input and output, until the head ends.
///
/// # Errors
/// Standard input or output cannot be used, or this machine cannot take part.
pub fn serve(read_order: ReadOrder<'_>) -> Result<ExitCode, Failure> {
    if io::stdin().is_terminal() {
        return Err(AgentError::Terminal.into());
    }
    let interrupt = catch_interrupts()?;
    hide_from_others().map_err(InternalError::because("cannot protect the memory of this process"))?;
    let (input, output) = take_streams().map_err(InternalError::because("cannot take standard input and output"))?;
    let speaker = Arc::new(Speaker::of(output, &interrupt));
    speaker.begin();
    let head = Listener::of(input, &interrupt);
    let outcome = work(&head, &speaker, read_order, &interrupt);
    match outcome {
        Ok(()) => Ok(ExitCode::Success),
        Err(_) if interrupt.is_set() => Ok(ExitCode::Interrupted),
        Err(failure) => {
            speaker.say(&FromAgent::Refused {
                why: chain(&*failure),
                hint: failure.hint(),
            });
            Ok(failure.exit_code())
        }
    }
}

/// Takes standard input and output for this process alone: what its children print goes to
/// standard error.
fn take_streams() -> io::Result<(File, File)> {
    // The copies are closed in children.
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((input.into(), output.into()))
}

fn work(
    head: &Listener,
    speaker: &Arc<Speaker>,
    read_order: ReadOrder<'_>,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let ToAgent::Begin(begin) = head.message()? else {
        return Err(AgentError::Protocol("work before the beginning".to_owned()).into());
    };
    let here = env!("CARGO_PKG_VERSION");
    if begin.tool_version != here {
        let there = begin.tool_version;
        return Err(AgentError::Version { here, there }.into());
    }
    speaker.keep_alive(Duration::from_millis(begin.heartbeat_ms.max(1)));
    let archive = node_archive::obtain(&node_archive::folder(), &begin.archive, interrupt, |file| {
        speaker.say(&FromAgent::Archive { is_wanted: true });
        let mut left = begin.archive.bytes;
        while left > 0 {
            let piece = head.piece()?;
            file.write_all(&piece)?;
            left = left.saturating_sub(piece.len() as u64);
        }
        Ok(())
    })?;
    speaker.say(&FromAgent::Archive { is_wanted: false });
    let folder = tempfile::tempdir().map_err(InternalError::because("cannot make a temporary folder"))?;
    let configuration = Utf8Path::from_path(folder.path()).unwrap_or(Utf8Path::new("/nonexistent"));
    let options = read_order(&begin.order, configuration)?;
    let options = with_submissions_of_head(&options, begin.submissions, head)?;
    let options = RunOptions {
        libraries: LibrarySource::Archive {
            archive,
            extract_to: ExtractTo::Temporary,
        },
        output: OutputOptions {
            verbosity: Verbosity::Quiet,
            user_output: options.output.user_output,
            ..OutputOptions::default()
        },
        results: ResultOptions {
            judging: options.results.judging,
            ..ResultOptions::default()
        },
        fleet: None,
        ..options
    };
    keep_in_broker(options.rights()).map_err(InternalError::because("cannot drop capabilities"))?;
    measure(&begin, &options, head, speaker, interrupt)
}

/// Whether the agent makes sense for what is asked for.
pub(super) fn can_do(action: Action) -> bool {
    matches!(action, Action::Measure | Action::Test)
}
