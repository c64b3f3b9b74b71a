//! Whether cases have the same tensors and kind of time, so that they can be measured alternately.

use gpubench::catalog::{Fill, Record, Recording, Tensor, Tolerance};

/// A case's name for messages, and its recording or tensors.
type Named<'a, T> = (&'a str, &'a T);

/// Returns why two cases cannot share buffers, inputs and a reference, or have different kinds of
/// time; `None` if they can be measured alternately.
pub(in crate::broker) fn difference(theirs: Named<'_, Recording>, ours: Named<'_, Recording>) -> Option<String> {
    if theirs.1.execution.may_wait() != ours.1.execution.may_wait() {
        let (theirs, ours) = (theirs.0, ours.0);
        return Some(format!(
            "only one of {theirs} and {ours} is `hosted(sync)`, whose times are wall times"
        ));
    }
    difference_of_tensors((theirs.0, &theirs.1.tensors), (ours.0, &ours.1.tensors))
}

fn difference_of_tensors(
    (their_name, theirs): Named<'_, [Tensor]>,
    (our_name, ours): Named<'_, [Tensor]>,
) -> Option<String> {
    if theirs.len() != ours.len() {
        let (theirs, ours) = (theirs.len(), ours.len());
        return Some(format!("{their_name} has {theirs} tensors, {our_name} {ours}"));
    }
    let is_other = |theirs: &Tensor, ours: &Tensor| {
        !has_same_inputs(theirs, ours)
            || Tensor {
                fill: ours.fill.clone(),
                ..theirs.clone()
            } != *ours
    };
    let (theirs, ours) = theirs.iter().zip(ours).find(|(theirs, ours)| is_other(theirs, ours))?;
    let name = &ours.name;
    let what = if theirs.name != ours.name {
        return Some(format!("`{name}` is called `{}` in {their_name}", theirs.name));
    } else if (theirs.dtype, &theirs.shape) != (ours.dtype, &ours.shape) || layout(theirs) != layout(ours) {
        "a different type or shape"
    } else if theirs.role != ours.role {
        "a different role"
    } else if !has_same_inputs(theirs, ours) {
        "different inputs"
    } else {
        "a different tolerance"
    };
    Some(format!("`{name}` has {what} in {their_name}"))
}

/// Returns where the fields of a tensor's structs are, without their tolerances.
fn layout(tensor: &Tensor) -> Option<Record> {
    let mut record = (**tensor.record.as_ref()?).clone();
    record
        .fields
        .iter_mut()
        .for_each(|field| field.tolerance = Tolerance::Exact);
    Some(record)
}

/// All use the generator kernels of one. The sources of another revision may have other numbers.
fn has_same_inputs(theirs: &Tensor, ours: &Tensor) -> bool {
    theirs.fill == ours.fill || matches!((&theirs.fill, &ours.fill), (Fill::Kernel(_), Fill::Kernel(_)))
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Execution, Reference, Role, Tolerance};

    use super::*;

    fn tensor(name: &str) -> Tensor {
        Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![600],
            role: Role::Output,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        }
    }

    #[test]
    fn the_difference_between_two_cases_is_named() {
        let ours = [tensor("x"), tensor("y")];
        let reason_for = |theirs: &[Tensor]| difference_of_tensors(("the baseline", theirs), ("the candidate", &ours));
        assert_eq!(reason_for(&ours), None);
        assert_eq!(
            reason_for(&ours[..1]).unwrap(),
            "the baseline has 1 tensors, the candidate 2"
        );
        assert_eq!(
            reason_for(&[tensor("x"), tensor("z")]).unwrap(),
            "`y` is called `z` in the baseline"
        );
        let larger = Tensor {
            shape: vec![601],
            ..tensor("y")
        };
        assert_eq!(
            reason_for(&[tensor("x"), larger]).unwrap(),
            "`y` has a different type or shape in the baseline"
        );
        let input = Tensor {
            role: Role::InOut,
            ..tensor("y")
        };
        assert_eq!(
            reason_for(&[tensor("x"), input]).unwrap(),
            "`y` has a different role in the baseline"
        );
        let lenient = Tensor {
            tolerance: Tolerance::Close { rtol: 0.1, atol: 0.0 },
            ..tensor("y")
        };
        assert_eq!(
            reason_for(&[tensor("x"), lenient]).unwrap(),
            "`y` has a different tolerance in the baseline"
        );
    }

    #[test]
    fn wall_times_are_not_compared_with_times_of_the_device() {
        let of = |execution| Recording {
            tensors: Vec::new(),
            work: Default::default(),
            plan: Default::default(),
            reference: Reference::Author,
            execution,
            call: None,
        };
        let recordings = [Execution::Sealed, Execution::Hosted, Execution::HostedSync].map(of);
        let [sealed, hosted, from_outside] = &recordings;
        let reason = |theirs, ours| difference(("the baseline", theirs), ("the candidate", ours));
        assert_eq!(reason(sealed, hosted), None);
        assert_eq!(reason(from_outside, from_outside), None);
        assert_eq!(
            reason(hosted, from_outside).unwrap(),
            "only one of the baseline and the candidate is `hosted(sync)`, whose times are wall times"
        );
    }
}
