//! Problems for programs: one JSON object a line.

use std::collections::BTreeMap;

use gpubench::catalog::{Axis, DeviceKind, ParameterKind, Role};
use serde::Serialize;

use super::described::{Described, Shape};
use super::listed::{Listed, Problems};
use super::text::rule_in_words;
use crate::broker::cases::value_in_record;
use gpubench_contract::{ParamValue, SchemaVersion};
use gpubench_diagnostic::{InternalError, printable_json};

/// A line.
#[derive(Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line<'a> {
    /// One problem of several.
    ProblemListed {
        schema_version: SchemaVersion,
        package: &'a str,
        problem: &'a str,
        /// The first paragraph of the statement.
        summary: String,
    },
    /// A problem with everything that a contestant may know.
    ProblemShown(Box<ShownLine<'a>>),
}

#[derive(Serialize)]
struct ShownLine<'a> {
    schema_version: SchemaVersion,
    package: &'a str,
    problem: &'a str,
    file: &'a str,
    line: u32,
    /// Markdown.
    statement: &'a str,
    /// Null if the first case could not be recorded.
    tensors: Option<Vec<TensorLine<'a>>>,
    scalars: Vec<ScalarLine<'a>>,
    axes: Vec<AxisLine<'a>>,
    /// The axes that replace others on a kind of device.
    device_axes: BTreeMap<&'static str, Vec<AxisLine<'a>>>,
    public_cases: Cases,
    hidden_cases: Cases,
    /// `bytes`, `flops` and counters, as expressions.
    work: BTreeMap<&'a str, &'a str>,
    score: &'static str,
    limits: LimitsLine,
}

#[derive(Serialize)]
struct TensorLine<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    role: &'static str,
    /// An expression over the axes. Null if there is none.
    shape: Option<&'a str>,
    /// The extents in the first case on the CPU device, if there is no expression.
    first_shape: Option<&'a [u64]>,
    /// How an output is compared. Null for others.
    comparison: Option<String>,
    /// Null if an output is compared exactly or by a check alone.
    rtol: Option<f64>,
    atol: Option<f64>,
}

#[derive(Serialize)]
struct ScalarLine<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
}

#[derive(Serialize)]
struct AxisLine<'a> {
    /// Several if their values belong together.
    names: &'a [String],
    /// One value for each name.
    values: Vec<Vec<ParamValue>>,
}

#[derive(Serialize)]
struct Cases {
    cuda: usize,
    cpu: usize,
}

#[derive(Serialize)]
struct LimitsLine {
    call_ns: Option<u64>,
    source_bytes: Option<u64>,
}

/// Returns a line for each problem.
///
/// # Errors
/// A line cannot be encoded, which is a bug.
pub(super) fn list(problems: &Problems<'_>) -> Result<String, InternalError> {
    let lines = problems.all.iter().map(|listed: &Listed<'_>| {
        encoded(&Line::ProblemListed {
            schema_version: SchemaVersion,
            package: listed.package,
            problem: listed.path(),
            summary: listed.summary(),
        })
    });
    lines.collect()
}

/// Returns the line of a problem.
///
/// # Errors
/// It cannot be encoded, which is a bug.
pub(super) fn show(described: &Described<'_>) -> Result<String, InternalError> {
    let (listed, problem) = (described.listed, described.listed.problem);
    let cases = |[cuda, cpu]: [usize; 2]| Cases { cuda, cpu };
    let signature = problem.signature.iter();
    encoded(&Line::ProblemShown(Box::new(ShownLine {
        schema_version: SchemaVersion,
        package: listed.package,
        problem: listed.path(),
        file: &problem.outline.file,
        line: problem.outline.line,
        statement: &problem.statement,
        tensors: described.tensors.as_ref().ok().map(|tensors| {
            let tensors = tensors.iter().map(|tensor| {
                let bounds = tensor.tolerance.bounds().filter(|_| tensor.role.is_output());
                TensorLine {
                    name: &tensor.name,
                    type_name: &tensor.type_name,
                    role: role(tensor.role),
                    shape: match &tensor.shape {
                        Shape::OverAxes(shape) => Some(shape),
                        Shape::InFirstCase(_) => None,
                    },
                    first_shape: match &tensor.shape {
                        Shape::OverAxes(_) => None,
                        Shape::InFirstCase(shape) => Some(shape),
                    },
                    comparison: tensor.role.is_output().then(|| rule_in_words(tensor)),
                    rtol: bounds.map(|(rtol, _)| rtol),
                    atol: bounds.map(|(_, atol)| atol),
                }
            });
            tensors.collect()
        }),
        scalars: signature
            .filter(|parameter| parameter.kind == ParameterKind::Axis)
            .map(|parameter| ScalarLine {
                name: &parameter.name,
                type_name: &parameter.type_name,
            })
            .collect(),
        axes: axes(&problem.outline.axes),
        device_axes: {
            let of_devices = problem.outline.device_axes.iter();
            let of_devices = of_devices.map(|(device, of_device)| (device_name(*device), axes(of_device)));
            of_devices.collect()
        },
        public_cases: cases(described.public),
        hidden_cases: cases(described.hidden),
        work: problem.work.iter().map(|(name, amount)| (&**name, &**amount)).collect(),
        score: problem.score.name(),
        limits: LimitsLine {
            call_ns: problem.limits.call_ns,
            source_bytes: problem.limits.source_bytes,
        },
    })))
}

fn axes(axes: &[Axis]) -> Vec<AxisLine<'_>> {
    let line = |axis: &'_ Axis| -> Vec<Vec<ParamValue>> {
        let values = axis.values.iter();
        values
            .map(|values| values.iter().map(value_in_record).collect())
            .collect()
    };
    let lines = axes.iter().map(|axis| AxisLine {
        names: &axis.names,
        values: line(axis),
    });
    lines.collect()
}

fn device_name(device: DeviceKind) -> &'static str {
    match device {
        DeviceKind::Cpu => "cpu",
        DeviceKind::Cuda => "cuda",
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Input => "input",
        Role::Constant => "constant",
        Role::Output => "output",
        Role::InOut => "inout",
        Role::Scratch => "scratch",
    }
}

fn encoded(line: &Line<'_>) -> Result<String, InternalError> {
    let text = serde_json::to_string(line).map_err(InternalError::because("cannot write JSON"))?;
    Ok(printable_json(&text) + "\n")
}
