//! How an agent measures what the head of a run leases to it.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::agent_error::AgentError;
use super::listener::Listener;
use super::message::{Begin, FromAgent, LeaseOrder, PieceOrder, Ready, ToAgent, WantedResult};
use super::speaker::{Speaker, host};
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
use crate::broker::options::{ResultOptions, RunOptions};
use crate::broker::process::prepare_for_roles;
use crate::broker::recording::preparation::Prepared;
use crate::broker::recording::selected::Side;
use crate::broker::settings::{DeviceTools, RunSettings};
use crate::broker::sources::Sources;
use crate::cdylibs::packages_of;
use gpubench::catalog::OccupancyQuery;
use gpubench_contract::BenchmarkComplete;
use gpubench_device::FrozenFile;
use gpubench_device::telemetry::Telemetry;
use gpubench_diagnostic::{Failure, Interrupted, print_warning};
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::LeavingWorkers;
use gpubench_protocol::window::Seeds;

/// How long an agent is silent about its samples before it tells them again.
const BETWEEN_PROGRESS: Duration = Duration::from_millis(200);

/// Opens the device, and measures what the head leases.
///
/// # Errors
/// This machine cannot measure, the head asks for what is not here, or it has ended.
pub(super) fn measure(
    begin: &Begin,
    options: &RunOptions,
    head: &Listener,
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
    let (side, _) = sources.sides(options, &shared, &chosen, authors)?;
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
    let compiler = Rc::clone(&side.compiler);
    compiler.notices().iter().for_each(|notice| print_warning(notice));
    let selected = side.selected;
    let naming = Naming::for_packages(packages_of(selected.libraries).len());
    let names = RunNames::of_run(begin.run_id.clone(), naming);
    let unprepared: Vec<Prepared> = selected.cases.iter().map(|_| None).collect();
    let mut lessee = Lessee {
        jobs: Job::all(selected, &unprepared, &names, &settings),
        left_out: (0..selected.cases.len()).collect(),
        roles: Roles::on(shared.order, settings.begin(), referee, interrupt),
        telemetry: Telemetry::new(&shared.facts),
        leaving_workers: LeavingWorkers::default(),
        context: LaneContext {
            selected,
            compiler: compiler.identity(),
            settings: &settings,
            baseline: None,
            lanes: NonZeroUsize::MIN,
            interrupt,
            attempt: Attempt::First,
        },
        side,
        speaker,
    };
    speaker.say(&FromAgent::Ready(Box::new(Ready {
        facts: shared.facts.clone(),
        environment: environment(&shared.facts, settings.setup(), Some(compiler.identity())),
    })));
    let outcome = lessee.serve(head);
    drop(lessee.leaving_workers);
    lessee.roles.retire();
    unlock_clocks(clocks, options);
    drop(turn);
    outcome
}

/// An agent that is ready.
struct Lessee<'a> {
    side: Side<'a>,
    roles: Roles<'a>,
    telemetry: Telemetry,
    leaving_workers: LeavingWorkers,
    /// All jobs of the run, none prepared.
    jobs: Vec<Job<'a>>,
    /// Positions of the cases that a lease does not have.
    left_out: BTreeSet<usize>,
    context: LaneContext<'a>,
    speaker: &'a Speaker,
}

impl Lessee<'_> {
    /// Measures what the head leases, until this machine has a fault.
    ///
    /// # Errors
    /// The head has ended, or asks for what is not here.
    fn serve(&mut self, head: &Listener) -> Result<(), Failure> {
        loop {
            let order = match head.message()? {
                ToAgent::Lease(order) => order,
                ToAgent::Begin(_) | ToAgent::Submission(_) => {
                    return Err(AgentError::Protocol("a second beginning".to_owned()).into());
                }
            };
            match self.measure(&order)? {
                GroupsEnd::Done => self.speaker.say(&FromAgent::Done { lease: order.lease }),
                GroupsEnd::Interrupted => return Err(Interrupted.into()),
                GroupsEnd::Fault(why) => {
                    self.speaker.say(&FromAgent::Fault { why });
                    return Ok(());
                }
            }
        }
    }

    /// Prepares the cases of a lease together, and measures them one after another.
    fn measure(&mut self, order: &LeaseOrder) -> Result<GroupsEnd, Failure> {
        let positions = order.pieces.iter().map(|piece| self.positions(piece));
        let positions: Vec<Vec<Vec<usize>>> = positions.collect::<Result<_, _>>()?;
        let wanted = positions.iter().flatten().flatten();
        let prepared = self.prepare(&wanted.map(|job| self.jobs[*job].position).collect())?;
        for (piece, positions) in order.pieces.iter().zip(&positions) {
            let job = |position: &usize| {
                let job = &self.jobs[*position];
                job.prepared_as(&prepared[job.position])
            };
            let jobs = positions.iter().map(|group| group.iter().map(job).collect());
            let jobs: Vec<Vec<Job<'_>>> = jobs.collect();
            let groups: Vec<Vec<&Job<'_>>> = jobs.iter().map(|group| group.iter().collect()).collect();
            let mut lane = Lane {
                context: LaneContext {
                    attempt: Attempt::numbered(piece.attempt),
                    ..self.context
                },
                roles: &mut self.roles,
                authors: &mut self.side.authors,
                telemetry: &mut self.telemetry,
                leaving_workers: std::mem::take(&mut self.leaving_workers),
            };
            let (lease, speaker) = (order.lease, self.speaker);
            let mut told_at: Option<Instant> = None;
            let mut progress = |so_far| {
                if told_at.is_none_or(|at| at.elapsed() > BETWEEN_PROGRESS) {
                    speaker.say(&FromAgent::Progress { lease, so_far });
                    told_at = Some(Instant::now());
                }
            };
            let mut report = |mut results: Vec<BenchmarkComplete>| {
                for result in &mut results {
                    result.environment.host = Some(host());
                }
                speaker.say(&FromAgent::Finished { lease, results });
            };
            let ended = measure_groups(&mut lane, &groups, &mut progress, &mut report);
            self.leaving_workers = lane.leaving_workers;
            if !matches!(ended, GroupsEnd::Done) {
                return Ok(ended);
            }
        }
        Ok(GroupsEnd::Done)
    }

    /// Returns the positions of the jobs of a piece, by group.
    fn positions(&self, piece: &PieceOrder) -> Result<Vec<Vec<usize>>, AgentError> {
        let position = |wanted: &WantedResult| {
            let position = usize::try_from(wanted.index).unwrap_or(usize::MAX);
            match self.jobs.get(position) {
                Some(job) if job.announced.label() == wanted.label => Ok(position),
                other => Err(AgentError::OtherCase {
                    index: wanted.index,
                    wanted: wanted.label.clone(),
                    here: other.map(|job| job.announced.label()),
                }),
            }
        };
        let groups = piece.groups.iter();
        groups.map(|group| group.iter().map(position).collect()).collect()
    }

    /// Prepares some cases, and no others.
    fn prepare(&mut self, cases: &BTreeSet<usize>) -> Result<Vec<Prepared>, Interrupted> {
        self.left_out.retain(|case| !cases.contains(case));
        let roles = &mut self.roles;
        let mut ask_device = |module: &FrozenFile, query: &OccupancyQuery| roles.occupancy(module, query);
        let prepared = self
            .side
            .prepare(&self.left_out, &mut ask_device, &mut |_| {}, self.context.interrupt);
        self.left_out.extend(cases);
        prepared
    }
}
