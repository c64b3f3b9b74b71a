//! A case that fails when it alternates with others is measured once more, alone.
//!
//! Sides that alternate share inputs only, but code of a rival lives while a case is measured. It
//! can slow the case down, until it times out. So a failure next to a rival whose code runs in a
//! process of its own is not the verdict yet: the case is measured alone, with fresh workers, new
//! window numbers, and the same inputs and reference as before. That result counts. A case that
//! passes alone has no times that alternate with others, so it is neither ranked nor compared.

use super::case::{CasesInTurns, Entrant, Standing, TurnCase};
use super::confirmation::{beginning, confirm};
use super::error::MeasureError;
use super::failure::CaseFailure;
use super::measured::{Measured, MeasuredInTurns, RolesAfterwards};
use super::protocol::Protocol;
use super::run_mode::RunMode;
use super::session::Session;
use crate::verdict::Judgement;
use gpubench_contract::{FailedAlternating, Grade, Verdict};
use gpubench_protocol::window::{Gate, Numbering};

impl Session<'_> {
    /// Measures the cases alone that failed next to a rival whose code could have caused it.
    ///
    /// # Errors
    /// If the user interrupts.
    pub(super) fn measure_failed_alone(
        &mut self,
        turns: &CasesInTurns<'_>,
        measured: MeasuredInTurns,
        gate: Gate,
    ) -> Result<MeasuredInTurns, MeasureError> {
        let protocol = self.protocol;
        measure_failed_alone(turns, measured, protocol, |alone, numbering| {
            self.begin_again();
            let again = self.measure_in_turns(alone, numbering, gate);
            if !again.as_ref().is_ok_and(|again| again.arms.iter().all(Result::is_ok)) {
                self.watcher.goes_back();
            }
            again
        })
    }
}

/// Calls `measure` for each case that failed next to a rival whose code could have caused it.
fn measure_failed_alone(
    turns: &CasesInTurns<'_>,
    mut measured: MeasuredInTurns,
    protocol: &Protocol<'_>,
    mut measure: impl FnMut(&CasesInTurns<'_>, Numbering) -> Result<MeasuredInTurns, MeasureError>,
) -> Result<MeasuredInTurns, MeasureError> {
    if protocol.mode != RunMode::Measure {
        return Ok(measured);
    }
    for position in 0..turns.arms.len() {
        let rival = turns.rival_with_code_of(position, protocol.kernels_run_in);
        let (Ok(alternating), Some(rival)) = (&mut measured.arms[position], rival) else {
            continue;
        };
        if !alternating.judgement.verdict.is_failure() {
            continue;
        }
        let case = turns.arms[position].case;
        let entrant = Entrant {
            standing: Standing::Judged,
            ..turns.arms[position].entrant
        };
        let alone = CasesInTurns {
            arms: &[TurnCase { case, entrant }],
            question: None,
            ..*turns
        };
        let again = measure_one(entrant, measured.next, |numbering| measure(&alone, numbering));
        let again = again.and_then(|MeasuredInTurns { mut arms, next, roles }| {
            measured.next = next;
            if roles == RolesAfterwards::Unknown {
                measured.roles = roles;
            }
            arms.remove(0).map_err(MeasureError::Worker)
        });
        match again {
            Ok(alone) => settle(alternating, alone, rival),
            Err(error) => {
                let failure = CaseFailure::of_measuring(&error).ok_or(error)?;
                let why = beginning(&failure.message);
                alternating
                    .notices
                    .push(format!("it could not be measured alone: {why}"));
                measured.next = measured.next.after_failure();
                measured.roles = RolesAfterwards::Unknown;
            }
        }
    }
    Ok(measured)
}

/// Measures one case, from window number `first` on, and again if the clock accuses it.
fn measure_one(
    entrant: Entrant<'_>,
    first: Numbering,
    mut measure: impl FnMut(Numbering) -> Result<MeasuredInTurns, MeasureError>,
) -> Result<MeasuredInTurns, MeasureError> {
    confirm(RunMode::Measure, &[entrant], |again| measure(again.unwrap_or(first)))
}

/// Decides between the failure next to `rival` and the result alone.
fn settle(alternating: &mut Measured, mut alone: Measured, rival: &str) {
    let Judgement {
        verdict,
        cause,
        message,
        ..
    } = alternating.judgement.clone();
    let message = message.unwrap_or_default();
    if (verdict, cause) == (alone.judgement.verdict, alone.judgement.cause) {
        let also = format!("{message}; alone it fails in the same way");
        alternating.judgement.message = Some(also);
        return;
    }
    let how = cause.map_or_else(|| verdict.to_string(), |cause| format!("{verdict}: {cause}"));
    let doubt = format!("it ended in `{how}` when it alternated with {rival}, whose code could have caused it");
    let what = beginning(&message);
    alone
        .notices
        .push(format!("measured again alone, because {doubt}: {what}"));
    if alone.judgement.verdict == Verdict::Pass {
        let known = alone.judgement.grade_reason.take();
        let reasons: Vec<String> = known.into_iter().chain([doubt]).collect();
        alone.judgement.grade = Grade::Unverified;
        alone.judgement.grade_reason = Some(reasons.join("; "));
        alone.failed_alternating = Some(FailedAlternating {
            rival: rival.to_owned(),
            verdict,
            cause,
            message: alternating.message().filter(|message| !message.is_empty()),
        });
    }
    alone.kept_call = alone.kept_call.or(alternating.kept_call.take());
    *alternating = alone;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::RoleFailure;
    use crate::measurement::measured::ended;
    use crate::measurement::simulated_case::Stage;
    use gpubench_contract::Cause;
    use gpubench_device::KernelHost;

    const WRONG: (Verdict, Option<Cause>) = (Verdict::WrongOutput, Some(Cause::Mismatch));
    const SLOW: (Verdict, Option<Cause>) = (Verdict::Timeout, Some(Cause::Slow));
    const PASS: (Verdict, Option<Cause>) = (Verdict::Pass, None);

    fn settled(first: (Verdict, Option<Cause>), second: (Verdict, Option<Cause>)) -> Measured {
        let mut alternating = ended(first);
        settle(&mut alternating, ended(second), "`quick`");
        alternating
    }

    #[test]
    fn an_accusation_that_is_not_confirmed_alone_is_none() {
        let short = (Verdict::TimeMismatch, Some(Cause::ClaimTooShort));
        let entrant = Entrant {
            name: "the candidate",
            standing: Standing::Judged,
            keeper: None,
        };
        let numberings = [Numbering::after(409, 120), Numbering::after(512, 140)];
        let mut made = Vec::new();
        let measured = measure_one(entrant, numberings[0], |numbering| {
            made.push(numbering);
            Ok(MeasuredInTurns {
                arms: vec![Ok(ended([short, PASS][made.len() - 1]))],
                next: numberings[1],
                roles: RolesAfterwards::AtRest,
            })
        });
        let alone = measured.unwrap().arms.remove(0).unwrap();
        assert_eq!(made, numberings);
        assert_eq!(
            (alone.judgement.verdict, alone.judgement.grade),
            (Verdict::Pass, Grade::Unverified)
        );
    }

    #[test]
    fn a_case_that_fails_alone_too_keeps_its_failure() {
        let wrong = settled(WRONG, WRONG);
        assert_eq!((wrong.judgement.verdict, wrong.judgement.cause), WRONG);
        assert_eq!(
            wrong.judgement.message.as_deref(),
            Some("it was mismatch; alone it fails in the same way")
        );
        assert!(wrong.notices.is_empty() && wrong.failed_alternating.is_none());
    }

    #[test]
    fn what_it_does_alone_counts() {
        let wrong = settled(SLOW, WRONG);
        assert_eq!((wrong.judgement.verdict, wrong.judgement.cause), WRONG);
        assert!(
            wrong.notices[0].starts_with("measured again alone"),
            "{:?}",
            wrong.notices
        );
        assert!(wrong.failed_alternating.is_none());
    }

    #[test]
    fn another_cause_alone_is_another_failure() {
        let stale = (Verdict::WrongOutput, Some(Cause::Stale));
        let wrong = settled(WRONG, stale);
        assert_eq!((wrong.judgement.verdict, wrong.judgement.cause), stale);
        assert_eq!(wrong.judgement.message.as_deref(), Some("it was stale"));
        assert_eq!(wrong.notices.len(), 1);
    }

    #[test]
    fn the_tensors_of_a_wrong_call_are_named_however_the_case_ends_alone() {
        for second in [SLOW, WRONG, PASS] {
            let mut alternating = ended(WRONG);
            alternating.kept_call = Some("the tensors are in `a`".to_owned());
            settle(&mut alternating, ended(second), "`quick`");
            assert_eq!(
                alternating.kept_call.as_deref(),
                Some("the tensors are in `a`"),
                "{second:?}"
            );
        }
    }

    #[test]
    fn a_case_that_passes_alone_is_unverified_and_remembers_its_failure() {
        let passed = settled(WRONG, PASS);
        assert_eq!(
            (passed.judgement.verdict, passed.judgement.grade),
            (Verdict::Pass, Grade::Unverified)
        );
        let reason =
            "it ended in `wrong-output: mismatch` when it alternated with `quick`, whose code could have caused it";
        assert_eq!(passed.judgement.grade_reason.as_deref(), Some(reason));
        let alternating = passed.failed_alternating.expect("it failed in alternation");
        assert_eq!(
            (&*alternating.rival, alternating.verdict),
            ("`quick`", Verdict::WrongOutput)
        );
        assert_eq!(
            passed.notices,
            [format!("measured again alone, because {reason}: it was mismatch")]
        );
    }

    type Alone = fn(Numbering) -> Result<MeasuredInTurns, MeasureError>;

    /// The numbers after the measurement next to others.
    const FIRST: Numbering = Numbering {
        opening: 100,
        controls: 10,
    };

    /// Ends as a measurement alone with this result.
    fn passes(Numbering { opening, controls }: Numbering) -> Result<MeasuredInTurns, MeasureError> {
        Ok(MeasuredInTurns {
            arms: vec![Ok(ended(PASS))],
            next: Numbering {
                opening: opening + 50,
                controls: controls + 5,
            },
            roles: RolesAfterwards::AtRest,
        })
    }

    /// Measures those of three cases alone that ended in `ends` next to each other. Returns the
    /// numbers that each measurement began with, and the result.
    fn measured_alone(
        ends: [(Verdict, Option<Cause>); 3],
        (mode, kernels_run_in): (RunMode, KernelHost),
        alone: Alone,
    ) -> (Vec<Numbering>, Result<MeasuredInTurns, MeasureError>) {
        let stage = Stage::of(1);
        let protocol = Protocol {
            mode,
            kernels_run_in,
            ..stage.protocol()
        };
        let case = stage.case();
        let arms = ["first", "second", "third"].map(|name| TurnCase {
            case: &case,
            entrant: Entrant {
                name,
                standing: Standing::Compared,
                keeper: None,
            },
        });
        let turns = CasesInTurns {
            arms: &arms,
            source: &case,
            question: None,
        };
        let measured = MeasuredInTurns {
            arms: ends.map(|end| Ok(ended(end))).into(),
            next: FIRST,
            roles: RolesAfterwards::AtRest,
        };
        let mut begun = Vec::new();
        let result = measure_failed_alone(&turns, measured, &protocol, |turns, numbering| {
            assert_eq!(
                (turns.arms.len(), turns.arms[0].entrant.standing),
                (1, Standing::Judged)
            );
            begun.push(numbering);
            alone(numbering)
        });
        (begun, result)
    }

    const IN_TURNS: (RunMode, KernelHost) = (RunMode::Measure, KernelHost::Author);

    #[test]
    fn each_case_that_failed_is_measured_alone_with_numbers_of_its_own() {
        let (begun, result) = measured_alone([SLOW, PASS, WRONG], IN_TURNS, passes);
        let MeasuredInTurns { arms, next, roles } = result.unwrap();
        let after = |times: u32| Numbering {
            opening: 100 + 50 * times,
            controls: 10 + 5 * times as usize,
        };
        assert_eq!(begun, [after(0), after(1)]);
        assert_eq!((next, roles), (after(2), RolesAfterwards::AtRest));
        let rivals: Vec<Option<String>> = arms
            .into_iter()
            .map(|arm| arm.unwrap().failed_alternating.map(|alternating| alternating.rival))
            .collect();
        assert_eq!(rivals, [Some("second".to_owned()), None, Some("first".to_owned())]);
    }

    #[test]
    fn no_number_of_a_measurement_that_failed_is_used_again() {
        let fails: Alone = |_| {
            Err(MeasureError::Open(RoleFailure::Plan {
                text: "no plan".to_owned(),
            }))
        };
        let (begun, result) = measured_alone([SLOW, PASS, WRONG], IN_TURNS, fails);
        assert_eq!(begun, [FIRST, FIRST.after_failure()]);
        assert_eq!(result.unwrap().next, begun[1].after_failure());
    }

    #[test]
    fn nothing_is_measured_alone_that_no_rival_could_have_disturbed_or_that_is_not_timed() {
        let skipped = (Verdict::Skipped, Some(Cause::NotApplicable));
        for (ends, run) in [
            ([PASS, PASS, skipped], IN_TURNS),
            ([SLOW; 3], (RunMode::Measure, KernelHost::Referee)),
            ([SLOW; 3], (RunMode::Test, KernelHost::Author)),
        ] {
            let (begun, result) = measured_alone(ends, run, passes);
            assert_eq!((begun.len(), result.unwrap().next), (0, FIRST), "{ends:?} {run:?}");
        }
    }

    #[test]
    fn roles_that_may_not_rest_after_a_measurement_alone_do_not_rest() {
        let unknown: Alone = |numbering| {
            Ok(MeasuredInTurns {
                roles: RolesAfterwards::Unknown,
                ..passes(numbering)?
            })
        };
        let lost: Alone = |numbering| {
            Ok(MeasuredInTurns {
                arms: vec![Err(RoleFailure::Plan {
                    text: "no plan".to_owned(),
                })],
                ..passes(numbering)?
            })
        };
        let failed: Alone = |_| {
            Err(MeasureError::Open(RoleFailure::Plan {
                text: "no plan".to_owned(),
            }))
        };
        for (alone, notice) in [(unknown, None), (lost, Some(1)), (failed, Some(1))] {
            let (_, result) = measured_alone([SLOW, PASS, PASS], IN_TURNS, alone);
            let MeasuredInTurns { mut arms, roles, .. } = result.unwrap();
            assert_eq!(roles, RolesAfterwards::Unknown);
            let arm = arms.remove(0).unwrap();
            if notice.is_some() {
                assert_eq!((arm.judgement.verdict, arm.judgement.cause), SLOW);
                let [notice] = &arm.notices[..] else {
                    panic!("{:?}", arm.notices)
                };
                assert!(notice.starts_with("it could not be measured alone: "), "{notice}");
            }
        }
        let (_, interrupted) = measured_alone([SLOW, PASS, PASS], IN_TURNS, |_| Err(MeasureError::Interrupted));
        assert!(matches!(interrupted, Err(MeasureError::Interrupted)));
    }

    #[test]
    fn a_reason_that_the_grade_has_alone_is_kept() {
        let mut alternating = ended(WRONG);
        let mut alone = ended(PASS);
        alone.judgement.grade_reason = Some("another process is using the device".to_owned());
        settle(&mut alternating, alone, "`quick`");
        let reason = alternating.judgement.grade_reason.unwrap();
        assert!(
            reason.starts_with("another process is using the device; it ended in `wrong-output: mismatch`"),
            "{reason}"
        );
    }
}
