//! What no kernel can get wrong in a way that the checks tell.

use std::fmt;

use gpubench::catalog::{Recording, Tensor, Tolerance};

use super::compared;
use crate::verdict::{WindowEvidence, element_value};
use gpubench_contract::{Check, ElementValue};
use gpubench_protocol::wire::{OtherAnswer, OutputFacts, WindowEnd};

/// Least number of comparisons before old answers or zeros count as passing. Outputs with few
/// values can be equal by chance.
pub(in super::super) const LEAST_CALLS: usize = 8;

/// Whether the check of an output accepts the answers to earlier calls.
pub(super) fn stale_output_passes(windows: &[&WindowEvidence], position: usize) -> Option<bool> {
    pass(windows, position, OutputFacts::old_answer)
}

/// Whether the check of an output accepts wrong answers of a kind. `None` if too few calls were
/// compared.
fn pass(windows: &[&WindowEvidence], position: usize, which: fn(&OutputFacts) -> OtherAnswer) -> Option<bool> {
    let asked = asked(windows, position, which);
    if asked.contains(&OtherAnswer::Fails) {
        return Some(false);
    }
    (asked.len() >= LEAST_CALLS).then_some(true)
}

/// Returns what the check of an output says of wrong answers of a kind, in each call that tried
/// one.
fn asked(windows: &[&WindowEvidence], position: usize, which: fn(&OutputFacts) -> OtherAnswer) -> Vec<OtherAnswer> {
    let outputs = windows.iter().filter_map(|window| window.facts.outputs().get(position));
    let answers = outputs.map(which);
    answers.filter(|answer| *answer != OtherAnswer::NotAsked).collect()
}

/// Whether the check of an output has accepted zeros, or old answers, in every call that tried
/// them. `tensors` are those of one call.
pub(in super::super) fn may_be_blind(tensors: &[Tensor], windows: &[&WindowEvidence]) -> bool {
    let has_inputs = tensors.iter().any(|tensor| tensor.role.is_input());
    let any_accepts = |which| {
        compared(tensors).any(|(position, _)| {
            let asked = asked(windows, position, which);
            !asked.is_empty() && !asked.contains(&OtherAnswer::Fails)
        })
    };
    any_accepts(OutputFacts::zeros) || has_inputs && any_accepts(OutputFacts::old_answer)
}

/// The outputs whose check accepts wrong answers. A strict check of one output says nothing about
/// another.
pub(super) struct AcceptedAnswers<'r> {
    /// How many outputs are compared.
    outputs: usize,
    /// Outputs that accept the right answers to other inputs.
    old: Vec<&'r Tensor>,
    /// Outputs that accept zeros where other values are expected.
    zeros: Vec<&'r Tensor>,
}

impl<'r> AcceptedAnswers<'r> {
    pub(super) fn of(
        tensors: &'r [Tensor],
        windows: &[&WindowEvidence],
        checks: &[Check],
        distinct_inputs: u64,
    ) -> AcceptedAnswers<'r> {
        let is_stale = |position: usize| {
            let check = checks.get(position);
            distinct_inputs > 1 && check.is_some_and(|check| check.stale_output_passes == Some(true))
        };
        let takes_zeros = |position: usize| pass(windows, position, OutputFacts::zeros) == Some(true);
        let outputs_that = |accept: &dyn Fn(usize) -> bool| -> Vec<&'r Tensor> {
            let outputs = compared(tensors).filter(|(position, _)| accept(*position));
            outputs.map(|(_, tensor)| tensor).collect()
        };
        AcceptedAnswers {
            outputs: compared(tensors).count(),
            old: outputs_that(&is_stale),
            zeros: outputs_that(&takes_zeros),
        }
    }

    /// Reports a kernel that nobody can judge: an output accepts both, or one of them and nobody
    /// chose its tolerance.
    pub(super) fn blindness(&self) -> Option<String> {
        let by_check = |output: &&&Tensor| output.tolerance == Tolerance::ByCheck;
        let by_check = [
            (self.old.iter().find(by_check), "the right answers to other inputs"),
            (self.zeros.iter().find(by_check), "zeros"),
        ];
        if let Some((Some(output), accepted)) = by_check.into_iter().find(|(output, _)| output.is_some()) {
            return Some(format!(
                "the check cannot judge this kernel: it also accepts {accepted} as `{}` (hint: compare it with the inputs, \
                 or add `reference = ..`)",
                output.name
            ));
        }
        let takes_zeros = |output: &&&Tensor| self.zeros.iter().any(|other| other.name == output.name);
        if let Some(output) = self.old.iter().find(takes_zeros) {
            let within = self.within(&[*output]);
            return Some(format!(
                "the check cannot judge this kernel: in every call the tolerance{within} also accepts zeros, and the right \
                 answers to other inputs (hint: tighten the tolerance, or choose inputs with larger answers that differ more)"
            ));
        }
        let is_default = |output: &&&Tensor| matches!(output.tolerance, Tolerance::Default { .. });
        let (output, accepted) = match (self.old.iter().find(is_default), self.zeros.iter().find(is_default)) {
            (Some(output), _) => (output, "the right answers to other inputs"),
            (None, Some(output)) => (output, "zeros"),
            (None, None) => return None,
        };
        Some(format!(
            "the check cannot judge this kernel: the tolerance that follows from the type and `reduction` also accepts \
             {accepted} as `{}` (hint: write `tolerance(..)` for numbers of this size)",
            output.name
        ))
    }

    /// Reports checks that accept a kernel that repeats an old answer for new inputs.
    pub(super) fn old_answers_pass(&self) -> Option<String> {
        (!self.old.is_empty()).then(|| {
            format!(
                "the tolerance{} also accepts the right answers to other inputs: a kernel that repeats an old answer would \
                 pass (hint: tighten the tolerance, or choose inputs that change the answer more)",
                self.within(&self.old)
            )
        })
    }

    /// Reports checks that accept a kernel that writes only zeros.
    pub(super) fn zeros_pass(&self) -> Option<String> {
        (!self.zeros.is_empty()).then(|| {
            format!(
                "the tolerance{} also accepts zeros where other values are expected: a kernel that writes only zeros would \
                 pass (hint: tighten the tolerance, or choose larger inputs)",
                self.within(&self.zeros)
            )
        })
    }

    /// Returns ` of ..` with the names of outputs, unless they are all.
    fn within(&self, outputs: &[&Tensor]) -> String {
        if outputs.len() == self.outputs {
            return String::new();
        }
        let names: Vec<String> = outputs.iter().map(|output| format!("`{}`", output.name)).collect();
        format!(" of {}", names.join(", "))
    }
}

/// Reports outputs that no call can get wrong in a way that the check tells: one that is never a
/// number, or outputs that all have one value whatever the inputs.
pub(super) fn blindness_of_constants(
    recording: &Recording,
    windows: &[&WindowEvidence],
    distinct_inputs: u64,
) -> Option<String> {
    let constants: Vec<Option<Constant<'_>>> = compared(&recording.tensors)
        .map(|(position, tensor)| Constant::of(tensor, windows, position))
        .collect();
    let never_numbers = constants.iter().flatten().find(|constant| !constant.is_number());
    if let Some(output) = never_numbers {
        return Some(format!(
            "the check cannot judge this kernel: {output}, as expected (hint: the inputs or the reference may be at fault; \
             choose inputs with finite answers)"
        ));
    }
    let constants: Vec<String> = constants
        .into_iter()
        .map(|constant| Some(constant?.to_string()))
        .collect::<Option<_>>()?;
    (distinct_inputs > 1 && !constants.is_empty()).then(|| {
        format!(
            "the check cannot judge this kernel, because one that ignores its inputs would pass: {} (hint: tighten the \
             tolerance, or choose inputs that change the answer more)",
            constants.join("; ")
        )
    })
}

/// An output whose elements all had one value in every call, and passed.
struct Constant<'r> {
    tensor: &'r Tensor,
    bits: u64,
    /// Largest distance from the expected values.
    farthest: f64,
}

impl Constant<'_> {
    /// Returns the output, if it is one. One call tells nothing.
    fn of<'r>(tensor: &'r Tensor, windows: &[&WindowEvidence], position: usize) -> Option<Constant<'r>> {
        let checked = windows.iter().filter(|window| window.facts.end == WindowEnd::Checked);
        let outputs: Vec<&OutputFacts> = checked
            .map(|window| window.facts.outputs().get(position))
            .collect::<Option<_>>()?;
        let bits = outputs.first()?.constant()?;
        let passed = |output: &&OutputFacts| output.constant() == Some(bits) && output.matched == output.elements;
        (outputs.len() > 1 && outputs.iter().all(passed)).then(|| Constant {
            tensor,
            bits,
            farthest: outputs.iter().map(|output| output.max_abs).fold(0.0, f64::max),
        })
    }

    fn value(&self) -> ElementValue {
        element_value(self.tensor.dtype, self.bits)
    }

    fn is_number(&self) -> bool {
        self.value().is_finite()
    }
}

impl fmt::Display for Constant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, value, farthest) = (&self.tensor.name, self.value(), self.farthest);
        write!(f, "every element of `{name}` was {value} in every call")?;
        match self.tensor.tolerance.bounds() {
            Some((rtol, atol)) if farthest > 0.0 => write!(
                f,
                ", and the expected values differ from it by at most {farthest:.3e}, which the tolerance allows (rtol \
                 {rtol:e}, atol {atol:e})"
            ),
            _ => Ok(()),
        }
    }
}
