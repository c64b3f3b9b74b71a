//! Compares the results of a GPU and the CPU device for the same arguments.

use gpubench_device::{DeviceError, DevicePtr};
use gpubench_harness::arguments::{
    CheckArguments, DigestArguments, DigestKeys, FillArguments, LinesArguments, NoiseArguments, NoiseCheckArguments,
};
use gpubench_harness::bindings::*;
use gpubench_harness::{CheckSummary, Kernel, NoiseSummary};

use super::kinds::{DTYPES, Fill, fills};
use super::side::Side;

/// A size that is not a multiple of anything.
const ODD: u64 = 1_000_003;

/// Returns descriptions of the differences; empty if there are none.
pub(crate) fn differences(gpu: &mut Side, cpu: &mut Side) -> Result<Vec<String>, DeviceError> {
    let mut found = Vec::new();
    let mut say = |alike: bool, what: String| {
        if !alike {
            found.push(what);
        }
    };
    for fill in fills() {
        for shift in [0, fill.size] {
            let alike = same_on(gpu, cpu, ODD * fill.size, |side| {
                side.run(&fill.arguments(side.one.offset(shift), ODD), ODD * fill.size)?;
                side.read(side.one, ODD * fill.size)
            })?;
            say(alike, format!("{fill}, {shift} bytes from alignment"));
        }
    }
    // The last tile of a digest is whole, has some runs of 16 bytes, or ends within one.
    for (bytes, shift) in [(ODD, 0), (ODD, 5), (1 << 20, 0), (7, 3), (4_000, 0), (66_064, 0)] {
        let alike = same_on(gpu, cpu, bytes, |side| noise(side, bytes, shift))?;
        say(alike, format!("noise of {bytes} bytes, {shift} from alignment"));
        let alike = summary_on(gpu, cpu, |side| noise_summary(side, bytes, shift))?;
        say(alike, format!("noise check of {bytes} bytes, {shift} from alignment"));
        let alike = same_on(gpu, cpu, bytes, |side| lines(side, bytes))?;
        say(alike, format!("lines of {bytes} bytes"));
        for tiles in [0, 16] {
            let alike = same_on(gpu, cpu, 8, |side| digest(side, bytes, shift, tiles))?;
            say(
                alike,
                format!("digest of {bytes} bytes, {shift} from alignment, {tiles} tiles"),
            );
        }
    }
    for (dtype, size) in DTYPES.into_iter().chain([(GB_COMPLEX32, 8)]) {
        for len in [1, 1000, 1 << 18, ODD] {
            for shift in [0, size] {
                for outcome in Outcome::ALL {
                    let alike = summary_on(gpu, cpu, |side| outcome.summary(side, dtype, size, len, shift))?;
                    say(
                        alike,
                        format!("check of {len} of type {dtype}, {shift} bytes from alignment: {outcome:?}"),
                    );
                }
            }
        }
    }
    Ok(found)
}

fn same_on(
    gpu: &mut Side,
    cpu: &mut Side,
    bytes: u64,
    mut run: impl FnMut(&mut Side) -> Result<Vec<u8>, DeviceError>,
) -> Result<bool, DeviceError> {
    for side in [&mut *gpu, &mut *cpu] {
        let zeros = vec![0; bytes as usize + 64];
        side.write(side.one, &zeros)?;
        side.write(side.other, &zeros)?;
    }
    Ok(run(gpu)? == run(cpu)?)
}

/// A summary, with the values that need only be close.
type Outcomes = (String, Vec<f64>);

fn summary_on(
    gpu: &mut Side,
    cpu: &mut Side,
    mut run: impl FnMut(&mut Side) -> Result<Outcomes, DeviceError>,
) -> Result<bool, DeviceError> {
    let (one, other) = (run(gpu)?, run(cpu)?);
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
    Ok(one.0 == other.0 && one.1.iter().zip(&other.1).all(close))
}

fn noise(side: &mut Side, bytes: u64, shift: u64) -> Result<Vec<u8>, DeviceError> {
    let out = side.one.offset(shift).0;
    let arguments = NoiseArguments {
        out,
        bytes,
        key: 9,
        offset: 32,
    };
    side.run(&arguments, bytes)?;
    side.read(side.one, bytes)
}

/// Compares the checks of noise in which three bytes were changed.
fn noise_summary(side: &mut Side, bytes: u64, shift: u64) -> Result<Outcomes, DeviceError> {
    noise(side, bytes, shift)?;
    for place in [1, bytes / 2, bytes - 1] {
        let address = side.one.offset(shift + place);
        let byte = side.read(address, 1)?;
        side.write(address, &[byte[0] ^ 0x10])?;
    }
    let partial_count = side.partial_count(Kernel::NoiseCheck, bytes);
    let arguments = NoiseCheckArguments {
        ptr: side.one.offset(shift).0,
        bytes,
        key: 9,
        offset: 32,
        partials: side.partials(),
        partial_count,
    };
    side.run(&arguments, bytes)?;
    let memory = side.read_partials(partial_count * 32)?;
    Ok((format!("{:?}", NoiseSummary::from_memory(&memory, bytes)), Vec::new()))
}

fn lines(side: &mut Side, bytes: u64) -> Result<Vec<u8>, DeviceError> {
    noise(side, bytes, 0)?;
    let lines = bytes / 2048 + 1;
    let arguments = LinesArguments {
        target: side.other.0,
        source: side.one.0,
        bytes,
        key: 4,
        lines,
    };
    side.run(&arguments, lines * 128)?;
    side.read(side.other, bytes)
}

fn digest(side: &mut Side, bytes: u64, shift: u64, tiles: u64) -> Result<Vec<u8>, DeviceError> {
    noise(side, bytes, shift)?;
    let keys = DigestKeys { digest: 3, order: 5 };
    let words = [keys.digest.to_ne_bytes(), keys.order.to_ne_bytes(), [0; 8]].concat();
    side.write(side.words, &words)?;
    let out = side.words.offset(16);
    let arguments = DigestArguments {
        ptr: side.one.offset(shift).0,
        bytes,
        keys: side.words.0,
        tile_bytes: 4096,
        tiles,
        out: out.0,
    };
    side.run(&arguments, if tiles == 0 { bytes } else { bytes.min(tiles * 4096) })?;
    side.read(out, 8)
}

/// The values that a check compares.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Equal,
    LastBitsDiffer,
    OneWrong,
    AllWrong,
    Unwritten,
    /// Subnormal numbers, and normal ones just above them, whose last bits differ.
    BelowNormal,
}

impl Outcome {
    const ALL: [Outcome; 6] = [
        Outcome::Equal,
        Outcome::LastBitsDiffer,
        Outcome::OneWrong,
        Outcome::AllWrong,
        Outcome::Unwritten,
        Outcome::BelowNormal,
    ];

    fn summary(self, side: &mut Side, dtype: u32, size: u64, len: u64, shift: u64) -> Result<Outcomes, DeviceError> {
        let (got, expected) = (side.one.offset(shift), side.other.offset(shift));
        let bytes = len * size;
        let uniform = Fill::uniform(dtype, size);
        side.run(&uniform.arguments(expected, len), bytes)?;
        match self {
            Outcome::Equal | Outcome::OneWrong => side.run(&uniform.arguments(got, len), bytes)?,
            Outcome::LastBitsDiffer => side.run(&uniform.widened(3e-7).arguments(got, len), bytes)?,
            Outcome::AllWrong => side.run(&Fill::bits(dtype, size).arguments(got, len), bytes)?,
            Outcome::Unwritten => poison(side, got, bytes)?,
            Outcome::BelowNormal => {
                side.write(expected, &below_normal(dtype, size, len, 0))?;
                side.write(got, &below_normal(dtype, size, len, 3))?;
            }
        }
        if let Outcome::OneWrong = self {
            let last = got.offset(bytes - 1);
            let byte = side.read(last, 1)?;
            side.write(last, &[byte[0] ^ 0x41])?;
        }
        let mut outcomes: Outcomes = Default::default();
        for (mode, rtol) in [(GB_CHECK_EXACT, 0.0), (GB_CHECK_CLOSE, 1e-6), (GB_CHECK_CLOSE, 0.0)] {
            let summary = check(side, got, expected, dtype, size, len, mode, rtol)?;
            outcomes.0 += &summary.0;
            outcomes.1.extend(summary.1);
        }
        Ok(outcomes)
    }
}

/// The elements are the same for all `differing`, except for those bits.
fn below_normal(dtype: u32, size: u64, len: u64, differing: u64) -> Vec<u8> {
    let mantissa_bits = match dtype {
        GB_F16 => 10,
        GB_BF16 => 7,
        GB_F32 => 23,
        GB_F64 => 52,
        GB_F8E4M3 => 3,
        GB_F8E5M2 => 2,
        _ => 8 * size - 2,
    };
    let element = |index: u64| {
        let noise = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (noise >> (63 - mantissa_bits)) ^ (noise & differing)
    };
    (0..len)
        .flat_map(|index| element(index).to_le_bytes().into_iter().take(size as usize))
        .collect()
}

fn poison(side: &mut Side, target: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
    let arguments = NoiseArguments {
        out: target.0,
        bytes,
        key: 2,
        offset: 48,
    };
    side.run(&arguments, bytes)
}

#[expect(clippy::too_many_arguments, reason = "the kernel takes them all")]
fn check(
    side: &mut Side,
    got: DevicePtr,
    expected: DevicePtr,
    dtype: u32,
    size: u64,
    len: u64,
    mode: u32,
    rtol: f64,
) -> Result<Outcomes, DeviceError> {
    let partial_count = side.partial_count(Kernel::Check, len * size);
    let arguments = CheckArguments {
        got: got.0,
        expected: expected.0,
        len,
        rtol,
        atol: rtol,
        poison_key: 2,
        poison_offset: 48,
        poison_row: 0,
        poison_pitch: 0,
        order_key: 77,
        partials: side.partials(),
        partial_count,
        dtype,
        mode,
    };
    side.run(&arguments, len * size)?;
    let memory = side.read_partials(partial_count * 80)?;
    Ok(match CheckSummary::from_memory(&memory, len) {
        // Among equally large errors any may be the worst, and a quotient slightly above the
        // largest may be missed.
        Ok(summary) => (
            format!(
                "{:?}",
                CheckSummary {
                    worst: None,
                    max_rel_error: 0.0,
                    ..summary
                }
            ),
            vec![summary.max_rel_error],
        ),
        Err(error) => (error.to_string(), Vec::new()),
    })
}

/// A sanity check of this program: it must find differences when the memory differs.
pub(crate) fn notices_a_difference(gpu: &mut Side, cpu: &mut Side) -> Result<bool, DeviceError> {
    let (mut first, key) = (true, FillArguments::default().key);
    let alike = same_on(gpu, cpu, 64, |side| {
        let arguments = FillArguments {
            key: key + u64::from(std::mem::take(&mut first)),
            ..Fill::bits(GB_U32, 4).arguments(side.one, 16)
        };
        side.run(&arguments, 64)?;
        side.read(side.one, 64)
    })?;
    Ok(!alike)
}
