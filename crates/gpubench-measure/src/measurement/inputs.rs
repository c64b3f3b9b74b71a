//! Inputs that the plan does not use.

use std::collections::HashSet;

use gpubench::catalog::{Fill, Recording, Role, Tensor};
use gpubench::plan::{BufferId, LibraryArgument, Step};

/// Returns a notice about inputs that no step of the plan uses, or no argument of a library's
/// function. The inputs that other host code uses are unknown. An empty input, or a call with
/// nothing to write, needs no use.
pub(super) fn unused_inputs(recording: &Recording) -> Option<String> {
    if recording.writes_nothing() {
        return None;
    }
    let (used, user, reader): (HashSet<BufferId>, _, _) = match (&recording.call, recording.execution.is_hosted()) {
        (Some(call), _) => (
            call.arguments.iter().filter_map(passed).collect(),
            "argument",
            "function",
        ),
        (None, true) => return None,
        (None, false) => (
            recording.plan.steps.iter().flat_map(buffers).collect(),
            "launch",
            "kernel",
        ),
    };
    // A kernel may have a constant tensor's values in a `__constant__` variable instead.
    let is_read = |role| role == Role::Input || role == Role::Constant && recording.plan.constants.is_empty();
    let tensors = (0..).zip(&recording.tensors);
    let unused = tensors.filter(|(position, tensor)| {
        is_read(tensor.role) && tensor.elements() > 0 && !used.contains(&BufferId::Tensor(*position))
    });
    let names: Vec<String> = unused.map(|(_, tensor)| format!("`{}`", tensor.name)).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(format!(
            "no {user} uses the input {name}: the {reader} does not read it"
        )),
        names => {
            let names = names.join(", ");
            Some(format!(
                "no {user} uses the inputs {names}: the {reader} does not read them"
            ))
        }
    }
}

/// Returns a notice about constants that are the contents of a file, as they are.
pub(super) fn stored_constants(recording: &Recording) -> Option<String> {
    let stored = recording.tensors.iter().filter(|tensor| tensor.fill == Fill::Stored);
    let mut names: Vec<String> = stored.map(|tensor| format!("`{}`", name_of(tensor))).collect();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "the contents of {} are those of a file in every run, so a kernel could know them without reading (hint: `.scaled(..)` or \
             `.with_noise(..)` changes them for each run)",
            names.join(", ")
        )
    })
}

/// Returns the name that a tensor has in a recording of one call.
fn name_of(tensor: &Tensor) -> &str {
    tensor.name.split_once('@').map_or(&tensor.name, |(name, _)| name)
}

fn passed(argument: &LibraryArgument) -> Option<BufferId> {
    match argument {
        LibraryArgument::Buffer { tensor, .. } => Some(BufferId::Tensor(*tensor)),
        LibraryArgument::Number { .. } | LibraryArgument::Null => None,
    }
}

fn buffers(step: &Step) -> Vec<BufferId> {
    match step {
        Step::Launch(launch) => launch.buffers(),
        Step::Memset { target, .. } => vec![target.buffer],
        Step::Copy { source, target } => vec![source.buffer, target.buffer],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::{DType, Execution, Reference, Tolerance, Work};
    use gpubench::plan::{ConstantValue, LibraryCall, Plan, Span};

    fn recording(execution: Execution, steps: Vec<Step>) -> Recording {
        let tensor = |name: &str, role| Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![8],
            role,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        };
        Recording {
            tensors: vec![
                tensor("x", Role::Input),
                tensor("weights", Role::Constant),
                tensor("y", Role::Output),
                tensor("partial", Role::Scratch),
            ],
            work: Work::default(),
            plan: Plan {
                steps,
                ..Plan::default()
            },
            execution,
            call: None,
            reference: Reference::Author,
        }
    }

    fn copy(from: u32) -> Step {
        let span = |tensor| Span {
            buffer: BufferId::Tensor(tensor),
            offset: 0,
            len: 32,
        };
        Step::Copy {
            source: span(from),
            target: span(2),
        }
    }

    #[test]
    fn constants_that_are_a_file_are_told_once() {
        let mut call = recording(Execution::Sealed, vec![]);
        assert_eq!(stored_constants(&call), None);
        for name in ["weights@1", "weights@2"] {
            let fill = Fill::Stored;
            let name = name.to_owned();
            call.tensors.push(Tensor {
                name,
                fill,
                ..call.tensors[1].clone()
            });
        }
        let told = stored_constants(&call).expect("a notice");
        assert!(
            told.starts_with("the contents of `weights` are those of a file in every run"),
            "{told}"
        );
    }

    #[test]
    fn inputs_that_no_step_uses_are_named() {
        let notice = |steps| unused_inputs(&recording(Execution::Sealed, steps));
        assert_eq!(
            notice(vec![copy(0)]).as_deref(),
            Some("no launch uses the input `weights`: the kernel does not read it")
        );
        assert_eq!(
            notice(vec![]).as_deref(),
            Some("no launch uses the inputs `x`, `weights`: the kernel does not read them")
        );
        assert_eq!(notice(vec![copy(0), copy(1)]), None);
        let mut by_variable = recording(Execution::Sealed, vec![copy(0)]);
        by_variable.plan.constants.push(ConstantValue {
            source: 0,
            symbol: "weights".to_owned(),
            bytes: vec![0; 4],
        });
        assert_eq!(unused_inputs(&by_variable), None);
        assert_eq!(unused_inputs(&recording(Execution::Hosted, vec![])), None);
    }

    #[test]
    fn an_empty_input_or_a_call_that_writes_nothing_needs_no_use() {
        let mut call = recording(Execution::Sealed, vec![]);
        call.tensors[0].shape = vec![0];
        let named = unused_inputs(&call).expect("the other is not empty");
        assert!(!named.contains("`x`") && named.contains("`weights`"), "{named}");
        let outputs = call.tensors.iter_mut().filter(|tensor| tensor.role.is_output());
        outputs.for_each(|output| output.shape = vec![0]);
        assert_eq!(unused_inputs(&call), None);
    }

    #[test]
    fn inputs_that_no_argument_of_a_library_is_are_named() {
        let mut calls = recording(Execution::Hosted, vec![]);
        let part = |tensor| LibraryArgument::Buffer {
            tensor,
            start: 1,
            elements: 2,
        };
        calls.call = Some(Box::new(LibraryCall {
            function: "solution".to_owned(),
            arguments: vec![part(2), LibraryArgument::Null, part(0)],
            place: "src/lib.rs:1".to_owned(),
        }));
        assert_eq!(
            unused_inputs(&calls).as_deref(),
            Some("no argument uses the input `weights`: the function does not read it")
        );
    }
}
