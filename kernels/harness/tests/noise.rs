//! `gb_noise` and `gb_noise_check`: poison, and the noise in redzones.

#![allow(unsafe_code)]

mod driver;

use driver::{GEOMETRIES, address, address_mut, launch, noise_byte};
use gpubench_harness::arguments::{NoiseArguments, NoiseCheckArguments, NoisePartial};
use gpubench_harness::{Geometry, NoiseSummary, SummaryError};
use proptest::prelude::*;

const FRAME: usize = 64;

/// Returns `bytes` bytes of noise from `offset`, written `shift` bytes off alignment. Checks that
/// nothing around them is touched.
fn noise(bytes: usize, key: u64, offset: u64, shift: usize, geometry: Geometry) -> Vec<u8> {
    let mut memory = vec![0xa5_u8; bytes + 2 * FRAME];
    let arguments = NoiseArguments {
        out: address_mut(&mut memory[FRAME + shift..]),
        bytes: bytes as u64,
        key,
        offset,
    };
    // SAFETY: the bytes lie inside `memory`, because the shift is smaller than the frame.
    unsafe { launch(&arguments, geometry) };
    let (before, rest) = memory.split_at(FRAME + shift);
    let (written, after) = rest.split_at(bytes);
    assert!(before.iter().chain(after).all(|&byte| byte == 0xa5), "written outside");
    written.to_vec()
}

fn check(
    bytes: &[u8],
    key: u64,
    offset: u64,
    geometry: Geometry,
    partials: usize,
) -> Result<NoiseSummary, SummaryError> {
    let mut memory = vec![
        NoisePartial {
            checked: 1 << 60,
            different: 9,
            first: 0,
            last: 0
        };
        partials
    ];
    let arguments = NoiseCheckArguments {
        ptr: address(bytes),
        bytes: bytes.len() as u64,
        key,
        offset,
        partials: address_mut(&mut memory),
        partial_count: partials as u64,
    };
    // SAFETY: `bytes` and `memory` have the lengths in the arguments.
    unsafe { launch(&arguments, geometry) };
    NoiseSummary::fold(&memory, bytes.len() as u64)
}

#[test]
fn a_byte_depends_only_on_the_key_and_its_position() {
    for (bytes, offset, shift) in [
        (0, 5, 0),
        (1, 0, 0),
        (1, 4095, 1),
        (15, 3, 7),
        (4096, 0, 0),
        (4097, 4095, 3),
        (20_000, 12_345, 5),
    ] {
        let expected: Vec<u8> = (0..bytes).map(|i| noise_byte(77, offset + i as u64)).collect();
        for geometry in GEOMETRIES {
            assert_eq!(
                noise(bytes, 77, offset, shift, geometry),
                expected,
                "{bytes} bytes from {offset}, {geometry:?}"
            );
        }
    }
}

#[test]
fn streams_continue_beyond_32_bits_of_blocks() {
    let offset = (1_u64 << 36) - 100;
    let expected: Vec<u8> = (0..200).map(|i| noise_byte(1, offset + i)).collect();
    assert_eq!(noise(200, 1, offset, 0, GEOMETRIES[1]), expected);
}

proptest! {
    #[test]
    fn untouched_noise_is_recognised(bytes in 0_usize..10_000, key: u64, offset in 0_u64..1 << 40, shift in 0_usize..16, g in 0_usize..6, partials in 1_usize..40) {
        let written = noise(bytes, key, offset, shift, GEOMETRIES[g]);
        let summary = check(&written, key, offset, GEOMETRIES[5 - g], partials);
        prop_assert_eq!(summary, Ok(NoiseSummary { bytes: bytes as u64, different: 0, extent: None }));
    }

    #[test]
    fn a_single_changed_bit_is_found_at_its_place(bytes in 1_usize..10_000, place: prop::sample::Index, bit in 0_u32..8, offset in 0_u64..100_000, g in 0_usize..6, partials in 1_usize..40) {
        let mut written = noise(bytes, 3, offset, 0, GEOMETRIES[0]);
        let place = place.index(bytes);
        written[place] ^= 1 << bit;
        let summary = check(&written, 3, offset, GEOMETRIES[g], partials);
        prop_assert_eq!(summary, Ok(NoiseSummary { bytes: bytes as u64, different: 1, extent: Some((place as u64, place as u64)) }));
    }

    #[test]
    fn every_changed_byte_is_counted(places in prop::collection::btree_set(0_usize..9000, 1..50), g in 0_usize..6) {
        let mut written = noise(9000, 3, 1, 0, GEOMETRIES[0]);
        for &place in &places {
            written[place] = !written[place];
        }
        let extent = Some((*places.first().expect("not empty") as u64, *places.last().expect("not empty") as u64));
        prop_assert_eq!(check(&written, 3, 1, GEOMETRIES[g], 7), Ok(NoiseSummary { bytes: 9000, different: places.len() as u64, extent }));
    }
}

#[test]
fn a_changed_byte_is_found_at_every_position_of_a_short_buffer() {
    for bytes in [1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 100] {
        for offset in [0, 1, 15, 16, 4095, 4096] {
            let whole = noise(bytes, 3, offset, 0, GEOMETRIES[0]);
            for place in 0..bytes {
                let mut changed = whole.clone();
                changed[place] = !changed[place];
                let expected = NoiseSummary {
                    bytes: bytes as u64,
                    different: 1,
                    extent: Some((place as u64, place as u64)),
                };
                let found = check(&changed, 3, offset, GEOMETRIES[place % 6], 1 + place % 3);
                assert_eq!(found, Ok(expected), "byte {place} of {bytes} from {offset}");
            }
        }
    }
}

#[test]
fn a_changed_byte_is_found_on_both_sides_of_every_border_of_a_long_buffer() {
    // Runs of the kernels start at multiples of 16 on a GPU, and of 4096 on the CPU device.
    let (bytes, offset) = (8_300, 5);
    let whole = noise(bytes, 3, offset, 0, GEOMETRIES[0]);
    for border in (0..bytes + 16).step_by(16) {
        for place in border.saturating_sub(2)..border + 2 {
            let Some(place) = place.checked_sub(offset as usize).filter(|place| *place < bytes) else {
                continue;
            };
            let mut changed = whole.clone();
            changed[place] = !changed[place];
            let found = check(&changed, 3, offset, GEOMETRIES[border / 16 % 6], 3).expect("complete");
            assert_eq!((found.different, found.extent), (1, Some((place as u64, place as u64))));
        }
    }
}

#[test]
fn another_key_or_position_gives_other_noise() {
    let written = noise(4096, 3, 0, 0, GEOMETRIES[0]);
    for (key, offset) in [(4, 0), (3, 16), (3, 1)] {
        let summary = check(&written, key, offset, GEOMETRIES[0], 1).expect("complete");
        assert!(summary.different > 4000, "{summary:?}");
    }
}

#[test]
fn an_incomplete_check_is_no_result() {
    let partial = |checked| NoisePartial {
        checked,
        different: 0,
        first: u64::MAX,
        last: u64::MAX,
    };
    let incomplete = Err(SummaryError::Incomplete {
        checked: 99,
        expected: 100,
    });
    assert_eq!(NoiseSummary::fold(&[partial(50), partial(49)], 100), incomplete);
    assert_eq!(
        NoiseSummary::fold(&[], 1),
        Err(SummaryError::Incomplete {
            checked: 0,
            expected: 1
        })
    );
    assert_eq!(
        NoiseSummary::fold(&[partial(u64::MAX), partial(2)], 1),
        Err(SummaryError::Inconsistent)
    );
    let nowhere = NoisePartial {
        different: 1,
        ..partial(100)
    };
    assert_eq!(NoiseSummary::fold(&[nowhere], 100), Err(SummaryError::Inconsistent));
}

#[test]
fn partials_are_read_from_memory_as_the_kernel_wrote_them() {
    let memory: Vec<u8> = [100_u64, 2, 7, 9].iter().flat_map(|word| word.to_ne_bytes()).collect();
    assert_eq!(
        NoiseSummary::from_memory(&memory, 100),
        Ok(NoiseSummary {
            bytes: 100,
            different: 2,
            extent: Some((7, 9))
        })
    );
    assert_eq!(
        NoiseSummary::from_memory(&memory[1..], 100),
        Err(SummaryError::Truncated { bytes: 31, partial: 32 })
    );
}
