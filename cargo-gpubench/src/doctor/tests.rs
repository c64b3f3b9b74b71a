//! Findings on machines of several kinds.

use std::path::PathBuf;

use gpubench::catalog::DeviceKind;

use super::*;
use crate::broker::options::DeviceChoice;
use gpubench_contract::{Ability, MissingAbility, ProbeAbilities};
use gpubench_device::{Absence, AbsenceKind, ClockBound, Facts, cpu};
use gpubench_diagnostic::SetupMissing;
use gpubench_measure::probe::{Answer, Gpu, Opened, Trial};
use gpubench_sandbox::FileClosing;

fn absent(kind: AbsenceKind, reason: &str, hint: &str) -> Absence {
    Absence {
        kind,
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    }
}

/// Returns a machine with a compiler and no GPU.
fn plain() -> Machine {
    Machine {
        threads: 2,
        processor: "Example Processor 9000".to_owned(),
        compiler: Ok("g++ 14.2.0 (c++)".to_owned()),
        cpu_device: Ok(()),
        ordinal: 0,
        driver: Answer::Absent(absent(
            AbsenceKind::NotInstalled,
            "no GPU driver is installed: `libcuda.so.1` is not found",
            "",
        )),
        gpus: Answer::Absent(absent(
            AbsenceKind::NotInstalled,
            "`libnvidia-ml.so.1` is not found",
            "it comes with the GPU's driver",
        )),
        mps: None,
        nvrtc: Err("not found".to_owned()),
        nvcc: None,
        sandbox: Sandbox {
            kernel: "6.8.0".to_owned(),
            no_new_privileges: true,
            seccomp: true,
            close_range: true,
            pidfd: true,
            user_namespaces: true,
            files: FileClosing::Whole,
            landlock: Some(7),
            locked_memory: Some(8 << 20),
        },
        abilities: Ok(ProbeAbilities {
            tool_version: "1.2.3".to_owned(),
            ability: Ability::Events,
            missing: Some(MissingAbility {
                what: "the kernel refuses to load programs".to_owned(),
                remedy: "run it as root".to_owned(),
            }),
            watchpoint: true,
            descendants: true,
        }),
    }
}

fn h200() -> Facts {
    let mut facts = cpu::facts(std::num::NonZeroUsize::MIN);
    facts.device.kind = DeviceKind::Cuda;
    facts.device.name = "NVIDIA H200".to_owned();
    facts.device.multiprocessors = 132;
    facts.device.capability = 90;
    facts.device.l2_bytes = 60 << 20;
    facts.driver = Some("580.159 (CUDA 13.0)".to_owned());
    facts.clock_tick_ns = 32.0;
    facts.clock_bound = ClockBound::Exclusive;
    facts
}

fn works() -> Vec<(Trial, Result<(), String>)> {
    [Trial::Kernels, Trial::Sharing, Trial::Gate]
        .map(|trial| (trial, Ok(())))
        .to_vec()
}

/// Returns a machine that lacks nothing.
fn with_gpu() -> Machine {
    Machine {
        abilities: Ok(ProbeAbilities {
            tool_version: "1.2.3".to_owned(),
            ability: Ability::Probes,
            missing: None,
            watchpoint: true,
            descendants: true,
        }),
        driver: Answer::Given(Opened {
            facts: h200(),
            trials: works(),
        }),
        gpus: Answer::Given(vec![Gpu {
            name: "NVIDIA H200".to_owned(),
            uuid: Some("GPU-0".to_owned()),
            driver: Some("580.159".to_owned()),
            capability: Some(90),
            memory_bytes: Some(141 << 30),
            mig: Some(false),
            compute_mode: Some("default".to_owned()),
            persistent: Some(true),
            clocks_mhz: Some([345, 1980]),
            clocks_are_set: Some(false),
            throttle_reasons: Some(vec![]),
            clients: Some(0),
        }]),
        nvrtc: Ok("13.0 (/usr/local/cuda/lib64/libnvrtc.so.13)".to_owned()),
        nvcc: Some("13.0 (/usr/local/cuda/bin/nvcc)".to_owned()),
        ..plain()
    }
}

fn page(machine: &Machine, choice: DeviceChoice) -> String {
    let page = text(&machine.checks(), &machine.verdict(choice), 100);
    anstream::adapter::strip_str(&page).to_string()
}

const CUDA: DeviceChoice = DeviceChoice::Kind(DeviceKind::Cuda);

#[test]
fn a_machine_without_a_gpu_measures_on_the_cpu_device() {
    insta::assert_snapshot!(page(&plain(), DeviceChoice::Auto));
}

#[test]
fn a_machine_that_lacks_nothing() {
    let machine = with_gpu();
    assert!(machine.checks().iter().all(|check| check.standing == CheckStatus::Good));
    insta::assert_snapshot!(page(&machine, DeviceChoice::Auto));
}

#[test]
fn a_shared_and_throttled_gpu_lowers_the_grade() {
    let mut machine = with_gpu();
    machine.mps = Some(PathBuf::from("/tmp/nvidia-mps"));
    machine.nvrtc = Err("not found".to_owned());
    if let Answer::Given(gpus) = &mut machine.gpus {
        gpus[0].mig = Some(true);
        gpus[0].persistent = Some(false);
        gpus[0].clients = Some(3);
        gpus[0].throttle_reasons = Some(vec!["power-cap".to_owned()]);
    }
    if let Answer::Given(opened) = &mut machine.driver {
        opened.facts.clock_bound = ClockBound::Absent("the GPU is shared through MPS".into());
        opened.facts.device.capability = 80;
    }
    assert!(machine.verdict(CUDA).is_ok());
    insta::assert_snapshot!(page(&machine, CUDA));
}

#[test]
fn clocks_that_somebody_has_set_are_named_with_the_way_to_unlock_them() {
    let mut machine = with_gpu();
    if let Answer::Given(gpus) = &mut machine.gpus {
        gpus[0].clocks_are_set = Some(true);
    }
    let page = page(&machine, CUDA);
    assert!(
        page.contains("345 MHz now, 1980 MHz maximum; a setting limits them"),
        "{page}"
    );
    assert!(page.contains("nvidia-smi -rgc"), "{page}");
}

#[test]
fn a_crashing_driver_is_a_finding() {
    let machine = Machine {
        driver: Answer::Broken {
            how: "was killed by SIGSEGV before it answered".to_owned(),
        },
        ..plain()
    };
    assert!(machine.verdict(DeviceChoice::Auto).is_ok());
    insta::assert_snapshot!(page(&machine, CUDA));
}

#[test]
fn a_gpu_whose_streams_cannot_wait_cannot_measure() {
    let mut machine = with_gpu();
    if let Answer::Given(opened) = &mut machine.driver {
        opened.trials[2].1 = Err("the device cannot pass an open gate within 2s".to_owned());
    }
    let Err(SetupMissing { what: reason, .. }) = machine.verdict(CUDA) else {
        panic!("it can measure");
    };
    assert!(reason.contains("hold a stream at a gate"), "{reason}");
}

#[test]
fn an_unusable_driver_is_worse_than_none() {
    let machine = Machine {
        driver: Answer::Absent(absent(
            AbsenceKind::Unusable,
            "the `libcuda` found is a link-time stub, not a driver",
            "take the folder `stubs` out of `LD_LIBRARY_PATH`",
        )),
        ..plain()
    };
    let driver = machine
        .checks()
        .into_iter()
        .find(|check| check.check == "driver")
        .unwrap();
    assert_eq!(driver.standing, CheckStatus::Missing);
    assert!(driver.cost.unwrap().contains("LD_LIBRARY_PATH"));
}

#[test]
fn a_machine_without_a_compiler_and_without_a_gpu_cannot_measure() {
    let machine = Machine {
        compiler: Err("no C++ compiler works: tried `c++`".to_owned()),
        ..plain()
    };
    let Err(SetupMissing { what: reason, hint }) = machine.verdict(DeviceChoice::Auto) else {
        panic!("it can measure");
    };
    assert!(reason.contains("c++") && hint.contains("CXX"), "{reason} {hint}");
}

#[test]
fn the_cause_of_a_lower_grade_is_named() {
    let grades = |machine: &Machine| {
        let check = machine
            .checks()
            .into_iter()
            .find(|check| check.check == "best grade")
            .unwrap();
        (
            check.standing,
            format!("{} {}", check.value, check.cost.unwrap_or_default()),
        )
    };
    let whole = with_gpu();
    assert_eq!(grades(&whole).0, CheckStatus::Good);
    let mut open = with_gpu();
    open.sandbox.files = FileClosing::Partial;
    let (standing, text) = grades(&open);
    assert_eq!(standing, CheckStatus::Gap);
    assert!(
        text.starts_with("`sealed` for launch plans, `unverified` for hosted code"),
        "{text}"
    );
    let mut shared = with_gpu();
    if let Answer::Given(opened) = &mut shared.driver {
        opened.facts.clock_bound = ClockBound::Absent("the GPU is shared through MPS".into());
    }
    let (standing, text) = grades(&shared);
    assert_eq!(standing, CheckStatus::Gap);
    assert!(
        text.contains("`unverified`") && text.contains("shared through MPS"),
        "{text}"
    );
    assert!(grades(&plain()).1.contains("CPU device"));
}

#[test]
fn sandbox_findings_name_the_affected_code() {
    let mut machine = plain();
    (machine.sandbox.files, machine.sandbox.landlock) = (FileClosing::Partial, Some(2));
    machine.sandbox.seccomp = false;
    let text = page(&machine, DeviceChoice::Auto);
    for words in ["ABI 2", "generators", "references", "kernels of the CPU device"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn findings_as_json() {
    let machine = plain();
    insta::assert_snapshot!(json_lines(&machine.checks(), &machine.verdict(CUDA)));
}
