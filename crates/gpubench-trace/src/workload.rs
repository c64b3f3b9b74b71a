//! Workloads: the sizes and inputs that a kernel is measured with.

use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::json::{Checked, Fault, Named, Path, WrongDocument, name, read_one};

/// Values for the variable axes of a definition, and where its inputs come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Unique name.
    pub uuid: String,
    /// Values of the variable axes.
    pub axes: Named<u64>,
    /// Where each input comes from. An input that is not here is random.
    pub inputs: Named<InputSpec>,
    /// Which outputs are right. SOL-ExecBench alone writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<ToleranceSpec>,
}

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AnyInput", into = "AnyInput")]
pub enum InputSpec {
    /// Random numbers.
    Random,
    /// This value, for a scalar.
    Scalar(ScalarValue),
    /// A tensor of a file.
    Safetensors {
        /// Path of the file from the root of the data set.
        path: String,
        /// Name of the tensor in the file.
        tensor_key: String,
    },
    /// The function `custom_inputs_entrypoint` of the definition's reference. Of SOL-ExecBench
    /// only.
    Custom,
}

/// The value of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum ScalarValue {
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl fmt::Display for ScalarValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarValue::Bool(value) => value.fmt(f),
            ScalarValue::Int(value) => value.fmt(f),
            ScalarValue::Float(value) => value.fmt(f),
        }
    }
}

/// Which outputs are right: an element is if `|got - expected| <= max_atol + max_rtol *
/// |expected|`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToleranceSpec {
    /// Absolute part.
    pub max_atol: f64,
    /// Relative part.
    pub max_rtol: f64,
    /// The share of elements that must be right. Without one, it is that of the definition's
    /// format: 0.99 for SOL-ExecBench, all for FlashInfer-Bench.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_matched_ratio: Option<f64>,
    /// The largest absolute error of any element.
    pub max_error_cap: Option<f64>,
    /// Whether an expected negative infinity is right where it is computed. Other infinities and
    /// NaN never are.
    pub allow_negative_inf: bool,
}

/// The values that both formats use where a workload has none.
impl Default for ToleranceSpec {
    fn default() -> ToleranceSpec {
        ToleranceSpec {
            max_atol: 1e-2,
            max_rtol: 1e-2,
            required_matched_ratio: None,
            max_error_cap: None,
            allow_negative_inf: false,
        }
    }
}

/// An input as it is written. Its type follows from its other fields if it is missing.
#[derive(Default, Serialize, Deserialize)]
struct AnyInput {
    #[serde(default, rename = "type")]
    kind: Option<InputType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<ScalarValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tensor_key: Option<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum InputType {
    Random,
    Scalar,
    Safetensors,
    Custom,
}

impl TryFrom<AnyInput> for InputSpec {
    type Error = &'static str;

    fn try_from(input: AnyInput) -> Result<InputSpec, &'static str> {
        let AnyInput {
            kind,
            value,
            path,
            tensor_key,
        } = input;
        let kind = kind.unwrap_or(match (&value, &path) {
            (Some(_), _) => InputType::Scalar,
            (None, Some(_)) => InputType::Safetensors,
            (None, None) => InputType::Random,
        });
        Ok(match kind {
            InputType::Random => InputSpec::Random,
            InputType::Custom => InputSpec::Custom,
            InputType::Scalar => InputSpec::Scalar(value.ok_or("an input of type `scalar` needs `value`")?),
            InputType::Safetensors => match (path, tensor_key) {
                (Some(path), Some(tensor_key)) => InputSpec::Safetensors { path, tensor_key },
                _ => return Err("an input of type `safetensors` needs `path` and `tensor_key`"),
            },
        })
    }
}

impl From<InputSpec> for AnyInput {
    fn from(input: InputSpec) -> AnyInput {
        let of = |kind| AnyInput {
            kind: Some(kind),
            ..AnyInput::default()
        };
        match input {
            InputSpec::Random => of(InputType::Random),
            InputSpec::Custom => of(InputType::Custom),
            InputSpec::Scalar(value) => AnyInput {
                value: Some(value),
                ..of(InputType::Scalar)
            },
            InputSpec::Safetensors { path, tensor_key } => AnyInput {
                path: Some(path),
                tensor_key: Some(tensor_key),
                ..of(InputType::Safetensors)
            },
        }
    }
}

impl<'de> Deserialize<'de> for ScalarValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ScalarValue, D::Error> {
        deserializer.deserialize_any(AnyScalar)
    }
}

struct AnyScalar;

impl Visitor<'_> for AnyScalar {
    type Value = ScalarValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a truth value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<ScalarValue, E> {
        Ok(ScalarValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<ScalarValue, E> {
        Ok(ScalarValue::Int(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<ScalarValue, E> {
        let value = i64::try_from(value).map_err(|_| E::custom("an integer of a scalar has 64 bits with its sign"))?;
        Ok(ScalarValue::Int(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<ScalarValue, E> {
        Ok(ScalarValue::Float(value))
    }
}

impl Workload {
    /// Reads a workload from JSON.
    ///
    /// # Errors
    /// The text is longer than [`MOST_DOCUMENT_BYTES`](crate::MOST_DOCUMENT_BYTES), no JSON, lacks
    /// a field, or has an empty name or one with control characters.
    pub fn parse(text: &str) -> Result<Workload, WrongDocument> {
        read_one(text)
    }
}

impl Checked for Workload {
    fn check(&self) -> Result<(), Fault> {
        name(Path::key("uuid"), &self.uuid)?;
        for axis in self.axes.names() {
            name(Path::key("axes").then(axis), axis)?;
        }
        for (input, spec) in self.inputs.iter() {
            let path = Path::key("inputs").then(input);
            name(path.clone(), input)?;
            if let InputSpec::Safetensors { path: file, tensor_key } = spec {
                name(path.clone().then("path"), file)?;
                name(path.then("tensor_key"), tensor_key)?;
            }
        }
        let tolerance = self.tolerance.unwrap_or_default();
        let path = || Path::key("tolerance");
        for (field, value) in [("max_atol", tolerance.max_atol), ("max_rtol", tolerance.max_rtol)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Fault::new(path().then(field), "it must be finite and not negative"));
            }
        }
        let ratio = tolerance.required_matched_ratio;
        if ratio.is_some_and(|ratio| !(0.0..=1.0).contains(&ratio)) {
            let path = path().then("required_matched_ratio");
            return Err(Fault::new(path, "it must be between 0 and 1"));
        }
        match tolerance.max_error_cap {
            Some(cap) if !(cap.is_finite() && cap >= 0.0) => Err(Fault::new(
                path().then("max_error_cap"),
                "it must be finite and not negative",
            )),
            _ => Ok(()),
        }
    }
}
