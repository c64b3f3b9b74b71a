//! One case from its buffers to its judgement.

use std::rc::Rc;

use super::arm::Context;
use super::buffers::Buffers;
use super::case::{CasePair, ReadyCase};
use super::control_lease::ControlLease;
use super::error::MeasureError;
use super::measured::{Measured, MeasuredInTurns, RolesAfterwards};
use super::protocol::Protocol;
use super::rounds::Rounds;
use super::sequence::Sequencer;
use super::watcher::Watcher;
use crate::clients::{AuthorClient, BufferGrant, CaseOrder, ControlWorker, OpenedCase, RefereeClient};
use gpubench_device::ClockBound;
use gpubench_protocol::window::{CodePlacement, Numbering};
use gpubench_protocol::wire::CaseWorkers;

/// Who measures cases, and how. The control worker is needed where the referee's clock bounds claims;
/// its failure costs a case its grade, and nothing else.
pub struct Session<'s> {
    /// How.
    pub protocol: &'s Protocol<'s>,
    /// Has its device and the seed.
    pub referee: &'s mut RefereeClient,
    /// Has the library of the cases.
    pub author: &'s mut AuthorClient,
    /// Need not be started yet.
    pub control_worker: &'s mut ControlWorker,
    /// Is shown the samples so far after each.
    pub watcher: &'s mut dyn Watcher,
}

impl Session<'_> {
    /// Measures a case by itself.
    ///
    /// # Errors
    /// When it fails for no fault of its kernels.
    pub fn measure(&mut self, case: &ReadyCase<'_>) -> Result<Measured, MeasureError> {
        let pair = CasePair {
            candidate: case,
            baseline: None,
            question: None,
        };
        let measured = self.measure_in_turns(&pair, Numbering::default());
        measured.map(|measured| measured.candidate)
    }

    /// Measures a case in turns with a baseline where there is one: each round has a fresh worker
    /// of either arm, and their windows take turns. What becomes of the baseline does not touch the
    /// candidate's result. `numbering` says where the numbers of the windows begin.
    ///
    /// # Errors
    /// As [`Session::measure`].
    pub fn measure_in_turns(
        &mut self,
        pair: &CasePair<'_>,
        numbering: Numbering,
    ) -> Result<MeasuredInTurns, MeasureError> {
        let Session {
            protocol,
            referee,
            author,
            control_worker,
            watcher,
        } = self;
        let buffers = Buffers::of(pair);
        let case = pair.candidate;
        let order = CaseOrder {
            case: case.number,
            opening: numbering.opening,
            method: case.method,
            workers_of_case: CaseWorkers {
                has_baseline: pair.baseline.is_some(),
                has_control: *protocol.clock_bound == ClockBound::Exclusive && pair.holds_host_code(),
                reserved: 0,
            },
            placement: CodePlacement::new(&buffers.recording, protocol.kernels_run_in),
            encoded: &buffers.encoded,
            modules: case.own_modules,
        };
        let opened = referee.open_case(&order, protocol.interrupt);
        let opened = Rc::new(opened.map_err(MeasureError::Open)?);
        let guarded = [referee.child().id(), author.child().id()];
        let mut rounds = Rounds::start(pair, protocol, &buffers, guarded, &opened);
        let control = ControlLease::set_up(control_worker, &opened, &buffers.encoded);
        let placement = CodePlacement::new(case.recording, protocol.kernels_run_in);
        if placement.needs_author() {
            let attached = author.attach(&grant(case, &opened, &placement), protocol.interrupt);
            attached.map_err(MeasureError::Attach)?;
        }
        rounds.entrust(&opened);
        let mut context = Context {
            sequencer: Sequencer {
                referee,
                author,
                placement,
                protocol,
                last_inputs: None,
            },
            control,
            begun: numbering.opening,
            controls: numbering.controls,
        };
        context.sequencer.prepare(0)?;
        context.control.ready(protocol)?;
        rounds.run(protocol.mode, &mut context, *watcher)?;

        let (mut candidate, mut baseline) = rounds.retire();
        candidate.see_control_windows_alone(&mut context)?;
        if let Some(Ok(baseline)) = &mut baseline {
            baseline.see_control_windows_alone(&mut context)?;
        }
        let Context {
            sequencer,
            mut control,
            begun,
            controls,
        } = context;
        control.hand_back(protocol)?;
        let (other_clients, author) = (watcher.other_clients(), sequencer.author.confinement());
        Ok(MeasuredInTurns {
            candidate: candidate.finish(&control, other_clients, author),
            baseline: baseline.map(|baseline| Ok(baseline?.finish(&control, other_clients, author))),
            next: Numbering::behind(begun, controls),
            roles: match sequencer.let_go() {
                Ok(()) => RolesAfterwards::AtRest,
                // What was measured before is none the less true.
                Err(_) => RolesAfterwards::Unknown,
            },
        })
    }
}

/// What the author gets of a case that the referee has opened.
fn grant<'g>(case: &ReadyCase<'g>, opened: &'g OpenedCase, placement: &CodePlacement<'_>) -> BufferGrant<'g> {
    BufferGrant {
        benchmark: case.benchmark,
        request: case.request,
        recording: case.encoded,
        layouts: &opened.layouts[..case.recording.tensors.len()],
        kernels_run_in: placement.home,
        modules: case.own_modules,
        descriptors: &opened.author_descriptors,
    }
}
