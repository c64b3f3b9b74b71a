//! Uniform elements.

use gpubench_harness::arguments::FillArguments;
use gpubench_harness::bindings::*;
use proptest::prelude::*;

use crate::driver::philox;
use crate::elements::{uniform, values};

#[test]
fn uniform_elements_stay_below_their_bound() {
    // Bounds that rounding to the element type could reach.
    let bounds = [
        (0.0, 1.0),
        (-1.0, 1.0),
        (0.0, 0.1),
        (-1e-3, 0.0),
        (1000.0, 1000.5),
        (0.999, 1.0001),
        (-65504.0, 65504.0),
        (1e-7, 2e-7),
        (-65504.0, 1e-7),
        (-1e-7, 65504.0),
    ];
    for dtype in [GB_F16, GB_BF16, GB_F32, GB_F64] {
        for (a, b) in bounds {
            for value in values(uniform(dtype, 100_000, a, b)) {
                assert!(value < b, "type {dtype}: {value} is not below {b}");
                assert!(value >= a, "type {dtype}: {value} is below {a}");
            }
        }
    }
}

#[test]
fn uniform_elements_of_8_bits_stay_in_their_range_and_keep_its_mean() {
    for dtype in [GB_F8E4M3, GB_F8E5M2] {
        for (a, b) in [
            (0.0, 1.0),
            (-1.0, 1.0),
            (-448.0, 448.0),
            (0.5, 8.0),
            (-0.1, 0.0),
            (-4.0, 0.1),
        ] {
            let values = values(uniform(dtype, 100_000, a, b));
            assert!(
                values.iter().all(|&value| a <= value && value < b),
                "type {dtype}, {a}..{b}"
            );
            let mean = values.iter().map(|value| (value - a) / (b - a)).sum::<f64>() / 1e5;
            // Neighbours below the bound are up to a quarter of it apart.
            assert!((mean - 0.5).abs() < 0.05, "type {dtype}, {a}..{b}: {mean}");
        }
    }
}

#[test]
fn uniform_elements_are_equally_spaced_from_the_lower_bound_on() {
    let (key, tensor) = (0x1234_5678_9abc_def0_u64, 3);
    let word = |i: usize| philox([(i / 4) as u32, 0, tensor, 0], [key as u32, (key >> 32) as u32])[i % 4];
    for (i, value) in values(uniform(GB_F32, 1000, -2.0, 6.0)).into_iter().enumerate() {
        assert_eq!(value, -2.0 + f64::from(word(i) >> 9) * 2_f64.powi(-20));
    }
    for (i, value) in values(uniform(GB_F64, 1000, -2.0, 6.0)).into_iter().enumerate() {
        let draw = u64::from(word(2 * i)) | u64::from(word(2 * i + 1)) << 32;
        assert_eq!(value, -2.0 + (draw >> 12) as f64 * 2_f64.powi(-49));
    }
    for (i, value) in values(uniform(GB_F16, 1000, 0.0, 1024.0)).into_iter().enumerate() {
        let draw = word(i / 2) >> (16 * (i % 2)) & 0xffff;
        let exact = f64::from(draw) / 64.0;
        // The largest numbers would round up to the bound, so all numbers are a little lower.
        assert!(
            (value - exact).abs() <= exact * 2_f64.powi(-11) + 0.3,
            "{value} for {exact}"
        );
    }
}

#[test]
fn the_widest_and_the_narrowest_ranges_are_filled_evenly() {
    for (dtype, a, b) in [
        (GB_F16, -65504.0, 65504.0),
        (GB_F16, 0.0, 1e-5),
        (GB_BF16, -3e38, 3e38),
        (GB_BF16, 1e-39, 1e-38),
        (GB_F32, -3.4e38, 3.4e38),
        (GB_F32, 0.0, 1e-38),
        (GB_F32, 1e6, 1e6 + 1.0),
        (GB_F64, 0.0, 1e-307),
        (GB_F64, -8e307, 8e307),
    ] {
        let values = values(uniform(dtype, 40_000, a, b));
        assert!(
            values.iter().all(|&value| a <= value && value < b),
            "type {dtype}, {a}..{b}"
        );
        let mean = values.iter().map(|value| (value - a) / (b - a)).sum::<f64>() / 4e4;
        // The coarsest type has eight numbers in the range.
        assert!((mean - 0.5).abs() < 0.07, "type {dtype}, {a}..{b}: {mean}");
    }
}

proptest! {
    #[test]
    fn uniform_elements_are_between_any_bounds(a in -1e4..1e4_f64, width in 1e2..1e4_f64, dtype in GB_F16..=GB_F64, key: u64) {
        let b = a + width;
        for value in values(FillArguments { key, ..uniform(dtype, 3000, a, b) }) {
            prop_assert!(a <= value && value < b, "{value} is not in [{a}, {b})");
        }
    }
}

#[test]
fn uniform_elements_have_the_moments_of_the_distribution() {
    for dtype in [GB_F16, GB_BF16, GB_F32, GB_F64] {
        let values = values(uniform(dtype, 400_000, -1.0, 3.0));
        let mean = values.iter().sum::<f64>() / 4e5;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4e5;
        // bfloat16 has a relative precision of 2^-8, which moves the clamped mean.
        assert!((mean - 1.0).abs() < 0.01, "type {dtype}: mean {mean}");
        assert!(
            (variance - 16.0 / 12.0).abs() < 0.01,
            "type {dtype}: variance {variance}"
        );
    }
}

#[test]
fn uniform_integers_take_the_floor() {
    let mut counts = std::collections::BTreeMap::new();
    for value in values(uniform(GB_I32, 100_000, -1.5, 2.0)) {
        *counts.entry(value as i64).or_insert(0) += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [-1, 0, 1], "{counts:?}");
}
