//! Definitions: the problem that a kernel solves.

use serde::{Deserialize, Serialize};

use crate::json::{Checked, Fault, Named, Path, WrongDocument, empty_if_null, name, read_one, required, shown};

/// Most dimensions of a tensor.
const MOST_DIMENSIONS: usize = 16;

/// A problem: axes, tensors, and the reference that computes the right outputs.
///
/// It has the fields of both formats. Unknown fields are ignored, as the readers of both do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Unique name.
    pub name: String,
    /// Compute category, such as `gemm`. FlashInfer-Bench requires it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op_type: Option<String>,
    /// Symbolic extents, in order.
    pub axes: Named<Axis>,
    /// Function of the reference that makes inputs. Of SOL-ExecBench only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_inputs_entrypoint: Option<String>,
    /// Inputs in the order of the kernel's parameters.
    pub inputs: Named<TensorSpec>,
    /// Outputs in the order of the kernel's parameters, after the inputs.
    pub outputs: Named<TensorSpec>,
    /// Python source with a function `run`, which takes the inputs and returns the outputs.
    pub reference: String,
    /// Labels for grouping.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "empty_if_null")]
    pub tags: Vec<String>,
    /// Text for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Relations between axes, as expressions of Python.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "empty_if_null")]
    pub constraints: Vec<String>,
    /// Model on Hugging Face that it comes from. Of SOL-ExecBench only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hf_id: Option<String>,
}

/// A symbolic extent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AnyAxis", into = "AnyAxis")]
pub struct Axis {
    /// Where its value comes from.
    pub kind: AxisKind,
    /// Text for people.
    pub description: Option<String>,
}

/// Where the value of an axis comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisKind {
    /// The definition.
    Const(u64),
    /// The workload.
    Var,
    /// An [expression](crate::expression) over constant, variable and earlier axes. Of
    /// SOL-ExecBench only.
    Expr(String),
}

/// An axis as it is written. Its type follows from its other fields if it is missing.
#[derive(Serialize, Deserialize)]
struct AnyAxis {
    #[serde(default, rename = "type")]
    kind: Option<AxisType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expression: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AxisType {
    Const,
    Var,
    Expr,
}

impl TryFrom<AnyAxis> for Axis {
    type Error = &'static str;

    fn try_from(axis: AnyAxis) -> Result<Axis, &'static str> {
        let AnyAxis {
            kind,
            value,
            expression,
            description,
        } = axis;
        let kind = kind.unwrap_or(match (value, &expression) {
            (Some(_), _) => AxisType::Const,
            (None, Some(_)) => AxisType::Expr,
            (None, None) => AxisType::Var,
        });
        let kind = match kind {
            AxisType::Const => AxisKind::Const(value.ok_or("a constant axis needs `value`")?),
            AxisType::Var => AxisKind::Var,
            AxisType::Expr => AxisKind::Expr(expression.ok_or("an axis of type `expr` needs `expression`")?),
        };
        Ok(Axis { kind, description })
    }
}

impl From<Axis> for AnyAxis {
    fn from(axis: Axis) -> AnyAxis {
        let (kind, value, expression) = match axis.kind {
            AxisKind::Const(value) => (AxisType::Const, Some(value), None),
            AxisKind::Var => (AxisType::Var, None, None),
            AxisKind::Expr(expression) => (AxisType::Expr, None, Some(expression)),
        };
        AnyAxis {
            kind: Some(kind),
            value,
            expression,
            description: axis.description,
        }
    }
}

/// A tensor or a scalar of a definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorSpec {
    /// Names of axes, outermost first; SOL-ExecBench also has numbers. `None` for a scalar.
    #[serde(deserialize_with = "required")]
    pub shape: Option<Vec<String>>,
    /// Type of the elements.
    pub dtype: ElementType,
    /// Text for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The types of elements that the formats name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ElementType {
    Float64,
    Float32,
    Float16,
    Bfloat16,
    #[serde(rename = "float8_e4m3fn")]
    Float8E4M3,
    #[serde(rename = "float8_e5m2")]
    Float8E5M2,
    #[serde(rename = "float4_e2m1")]
    Float4,
    #[serde(rename = "float4_e2m1fn_x2")]
    Float4Pairs,
    Int64,
    Int32,
    Int16,
    Int8,
    Bool,
}

impl ElementType {
    /// Returns the name that the formats give it.
    pub const fn name(self) -> &'static str {
        match self {
            ElementType::Float64 => "float64",
            ElementType::Float32 => "float32",
            ElementType::Float16 => "float16",
            ElementType::Bfloat16 => "bfloat16",
            ElementType::Float8E4M3 => "float8_e4m3fn",
            ElementType::Float8E5M2 => "float8_e5m2",
            ElementType::Float4 => "float4_e2m1",
            ElementType::Float4Pairs => "float4_e2m1fn_x2",
            ElementType::Int64 => "int64",
            ElementType::Int32 => "int32",
            ElementType::Int16 => "int16",
            ElementType::Int8 => "int8",
            ElementType::Bool => "bool",
        }
    }
}

impl Definition {
    /// Reads a definition from JSON.
    ///
    /// Whether the reference is Python with a function `run` is seen when it runs.
    ///
    /// # Errors
    /// The text is longer than [`MOST_DOCUMENT_BYTES`](crate::MOST_DOCUMENT_BYTES), no JSON, lacks
    /// a field, or breaks a rule: a shape names an axis that does not exist, an input is also an
    /// output or an axis, or a name is empty or has control characters.
    pub fn parse(text: &str) -> Result<Definition, WrongDocument> {
        read_one(text)
    }
}

impl Checked for Definition {
    fn check(&self) -> Result<(), Fault> {
        name(Path::key("name"), &self.name)?;
        if let Some(op_type) = &self.op_type {
            name(Path::key("op_type"), op_type)?;
        }
        for axis in self.axes.names() {
            name(Path::key("axes").then(axis), axis)?;
        }
        for (side, tensors) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            for (tensor, spec) in tensors.iter() {
                let path = Path::key(side).then(tensor);
                name(path.clone(), tensor)?;
                self.check_tensor(path, spec)?;
            }
        }
        for input in self.inputs.names() {
            let path = || Path::key("inputs").then(input);
            if self.outputs.get(input).is_some() {
                return Err(Fault::new(path(), "an output has the same name"));
            }
            if self.axes.get(input).is_some() {
                return Err(Fault::new(path(), "an axis has the same name"));
            }
        }
        if self.reference.is_empty() {
            return Err(Fault::new(Path::key("reference"), "it is empty"));
        }
        match &self.custom_inputs_entrypoint {
            Some(entrypoint) => name(Path::key("custom_inputs_entrypoint"), entrypoint),
            None => Ok(()),
        }
    }
}

impl Definition {
    fn check_tensor(&self, path: Path, spec: &TensorSpec) -> Result<(), Fault> {
        let shape = spec.shape.as_deref().unwrap_or_default();
        let path = path.then("shape");
        if shape.len() > MOST_DIMENSIONS {
            let found = shape.len();
            let what = format!("it has {found} dimensions; the limit is {MOST_DIMENSIONS}");
            return Err(Fault::new(path, what));
        }
        for (dimension, axis) in shape.iter().enumerate() {
            let is_known = is_number(axis) || self.axes.get(axis).is_some();
            if !is_known {
                let what = format!("there is no axis `{}`", shown(axis));
                return Err(Fault::new(path.at(dimension), what));
            }
        }
        Ok(())
    }
}

/// Whether a dimension is a number, as `"128"`, and not an axis.
pub(crate) fn is_number(dimension: &str) -> bool {
    !dimension.is_empty() && dimension.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_type_is_what_is_written() {
        for name in [
            "float8_e4m3fn",
            "float4_e2m1fn_x2",
            "bfloat16",
            "float64",
            "bool",
            "int8",
            "float4_e2m1",
        ] {
            let read: ElementType = serde_json::from_value(name.into()).expect(name);
            assert_eq!(read.name(), name);
            assert_eq!(serde_json::to_value(read).expect("a text"), name);
        }
    }
}
