//! Findings on the GPU, its driver, compilers for it, and its instruments.

use super::check::{Area, Check};
use super::machine::{Machine, Mps};
use gpubench_contract::units::size;
use gpubench_device::{AbsenceKind, ClockBound};
use gpubench_measure::probe::{Answer, Gpu, Opened, Trial};

/// What a machine without a GPU costs.
const NO_GPU: &str = "`--device auto` measures on the CPU device, whose times say nothing about a GPU";

/// The capability from which kernels may be launched in clusters and before their predecessor has ended.
const CLUSTERS: u32 = 90;

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let mut checks = vec![driver(machine)];
    if let Some(opened) = machine.driver.given() {
        checks.extend(abilities(opened));
    }
    checks.extend(machine.gpus.given().into_iter().flatten().enumerate().flat_map(listed));
    checks.push(mps(&machine.mps));
    checks.extend(compilers(machine));
    checks.extend(telemetry(machine));
    checks
}

fn driver(machine: &Machine) -> Check {
    let (area, name) = (Area::Gpu, "driver");
    match &machine.driver {
        Answer::Given(Opened { facts, .. }) => {
            let version = facts.driver.as_deref().unwrap_or("of unknown version");
            Check::good(area, name, format!("{version}, opens `cuda:{}`", machine.ordinal))
        }
        Answer::Absent(absence) => {
            let cost = match absence.hint.as_str() {
                "" => NO_GPU.to_owned(),
                hint => format!("{NO_GPU}; {hint}"),
            };
            match absence.kind {
                AbsenceKind::NotInstalled => Check::gap(area, name, &absence.reason, cost),
                AbsenceKind::Unusable => Check::missing(area, name, &absence.reason, cost),
            }
        }
        Answer::Broken { how } => Check::missing(
            area,
            name,
            format!("it {how}"),
            format!("{NO_GPU}; `nvidia-smi` and `dmesg` say whether the driver works"),
        ),
    }
}

/// What the opened GPU can do.
fn abilities(opened: &Opened) -> Vec<Check> {
    let area = Area::Gpu;
    let facts = &opened.facts;
    let known = &facts.device;
    let mut checks = vec![Check::good(
        area,
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
        let (name, works) = match trial {
            Trial::Kernels => ("own kernels", "they load"),
            Trial::Sharing => ("memory sharing", "allocations pass between processes by descriptor"),
            Trial::Gate => ("stream gate", "streams wait for and write shared host memory"),
        };
        match outcome {
            Ok(()) => Check::good(area, name, works),
            Err(reason) => Check::missing(area, name, reason, remedy(*trial)),
        }
    }));
    checks.push(match known.capability {
        CLUSTERS.. => Check::good(area, "clusters and early launch", format!("sm_{}", known.capability)),
        older => Check::gap(
            area,
            "clusters and early launch",
            format!("sm_{older} has neither"),
            "benchmarks that need them are skipped; a kernel cannot let its successor start early here, so nothing is lost in what is checked",
        ),
    });
    checks.push(Check::good(
        area,
        "clock",
        format!("steps of {:.0} ns", facts.clock_tick_ns),
    ));
    checks.push(match &facts.clock_bound {
        ClockBound::Exclusive => Check::good(area, "second clock", "the referee's clock can check a worker's times"),
        ClockBound::Absent(reason) => Check::gap(
            area,
            "second clock",
            reason.as_ref(),
            "times cannot be checked from outside: results are `advisory`, outputs are checked as ever",
        ),
    });
    checks
}

fn remedy(trial: Trial) -> &'static str {
    match trial {
        Trial::Kernels => "nothing can be measured here; update the GPU's driver",
        Trial::Sharing => {
            "nothing can be measured here: every case runs in a process of its own; in a virtual machine or under WSL, ask for a whole GPU"
        }
        Trial::Gate => {
            "nothing can be measured here: calls are started through a gate; raise the limit on locked memory (`ulimit -l`), or update the driver"
        }
    }
}

/// One GPU as NVML lists it.
fn listed((position, gpu): (usize, &Gpu)) -> Vec<Check> {
    let area = Area::Gpu;
    let described = [
        Some(gpu.name.clone()),
        gpu.capability.map(|capability| format!("sm_{capability}")),
        gpu.memory_bytes.map(|bytes| size(bytes).to_string()),
    ];
    let described: Vec<String> = described.into_iter().flatten().collect();
    let mut checks = vec![Check::good(area, format!("GPU {position}"), described.join(", "))];
    if gpu.mig == Some(true) {
        checks.push(Check::gap(
            area,
            format!("GPU {position} MIG"),
            "it is cut into instances",
            "neighbours share its memory bandwidth: results are `advisory`; measure on a whole GPU",
        ));
    }
    match gpu.compute_mode.as_deref() {
        None | Some("default") => {}
        Some(mode) => checks.push(Check::missing(
            area,
            format!("GPU {position} compute mode"),
            mode,
            "referee and worker each need a context: nothing can be measured in this mode; the machine's owner can set it to `default`",
        )),
    }
    checks
}

fn mps(mps: &Mps) -> Check {
    match mps {
        Mps::Absent => Check::good(Area::Gpu, "MPS", "not in use"),
        Mps::Present(folder) => Check::gap(
            Area::Gpu,
            "MPS",
            format!("its control daemon's folder `{}` is there", folder.display()),
            "under MPS processes compute at the same time and no clock can check a worker: results are `advisory`; stop the daemon, or unset `CUDA_MPS_PIPE_DIRECTORY`",
        ),
    }
}

fn compilers(machine: &Machine) -> [Check; 2] {
    let area = Area::Compilers;
    let nvrtc = match &machine.nvrtc {
        Ok(identity) => Check::good(area, "NVRTC", identity),
        Err(reason) => Check::gap(
            area,
            "NVRTC",
            reason,
            "CUDA sources cannot be compiled for a GPU here unless nvcc can: use an archive made elsewhere, or install the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or say `--nvrtc PATH`",
        ),
    };
    let nvcc = match &machine.nvcc {
        Some(identity) => Check::good(area, "nvcc", identity),
        None => Check::gap(
            area,
            "nvcc",
            "not found",
            "sources that NVRTC cannot compile, with host code in them, cannot be compiled here; most need NVRTC alone",
        ),
    };
    [nvrtc, nvcc]
}

fn telemetry(machine: &Machine) -> Vec<Check> {
    let area = Area::Telemetry;
    let gpus = match &machine.gpus {
        Answer::Given(gpus) => gpus,
        Answer::Absent(absence) => {
            return vec![Check::gap(
                area,
                "NVML",
                &absence.reason,
                format!(
                    "clocks, throttling, memory errors and neighbours on a GPU are not seen, and samples are not flagged; {}",
                    absence.hint
                ),
            )];
        }
        Answer::Broken { how } => {
            return vec![Check::gap(
                area,
                "NVML",
                format!("it {how}"),
                "clocks, throttling, memory errors and neighbours on a GPU are not seen, and samples are not flagged",
            )];
        }
    };
    let driver = gpus.iter().find_map(|gpu| gpu.driver.as_deref()).unwrap_or("there");
    let mut checks = vec![Check::good(area, "NVML", driver)];
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
    let value = format!("{now} MHz now, {most} MHz at most");
    Some(match disturbing.as_slice() {
        [] => Check::good(Area::Telemetry, name, value),
        reasons => Check::gap(
            Area::Telemetry,
            name,
            format!("{value}; held down: {}", reasons.join(", ")),
            "times vary with the clock; samples taken while the GPU throttles are flagged. This tool changes no settings: the machine's owner can lock clocks (`nvidia-smi -lgc`)",
        ),
    })
}

fn persistence(position: usize, gpu: &Gpu) -> Option<Check> {
    let name = format!("GPU {position} persistence mode");
    Some(match gpu.persistent? {
        true => Check::good(Area::Telemetry, name, "on"),
        false => Check::gap(
            Area::Telemetry,
            name,
            "off",
            "the driver is loaded anew whenever the GPU was unused: runs start seconds later, and with cold clocks. The machine's owner can switch it on (`nvidia-smi -pm 1`)",
        ),
    })
}

fn clients(position: usize, gpu: &Gpu) -> Option<Check> {
    let name = format!("GPU {position} other processes");
    Some(match gpu.clients? {
        0 => Check::good(Area::Telemetry, name, "none seen (containers may hide some)"),
        count => Check::gap(
            Area::Telemetry,
            name,
            format!("`{count}` compute on it"),
            "they take the GPU in turns with the kernel under test: times get outliers and results are `advisory`; measure on an idle GPU",
        ),
    })
}
