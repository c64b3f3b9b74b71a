//! The allocations that the workers of a case map.

use gpubench::catalog::Tensor;

/// The allocations that the workers of a case map. All sides read the same inputs. Each has outputs
/// and scratch of its own, which no other side maps: a side cannot spoil another's answers.
///
/// The first side's tensors come first, then the outputs of each further side, then the scratch of
/// each side. An in-out tensor is an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocations {
    /// The positions of each side's buffers: its tensors, then its scratch.
    of_sides: Vec<Vec<usize>>,
    /// Number of allocations of tensors.
    tensors: usize,
    /// Number of all allocations.
    number: usize,
}

impl Allocations {
    /// Returns the allocations for `tensors`, and for the scratch of sides that have as many scratch
    /// allocations as `scratch` says.
    pub fn of(tensors: &[Tensor], scratch: impl IntoIterator<Item = usize>) -> Allocations {
        let mut number = tensors.len();
        let mut next = || {
            number += 1;
            number - 1
        };
        let scratch: Vec<usize> = scratch.into_iter().collect();
        let mut of_sides: Vec<Vec<usize>> = Vec::with_capacity(scratch.len());
        for side in 0..scratch.len() {
            let tensors = tensors.iter().enumerate();
            let own = tensors.map(|(position, tensor)| match side > 0 && tensor.role.is_output() {
                true => next(),
                false => position,
            });
            of_sides.push(own.collect());
        }
        let tensors = number;
        for (side, scratch) in of_sides.iter_mut().zip(scratch) {
            side.extend(number..number + scratch);
            number += scratch;
        }
        Allocations {
            of_sides,
            tensors,
            number,
        }
    }

    /// Returns the number of allocations.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the positions of the buffers of each side: its tensors, then its scratch.
    pub fn of_sides(&self) -> &[Vec<usize>] {
        &self.of_sides
    }

    /// Returns the positions of the tensors of all sides.
    pub fn tensors(&self) -> Vec<usize> {
        (0..self.tensors).collect()
    }

    /// Returns the allocations in their order: the first side that has it, and its position among
    /// the buffers of that side.
    pub fn first_uses(&self) -> Vec<(usize, usize)> {
        let mut uses = vec![None; self.number];
        for (side, positions) in self.of_sides.iter().enumerate() {
            for (index, position) in positions.iter().enumerate() {
                uses[*position].get_or_insert((side, index));
            }
        }
        uses.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Fill, Role, Tolerance};

    use super::*;

    fn tensors(roles: &[Role]) -> Vec<Tensor> {
        let tensor = |role: &Role| Tensor {
            name: "x".to_owned(),
            dtype: DType::U8,
            shape: vec![1],
            role: *role,
            fill: Fill::Bits,
            tolerance: Tolerance::Exact,
        };
        roles.iter().map(tensor).collect()
    }

    #[test]
    fn a_case_alone_has_its_tensors_and_then_its_scratch() {
        let alone = Allocations::of(&tensors(&[Role::Input, Role::Output]), [2]);
        assert_eq!(alone.of_sides(), [vec![0, 1, 2, 3]]);
        assert_eq!(alone.number(), 4);
        assert_eq!(alone.first_uses(), [(0, 0), (0, 1), (0, 2), (0, 3)]);
    }

    #[test]
    fn sides_share_inputs_and_constants_and_nothing_else() {
        let roles = [Role::Output, Role::Input, Role::InOut, Role::Constant];
        let three = Allocations::of(&tensors(&roles), [1, 0, 2]);
        assert_eq!(
            three.of_sides(),
            [vec![0, 1, 2, 3, 8], vec![4, 1, 5, 3], vec![6, 1, 7, 3, 9, 10]]
        );
        assert_eq!(three.number(), 11);
        assert_eq!(three.tensors(), (0..8).collect::<Vec<_>>());
        assert_eq!(three.first_uses()[4..9], [(1, 0), (1, 2), (2, 0), (2, 2), (0, 4)]);
    }
}
