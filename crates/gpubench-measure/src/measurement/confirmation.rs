//! A second measurement confirms an accusation by the clock.
//!
//! The clock can find that a call takes longer than the worker claims, or that a worker works
//! between its windows. This accuses the kernel of cheating, and one measurement is weak evidence:
//! a disturbance of the machine for half a second looks the same. So the whole case is measured
//! again, with fresh workers and new window numbers, and only the second result counts. The
//! reported times thus passed every check, and a worker that always hides time is found twice.
//!
//! A worker could learn from its window numbers that it is in the second measurement, and be honest
//! there. So an accused case is at best `unverified`. If the second measurement fails, as when the
//! crate's generator fails, the accusation remains. All other failures are final at once: a kernel
//! that is wrong from time to time has no second chance.

use super::case::{CasesInTurns, Entrant, Standing};
use super::error::MeasureError;
use super::failure::CaseFailure;
use super::held_calls::{fails_held, gate_of, settle_held};
use super::measured::{Measured, MeasuredInTurns, RolesAfterwards};
use super::run_mode::RunMode;
use super::session::Session;
use crate::clients::RoleFailure;
use crate::verdict::Judgement;
use gpubench_contract::{Cause, Grade, Verdict};
use gpubench_protocol::window::{Gate, Numbering};

/// Most characters that a notice repeats of the first accusation, or of the failure of the second
/// measurement.
const LONGEST: usize = 300;

impl Session<'_> {
    /// Measures like [`Session::measure_in_turns`], and a second time if the clock accuses a case.
    /// A notice then says so. If the second measurement fails, the first remains. A case that fails
    /// next to others is then measured alone.
    ///
    /// # Errors
    /// In the first measurement, as [`Session::measure_in_turns`]. In the second, only if the user
    /// interrupts.
    pub fn measure_and_confirm(&mut self, turns: &CasesInTurns<'_>) -> Result<MeasuredInTurns, MeasureError> {
        // Modes that share what a command computed share a numbering, too.
        let number = turns.source.number;
        let is_shared = turns.source.recording.reference.provider().is_some();
        let first = self.earlier_sets.numbering(number);
        let measured = self.measure_from(first, turns);
        if is_shared {
            let next = measured.as_ref().ok().map(|measured| measured.next);
            self.earlier_sets.note(number, next);
        }
        measured
    }

    /// Measures from `first` on. If a stream holds the calls although they may wait for the device,
    /// and one fails there, the cases are measured once more with calls that nothing holds.
    fn measure_from(&mut self, first: Numbering, turns: &CasesInTurns<'_>) -> Result<MeasuredInTurns, MeasureError> {
        let gate = gate_of(turns, self.protocol);
        let measured = self.measure_with(first, turns, gate)?;
        if !fails_held(turns, &measured) {
            return Ok(measured);
        }
        self.begin_again();
        let outside = self.measure_with(measured.next, turns, Gate::Host);
        let outside = outside.inspect_err(|_| self.watcher.goes_back());
        settle_held(measured, outside)
    }

    /// Prepares another measurement of the same cases.
    pub(super) fn begin_again(&mut self) {
        self.watcher.begins_again();
        self.idle_workers.dismiss();
        self.leaving_workers.await_ends();
    }

    fn measure_with(
        &mut self,
        first: Numbering,
        turns: &CasesInTurns<'_>,
        gate: Gate,
    ) -> Result<MeasuredInTurns, MeasureError> {
        let entrants: Vec<Entrant<'_>> = turns.arms.iter().map(|arm| arm.entrant).collect();
        let confirmed = confirm(self.protocol.mode, &entrants, |again| {
            if again.is_some() {
                self.begin_again();
            }
            let measured = self.measure_in_turns(turns, again.unwrap_or(first), gate);
            measured.inspect_err(|_| self.watcher.goes_back())
        })?;
        self.measure_failed_alone(turns, confirmed, gate)
    }
}

/// Measures a second time if the clock accuses a case and the mode is timed. Window numbers
/// continue after those of the first measurement.
pub(super) fn confirm(
    mode: RunMode,
    entrants: &[Entrant<'_>],
    mut measure: impl FnMut(Option<Numbering>) -> Result<MeasuredInTurns, MeasureError>,
) -> Result<MeasuredInTurns, MeasureError> {
    let first = measure(None)?;
    let accused = Accused::new(&first, entrants).filter(|_| mode == RunMode::Measure);
    let Some(accused) = accused else { return Ok(first) };
    match measure(Some(first.next)) {
        Ok(second) => Ok(accused.noted_in(second, first)),
        Err(error) => match CaseFailure::of_measuring(&error) {
            None => Err(error),
            Some(failure) => Ok(unconfirmed(first, &failure)),
        },
    }
}

/// Returns the first measurement, with a notice that the second failed.
fn unconfirmed(mut first: MeasuredInTurns, failure: &CaseFailure) -> MeasuredInTurns {
    for arm in first.arms.iter_mut().flatten() {
        arm.notices.push(not_measured_again(failure));
    }
    MeasuredInTurns {
        next: first.next.after_failure(),
        roles: RolesAfterwards::Unknown,
        ..first
    }
}

fn not_measured_again(failure: &CaseFailure) -> String {
    format!("the second measurement failed: {}", beginning(&failure.message))
}

/// Returns the first line of a message, cut to [`LONGEST`] characters.
pub(super) fn beginning(message: &str) -> String {
    let first_line = message.lines().next().unwrap_or_default();
    first_line.chars().take(LONGEST).collect()
}

/// The accusations of the cases, at least one, each with the name of its case.
struct Accused<'a>(Vec<(&'a str, Option<Accusation>)>);

impl<'a> Accused<'a> {
    /// Returns `None` if the clock accuses nobody, or if every judged case failed in another way.
    fn new(measured: &MeasuredInTurns, entrants: &[Entrant<'a>]) -> Option<Accused<'a>> {
        let of_arm = |arm: &Result<Measured, RoleFailure>| arm.as_ref().ok().and_then(Accusation::new);
        let accusations: Vec<Option<Accusation>> = measured.arms.iter().map(of_arm).collect();
        let is_of_use = |((entrant, arm), accusation): ((&Entrant<'_>, &Result<Measured, _>), &Option<Accusation>)| {
            let has_passed = arm.as_ref().is_ok_and(|arm| arm.judgement.verdict == Verdict::Pass);
            entrant.standing == Standing::Judged && (has_passed || accusation.is_some())
        };
        let mut arms = entrants.iter().zip(&measured.arms).zip(&accusations);
        let again = accusations.iter().any(Option::is_some) && arms.any(is_of_use);
        let names = entrants.iter().map(|entrant| entrant.name);
        again.then(|| Accused(names.zip(accusations).collect()))
    }

    /// Returns the second measurement, with notices about the first. Cases that failed for another
    /// reason keep their first result.
    fn noted_in(&self, second: MeasuredInTurns, first: MeasuredInTurns) -> MeasuredInTurns {
        let first_call = first.next.opening + 1;
        let arms = second.arms.into_iter().zip(first.arms).zip(&self.0);
        let arms = arms.map(|((second, first), (_, own))| match (second, first) {
            (_, Ok(first)) if own.is_none() && first.judgement.verdict != Verdict::Pass => Ok(first),
            (Ok(mut second), _) => {
                note(&mut second, first_call, own.as_ref(), self.first());
                Ok(second)
            }
            (Err(lost), Ok(first)) if own.is_some() => still_accused(first, lost),
            (Err(lost), _) => Err(lost),
        });
        MeasuredInTurns {
            arms: arms.collect(),
            ..second
        }
    }

    /// Returns the name of the first accused case, and its accusation.
    fn first(&self) -> Option<(&str, &Accusation)> {
        let mut accused = self.0.iter();
        accused.find_map(|(name, accusation)| Some((*name, accusation.as_ref()?)))
    }
}

/// Returns the first result of an accused case that was lost in the second measurement.
fn still_accused(mut first: Measured, lost: RoleFailure) -> Result<Measured, RoleFailure> {
    let error = MeasureError::Worker(lost);
    let failure = CaseFailure::of_measuring(&error).ok_or(RoleFailure::Interrupted)?;
    first.notices.push(not_measured_again(&failure));
    Ok(first)
}

/// An accusation of one case by the clock.
struct Accusation {
    cause: Cause,
    message: String,
    /// Why later times of the same case are only `unverified`.
    doubt: &'static str,
}

impl Accusation {
    /// Returns `None` if the cause is not one that the clock finds.
    fn new(measured: &Measured) -> Option<Accusation> {
        let Judgement { cause, message, .. } = &measured.judgement;
        let cause = (*cause)?;
        let doubt = match cause {
            Cause::ClaimTooShort => "in the first of two measurements, the claims were too short",
            Cause::WorksBetweenWindows => {
                "in the first of two measurements, control windows were disturbed while the workers lived"
            }
            _ => return None,
        };
        let message = beginning(message.as_deref().unwrap_or_default());
        Some(Accusation { cause, message, doubt })
    }

    fn is_made_again(&self, judgement: &Judgement) -> bool {
        judgement.cause == Some(self.cause)
    }
}

/// Adds to one case the notice of its own first accusation, or of another's.
fn note(measured: &mut Measured, first_call: u32, own: Option<&Accusation>, other: Option<(&str, &Accusation)>) {
    let (accusation, whose) = match (own, other) {
        (Some(own), _) => (own, String::new()),
        (None, Some((name, other))) => (other, format!(" of {name}")),
        (None, None) => return,
    };
    let judgement = &mut measured.judgement;
    if own.is_some_and(|own| own.is_made_again(judgement)) {
        let message = judgement.message.get_or_insert_default();
        message.push_str("; two measurements in a row found this");
        return;
    }
    if let Some(own) = own {
        let known = judgement.grade_reason.take();
        let reasons: Vec<String> = known.into_iter().chain([own.doubt.to_owned()]).collect();
        judgement.grade = Grade::Unverified;
        judgement.grade_reason = Some(reasons.join("; "));
    }
    let numbers = match judgement.verdict {
        Verdict::Pass => String::new(),
        // The message may name a call.
        _ => format!(" (its calls are numbered from {first_call})"),
    };
    let message = &accusation.message;
    measured.notices.push(format!(
        "measured twice; the second result counts{numbers}; first result{whose}: {message}"
    ));
}

#[cfg(test)]
mod tests {
    use super::super::measured::ended as side;
    use super::*;
    use crate::clients::AuthorProblem;
    use gpubench_protocol::wire::AuthorFailure;

    const SHORT: (Verdict, Option<Cause>) = (Verdict::TimeMismatch, Some(Cause::ClaimTooShort));
    const BETWEEN: (Verdict, Option<Cause>) = (Verdict::ProtocolViolation, Some(Cause::WorksBetweenWindows));
    const WRONG: (Verdict, Option<Cause>) = (Verdict::WrongOutput, Some(Cause::Mismatch));
    const PASS: (Verdict, Option<Cause>) = (Verdict::Pass, None);

    type Sides = ((Verdict, Option<Cause>), Option<(Verdict, Option<Cause>)>);

    /// The candidate and the baseline.
    const ENTRANTS: [Entrant<'_>; 2] = [
        Entrant {
            name: "the candidate",
            standing: Standing::Judged,
            keeper: None,
        },
        Entrant {
            name: "the baseline",
            standing: Standing::Compared,
            keeper: None,
        },
    ];

    fn measured((candidate, baseline): Sides) -> MeasuredInTurns {
        MeasuredInTurns {
            arms: [Some(candidate), baseline]
                .into_iter()
                .flatten()
                .map(|end| Ok(side(end)))
                .collect(),
            next: Numbering::after(409, 120),
            roles: RolesAfterwards::AtRest,
        }
    }

    fn generator_panics(message: &str) -> MeasureError {
        MeasureError::Generator(AuthorProblem::Refused {
            failure: AuthorFailure::Panicked,
            message: message.to_owned(),
        })
    }

    /// The result of a case whose second measurement ends in an error.
    fn cut_short(first: Sides, error: MeasureError) -> Result<MeasuredInTurns, MeasureError> {
        let mut error = Some(error);
        confirm(RunMode::Measure, &ENTRANTS, |attempt| match attempt {
            None => Ok(measured(first)),
            Some(_) => Err(error.take().expect("it is measured twice at most")),
        })
    }

    /// Measures a case that ends in `ends` one after another. Returns the number of measurements
    /// and the result.
    fn confirmed(mode: RunMode, ends: &[Sides]) -> (usize, MeasuredInTurns) {
        let mut attempts = Vec::new();
        let result = confirm(mode, &ENTRANTS, |attempt| {
            attempts.push(attempt);
            let end = ends.get(attempts.len() - 1).expect("it is not measured too often");
            Ok(measured(*end))
        });
        let expected = [None, Some(Numbering::after(409, 120))];
        assert_eq!(attempts, expected[..attempts.len()]);
        (attempts.len(), result.unwrap())
    }

    fn candidate(mut measured: MeasuredInTurns) -> Measured {
        measured.arms.remove(0).unwrap()
    }

    fn both(measured: MeasuredInTurns) -> [Measured; 2] {
        let arms: Result<Vec<Measured>, _> = measured.arms.into_iter().collect();
        arms.unwrap().try_into().unwrap()
    }

    fn alone(ends: &[(Verdict, Option<Cause>)]) -> (usize, Measured) {
        let ends: Vec<Sides> = ends.iter().map(|end| (*end, None)).collect();
        let (attempts, measured) = confirmed(RunMode::Measure, &ends);
        (attempts, candidate(measured))
    }

    #[test]
    fn a_case_that_the_clock_does_not_accuse_is_measured_once() {
        let bad_claim = (Verdict::ProtocolViolation, Some(Cause::BadClaim));
        for end in [
            PASS,
            WRONG,
            bad_claim,
            (Verdict::BelowFloor, Some(Cause::BelowBandwidth)),
        ] {
            let (attempts, measured) = alone(&[end]);
            assert_eq!((attempts, measured.judgement.verdict), (1, end.0));
            assert!(measured.notices.is_empty());
        }
    }

    #[test]
    fn a_case_that_passes_the_second_time_passes_with_a_notice() {
        let (attempts, measured) = alone(&[SHORT, PASS]);
        assert_eq!((attempts, measured.judgement.verdict), (2, Verdict::Pass));
        assert_eq!(
            measured.notices,
            ["measured twice; the second result counts; first result: it was claim-too-short"]
        );
    }

    #[test]
    fn an_accused_side_is_at_best_unverified() {
        let short = "in the first of two measurements, the claims were too short";
        let between = "in the first of two measurements, control windows were disturbed while the workers lived";
        for (first, second, reason) in [
            (SHORT, PASS, short),
            (SHORT, WRONG, short),
            (SHORT, BETWEEN, short),
            (BETWEEN, PASS, between),
            (BETWEEN, SHORT, between),
        ] {
            let Judgement {
                grade, grade_reason, ..
            } = alone(&[first, second]).1.judgement;
            assert_eq!((grade, grade_reason.as_deref()), (Grade::Unverified, Some(reason)));
        }
        for found in [SHORT, BETWEEN] {
            let (_, twice) = alone(&[found, found]);
            assert_eq!(twice.judgement.grade, Grade::Sealed);
        }
    }

    #[test]
    fn other_reasons_for_an_unverified_grade_are_kept() {
        let result = confirm(RunMode::Measure, &ENTRANTS, |attempt| {
            let mut measured = measured((if attempt.is_none() { SHORT } else { PASS }, None));
            let judgement = &mut measured.arms[0].as_mut().unwrap().judgement;
            judgement.grade = Grade::Unverified;
            judgement.grade_reason = Some("another process is using the device".to_owned());
            Ok(measured)
        });
        assert_eq!(
            candidate(result.unwrap()).judgement.grade_reason.unwrap(),
            "another process is using the device; in the first of two measurements, the claims were too short"
        );
    }

    #[test]
    fn only_the_side_that_was_accused_loses_its_grade() {
        let grades = |first: Sides| {
            let (_, measured) = confirmed(RunMode::Measure, &[first, (PASS, Some(PASS))]);
            let [candidate, baseline] = both(measured);
            (candidate.judgement.grade, baseline.judgement.grade)
        };
        assert_eq!(grades((SHORT, Some(PASS))), (Grade::Unverified, Grade::Sealed));
        assert_eq!(grades((PASS, Some(SHORT))), (Grade::Sealed, Grade::Unverified));
        assert_eq!(grades((SHORT, Some(SHORT))), (Grade::Unverified, Grade::Unverified));
    }

    #[test]
    fn a_case_accused_twice_says_so_and_is_not_measured_again() {
        for (found, cause) in [(SHORT, "claim-too-short"), (BETWEEN, "works-between-windows")] {
            let (attempts, measured) = alone(&[found, found, PASS]);
            assert_eq!((attempts, measured.judgement.verdict), (2, found.0));
            let message = measured.judgement.message.unwrap();
            assert_eq!(message, format!("it was {cause}; two measurements in a row found this"));
            assert!(measured.notices.is_empty());
        }
    }

    #[test]
    fn a_different_second_finding_counts_and_names_the_first_call_number() {
        for second in [BETWEEN, WRONG] {
            let (_, measured) = alone(&[SHORT, second]);
            assert_eq!((measured.judgement.verdict, measured.judgement.cause), second);
            let message = measured.judgement.message.unwrap();
            assert!(!message.contains("two measurements"), "{message}");
            assert_eq!(
                measured.notices,
                [
                    "measured twice; the second result counts (its calls are numbered from 411); first result: it was claim-too-short"
                ]
            );
        }
    }

    #[test]
    fn an_accused_side_has_both_sides_measured_again() {
        let of_both = |first: Sides, second: Sides| {
            let (attempts, measured) = confirmed(RunMode::Measure, &[first, second]);
            let [candidate, baseline] = both(measured);
            (attempts, candidate.notices, baseline.notices)
        };
        let passed = (PASS, Some(PASS));
        let [plain, of_candidate, of_baseline] = ["", " of the candidate", " of the baseline"].map(|whose| {
            vec![format!(
                "measured twice; the second result counts; first result{whose}: it was claim-too-short"
            )]
        });
        assert_eq!(of_both((SHORT, Some(PASS)), passed), (2, plain.clone(), of_candidate));
        assert_eq!(of_both((PASS, Some(SHORT)), passed), (2, of_baseline, plain.clone()));
        assert_eq!(of_both((SHORT, Some(SHORT)), passed), (2, plain.clone(), plain));
    }

    #[test]
    fn a_wrong_candidate_is_not_measured_again_for_an_accused_baseline() {
        let (attempts, measured) = confirmed(RunMode::Measure, &[(WRONG, Some(SHORT)), (PASS, Some(PASS))]);
        assert_eq!(
            (attempts, candidate(measured).judgement.verdict),
            (1, Verdict::WrongOutput)
        );
    }

    #[test]
    fn contestants_are_measured_again_for_one_that_is_accused_but_a_wrong_one_stays_wrong() {
        let entrants = ["`one`", "`two`", "`three`"].map(|name| Entrant {
            name,
            standing: Standing::Judged,
            keeper: None,
        });
        let mut ends = [[WRONG, SHORT, PASS], [PASS, PASS, PASS]].into_iter();
        let result = confirm(RunMode::Measure, &entrants, |_| {
            Ok(MeasuredInTurns {
                arms: ends.next().unwrap().map(|end| Ok(side(end))).into(),
                ..measured((PASS, None))
            })
        });
        let arms: Vec<Measured> = result.unwrap().arms.into_iter().map(Result::unwrap).collect();
        let verdicts: Vec<Verdict> = arms.iter().map(|arm| arm.judgement.verdict).collect();
        assert_eq!(verdicts, [Verdict::WrongOutput, Verdict::Pass, Verdict::Pass]);
        assert!(arms[0].notices.is_empty());
        assert_eq!(
            arms[2].notices,
            ["measured twice; the second result counts; first result of `two`: it was claim-too-short"]
        );
    }

    #[test]
    fn a_lost_baseline_does_not_cause_a_second_measurement() {
        let mut measurements = 0;
        let result = confirm(RunMode::Measure, &ENTRANTS, |_| {
            measurements += 1;
            Ok(MeasuredInTurns {
                arms: vec![Ok(side(PASS)), Err(RoleFailure::Interrupted)],
                ..measured((PASS, None))
            })
        });
        assert!(result.is_ok() && measurements == 1);
    }

    #[test]
    fn tests_are_not_confirmed() {
        let (attempts, _) = confirmed(RunMode::Test, &[(SHORT, None)]);
        assert_eq!(attempts, 1);
    }

    #[test]
    fn a_failed_second_measurement_keeps_the_accusation() {
        let result = cut_short((SHORT, Some(PASS)), generator_panics("out of ideas")).unwrap();
        assert_eq!(result.roles, RolesAfterwards::Unknown);
        assert_eq!(result.next, measured((SHORT, Some(PASS))).next.after_failure());
        let expected = ["the second measurement failed: the input generator failed: it panicked: out of ideas"];
        let [candidate, baseline] = both(result);
        assert_eq!(candidate.judgement, side(SHORT).judgement);
        assert_eq!(candidate.notices, expected);
        assert_eq!(
            (baseline.judgement, &*baseline.notices),
            (side(PASS).judgement, &expected.map(str::to_owned)[..])
        );
    }

    #[test]
    fn a_candidate_with_an_accused_baseline_keeps_its_verdict() {
        let result = cut_short((PASS, Some(SHORT)), generator_panics("out of ideas")).unwrap();
        let judgements = both(result).map(|side| side.judgement);
        assert_eq!(judgements, [PASS, SHORT].map(|end| side(end).judgement));
    }

    #[test]
    fn a_baseline_lost_in_the_second_measurement_is_still_accused() {
        let lost = |first: Sides| {
            let result = confirm(RunMode::Measure, &ENTRANTS, |attempt| {
                Ok(match attempt {
                    None => measured(first),
                    Some(_) => MeasuredInTurns {
                        arms: vec![Ok(side(PASS)), Err(RoleFailure::Plan { text: "no plan".into() })],
                        ..measured((PASS, None))
                    },
                })
            });
            let MeasuredInTurns { mut arms, roles, .. } = result.unwrap();
            assert_eq!(roles, RolesAfterwards::AtRest);
            arms.remove(1)
        };
        let accused = lost((PASS, Some(SHORT))).unwrap();
        assert_eq!(accused.judgement, side(SHORT).judgement);
        assert_eq!(accused.notices, ["the second measurement failed: no plan"]);
        assert!(matches!(lost((SHORT, Some(PASS))), Err(RoleFailure::Plan { .. })));
    }

    #[test]
    fn an_interrupt_ends_the_second_measurement_too() {
        for error in [
            MeasureError::Interrupted,
            MeasureError::Open(RoleFailure::Interrupted),
            MeasureError::Worker(RoleFailure::Interrupted),
            MeasureError::Attach(RoleFailure::Interrupted.into()),
        ] {
            let ended = cut_short((SHORT, None), error).unwrap_err();
            assert!(CaseFailure::of_measuring(&ended).is_none(), "{ended}");
        }
    }

    #[test]
    fn a_failed_first_measurement_is_an_error() {
        let mut measurements = 0;
        let result = confirm(RunMode::Measure, &ENTRANTS, |_| {
            measurements += 1;
            Err(generator_panics("out of ideas"))
        });
        assert!(result.is_err() && measurements == 1);
    }

    #[test]
    fn a_long_failure_is_cut() {
        let error = generator_panics(&("µ".repeat(2 * LONGEST) + "\nand more"));
        let notices = candidate(cut_short((SHORT, None), error).unwrap()).notices;
        assert!(notices[0].chars().count() < LONGEST + 100 && !notices[0].contains('\n'));
    }

    #[test]
    fn a_long_accusation_is_cut() {
        let long = |attempt: Option<Numbering>| {
            let mut measured = measured((if attempt.is_none() { SHORT } else { PASS }, None));
            let judgement = &mut measured.arms[0].as_mut().unwrap().judgement;
            judgement.message = Some("µ".repeat(2 * LONGEST) + "\nand more");
            Ok(measured)
        };
        let notices = candidate(confirm(RunMode::Measure, &ENTRANTS, long).unwrap()).notices;
        assert!(notices[0].chars().count() < LONGEST + 100 && !notices[0].contains('\n'));
    }
}
