//! Checks of the GPU, its driver, its compilers and its telemetry.

use std::path::Path;

use super::check::{Area, Check};
use super::machine::{Machine, given};
use gpubench_contract::units::{listed, size};
use gpubench_device::{AbsenceKind, ClockBound};
use gpubench_diagnostic::SetupMissing;
use gpubench_measure::probe::{Answer, Gpu, Opened, Trial};

/// The cost of a machine without a GPU.
const NO_GPU: &str = "`--device auto` measures on the CPU device, whose times say nothing about a GPU";

/// The lowest capability with clusters and programmatic launches.
const CLUSTERS: u32 = 90;

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let mut checks = vec![driver(machine)];
    if let Some(opened) = machine.driver.given() {
        checks.extend(abilities(opened));
    }
    checks.extend(machine.gpus.given().into_iter().flatten().enumerate().flat_map(of_gpu));
    checks.push(mps(machine.mps.as_deref()));
    checks.extend(compilers(machine));
    checks.extend(telemetry(machine));
    checks
}

fn driver(machine: &Machine) -> Check {
    let (area, name) = (Area::Gpu, "driver");
    match given(&machine.driver, "the driver") {
        Ok(Opened { facts, .. }) => {
            let version = facts.driver.as_deref().unwrap_or("of unknown version");
            area.good(name, format!("{version}, opens `cuda:{}`", machine.ordinal))
        }
        Err(SetupMissing { what: reason, hint }) => match &machine.driver {
            Answer::Absent(absence) if absence.kind == AbsenceKind::NotInstalled => {
                area.gap(name, reason, with_hint(NO_GPU, &hint))
            }
            _ => area.missing(name, reason, with_hint(NO_GPU, &hint)),
        },
    }
}

fn with_hint(cost: &str, hint: &str) -> String {
    match hint {
        "" => cost.to_owned(),
        hint => format!("{cost}; {hint}"),
    }
}

/// Checks the features of the opened GPU.
fn abilities(opened: &Opened) -> Vec<Check> {
    let area = Area::Gpu;
    let facts = &opened.facts;
    let known = &facts.device;
    let mut checks = vec![area.good(
        "device",
        format!(
            "{}, {} SMs, sm_{}, {} L2 cache",
            known.name,
            known.multiprocessors,
            known.capability,
            size(known.l2_bytes)
        ),
    )];
    checks.extend(opened.trials.iter().map(|(trial, outcome)| {
        let (name, works, remedy) = match trial {
            Trial::Kernels => ("built-in kernels", "they load", "update the GPU's driver"),
            Trial::Sharing => (
                "memory sharing",
                "processes can share allocations",
                "the processes of a run must share GPU memory; in a virtual machine or under WSL, ask for a whole GPU",
            ),
            Trial::Gate => (
                "stream gate",
                "streams can wait on and write shared host memory",
                "the gate that starts every call is in host memory; raise the limit on locked memory (`ulimit -l`), or update the driver",
            ),
        };
        match outcome {
            Ok(()) => area.good(name, works),
            Err(reason) => area.missing(name, reason, format!("nothing can be measured here: {remedy}")),
        }
    }));
    checks.push(match known.capability {
        CLUSTERS.. => area.good("clusters and early launch", format!("sm_{}", known.capability)),
        older => area.gap("clusters and early launch",
            format!("sm_{older} has neither clusters nor programmatic dependent launch"),
            "benchmarks that need them are skipped; output checks are just as strict, because no kernel can start its successor early here",
        ),
    });
    checks.push(area.good("clock", format!("steps of {:.0} ns", facts.clock_tick_ns)));
    checks.push(match &facts.clock_bound {
        ClockBound::Exclusive => area.good(
            "second clock",
            "the referee can check the worker's times with its own clock",
        ),
        ClockBound::Absent(reason) => area.gap(
            "second clock",
            reason.as_ref(),
            "times cannot be checked independently: results are `unverified`; outputs are still checked",
        ),
    });
    checks
}

/// Checks one GPU of NVML's list.
fn of_gpu((position, gpu): (usize, &Gpu)) -> Vec<Check> {
    let area = Area::Gpu;
    let described = listed([
        Some(gpu.name.clone()),
        gpu.capability.map(|capability| format!("sm_{capability}")),
        gpu.memory_bytes.map(|bytes| size(bytes).to_string()),
    ]);
    let mut checks = vec![area.good(format!("GPU {position}"), described)];
    if gpu.mig == Some(true) {
        checks.push(area.gap(
            format!("GPU {position} MIG"),
            "partitioned into instances",
            "other instances share its memory bandwidth: results are `unverified`; measure on a whole GPU",
        ));
    }
    match gpu.compute_mode.as_deref() {
        None | Some("default") => {}
        Some(mode) => checks.push(area.missing(format!("GPU {position} compute mode"),
            mode,
            "the referee and the worker each need a CUDA context, so nothing can be measured in this mode; the machine's owner can set the mode to `default`",
        )),
    }
    checks
}

fn mps(folder: Option<&Path>) -> Check {
    match folder {
        None => Area::Gpu.good("MPS", "not in use"),
        Some(folder) => Area::Gpu.gap(
            "MPS",
            format!("the folder of its control daemon, `{}`, exists", folder.display()),
            "under MPS, processes compute at the same time, so no clock can check a worker: results are `unverified`; stop the daemon, or unset `CUDA_MPS_PIPE_DIRECTORY`",
        ),
    }
}

fn compilers(machine: &Machine) -> [Check; 2] {
    let area = Area::Compilers;
    let nvrtc = match &machine.nvrtc {
        Ok(identity) => area.good("NVRTC", identity),
        Err(reason) => area.gap("NVRTC",
            reason,
            "without NVRTC or nvcc, CUDA sources cannot be compiled for a GPU here: use an archive made elsewhere, install the CUDA toolkit or NVRTC (`pip install nvidia-cuda-nvrtc`), or pass `--nvrtc PATH`",
        ),
    };
    let nvcc = match &machine.nvcc {
        Some(identity) => area.good("nvcc", identity),
        None => area.gap(
            "nvcc",
            "not found",
            "sources with host code, which NVRTC cannot compile, cannot be compiled here; most sources need only NVRTC",
        ),
    };
    [nvrtc, nvcc]
}

fn telemetry(machine: &Machine) -> Vec<Check> {
    let area = Area::Telemetry;
    let gpus = match given(&machine.gpus, "NVML") {
        Ok(gpus) => gpus,
        Err(SetupMissing { what: reason, hint }) => {
            let cost = "clocks, throttling, memory errors and other processes on a GPU are not seen, and samples are not flagged";
            return vec![area.gap("NVML", reason, with_hint(cost, &hint))];
        }
    };
    let driver = gpus.iter().find_map(|gpu| gpu.driver.as_deref()).unwrap_or("available");
    let mut checks = vec![area.good("NVML", driver)];
    for (position, gpu) in gpus.iter().enumerate() {
        checks.extend(clocks(position, gpu));
        checks.extend(persistence(position, gpu));
        checks.extend(clients(position, gpu));
    }
    checks
}

fn clocks(position: usize, gpu: &Gpu) -> Option<Check> {
    let [now, most] = gpu.clocks_mhz?;
    let name = format!("GPU {position} clocks");
    let disturbing: Vec<&str> = gpu.throttle_reasons.iter().flatten().map(String::as_str).collect();
    let value = format!("{now} MHz now, {most} MHz maximum");
    Some(match disturbing.as_slice() {
        [] if gpu.clocks_are_set == Some(true) => Area::Telemetry.gap(name,
            format!("{value}; a setting limits them"),
            "times are longer than at the highest clocks. The clocks are locked, or limited by application clocks, as on some GPUs by default; root removes a lock with `nvidia-smi -rgc`",
        ),
        [] => Area::Telemetry.good(name, value),
        reasons => Area::Telemetry.gap(name,
            format!("{value}; limited by: {}", reasons.join(", ")),
            "times vary with the clock; samples taken while the GPU throttles are taken again or flagged. `--lock-clocks base` locks the clocks for a run, as root",
        ),
    })
}

fn persistence(position: usize, gpu: &Gpu) -> Option<Check> {
    let name = format!("GPU {position} persistence mode");
    Some(if gpu.persistent? {
        Area::Telemetry.good(name, "on")
    } else {
        Area::Telemetry.gap(name,
            "off",
            "the driver unloads while the GPU is idle: runs start seconds later, with low clocks. The machine's owner can turn this mode on (`nvidia-smi -pm 1`)",
        )
    })
}

fn clients(position: usize, gpu: &Gpu) -> Option<Check> {
    let name = format!("GPU {position} other processes");
    Some(match gpu.clients? {
        0 => Area::Telemetry.good(name, "none seen (containers may hide some)"),
        count => Area::Telemetry.gap(name,
            format!("{count} computing on it"),
            "they share the GPU with the kernel under test: times have outliers and results are `unverified`; measure on an idle GPU",
        ),
    })
}
