//! Computes the results of warp operations for lanes that wait for each other, without side
//! effects.

use super::abi::{Request, reduction, wait};

/// Lanes per warp.
pub(super) const LANES: usize = 32;

/// The state of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lane<'a> {
    /// It has returned, or the block has no such thread.
    Exited,
    /// It waits at a block barrier.
    AtBarrier,
    /// It waits for lanes of its warp.
    Waiting(&'a Request),
}

/// The next step of a warp in which no lane can run.
// The value is short-lived and on the stack: a box would cost more than its size.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    /// No lane waits for its warp.
    Idle,
    /// These lanes continue, each with its result.
    Proceed { lanes: u32, answers: [u64; LANES] },
    /// Lanes wait at an operation that other lanes of its mask never reach.
    Stuck { line: u32, mask: u32, arrived: u32 },
}

/// Finds the lanes that can continue.
pub(super) fn next_step(lanes: &[Lane<'_>; LANES]) -> NextStep {
    let mut present = 0u32;
    let mut waiting = 0u32;
    for (index, lane) in lanes.iter().enumerate() {
        present |= u32::from(!matches!(lane, Lane::Exited)) << index;
        waiting |= u32::from(matches!(lane, Lane::Waiting(_))) << index;
    }
    let mut unseen = waiting;
    let mut proceeding = 0;
    let mut answers = [0; LANES];
    let mut stuck = None;
    let mut at_active_mask = None;
    while unseen != 0 {
        let Lane::Waiting(leader) = lanes[unseen.trailing_zeros() as usize] else {
            break;
        };
        let group = group_of(leader, unseen, lanes);
        unseen &= !group;
        if leader.kind == wait::ACTIVE {
            at_active_mask.get_or_insert(group);
        } else if leader.mask & present == group {
            proceeding |= group;
            answer(leader, group, lanes, &mut answers);
        } else {
            stuck.get_or_insert(NextStep::Stuck {
                line: leader.line,
                mask: leader.mask,
                arrived: group.count_ones(),
            });
        }
    }
    match at_active_mask {
        _ if proceeding != 0 => NextStep::Proceed {
            lanes: proceeding,
            answers,
        },
        // This applies only if no other lane can continue: the lanes that are here by then are
        // active together.
        Some(group) => NextStep::Proceed {
            lanes: group,
            answers: [u64::from(group); LANES],
        },
        None => stuck.unwrap_or(NextStep::Idle),
    }
}

/// Returns the numbers of the lanes in a mask.
fn lanes_of(mask: u32) -> impl Iterator<Item = usize> + Clone {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// Returns the lanes among `candidates` that wait at the leader's operation. Warp barriers on
/// different lines match, as on a GPU; other operations do not.
fn group_of(leader: &Request, candidates: u32, lanes: &[Lane<'_>; LANES]) -> u32 {
    let joins = |lane: &usize| {
        let Lane::Waiting(request) = lanes[*lane] else {
            return false;
        };
        let same_operation = request.kind == leader.kind && request.mask == leader.mask;
        let same_place = request.line == leader.line || leader.kind == wait::WARP;
        let same_reduction = leader.kind != wait::REDUCE || request.arg == leader.arg;
        same_operation && same_place && same_reduction
    };
    lanes_of(candidates)
        .filter(joins)
        .fold(0, |group, lane| group | 1 << lane)
}

/// Writes the results for a group's lanes.
fn answer(leader: &Request, group: u32, lanes: &[Lane<'_>; LANES], answers: &mut [u64; LANES]) {
    let value = |lane: usize| match lanes[lane] {
        Lane::Waiting(request) => request.value,
        _ => 0,
    };
    match leader.kind {
        wait::SHUFFLE => {
            for lane in lanes_of(group) {
                let Lane::Waiting(request) = lanes[lane] else { continue };
                answers[lane] = offered(&lanes[request.arg as usize % LANES], request);
            }
        }
        wait::MATCH_ANY => {
            for lane in lanes_of(group) {
                let equal = lanes_of(group).filter(|&other| value(other) == value(lane));
                answers[lane] = equal.fold(0, |mask, other| mask | 1 << other);
            }
        }
        _ => {
            let same = answer_for_all(leader, group, &value);
            lanes_of(group).for_each(|lane| answers[lane] = same);
        }
    }
}

/// Returns the value that a shuffle reads from a lane. The manual leaves lanes outside of the mask
/// undefined. A GPU returns the value of a lane at the same shuffle, whatever its mask, and zero
/// for other lanes. Published kernels rely on it.
fn offered(source: &Lane<'_>, reader: &Request) -> u64 {
    match source {
        Lane::Waiting(request) if request.kind == wait::SHUFFLE && request.line == reader.line => request.value,
        _ => 0,
    }
}

/// Returns the result of an operation with the same result for all lanes.
fn answer_for_all(leader: &Request, group: u32, value: &dyn Fn(usize) -> u64) -> u64 {
    match leader.kind {
        wait::BALLOT => {
            let votes = lanes_of(group).fold(0, |votes, lane| votes | (value(lane) & 1) << lane);
            u64::from(group) << 32 | votes
        }
        wait::MATCH_ALL if lanes_of(group).all(|lane| value(lane) == leader.value) => u64::from(group),
        wait::REDUCE => {
            let values = lanes_of(group).map(|lane| value(lane) as u32);
            u64::from(values.reduce(combination(leader.arg)).unwrap_or(0))
        }
        _ => 0,
    }
}

fn combination(how: u32) -> fn(u32, u32) -> u32 {
    match how {
        reduction::ADD => u32::wrapping_add,
        reduction::MIN => u32::min,
        reduction::MAX => u32::max,
        reduction::AND => |a, b| a & b,
        reduction::OR => |a, b| a | b,
        reduction::XOR => |a, b| a ^ b,
        reduction::MIN_SIGNED => |a, b| (a as i32).min(b as i32) as u32,
        reduction::MAX_SIGNED => |a, b| (a as i32).max(b as i32) as u32,
        _ => |a, _| a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffle(mask: u32, source: u32, value: u64, line: u32) -> Lane<'static> {
        Lane::Waiting(Box::leak(Box::new(Request {
            kind: wait::SHUFFLE,
            line,
            mask,
            arg: source,
            value,
            thread: 0,
            reserved: 0,
            stack: 0,
            frame: 0,
            place: 0,
        })))
    }

    #[test]
    fn a_full_shuffle_exchanges_values() {
        let lanes = std::array::from_fn(|lane| shuffle(u32::MAX, (lane as u32 + 1) % 32, 100 + lane as u64, 7));
        let NextStep::Proceed { lanes, answers } = next_step(&lanes) else {
            panic!("the warp is stuck")
        };
        assert_eq!(lanes, u32::MAX);
        assert_eq!(answers[0], 101);
        assert_eq!(answers[31], 100);
    }

    #[test]
    fn a_lane_outside_of_the_mask_has_its_value_at_the_same_shuffle_and_zero_elsewhere() {
        let with_sources = |others: [Lane<'static>; 3]| {
            let mut lanes = [Lane::Exited; LANES];
            lanes[0] = shuffle(0b111, 3, 100, 7);
            lanes[1] = shuffle(0b111, 4, 101, 7);
            lanes[2] = shuffle(0b111, 5, 102, 7);
            lanes[3..6].copy_from_slice(&others);
            match next_step(&lanes) {
                NextStep::Proceed { answers, .. } => [answers[0], answers[1], answers[2]],
                other => panic!("{other:?}"),
            }
        };
        let elsewhere = [Lane::Exited, Lane::AtBarrier, shuffle(0b100000, 5, 105, 9)];
        assert_eq!(with_sources(elsewhere), [0, 0, 0]);
        let same = [3, 4, 5].map(|lane| shuffle(0b111000, lane, 100 + u64::from(lane), 7));
        assert_eq!(with_sources(same), [103, 104, 105]);
    }

    #[test]
    fn exited_lanes_are_not_waited_for() {
        let mut lanes = [Lane::Exited; LANES];
        lanes[3] = shuffle(u32::MAX, 3, 5, 7);
        assert!(matches!(next_step(&lanes), NextStep::Proceed { lanes: 8, .. }));
    }

    #[test]
    fn a_lane_at_a_barrier_blocks_an_operation_that_names_it() {
        let mut lanes = [Lane::AtBarrier; LANES];
        lanes[3] = shuffle(u32::MAX, 3, 5, 7);
        assert_eq!(
            next_step(&lanes),
            NextStep::Stuck {
                line: 7,
                mask: u32::MAX,
                arrived: 1
            }
        );
    }

    #[test]
    fn lanes_at_different_shuffles_are_not_one_group() {
        let lanes = std::array::from_fn(|lane| shuffle(u32::MAX, 0, 1, if lane < 16 { 7 } else { 9 }));
        assert_eq!(
            next_step(&lanes),
            NextStep::Stuck {
                line: 7,
                mask: u32::MAX,
                arrived: 16
            }
        );
    }

    #[test]
    fn a_lane_outside_its_own_mask_is_reported() {
        let lanes = std::array::from_fn(|_| shuffle(0xffff, 0, 1, 7));
        assert_eq!(
            next_step(&lanes),
            NextStep::Stuck {
                line: 7,
                mask: 0xffff,
                arrived: 32
            }
        );
    }

    #[test]
    fn a_warp_with_only_barriers_is_idle() {
        assert_eq!(next_step(&[Lane::AtBarrier; LANES]), NextStep::Idle);
    }
}
