//! One case from its buffers to its judgement.

use std::rc::Rc;

use gpubench::catalog::Tensor;

use super::arm::{Arm, Context};
use super::case::{CasesInTurns, Entrant, ReadyCase, Standing, TurnCase};
use super::control_lease::ControlLease;
use super::empty_calls;
use super::error::MeasureError;
use super::held_calls::gate_of;
use super::idle_workers::IdleWorkers;
use super::input_sets::{EarlierSets, InputSets, shared};
use super::kept_sets::KeptSets;
use super::leaving_workers::LeavingWorkers;
use super::measured::{Measured, MeasuredInTurns, RolesAfterwards};
use super::placements::Placements;
use super::protocol::Protocol;
use super::rest::Rests;
use super::rounds::Rounds;
use super::run_mode::RunMode;
use super::sequence::Sequencer;
use super::watcher::Watcher;
use crate::clients::{AuthorClient, BufferGrant, CaseOrder, ControlWorker, OpenedCase, RefereeClient, RoleFailure};
use crate::timeline::{self, Track};
use gpubench_contract::{MetricKind, Verdict};
use gpubench_device::KernelHost;
use gpubench_protocol::window::{CodePlacement, Gate, Numbering};
use gpubench_protocol::wire::{BufferLayout, CaseWorkers};

/// The processes and settings that measure cases. The control worker is needed if the referee's
/// clock has a bound. If it fails, a case only loses its grade.
pub struct Session<'s> {
    /// Settings of the measurement.
    pub protocol: &'s Protocol<'s>,
    /// The referee, with its device and the seed.
    pub referee: &'s mut RefereeClient,
    /// The author, with the library of the cases.
    pub author: &'s mut AuthorClient,
    /// The control worker. Its process starts when a case needs it.
    pub control_worker: &'s mut ControlWorker,
    /// Workers that rest between the case's measurements.
    pub idle_workers: &'s mut IdleWorkers,
    /// What a command has computed for the case's earlier modes.
    pub earlier_sets: &'s mut EarlierSets,
    /// Workers of the earlier case that still end.
    pub leaving_workers: &'s mut LeavingWorkers,
    /// Receives the samples so far after each one.
    pub watcher: &'s mut dyn Watcher,
}

impl Session<'_> {
    /// Measures a case alone.
    ///
    /// # Errors
    /// If anything but its kernels fails.
    pub fn measure(&mut self, case: &ReadyCase<'_>) -> Result<Measured, MeasureError> {
        let alone = CasesInTurns {
            arms: &[TurnCase {
                case,
                entrant: Entrant {
                    name: "the case",
                    standing: Standing::Judged,
                    keeper: None,
                },
            }],
            source: case,
            question: None,
        };
        let mut measured = self.measure_in_turns(&alone, Numbering::default(), gate_of(&alone, self.protocol))?;
        measured.arms.remove(0).map_err(MeasureError::Worker)
    }

    /// Measures cases alternately: each round has a fresh worker of each, and their windows take
    /// turns. A failure of one does not affect the results of the others. `numbering` has the first
    /// window numbers, and `gate` holds the calls back.
    ///
    /// # Errors
    /// As [`Session::measure`].
    pub fn measure_in_turns(
        &mut self,
        turns: &CasesInTurns<'_>,
        numbering: Numbering,
        gate: Gate,
    ) -> Result<MeasuredInTurns, MeasureError> {
        let Session {
            protocol,
            referee,
            author,
            control_worker,
            idle_workers,
            earlier_sets,
            leaving_workers,
            watcher,
        } = self;
        let case = turns.source;
        let placement = CodePlacement::new(case.recording, protocol.kernels_run_in);
        let scratch: Vec<&[u64]> = turns.scratch().collect();
        let order = CaseOrder {
            case: case.number,
            opening: numbering.opening,
            calls: case.calls,
            workers_of_case: workers_of(turns, protocol, gate),
            placement,
            scratch: &scratch,
            encoded: case.encoded,
            modules: case.own_modules,
        };
        let opens = timeline::span(referee.child().track(), "opens the case");
        let opened = referee.open_case(&order, protocol.interrupt);
        let opened = Rc::new(opened.map_err(MeasureError::Open)?);
        drop(opens);
        let guarded = [referee.child().id(), author.child().id()];
        let layouts = layouts_of(case, referee);
        let mut sequencer = Sequencer {
            referee,
            author,
            placement,
            protocol,
            last_work: Default::default(),
            gate,
            rests: Rests::from_protocol(protocol),
            sets: None,
            kept: None,
        };
        let provider = case.recording.reference.provider();
        if let Some(provider) = provider {
            // No worker of the case may live while the command runs.
            idle_workers.dismiss();
            leaving_workers.await_ends();
            attach(&mut sequencer, case, &opened, &layouts)?;
            let opening = numbering.opening;
            let shared = shared(case.recording, &placement, &opened, &layouts)?;
            let prepare = |window| sequencer.prepare(window);
            let sets = InputSets::compute(provider, turns, protocol, shared, earlier_sets, opening, prepare)?;
            sequencer.sets = Some(sets);
        }
        let mut rounds = Rounds::start(turns, protocol, gate, guarded, &opened, idle_workers);
        let control = ControlLease::set_up(control_worker, &opened, case.encoded);
        match &sequencer.sets {
            Some(sets) => rounds.use_sets(sets.limit()),
            None => {
                attach(&mut sequencer, case, &opened, &layouts)?;
                sequencer.kept = kept_sets(turns, protocol, &placement, (&opened, &layouts))?;
            }
        }
        rounds.keep_descriptors(&opened);
        rounds.use_placements(Placements::of_case(protocol, opened));
        let begins = timeline::span(Track::Command, "begins the case");
        let mut context = Context {
            sequencer,
            control,
            begun: numbering.opening,
            controls: numbering.controls,
        };
        context.sequencer.prepare(0)?;
        context.control.ready(protocol)?;
        leaving_workers.await_ends();
        drop(begins);
        rounds.run(protocol.mode, &mut context, *watcher)?;

        conclude(
            protocol,
            rounds.retire(),
            context,
            *watcher,
            (idle_workers, leaving_workers),
        )
    }
}

/// Runs what follows the last round, and judges the cases.
///
/// # Errors
/// If the user interrupts, or anything but the kernels under test and the control worker fails.
fn conclude(
    protocol: &Protocol<'_>,
    mut arms: Vec<Result<Arm<'_>, RoleFailure>>,
    mut context: Context<'_>,
    watcher: &mut dyn Watcher,
    (idle_workers, leaving_workers): (&mut IdleWorkers, &mut LeavingWorkers),
) -> Result<MeasuredInTurns, MeasureError> {
    for arm in arms.iter_mut().flatten() {
        arm.run_final_control_windows(&mut context)?;
    }
    let has_completed = arms.iter().flatten().any(|arm| arm.is_judged() && arm.is_complete());
    let empty_call_ns = if empty_calls::are_timed(context.sequencer.gate, protocol) && has_completed {
        empty_calls::median_ns(&mut context)?
    } else {
        None
    };
    let _concludes = timeline::span(Track::Command, "concludes the case");
    for arm in arms.iter_mut().flatten() {
        leaving_workers.add_all(arm.pool.take_leaving());
    }
    leaving_workers.end();
    let Context {
        sequencer,
        mut control,
        begun,
        controls,
    } = context;
    control.hand_back(protocol)?;
    let (other_clients, author) = (watcher.other_clients(), sequencer.author.confinement());
    let arms = arms.into_iter().map(|arm| {
        let mut arm = arm?;
        let (owner, rested) = (arm.owner(), arm.pool.take_rested());
        let mut measured = arm.finish(&control, &sequencer.rests, other_clients, author);
        measured.empty_call_ns = empty_call_ns;
        // Another measurement must not depend on a worker whose kernels are in doubt.
        if measured.judgement.verdict == Verdict::Pass {
            idle_workers.add(owner, rested);
        }
        Ok(measured)
    });
    Ok(MeasuredInTurns {
        arms: arms.collect(),
        next: Numbering::after(begun.max(sequencer.sets.as_ref().map_or(0, InputSets::last)), controls),
        roles: match sequencer.release_case() {
            Ok(()) => RolesAfterwards::AtRest,
            // The results so far remain valid.
            Err(_) => RolesAfterwards::Unknown,
        },
    })
}

/// Returns where the sets of a case are kept, if they are. A test is to see as many inputs as
/// possible, counts of two runs with one seed have the same inputs, and host code could leave data
/// to the next worker in memory that it allocates.
fn kept_sets(
    turns: &CasesInTurns<'_>,
    protocol: &Protocol<'_>,
    placement: &CodePlacement<'_>,
    (opened, layouts): (&OpenedCase, &[BufferLayout]),
) -> Result<Option<KeptSets>, MeasureError> {
    let is_kept = protocol.mode == RunMode::Measure
        && protocol.metric.kind == MetricKind::Time
        && placement.reference() == KernelHost::Author
        && !turns.holds_host_code();
    let kept = is_kept.then(|| KeptSets::of_case(turns.source, placement, opened, layouts));
    kept.transpose()
}

/// Gives the author its buffers, if it makes anything of the case.
fn attach(
    sequencer: &mut Sequencer<'_>,
    case: &ReadyCase<'_>,
    opened: &OpenedCase,
    layouts: &[BufferLayout],
) -> Result<(), MeasureError> {
    let Sequencer {
        author,
        placement,
        protocol,
        ..
    } = sequencer;
    if !placement.needs_author() {
        return Ok(());
    }
    author.answer_within(protocol.reference_within);
    let attached = author.attach(&grant(case, opened, placement, layouts), protocol.interrupt);
    attached.map_err(MeasureError::Attach)
}

/// Returns the workers that an opened case has.
fn workers_of(turns: &CasesInTurns<'_>, protocol: &Protocol<'_>, gate: Gate) -> CaseWorkers {
    CaseWorkers {
        arms: u16::try_from(turns.arms.len()).unwrap_or(u16::MAX),
        has_control: protocol.is_clocked() && turns.holds_host_code() || empty_calls::are_timed(gate, protocol),
        reserved: 0,
    }
}

/// Returns the layouts of a case's tensors in their buffers.
fn layouts_of(case: &ReadyCase<'_>, referee: &RefereeClient) -> Vec<BufferLayout> {
    let bytes = case.recording.tensors.iter().map(Tensor::bytes);
    let layouts = bytes.map(|bytes| BufferLayout::alone(referee.facts(), bytes));
    layouts
        .collect::<Option<_>>()
        .expect("the referee has made such buffers")
}

/// Returns the author's buffers of an opened case.
fn grant<'g>(
    case: &ReadyCase<'g>,
    opened: &'g OpenedCase,
    placement: &CodePlacement<'_>,
    layouts: &'g [BufferLayout],
) -> BufferGrant<'g> {
    BufferGrant {
        benchmark: case.benchmark,
        request: case.request,
        recording: case.encoded,
        layouts,
        kernels_run_in: placement.home,
        calls: case.calls.count,
        modules: case.own_modules,
        descriptors: &opened.author_descriptors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::arm::WindowPurpose;
    use crate::measurement::simulated_case::{Stage, arm, claim, fault, right_facts, until_closed, worker};
    use gpubench_device::ClockBound;
    use gpubench_protocol::window::WindowKind;
    use gpubench_protocol::wire::{Claim, WindowOrder};

    /// Knows of this many other processes on the device.
    struct Neighbours(Option<u32>);

    impl Watcher for Neighbours {
        fn sampled(&mut self, _: &[&[f64]]) {}

        fn other_clients(&mut self) -> Option<u32> {
            self.0
        }
    }

    /// Returns what is left of a case with a call each of two arms.
    fn concluded(neighbours: Option<u32>, claims: [fn(&WindowOrder) -> Claim; 2]) -> MeasuredInTurns {
        let stage = Stage::of(1);
        let protocol = Protocol {
            clock_bound: &ClockBound::Exclusive,
            ..stage.protocol()
        };
        let case = stage.case();
        let mut measured = None;
        until_closed(
            &protocol,
            &case,
            |order| right_facts(order, 1),
            |mut context| {
                let arms = claims.into_iter().enumerate().map(|(position, claims)| {
                    let mut arm = arm(&protocol, &case, position, vec![worker(claims)]);
                    arm.begin_round();
                    arm.step(&mut context, WindowPurpose::Sample(WindowKind::Timed))
                        .unwrap();
                    Ok(arm)
                });
                let arms = arms.collect();
                let mut watcher = Neighbours(neighbours);
                let others = (&mut IdleWorkers::default(), &mut LeavingWorkers::default());
                measured = Some(conclude(&protocol, arms, context, &mut watcher, others).unwrap());
            },
        );
        measured.unwrap()
    }

    fn in_time(order: &WindowOrder) -> Claim {
        claim(order, 1e6)
    }

    #[test]
    fn the_judge_sees_the_other_processes_that_the_watcher_knows() {
        for (neighbours, are_told) in [(None, false), (Some(0), false), (Some(1), true)] {
            for arm in concluded(neighbours, [in_time; 2]).arms {
                let reason = arm.unwrap().judgement.grade_reason.unwrap();
                let told = reason.contains("another process is using the device");
                assert_eq!(told, are_told, "{neighbours:?}: {reason}");
            }
        }
    }

    #[test]
    fn each_arm_has_its_own_verdict_and_the_roles_rest() {
        let concluded = concluded(None, [fault, in_time]);
        let verdicts = concluded.arms.iter().map(|arm| arm.as_ref().unwrap().judgement.verdict);
        assert_eq!(verdicts.collect::<Vec<_>>(), [Verdict::Crashed, Verdict::Pass]);
        assert_eq!(concluded.roles, RolesAfterwards::AtRest);
    }
}
