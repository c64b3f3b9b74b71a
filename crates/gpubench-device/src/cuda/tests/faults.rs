//! Faults. Each is in a separate process, since it damages the context.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::*;
use crate::{Access, FaultCode};

/// The environment variable with the fault that the test should cause.
const FAULT: &str = "GPUBENCH_TEST_FAULT";

/// Runs a test of this file again, in a process that causes a fault.
fn again(test: &str, fault: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("cuda::tests::faults::{test}");
    command
        .args(["--ignored", "--exact", "--nocapture", &name])
        .env(FAULT, fault);
    command
}

/// Returns the fault code of a launch, and checks that nothing works after it.
fn fault_of(name: &str, argument: Option<DevicePtr>, driver: &mut CudaDriver) -> FaultCode {
    let stream = driver.stream().or_chain();
    let function = kernel(driver, KERNELS, name);
    let bytes = argument.map(|address| address.0.to_le_bytes());
    let arguments: Vec<&[u8]> = bytes.iter().map(<[u8; 8]>::as_slice).collect();
    driver.launch(stream, function, &one_thread(), &arguments).or_chain();
    let ended = driver.synchronize(stream).unwrap_err();
    println!("{name}: {}", chain(&ended));
    let DeviceError::Fault(fault) = ended else {
        panic!("{ended:?}")
    };
    let refused = driver.launch(stream, function, &one_thread(), &arguments).unwrap_err();
    println!("{name}, again: {}", chain(&refused));
    assert!(matches!(refused, DeviceError::Fault(_)), "{refused:?}");
    fault.code
}

fn fault(kind: &str) {
    let mut driver = open();
    match kind {
        "illegal address" => {
            let code = fault_of("store", Some(DevicePtr(0x10_0000)), &mut driver);
            assert_eq!(code, FaultCode::OutOfBounds);
        }
        "past the end" => {
            let bytes = driver.facts().granularity;
            let memory = driver.create(bytes).or_chain();
            let start = driver.map(memory, Access::ReadWrite).or_chain();
            let code = fault_of("store", Some(start.offset(bytes)), &mut driver);
            assert_eq!(code, FaultCode::OutOfBounds);
        }
        "read-only" => {
            let bytes = driver.facts().granularity;
            let memory = driver.create(bytes).or_chain();
            let descriptor = driver.export(memory).or_chain();
            let imported = driver.import(descriptor, bytes).or_chain();
            let input = driver.map(imported, Access::Read).or_chain();
            let code = fault_of("store", Some(input), &mut driver);
            assert_eq!(code, FaultCode::OutOfBounds);
        }
        "misaligned" => {
            let memory = driver.alloc(64).or_chain();
            let code = fault_of("store", Some(memory.offset(1)), &mut driver);
            assert_eq!(code, FaultCode::Misaligned);
        }
        "trap" => {
            let code = fault_of("stop", None, &mut driver);
            assert!(
                [FaultCode::Trap, FaultCode::IllegalInstruction, FaultCode::LaunchFailed].contains(&code),
                "{code:?}"
            );
        }
        other => panic!("unknown fault `{other}`"),
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn each_fault_has_its_code_and_does_not_affect_other_processes() {
    if let Ok(kind) = std::env::var(FAULT) {
        return fault(&kind);
    }
    for kind in ["illegal address", "past the end", "read-only", "misaligned", "trap"] {
        let test = "each_fault_has_its_code_and_does_not_affect_other_processes";
        let output = again(test, kind).output().unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        println!("{out}{err}");
        assert!(output.status.success(), "{kind}");
        assert!(out.contains("1 passed"), "{kind}");
        let mut driver = open();
        driver.alloc(1 << 20).or_chain();
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_stays_usable_after_a_process_with_an_endless_kernel_is_killed() {
    if std::env::var(FAULT).is_ok() {
        let mut driver = open();
        let stream = driver.stream().or_chain();
        let function = kernel(&mut driver, KERNELS, "forever");
        driver.launch(stream, function, &one_thread(), &[]).or_chain();
        println!("launched");
        let _ = driver.synchronize(stream);
        panic!("an endless kernel has ended");
    }
    let free = open().facts().free_memory.unwrap();
    let test = "the_gpu_stays_usable_after_a_process_with_an_endless_kernel_is_killed";
    let mut child = again(test, "endless").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(lines.any(|line| line.unwrap().contains("launched")));
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = Instant::now();
    let mut driver = open();
    let stream = driver.stream().or_chain();
    let memory = driver.alloc(1 << 20).or_chain();
    driver.set(stream, memory, 1, 1 << 20).or_chain();
    driver.synchronize(stream).or_chain();
    println!("usable {:?} after the kill", killed.elapsed());
    let left = driver.facts().free_memory.unwrap();
    println!("{free} bytes were free before, {left} after");
}
