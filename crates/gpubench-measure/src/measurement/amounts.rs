//! The work of a call: what the benchmark declares, or else what its tensors say.

use gpubench::catalog::{Counter, Recording, Role, Tensor, Work};
use gpubench_contract::{Amounts, BytesFrom};

/// Returns the work of one call. Without declared bytes, every input and output counts once, what
/// is read and overwritten twice, and scratch memory not at all.
pub(super) fn amounts(recording: &Recording) -> Amounts {
    let Work { bytes, flops, counters } = &recording.work;
    let declared = || bytes.map(|bytes| (bytes, BytesFrom::Declared));
    let counters = counters.iter();
    Amounts {
        bytes: declared().or_else(|| Some((tensor_bytes(&recording.tensors), BytesFrom::Tensors))),
        flops: *flops,
        counters: counters
            .map(|Counter { name, amount }| (name.clone(), *amount))
            .collect(),
    }
}

fn tensor_bytes(tensors: &[Tensor]) -> u64 {
    let passes = |tensor: &Tensor| match tensor.role {
        Role::Input | Role::Constant | Role::Output => 1,
        Role::InOut => 2,
        Role::Scratch => 0,
    };
    tensors
        .iter()
        .map(|tensor| tensor.bytes().saturating_mul(passes(tensor)))
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Fill, Tolerance};

    use super::*;

    fn tensor(role: Role, elements: u64) -> Tensor {
        Tensor {
            name: "x".into(),
            dtype: DType::F32,
            shape: vec![elements],
            role,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        }
    }

    #[test]
    fn tensors_count_as_often_as_a_call_must_touch_them() {
        let of = |role| tensor_bytes(&[tensor(role, 100)]);
        let counted = [Role::Input, Role::Constant, Role::Output, Role::InOut, Role::Scratch].map(of);
        assert_eq!(counted, [400, 400, 400, 800, 0]);
        assert_eq!(tensor_bytes(&[tensor(Role::Input, 100), tensor(Role::Output, 1)]), 404);
    }
}
