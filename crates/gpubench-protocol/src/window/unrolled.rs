//! A recording of several calls, each with its own tensors.

use std::num::NonZeroU32;

use gpubench::catalog::{Recording, Reference};
use gpubench::plan::{Argument, BufferId, Dependence, Launch, Plan, Span, Step};

/// Returns the recording of `calls` calls of a recorded case, one after the other. Each call has
/// its own tensors and scratch, so its inputs are new, its caches hold nothing of them, and its
/// outputs can be checked when all calls have ended.
///
/// The tensors of call `k`, counted from 1, have `@k` after their names. The declared work stays
/// that of one call.
pub fn unrolled(recording: &Recording, calls: NonZeroU32) -> Recording {
    let numbers = 0..calls.get();
    let tensors = numbers.clone().flat_map(|call| {
        recording.tensors.iter().map(move |tensor| {
            let mut tensor = tensor.clone();
            if calls.get() > 1 {
                tensor.name = format!("{}@{}", tensor.name, call + 1);
            }
            tensor
        })
    });
    let count = recording.tensors.len() as u32;
    Recording {
        tensors: tensors.collect(),
        work: recording.work.clone(),
        plan: repeated(&recording.plan, calls, count),
        reference: match &recording.reference {
            reference @ (Reference::Author | Reference::Checked | Reference::Provider(_)) => reference.clone(),
            Reference::Plan(plan) => Reference::Plan(repeated(plan, calls, count)),
        },
        execution: recording.execution,
        // Of the tensors of one call.
        call: recording.call.clone(),
    }
}

/// Returns the name that a tensor of the first of `calls` calls has in a recording of one call.
pub fn name_of_one_call(name: &str, calls: NonZeroU32) -> &str {
    match calls {
        NonZeroU32::MIN => name,
        _ => name.strip_suffix("@1").unwrap_or(name),
    }
}

/// Returns the plan of `calls` calls with `tensors` tensors each.
fn repeated(plan: &Plan, calls: NonZeroU32, tensors: u32) -> Plan {
    let scratch = plan.scratch.len() as u32;
    let steps = (0..calls.get()).flat_map(|call| {
        let of_call = move |buffer| match buffer {
            BufferId::Tensor(position) => BufferId::Tensor(call * tensors + position),
            BufferId::Scratch(position) => BufferId::Scratch(call * scratch + position),
        };
        let mut steps: Vec<Step> = plan.steps.iter().map(|step| with_buffers(step, &of_call)).collect();
        start_after_previous(&mut steps);
        steps
    });
    Plan {
        steps: steps.collect(),
        scratch: plan.scratch.repeat(calls.get() as usize),
        constants: plan.constants.clone(),
    }
}

/// Makes the first launch of a call start when the previous call has ended, so that calls do not
/// overlap more than they do in a program that does not know of them.
fn start_after_previous(steps: &mut [Step]) {
    let first = steps.iter_mut().find_map(|step| match step {
        Step::Launch(launch) => Some(launch),
        Step::Memset { .. } | Step::Copy { .. } => None,
    });
    if let Some(launch) = first {
        launch.dependence = Dependence::Complete;
    }
}

fn with_buffers(step: &Step, of_call: &impl Fn(BufferId) -> BufferId) -> Step {
    let moved = |span: &Span| Span {
        buffer: of_call(span.buffer),
        ..*span
    };
    match step {
        Step::Launch(launch) => {
            let mut launch: Launch = launch.clone();
            for argument in &mut launch.arguments {
                match argument {
                    Argument::Pointer { buffer, .. } | Argument::TensorMap { buffer, .. } => *buffer = of_call(*buffer),
                    Argument::Value(_) => {}
                }
            }
            Step::Launch(launch)
        }
        Step::Memset { target, value } => Step::Memset {
            target: moved(target),
            value: *value,
        },
        Step::Copy { source, target } => Step::Copy {
            source: moved(source),
            target: moved(target),
        },
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Execution, Fill, Role, Tensor, Tolerance, Work};
    use gpubench::plan::{Cooperation, KernelRef};

    use super::*;

    fn tensor(name: &str, role: Role) -> Tensor {
        Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![4],
            role,
            fill: Fill::Bits,
            tolerance: Tolerance::Exact,
            record: None,
        }
    }

    fn span(buffer: BufferId) -> Span {
        Span {
            buffer,
            offset: 4,
            len: 8,
        }
    }

    fn pointer(buffer: BufferId) -> Argument {
        Argument::Pointer { buffer, offset: 8 }
    }

    fn launch(arguments: Vec<Argument>) -> Step {
        Step::Launch(Launch {
            kernel: KernelRef {
                source: 0,
                name: "add".to_owned(),
            },
            grid: [1; 3],
            block: [32, 1, 1],
            cluster: [1; 3],
            dynamic_shared: 0,
            cooperation: Cooperation::Independent,
            dependence: Dependence::Programmatic,
            arguments,
            types: Vec::new(),
            place: "lib.rs:1".to_owned(),
        })
    }

    fn recording() -> Recording {
        let (x, y, sums) = (BufferId::Tensor(0), BufferId::Tensor(1), BufferId::Scratch(0));
        let plan = Plan {
            steps: vec![
                Step::Memset {
                    target: span(sums),
                    value: 0,
                },
                launch(vec![pointer(x), Argument::Value(vec![1]), pointer(sums)]),
                launch(vec![pointer(sums), pointer(y)]),
                Step::Copy {
                    source: span(x),
                    target: span(y),
                },
            ],
            scratch: vec![64],
            constants: Vec::new(),
        };
        Recording {
            tensors: vec![tensor("x", Role::Input), tensor("y", Role::Output)],
            work: Work {
                bytes: Some(32),
                flops: None,
                counters: Vec::new(),
            },
            reference: Reference::Plan(plan.clone()),
            plan,
            execution: Execution::Sealed,
            call: None,
        }
    }

    fn calls(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    /// The buffers of each step, in order.
    fn buffers(plan: &Plan) -> Vec<Vec<BufferId>> {
        let of_step = |step: &Step| match step {
            Step::Launch(launch) => launch.buffers(),
            Step::Memset { target, .. } => vec![target.buffer],
            Step::Copy { source, target } => vec![source.buffer, target.buffer],
        };
        plan.steps.iter().map(of_step).collect()
    }

    #[test]
    fn every_call_has_its_own_tensors_and_scratch() {
        let twice = unrolled(&recording(), calls(2));
        let names: Vec<_> = twice.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        assert_eq!(names, ["x@1", "y@1", "x@2", "y@2"]);
        let [x, y, sums] = [BufferId::Tensor(2), BufferId::Tensor(3), BufferId::Scratch(1)];
        for plan in [&twice.plan, twice.reference.plan().unwrap()] {
            assert_eq!(buffers(plan)[..4], buffers(&recording().plan));
            assert_eq!(
                buffers(plan)[4..],
                [vec![sums], vec![x, sums], vec![sums, y], vec![x, y]]
            );
            assert_eq!(plan.scratch, [64, 64]);
        }
        assert_eq!(twice.work, recording().work);
    }

    #[test]
    fn a_call_does_not_overlap_the_previous_one() {
        let twice = unrolled(&recording(), calls(2));
        let dependences: Vec<_> = twice.plan.launches().map(|launch| launch.dependence).collect();
        let of_call = [Dependence::Complete, Dependence::Programmatic];
        assert_eq!(dependences, [of_call, of_call].concat());
    }

    #[test]
    fn one_call_keeps_its_names() {
        assert_eq!(unrolled(&recording(), calls(1)).tensors, recording().tensors);
    }
}
