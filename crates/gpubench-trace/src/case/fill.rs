//! The contents of random inputs.

use gpubench::catalog::{DType, Fill};

use super::error::CaseError;
use crate::definition::{ElementType, TensorSpec};
use crate::dialect::Dialect;

/// Returns how a random input is filled.
///
/// # Errors
/// SOL-ExecBench gives inputs of this name a structure that random numbers do not have.
pub(super) fn fill_of(
    dialect: Dialect,
    name: &str,
    shape: &[u64],
    dtype: DType,
    spec: &TensorSpec,
) -> Result<Fill, CaseError> {
    let is_small_float = matches!(dtype, DType::F8E4M3 | DType::F8E5M2);
    if dialect == Dialect::SolExecBench && dtype.is_float() && !is_small_float {
        let description = spec.description.as_deref().unwrap_or_default().to_lowercase();
        if let Some(fill) = by_name(name, shape, &description)? {
            return Ok(fill);
        }
    }
    let integers = |low, high| Fill::Integers { low, high };
    Ok(match spec.dtype {
        ElementType::Bool => integers(0, 2),
        ElementType::Int8 => integers(-128, 128),
        ElementType::Int16 | ElementType::Int32 | ElementType::Int64 => integers(-1024, 1024),
        ElementType::Float64
        | ElementType::Float32
        | ElementType::Float16
        | ElementType::Bfloat16
        | ElementType::Float8E4M3
        | ElementType::Float8E5M2
        | ElementType::Float4
        | ElementType::Float4Pairs => normal(0.0, 1.0),
    })
}

const fn normal(mean: f64, stddev: f64) -> Fill {
    Fill::Normal { mean, stddev }
}

const fn uniform(low: f64, high: f64) -> Fill {
    Fill::Uniform { low, high }
}

/// Returns how SOL-ExecBench fills floating-point inputs of some names, as close as random numbers
/// come. `None` for other names.
fn by_name(name: &str, shape: &[u64], description: &str) -> Result<Option<Fill>, CaseError> {
    let refused = |what| {
        let input = name.to_owned();
        Err(CaseError::Distribution { input, what })
    };
    let stem = without_number(name);
    let is_any = |names: &[&str]| names.contains(&name);
    // The format has ones and zeros here, with which a kernel could leave the parameter out.
    if is_of_norm(name, "weight") {
        return Ok(Some(normal(1.0, 0.1)));
    }
    if is_of_norm(name, "bias") {
        return Ok(Some(normal(0.0, 0.1)));
    }
    if let [.., rows, columns] = shape
        && rows == columns
        && (is_any(&["attention_mask", "causal_mask"])
            || ["attention mask", "causal"]
                .iter()
                .all(|word| description.contains(word)))
    {
        return refused("a causal mask");
    }
    let is_described = ["binary", "{0, 1}", "0 or 1", "1.0 for valid", "0.0 for masked"]
        .iter()
        .any(|words| description.contains(words));
    if is_any(&[
        "x_mask",
        "text_mask",
        "aspect_ratio_mask",
        "drop_mask",
        "attention_mask",
    ]) || name.ends_with("_mask") && is_described
    {
        return Ok(Some(Fill::Integers { low: 0, high: 2 }));
    }
    if is_any(&["cos", "sin", "cos_cached", "sin_cached", "rope_cos", "rope_sin"]) {
        return Ok(Some(uniform(-1.0, 1.0)));
    }
    let spread = ["rstd", "std", "variance", "var"];
    let ends_in = |word: &str| stem == word || stem.strip_suffix(word).is_some_and(|rest| rest.ends_with('_'));
    if spread.into_iter().any(ends_in) {
        return Ok(Some(uniform(0.1, 2.1)));
    }
    match name {
        "A_cumsum" => return refused("a sum that falls along its rows"),
        "A_log" => return Ok(Some(uniform(-5.0, -1.0))),
        "A" => return Ok(Some(uniform(-1.0, -0.001))),
        "g" => return Ok(Some(uniform(-5.0, 0.0))),
        _ => {}
    }
    if is_any(&["attn_weights", "attention_weights", "routing_weights"])
        || ["softmax", "output"].iter().all(|word| description.contains(word))
    {
        return refused("the output of a softmax");
    }
    let is_matrix = stem == "weight"
        || ["_weight", "_weights", "_proj", "_projs", "_weight_matrix"]
            .iter()
            .any(|ending| stem.ends_with(ending));
    match shape {
        [_, .., columns] if is_matrix => Ok(Some(normal(0.0, 1.0 / ((*columns).max(1) as f64).sqrt()))),
        _ => Ok(None),
    }
}

fn without_number(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

/// Whether a name is that of a parameter of a normalisation, such as `q_norm2_weight`.
fn is_of_norm(name: &str, parameter: &str) -> bool {
    let prefix = name.strip_suffix(parameter).and_then(|prefix| prefix.strip_suffix('_'));
    prefix.is_some_and(|prefix| without_number(prefix).ends_with("norm"))
}
