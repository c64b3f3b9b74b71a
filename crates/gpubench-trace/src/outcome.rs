//! The end of a case, as an evaluation of a trace.

use gpubench_contract::{Cause, Grade, Verdict};
use serde_json::{Map, Value, json};

use gpubench_diagnostic::{ExitCode, Expected};

use crate::dialect::Dialect;
use crate::trace::{Correctness, Environment, Evaluation, Performance, Status};

/// What is known about a case that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it did not pass.
    pub cause: Option<Cause>,
    /// How far the times can be trusted.
    pub grade: Option<Grade>,
    /// The most by which the claimed time may differ from that of the referee's clock, in
    /// nanoseconds.
    pub bound_ns: Option<f64>,
    /// A message for people.
    pub message: Option<String>,
    /// The largest errors of the outputs, if they were compared.
    pub errors: Option<Errors>,
    /// The time of a call, in milliseconds.
    pub latency_ms: Option<f64>,
    /// The time of the reference, in milliseconds.
    pub reference_latency_ms: Option<f64>,
    /// Where it was measured.
    pub environment: Environment,
    /// When it was measured, in ISO 8601.
    pub timestamp: String,
}

/// Errors of outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Largest |got - expected|, over all outputs and calls.
    pub absolute: f64,
    /// Largest |got - expected| / |expected|, likewise.
    pub relative: f64,
}

/// Why a case has no evaluation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum NoEvaluation {
    /// The case says nothing about the solution.
    #[error("a case that ends in `{verdict}`, `{}`, says nothing about the solution, and no status fits", .cause.map_or("without a cause", Cause::as_str))]
    NotJudged { verdict: Verdict, cause: Option<Cause> },
    /// A case that passed has no time.
    #[error("a case that passed needs a time that is finite and above 0")]
    NoTime,
}

impl Expected for NoEvaluation {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Internal
    }
}

/// Returns the status of a case. `None` if the case says nothing about the solution: it did not
/// run, or the tool, its machine or the problem failed.
///
/// | verdict | cause | FlashInfer-Bench | SOL-ExecBench |
/// |---|---|---|---|
/// | `pass` | | `PASSED` | `PASSED` |
/// | `wrong-output` | `cached` | `INCORRECT_NUMERICAL` | `REWARD_HACK` |
/// | `wrong-output` | `out-of-bounds` | `RUNTIME_ERROR` | `RUNTIME_ERROR` |
/// | `wrong-output` | others | `INCORRECT_NUMERICAL` | `INCORRECT_NUMERICAL` |
/// | `late-write` | all | `INCORRECT_NUMERICAL` | `REWARD_HACK` |
/// | `time-mismatch`, `below-floor`, `protocol-violation` | all | `RUNTIME_ERROR` | `REWARD_HACK` |
/// | `crashed` | `ecc-error` | none | none |
/// | `crashed` | others | `RUNTIME_ERROR` | `RUNTIME_ERROR` |
/// | `timeout` | all | `TIMEOUT` | `TIMEOUT` |
/// | `error` | `submission-invalid`, `compile-failed`, `setup-failed` | `COMPILE_ERROR` | `COMPILE_ERROR` |
/// | `error` | `reference-failed`, `reference-timeout`, `generator-failed`, `generator-timeout` | none | `INVALID_REFERENCE` |
/// | `error` | `recording-failed`, `recording-timeout`, `plan-invalid`, `not-reproducible` | `RUNTIME_ERROR` | `RUNTIME_ERROR` |
/// | `error` | others | none | none |
/// | `skipped` | all | none | none |
pub fn status_of(dialect: Dialect, verdict: Verdict, cause: Option<Cause>) -> Option<Status> {
    let either = |flashinfer, sol| {
        Some(match dialect {
            Dialect::FlashInfer => flashinfer,
            Dialect::SolExecBench => sol,
        })
    };
    match verdict {
        Verdict::Pass => Some(Status::Passed),
        Verdict::WrongOutput if cause == Some(Cause::Cached) => either(Status::IncorrectNumerical, Status::RewardHack),
        // The outputs may be right.
        Verdict::WrongOutput if cause == Some(Cause::OutOfBounds) => Some(Status::RuntimeError),
        Verdict::WrongOutput => Some(Status::IncorrectNumerical),
        Verdict::LateWrite => either(Status::IncorrectNumerical, Status::RewardHack),
        Verdict::TimeMismatch | Verdict::BelowFloor | Verdict::ProtocolViolation => {
            either(Status::RuntimeError, Status::RewardHack)
        }
        Verdict::Crashed if cause == Some(Cause::EccError) => None,
        Verdict::Crashed => Some(Status::RuntimeError),
        Verdict::Timeout => Some(Status::Timeout),
        Verdict::Skipped => None,
        Verdict::Error => match cause? {
            Cause::SubmissionInvalid | Cause::CompileFailed | Cause::SetupFailed => Some(Status::CompileError),
            Cause::ReferenceFailed | Cause::ReferenceTimeout | Cause::GeneratorFailed | Cause::GeneratorTimeout => {
                match dialect {
                    Dialect::FlashInfer => None,
                    Dialect::SolExecBench => Some(Status::InvalidReference),
                }
            }
            Cause::RecordingFailed | Cause::RecordingTimeout | Cause::PlanInvalid | Cause::NotReproducible => {
                Some(Status::RuntimeError)
            }
            _ => None,
        },
    }
}

impl Outcome {
    /// Returns the evaluation in a format.
    ///
    /// Verdict, cause, grade and bound are the first line of `log`, as `gpubench: ` and an object
    /// of JSON, and the object `gpubench` of `correctness.extra` where the status has
    /// `correctness`.
    ///
    /// # Errors
    /// No [status](status_of) fits, or a case that passed has no time.
    pub fn evaluation(&self, dialect: Dialect) -> Result<Evaluation, NoEvaluation> {
        let status = status_of(dialect, self.verdict, self.cause);
        let status = status.ok_or(NoEvaluation::NotJudged {
            verdict: self.verdict,
            cause: self.cause,
        })?;
        let facts = self.facts();
        let mut log = format!("gpubench: {facts}");
        if let Some(message) = &self.message {
            log.push('\n');
            log.push_str(&gpubench_diagnostic::printable(message));
        }
        let performance = match status.has_performance() {
            true => Some(self.performance()?),
            false => None,
        };
        let correctness = status.has_correctness().then(|| self.correctness(dialect, facts));
        Ok(Evaluation {
            status,
            environment: self.environment.clone(),
            timestamp: self.timestamp.clone(),
            log,
            correctness,
            performance,
        })
    }

    /// What the tool found, in its own words.
    fn facts(&self) -> Value {
        json!({
            "verdict": self.verdict,
            "cause": self.cause,
            "grade": self.grade,
            "bound_ns": self.bound_ns,
        })
    }

    fn performance(&self) -> Result<Performance, NoEvaluation> {
        let is_time = |time: &f64| time.is_finite() && *time > 0.0;
        let latency_ms = self.latency_ms.filter(is_time).ok_or(NoEvaluation::NoTime)?;
        // Both formats have zeros where the reference was not measured.
        let reference_latency_ms = self.reference_latency_ms.filter(is_time).unwrap_or(0.0);
        let speedup_factor = Some(reference_latency_ms / latency_ms).filter(|factor| factor.is_finite());
        Ok(Performance {
            latency_ms,
            reference_latency_ms,
            speedup_factor: speedup_factor.unwrap_or(0.0),
        })
    }

    fn correctness(&self, dialect: Dialect, facts: Value) -> Correctness {
        let mut extra = Map::new();
        extra.insert("gpubench".to_owned(), facts);
        let unknown = Errors {
            absolute: f64::NAN,
            relative: f64::NAN,
        };
        let errors = self.errors.unwrap_or(unknown);
        let figures = [errors.absolute, errors.relative];
        let extra = Some(extra);
        let is_finite = figures.iter().all(|figure| figure.is_finite());
        match dialect {
            // Non-finite figures are zeros there, with a flag for the reason.
            Dialect::SolExecBench if !is_finite => {
                let has_nan = self.errors.is_some() && figures.iter().any(|figure| figure.is_nan());
                Correctness {
                    has_nan,
                    has_inf: self.errors.is_some() && !has_nan,
                    extra,
                    ..Correctness::default()
                }
            }
            Dialect::SolExecBench | Dialect::FlashInfer => Correctness {
                max_relative_error: errors.relative,
                max_absolute_error: errors.absolute,
                extra,
                ..Correctness::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(verdict: Verdict, cause: Option<Cause>) -> Outcome {
        Outcome {
            verdict,
            cause,
            grade: Some(Grade::Sandboxed),
            bound_ns: Some(2500.5),
            message: Some("it was late".to_owned()),
            errors: Some(Errors {
                absolute: 0.25,
                relative: 0.5,
            }),
            latency_ms: Some(0.5),
            reference_latency_ms: Some(2.0),
            environment: Environment {
                hardware: "NVIDIA H200".to_owned(),
                libs: [("gpubench", "0.1.0".to_owned())].into_iter().collect(),
            },
            timestamp: "2026-01-01T00:00:00Z".to_owned(),
        }
    }

    /// Returns the statuses of a verdict with a cause, as the table in the documentation has them.
    fn row(verdict: Verdict, cause: Option<Cause>) -> String {
        let word = |dialect| status_of(dialect, verdict, cause).map_or("-", Status::word);
        let [flashinfer, sol] = [Dialect::FlashInfer, Dialect::SolExecBench].map(word);
        let cause = cause.map_or("", Cause::as_str);
        format!("{verdict:18} {cause:22} {flashinfer:20} {sol}")
    }

    #[test]
    fn each_verdict_has_a_status_or_says_nothing_about_the_solution() {
        let mut rows = vec![row(Verdict::Pass, None)];
        for cause in Cause::ALL {
            rows.extend(cause.verdicts().iter().map(|verdict| row(*verdict, Some(*cause))));
        }
        rows.sort();
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn an_evaluation_has_what_its_status_may_have() {
        let json = |outcome: &Outcome, dialect| {
            let evaluation = outcome.evaluation(dialect).expect("a status fits");
            serde_json::to_string_pretty(&evaluation).expect("it is written")
        };
        let passed = json(&outcome(Verdict::Pass, None), Dialect::FlashInfer);
        let late = outcome(Verdict::LateWrite, Some(Cause::Late));
        let late = [Dialect::FlashInfer, Dialect::SolExecBench].map(|dialect| json(&late, dialect));
        insta::assert_snapshot!(format!("{passed}\n{}", late.join("\n")));
    }

    #[test]
    fn errors_that_are_no_numbers_are_flags_in_one_format_and_texts_in_the_other() {
        let figures = |errors: Option<Errors>, dialect| {
            let outcome = Outcome {
                errors,
                ..outcome(Verdict::WrongOutput, Some(Cause::NonFinite))
            };
            let correctness = outcome.evaluation(dialect).expect("a status fits").correctness;
            let correctness = Correctness {
                extra: None,
                ..correctness.expect("outputs were compared")
            };
            serde_json::to_string(&correctness).expect("it is written")
        };
        let errors = |absolute, relative| Some(Errors { absolute, relative });
        for (found, flashinfer, sol) in [
            (
                errors(f64::INFINITY, 1.0),
                r#"{"max_relative_error":1.0,"max_absolute_error":"Infinity"}"#,
                r#"{"max_relative_error":0.0,"max_absolute_error":0.0,"has_inf":true}"#,
            ),
            (
                errors(f64::INFINITY, f64::NAN),
                r#"{"max_relative_error":"NaN","max_absolute_error":"Infinity"}"#,
                r#"{"max_relative_error":0.0,"max_absolute_error":0.0,"has_nan":true}"#,
            ),
            (
                None,
                r#"{"max_relative_error":"NaN","max_absolute_error":"NaN"}"#,
                r#"{"max_relative_error":0.0,"max_absolute_error":0.0}"#,
            ),
        ] {
            assert_eq!(figures(found, Dialect::FlashInfer), flashinfer);
            assert_eq!(figures(found, Dialect::SolExecBench), sol);
        }
    }

    #[test]
    fn a_time_is_needed_and_that_of_the_reference_is_not() {
        for latency_ms in [None, Some(0.0), Some(f64::NAN), Some(-1.0)] {
            let outcome = Outcome {
                latency_ms,
                ..outcome(Verdict::Pass, None)
            };
            assert_eq!(outcome.evaluation(Dialect::FlashInfer), Err(NoEvaluation::NoTime));
        }
        let outcome = Outcome {
            reference_latency_ms: None,
            ..outcome(Verdict::Pass, None)
        };
        let evaluation = outcome.evaluation(Dialect::FlashInfer).expect("a status fits");
        let expected = Performance {
            latency_ms: 0.5,
            ..Performance::default()
        };
        assert_eq!(evaluation.performance, Some(expected));
    }
}
