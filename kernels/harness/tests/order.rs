//! The keyed permutation, and `gb_lines` and `gb_reveal`, which copy lines in its order.

#![allow(unsafe_code)]

mod driver;

use driver::{GEOMETRIES, address, address_mut, launch};
use gpubench_harness::Geometry;
use gpubench_harness::arguments::{LinesArguments, RevealArguments};
use proptest::prelude::*;

const LINE: usize = 128;

fn permuted(count: u64, key: u64, index: u64) -> u64 {
    unsafe extern "C" {
        fn gb_harness_permuted(count: u64, key: u64, index: u64) -> u64;
    }
    assert!(
        gpubench_harness::host_kernels().is_some(),
        "{:?}",
        gpubench_harness::HOST_BUILD
    );
    // SAFETY: a pure function of the host build, defined for every index below the count.
    unsafe { gb_harness_permuted(count, key, index) }
}

fn assert_permutation(count: u64, key: u64) {
    let mut seen = vec![false; count as usize];
    for index in 0..count {
        let place = permuted(count, key, index);
        assert!(place < count, "{index} of {count} goes to {place}");
        assert!(
            !std::mem::replace(&mut seen[place as usize], true),
            "{place} of {count} is visited twice"
        );
    }
}

#[test]
fn the_order_is_a_permutation_for_every_count() {
    for count in 1..=4000 {
        assert_permutation(count, count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    for count in [12_288, 15_625, 24_576, 65_535, 65_537, 100_000, 1_000_003] {
        assert_permutation(count, 5);
    }
}

proptest! {
    #[test]
    fn the_order_is_a_permutation_for_every_key(count in 1_u64..3000, key: u64) {
        assert_permutation(count, key);
    }

    #[test]
    fn large_counts_send_no_two_to_one_place(count in 1_u64 << 32..=u64::MAX, key: u64, start: u64) {
        let mut places: Vec<u64> = (0..500).map(|i| permuted(count, key, start.wrapping_add(i) % count)).collect();
        prop_assert!(places.iter().all(|&place| place < count));
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), 500);
    }
}

#[test]
fn every_position_can_come_first() {
    let mut counts = [0_u32; 100];
    for key in 0..100_000 {
        counts[permuted(100, key, 0) as usize] += 1;
    }
    // The expected count is 1000; the limit is six standard deviations.
    assert!(counts.iter().all(|count| count.abs_diff(1000) < 190), "{counts:?}");
}

/// Returns which lines of a buffer of `bytes` bytes were copied. Checks that each line is copied
/// whole or not at all.
fn copied(bytes: usize, key: u64, lines: u64, geometry: Geometry) -> Vec<usize> {
    let source = vec![1_u8; bytes + LINE];
    let mut target = vec![0_u8; bytes + LINE];
    let arguments = LinesArguments {
        target: address_mut(&mut target),
        source: address(&source),
        bytes: bytes as u64,
        key,
        lines,
    };
    // SAFETY: both buffers have `bytes` bytes.
    unsafe { launch(&arguments, geometry) };
    assert!(target[bytes..].iter().all(|&byte| byte == 0), "written past the end");
    let whole = |line: &[u8]| line.iter().all(|&byte| byte == line[0]);
    assert!(target[..bytes].chunks(LINE).all(whole), "a line was copied in part");
    target[..bytes]
        .chunks(LINE)
        .enumerate()
        .filter(|(_, line)| line[0] == 1)
        .map(|(index, _)| index)
        .collect()
}

proptest! {
    #[test]
    fn exactly_the_promised_lines_are_copied(bytes in 1_usize..60_000, lines in 0_u64..500, key: u64, g in 0_usize..6) {
        let total = bytes.div_ceil(LINE) as u64;
        let copied = copied(bytes, key, lines, GEOMETRIES[g]);
        prop_assert_eq!(copied.len() as u64, lines.min(total));
        let mut promised: Vec<usize> = (0..lines.min(total)).map(|k| permuted(total, key, k) as usize).collect();
        promised.sort_unstable();
        prop_assert_eq!(copied, promised);
    }
}

#[test]
fn all_lines_and_the_short_tail_are_copied_if_all_are_requested() {
    for bytes in [0_usize, 1, 127, 128, 129, 1000, 12_800, 12_801] {
        for geometry in GEOMETRIES {
            let all: Vec<usize> = (0..bytes.div_ceil(LINE)).collect();
            assert_eq!(copied(bytes, 4, u64::MAX / 128, geometry), all, "{bytes} bytes");
        }
    }
}

#[test]
fn a_reveal_reads_the_clock_and_copies_only_the_lines_of_its_buffers() {
    for geometry in GEOMETRIES {
        let sources: Vec<Vec<u8>> = (0..8)
            .map(|buffer| vec![1 + buffer; 1000 * (1 + buffer as usize)])
            .collect();
        let mut targets: Vec<Vec<u8>> = sources.iter().map(|source| vec![0; source.len()]).collect();
        let lines_of = |target: &mut Vec<u8>, source: &Vec<u8>| LinesArguments {
            target: address_mut(target),
            source: address(source),
            bytes: source.len() as u64,
            key: 7,
            lines: 3,
        };
        let mut clock = 0_u64;
        let mut reveal = RevealArguments {
            count: 7,
            out: std::ptr::from_mut(&mut clock) as u64,
            ..RevealArguments::default()
        };
        for (slot, (target, source)) in reveal.buffers.iter_mut().zip(targets.iter_mut().zip(&sources)) {
            *slot = lines_of(target, source);
        }
        // SAFETY: all buffers have the given sizes, and the clock has a word.
        unsafe { launch(&reveal, geometry) };
        assert_ne!(clock, 0);
        let mut alone: Vec<Vec<u8>> = sources.iter().map(|source| vec![0; source.len()]).collect();
        for (target, source) in alone.iter_mut().zip(&sources).take(7) {
            // SAFETY: both buffers have the given size.
            unsafe { launch(&lines_of(target, source), geometry) };
        }
        assert_eq!(targets, alone);
        assert!(targets[7].iter().all(|byte| *byte == 0), "no buffer of this reveal");
    }
}
