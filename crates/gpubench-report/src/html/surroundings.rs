//! The environment of a case during measurement.

use super::facts::Facts;
use super::markup::Element;
use super::masthead::joined;
use gpubench_contract::units::energy;
use gpubench_contract::{BenchmarkComplete, Counts, GpuState};

/// A non-breaking space.
const NO_BREAK: &str = "\u{a0}";

/// Returns clocks, throttling, temperature, power, errors and load, where known.
pub(super) fn facts(result: &BenchmarkComplete) -> Option<Element> {
    let environment = &result.environment;
    let gpu = environment.gpu.as_ref();
    let before = gpu.map(|gpu| &gpu.before);
    let after = gpu.and_then(|gpu| gpu.after.as_ref());
    let throttling = environment.throttle_reasons.as_ref().map(|reasons| match &reasons[..] {
        [] => "none".to_owned(),
        _ => reasons.join(", "),
    });
    let xids = gpu.and_then(|gpu| gpu.xids.as_ref()).filter(|xids| !xids.is_empty());
    let xids = xids.map(|xids| xids.iter().map(u64::to_string).collect::<Vec<_>>().join(", "));
    let clock = environment.clock_hz.filter(|_| gpu.is_none()).map(megahertz);
    Facts::default()
        .and_known("Clock", clock)
        .and_known("Before", before.and_then(state))
        .and_known("After", after.and_then(state))
        .and_known(
            "Clock after samples",
            gpu.and_then(|gpu| gpu.sample_clock_hz).map(megahertz),
        )
        .and_known("Energy per call", energy_per_call(result))
        .and_known("Memory in use", result.counts.as_ref().and_then(Counts::memory_in_use))
        .and_known(
            "Locked clock",
            environment.locked_sm_clock_mhz.map(|clock| format!("{clock} MHz")),
        )
        .and_known("Throttling", throttling)
        .and_known("Other clients", gpu.and_then(|gpu| gpu.other_clients))
        .and_known(
            "New memory errors",
            gpu.and_then(|gpu| gpu.new_uncorrected_ecc_errors)
                .filter(|errors| *errors > 0),
        )
        .and_known("Xid errors", xids)
        .and_known("Threads", environment.threads)
        .and_known(
            "Host load",
            environment.load_1m.map(|load| format!("{load:.2} (1 min average)")),
        )
        .list()
}

/// `2.500 J, up to 500.0 mJ of it by other work`.
fn energy_per_call(result: &BenchmarkComplete) -> Option<String> {
    let all = energy(result.energy_per_call_j?);
    let other = result.energy_resolution_j.map(energy);
    Some(other.map_or(all.to_string(), |other| {
        format!("{all}, up to {other} of it by other work")
    }))
}

/// `1980 MHz, memory 3201 MHz, 33 °C, 131 W`.
fn state(state: &GpuState) -> Option<String> {
    let parts = [
        state.clock_hz.map(megahertz),
        state
            .memory_clock_hz
            .map(|clock| format!("memory {}", megahertz(clock))),
        state.temperature_c.map(|temperature| format!("{temperature:.0} °C")),
        state.power_w.map(|power| format!("{power:.0} W")),
    ];
    joined(parts.map(|part| part.map(|part| part.replace(' ', NO_BREAK))))
}

fn megahertz(hertz: f64) -> String {
    format!("{:.0} MHz", hertz / 1e6)
}
