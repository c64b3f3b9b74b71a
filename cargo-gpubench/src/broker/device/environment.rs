//! The environment of a run.

use gpubench_contract::{Device, Environment, Flush};
use gpubench_device::{Backend, Facts, kind_in_records};

/// What a run has set on its device.
#[derive(Clone, Copy, Debug)]
pub(in crate::broker) struct DeviceSetup {
    /// How the flush accesses its memory.
    pub(in crate::broker) flush: Flush,
    /// Bytes to flush before each call.
    pub(in crate::broker) flush_bytes: u64,
    /// The locked clock in MHz.
    pub(in crate::broker) locked_mhz: Option<u32>,
}

/// Returns the current environment of this process.
pub(in crate::broker) fn environment(facts: &Facts, setup: DeviceSetup, compiler: Option<&str>) -> Environment {
    let loads = fs_err::read_to_string("/proc/loadavg").unwrap_or_default();
    let memory = fs_err::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    let is_the_host = Backend::for_facts(facts).words().is_the_host;
    Environment {
        host: None,
        kernel: Some(rustix::system::uname().release().to_string_lossy().into_owned()),
        cpu: Some(gpubench_device::cpu::processor_name()),
        cpus: Some(gpubench_device::cpu::available_threads().get() as u64),
        load_1m: loads.split_whitespace().next().and_then(|load| load.parse().ok()),
        memory_bytes: kibibytes
            .and_then(|kibibytes| kibibytes.parse::<u64>().ok())
            .map(|kibibytes| kibibytes << 10),
        compiler: compiler.map(str::to_owned),
        driver: facts.driver.clone(),
        threads: is_the_host.then_some(u64::from(facts.device.multiprocessors)),
        flush_bytes: Some(setup.flush_bytes),
        flush: Some(setup.flush),
        locked_sm_clock_mhz: setup.locked_mhz.map(u64::from),
        clock_hz: None,
        throttle_reasons: None,
        gpu: None,
    }
}

/// Returns the record of the run's device.
pub(in crate::broker) fn device(facts: &Facts) -> Device {
    let known = &facts.device;
    Device {
        kind: kind_in_records(known.kind),
        name: known.name.clone(),
        multiprocessors: Some(u64::from(known.multiprocessors)),
        capability: (known.capability > 0).then_some(u64::from(known.capability)),
        // The host's facts hold the flushed bytes of the cache, not the cache size.
        l2_bytes: (!Backend::for_facts(facts).words().is_the_host).then_some(known.l2_bytes),
        clock_tick_ns: Some(facts.clock_tick_ns),
        peak_bandwidth: facts.peak_bandwidth,
        peak_flops: facts.peak_arithmetic.f32,
        peak_arithmetic: Some(facts.peak_arithmetic).filter(|peaks| peaks.is_known()),
        uuids: facts.identity.iter().cloned().collect(),
    }
}
