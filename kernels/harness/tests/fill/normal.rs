//! Normal elements: quantiles of single draws, and sums of many draws for 16-bit types.

use gpubench_harness::bindings::*;

use crate::driver::philox;
use crate::elements::{normal, values};

#[test]
fn normal_elements_have_the_moments_and_the_tails_of_the_distribution() {
    // Sums of 16 numbers have thinner tails.
    for (dtype, kurtosis, beyond_3, beyond_4) in [
        (GB_F16, 2.925, 0.0022, 2.9e-5),
        (GB_BF16, 2.925, 0.0022, 2.9e-5),
        (GB_F32, 3.0, 0.0027, 6.33e-5),
        (GB_F64, 3.0, 0.0027, 6.33e-5),
    ] {
        let count = 2_000_000;
        let z: Vec<f64> = values(normal(dtype, count, 2.0, 3.0))
            .iter()
            .map(|value| (value - 2.0) / 3.0)
            .collect();
        let moment = |power: i32| z.iter().map(|z| z.powi(power)).sum::<f64>() / count as f64;
        assert!(moment(1).abs() < 0.003, "type {dtype}: mean {}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.005, "type {dtype}: variance {}", moment(2));
        assert!(moment(3).abs() < 0.01, "type {dtype}: skewness {}", moment(3));
        assert!(
            (moment(4) - kurtosis).abs() < 0.03,
            "type {dtype}: kurtosis {}",
            moment(4)
        );
        let beyond = |limit: f64| z.iter().filter(|z| z.abs() > limit).count() as f64 / count as f64;
        // 2 * (1 - Phi(1)).
        assert!((beyond(1.0) - 0.3173).abs() < 0.005, "type {dtype}: {}", beyond(1.0));
        assert!((beyond(3.0) - beyond_3).abs() < 0.0002, "type {dtype}: {}", beyond(3.0));
        assert!((beyond(4.0) - beyond_4).abs() < 2.5e-5, "type {dtype}: {}", beyond(4.0));
        assert!(z.iter().all(|z| z.is_finite() && z.abs() < 7.0));
    }
}

#[test]
fn normal_elements_of_8_bits_have_the_moments_of_the_distribution() {
    for dtype in [GB_F8E4M3, GB_F8E5M2] {
        let z = values(normal(dtype, 400_000, 0.0, 1.0));
        let moment = |power: i32| z.iter().map(|z| z.powi(power)).sum::<f64>() / 4e5;
        // Rounding to few digits adds its own variance.
        assert!(moment(1).abs() < 0.01, "type {dtype}: mean {}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.02, "type {dtype}: variance {}", moment(2));
    }
}

#[test]
fn normal_elements_have_the_distribution_function_to_a_few_thousandths() {
    for dtype in [GB_F16, GB_BF16, GB_F32, GB_F64] {
        let mut z = values(normal(dtype, 1_000_000, 0.0, 1.0));
        z.sort_by(f64::total_cmp);
        let mut furthest = 0.0_f64;
        for step in -40..=40 {
            // The bounds lie between representable numbers of the shorter types.
            let limit = f64::from(step) / 10.0 + 0.000_123;
            let below = z.partition_point(|&z| z < limit) as f64 / 1e6;
            furthest = furthest.max((1.0 - share_above(limit) - below).abs());
        }
        // Neighbouring bfloat16 numbers differ by up to 2^-7.
        assert!(furthest < 0.0035, "type {dtype}: {furthest}");
    }
}

#[test]
fn elements_of_one_block_and_almost_their_squares_are_uncorrelated() {
    let count = 200_000;
    let z = values(normal(GB_F16, 8 * count, 0.0, 1.0));
    for one in 0..8 {
        for other in 0..one {
            let product = |power: i32| {
                let terms = z.chunks_exact(8).map(|block| (block[one] * block[other]).powi(power));
                terms.sum::<f64>() / count as f64
            };
            assert!(product(1).abs() < 0.012, "{one} and {other}: {}", product(1));
            assert!((product(2) - 1.0).abs() < 0.1, "{one} and {other}: {}", product(2));
        }
    }
}

#[test]
fn normal_elements_of_16_bits_are_signed_sums_of_their_block() {
    let (key, tensor) = (0x1234_5678_9abc_def0_u64, 3);
    // Elements are sums with the signs of a Hadamard matrix, for words and then for halves of a
    // word.
    let rows = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [-1, 1, 1, -1]];
    let got = values(normal(GB_F16, 8000, 0.0, 1.0));
    for (block, elements) in got.chunks_exact(8).enumerate() {
        let words = philox([block as u32, 0, tensor, 0], [key as u32, (key >> 32) as u32]);
        let number = |half: u32| i64::from(half >> 4) + 16 * i64::from(half & 0xff);
        for (i, z) in elements.iter().enumerate() {
            let sum = |shift: u32| -> i64 {
                let signed = rows[i / 2].iter().zip(words);
                signed.map(|(sign, word)| sign * number(word >> shift & 0xffff)).sum()
            };
            let sum = if i % 2 == 0 { sum(0) + sum(16) } else { sum(0) - sum(16) };
            // The mean of the sum.
            let mean = if i == 0 { 8.0 * 4087.5 } else { 0.0 };
            let expected = (sum as f64 - mean) / 4738.83;
            assert!(
                (z - expected).abs() < expected.abs() * 0.0005 + 0.0005,
                "{z} for {expected}"
            );
        }
    }
}

#[test]
fn neighbouring_normal_elements_are_uncorrelated() {
    for dtype in [GB_F32, GB_F64] {
        let z = values(normal(dtype, 400_000, 0.0, 1.0));
        for lag in 1..=4 {
            let correlation = z.windows(lag + 1).map(|pair| pair[0] * pair[lag]).sum::<f64>() / 4e5;
            assert!(correlation.abs() < 0.01, "type {dtype}, lag {lag}: {correlation}");
        }
    }
}

/// Returns the upper tail probability of the normal distribution at `z`, to ten significant digits.
fn share_above(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - share_above(-z);
    }
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if z < 3.0 {
        // Abramowitz and Stegun 26.2.11.
        let mut term = z;
        let mut sum = z;
        for k in 1..60 {
            term *= z * z / f64::from(2 * k + 1);
            sum += term;
        }
        return 0.5 - density * sum;
    }
    // 26.2.14, evaluated backwards.
    density / (1..200).rev().fold(z, |tail, k| z + f64::from(k) / tail)
}

#[test]
fn normal_elements_are_the_quantiles_of_their_draws() {
    let (key, tensor) = (0x1234_5678_9abc_def0_u64, 3);
    for (dtype, size) in [(GB_F32, 4), (GB_F64, 8)] {
        let got = values(normal(dtype, 100_000, 0.0, 1.0));
        for (i, z) in got.into_iter().enumerate() {
            let words = philox([(i * size / 16) as u32, 0, tensor, 0], [key as u32, (key >> 32) as u32]);
            let below = 0.5 + f64::from(words[i * size % 16 / 4] as i32) * 2_f64.powi(-32);
            let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
            let off = (1.0 - share_above(z) - below) / density;
            assert!(off.abs() < 0.0018, "type {dtype}: {z} for {below} is off by {off}");
        }
    }
}

#[test]
fn standard_deviations_of_any_size_give_the_same_numbers() {
    for dtype in [GB_F16, GB_BF16, GB_F32, GB_F64] {
        let unit = values(normal(dtype, 4096, 0.0, 1.0));
        for deviation in [2_f64.powi(-70), 2_f64.powi(-10), 2_f64.powi(10), 2_f64.powi(100)] {
            // Values outside the type's range saturate or become zero.
            if dtype == GB_F16 && !(1e-4..1e4).contains(&deviation) {
                continue;
            }
            let scaled = values(normal(dtype, 4096, 0.0, deviation));
            for (scaled, unit) in scaled.into_iter().zip(&unit) {
                let off = (scaled / deviation - unit).abs();
                assert!(
                    off <= unit.abs() * 0.008 + 1e-3,
                    "type {dtype}, {deviation}: {scaled} for {unit}"
                );
            }
        }
    }
}
