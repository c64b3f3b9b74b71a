//! `cargo gpubench judge`: decides the verdicts of a stored run again, from their evidence.

use std::fmt;

use serde::Deserialize;

use super::places::PlaceOptions;
use super::stored::stored_run::load_run;
use gpubench_contract::units::counted;
use gpubench_contract::{BenchmarkComplete, Cause, Grade, Verdict};
use gpubench_diagnostic::{ExitCode, Failure, printable_line};
use gpubench_measure::verdict::KeptEvidence;
use gpubench_report::Output;
use gpubench_store::RunName;

/// The options of `cargo gpubench judge`.
#[derive(Clone, Debug)]
pub struct JudgeOptions {
    /// The stored run.
    pub run: RunName,
    /// The folders of runs.
    pub places: PlaceOptions,
}

/// What the judge says of a result's evidence.
#[derive(Debug)]
enum Decided {
    /// What the record says.
    Same,
    /// The record is stricter: what came after the samples counts too, such as calls that were
    /// counted or audited, another attempt, or a sanitizer.
    Stricter(Decision),
    /// The record says more than its evidence shows.
    Different(Decision),
    /// The record has none.
    Nothing,
    /// The evidence cannot be read.
    Unreadable(serde_json::Error),
}

/// A verdict and a grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decision {
    verdict: Verdict,
    cause: Option<Cause>,
    /// Only results with samples have one.
    grade: Option<Grade>,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verdict)?;
        self.cause.map_or(Ok(()), |cause| write!(f, " ({cause})"))?;
        self.grade.map_or(Ok(()), |grade| write!(f, ", {grade}"))
    }
}

/// Decides the verdicts of a stored run again and prints those that differ.
///
/// # Errors
/// The run cannot be read, or nothing can be printed.
pub fn judge(options: &JudgeOptions) -> Result<ExitCode, Failure> {
    let home = options.places.home_of([&options.run])?;
    let run = load_run(&options.run, &home)?;
    let mut lines = Vec::new();
    let (mut same, mut stricter, mut wrong, mut without) = (0, 0, 0, 0);
    for result in &run.results {
        let (count, found) = match decide(result) {
            Decided::Same => (&mut same, None),
            Decided::Nothing => (&mut without, None),
            Decided::Stricter(decided) => (&mut stricter, Some(format!("its samples alone: {decided}"))),
            Decided::Different(decided) => (&mut wrong, Some(format!("its evidence shows: {decided}"))),
            Decided::Unreadable(error) => (&mut wrong, Some(format!("its evidence cannot be read: {error}"))),
        };
        *count += 1;
        if let Some(found) = found {
            let line = format!("{}: recorded {}; {found}", result.full_name(), recorded(result));
            lines.push(printable_line(&line).to_string());
        }
    }
    lines.push(format!(
        "{}: {same} as recorded, {stricter} recorded more strictly, {wrong} not as recorded, {without} without \
         evidence\n",
        counted(run.results.len(), "result")
    ));
    Output::stdout().print(&lines.join("\n"))?;
    Ok(match wrong {
        0 => ExitCode::Success,
        _ => ExitCode::BenchmarkFailed,
    })
}

fn recorded(result: &BenchmarkComplete) -> Decision {
    Decision {
        verdict: result.verdict,
        cause: result.cause,
        grade: result.grade,
    }
}

fn decide(result: &BenchmarkComplete) -> Decided {
    let Some(evidence) = &result.evidence else {
        return Decided::Nothing;
    };
    let judgement = match KeptEvidence::deserialize(evidence) {
        Ok(evidence) => evidence.judge(),
        Err(error) => return Decided::Unreadable(error),
    };
    let (recorded, decided) = (
        recorded(result),
        Decision {
            verdict: judgement.verdict,
            cause: judgement.cause,
            grade: result.grade.map(|_| judgement.grade),
        },
    );
    let fails_later = decided.verdict == Verdict::Pass && recorded.verdict != Verdict::Pass;
    let is_as_strict = recorded.verdict == decided.verdict && recorded.cause == decided.cause;
    let has_less_trust = recorded.grade == Some(Grade::Unverified);
    match recorded == decided {
        true => Decided::Same,
        false if fails_later || (is_as_strict && has_less_trust) => Decided::Stricter(decided),
        false => Decided::Different(decided),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::Tensor;
    use gpubench::codec::encode;
    use gpubench_testing::all_passed;

    /// A passed result with some evidence.
    fn with_evidence(evidence: &str) -> BenchmarkComplete {
        let mut result = all_passed().results.remove(0);
        let no_tensors = format!("{:?}", encode(&Vec::<Tensor>::new()));
        let evidence = serde_json::from_str(&evidence.replace("NONE", &no_tensors));
        result.evidence = Some(evidence.expect("JSON"));
        result
    }

    const TIMED_OUT: &str = r#"{"tensors": NONE, "calls": 1, "scratch": [], "runs": [],
        "ending": {"timed-out": {"within": {"secs": 1, "nanos": 0}}}, "metric": "time", "execution": "sealed",
        "gate": "stream", "clock_bound": "Exclusive", "floor_ns": null, "open_sandboxes": [],
        "surroundings": {"controls_afterwards": [], "shortest_claim_ns": null, "loss": null, "rivals": 0,
        "other_clients": null}}"#;

    #[test]
    fn a_record_that_says_more_than_its_evidence_is_found() {
        let mut result = with_evidence(TIMED_OUT);
        assert!(matches!(decide(&result), Decided::Different(decided) if decided.verdict == Verdict::Timeout));
        (result.verdict, result.cause) = (Verdict::WrongOutput, Some(Cause::Mismatch));
        assert!(matches!(decide(&result), Decided::Different(_)), "another failure");
    }

    #[test]
    fn a_record_that_says_what_its_evidence_shows_is_the_same() {
        let mut result = with_evidence(TIMED_OUT);
        (result.verdict, result.cause, result.grade) = (Verdict::Timeout, Some(Cause::Slow), None);
        let decided = decide(&result);
        assert!(matches!(decided, Decided::Same), "{decided:?}");
    }

    #[test]
    fn evidence_in_another_form_is_an_error_and_no_verdict() {
        let of_tensor = |encoded: &str| TIMED_OUT.replace("NONE", encoded);
        for evidence in [
            "{}",
            "null",
            &of_tensor("[9]"),
            &TIMED_OUT.replace("\"calls\": 1", "\"calls\": 0"),
        ] {
            let decided = decide(&with_evidence(evidence));
            assert!(matches!(decided, Decided::Unreadable(_)), "{evidence}: {decided:?}");
        }
        let mut without = with_evidence("1");
        without.evidence = None;
        assert!(matches!(decide(&without), Decided::Nothing));
    }
}
