//! `gb_digest`: the output digest and the early check; also `gb_stamp` and `gb_flush`.

#![allow(unsafe_code)]

mod driver;

use driver::{GEOMETRIES, address, address_mut, launch, recommended};
use gpubench_harness::arguments::{DigestArguments, DigestKeys, FlushArguments, StampArguments};
use gpubench_harness::bindings::{GB_FLUSH_READ, GB_FLUSH_WRITE};
use gpubench_harness::{Geometry, Kernel};
use proptest::prelude::*;

fn digest_of(data: &[u8], keys: DigestKeys, tile_bytes: u64, tiles: u64, geometry: Geometry) -> u64 {
    let mut out = 0_u64;
    let arguments = DigestArguments {
        ptr: address(data),
        bytes: data.len() as u64,
        keys: std::ptr::from_ref(&keys) as u64,
        tile_bytes,
        tiles,
        out: std::ptr::from_mut(&mut out) as u64,
    };
    // SAFETY: the data, the keys and the sum outlive the launch.
    unsafe { launch(&arguments, geometry) };
    out
}

fn keys(digest: u64) -> DigestKeys {
    DigestKeys { digest, order: !digest }
}

fn data(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|i| driver::noise_byte(8, i)).collect()
}

#[test]
fn the_digest_of_all_tiles_is_independent_of_geometry_tiles_and_order() {
    for bytes in [1, 7, 8, 9, 16, 1000, 4096, 4100, 50_003] {
        let data = data(bytes);
        let expected = digest_of(&data, keys(1), 4096, 0, GEOMETRIES[0]);
        for geometry in GEOMETRIES {
            for tile_bytes in [16, 48, 1024, 4096, 8192, 1 << 20] {
                let order = DigestKeys {
                    digest: 1,
                    order: tile_bytes,
                };
                assert_eq!(
                    digest_of(&data, order, tile_bytes, 0, geometry),
                    expected,
                    "{bytes} bytes, {geometry:?}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn any_flipped_bit_changes_the_digest(bytes in 1_usize..9000, place: prop::sample::Index, bit in 0_u32..8, key: u64, g in 0_usize..6) {
        let mut data = data(bytes);
        let before = digest_of(&data, keys(key), 1024, 0, GEOMETRIES[g]);
        data[place.index(bytes)] ^= 1 << bit;
        prop_assert_ne!(digest_of(&data, keys(key), 1024, 0, GEOMETRIES[g]), before);
    }

    #[test]
    fn exchanged_words_change_the_digest(one: prop::sample::Index, other: prop::sample::Index, key: u64) {
        let mut data = data(8000);
        let before = digest_of(&data, keys(key), 1024, 0, GEOMETRIES[0]);
        let (one, other) = (8 * one.index(1000), 8 * other.index(1000));
        prop_assume!(one != other);
        for byte in 0..8 {
            data.swap(one + byte, other + byte);
        }
        prop_assert_ne!(digest_of(&data, keys(key), 1024, 0, GEOMETRIES[0]), before);
    }
}

#[test]
fn every_bit_of_a_small_buffer_changes_the_digest_differently() {
    let mut data = data(250);
    let mut digests = vec![digest_of(&data, keys(6), 64, 0, GEOMETRIES[0])];
    for bit in 0..2000 {
        data[bit / 8] ^= 1 << (bit % 8);
        digests.push(digest_of(&data, keys(6), 64, 0, GEOMETRIES[0]));
        data[bit / 8] ^= 1 << (bit % 8);
    }
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 2001);
}

#[test]
fn the_key_decides_the_digest() {
    let data = data(5000);
    let digests: std::collections::HashSet<u64> = (0..1000)
        .map(|key| digest_of(&data, keys(key), 4096, 0, GEOMETRIES[0]))
        .collect();
    assert_eq!(digests.len(), 1000);
}

#[test]
fn equal_words_do_not_cancel() {
    // Constant buffers of each length. No two have the same digest.
    let zeros = vec![0_u8; 8000];
    let digests: std::collections::HashSet<u64> = (1..=1000)
        .map(|words| digest_of(&zeros[..8 * words], keys(1), 4096, 0, GEOMETRIES[0]))
        .collect();
    assert_eq!(digests.len(), 1000);
}

#[test]
fn a_sample_sees_exactly_its_tiles() {
    let mut data = data(100 * 64 - 3);
    let order = DigestKeys { digest: 1, order: 2 };
    let sampled = |data: &[u8], tiles, geometry| digest_of(data, order, 64, tiles, geometry);
    for tiles in [1, 10, 99, 100, 1000] {
        let before = sampled(&data, tiles, GEOMETRIES[0]);
        for geometry in GEOMETRIES {
            assert_eq!(sampled(&data, tiles, geometry), before);
        }
        let mut seen = 0;
        for tile in 0..100 {
            data[64 * tile] ^= 1;
            seen += u64::from(sampled(&data, tiles, GEOMETRIES[0]) != before);
            data[64 * tile] ^= 1;
        }
        assert_eq!(seen, tiles.min(100));
    }
}

#[test]
fn another_order_key_samples_other_tiles() {
    let data = data(1000 * 64);
    let samples: std::collections::HashSet<u64> = (0..100)
        .map(|order| digest_of(&data, DigestKeys { digest: 1, order }, 64, 10, GEOMETRIES[0]))
        .collect();
    assert_eq!(samples.len(), 100);
}

#[test]
fn a_digest_is_added_to_the_existing_sum() {
    let data = data(100);
    let mut out = 41_u64;
    let keys = keys(3);
    let arguments = DigestArguments {
        ptr: address(&data),
        bytes: 100,
        keys: std::ptr::from_ref(&keys) as u64,
        tile_bytes: 16,
        tiles: 0,
        out: std::ptr::from_mut(&mut out) as u64,
    };
    // SAFETY: the data, the keys and the sum outlive the launch.
    unsafe { launch(&arguments, GEOMETRIES[2]) };
    assert_eq!(out, digest_of(&data, keys, 16, 0, GEOMETRIES[0]).wrapping_add(41));
}

#[test]
fn a_read_flush_writes_nothing_and_a_write_flush_writes_the_whole_buffer() {
    for geometry in GEOMETRIES {
        let mut buffer = vec![u64::MAX; 2051];
        let mut sink = 5_u64;
        let mut arguments = FlushArguments {
            ptr: address_mut(&mut buffer),
            bytes: 2050 * 8,
            sink: std::ptr::from_mut(&mut sink) as u64,
            kind: GB_FLUSH_READ,
            reserved: 0,
        };
        // SAFETY: the buffer and the sink outlive the launches.
        unsafe { launch(&arguments, geometry) };
        assert!(buffer.iter().all(|&word| word == u64::MAX) && sink == 5);
        arguments.kind = GB_FLUSH_WRITE;
        // SAFETY: as above.
        unsafe { launch(&arguments, geometry) };
        assert!(buffer[..2050].iter().all(|&word| word != u64::MAX));
        assert_eq!(buffer[2050], u64::MAX);
    }
}

#[test]
fn stamps_follow_the_monotonic_clock() {
    let mut stamps = [0_u64; 3];
    for stamp in &mut stamps {
        let arguments = StampArguments {
            out: std::ptr::from_mut(stamp) as u64,
        };
        // SAFETY: the stamp outlives the launch.
        unsafe { launch(&arguments, recommended(Kernel::Stamp, 8)) };
    }
    assert!(stamps[0] > 0 && stamps.is_sorted());
}
