//! Private memory, memory shared between processes, and host memory.

use gpubench::catalog::DType;

use super::*;
use crate::{Access, Freeze};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_reports_its_properties() {
    let driver = open();
    let facts = driver.facts();
    println!("{facts:#?}");
    assert!(facts.identity.as_ref().unwrap().starts_with("GPU-"));
    assert!(facts.device.capability >= 75 && facts.device.multiprocessors > 0);
    assert!(facts.granularity.is_power_of_two() && facts.device.l2_bytes > 0);
    assert!(facts.free_memory.unwrap() > 0);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn private_memory_keeps_what_is_written() {
    let mut driver = open();
    let memory = driver.alloc(1000).or_chain();
    let written: Vec<u8> = (0..1000).map(|byte| byte as u8).collect();
    driver.write(memory, &written).or_chain();
    let mut read = vec![0; 1000];
    driver.read(memory, &mut read).or_chain();
    assert_eq!(read, written);
    driver.free(memory);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_shared_allocation_is_the_same_memory_through_two_mappings() {
    let mut driver = open();
    let bytes = driver.facts().granularity;
    let ours = driver.create(bytes).or_chain();
    let near = driver.map(ours, Access::ReadWrite).or_chain();
    let descriptor = driver.export(ours).or_chain();
    let theirs = driver.import(descriptor, bytes).or_chain();
    let far = driver.map(theirs, Access::Read).or_chain();
    assert_ne!(near, far);
    driver.write(near.offset(bytes - 4), &[1, 2, 3, 4]).or_chain();
    assert_eq!(word_at(&mut driver, far.offset(bytes - 4)), 0x0403_0201);
    driver.freeze(ours, Freeze::SizeAndContents).or_chain();
    driver.release(theirs);
    driver.release(ours);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_descriptor_that_is_not_an_allocation_is_refused() {
    let mut driver = open();
    let file = tempfile::tempfile().unwrap();
    let refused = driver.import(file.into(), 2 << 20).unwrap_err();
    println!("{}", chain(&refused));
    assert!(matches!(refused, DeviceError::ForeignMemory(_)), "{refused:?}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn shared_frozen_host_memory_can_be_copied_from_and_to() {
    let mut driver = open();
    let bytes = driver.facts().granularity;
    let host = driver.create_host(bytes).or_chain();
    let address = driver.map(host, Access::ReadWrite).or_chain();
    driver.freeze(host, Freeze::SizeAndContents).or_chain();
    let stream = driver.stream().or_chain();
    let private = driver.alloc(bytes).or_chain();
    driver.set(stream, private, 0xa5, bytes).or_chain();
    driver.copy(stream, address, private, bytes).or_chain();
    driver.set(stream, private, 0, bytes).or_chain();
    driver.copy(stream, private, address, bytes).or_chain();
    driver.synchronize(stream).or_chain();
    assert_eq!(word_at(&mut driver, private.offset(bytes - 4)), 0xa5a5_a5a5);
    driver.release(host);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn allocating_more_memory_than_exists_fails() {
    let mut driver = open();
    let granule = driver.facts().granularity;
    for refused in [
        driver.alloc(1 << 50).map(drop),
        driver.create((1_u64 << 50).next_multiple_of(granule)).map(drop),
    ] {
        let refused = refused.unwrap_err();
        println!("{}", chain(&refused));
        assert!(matches!(refused, DeviceError::OutOfMemory { bytes, .. } if bytes == 1 << 50));
    }
    driver.alloc(1 << 20).or_chain();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn persisting_lines_can_be_reset_repeatedly() {
    let mut driver = open();
    driver.reset_persisting_lines().or_chain();
    driver.reset_persisting_lines().or_chain();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_and_cpu_device_make_the_same_inputs() {
    use crate::cpu::executor::ScheduleSeed;
    use crate::cpu::{CpuDriver, available_threads};
    use crate::harness::Harness;

    let tensor = gpubench::catalog::Tensor {
        name: "x".into(),
        role: gpubench::catalog::Role::Input,
        dtype: DType::F32,
        shape: vec![10_007],
        fill: gpubench::catalog::Fill::Uniform { low: -1.0, high: 1.0 },
        tolerance: gpubench::catalog::Tolerance::Exact,
        record: None,
    };
    let fill = |driver: &mut dyn Driver| -> Vec<u8> {
        let harness = Harness::load(driver).or_chain();
        let stream = driver.stream().or_chain();
        let bytes = tensor.elements() * 4;
        let memory = driver.alloc(bytes).or_chain();
        harness
            .fill(driver, stream, memory, &tensor, 3, 0x1234_5678_9abc)
            .or_chain();
        driver.synchronize(stream).or_chain();
        let mut filled = vec![0; bytes as usize];
        driver.read(memory, &mut filled).or_chain();
        filled
    };
    let on_gpu = fill(&mut open());
    let on_cpu = fill(&mut CpuDriver::new(Some(available_threads()), ScheduleSeed::Natural).or_chain());
    assert!(on_gpu == on_cpu, "the fills differ");
}
