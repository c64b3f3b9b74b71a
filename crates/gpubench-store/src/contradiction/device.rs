//! Whether results can be of the device that their run was on.

use super::{Contradiction, agree};
use crate::{Origin, StoredRun};
use gpubench_contract::{BenchmarkComplete, Device, DeviceKind, DeviceName, Throughput};
use gpubench_contract::{Grade, Verdict};

/// A rate times a time differs from the work that it was computed from by less than this part of it.
const OF_WORK: f64 = 1e-9;

/// Events tell times in single precision: beyond this many steps of the clock, a step is lost in it.
const MOST_STEPS: f64 = 1e6;

/// How far a sample may be from a step, in steps.
const FROM_STEP: f64 = 0.1;

/// Where this part of all samples is on the clock's steps, the others were not measured with that clock. Where fewer are, the step is not that of the clock.
const ON_STEPS: f64 = 0.99;

/// Looks at a result beside its run's device.
pub(super) fn check(stored: &StoredRun, result: &BenchmarkComplete) -> Result<(), Contradiction> {
    let device = stored.origin_of(result).device;
    check_device(result, device)?;
    check_throughput(result, device)?;
    check_claims(result)?;
    check_wall(result)
}

fn check_device(result: &BenchmarkComplete, device: &Device) -> Result<(), Contradiction> {
    let case = || result.case.clone();
    let named = |DeviceName { kind, name }: &DeviceName| match kind {
        DeviceKind::Cpu => format!("the CPU device `{name}`"),
        DeviceKind::Cuda => format!("the GPU `{name}`"),
    };
    if result.device != device.short() {
        return Err(Contradiction::Device {
            case: case(),
            found: named(&result.device),
            device: named(&device.short()),
        });
    }
    match (device.kind, result.grade) {
        // Its clock bounds no claim.
        (DeviceKind::Cpu, Some(grade)) if grade != Grade::Advisory => Err(Contradiction::Grade { case: case(), grade }),
        _ => Ok(()),
    }
}

/// Work was declared as whole numbers of bytes and operations, and shares are those of the device's peaks.
fn check_throughput(result: &BenchmarkComplete, device: &Device) -> Result<(), Contradiction> {
    let BenchmarkComplete {
        case,
        throughput,
        stats,
        ..
    } = result;
    let Throughput {
        bytes_per_s,
        flops_per_s,
        of_peak_bandwidth,
        of_peak_flops,
    } = *throughput;
    let rates = [
        (
            "throughput.bytes_per_s",
            bytes_per_s,
            "throughput.of_peak_bandwidth",
            of_peak_bandwidth,
            device.peak_bandwidth,
        ),
        (
            "throughput.flops_per_s",
            flops_per_s,
            "throughput.of_peak_flops",
            of_peak_flops,
            device.peak_flops,
        ),
    ];
    for (figure, rate, share_of, share, peak) in rates {
        let work = rate
            .zip(stats.as_ref())
            .map(|(rate, stats)| rate * (stats.median_ns * 1e-9));
        if let Some(work) = work.filter(|work| !is_whole(*work)) {
            return Err(Contradiction::Work {
                case: case.clone(),
                figure,
                work,
            });
        }
        if let Some(peak) = peak {
            agree(case, share_of, share, rate.map(|rate| rate / peak))?;
        }
    }
    Ok(())
}

fn is_whole(work: f64) -> bool {
    work.is_finite() && (work - work.round()).abs() <= OF_WORK * work.abs().max(1.0)
}

/// The samples of a case that passed are its worker's claims.
fn check_claims(result: &BenchmarkComplete) -> Result<(), Contradiction> {
    match (&result.conservation, &result.stats) {
        (Some(clocks), Some(stats)) if result.verdict == Verdict::Pass => agree(
            &result.case,
            "conservation.claimed_ns",
            Some(clocks.claimed_ns),
            Some(stats.mean_ns),
        ),
        _ => Ok(()),
    }
}

fn check_wall(result: &BenchmarkComplete) -> Result<(), Contradiction> {
    let samples: f64 = result.samples_ns.iter().sum();
    // Records of tools that did not time cases have no wall time.
    if result.wall_ns == 0 || samples <= result.wall_ns as f64 {
        return Ok(());
    }
    Err(Contradiction::Longer {
        case: result.case.clone(),
        samples,
        wall: result.wall_ns,
    })
}

/// Looks for samples that the device's clock cannot have given.
pub(super) fn check_samples(stored: &StoredRun) -> Result<(), Contradiction> {
    let Some(tick) = stored
        .run
        .device
        .clock_tick_ns
        .filter(|tick| tick.is_finite() && *tick > 0.0)
    else {
        return Ok(());
    };
    let told = |sample: f64| sample <= MOST_STEPS * tick;
    let is_off = |sample: f64| ((sample / tick) - (sample / tick).round()).abs() > FROM_STEP;
    let (mut all, mut off) = (0.0, 0.0);
    let mut first = None;
    for result in &stored.results {
        for sample in result.samples_ns.iter().copied().filter(|sample| told(*sample)) {
            all += 1.0;
            if is_off(sample) {
                off += 1.0;
                first.get_or_insert((result, sample));
            }
        }
    }
    match first {
        Some((result, found)) if off <= (1.0 - ON_STEPS) * all => Err(Contradiction::OffTick {
            case: result.case.clone(),
            found,
            tick,
        }),
        _ => Ok(()),
    }
}

/// Looks whether all runs of which the file has results were on the same device.
pub(super) fn check_origins(stored: &StoredRun) -> Result<(), Contradiction> {
    let identity = stored.origin().identity();
    let mut origins = stored
        .run
        .earlier_runs
        .iter()
        .map(|run| Origin::of_earlier(run).identity());
    match origins.find_map(|other| other.difference(&identity)) {
        None => Ok(()),
        Some(difference) => Err(Contradiction::Mixed { difference }),
    }
}
