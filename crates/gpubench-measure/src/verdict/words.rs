//! Messages of findings: what was found, where, and what was expected.

use gpubench::catalog::{DType, Mismatched, Role, Tensor, Tolerance};

use super::element::element_value;
use gpubench_protocol::wire::{Claim, FaultPlace, NOWHERE, OutputFacts, UNKNOWN_STEP, WindowFacts};

use super::Cause;
use gpubench_contract::ElementValue;
use gpubench_contract::units::percent;

/// Puts the indices of an element, one for each dimension, where its tensor's name has a place for
/// them: `hits[3, 17].position[2]` for `hits[].position[]`, and `y[3, 17]` for `y`.
pub(crate) fn placed(name: &str, indices: &[String]) -> String {
    match name.split_once("[]") {
        None => format!("{name}[{}]", indices.join(", ")),
        Some((structs, field)) => match (field.strip_suffix("[]"), indices.split_last()) {
            (Some(field), Some((last, others))) => format!("{structs}[{}]{field}[{last}]", others.join(", ")),
            _ => format!("{structs}[{}]{field}", indices.join(", ")),
        },
    }
}

/// Formats an element's position, as in `y[3, 17]`.
pub(super) fn element_name(tensor: &Tensor, index: u64) -> String {
    let mut rest = index;
    let mut position: Vec<String> = Vec::with_capacity(tensor.shape.len());
    for extent in tensor.shape.iter().rev() {
        let extent = (*extent).max(1);
        position.push((rest % extent).to_string());
        rest /= extent;
    }
    position.reverse();
    format!("`{}`", placed(&tensor.name, &position))
}

/// Describes what a tolerance allows, as in `rtol 1e-3, atol 0e0`. `None` if it allows nothing.
pub fn tolerance_in_words(tolerance: Tolerance) -> Option<String> {
    let (rtol, atol) = tolerance.bounds()?;
    let bounds = format!("rtol {rtol:e}, atol {atol:e}");
    Some(match tolerance.mismatched() {
        None => bounds,
        Some(Mismatched { share, cap }) => {
            let most = percent(share);
            format!("{bounds}, or {cap} times as much in {most} of the elements")
        }
    })
}

/// Describes the first wrong element: the expected value, the tolerance and the value found.
pub(super) fn first_wrong(tensor: &Tensor, output: &OutputFacts) -> String {
    if output.first_wrong == NOWHERE {
        return String::new();
    }
    let expected = element_value(tensor.dtype, output.expected_bits);
    let got = element_value(tensor.dtype, output.got_bits);
    let allowed = match (tensor.tolerance, tolerance_in_words(tensor.tolerance)) {
        (_, None) => "exactly".to_owned(),
        (Tolerance::Default { .. }, Some(bounds)) => format!("within {bounds} (the default of its type)"),
        (_, Some(bounds)) => format!("within {bounds}"),
    };
    let name = element_name(tensor, output.first_wrong);
    format!("first wrong element {name}: expected {expected} {allowed}, got {got}")
}

/// The steps of its type that a result is away, at most, if it is only rounded differently.
const ROUNDED_DIFFERENTLY: f64 = 16.0;

/// A tolerance of fewer steps is too tight for results of several operations.
const FEWEST_STEPS: f64 = 2.0;

/// Returns a hint if the first wrong element is only a few steps of its type away, and the
/// tolerance has fewer than two.
fn too_tight(tensor: &Tensor, output: &OutputFacts) -> Option<String> {
    let values = [output.expected_bits, output.got_bits].map(|bits| element_value(tensor.dtype, bits));
    let [ElementValue::Float(expected), ElementValue::Float(got)] = values else {
        return None;
    };
    let step = step_of(tensor.dtype, expected)?;
    let (rtol, atol) = tensor.tolerance.bounds().unwrap_or_default();
    let allowed = atol + rtol * expected.abs();
    let is_too_tight = allowed < FEWEST_STEPS * step && (got - expected).abs() <= ROUNDED_DIFFERENTLY * step;
    is_too_tight.then(|| {
        format!(
            " (hint: the tolerance is too tight for {}: neighbours differ by {step:.1e} there, so another order of \
             operations can give such a difference)",
            format!("{:?}", tensor.dtype).to_lowercase()
        )
    })
}

/// Returns the distance from a finite number to the next one of its type.
fn step_of(dtype: DType, value: f64) -> Option<f64> {
    let (digits, least) = match dtype {
        DType::F16 => (10, -14),
        DType::BF16 => (7, -126),
        DType::F32 => (23, -126),
        DType::F64 => (52, -1022),
        DType::F8E4M3 => (3, -6),
        DType::F8E5M2 => (2, -14),
        _ => return None,
    };
    let exponent = value.abs().log2().floor().max(f64::from(least));
    value.is_finite().then(|| (exponent - f64::from(digits)).exp2())
}

/// An expected zero has no relative error.
fn largest_errors(output: &OutputFacts) -> String {
    match (output.max_rel, output.max_abs) {
        (0.0, absolute) => format!("largest absolute error {absolute:.3e}"),
        (relative, absolute) => format!("largest relative error {relative:.3e}, absolute {absolute:.3e}"),
    }
}

/// Returns a hint if zero is expected everywhere and found nowhere: a reference that writes nothing
/// leaves zeros. Only expected zeros have no relative error.
fn only_zeros_expected(tensor: &Tensor, output: &OutputFacts) -> Option<String> {
    let are_zeros = output.matched == 0 && output.max_rel == 0.0 && output.max_abs > 0.0 && output.non_finite == 0;
    are_zeros.then(|| {
        let name = &tensor.name;
        format!(" (hint: zero is expected in every element of `{name}`: does the reference write it?)")
    })
}

/// How the author of a benchmark sets memory before a kernel runs.
pub const BY_LAUNCHER: &str = "as `Launcher::memset` does";

/// Returns the hint for elements that were not written. A kernel can also compute such values from
/// scratch memory.
fn noise(tensor: &Tensor, scratch: &[u64]) -> String {
    match (tensor.role, scratch) {
        (Role::Output, []) => {
            format!(" (hint: outputs start as noise; write every element, or set them first, {BY_LAUNCHER})")
        }
        (Role::Output, _) => format!(
            " (hint: outputs and scratch memory start as noise; write every element, and set scratch memory that is \
             added to, {BY_LAUNCHER})"
        ),
        _ => String::new(),
    }
}

/// Describes a wrong output and its call. `scratch` has the sizes of the plan's scratch buffers.
/// `rejection` is why the check rejects it, if the case has one that does.
pub(super) fn wrong_output(
    cause: Cause,
    tensor: &Tensor,
    scratch: &[u64],
    output: &OutputFacts,
    call: u32,
    rejection: Option<&str>,
) -> String {
    let name = &tensor.name;
    let (elements, wrong) = (output.elements, output.elements - output.matched);
    let first = match rejection {
        Some(reason) => format!("the check says: {reason}"),
        None => first_wrong(tensor, output),
    };
    let hint = &noise(tensor, scratch);
    match cause {
        Cause::Unwritten => format!("nothing was written to `{name}` in call {call}; {first}{hint}"),
        Cause::Partial => {
            let unwritten = output.unwritten;
            format!("{unwritten} of {elements} elements of `{name}` were not written in call {call}; {first}{hint}")
        }
        Cause::Cached => format!("`{name}` in call {call} repeats the expected output of the first call; {first}"),
        Cause::Stale => format!("`{name}` in call {call} repeats the expected output of the previous call; {first}"),
        Cause::Constant => {
            // A check that rejects a call names no element.
            let value = element_value(tensor.dtype, output.constant_bits);
            format!("every element of `{name}` is {value} in call {call}; {first}")
        }
        Cause::NonFinite => {
            let non_finite = output.non_finite;
            format!("{non_finite} of {elements} elements of `{name}` are not finite in call {call}; {first}")
        }
        _ => match rejection {
            Some(reason) => format!("the check rejects call {call}: {reason}"),
            None => format!(
                "{wrong} of {elements} elements of `{name}` are wrong in call {call}; {first}; {}{}",
                largest_errors(output),
                too_tight(tensor, output)
                    .or_else(|| only_zeros_expected(tensor, output))
                    .unwrap_or_default()
            ),
        },
    }
}

/// Describes writes to a redzone. Buffer numbers count the tensors first, then scratch.
pub(super) fn redzone_written(tensors: &[Tensor], scratch: &[u64], facts: &WindowFacts) -> String {
    let (bytes, number) = (facts.redzone_bytes, facts.redzone_buffer as usize);
    let tensor = tensors.get(number);
    let (name, len) = match tensor {
        Some(tensor) => (tensor.name.clone(), tensor.bytes()),
        None => {
            let number = number - tensors.len();
            (format!("scratch {number}"), scratch.get(number).copied().unwrap_or(0))
        }
    };
    let size = tensor.map_or(1, |tensor| tensor.dtype.size() as u64).max(1);
    let place = match u64::try_from(facts.redzone_offset) {
        Ok(offset) if offset < len.saturating_add(size) => {
            format!("right after the end of `{name}`{}", nearest(tensor, offset))
        }
        Ok(offset) => {
            let past = offset - len;
            format!("{past} bytes past the end of `{name}`{}", nearest(tensor, offset))
        }
        Err(_) => format!(
            "{} bytes before the start of `{name}`",
            facts.redzone_offset.unsigned_abs()
        ),
    };
    // A byte that was overwritten with its old value does not show, but kernels write whole
    // elements.
    let bytes = match bytes.checked_next_multiple_of(size) {
        Some(whole) if whole != bytes => format!("about {whole} bytes"),
        _ => format!("{bytes} bytes"),
    };
    format!(
        "{bytes} were written out of bounds in call {}, the first {place}",
        facts.window
    )
}

/// Names the element that would be at `offset` if the tensor were longer.
fn nearest(tensor: Option<&Tensor>, offset: u64) -> String {
    match tensor.map(|tensor| (tensor, tensor.dtype.size() as u64)) {
        Some((tensor, size @ 1..)) if tensor.shape.len() == 1 => {
            format!(", where `{}[{}]` would be", tensor.name, offset / size)
        }
        _ => String::new(),
    }
}

/// Describes a failure of the user's host code in a call.
pub(super) fn host_failure(claim: &Claim) -> String {
    format!(
        "the host code failed in call {}: {}",
        claim.window,
        claim.text.printable()
    )
}

/// Describes a kernel's fault and its place.
pub(super) fn fault(claim: &Claim) -> String {
    let mut place = Vec::new();
    if claim.place != FaultPlace::Unknown {
        let [x, y, z] = claim.block;
        place.push(format!("block ({x}, {y}, {z})"));
    }
    if claim.place == FaultPlace::Thread {
        let [x, y, z] = claim.thread;
        place.push(format!("thread ({x}, {y}, {z})"));
    }
    if claim.step != UNKNOWN_STEP {
        place.push(format!("step {} of the plan", u64::from(claim.step) + 1));
    }
    place.push(format!("call {}", claim.window));
    format!("{}; {}", claim.text.printable(), place.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::Fill;

    /// The message for writes to the redzone of a tensor of `f32`.
    fn written(shape: &[u64], bytes: u64, offset: i64) -> String {
        let tensor = Tensor {
            name: "y".to_owned(),
            dtype: DType::F32,
            shape: shape.to_vec(),
            role: Role::Output,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        };
        let mut facts = <WindowFacts as bytemuck::Zeroable>::zeroed();
        (facts.window, facts.redzone_bytes, facts.redzone_offset) = (2, bytes, offset);
        redzone_written(&[tensor], &[], &facts)
    }

    #[test]
    fn a_tolerance_below_a_step_of_the_type_is_named_where_the_answer_is_near() {
        let close = |rtol, atol| Tolerance::Close { rtol, atol };
        let hint = |dtype, tolerance, expected: u64, got: u64| {
            let tensor = Tensor {
                name: "y".to_owned(),
                dtype,
                shape: vec![4],
                role: Role::Output,
                fill: Fill::Poison,
                tolerance,
                record: None,
            };
            let output = OutputFacts {
                expected_bits: expected,
                got_bits: got,
                ..bytemuck::Zeroable::zeroed()
            };
            too_tight(&tensor, &output)
        };
        let f32_bits = |value: f32| u64::from(value.to_bits());
        let (expected, near) = (f32_bits(509.24075), f32_bits(509.24072));
        let words = hint(DType::F32, close(1e-9, 0.0), expected, near).unwrap();
        assert!(
            words.contains("too tight for f32: neighbours differ by 3.1e-5 there"),
            "{words}"
        );
        assert!(hint(DType::F32, close(1e-7, 0.0), expected, near).is_some());
        assert_eq!(hint(DType::F32, close(1e-6, 0.0), expected, near), None);
        assert_eq!(hint(DType::F32, close(1e-9, 0.0), expected, f32_bits(510.0)), None);
        assert_eq!(hint(DType::F32, Tolerance::Exact, expected, f32_bits(f32::NAN)), None);
        assert_eq!(hint(DType::I32, Tolerance::Exact, 4, 5), None);
        let bf16_bits = |value: f32| u64::from(value.to_bits() >> 16);
        let words = hint(DType::BF16, close(0.0, 0.06), bf16_bits(18.0), bf16_bits(18.125)).unwrap();
        assert!(words.contains("bf16: neighbours differ by 1.2e-1"), "{words}");
        assert!(hint(DType::F64, Tolerance::Exact, 1.0f64.to_bits(), 1.0f64.to_bits() + 1).is_some());
        assert!(hint(DType::F16, Tolerance::Exact, 0x3c00, 0x3c01).is_some());
        assert_eq!(
            hint(DType::F32, Tolerance::Exact, 0, f32_bits(1.0)),
            None,
            "zero has the least step"
        );
    }

    #[test]
    fn scratch_memory_may_be_what_was_not_written() {
        let tensor = |role| Tensor {
            name: "y".to_owned(),
            dtype: DType::F32,
            shape: vec![4],
            role,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        };
        let output = OutputFacts {
            elements: 4,
            unwritten: 4,
            ..bytemuck::Zeroable::zeroed()
        };
        let words = |role, scratch: &[u64]| wrong_output(Cause::Unwritten, &tensor(role), scratch, &output, 1, None);
        assert!(!words(Role::Output, &[]).contains("scratch"));
        assert!(words(Role::Output, &[64]).contains("outputs and scratch memory start as noise"));
        assert!(!words(Role::InOut, &[64]).contains("hint"));
    }

    #[test]
    fn out_of_bounds_bytes_are_rounded_to_elements_and_the_first_is_named() {
        let messages = [
            written(&[1000], 3, 4001),
            written(&[1000], 8, 4000),
            written(&[1000], 4, 4008),
            written(&[1000], 4, -4),
            written(&[10, 100], 4, 4000),
        ];
        assert_eq!(
            messages,
            [
                "about 4 bytes were written out of bounds in call 2, the first right after the end of `y`, where `y[1000]` would be",
                "8 bytes were written out of bounds in call 2, the first right after the end of `y`, where `y[1000]` would be",
                "4 bytes were written out of bounds in call 2, the first 8 bytes past the end of `y`, where `y[1002]` would be",
                "4 bytes were written out of bounds in call 2, the first 4 bytes before the start of `y`",
                "4 bytes were written out of bounds in call 2, the first right after the end of `y`",
            ]
        );
    }
}
