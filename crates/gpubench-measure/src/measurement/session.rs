//! One case from its buffers to its judgement.

use std::rc::Rc;

use super::arm::Context;
use super::buffers::Buffers;
use super::case::{Contest, ReadyCase};
use super::error::MeasureError;
use super::measured::{Measured, MeasuredInTurns, RolesAfterwards};
use super::null_arm::{NullArm, cast};
use super::protocol::Protocol;
use super::rounds::Rounds;
use super::sequence::Sequencer;
use super::watcher::Watcher;
use crate::clients::{AuthorClient, BufferGrant, CaseOrder, NullWorker, RefereeClient};
use gpubench_protocol::window::{Duties, Numbering};

/// Who measures cases, and how. The null worker is needed where the referee's clock bounds claims; its failure costs a
/// case its grade, and nothing else.
pub struct Session<'s> {
    /// How.
    pub protocol: &'s Protocol<'s>,
    /// Has its device and the seed.
    pub referee: &'s mut RefereeClient,
    /// Has the library of the cases.
    pub author: &'s mut AuthorClient,
    /// Need not be started yet.
    pub null_worker: &'s mut NullWorker,
    /// Is shown the samples so far after each.
    pub watcher: &'s mut dyn Watcher,
}

impl Session<'_> {
    /// Measures a case by itself.
    ///
    /// # Errors
    /// When it fails for no fault of its kernels.
    pub fn measure(&mut self, case: &ReadyCase<'_>) -> Result<Measured, MeasureError> {
        let contest = Contest {
            candidate: case,
            baseline: None,
            question: None,
        };
        let measured = self.measure_in_turns(&contest, Numbering::default());
        measured.map(|measured| measured.candidate)
    }

    /// Measures a case in turns with a baseline where there is one: each round has a fresh worker of either arm, and
    /// their windows take turns. What becomes of the baseline does not touch the candidate's result. `numbering` says
    /// where the numbers of the windows begin.
    ///
    /// # Errors
    /// As [`Session::measure`].
    pub fn measure_in_turns(
        &mut self,
        contest: &Contest<'_>,
        numbering: Numbering,
    ) -> Result<MeasuredInTurns, MeasureError> {
        let buffers = Buffers::of(contest);
        let mut case = self.open(contest, &buffers, numbering)?;
        case.run()?;
        case.close()
    }

    /// Makes the buffers of a case, and has the roles take them.
    fn open<'o>(
        &'o mut self,
        contest: &'o Contest<'o>,
        buffers: &'o Buffers<'o>,
        numbering: Numbering,
    ) -> Result<OpenSession<'o>, MeasureError> {
        let protocol = self.protocol;
        let case = contest.candidate;
        let order = CaseOrder {
            case: case.number,
            opening: numbering.opening,
            method: case.method,
            cast: cast(protocol.clock_bound, contest.baseline),
            duties: Duties::new(&buffers.recording, protocol.kernels_run_in),
            encoded: &buffers.encoded,
            modules: case.own_modules,
        };
        let opened = self.referee.open_case(&order, protocol.interrupt);
        let opened = Rc::new(opened.map_err(MeasureError::Open)?);
        let guarded = [self.referee.child().id(), self.author.child().id()];
        let mut rounds = Rounds::start(contest, protocol, buffers, guarded, &opened);
        let null = NullArm::set_up(self.null_worker, &opened, &buffers.encoded, numbering.nulls);
        let duties = Duties::new(case.recording, protocol.kernels_run_in);
        if duties.needs_author() {
            let grant = BufferGrant {
                benchmark: case.benchmark,
                request: case.request,
                recording: case.encoded,
                layouts: &opened.layouts[..case.recording.tensors.len()],
                kernels_run_in: duties.kernels_run_in(),
                modules: case.own_modules,
                descriptors: &opened.author_descriptors,
            };
            let attached = self.author.attach(&grant, protocol.interrupt);
            attached.map_err(MeasureError::Attach)?;
        }
        rounds.entrust(&opened);
        Ok(OpenSession {
            protocol,
            rounds,
            context: Context {
                sequencer: Sequencer {
                    referee: self.referee,
                    author: self.author,
                    duties,
                    protocol,
                    last_inputs: None,
                },
                null,
                begun: numbering.opening,
            },
            watcher: self.watcher,
        })
    }
}

/// A case whose buffers all roles have.
struct OpenSession<'o> {
    protocol: &'o Protocol<'o>,
    rounds: Rounds<'o>,
    context: Context<'o>,
    watcher: &'o mut dyn Watcher,
}

impl OpenSession<'_> {
    /// Runs all windows of the arms.
    fn run(&mut self) -> Result<(), MeasureError> {
        self.context.sequencer.prepare_decoys()?;
        self.context.null.ready(self.protocol)?;
        self.rounds.run(self.protocol.purpose, &mut self.context, self.watcher)
    }

    /// Judges the arms, and has the roles let go of the buffers.
    fn close(self) -> Result<MeasuredInTurns, MeasureError> {
        let OpenSession {
            protocol,
            rounds,
            context,
            watcher,
        } = self;
        let Context {
            mut sequencer,
            mut null,
            begun,
        } = context;
        let (candidate, baseline) = rounds.retire();
        if candidate.is_complete() {
            null.go_on_alone(&mut sequencer)?;
        }
        null.hand_back(protocol)?;
        let other_clients = watcher.other_clients();
        let measured = MeasuredInTurns {
            candidate: candidate.finish(&null, other_clients),
            baseline: baseline.map(|baseline| Ok(baseline?.finish(&null, other_clients))),
            next: Numbering::behind(begun, null.begun),
            roles: RolesAfterwards::AtRest,
        };
        sequencer.let_go()?;
        Ok(measured)
    }
}
