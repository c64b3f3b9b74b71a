//! The sequence of one window: who does what, in which order, and who is waited for.

use std::time::Duration;

use crate::clients::{AuthorClient, AuthorProblem, Heard, Interrupt, RefereeClient, RoleFailure, WorkerClient, listen};
use crate::device::CodeHome;
use crate::verdict::{Ending, WindowEvidence};
use crate::wire::{Claim, FaultCode, Generate, Prepared, WindowOrder};

use super::{Duties, Seat, WindowKind};

/// Beyond the broker's own deadline, so that the broker is the one to give a window up.
const REFEREE_MARGIN: Duration = Duration::from_secs(60);

/// Filling inputs with the tool's own kernels never takes so long.
const PREPARATION: Duration = Duration::from_secs(120);

/// The roles of a case.
#[derive(Debug)]
pub struct Conductor<'a> {
    /// Generates, lets go, checks.
    pub referee: &'a mut RefereeClient,
    /// Generates and computes references where that is its duty; the case is attached to it then.
    pub author: &'a mut AuthorClient,
    /// Who makes the inputs and computes the references.
    pub duties: Duties<'a>,
    /// How long a generator or a reference may take.
    pub reference_within: Duration,
    /// The author's last order to make inputs; nothing before the first.
    pub last_inputs: Option<Generate>,
    /// How long a window may take from its release to its end.
    pub within: Duration,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
}

/// How a window went.
#[derive(Debug)]
pub enum Conducted {
    /// To its end; its evidence may still show a fault.
    Ended(WindowEvidence),
    /// The worker is lost; there is evidence if the window had been released.
    Lost(Option<WindowEvidence>, Ending),
}

/// Why a window could not be conducted for no fault of the worker.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// A CPU generator or a generator kernel failed.
    #[error("the input generator failed")]
    Generator(#[source] AuthorProblem),
    /// The reference failed.
    #[error("the reference failed")]
    Reference(#[source] AuthorProblem),
    /// The referee failed.
    #[error("the referee failed")]
    Referee(#[source] RoleFailure),
    /// The user wants the run to end.
    #[error("interrupted")]
    Interrupted,
}

impl ConductError {
    fn referee(failure: RoleFailure) -> ConductError {
        match failure {
            RoleFailure::Interrupted => ConductError::Interrupted,
            failure => ConductError::Referee(failure),
        }
    }

    fn own_code(wrap: fn(AuthorProblem) -> ConductError) -> impl Fn(AuthorProblem) -> ConductError {
        move |problem| match problem {
            AuthorProblem::Role(RoleFailure::Interrupted) => ConductError::Interrupted,
            problem => wrap(problem),
        }
    }
}

impl Conductor<'_> {
    /// Makes the instance that the first window's decoys are taken from, and the constants of the case.
    ///
    /// # Errors
    /// When a generator or the referee fails.
    pub fn prepare_decoys(&mut self) -> Result<(), ConductError> {
        self.prepare(0, WindowKind::Timed)
    }

    /// Conducts one window of a worker on a seat.
    ///
    /// # Errors
    /// When it fails for no fault of the worker.
    pub fn conduct(
        &mut self,
        worker: &mut WorkerClient,
        seat: Seat,
        window: u32,
        kind: WindowKind,
    ) -> Result<Conducted, ConductError> {
        if self.duties.referee_prepares_alone() {
            self.prepare_with_answers(window, kind)?;
        } else {
            self.prepare(window, kind)?;
            self.compute_answers(window)?;
        }
        self.release(worker, seat, window, kind)
    }

    /// Conducts a null window: as any other from the referee's restoring on. Nothing is generated for it, and the worker under test is not armed meanwhile: a stream of its own that
    /// waits would be one more thing that could go on when it should not. Where the author works in every other window, it does the work of the last one again: a device that
    /// has waited for it begins later, by 40 µs behind a reference of a tenth of a second on an H200.
    ///
    /// # Errors
    /// When it fails for no fault of the null worker.
    pub fn conduct_null(&mut self, worker: &mut WorkerClient, before: usize) -> Result<Conducted, ConductError> {
        if let Some(order) = self.last_inputs {
            self.generate(&order)?;
        }
        if self.duties.reference() == CodeHome::Author {
            self.compute_answers(WindowKind::null_window(before))?;
        }
        let number = WindowKind::null_window(before);
        self.release(worker, Seat::Candidate, number, WindowKind::Null)
    }

    fn release(
        &mut self,
        worker: &mut WorkerClient,
        seat: Seat,
        window: u32,
        kind: WindowKind,
    ) -> Result<Conducted, ConductError> {
        let patience = self.within.saturating_add(REFEREE_MARGIN);
        let patience_ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        let order = WindowOrder {
            patience_ns,
            seat,
            ..WindowOrder::about(window, kind)
        };
        if let Err(failure) = worker.arm(&order, self.within, self.interrupt) {
            return Ok(Conducted::Lost(None, ending_of(failure)?));
        }
        self.referee.release(&order).map_err(ConductError::referee)?;
        self.attend(worker, window)
    }

    fn prepare(&mut self, window: u32, kind: WindowKind) -> Result<(), ConductError> {
        let (within, failed): (_, fn(RoleFailure) -> ConductError) = match self.duties.referee_generates() {
            true => (self.reference_within, |failure| {
                ConductError::own_code(ConductError::Generator)(failure.into())
            }),
            false => (PREPARATION, ConductError::referee),
        };
        let prepared = self
            .referee
            .prepare(window, kind, within, self.interrupt)
            .map_err(failed)?;
        if !self.duties.author_generates() {
            return Ok(());
        }
        let Prepared {
            generator_seed: seed,
            constant_seed,
        } = prepared;
        let order = Generate {
            seed,
            constant_seed,
            window,
            reserved: 0,
        };
        self.last_inputs = Some(order);
        self.generate(&order)
    }

    fn generate(&mut self, order: &Generate) -> Result<(), ConductError> {
        self.author
            .generate(order, self.interrupt)
            .map_err(ConductError::own_code(ConductError::Generator))
    }

    /// Has inputs and answers made where the referee has both to itself.
    fn prepare_with_answers(&mut self, window: u32, kind: WindowKind) -> Result<(), ConductError> {
        let prepared = self
            .referee
            .prepare_with_answers(window, kind, self.reference_within, self.interrupt);
        prepared.map_err(|failure| match failure {
            RoleFailure::Failed { .. } => ConductError::referee(failure),
            // The tool's own kernels do not fail by themselves, and never take so long.
            failure => ConductError::own_code(ConductError::Reference)(failure.into()),
        })
    }

    /// Has the reference computed, by the author or by the referee.
    fn compute_answers(&mut self, window: u32) -> Result<(), ConductError> {
        let computed = match self.duties.reference() {
            CodeHome::Author => self.author.reference(self.interrupt),
            CodeHome::Referee => self
                .referee
                .reference(window, self.reference_within, self.interrupt)
                .map_err(AuthorProblem::from),
        };
        computed.map_err(ConductError::own_code(ConductError::Reference))
    }

    /// Waits for the referee's facts and the worker's claim, in whichever order they come.
    fn attend(&mut self, worker: &mut WorkerClient, window: u32) -> Result<Conducted, ConductError> {
        let deadline = crate::clients::deadline(self.within);
        let mut claim: Option<Box<Claim>> = None;
        let mut ending: Option<Ending> = None;
        let facts = loop {
            let attentive = claim.is_none() && ending.is_none();
            let heard = {
                let referee = self.referee.child().channel();
                let both = [referee, worker.child().channel()];
                let channels = if attentive { &both[..] } else { &both[..1] };
                listen(channels, deadline, self.interrupt).map_err(|error| {
                    let role = crate::clients::RoleName::Referee;
                    ConductError::Referee(RoleFailure::Protocol {
                        role,
                        text: crate::error::chain(&error),
                    })
                })?
            };
            match heard {
                Heard::Channel(0) => {
                    break self
                        .referee
                        .window_facts(self.interrupt)
                        .map_err(ConductError::referee)?;
                }
                Heard::Channel(_) => match worker.claim_now(window) {
                    Ok(made) => {
                        // Behind a fault the device carries nothing out: *done* will not come.
                        if made.fault != FaultCode::None {
                            self.referee.abort().map_err(ConductError::referee)?;
                        }
                        claim = Some(made);
                    }
                    Err(failure) => {
                        ending = Some(ending_of(failure)?);
                        worker.child().kill();
                        self.referee.abort().map_err(ConductError::referee)?;
                    }
                },
                Heard::Interrupted => return Err(ConductError::Interrupted),
                // The call has ended; only the checks take their time.
                Heard::Deadline if claim.is_some() => {
                    break self
                        .referee
                        .window_facts(self.interrupt)
                        .map_err(ConductError::referee)?;
                }
                Heard::Deadline => {
                    worker.child().kill();
                    self.referee.abort().map_err(ConductError::referee)?;
                    let timed_out = Ending::TimedOut { within: self.within };
                    let facts = self
                        .referee
                        .window_facts(self.interrupt)
                        .map_err(ConductError::referee)?;
                    return Ok(Conducted::Lost(
                        Some(WindowEvidence { facts, claim }),
                        ending.unwrap_or(timed_out),
                    ));
                }
            }
        };
        if claim.is_none() && ending.is_none() {
            match worker.claim(window, self.within, self.interrupt) {
                Ok(made) => claim = Some(made),
                Err(failure) => ending = Some(ending_of(failure)?),
            }
        }
        let evidence = WindowEvidence { facts, claim };
        Ok(match ending {
            None => Conducted::Ended(evidence),
            Some(ending) => Conducted::Lost(Some(evidence), ending),
        })
    }
}

/// What a failure of the worker means for its case.
fn ending_of(failure: RoleFailure) -> Result<Ending, ConductError> {
    Ok(match failure {
        RoleFailure::Interrupted => return Err(ConductError::Interrupted),
        RoleFailure::Ended { end, log, .. } => Ending::WorkerEnded { end, log },
        RoleFailure::Silent { within, .. } => Ending::TimedOut { within },
        RoleFailure::Plan { text } | RoleFailure::Failed { text, .. } | RoleFailure::OutOfMemory { text, .. } => {
            Ending::Refused { why: text }
        }
        other => Ending::BrokeProtocol {
            what: crate::error::chain(&other),
        },
    })
}
