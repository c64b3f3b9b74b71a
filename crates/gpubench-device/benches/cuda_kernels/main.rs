//! The tool's own kernels on a GPU: whether their results equal those of the CPU device, byte for
//! byte, and their memory throughput.
//!
//! `cargo bench -p gpubench-device --bench cuda_kernels [MIB]`, by default 256. Exits with 1 if the
//! devices differ, and with 96 without a GPU.

mod alike;
mod kinds;
mod side;

use std::process::ExitCode;

use gpubench_device::{DeviceError, DeviceOrder};
use gpubench_harness::Kernel;
use gpubench_harness::arguments::{
    CheckArguments, DigestArguments, FlushArguments, LinesArguments, NoiseArguments, NoiseCheckArguments,
};
use gpubench_harness::bindings::*;

use kinds::{Fill, fills};
use side::Side;

/// Enough memory for the comparisons.
const COMPARED_BYTES: u64 = 16 << 20;

fn main() -> ExitCode {
    let mebibytes = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(256_u64);
    let bytes = (mebibytes << 20).max(COMPARED_BYTES);
    let sides = Side::open(&DeviceOrder::cuda(0), bytes)
        .and_then(|gpu| Ok((gpu, Side::open(&DeviceOrder::cpu(0, 0), COMPARED_BYTES)?)));
    let (mut gpu, mut cpu) = match sides {
        Ok(sides) => sides,
        Err(error) => {
            eprintln!("error: {}", gpubench_diagnostic::chain(&error));
            return ExitCode::from(96);
        }
    };
    match report(&mut gpu, &mut cpu, bytes) {
        Ok(differences) if differences.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {}", gpubench_diagnostic::chain(&error));
            ExitCode::FAILURE
        }
    }
}

fn report(gpu: &mut Side, cpu: &mut Side, bytes: u64) -> Result<Vec<String>, DeviceError> {
    println!("{} and {}", gpu.name(), cpu.name());
    let mut differences = alike::differences(gpu, cpu)?;
    if !alike::notices_a_difference(gpu, cpu)? {
        differences.push("different keys give equal digests".to_owned());
    }
    for difference in &differences {
        println!("differs: {difference}");
    }
    println!("{} comparisons differ", differences.len());
    bandwidths(gpu, bytes)?;
    Ok(differences)
}

/// Prints the throughput, absolute and relative to a copy.
fn bandwidths(gpu: &mut Side, bytes: u64) -> Result<(), DeviceError> {
    let copy = 2.0 * bytes as f64 / gpu.copy_ns(bytes)?;
    println!(
        "\n{:<40}{:>10} {:>8}",
        format!("{} MiB", bytes >> 20),
        "GB/s",
        "of copy"
    );
    let line = |what: &str, moved: u64, ns: f64| {
        let rate = moved as f64 / ns;
        println!("{what:<40}{rate:>10.0} {:>7.0}%", 100.0 * rate / copy);
    };
    println!("{:<40}{copy:>10.0} {:>7.0}%", "copy", 100.0);
    for fill in fills().into_iter().filter(Fill::can_be_asked_for) {
        let ns = gpu.median_ns(&fill.arguments(gpu.one, bytes / fill.size), bytes)?;
        line(&fill.to_string(), bytes, ns);
    }
    let noise = NoiseArguments {
        out: gpu.one.0,
        bytes,
        key: 1,
        offset: 0,
    };
    line("noise", bytes, gpu.median_ns(&noise, bytes)?);
    let noise_check = NoiseCheckArguments {
        ptr: gpu.one.0,
        bytes,
        key: 1,
        offset: 0,
        partials: gpu.partials(),
        partial_count: gpu.partial_count(Kernel::NoiseCheck, bytes),
    };
    line("noise check, untouched", bytes, gpu.median_ns(&noise_check, bytes)?);
    let lines = LinesArguments {
        target: gpu.other.0,
        source: gpu.one.0,
        bytes,
        key: 1,
        lines: bytes / 2048,
    };
    line("lines, one in sixteen", bytes / 8, gpu.median_ns(&lines, bytes / 16)?);
    for (what, kind) in [("flush, reading", GB_FLUSH_READ), ("flush, writing", GB_FLUSH_WRITE)] {
        let flush = FlushArguments {
            ptr: gpu.other.0,
            bytes,
            sink: gpu.words.0,
            kind,
            reserved: 0,
        };
        line(what, bytes, gpu.median_ns(&flush, bytes)?);
    }
    let digest = DigestArguments {
        ptr: gpu.one.0,
        bytes,
        keys: gpu.words.0,
        tile_bytes: 4096,
        tiles: 0,
        out: gpu.words.offset(16).0,
    };
    line("digest", bytes, gpu.median_ns(&digest, bytes)?);
    let output_digest = gpu.median_ns(&DigestArguments { tiles: 16, ..digest }, 64 << 10)?;
    println!("{:<40}{:>10.1} us", "output digest of 64 KiB", output_digest / 1e3);
    checks(gpu, bytes, line)
}

fn checks(gpu: &mut Side, bytes: u64, line: impl Fn(&str, u64, f64)) -> Result<(), DeviceError> {
    for (dtype, size, name, rtol) in [
        (GB_F32, 4, "f32", Some(1e-6)),
        (GB_F16, 2, "f16", Some(4e-3)),
        (GB_BF16, 2, "bf16", Some(4e-2)),
        (GB_F64, 8, "f64", Some(1e-6)),
        (GB_U8, 1, "u8", None),
    ] {
        let (len, uniform) = (bytes / size, Fill::uniform(dtype, size));
        let check = CheckArguments {
            got: gpu.one.0,
            expected: gpu.other.0,
            len,
            rtol: rtol.unwrap_or_default(),
            atol: 1e-6,
            partials: gpu.partials(),
            partial_count: gpu.partial_count(Kernel::Check, bytes),
            dtype,
            mode: GB_CHECK_EXACT,
            ..Default::default()
        };
        gpu.run(&uniform.arguments(gpu.one, len), bytes)?;
        gpu.run(&uniform.arguments(gpu.other, len), bytes)?;
        let ns = gpu.median_ns(&check, bytes)?;
        line(&format!("check {name}, exact, all equal"), 2 * bytes, ns);
        // Numbers differ by up to half the tolerance; some integers, which have no tolerance,
        // differ by one.
        let widened = uniform.widened(rtol.unwrap_or(0.01) / 2.0);
        gpu.run(&widened.arguments(gpu.other, len), bytes)?;
        if rtol.is_some() {
            let close = CheckArguments {
                mode: GB_CHECK_CLOSE,
                ..check
            };
            let ns = gpu.median_ns(&close, bytes)?;
            line(&format!("check {name}, close, last bits differ"), 2 * bytes, ns);
        }
        let ns = gpu.median_ns(&check, bytes)?;
        line(&format!("check {name}, exact, many wrong"), 2 * bytes, ns);
    }
    Ok(())
}
