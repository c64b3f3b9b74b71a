//! The agent: it measures on the device of its machine what the head of a run asks for.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use camino::Utf8Path;

use super::frame::Frame;
use super::message::{Begin, FromAgent, LeaseOrder, Order, Ready, ToAgent, WantedResult, message_of};
use super::node_archive;
use super::speaker::{Speaker, host};
use crate::archive::ExtractTo;
use crate::broker::cases::Naming;
use crate::broker::cases::run_names::RunNames;
use crate::broker::device::choice::choose_devices;
use crate::broker::device::clocks::{lock_clocks, unlock_clocks};
use crate::broker::device::counters::Counters;
use crate::broker::device::environment::environment;
use crate::broker::device::kind::SameKind;
use crate::broker::device::turn::DeviceTurn;
use crate::broker::lanes::context::{Attempt, LaneContext};
use crate::broker::lanes::job::Job;
use crate::broker::lanes::lane::Lane;
use crate::broker::lanes::roles::Roles;
use crate::broker::lanes::units::{GroupsEnd, measure_groups};
use crate::broker::libraries::authors::AuthorSettings;
use crate::broker::options::{Action, LibrarySource, OutputOptions, ResultOptions, RunOptions, Verbosity};
use crate::broker::process::{catch_interrupts, prepare_for_roles};
use crate::broker::recording::preparation::Prepared;
use crate::broker::recording::selected::Side;
use crate::broker::settings::{DeviceTools, RunSettings};
use crate::broker::sources::Sources;
use crate::cdylibs::packages_of;
use gpubench::catalog::OccupancyQuery;
use gpubench_device::FrozenFile;
use gpubench_device::telemetry::Telemetry;
use gpubench_diagnostic::{ExitCode, Expected, Failure, InternalError, Interrupted, chain, print_warning};
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::LeavingWorkers;
use gpubench_protocol::window::Seeds;
use gpubench_sandbox::{hide_from_others, keep_in_broker};

/// How long an agent has to end after its head.
const END_WITHIN: Duration = Duration::from_secs(20);

/// How long it waits for a frame before it looks whether it must end.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Frames that wait for the agent.
const WAITING_FRAMES: usize = 4;

/// Makes the options of a run from the head's command line. The folder is for its configuration.
pub type ReadOrder<'r> = &'r dyn Fn(&Order, &Utf8Path) -> Result<RunOptions, Failure>;

/// The head asks for something that this agent cannot do.
#[derive(Debug, thiserror::Error)]
enum AgentError {
    /// Another version of the tool.
    #[error("the agent is `cargo gpubench` {here}, and the run is of {there}")]
    Version { here: &'static str, there: String },
    /// A person has started it.
    #[error("an agent speaks with the head of a run over standard input, and that is a terminal")]
    Terminal,
    /// The head said something that does not belong here.
    #[error("the head of the run sent what the agent does not understand: {0}")]
    Protocol(String),
    /// There are several devices.
    #[error("an agent measures on one device, and `--device` chooses {0}")]
    SeveralDevices(usize),
    /// The head has other cases.
    #[error("result {index} of the run is `{wanted}`, and here {}", .here.as_ref().map_or("there is none".to_owned(), |here| format!("`{here}`")))]
    OtherCase {
        index: u64,
        wanted: String,
        here: Option<String>,
    },
}

impl Expected for AgentError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        match self {
            AgentError::Version { .. } => Some("install the same version on both machines".to_owned()),
            AgentError::Terminal => Some(
                "`--runner` starts agents; to run the cases with `agent` in their names, write `-- agent`".to_owned(),
            ),
            AgentError::SeveralDevices(_) => Some(
                "start an agent for each, and let each see one device: `--runner 'ssh host CUDA_VISIBLE_DEVICES=1 \
                 cargo-gpubench agent'`"
                    .to_owned(),
            ),
            AgentError::OtherCase { .. } => {
                Some("its device or its operating system may differ from those of the first agent".to_owned())
            }
            AgentError::Protocol(_) => None,
        }
    }
}

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
    let head = Head::listening_to(input, &interrupt);
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

/// The frames of the head.
struct Head {
    frames: Receiver<Frame>,
    interrupt: Interrupt,
}

impl Head {
    /// Reads frames from now on. The end of the head interrupts this process.
    fn listening_to(mut input: File, interrupt: &Interrupt) -> Head {
        let (sender, frames) = sync_channel(WAITING_FRAMES);
        let ends = interrupt.clone();
        std::thread::spawn(move || {
            loop {
                match Frame::read(&mut input) {
                    Ok(Some(frame)) => {
                        if sender.send(frame).is_err() {
                            break;
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        print_warning(&format_args!("the run's connection is broken: {}", chain(&error)));
                        break;
                    }
                }
            }
            ends.cancel();
            drop(sender);
            // The processes of a case end with this one.
            std::thread::sleep(END_WITHIN);
            std::process::exit(i32::from(ExitCode::Interrupted.number()));
        });
        Head {
            frames,
            interrupt: interrupt.clone(),
        }
    }

    /// Waits for the next frame.
    fn next(&self) -> Result<Frame, Interrupted> {
        loop {
            if self.interrupt.is_set() {
                return Err(Interrupted);
            }
            match self.frames.recv_timeout(BETWEEN_LOOKS) {
                Ok(frame) => return Ok(frame),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Interrupted),
            }
        }
    }

    fn message(&self) -> Result<ToAgent, Failure> {
        let frame = self.next()?;
        message_of(&frame).map_err(|error| AgentError::Protocol(chain(&error)).into())
    }
}

fn work(head: &Head, speaker: &Arc<Speaker>, read_order: ReadOrder<'_>, interrupt: &Interrupt) -> Result<(), Failure> {
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
            let ended = |Interrupted| io::Error::from(io::ErrorKind::UnexpectedEof);
            let Frame::Piece(piece) = head.next().map_err(ended)? else {
                return Err(io::Error::other(
                    "something else came instead of a piece of the archive",
                ));
            };
            file.write_all(&piece)?;
            left = left.saturating_sub(piece.len() as u64);
        }
        Ok(())
    })?;
    speaker.say(&FromAgent::Archive { is_wanted: false });
    let folder = tempfile::tempdir().map_err(InternalError::because("cannot make a temporary folder"))?;
    let configuration = Utf8Path::from_path(folder.path()).unwrap_or(Utf8Path::new("/nonexistent"));
    let options = read_order(&begin.order, configuration)?;
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

/// Opens the device, and measures what the head leases.
fn measure(
    begin: &Begin,
    options: &RunOptions,
    head: &Head,
    speaker: &Speaker,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let sources = Sources::build(options, &ResultOptions::default(), interrupt)?;
    prepare_for_roles();
    let mut kinds = choose_devices(options, interrupt)?;
    let number = kinds.iter().map(|kind| kind.devices.len()).sum();
    let (1, Some(kind)) = (number, kinds.pop()) else {
        return Err(AgentError::SeveralDevices(number).into());
    };
    let SameKind {
        shared, mut referees, ..
    } = kind;
    let seeds = Seeds::new(begin.seed);
    let (authors, catalogs) = sources.list(AuthorSettings::new(options, interrupt))?;
    let chosen = sources.select(options, catalogs, &shared.facts, &seeds)?;
    let counters = Counters::for_cases(&chosen.ours.cases, shared.order)?;
    let (mut side, _) = sources.sides(options, &shared, &chosen, authors)?;
    // A waiting referee would occupy the device in the meantime.
    let mut turns = DeviceTurn::take_all(options, &[&shared.facts], interrupt, || referees.fill_with(|| None))?;
    let turn = turns.pop();
    let clocks = lock_clocks(options, &shared.facts, interrupt)?;
    let tools = DeviceTools {
        clocks: clocks.as_ref(),
        counters,
        observer: None,
    };
    let settings = RunSettings::new(options, seeds, shared.order, &shared.facts, tools, interrupt);
    let referee = referees.pop().flatten();
    let mut roles = Roles::on(shared.order, settings.begin(), referee, interrupt);
    let mut telemetry = Telemetry::new(&shared.facts);
    let compiler = std::rc::Rc::clone(&side.compiler);
    compiler.notices().iter().for_each(|notice| print_warning(notice));
    speaker.say(&FromAgent::Ready(Box::new(Ready {
        facts: shared.facts.clone(),
        environment: environment(&shared.facts, settings.setup(), Some(compiler.identity())),
    })));
    let selected = side.selected;
    let naming = Naming::for_packages(packages_of(selected.libraries).len());
    let names = RunNames::of_run(begin.run_id.clone(), naming);
    let unprepared: Vec<Prepared> = selected.cases.iter().map(|_| None).collect();
    let jobs = Job::all(selected, &unprepared, &names, &settings);
    let mut left_out: BTreeSet<usize> = (0..selected.cases.len()).collect();
    let mut leaving_workers = LeavingWorkers::default();
    let mut context = LaneContext {
        selected,
        compiler: compiler.identity(),
        settings: &settings,
        baseline: None,
        lanes: std::num::NonZeroUsize::MIN,
        interrupt,
        attempt: Attempt::First,
    };
    let outcome = loop {
        let order = match head.message() {
            Ok(ToAgent::Lease(order)) => order,
            Ok(ToAgent::Begin(_)) => break Err(AgentError::Protocol("a second beginning".to_owned()).into()),
            Err(failure) => break Err(failure),
        };
        let wanted = match wanted_jobs(&order, &jobs) {
            Ok(wanted) => wanted,
            Err(error) => break Err(error.into()),
        };
        let prepared = match prepare(&mut side, &mut left_out, &wanted, &mut roles, interrupt) {
            Ok(prepared) => prepared,
            Err(Interrupted) => break Err(Interrupted.into()),
        };
        let ready: Vec<Vec<Job<'_>>> = wanted
            .iter()
            .map(|group| {
                group
                    .iter()
                    .map(|job| job.prepared_as(&prepared[job.position]))
                    .collect()
            })
            .collect();
        let groups: Vec<Vec<&Job<'_>>> = ready.iter().map(|group| group.iter().collect()).collect();
        context.attempt = Attempt::numbered(order.attempt);
        let mut lane = Lane {
            context,
            roles: &mut roles,
            authors: &mut side.authors,
            telemetry: &mut telemetry,
            leaving_workers: std::mem::take(&mut leaving_workers),
        };
        let ended = measure_groups(&mut lane, &groups, &mut |mut results| {
            for result in &mut results {
                result.environment.host = Some(host());
            }
            let lease = order.lease;
            speaker.say(&FromAgent::Finished { lease, results });
        });
        leaving_workers = lane.leaving_workers;
        match ended {
            GroupsEnd::Done => speaker.say(&FromAgent::Done { lease: order.lease }),
            GroupsEnd::Interrupted => break Err(Interrupted.into()),
            GroupsEnd::Fault(why) => {
                speaker.say(&FromAgent::Fault { why });
                break Ok(());
            }
        }
    };
    drop(leaving_workers);
    roles.retire();
    unlock_clocks(clocks, options);
    drop(turn);
    outcome
}

/// Returns the jobs of a lease.
fn wanted_jobs<'r, 'j>(order: &LeaseOrder, jobs: &'r [Job<'j>]) -> Result<Vec<Vec<&'r Job<'j>>>, AgentError> {
    let job = |wanted: &WantedResult| {
        let job = usize::try_from(wanted.index).ok().and_then(|index| jobs.get(index));
        match job {
            Some(job) if job.announced.label() == wanted.label => Ok(job),
            other => Err(AgentError::OtherCase {
                index: wanted.index,
                wanted: wanted.label.clone(),
                here: other.map(|job| job.announced.label()),
            }),
        }
    };
    let groups = order.groups.iter();
    groups.map(|group| group.iter().map(job).collect()).collect()
}

/// Prepares the cases of some jobs, and no others.
fn prepare(
    side: &mut Side<'_>,
    left_out: &mut BTreeSet<usize>,
    wanted: &[Vec<&Job<'_>>],
    roles: &mut Roles<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Prepared>, Interrupted> {
    let positions: BTreeSet<usize> = wanted.iter().flatten().map(|job| job.position).collect();
    left_out.retain(|position| !positions.contains(position));
    let mut ask_device = |module: &FrozenFile, query: &OccupancyQuery| roles.occupancy(module, query);
    let prepared = side.prepare(left_out, &mut ask_device, &mut |_| {}, interrupt);
    left_out.extend(positions);
    prepared
}

/// Whether the agent makes sense for what is asked for.
pub(super) fn can_do(action: Action) -> bool {
    matches!(action, Action::Measure | Action::Test)
}
