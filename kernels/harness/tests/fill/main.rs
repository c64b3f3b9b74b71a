//! `gb_fill`: inputs. This file tests the properties of all distributions; each distribution has a
//! module.

#![allow(unsafe_code)]

#[path = "../driver/mod.rs"]
mod driver;
mod elements;
mod integers;
mod normal;
mod uniform;

use driver::{GEOMETRIES, address_mut, launch, philox};
use elements::{SIZES, filled, normal, uniform, values};
use gpubench_harness::arguments::FillArguments;
use gpubench_harness::bindings::*;

#[test]
fn the_generator_yields_the_published_answers() {
    // Known-answer vectors of Random123 for Philox4x32-7.
    assert_eq!(
        philox([0; 4], [0; 2]),
        [0x5f6f_b709, 0x0d89_3f64, 0x4f12_1f81, 0x4f73_0a48]
    );
    assert_eq!(
        philox([!0; 4], [!0; 2]),
        [0x5207_ddc2, 0x4516_5e59, 0x4d8e_e751, 0x8c52_f662]
    );
    let pi = philox(
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
    );
    assert_eq!(pi, [0x4dfc_caba, 0x190a_87f0, 0xc473_62ba, 0xb6b5_242a]);

    let zero = FillArguments {
        len: 4,
        dtype: GB_U32,
        kind: GB_FILL_BITS,
        ..Default::default()
    };
    let words = filled(zero, GEOMETRIES[0]);
    assert_eq!(
        words,
        [0x5f6f_b709_u32, 0x0d89_3f64, 0x4f12_1f81, 0x4f73_0a48]
            .map(u32::to_le_bytes)
            .concat()
    );
}

#[test]
fn bits_are_the_generators_blocks_in_order() {
    let (key, tensor) = (0xfedc_ba98_7654_3210_u64, 17);
    let expected: Vec<u8> = (0..1000_u32)
        .flat_map(|block| philox([block, 0, tensor, 0], [key as u32, (key >> 32) as u32]))
        .flat_map(u32::to_le_bytes)
        .collect();
    for (dtype, size) in SIZES.iter().enumerate() {
        let arguments = FillArguments {
            len: (16_000 / size) as u64,
            dtype: dtype as u32,
            kind: GB_FILL_BITS,
            key,
            tensor,
            ..Default::default()
        };
        assert_eq!(filled(arguments, GEOMETRIES[3]), expected, "element type {dtype}");
    }
}

#[test]
fn elements_do_not_depend_on_the_geometry_or_the_length() {
    for dtype in 0..SIZES.len() as u32 {
        for kind in [GB_FILL_UNIFORM, GB_FILL_NORMAL, GB_FILL_INTEGERS, GB_FILL_BITS] {
            for span in [100, 1 << 33] {
                let whole = FillArguments {
                    kind,
                    span,
                    ..uniform(dtype, 5000, 0.0, 50.0)
                };
                let expected = filled(whole, GEOMETRIES[0]);
                for geometry in GEOMETRIES {
                    for len in [1, 2, 511, 1024, 4097, 5000] {
                        let part = filled(FillArguments { len, ..whole }, geometry);
                        assert_eq!(
                            part,
                            expected[..part.len()],
                            "type {dtype}, kind {kind}, {len} elements, {geometry:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn keys_and_tensors_have_separate_streams() {
    let first = FillArguments {
        kind: GB_FILL_BITS,
        ..uniform(GB_U64, 4096, 0.0, 1.0)
    };
    let mut all: Vec<u64> = [
        first,
        FillArguments {
            key: first.key + 1,
            ..first
        },
        FillArguments { tensor: 4, ..first },
    ]
    .into_iter()
    .flat_map(|arguments| filled(arguments, GEOMETRIES[3]))
    .collect::<Vec<u8>>()
    .chunks_exact(8)
    .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")))
    .collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 3 * 4096);
}

#[test]
fn values_outside_the_type_saturate() {
    for (dtype, low, high) in [
        (GB_U8, 0.0, 255.0),
        (GB_I8, -128.0, 127.0),
        (GB_I16, -32768.0, 32767.0),
        (GB_U32, 0.0, 4_294_967_295.0),
    ] {
        let values = values(FillArguments {
            kind: GB_FILL_NORMAL,
            ..uniform(dtype, 10_000, 0.0, 1e12)
        });
        assert!(values.contains(&low) && values.contains(&high), "type {dtype}");
        assert!(
            values.iter().all(|&value| low <= value && value <= high),
            "type {dtype}"
        );
    }
    let halves = values(FillArguments {
        kind: GB_FILL_NORMAL,
        ..uniform(GB_F16, 10_000, 0.0, 1e6)
    });
    assert!(halves.iter().all(|half| half.abs() <= 65504.0));
    for (dtype, largest) in [(GB_F8E4M3, 448.0), (GB_F8E5M2, 57344.0)] {
        let values = values(normal(dtype, 10_000, 0.0, 1e6));
        assert!(values.contains(&largest) && values.contains(&-largest), "type {dtype}");
        assert!(values.iter().all(|value| value.abs() <= largest), "type {dtype}");
    }
}

#[test]
fn an_unknown_type_or_distribution_leaves_the_memory_alone() {
    // Complex numbers are filled as their parts.
    for (dtype, kind) in [
        (GB_COMPLEX32, GB_FILL_UNIFORM),
        (GB_COMPLEX32 + 1, GB_FILL_BITS),
        (GB_F32, 4),
    ] {
        let mut memory = [7_u64; 16];
        let arguments = FillArguments {
            out: address_mut(&mut memory),
            kind,
            dtype,
            ..uniform(0, 16, 0.0, 1.0)
        };
        // SAFETY: the memory holds 16 elements of any type.
        unsafe { launch(&arguments, GEOMETRIES[0]) };
        assert_eq!(memory, [7; 16]);
    }
}
