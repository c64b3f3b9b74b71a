//! The allocations that the workers of a case map.

use std::num::NonZeroU32;

use gpubench::catalog::Tensor;

/// The allocations that the workers of a case map. All sides read the same inputs. Each has outputs
/// and scratch of its own, which no other side maps: a side cannot spoil another's answers.
///
/// The first side's tensors come first, then the outputs of each further side, then the scratch of
/// each side. An in-out tensor is an output.
///
/// If a window has several calls, what is the same buffer in all of them lies in one piece of
/// memory: with one piece for each, hot calls would measure the translation of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocations {
    /// The positions of each side's buffers: its tensors, then its scratch.
    of_sides: Vec<Vec<usize>>,
    /// Number of allocations of tensors.
    tensors: usize,
    /// The position of the allocation in whose memory each lies: that of the first call.
    homes: Vec<usize>,
}

impl Allocations {
    /// Returns the allocations for the `tensors` of `calls` calls, and for the scratch of sides
    /// that have as many scratch allocations in all calls as `scratch` says.
    pub fn new(tensors: &[Tensor], calls: NonZeroU32, scratch: impl IntoIterator<Item = usize>) -> Allocations {
        let calls = calls.get() as usize;
        let of_call = tensors.len() / calls;
        let scratch: Vec<usize> = scratch.into_iter().collect();
        let mut homes: Vec<usize> = (0..tensors.len()).map(|position| position % of_call).collect();
        let mut of_sides: Vec<Vec<usize>> = Vec::with_capacity(scratch.len());
        for side in 0..scratch.len() {
            let mut own: Vec<usize> = Vec::with_capacity(tensors.len());
            for (index, tensor) in tensors.iter().enumerate() {
                if side == 0 || !tensor.role.is_output() {
                    own.push(index);
                    continue;
                }
                let position = homes.len();
                homes.push(if index < of_call {
                    position
                } else {
                    own[index % of_call]
                });
                own.push(position);
            }
            of_sides.push(own);
        }
        let tensors = homes.len();
        for (side, scratch) in of_sides.iter_mut().zip(scratch) {
            let first = homes.len();
            side.extend(first..first + scratch);
            homes.extend((0..scratch).map(|position| first + position % (scratch / calls)));
        }
        Allocations {
            of_sides,
            tensors,
            homes,
        }
    }

    /// Returns the number of allocations.
    pub fn number(&self) -> usize {
        self.homes.len()
    }

    /// Returns the number of pieces of memory that they lie in.
    pub fn memories(&self) -> usize {
        (0..self.number()).filter(|position| self.is_home(*position)).count()
    }

    /// Returns the position of the allocation in whose memory another lies; of most, its own.
    pub fn home_of(&self, position: usize) -> usize {
        self.homes[position]
    }

    /// Whether an allocation has memory of its own.
    pub fn is_home(&self, position: usize) -> bool {
        self.home_of(position) == position
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
        let mut uses = vec![None; self.number()];
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

    const ONE: NonZeroU32 = NonZeroU32::MIN;

    fn tensors(roles: &[Role]) -> Vec<Tensor> {
        let tensor = |role: &Role| Tensor {
            name: "x".to_owned(),
            dtype: DType::U8,
            shape: vec![1],
            role: *role,
            fill: Fill::Bits,
            tolerance: Tolerance::Exact,
            record: None,
        };
        roles.iter().map(tensor).collect()
    }

    #[test]
    fn a_case_alone_has_its_tensors_and_then_its_scratch() {
        let alone = Allocations::new(&tensors(&[Role::Input, Role::Output]), ONE, [2]);
        assert_eq!(alone.of_sides(), [vec![0, 1, 2, 3]]);
        assert_eq!(alone.number(), 4);
        assert_eq!(alone.first_uses(), [(0, 0), (0, 1), (0, 2), (0, 3)]);
    }

    #[test]
    fn sides_share_inputs_and_constants_and_nothing_else() {
        let roles = [Role::Output, Role::Input, Role::InOut, Role::Constant];
        let three = Allocations::new(&tensors(&roles), ONE, [1, 0, 2]);
        assert_eq!(
            three.of_sides(),
            [vec![0, 1, 2, 3, 8], vec![4, 1, 5, 3], vec![6, 1, 7, 3, 9, 10]]
        );
        assert_eq!(three.number(), 11);
        assert_eq!(three.tensors(), (0..8).collect::<Vec<_>>());
        assert_eq!(three.first_uses()[4..9], [(1, 0), (1, 2), (2, 0), (2, 2), (0, 4)]);
    }

    #[test]
    fn the_same_buffer_of_all_calls_of_a_side_lies_in_one_piece_of_memory() {
        let of_call = [Role::Input, Role::Output];
        let two_calls = tensors(&[of_call, of_call].concat());
        let two_sides = Allocations::new(&two_calls, NonZeroU32::new(2).unwrap(), [2, 4]);
        assert_eq!(
            two_sides.of_sides(),
            [vec![0, 1, 2, 3, 6, 7], vec![0, 4, 2, 5, 8, 9, 10, 11]]
        );
        let homes: Vec<usize> = (0..two_sides.number())
            .map(|position| two_sides.home_of(position))
            .collect();
        assert_eq!(homes, [0, 1, 0, 1, 4, 4, 6, 6, 8, 9, 8, 9]);
        assert_eq!(two_sides.memories(), 6);
    }
}
