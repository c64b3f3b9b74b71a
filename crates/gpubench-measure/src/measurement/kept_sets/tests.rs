//! Tests of which sets are kept, and for whom.

use std::os::unix::fs::FileExt as _;

use super::*;

const SLOW: Duration = Duration::from_secs(60);

fn turn(side: usize, used: usize) -> Turn {
    Turn { side, used }
}

/// Returns the sets of a case with tensors of these sizes, and the memory of each.
fn sets(sizes: &[u64]) -> (KeptSets, Vec<File>) {
    let memories: Vec<File> = sizes.iter().map(|_| tempfile::tempfile().expect("a file")).collect();
    let part = |(memory, bytes): (&File, &u64)| Part {
        memory: memory.try_clone().expect("a descriptor"),
        offset: 16,
        bytes: *bytes,
    };
    let parts = memories.iter().zip(sizes).map(part).collect();
    (KeptSets::new(parts), memories)
}

fn fill(memories: &[File], value: u8) {
    for memory in memories {
        memory.write_all_at(&[value; 64], 0).expect("it is written");
    }
}

#[test]
fn a_kept_set_is_what_the_author_had_made_in_all_its_tensors() {
    let (mut sets, memories) = sets(&[8, 24]);
    for value in 1..=3 {
        fill(&memories, value);
        sets.keep(turn(0, value.into()), 100 + u32::from(value), SLOW);
    }
    for value in [2, 1, 3] {
        fill(&memories, 77);
        let set = sets.of(turn(0, value.into())).expect("it is kept");
        assert_eq!(set.window, 100 + u32::from(value));
        sets.restore(set).expect("it is restored");
        for (memory, bytes) in memories.iter().zip([8, 24]) {
            let mut found = [0; 64];
            memory.read_exact_at(&mut found, 0).expect("it is read");
            let expected: Vec<u8> = (0..64)
                .map(|at| if (16..16 + bytes).contains(&at) { value } else { 77 })
                .collect();
            assert_eq!(found[..], expected[..]);
        }
    }
}

#[test]
fn a_set_belongs_to_one_side_and_one_turn() {
    let (mut sets, memories) = sets(&[8]);
    fill(&memories, 1);
    sets.keep(turn(1, 4), 9, SLOW);
    for other in [turn(0, 4), turn(1, 3), turn(1, 5), turn(2, 4)] {
        assert!(sets.of(other).is_none(), "{other:?}");
    }
    assert!(sets.of(turn(1, 4)).is_some());
    assert_eq!([0, 1, 2].map(|side| sets.has_sets_of(side)), [false, true, false]);
}

#[test]
fn a_reference_that_is_faster_than_copies_is_computed_again() {
    for (bytes, micros, is_kept) in [(32, 999, false), (32, 1_000, true), (2 << 20, 2_000, false)] {
        let (mut sets, memories) = sets(&[bytes]);
        memories[0].set_len(16 + bytes).expect("it has a length");
        sets.keep(turn(0, 0), 1, Duration::from_micros(micros));
        assert_eq!(sets.of(turn(0, 0)).is_some(), is_kept, "{bytes} in {micros} µs");
    }
}

#[test]
fn a_reference_that_is_slow_at_times_only_is_computed_again() {
    let (mut sets, memories) = sets(&[32]);
    fill(&memories, 1);
    sets.keep(turn(0, 0), 1, SLOW);
    assert!(sets.of(turn(0, 0)).is_some());
    sets.keep(turn(0, 1), 2, SHORTEST / 2);
    sets.keep(turn(0, 2), 3, SLOW);
    assert!((0..3).all(|used| sets.of(turn(0, used)).is_none()));
}

#[test]
fn memory_limits_the_kept_sets_and_the_first_stay() {
    let (mut sets, memories) = sets(&[32]);
    fill(&memories, 1);
    sets.keep(turn(0, 0), 1, SLOW);
    sets.bytes_of_set = MOST_BYTES / 2 + 1;
    sets.keep(turn(0, 1), 2, SLOW);
    assert!(sets.of(turn(0, 0)).is_some() && sets.of(turn(0, 1)).is_none());
    assert_eq!(sets.room, Room::None);
}

#[test]
fn sets_that_cannot_be_written_are_not_kept() {
    let (mut sets, _) = sets(&[32]);
    // The memory is empty, so reading it fails.
    sets.keep(turn(0, 0), 1, SLOW);
    assert!(sets.of(turn(0, 0)).is_none());
    assert_eq!(sets.room, Room::None);
}
