//! `gb_check`: the comparison with the expected output.

#![allow(unsafe_code)]

mod driver;

use driver::{GEOMETRIES, address, address_mut, launch, noise_byte};
use gpubench_harness::arguments::{CheckArguments, CheckPartial};
use gpubench_harness::bindings::*;
use gpubench_harness::{CheckSummary, Geometry, SummaryError};
use proptest::prelude::*;

const POISON: u64 = 0xdead;
const POISON_OFFSET: u64 = 12_345;
const ALL: [u32; 15] = [
    GB_U8,
    GB_I8,
    GB_U16,
    GB_I16,
    GB_U32,
    GB_I32,
    GB_U64,
    GB_I64,
    GB_F16,
    GB_BF16,
    GB_F32,
    GB_F64,
    GB_F8E4M3,
    GB_F8E5M2,
    GB_COMPLEX32,
];

fn size(dtype: u32) -> usize {
    [1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1, 8][dtype as usize]
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Exact,
    Close { rtol: f64, atol: f64 },
}

/// Checks elements, given as bits.
fn checked(dtype: u32, mode: Mode, got: &[u64], expected: &[u64], geometry: Geometry, partials: usize) -> CheckSummary {
    checked_in_rows(dtype, mode, (got, expected), geometry, partials, (0, 0))
}

/// Checks elements that were gathered from rows. `rows` has the elements of a row, and its pitch in
/// the stream of the poison.
fn checked_in_rows(
    dtype: u32,
    mode: Mode,
    (got, expected): (&[u64], &[u64]),
    geometry: Geometry,
    partials: usize,
    rows: (u64, u64),
) -> CheckSummary {
    let memory = |elements: &[u64]| -> Vec<u64> {
        let bytes: Vec<u8> = elements
            .iter()
            .flat_map(|bits| bits.to_le_bytes().into_iter().take(size(dtype)))
            .collect();
        let padded = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        padded.collect()
    };
    let (got_memory, expected_memory) = (memory(got), memory(expected));
    let stale = CheckPartial {
        checked: 1 << 50,
        ..Default::default()
    };
    let mut results = vec![stale; partials];
    let (mode, rtol, atol) = match mode {
        Mode::Exact => (GB_CHECK_EXACT, 0.0, 0.0),
        Mode::Close { rtol, atol } => (GB_CHECK_CLOSE, rtol, atol),
    };
    let arguments = CheckArguments {
        got: address(&got_memory),
        expected: address(&expected_memory),
        len: got.len() as u64,
        rtol,
        atol,
        poison_key: POISON,
        poison_offset: POISON_OFFSET,
        poison_row: rows.0,
        poison_pitch: rows.1,
        order_key: 7,
        partials: address_mut(&mut results),
        partial_count: partials as u64,
        dtype,
        mode,
    };
    // SAFETY: all three buffers have the lengths in the arguments.
    unsafe { launch(&arguments, geometry) };
    CheckSummary::fold(&results, got.len() as u64).unwrap_or_else(|error| panic!("{error}: {results:?}"))
}

/// Returns the poison at element `index`.
fn poison(dtype: u32, index: usize) -> u64 {
    poison_at(dtype, index * size(dtype))
}

/// Returns the poison of an element that begins at byte `start`.
fn poison_at(dtype: u32, start: usize) -> u64 {
    (0..size(dtype)).fold(0, |bits, byte| {
        bits | u64::from(noise_byte(POISON, POISON_OFFSET + (start + byte) as u64)) << (8 * byte)
    })
}

enum Value {
    Integer(i128),
    Real(f64),
    Complex(f64, f64),
}

fn value(dtype: u32, bits: u64) -> Value {
    match dtype {
        GB_U8 | GB_U16 | GB_U32 | GB_U64 => Value::Integer(i128::from(bits)),
        GB_I8 => Value::Integer(i128::from(bits as i8)),
        GB_I16 => Value::Integer(i128::from(bits as i16)),
        GB_I32 => Value::Integer(i128::from(bits as i32)),
        GB_I64 => Value::Integer(i128::from(bits as i64)),
        GB_F16 => Value::Real(half(bits as u16)),
        GB_BF16 => Value::Real(f64::from(f32::from_bits((bits as u32) << 16))),
        GB_F32 => Value::Real(f64::from(f32::from_bits(bits as u32))),
        GB_F8E4M3 => Value::Real(e4m3(bits as u8)),
        // The upper half of a binary16.
        GB_F8E5M2 => Value::Real(half((bits as u16) << 8)),
        GB_COMPLEX32 => {
            let [re, im] = [bits as u32, (bits >> 32) as u32].map(|part| f64::from(f32::from_bits(part)));
            Value::Complex(re, im)
        }
        _ => Value::Real(f64::from_bits(bits)),
    }
}

fn e4m3(bits: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 3 & 0xf), f64::from(bits & 7));
    let magnitude = match exponent {
        _ if bits & 0x7f == 0x7f => f64::NAN,
        0 => mantissa * 2_f64.powi(-9),
        _ => (8.0 + mantissa) * 2_f64.powi(exponent - 10),
    };
    if bits >> 7 == 1 { -magnitude } else { magnitude }
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

/// Returns whether an element is within the tolerance, and its error if both values are finite.
fn judged(dtype: u32, mode: Mode, got: u64, expected: u64) -> (bool, Option<f64>, f64) {
    let (equal, error, magnitude) = match (value(dtype, got), value(dtype, expected)) {
        (Value::Integer(g), Value::Integer(e)) => (g == e, Some((g - e).unsigned_abs() as f64), (e as f64).abs()),
        (Value::Real(g), Value::Real(e)) => {
            let both_finite = g.is_finite() && e.is_finite();
            let error = both_finite.then(|| (g - e).abs().min(f64::MAX));
            (g == e || g.is_nan() && e.is_nan(), error, e.abs())
        }
        (Value::Complex(g_re, g_im), Value::Complex(e_re, e_im)) => {
            let parts = [g_re, g_im, e_re, e_im];
            let are_nan = [[g_re, g_im], [e_re, e_im]]
                .iter()
                .all(|z| z.iter().any(|part| part.is_nan()));
            let length = |re: f64, im: f64| (re * re + im * im).sqrt();
            let error = parts.iter().all(|part| part.is_finite());
            let error = error.then(|| length(g_re - e_re, g_im - e_im));
            (g_re == e_re && g_im == e_im || are_nan, error, length(e_re, e_im))
        }
        _ => unreachable!("one type"),
    };
    let right = match mode {
        Mode::Exact => equal,
        Mode::Close { rtol, atol } => equal || error.is_some_and(|error| error <= atol + rtol * magnitude),
    };
    (right, error, magnitude)
}

/// Computes the expected summary directly from the definitions.
fn model(dtype: u32, mode: Mode, got: &[u64], expected: &[u64]) -> CheckSummary {
    let mut summary = CheckSummary {
        elements: got.len() as u64,
        matched: 0,
        unwritten: 0,
        non_finite: 0,
        same_as_first: got.iter().filter(|&&bits| bits == got[0]).count() as u64,
        first_wrong: None,
        worst: None,
        max_abs_error: 0.0,
        max_rel_error: 0.0,
    };
    let mut worst_error = 0.0;
    for (index, (&g, &e)) in got.iter().zip(expected).enumerate() {
        let (right, error, magnitude) = judged(dtype, mode, g, e);
        if right {
            summary.matched += 1;
        } else {
            let is_finite = |bits| match value(dtype, bits) {
                Value::Integer(_) => true,
                Value::Real(real) => real.is_finite(),
                Value::Complex(re, im) => re.is_finite() && im.is_finite(),
            };
            summary.unwritten += u64::from(g == poison(dtype, index));
            summary.non_finite += u64::from(!is_finite(g) && is_finite(e));
            summary.first_wrong = summary.first_wrong.or(Some(index as u64));
        }
        let comparable = if right && error.is_none() {
            0.0
        } else {
            error.unwrap_or(f64::INFINITY)
        };
        if comparable > worst_error {
            worst_error = comparable;
            summary.worst = Some(index as u64);
        }
        if let Some(error) = error {
            summary.max_abs_error = summary.max_abs_error.max(error);
            if magnitude > 0.0 {
                summary.max_rel_error = summary.max_rel_error.max((error / magnitude).min(f64::MAX));
            }
        }
    }
    summary
}

fn assert_matches_definition(
    dtype: u32,
    mode: Mode,
    got: &[u64],
    expected: &[u64],
    geometry: Geometry,
    partials: usize,
) {
    let summary = checked(dtype, mode, got, expected, geometry, partials);
    let model = model(dtype, mode, got, expected);
    // To find the largest relative error, the kernel compares products instead of quotients. That
    // adds one rounding.
    let close = (summary.max_rel_error - model.max_rel_error).abs() <= 1e-12 * model.max_rel_error;
    let error_at =
        |index: Option<u64>| index.map(|index| judged(dtype, mode, got[index as usize], expected[index as usize]).1);
    // If several errors are equal, any of them may be the worst.
    assert_eq!(
        error_at(summary.worst),
        error_at(model.worst),
        "worst: {summary:?}, expected {model:?}"
    );
    let comparable = CheckSummary {
        max_rel_error: 0.0,
        worst: None,
        ..summary
    };
    assert_eq!(
        comparable,
        CheckSummary {
            max_rel_error: 0.0,
            worst: None,
            ..model
        },
        "type {dtype}, {mode:?}"
    );
    assert!(close, "{} instead of {}", summary.max_rel_error, model.max_rel_error);
}

#[test]
fn every_element_is_counted_once_for_every_length_and_geometry() {
    for dtype in ALL {
        let per_tile = 4096 / size(dtype);
        for len in [
            0,
            1,
            2,
            3,
            per_tile - 1,
            per_tile,
            per_tile + 1,
            3 * per_tile + 7,
            10_007,
        ] {
            let data: Vec<u64> = (0..len as u64).map(|i| i.wrapping_mul(0x3d) & 0x3f).collect();
            for geometry in GEOMETRIES {
                for partials in [1, 2, 100] {
                    let summary = checked(dtype, Mode::Exact, &data, &data, geometry, partials);
                    assert_eq!((summary.elements, summary.matched), (len as u64, len as u64));
                }
            }
        }
    }
}

#[test]
fn a_single_wrong_element_is_found_wherever_it_is() {
    let expected: Vec<u64> = (0..9000).collect();
    for place in (0..9000).step_by(7).chain([8999]) {
        let mut got = expected.clone();
        got[place] += 3;
        let summary = checked(
            GB_I32,
            Mode::Exact,
            &got,
            &expected,
            GEOMETRIES[place % 6],
            1 + place % 5,
        );
        assert_eq!(summary.wrong(), 1);
        assert_eq!(
            (summary.first_wrong, summary.worst),
            (Some(place as u64), Some(place as u64))
        );
        assert_eq!(summary.max_abs_error, 3.0);
    }
}

/// Bit patterns next to the limits of a type's values.
fn edges(dtype: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - 8 * size(dtype));
    let (one, infinity) = match dtype {
        GB_F16 => (0x3c00, 0x7c00),
        GB_BF16 => (0x3f80, 0x7f80),
        GB_F8E4M3 => (0x38, 0x7e),
        GB_F8E5M2 => (0x3c, 0x7c),
        // Edges of both parts.
        GB_COMPLEX32 => {
            let parts = edges(GB_F32);
            let pairs = parts.iter().enumerate();
            return pairs.map(|(i, re)| re | parts[i * 5 % parts.len()] << 32).collect();
        }
        GB_F32 => (u64::from(1_f32.to_bits()), u64::from(f32::INFINITY.to_bits())),
        GB_F64 => (1_f64.to_bits(), f64::INFINITY.to_bits()),
        _ => (1, 100),
    };
    let sign = mask ^ mask >> 1;
    let positive = [
        0,
        1,
        2,
        one - 1,
        one,
        one + 1,
        one + 9,
        infinity - 1,
        infinity,
        infinity + 1,
        sign - 1,
    ];
    positive
        .iter()
        .flat_map(|&bits| [bits & mask, bits & mask | sign])
        .collect()
}

#[test]
fn every_pair_of_edge_values_matches_the_definition() {
    let modes = [
        Mode::Exact,
        Mode::Close { rtol: 0.0, atol: 0.0 },
        Mode::Close { rtol: 1e-3, atol: 1e-6 },
        Mode::Close { rtol: 0.0, atol: 1e300 },
        Mode::Close { rtol: 10.0, atol: 0.0 },
    ];
    for dtype in ALL {
        let edges = edges(dtype);
        for mode in modes {
            let (got, expected): (Vec<u64>, Vec<u64>) =
                edges.iter().flat_map(|&g| edges.iter().map(move |&e| (g, e))).unzip();
            assert_matches_definition(dtype, mode, &got, &expected, GEOMETRIES[0], 1);
            // Each pair also runs alone, so that no other element decides which path is taken.
            for (g, e) in got.into_iter().zip(expected) {
                assert_matches_definition(dtype, mode, &[g], &[e], GEOMETRIES[0], 1);
            }
        }
    }
}

/// For subnormal numbers, the product of a bound and a magnitude has few significant bits or none.
#[test]
fn errors_of_subnormal_numbers_match_the_definition() {
    let smallest_normal = f64::MIN_POSITIVE.to_bits();
    let mode = Mode::Close { rtol: 1e-3, atol: 1e-5 };
    for least in [0, 1, 40, 1 << 30, smallest_normal / 2, smallest_normal - 900] {
        let expected: Vec<u64> = (0..3000).map(|i| least + (3000 - i) / 2).collect();
        for last_bits in [1, 3] {
            let got: Vec<u64> = expected
                .iter()
                .map(|bits| bits ^ (bits.wrapping_mul(0x9e37) >> 5 & last_bits))
                .collect();
            for geometry in GEOMETRIES {
                assert_matches_definition(GB_F64, mode, &got, &expected, geometry, 3);
            }
        }
    }
    // Magnitudes fall, so each error of one in the last place is relatively larger than the
    // previous ones.
    let expected: Vec<u64> = (0..4000).map(|i| smallest_normal * (4000 - i) / 2000).collect();
    let got: Vec<u64> = expected.iter().map(|bits| bits + 1).collect();
    assert_matches_definition(GB_F64, mode, &got, &expected, GEOMETRIES[0], 1);
}

proptest! {
    #[test]
    fn outputs_with_few_errors_match_the_definition(
        dtype in 0_u32..15,
        len in 1_usize..6000,
        key: u64,
        errors in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..20),
        last_bits in 0_u64..4,
        exact: bool,
        g in 0_usize..6,
        partials in 1_usize..30,
    ) {
        let mask = u64::MAX >> (64 - 8 * size(dtype));
        let bits = |i: usize| (0..8).fold(0, |bits, byte| bits << 8 | u64::from(noise_byte(key, (8 * i + byte) as u64)));
        let expected: Vec<u64> = (0..len).map(|i| bits(i) & mask).collect();
        let mut got: Vec<u64> = expected.iter().enumerate().map(|(i, &e)| e ^ (bits(i + len) & last_bits)).collect();
        let edges = edges(dtype);
        for (place, edge) in &errors {
            got[place.index(len)] = *edge.get(&edges);
        }
        let mode = if exact { Mode::Exact } else { Mode::Close { rtol: 1e-3, atol: 1e-5 } };
        assert_matches_definition(dtype, mode, &got, &expected, GEOMETRIES[g], partials);
    }
}

#[test]
fn an_unwritten_output_differs_from_a_wrong_one() {
    for dtype in ALL {
        let len = 5000;
        let expected = vec![1; len];
        let mut got: Vec<u64> = (0..len).map(|index| poison(dtype, index)).collect();
        let right_by_accident = got
            .iter()
            .filter(|&&bits| judged(dtype, Mode::Exact, bits, 1).0)
            .count() as u64;
        let summary = checked(dtype, Mode::Exact, &got, &expected, GEOMETRIES[3], 9);
        assert_eq!(summary.unwritten, len as u64 - right_by_accident, "type {dtype}");
        assert_eq!(summary.unwritten, summary.wrong());

        // The launch leaves out the second half.
        got[..len / 2].fill(1);
        let half = checked(dtype, Mode::Exact, &got, &expected, GEOMETRIES[0], 1);
        assert_eq!(half.unwritten, half.wrong());
        assert!(half.first_wrong >= Some(len as u64 / 2) && half.matched < len as u64 * 52 / 100);
        for (index, bits) in got.iter_mut().enumerate().skip(len / 2) {
            *bits = poison(dtype, index) ^ 2;
        }
        assert_eq!(
            checked(dtype, Mode::Exact, &got, &expected, GEOMETRIES[0], 1).unwritten,
            0
        );
    }
}

#[test]
fn unwritten_elements_are_found_where_they_were_in_rows() {
    const LEN: usize = 3001;
    let expected = [1; LEN];
    for dtype in ALL {
        for (of_row, padding) in [(1, 0), (1, 12), (3, 1), (7, 4)] {
            let pitch = of_row * size(dtype) + padding;
            let place = |index: usize| index / of_row * pitch + index % of_row * size(dtype);
            let mut got: Vec<u64> = (0..LEN).map(|index| poison_at(dtype, place(index))).collect();
            let rows = (of_row as u64, pitch as u64);
            let check = |got: &[u64]| checked_in_rows(dtype, Mode::Exact, (got, &expected), GEOMETRIES[3], 9, rows);
            let summary = check(&got);
            assert_eq!(summary.unwritten, summary.wrong(), "type {dtype}, {of_row} in a row");
            assert!(summary.unwritten > LEN as u64 * 9 / 10);
            got[LEN / 2..].iter_mut().for_each(|bits| *bits ^= 2);
            let half = check(&got);
            assert!(
                half.unwritten <= LEN as u64 / 2 && half.wrong() > half.unwritten,
                "type {dtype}"
            );
        }
    }
}

#[test]
fn a_constant_output_is_recognised() {
    let expected: Vec<u64> = (0..5000).map(|i| u64::from((i as f32).to_bits())).collect();
    let constant = checked(GB_F32, Mode::Exact, &[expected[9]; 5000], &expected, GEOMETRIES[3], 9);
    assert!(constant.is_constant());
    assert_eq!(constant.wrong(), 4999);
    let mut nearly = [expected[9]; 5000];
    nearly[4321] += 1;
    assert!(!checked(GB_F32, Mode::Exact, &nearly, &expected, GEOMETRIES[3], 9).is_constant());
    assert!(
        !checked(GB_F32, Mode::Exact, &[0], &[0], GEOMETRIES[3], 9).is_constant(),
        "one element says nothing"
    );
}

#[test]
fn a_complex_number_is_compared_by_its_distance_and_is_nan_if_a_part_is() {
    let z = |re: f32, im: f32| u64::from(re.to_bits()) | u64::from(im.to_bits()) << 32;
    let close = Mode::Close { rtol: 1e-3, atol: 0.0 };
    let matches = |mode, got, expected| checked(GB_COMPLEX32, mode, &[got], &[expected], GEOMETRIES[0], 1).matched == 1;
    // The small part may be off by its own size.
    assert!(matches(close, z(1.0, 2e-4), z(1.0, 1e-4)));
    assert!(matches(close, z(3.003, 4.004), z(3.0, 4.0001)));
    assert!(!matches(close, z(3.005, 4.005), z(3.0, 4.0)));
    assert!(!matches(close, z(4.0, 3.0), z(3.0, 4.0)));
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    for mode in [close, Mode::Exact] {
        assert!(matches(mode, z(nan, 1.0), z(2.0, nan)));
        assert!(!matches(mode, z(nan, 1.0), z(2.0, 1.0)) && !matches(mode, z(2.0, 1.0), z(2.0, nan)));
        assert!(matches(mode, z(infinity, 1.0), z(infinity, 1.0)) && matches(mode, z(-0.0, 1.0), z(0.0, 1.0)));
        assert!(!matches(mode, z(infinity, 1.0), z(-infinity, 1.0)));
    }
    let got = checked(
        GB_COMPLEX32,
        close,
        &[z(1.0, infinity), z(nan, 0.0)],
        &[z(1.0, 1.0); 2],
        GEOMETRIES[0],
        1,
    );
    assert_eq!((got.matched, got.non_finite), (0, 2));
}

#[test]
fn a_nan_output_differs_from_a_wrong_one() {
    let expected = vec![u64::from(1_f32.to_bits()); 3000];
    let got = vec![u64::from(f32::NAN.to_bits()); 3000];
    let summary = checked(
        GB_F32,
        Mode::Close { rtol: 1e30, atol: 1e30 },
        &got,
        &expected,
        GEOMETRIES[1],
        3,
    );
    assert_eq!((summary.matched, summary.non_finite, summary.worst), (0, 3000, Some(0)));
    let backwards = checked(
        GB_F32,
        Mode::Close { rtol: 1e30, atol: 1e30 },
        &expected,
        &got,
        GEOMETRIES[1],
        3,
    );
    assert_eq!((backwards.matched, backwards.non_finite), (0, 0));
}

#[test]
fn an_unknown_type_or_mode_counts_nothing() {
    for (dtype, mode) in [(GB_COMPLEX32 + 1, GB_CHECK_EXACT), (GB_F32, 2)] {
        let data = [0_u64; 16];
        let mut results = [CheckPartial::default(); 2];
        let arguments = CheckArguments {
            got: address(&data),
            expected: address(&data),
            len: 16,
            partials: address_mut(&mut results),
            partial_count: 2,
            dtype,
            mode,
            ..Default::default()
        };
        // SAFETY: the data and the results outlive the launch.
        unsafe { launch(&arguments, GEOMETRIES[0]) };
        let incomplete = Err(SummaryError::Incomplete {
            checked: 0,
            expected: 16,
        });
        assert_eq!(CheckSummary::fold(&results, 16), incomplete);
    }
}

#[test]
fn partials_that_do_not_add_up_are_no_result() {
    let none = u64::MAX;
    let good = CheckPartial {
        checked: 10,
        matched: 10,
        same_as_first: 1,
        first_wrong: none,
        worst: none,
        ..Default::default()
    };
    assert!(CheckSummary::fold(&[good], 10).expect("consistent").all_match());
    assert_eq!(
        CheckSummary::fold(&[good], 11),
        Err(SummaryError::Incomplete {
            checked: 10,
            expected: 11
        })
    );
    assert_eq!(
        CheckSummary::fold(&[good, good], 10),
        Err(SummaryError::Incomplete {
            checked: 20,
            expected: 10
        })
    );
    for bad in [
        CheckPartial { matched: 11, ..good },
        CheckPartial { matched: 9, ..good },
        CheckPartial { unwritten: 1, ..good },
        CheckPartial { non_finite: 1, ..good },
        CheckPartial { first_wrong: 3, ..good },
        CheckPartial {
            matched: 9,
            first_wrong: 10,
            ..good
        },
        CheckPartial {
            same_as_first: 0,
            ..good
        },
        CheckPartial {
            max_abs: f64::NAN,
            ..good
        },
        CheckPartial {
            max_rel: f64::INFINITY,
            ..good
        },
    ] {
        assert_eq!(
            CheckSummary::fold(&[bad], 10),
            Err(SummaryError::Inconsistent),
            "{bad:?}"
        );
    }
}

#[test]
fn the_worst_of_several_partials_is_the_largest_error_with_the_lowest_index() {
    let partial = |worst, worst_error| CheckPartial {
        checked: 10,
        same_as_first: 1,
        first_wrong: worst,
        worst,
        worst_error,
        max_abs: if worst_error < f64::INFINITY { worst_error } else { 0.0 },
        ..Default::default()
    };
    let worst = |partials: &[CheckPartial]| {
        CheckSummary::fold(partials, 10 * partials.len() as u64)
            .expect("consistent")
            .worst
    };
    assert_eq!(worst(&[partial(5, 1.0), partial(3, 2.0), partial(4, 2.0)]), Some(3));
    assert_eq!(
        worst(&[partial(9, f64::INFINITY), partial(3, 2.0), partial(8, f64::INFINITY)]),
        Some(8)
    );
}

#[test]
fn partials_are_read_from_memory_as_the_kernel_wrote_them() {
    let words = [
        10,
        8,
        1,
        1,
        2,
        4,
        5,
        f64::INFINITY.to_bits(),
        0.5_f64.to_bits(),
        0.25_f64.to_bits(),
    ];
    let memory: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
    let summary = CheckSummary::from_memory(&memory, 10).expect("consistent");
    let expected = CheckSummary {
        elements: 10,
        matched: 8,
        unwritten: 1,
        non_finite: 1,
        same_as_first: 2,
        first_wrong: Some(4),
        worst: Some(5),
        max_abs_error: 0.5,
        max_rel_error: 0.25,
    };
    assert_eq!(summary, expected);
    assert_eq!(
        CheckSummary::from_memory(&memory[..79], 10),
        Err(SummaryError::Truncated { bytes: 79, partial: 80 })
    );
}
