//! A record for tests.

use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, DeviceKind, DeviceName, Metric, Mode, Params, SchemaVersion, Verdict,
};

/// Returns the record of a case that passed on a device, without samples.
pub(super) fn passed_case(kind: DeviceKind) -> BenchmarkComplete {
    let started = BenchmarkStarted {
        schema_version: SchemaVersion,
        run_id: "0f3a".to_owned(),
        package: "suite".to_owned(),
        benchmark: "axpy".to_owned(),
        params: Params::default(),
        case: "axpy".to_owned(),
        mode: Mode::Cold,
        metric: Metric::time(),
        counters: Vec::new(),
        index: 0,
    };
    let device = DeviceName {
        kind,
        name: "a device".to_owned(),
        uuid: None,
    };
    BenchmarkComplete::unmeasured(&started, device, Verdict::Pass)
}
