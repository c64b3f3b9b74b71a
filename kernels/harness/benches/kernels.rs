//! The cost of the harness kernels on the CPU device, in microseconds per 1 MiB, on one thread and
//! on two: `cargo bench -p gpubench-harness`. Each launch starts two threads, and the times include
//! that.

#![allow(unsafe_code)]

#[path = "../tests/driver/mod.rs"]
mod driver;

use std::time::{Duration, Instant};

use driver::{address_mut, launch_on, recommended};
use gpubench_harness::arguments::{
    Arguments, CheckArguments, CheckPartial, DigestArguments, DigestKeys, FillArguments, FlushArguments,
    LinesArguments, NoiseArguments, NoiseCheckArguments, NoisePartial,
};
use gpubench_harness::bindings::*;

const MIB: u64 = 1 << 20;
const ROUNDS: usize = 41;

fn median(os_threads: u32, arguments: &impl Arguments, bytes: u64) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| once(os_threads, arguments, bytes)).collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn once<A: Arguments>(os_threads: u32, arguments: &A, bytes: u64) -> Duration {
    let geometry = recommended(A::KERNEL, bytes);
    let start = Instant::now();
    // SAFETY: `main` keeps all buffers alive and passes their true lengths.
    unsafe { launch_on(os_threads, arguments, geometry) };
    start.elapsed()
}

fn report(what: &str, arguments: &impl Arguments, bytes: u64) -> [Duration; 2] {
    let times = [1, 2].map(|os_threads| median(os_threads, arguments, bytes));
    let micros = times.map(|time| time.as_secs_f64() * 1e6);
    println!("{what:<38}{:>10.0} us{:>10.0} us", micros[0], micros[1]);
    times
}

fn main() {
    let mut got = vec![0_u64; (MIB / 8) as usize];
    let mut expected = got.clone();
    let mut flushed = vec![0_u64; MIB as usize];
    let mut sum = 0_u64;
    let keys = DigestKeys { digest: 1, order: 2 };
    let mut noise_partials = [NoisePartial::default(); 64];
    let mut check_partials = [CheckPartial::default(); 64];
    let (got, expected) = (address_mut(&mut got), address_mut(&mut expected));

    println!("{:<38}{:>13}{:>13}", "1 MiB", "1 thread", "2 threads");
    let fill = |dtype, size, kind, span| FillArguments {
        out: got,
        len: MIB / size,
        key: 1,
        span,
        b: 1.0,
        dtype,
        kind,
        ..Default::default()
    };
    report("fill u8, all values", &fill(GB_U8, 1, GB_FILL_INTEGERS, 256), MIB);
    report("fill i32 in 0..100", &fill(GB_I32, 4, GB_FILL_INTEGERS, 100), MIB);
    report("fill i8 in 0..100", &fill(GB_I8, 1, GB_FILL_INTEGERS, 100), MIB);
    report("fill u16 in 0..1000", &fill(GB_U16, 2, GB_FILL_INTEGERS, 1000), MIB);
    report(
        "fill i32 in 0..1000003",
        &fill(GB_I32, 4, GB_FILL_INTEGERS, 1_000_003),
        MIB,
    );
    report("fill i64 in 0..2^40", &fill(GB_I64, 8, GB_FILL_INTEGERS, 1 << 40), MIB);
    report("fill f16 uniform", &fill(GB_F16, 2, GB_FILL_UNIFORM, 0), MIB);
    report("fill f16 normal", &fill(GB_F16, 2, GB_FILL_NORMAL, 0), MIB);
    report("fill f32 normal", &fill(GB_F32, 4, GB_FILL_NORMAL, 0), MIB);
    report("fill f64 normal", &fill(GB_F64, 8, GB_FILL_NORMAL, 0), MIB);
    let uniform = fill(GB_F32, 4, GB_FILL_UNIFORM, 0);
    let mut window = vec![report("fill f32 uniform", &uniform, MIB)];

    let noise = NoiseArguments {
        out: got,
        bytes: MIB,
        key: 1,
        offset: 0,
    };
    window.push(report("noise", &noise, MIB));
    let noise_check = NoiseCheckArguments {
        ptr: got,
        bytes: MIB,
        key: 1,
        offset: 0,
        partials: address_mut(&mut noise_partials),
        partial_count: 64,
    };
    report("noise check", &noise_check, MIB);
    let lines = LinesArguments {
        target: expected,
        source: got,
        bytes: MIB,
        key: 1,
        lines: 1024,
    };
    report("1024 lines", &lines, 1024 * 128);
    let digest = DigestArguments {
        ptr: got,
        bytes: MIB,
        keys: std::ptr::from_ref(&keys) as u64,
        tile_bytes: 4096,
        tiles: 0,
        out: std::ptr::from_mut(&mut sum) as u64,
    };
    window.push(report("digest", &digest, MIB));

    // Expected elements that differ in their last bits, as after summation in another order.
    once(1, &uniform, MIB);
    once(
        1,
        &FillArguments {
            out: expected,
            b: 1.000_001,
            ..uniform
        },
        MIB,
    );
    let check = CheckArguments {
        got,
        expected,
        len: MIB / 4,
        rtol: 1e-5,
        atol: 1e-6,
        partials: address_mut(&mut check_partials),
        partial_count: 64,
        dtype: GB_F32,
        mode: GB_CHECK_CLOSE,
        ..Default::default()
    };
    window.push(report("check f32, close, last bits differ", &check, MIB));
    report(
        "check f32, exact, all equal",
        &CheckArguments {
            expected: got,
            mode: GB_CHECK_EXACT,
            ..check
        },
        MIB,
    );
    report(
        "check f32, all wrong",
        &CheckArguments {
            mode: GB_CHECK_EXACT,
            ..check
        },
        MIB,
    );

    let total = |threads: usize| {
        window
            .iter()
            .map(|times| times[threads].as_secs_f64() * 1e6)
            .sum::<f64>()
    };
    println!(
        "{:<38}{:>10.0} us{:>10.0} us",
        "fill f32 + noise + digest + check",
        total(0),
        total(1)
    );

    for (what, kind) in [
        ("flush of 8 MiB, reading", GB_FLUSH_READ),
        ("flush of 8 MiB, writing", GB_FLUSH_WRITE),
    ] {
        let flush = FlushArguments {
            ptr: address_mut(&mut flushed),
            bytes: 8 * MIB,
            sink: got,
            kind,
            reserved: 0,
        };
        report(what, &flush, 8 * MIB);
    }
}
