//! Uniform integers of a range.

use gpubench_harness::arguments::FillArguments;
use gpubench_harness::bindings::*;
use proptest::prelude::*;

use crate::driver::{GEOMETRIES, philox};
use crate::elements::{SIZES, filled, integers, values};

proptest! {
    #[test]
    fn integers_are_in_their_range(low in -100_000_i64..100_000, span in 1_u64..200_000, key: u64, dtype in prop::sample::select(vec![GB_I32, GB_I64, GB_F64])) {
        for value in values(FillArguments { key, ..integers(dtype, 3000, low, span) }) {
            prop_assert!(low as f64 <= value && value < (low + span as i64) as f64);
            prop_assert_eq!(value, value.trunc());
        }
    }

    #[test]
    fn integers_rounded_to_a_short_type_stay_in_their_range(low in -1000_i64..1000, span in 300_u64..30_000, dtype in GB_F16..=GB_F32) {
        for value in values(integers(dtype, 3000, low, span)) {
            prop_assert!(low as f64 <= value && value < (low + span as i64) as f64, "{value} for {low} + {span}");
        }
    }
}

#[test]
fn wide_integers_are_scaled_by_all_64_bits() {
    let (low, span) = (-(1_i64 << 40), 3 * (1_u64 << 45) + 7);
    let arguments = integers(GB_I64, 2000, low, span);
    let got = filled(arguments, GEOMETRIES[1]);
    for (i, element) in got.chunks_exact(8).enumerate() {
        let words = philox([(i / 2) as u32, 0, 1, 0], [99, 0]);
        let draw = u64::from(words[i % 2 * 2]) | u64::from(words[i % 2 * 2 + 1]) << 32;
        let offset = ((u128::from(draw) * u128::from(span)) >> 64) as i64;
        assert_eq!(i64::from_le_bytes(element.try_into().expect("8 bytes")), low + offset);
    }
}

#[test]
fn small_integers_are_equally_frequent() {
    let mut counts = [0_u32; 10];
    for value in values(integers(GB_I8, 400_000, -5, 10)) {
        counts[(value + 5.0) as usize] += 1;
    }
    // Six standard deviations of a binomial distribution. The key is fixed.
    assert!(counts.iter().all(|&count| count.abs_diff(40_000) < 1150), "{counts:?}");
}

#[test]
fn integers_of_8_bit_floats_are_equally_frequent() {
    for (dtype, last) in [(GB_F8E4M3, 16_i64), (GB_F8E5M2, 8)] {
        let span = 2 * last + 1;
        let mut counts = vec![0_u32; span as usize];
        for value in values(integers(dtype, 330_000, -last, span as u64)) {
            counts[(value + last as f64) as usize] += 1;
        }
        let mean = 330_000 / span as u32;
        assert!(
            counts.iter().all(|&count| count.abs_diff(mean) < mean / 12),
            "{counts:?}"
        );
    }
}

#[test]
fn the_range_can_be_the_whole_integer_type() {
    for (dtype, low, span) in [
        (GB_U8, 0, 256),
        (GB_I8, -128, 256),
        (GB_U16, 0, 65536),
        (GB_I16, -32768, 65536),
    ] {
        let mut seen: Vec<f64> = values(integers(dtype, 1_500_000, low, span));
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        assert_eq!(seen.len() as u64, span, "type {dtype}");
        assert_eq!(seen[0], low as f64);
    }
    let largest = values(integers(GB_U64, 1000, 0, 0)).into_iter().fold(0.0, f64::max);
    assert!(largest > 1.8e19);
}

#[test]
fn small_ranges_and_powers_of_two_use_16_bits_per_integer() {
    for (low, span) in [(-3, 256_u64), (5, 100), (-8192, 1 << 14)] {
        let arguments = integers(GB_I16, 3000, low, span);
        let got = filled(arguments, GEOMETRIES[3]);
        for (i, element) in got.chunks_exact(2).enumerate() {
            let words = philox([(i / 8) as u32, 0, 1, 0], [99, 0]);
            let draw = words[i % 8 / 2] >> (16 * (i % 2)) & 0xffff;
            let expected = low + ((u64::from(draw) * span) >> 16) as i64;
            assert_eq!(i64::from(i16::from_le_bytes([element[0], element[1]])), expected);
        }
    }
}

/// Returns two draws of `bits` bits as offsets below `span`. The remainder of each multiplication
/// is added to the other draw.
fn traded(draws: [u64; 2], bits: u32, span: u64) -> [u64; 2] {
    let [one, other] = draws.map(|draw| draw * span);
    let fraction = |product: u64| ((product & ((1 << bits) - 1)) * span) >> bits;
    [(one + fraction(other)) >> bits, (other + fraction(one)) >> bits]
}

#[test]
fn neighbours_trade_the_remainders_of_their_draws() {
    for (dtype, low, span) in [
        (GB_I8, -50, 100_u64),
        (GB_U8, 128, 128),
        (GB_U8, 0, 112),
        (GB_I8, -100, 201),
        (GB_I8, -127, 255),
        (GB_U8, 40, 216),
        (GB_I16, -3, 1000),
        (GB_U16, 60_000, 4096),
        (GB_F16, -1000, 2000),
        (GB_F16, -2048, 4097),
        (GB_BF16, -256, 513),
        (GB_I32, -5, 1_000_003),
        (GB_U32, 1, 0xffff_fffe),
        (GB_U32, 0, 3 << 24),
        (GB_F32, -7, 1_000_003),
        (GB_F32, -4_194_304, 8_388_607),
        (GB_F32, -16_777_216, 33_554_433),
    ] {
        let size = SIZES[dtype as usize];
        let bits = 8 * size as u32;
        let got = values(integers(dtype, 4000, low, span));
        for (pair, elements) in got.chunks_exact(2).enumerate() {
            let draw = |i: usize| {
                let words = philox([(i * size / 16) as u32, 0, 1, 0], [99, 0]);
                u64::from(words[i * size % 16 / 4]) >> (8 * (i * size % 4)) & ((1 << bits) - 1)
            };
            let offsets = traded([2 * pair, 2 * pair + 1].map(draw), bits, span);
            assert_eq!(
                elements,
                offsets.map(|offset| (low + offset as i64) as f64),
                "type {dtype}"
            );
        }
    }
}

#[test]
fn traded_bytes_are_uniform_and_almost_independent() {
    // With a span of 96, a remainder has only 8 values, which is too few.
    let is_traded = |&span: &usize| span.is_power_of_two() || span * (span & span.wrapping_neg()) <= 1 << 11;
    for span in (1..=255_usize).filter(is_traded) {
        let mut pairs = vec![0_u32; span * span];
        for draws in 0..1 << 16 {
            let [one, other] = traded([draws & 0xff, draws >> 8], 8, span as u64).map(|offset| offset as usize);
            pairs[one * span + other] += 1;
        }
        let expected = 65536.0 / span as f64;
        for value in 0..span {
            let first = (0..span).map(|other| pairs[value * span + other]).sum::<u32>();
            let second = (0..span).map(|other| pairs[other * span + value]).sum::<u32>();
            for count in [first, second] {
                assert!(
                    (f64::from(count) / expected - 1.0).abs() < 0.03,
                    "{value} of {span}: {count}"
                );
            }
        }
        let expected = 65536.0 / (span * span) as f64;
        let off = |&count: &u32| (f64::from(count) / expected - 1.0).powi(2);
        let deviation = (pairs.iter().map(off).sum::<f64>() / (span * span) as f64).sqrt();
        assert!(pairs.iter().all(|&count| count > 0), "{span}");
        // Among 65536 pairs of draws, a pair of values occurs a whole number of times.
        assert!(deviation < 0.01_f64.max(1.2 / expected), "{span}: {deviation}");
    }
}
