//! Traces: what a run found about a solution with a workload.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error_figure::{self, is_negative};
use crate::json::{Checked, Fault, Named, Path, WrongDocument, name, read, read_lines, read_one};
use crate::workload::Workload;

/// The result of a solution with a workload. Without solution and evaluation it is only a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Name of the definition.
    pub definition: String,
    /// The workload.
    pub workload: Workload,
    /// Name of the solution.
    #[serde(default)]
    pub solution: Option<String>,
    /// The result.
    #[serde(default)]
    pub evaluation: Option<Evaluation>,
}

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// How it ended.
    pub status: Status,
    /// Where it was.
    pub environment: Environment,
    /// When it was, in ISO 8601.
    pub timestamp: String,
    /// What the evaluation wrote.
    #[serde(default)]
    pub log: String,
    /// Errors of the outputs, with `PASSED` and `INCORRECT_NUMERICAL` only.
    #[serde(default)]
    pub correctness: Option<Correctness>,
    /// Times, with `PASSED` only.
    #[serde(default)]
    pub performance: Option<Performance>,
}

/// How an evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// The outputs are right.
    Passed,
    /// The reference failed. Of SOL-ExecBench only.
    InvalidReference,
    /// An output has another shape.
    IncorrectShape,
    /// An output has wrong elements.
    IncorrectNumerical,
    /// An output has another type.
    IncorrectDtype,
    /// The solution failed while it ran.
    RuntimeError,
    /// The solution could not be built.
    CompileError,
    /// The evaluation took too long.
    Timeout,
    /// The solution cheated. Of SOL-ExecBench only.
    RewardHack,
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 9] = [
        Status::Passed,
        Status::InvalidReference,
        Status::IncorrectShape,
        Status::IncorrectNumerical,
        Status::IncorrectDtype,
        Status::RuntimeError,
        Status::CompileError,
        Status::Timeout,
        Status::RewardHack,
    ];

    /// Whether an evaluation with this status has `correctness`. Otherwise it is null.
    pub const fn has_correctness(self) -> bool {
        matches!(self, Status::Passed | Status::IncorrectNumerical)
    }

    /// Whether an evaluation with this status has `performance`. Otherwise it is null.
    pub const fn has_performance(self) -> bool {
        matches!(self, Status::Passed)
    }

    /// Returns its word in a trace.
    pub const fn word(self) -> &'static str {
        match self {
            Status::Passed => "PASSED",
            Status::InvalidReference => "INVALID_REFERENCE",
            Status::IncorrectShape => "INCORRECT_SHAPE",
            Status::IncorrectNumerical => "INCORRECT_NUMERICAL",
            Status::IncorrectDtype => "INCORRECT_DTYPE",
            Status::RuntimeError => "RUNTIME_ERROR",
            Status::CompileError => "COMPILE_ERROR",
            Status::Timeout => "TIMEOUT",
            Status::RewardHack => "REWARD_HACK",
        }
    }
}

/// Where an evaluation was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Device, such as `NVIDIA H200`.
    pub hardware: String,
    /// Versions of programs and libraries.
    #[serde(default)]
    pub libs: Named<String>,
}

/// Errors of the outputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Correctness {
    /// Largest relative error, or NaN or infinite.
    #[serde(with = "error_figure")]
    pub max_relative_error: f64,
    /// Largest absolute error, or NaN or infinite.
    #[serde(with = "error_figure")]
    pub max_absolute_error: f64,
    /// Whether an output has a NaN. Of SOL-ExecBench only.
    #[serde(skip_serializing_if = "is_false")]
    pub has_nan: bool,
    /// Whether an output has an infinity, and none a NaN. Of SOL-ExecBench only.
    #[serde(skip_serializing_if = "is_false")]
    pub has_inf: bool,
    /// Anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Map<String, Value>>,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Performance {
    /// Of the solution.
    pub latency_ms: f64,
    /// Of the reference. 0 if it was not measured.
    pub reference_latency_ms: f64,
    /// The second over the first. 0 if the reference was not measured.
    pub speedup_factor: f64,
}

impl Trace {
    /// Reads a trace from JSON.
    ///
    /// # Errors
    /// The text is longer than [`MOST_DOCUMENT_BYTES`](crate::MOST_DOCUMENT_BYTES), no JSON, lacks
    /// a field, or breaks a rule: `correctness` or `performance` is there or null against the
    /// [status](Status), a figure is negative, or a name is empty or has control characters.
    pub fn parse(text: &str) -> Result<Trace, WrongDocument> {
        read_one(text)
    }

    /// Returns the trace as one line of JSON, without a line break.
    ///
    /// # Errors
    /// The trace breaks a rule of the format, as in [`Trace::parse`].
    pub fn to_line(&self) -> Result<String, WrongDocument> {
        let at_first_line = |path: String, what: String| WrongDocument { line: 1, path, what };
        self.check()
            .map_err(|fault| at_first_line(fault.path().to_string(), fault.what().to_owned()))?;
        serde_json::to_string(self).map_err(|error| at_first_line(String::new(), error.to_string()))
    }
}

/// Reads the traces of a JSONL file. Blank lines are skipped.
///
/// # Errors
/// The file is longer than [`MOST_FILE_BYTES`](crate::MOST_FILE_BYTES), or a line is no trace.
pub fn read_traces(text: &str) -> Result<Vec<Trace>, WrongDocument> {
    read_lines(text, read)
}

impl Checked for Trace {
    fn check(&self) -> Result<(), Fault> {
        name(Path::key("definition"), &self.definition)?;
        if let Some(solution) = &self.solution {
            name(Path::key("solution"), solution)?;
        }
        self.workload.check().map_err(|fault| fault.below("workload"))?;
        match &self.evaluation {
            Some(evaluation) => evaluation.check().map_err(|fault| fault.below("evaluation")),
            None => Ok(()),
        }
    }
}

impl Checked for Evaluation {
    fn check(&self) -> Result<(), Fault> {
        name(Path::key("environment").then("hardware"), &self.environment.hardware)?;
        name(Path::key("timestamp"), &self.timestamp)?;
        let fields = [
            ("correctness", self.correctness.is_some(), self.status.has_correctness()),
            ("performance", self.performance.is_some(), self.status.has_performance()),
        ];
        for (field, is_there, is_wanted) in fields {
            if is_there != is_wanted {
                let word = if is_wanted { "must not be null" } else { "must be null" };
                let what = format!("it {word} when the status is {}", self.status.word());
                return Err(Fault::new(Path::key(field), what));
            }
        }
        if let Some(correctness) = &self.correctness {
            let Correctness {
                max_relative_error,
                max_absolute_error,
                ..
            } = *correctness;
            for (field, value) in [
                ("max_relative_error", max_relative_error),
                ("max_absolute_error", max_absolute_error),
            ] {
                if is_negative(value) {
                    return Err(Fault::new(Path::key("correctness").then(field), "it is negative"));
                }
            }
        }
        let Some(performance) = self.performance else {
            return Ok(());
        };
        for (field, value) in [
            ("latency_ms", performance.latency_ms),
            ("reference_latency_ms", performance.reference_latency_ms),
            ("speedup_factor", performance.speedup_factor),
        ] {
            // JSON has no other numbers, and a NaN would not be at least 0 either.
            if !(value.is_finite() && value >= 0.0) {
                let path = Path::key("performance").then(field);
                return Err(Fault::new(path, "it must be finite and not negative"));
            }
        }
        Ok(())
    }
}
