//! An accusation by the clock is confirmed by a second measurement.
//!
//! That more time passed for the referee than a worker claims is a grave thing to say of a kernel, and one measurement is weak evidence of it: a machine that something disturbs for half a second
//! looks the same. So the whole case is measured once more, with fresh workers and by numbers that it has not had, and the second measurement is the result, whatever it says. No cheat gains by it.
//! What is reported has passed all judgement by itself: a worker that always hides time is found twice, and one that hides it in one measurement only either is found in the one that counts, or was
//! honest there. A failure of any other kind stands at once: a kernel that is wrong now and then has no second try.

use super::measure::{Contest, MeasureError, Measured, MeasuredInTurns, Protocol, Watcher, measure_in_turns};
use super::purpose::Purpose;
use crate::clients::{AuthorClient, NullWorker, RefereeClient};
use crate::verdict::{Cause, Judgement, Verdict};
use crate::window::Numbering;

/// Characters of the first accusation that are repeated.
const LONGEST: usize = 300;

/// As [`measure_in_turns`]; a case that the clock accuses is measured twice, and the second measurement says so.
///
/// # Errors
/// As [`measure_in_turns`], in either measurement.
pub(in crate::broker) fn measure_and_confirm(
    contest: &Contest<'_>,
    protocol: &Protocol<'_>,
    referee: &mut RefereeClient,
    author: &mut AuthorClient,
    null_worker: &mut NullWorker,
    watcher: &mut dyn Watcher,
) -> Result<MeasuredInTurns, MeasureError> {
    confirm(protocol.purpose, |attempt| {
        let numbering = match attempt {
            Attempt::First => Numbering::default(),
            Attempt::Second(numbering) => {
                watcher.begins_again();
                numbering
            }
        };
        measure_in_turns(contest, protocol, numbering, referee, author, null_worker, watcher)
    })
}

/// One of the measurements of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    First,
    /// It goes on behind the numbers of the first.
    Second(Numbering),
}

/// Only measurements are confirmed: where nothing is timed, the clock accuses nobody.
fn confirm<E>(
    purpose: Purpose,
    mut measure: impl FnMut(Attempt) -> Result<MeasuredInTurns, E>,
) -> Result<MeasuredInTurns, E> {
    let first = measure(Attempt::First)?;
    let accused = Accused::of(&first).filter(|_| purpose == Purpose::Measure);
    let Some(accused) = accused else { return Ok(first) };
    let next = first.next;
    drop(first);
    let mut second = measure(Attempt::Second(next))?;
    accused.note_in(&mut second, next.opening + 1);
    Ok(second)
}

/// Whom the clock accuses: one side at least.
struct Accused {
    candidate: Option<Accusation>,
    baseline: Option<Accusation>,
}

impl Accused {
    /// Nothing where nobody is accused, and where the candidate has failed in another way.
    fn of(measured: &MeasuredInTurns) -> Option<Accused> {
        let candidate = Accusation::of(&measured.candidate);
        let baseline = match &measured.baseline {
            Some(Ok(baseline)) => Accusation::of(baseline),
            Some(Err(_)) | None => None,
        };
        let has_passed = measured.candidate.judgement.verdict == Verdict::Pass;
        (candidate.is_some() || has_passed && baseline.is_some()).then_some(Accused { candidate, baseline })
    }

    /// Has both sides of the second measurement, whose calls are numbered from `first_call` on, tell of it.
    fn note_in(&self, second: &mut MeasuredInTurns, first_call: u32) {
        let (candidate, baseline) = (self.candidate.as_ref(), self.baseline.as_ref());
        let of_baseline = baseline.map(|accusation| (accusation, "of the baseline, "));
        note(&mut second.candidate, first_call, candidate, of_baseline);
        if let Some(Ok(measured)) = &mut second.baseline {
            let of_candidate = candidate.map(|accusation| (accusation, "of the candidate, "));
            note(measured, first_call, baseline, of_candidate);
        }
    }
}

/// What the clock says of one side.
struct Accusation {
    cause: Option<Cause>,
    message: String,
}

impl Accusation {
    fn of(measured: &Measured) -> Option<Accusation> {
        let Judgement {
            verdict,
            cause,
            message,
            ..
        } = &measured.judgement;
        let message = message.as_deref().and_then(|message| message.lines().next());
        (*verdict == Verdict::TimeMismatch).then(|| Accusation {
            cause: *cause,
            message: message.unwrap_or_default().chars().take(LONGEST).collect(),
        })
    }

    fn is_made_again(&self, judgement: &Judgement) -> bool {
        judgement.verdict == Verdict::TimeMismatch && judgement.cause == self.cause
    }
}

/// Has a side tell that it was accused before, or that the other was, with a word for whose accusation it is.
fn note(measured: &mut Measured, first_call: u32, own: Option<&Accusation>, other: Option<(&Accusation, &str)>) {
    let (accusation, whose) = match (own, other) {
        (Some(own), _) => (own, ""),
        (None, Some(other)) => other,
        (None, None) => return,
    };
    let judgement = &mut measured.judgement;
    if own.is_some_and(|own| own.is_made_again(judgement)) {
        let message = judgement.message.get_or_insert_default();
        message.push_str("; two measurements in a row found this");
        return;
    }
    let numbers = match judgement.verdict {
        Verdict::Pass => String::new(),
        // What it says may name a call.
        _ => format!(" (its calls are numbered from {first_call} on)"),
    };
    let message = &accusation.message;
    measured.notices.push(format!(
        "measured twice, and the second time counts{numbers}: the first time, {whose}{message}"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::RoleFailure;
    use crate::verdict::Grade;

    const SHORT: (Verdict, Option<Cause>) = (Verdict::TimeMismatch, Some(Cause::ClaimTooShort));
    const UNEVEN: (Verdict, Option<Cause>) = (Verdict::TimeMismatch, Some(Cause::ClaimsInconsistent));
    const WRONG: (Verdict, Option<Cause>) = (Verdict::WrongOutput, Some(Cause::Mismatch));
    const PASS: (Verdict, Option<Cause>) = (Verdict::Pass, None);

    fn side((verdict, cause): (Verdict, Option<Cause>)) -> Measured {
        Measured {
            judgement: Judgement {
                verdict,
                cause,
                message: cause.map(|cause| format!("it was {cause}")),
                grade: Grade::Sealed,
                grade_reason: None,
                window: None,
            },
            windows: Vec::new(),
            warm_ups: Vec::new(),
            worker_samples: Vec::new(),
            null_windows: Vec::new(),
            null_alone: Vec::new(),
            balance: None,
            samples_ns: Vec::new(),
            host_ns: Vec::new(),
            event_overhead_ns: None,
            stop: None,
            notices: Vec::new(),
        }
    }

    type Sides = ((Verdict, Option<Cause>), Option<(Verdict, Option<Cause>)>);

    fn measured((candidate, baseline): Sides) -> MeasuredInTurns {
        MeasuredInTurns {
            candidate: side(candidate),
            baseline: baseline.map(|baseline| Ok(side(baseline))),
            next: Numbering::behind(409, 120),
        }
    }

    /// How often a case is measured that comes to these ends one after another, and what its record is made of.
    fn confirmed(purpose: Purpose, ends: &[Sides]) -> (usize, MeasuredInTurns) {
        let mut attempts = Vec::new();
        let result = confirm(purpose, |attempt| {
            attempts.push(attempt);
            let end = ends.get(attempts.len() - 1).ok_or("it is measured too often")?;
            Ok::<_, &str>(measured(*end))
        });
        let expected = [Attempt::First, Attempt::Second(Numbering::behind(409, 120))];
        assert_eq!(attempts, expected[..attempts.len()]);
        (attempts.len(), result.unwrap())
    }

    fn alone(ends: &[(Verdict, Option<Cause>)]) -> (usize, Measured) {
        let ends: Vec<Sides> = ends.iter().map(|end| (*end, None)).collect();
        let (attempts, measured) = confirmed(Purpose::Measure, &ends);
        (attempts, measured.candidate)
    }

    #[test]
    fn what_the_clock_does_not_accuse_is_measured_once() {
        for end in [PASS, WRONG, (Verdict::BelowFloor, Some(Cause::BelowBandwidth))] {
            let (attempts, measured) = alone(&[end]);
            assert_eq!((attempts, measured.judgement.verdict), (1, end.0));
            assert!(measured.notices.is_empty());
        }
    }

    #[test]
    fn a_case_that_passes_the_second_time_passes_and_tells_of_the_first() {
        let (attempts, measured) = alone(&[SHORT, PASS]);
        assert_eq!((attempts, measured.judgement.verdict), (2, Verdict::Pass));
        assert_eq!(
            measured.notices,
            ["measured twice, and the second time counts: the first time, it was claim-too-short"]
        );
    }

    #[test]
    fn a_case_that_is_found_twice_says_so_and_is_not_measured_a_third_time() {
        let (attempts, measured) = alone(&[SHORT, SHORT, PASS]);
        assert_eq!((attempts, measured.judgement.verdict), (2, Verdict::TimeMismatch));
        let message = measured.judgement.message.unwrap();
        assert_eq!(message, "it was claim-too-short; two measurements in a row found this");
        assert!(measured.notices.is_empty());
    }

    #[test]
    fn another_finding_of_the_second_time_counts_and_says_how_calls_are_numbered() {
        for second in [UNEVEN, WRONG] {
            let (_, measured) = alone(&[SHORT, second]);
            assert_eq!((measured.judgement.verdict, measured.judgement.cause), second);
            let message = measured.judgement.message.unwrap();
            assert!(!message.contains("two measurements"), "{message}");
            assert_eq!(
                measured.notices,
                [
                    "measured twice, and the second time counts (its calls are numbered from 411 on): the first time, it was claim-too-short"
                ]
            );
        }
    }

    #[test]
    fn a_side_that_is_accused_has_both_measured_again() {
        let of_both = |first: Sides, second: Sides| {
            let (attempts, measured) = confirmed(Purpose::Measure, &[first, second]);
            let baseline = measured.baseline.unwrap().unwrap();
            (attempts, measured.candidate.notices, baseline.notices)
        };
        let passed = (PASS, Some(PASS));
        let [plain, of_candidate, of_baseline] = ["", "of the candidate, ", "of the baseline, "].map(|whose| {
            vec![format!(
                "measured twice, and the second time counts: the first time, {whose}it was claim-too-short"
            )]
        });
        assert_eq!(of_both((SHORT, Some(PASS)), passed), (2, plain.clone(), of_candidate));
        assert_eq!(of_both((PASS, Some(SHORT)), passed), (2, of_baseline, plain.clone()));
        assert_eq!(of_both((SHORT, Some(SHORT)), passed), (2, plain.clone(), plain));
    }

    #[test]
    fn a_candidate_that_is_wrong_has_no_second_try_for_an_accused_baseline() {
        let (attempts, measured) = confirmed(Purpose::Measure, &[(WRONG, Some(SHORT)), (PASS, Some(PASS))]);
        assert_eq!(
            (attempts, measured.candidate.judgement.verdict),
            (1, Verdict::WrongOutput)
        );
    }

    #[test]
    fn a_baseline_that_was_lost_is_no_ground_for_a_second_measurement() {
        let mut measurements = 0;
        let result = confirm(Purpose::Measure, |_| {
            measurements += 1;
            Ok::<_, ()>(MeasuredInTurns {
                baseline: Some(Err(RoleFailure::Interrupted)),
                ..measured((PASS, None))
            })
        });
        assert!(result.is_ok() && measurements == 1);
    }

    #[test]
    fn nothing_is_confirmed_where_nothing_is_timed() {
        let (attempts, _) = confirmed(Purpose::Test, &[(SHORT, None)]);
        assert_eq!(attempts, 1);
    }

    #[test]
    fn a_second_measurement_that_cannot_be_made_fails_as_a_first_one() {
        let result = confirm(Purpose::Measure, |attempt| match attempt {
            Attempt::First => Ok(measured((SHORT, None))),
            Attempt::Second(_) => Err("interrupted"),
        });
        assert_eq!(result.unwrap_err(), "interrupted");
    }

    #[test]
    fn of_a_long_accusation_the_beginning_is_repeated() {
        let long = |attempt| {
            let mut measured = measured((if attempt == Attempt::First { SHORT } else { PASS }, None));
            measured.candidate.judgement.message = Some("µ".repeat(2 * LONGEST) + "\nand more");
            Ok::<_, ()>(measured)
        };
        let notices = confirm(Purpose::Measure, long).unwrap().candidate.notices;
        assert!(notices[0].chars().count() < LONGEST + 100 && !notices[0].contains('\n'));
    }
}
