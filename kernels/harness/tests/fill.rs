//! Inputs: `gb_fill`.

mod driver;

use driver::{GEOMETRIES, address_mut, launch, philox, recommended};
use gpubench_harness::arguments::FillArguments;
use gpubench_harness::bindings::*;
use gpubench_harness::{Geometry, Kernel};
use proptest::prelude::*;

const SIZES: [usize; 12] = [1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8];

fn filled(arguments: FillArguments, geometry: Geometry) -> Vec<u8> {
    let bytes = arguments.len as usize * SIZES[arguments.dtype as usize];
    let mut memory = vec![0_u64; bytes.div_ceil(8) + 1];
    *memory.last_mut().expect("a word more") = 0x5a5a_5a5a_5a5a_5a5a;
    let arguments = FillArguments {
        out: address_mut(&mut memory),
        ..arguments
    };
    // SAFETY: the memory holds the elements.
    unsafe { launch(&arguments, geometry) };
    assert_eq!(
        *memory.last().expect("a word more"),
        0x5a5a_5a5a_5a5a_5a5a,
        "written behind the end"
    );
    memory.iter().flat_map(|word| word.to_le_bytes()).take(bytes).collect()
}

/// The elements as doubles; 64-bit integers lose low bits.
fn values(arguments: FillArguments) -> Vec<f64> {
    let bytes = filled(arguments, recommended(Kernel::Fill, arguments.len * 8));
    bytes
        .chunks_exact(SIZES[arguments.dtype as usize])
        .map(|element| value(arguments.dtype, element))
        .collect()
}

fn value(dtype: u32, element: &[u8]) -> f64 {
    let mut wide = [0; 8];
    wide[..element.len()].copy_from_slice(element);
    let bits = u64::from_le_bytes(wide);
    match dtype {
        GB_U8 | GB_U16 | GB_U32 | GB_U64 => bits as f64,
        GB_I8 => f64::from(bits as i8),
        GB_I16 => f64::from(bits as i16),
        GB_I32 => f64::from(bits as i32),
        GB_I64 => bits as i64 as f64,
        GB_F16 => half(bits as u16),
        GB_BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
        GB_F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

fn uniform(dtype: u32, len: u64, a: f64, b: f64) -> FillArguments {
    FillArguments {
        len,
        dtype,
        kind: GB_FILL_UNIFORM,
        a,
        b,
        key: 0x1234_5678_9abc_def0,
        tensor: 3,
        ..Default::default()
    }
}

fn integers(dtype: u32, len: u64, low: i64, span: u64) -> FillArguments {
    FillArguments {
        len,
        dtype,
        kind: GB_FILL_INTEGERS,
        low,
        span,
        key: 99,
        tensor: 1,
        ..Default::default()
    }
}

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
    for dtype in 0..12 {
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
fn keys_and_tensors_have_streams_of_their_own() {
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
fn uniform_elements_stay_below_their_bound() {
    // Bounds next to which rounding to the element type would reach them.
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
        // The last numbers would be rounded to the bound: all are a little lower.
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
        // The coarsest has eight numbers in the range.
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
fn every_small_integer_comes_up_about_equally_often() {
    let mut counts = [0_u32; 10];
    for value in values(integers(GB_I8, 400_000, -5, 10)) {
        counts[(value + 5.0) as usize] += 1;
    }
    // Six standard deviations of a binomial distribution; the key is fixed.
    assert!(counts.iter().all(|&count| count.abs_diff(40_000) < 1150), "{counts:?}");
}

#[test]
fn all_values_of_an_integer_type_can_be_asked_for() {
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
fn uniform_elements_have_the_moments_of_the_distribution() {
    for dtype in [GB_F16, GB_BF16, GB_F32, GB_F64] {
        let values = values(uniform(dtype, 400_000, -1.0, 3.0));
        let mean = values.iter().sum::<f64>() / 4e5;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4e5;
        // bfloat16 has 2^-8 of relative precision, which moves the clamped mean.
        assert!((mean - 1.0).abs() < 0.01, "type {dtype}: mean {mean}");
        assert!(
            (variance - 16.0 / 12.0).abs() < 0.01,
            "type {dtype}: variance {variance}"
        );
    }
}

fn normal(dtype: u32, len: u64, mean: f64, deviation: f64) -> FillArguments {
    FillArguments {
        kind: GB_FILL_NORMAL,
        ..uniform(dtype, len, mean, deviation)
    }
}

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
fn normal_elements_have_the_distribution_function_to_a_few_thousandths() {
    for dtype in [GB_F16, GB_BF16, GB_F32, GB_F64] {
        let mut z = values(normal(dtype, 1_000_000, 0.0, 1.0));
        z.sort_by(f64::total_cmp);
        let mut furthest = 0.0_f64;
        for step in -40..=40 {
            // Between the numbers that the shorter types have.
            let limit = f64::from(step) / 10.0 + 0.000_123;
            let below = z.partition_point(|&z| z < limit) as f64 / 1e6;
            furthest = furthest.max((1.0 - share_above(limit) - below).abs());
        }
        // The steps of bfloat16 are up to 2^-7 wide.
        assert!(furthest < 0.0035, "type {dtype}: {furthest}");
    }
}

#[test]
fn elements_of_one_block_are_uncorrelated_and_so_are_their_squares_almost() {
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
    // Elements are the rows of a Hadamard matrix: whether a number is added, for words and then for halves of a word.
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
            // What the mean of the sum is, if it is not zero.
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

/// How much of the normal distribution is above `z`, to ten digits of itself.
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
    // 26.2.14, from its far end.
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
            // What the type has no room for is held at its ends, or zero.
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

#[test]
fn integers_of_16_bits_come_from_as_many_for_small_ranges_and_powers_of_two() {
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

/// Two draws of `bits` bits as offsets below `span`: what the size times one leaves is added to the other.
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
        (GB_I16, -3, 1000),
        (GB_U16, 60_000, 4096),
        (GB_F16, -1000, 2000),
        (GB_I32, -5, 1_000_003),
        (GB_U32, 1, 0xffff_fffe),
        (GB_U32, 0, 3 << 24),
        (GB_F32, -7, 1_000_003),
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
fn traded_bytes_are_equally_likely_and_hardly_depend_on_one_another() {
    // Of 96 a remainder has 8 values, which is too few.
    for span in (1..=128_usize).filter(|&span| span != 96) {
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
                    (f64::from(count) / expected - 1.0).abs() < 0.016,
                    "{value} of {span}: {count}"
                );
            }
        }
        let expected = 65536.0 / (span * span) as f64;
        let off = |&count: &u32| (f64::from(count) / expected - 1.0).powi(2);
        let deviation = (pairs.iter().map(off).sum::<f64>() / (span * span) as f64).sqrt();
        // Of 65536 pairs of draws a pair of values can only have a whole number.
        assert!(deviation < 0.01_f64.max(1.2 / expected), "{span}: {deviation}");
    }
}

#[test]
fn what_does_not_fit_the_type_is_held_at_its_ends() {
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
}

#[test]
fn uniform_integers_take_the_floor() {
    let mut counts = std::collections::BTreeMap::new();
    for value in values(uniform(GB_I32, 100_000, -1.5, 2.0)) {
        *counts.entry(value as i64).or_insert(0) += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [-1, 0, 1], "{counts:?}");
}

#[test]
fn an_unknown_type_or_distribution_leaves_the_memory_alone() {
    for (dtype, kind) in [(12, GB_FILL_BITS), (GB_F32, 4)] {
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
