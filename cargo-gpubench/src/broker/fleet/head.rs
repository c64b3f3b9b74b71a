//! The head of a run over several machines: it builds, announces, leases and reports.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::agent::can_do;
use super::late_records::LateRecords;
use super::leases::{Leases, Unit};
use super::message::{Begin, Order, Ready};
use super::node_archive::facts_of;
use super::station::{Fleet, Plan, Station};
use crate::broker::archive::write_uncompiled;
use crate::broker::case_runner::run_started;
use crate::broker::cases::Naming;
use crate::broker::cases::run_names::RunNames;
use crate::broker::device::counters::Counters;
use crate::broker::device::environment;
use crate::broker::device::opened::ChosenDevice;
use crate::broker::lanes::context::{Attempt, LaneContext};
use crate::broker::lanes::job::{Job, announced};
use crate::broker::lanes::results::Results;
use crate::broker::lanes::schedule::report_in_order;
use crate::broker::lanes::units::Message;
use crate::broker::libraries::authors::AuthorSettings;
use crate::broker::options::{FleetOptions, LibrarySource, RunOptions};
use crate::broker::places::Places;
use crate::broker::recording::preparation::Prepared;
use crate::broker::reporting::Reporting;
use crate::broker::resumption::Resumed;
use crate::broker::settings::{DeviceTools, RunSettings, seeds};
use crate::broker::sources::Sources;
use crate::broker::status::status;
use crate::broker::stored::bookkeeping::ResultTargets;
use crate::cdylibs::packages_of;
use gpubench_contract::{BenchmarkStarted, RunEnd};
use gpubench_device::{Backend, DeviceRequest};
use gpubench_diagnostic::{
    ExitCode, Expected, Failure, InternalError, Interrupted, Purpose, SetupMissing, TemporaryFolder,
};
use gpubench_measure::clients::Interrupt;
use gpubench_store::{RecordsFile, StoredRun};

/// How long the head waits for an agent before it looks whether the run is interrupted.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// An agent says that it lives this many times within the longest silence.
const HEARTBEATS: u32 = 5;

/// The prefix of environment variables that set options.
const PREFIX: &str = "GPUBENCH_";

/// The option whose file travels as a text.
const CONFIG_FILE: &str = "config-file";

/// A run over several machines cannot begin.
#[derive(Debug, thiserror::Error)]
enum FleetError {
    /// Agents measure and test, and nothing else.
    #[error("agents only measure and test")]
    Action,
    /// A file of a definition is not in an archive.
    #[error("agents cannot grade against files of a definition")]
    Definition,
    /// A word of the command line is not UTF-8.
    #[error("the word `{0}` of the command line is not UTF-8, so no agent can have it")]
    Word(String),
    /// The configuration cannot be read again.
    #[error("cannot read `{path}` for the agents")]
    Configuration {
        path: Utf8PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The archive cannot be read.
    #[error("cannot read the archive `{path}`")]
    Archive {
        path: Utf8PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl Expected for FleetError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        match self {
            FleetError::Action | FleetError::Definition => Some("leave out `--runner`".to_owned()),
            FleetError::Word(_) => Some("rename the file that it names".to_owned()),
            FleetError::Configuration { .. } | FleetError::Archive { .. } => None,
        }
    }
}

/// Measures the cases with agents.
///
/// # Errors
/// Anything that prevents a result for a selected case. A failed benchmark is a result.
pub(in crate::broker) fn run_with_agents(
    agents: &FleetOptions,
    options: &RunOptions,
    sources: &Sources,
    (targets, records): (ResultTargets, Option<(RecordsFile, Option<StoredRun>)>),
    places: &Places,
    interrupt: &Interrupt,
) -> Result<ExitCode, Failure> {
    if !can_do(options.action) {
        return Err(FleetError::Action.into());
    }
    let order = order_of_process(agents)?;
    let seeds = seeds(options.measurement.seed)?;
    let (authors, catalogs) = sources.list(AuthorSettings::new(options, interrupt))?;
    // Commands of agents are not processes that a role left.
    drop(authors);
    let folder =
        TemporaryFolder::new(Purpose::Archive).map_err(InternalError::because("cannot make a temporary folder"))?;
    let archive = match &options.libraries {
        LibrarySource::Archive { archive, .. } => archive.clone(),
        LibrarySource::Build(_) => {
            let path = Utf8Path::from_path(folder.path()).unwrap_or(Utf8Path::new("."));
            let path = path.join("benchmarks.tar.gz");
            write_uncompiled(sources.built(), &catalogs.candidate, places.revision(), &path)?;
            path
        }
        LibrarySource::Dataset(_) => return Err(FleetError::Definition.into()),
    };
    let facts = facts_of(&archive).map_err(|source| FleetError::Archive {
        path: archive.clone(),
        source,
    })?;
    let names = RunNames::draw(Naming::for_packages(packages_of(&sources.built().libraries).len()));
    let of_agents = interrupt.child();
    let begin = Begin {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        order,
        archive: facts,
        run_id: names.run_id.clone(),
        seed: *seeds.master(),
        heartbeat_ms: u64::try_from((agents.silence / HEARTBEATS).as_millis()).unwrap_or(u64::MAX),
    };
    let late = places.late_records(&names.run_id)?;
    let running = Running::start(agents, begin, archive, LateRecords::kept_in(late), &of_agents)?;
    let number = agents.runners.len() * agents.agents.get();
    status(
        options.output.verbosity,
        "Awaiting",
        format_args!("the first of {number} agents"),
    );
    let first = running.first_ready(interrupt)?;
    let word = Backend::for_facts(&first.facts);
    let device = ChosenDevice {
        order: (word.order)(&DeviceRequest {
            ordinal: 0,
            threads: options.device.threads,
            schedule: options.measurement.schedule.unwrap_or_default(),
        }),
        facts: first.facts.clone(),
    };
    let chosen = sources.select(options, catalogs, &device.facts, &seeds)?;
    let plan = sources.fit(options, targets, &chosen)?;
    let selected = sources.selected(&device, &chosen);
    let tools = DeviceTools {
        clocks: None,
        counters: Counters::default(),
        observer: None,
    };
    let settings = RunSettings::new(options, seeds.clone(), device.order, &device.facts, tools, interrupt);
    let mut run = run_started(
        &names,
        &selected,
        &settings,
        environment::device(&device.facts),
        first.environment.clone(),
    );
    run.revision = plan.revision().cloned();
    let of_cases = announced(&names, selected.cases);
    let verbosity = options.output.verbosity;
    let resumed = records.map(|records| Resumed::new(records, &mut run, &of_cases, &selected, verbosity));
    let resumed = resumed.transpose()?;
    let is_taken = |case: usize| resumed.as_ref().is_some_and(|resumed| resumed.has(case));
    let taken: BTreeSet<usize> = (0..selected.cases.len()).filter(|case| is_taken(*case)).collect();
    let mut reporting = Reporting::begin(options, plan, run, &of_cases.concat(), None, resumed)?;
    let unprepared: Vec<Prepared> = selected.cases.iter().map(|_| None).collect();
    let mut jobs = Job::all(selected, &unprepared, &names, &settings);
    jobs.retain(|job| !taken.contains(&job.position));
    let compiler = first.environment.compiler.clone().unwrap_or_default();
    let context = LaneContext {
        selected,
        compiler: &compiler,
        settings: &settings,
        baseline: None,
        lanes: NonZeroUsize::MIN,
        interrupt: &of_agents,
        attempt: Attempt::First,
    };
    let groups = Job::together(&jobs);
    let past = reporting.past_durations(&jobs, &context);
    let mut units = Vec::new();
    let mut position = 0;
    for of_case in groups.chunk_by(|one, next| one[0].is_of_case_of(next[0])) {
        let started = |group: &Vec<&Job<'_>>| -> Vec<BenchmarkStarted> {
            group.iter().map(|job| job.announced.clone()).collect()
        };
        let unit = Unit {
            groups: of_case.iter().map(started).collect(),
            first: position,
        };
        position += of_case.iter().map(Vec::len).sum::<usize>();
        units.push((past.expected(of_case, &device.facts), unit));
    }
    units.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    running.measure(Plan {
        leases: Leases::of(units.into_iter().map(|(_, unit)| unit).collect()),
        facts: first.facts.clone(),
    });
    let mut results = Results {
        context,
        reporting: &mut reporting,
        baseline_run: None,
    };
    let ended = report_in_order(&groups, &running.messages, &mut results);
    running.end();
    let end = match ended {
        Ok(end) => end.unwrap_or(RunEnd::Completed),
        Err(Interrupted) => RunEnd::Interrupted,
    };
    reporting.finish(end, &seeds, None)
}

/// The stations of a run.
struct Running {
    fleet: Arc<Fleet>,
    stations: Vec<JoinHandle<()>>,
    messages: Receiver<Message>,
    ready: Receiver<Ready>,
}

impl Running {
    /// Starts the commands.
    fn start(
        agents: &FleetOptions,
        begin: Begin,
        archive: Utf8PathBuf,
        late: LateRecords,
        interrupt: &Interrupt,
    ) -> Result<Running, Failure> {
        let tool = std::env::current_exe().map_err(InternalError::because("cannot find this executable"))?;
        let tool = tool.to_string_lossy().into_owned();
        let (sender, messages) = channel();
        let (ready_sender, ready) = channel();
        let fleet = Arc::new(Fleet {
            begin,
            archive,
            silence: agents.silence,
            interrupt: interrupt.clone(),
            plan: OnceLock::new(),
            ready: Mutex::new(Some(ready_sender)),
            messages: Mutex::new(Some(sender)),
            late,
            shown: Arc::default(),
            left: AtomicUsize::new(agents.runners.len() * agents.agents.get()),
            last: Mutex::default(),
        });
        let mut stations = Vec::new();
        for runner in agents.runners.iter() {
            for _ in 0..agents.agents.get() {
                let station = Station {
                    fleet: Arc::clone(&fleet),
                    name: format!("agent {}", stations.len() + 1),
                    words: runner.to_start(&tool),
                };
                stations.push(std::thread::spawn(move || station.run()));
            }
        }
        Ok(Running {
            fleet,
            stations,
            messages,
            ready,
        })
    }

    /// Waits for the first agent that is ready.
    fn first_ready(&self, interrupt: &Interrupt) -> Result<Ready, Failure> {
        loop {
            if interrupt.is_set() {
                return Err(Interrupted.into());
            }
            match self.ready.recv_timeout(BETWEEN_LOOKS) {
                Ok(ready) => return Ok(ready),
                Err(RecvTimeoutError::Disconnected) if !interrupt.is_set() => {
                    let last = self.fleet.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    return Err(SetupMissing {
                        what: format!("no agent is ready: {last}"),
                        hint: "an agent that starts says why it cannot take part; else the command of `--runner` must start \
                               `cargo-gpubench agent` with its own standard input and output"
                            .to_owned(),
                    }
                    .into());
                }
                Err(_) => {}
            }
        }
    }

    /// Lets the agents measure.
    fn measure(&self, plan: Plan) {
        // It is set once.
        let _ = self.fleet.plan.set(plan);
    }

    /// Ends all agents.
    fn end(self) {
        drop(self);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.fleet.interrupt.cancel();
        for station in self.stations.drain(..) {
            // A station that panicked has said so.
            let _ = station.join();
        }
        self.fleet.late.sum_up();
    }
}

/// Returns the command line of this process, with its environment and configuration.
fn order_of_process(agents: &FleetOptions) -> Result<Order, FleetError> {
    let words = std::env::args_os().map(|word| {
        word.into_string()
            .map_err(|word| FleetError::Word(word.to_string_lossy().into_owned()))
    });
    let line = without_configuration(words.collect::<Result<Vec<_>, _>>()?);
    let own = format!("{PREFIX}{}", CONFIG_FILE.to_uppercase().replace('-', "_"));
    let environment = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (name.starts_with(PREFIX) && name != own).then_some((name, value))
    });
    let configuration = agents.configuration.as_ref().map(|path| {
        fs_err::read_to_string(path).map_err(|source| FleetError::Configuration {
            path: path.clone(),
            source,
        })
    });
    Ok(Order {
        line,
        environment: environment.collect(),
        configuration: configuration.transpose()?,
    })
}

/// Leaves out the option that names a configuration file: agents have its text.
fn without_configuration(line: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = line.into_iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            Some("") => {
                kept.push(word);
                kept.extend(words.by_ref());
            }
            Some(CONFIG_FILE) => drop(words.next()),
            Some(option)
                if option
                    .strip_prefix(CONFIG_FILE)
                    .is_some_and(|rest| rest.starts_with('=')) => {}
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_configuration_file_does_not_travel() {
        let kept = |words: &[&str]| without_configuration(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(kept(&["t", "--config-file", "a.toml", "--test"]), ["t", "--test"]);
        assert_eq!(kept(&["t", "--config-file=a.toml", "x"]), ["t", "x"]);
        assert_eq!(kept(&["t", "--config-files", "x"]), ["t", "--config-files", "x"]);
        let filters = ["t", "--", "--config-file", "x"];
        assert_eq!(kept(&filters), filters);
    }
}
