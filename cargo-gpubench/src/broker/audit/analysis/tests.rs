use gpubench_observe::testing::Script;
use gpubench_observe::{CopyDirection, LaunchKind};

use super::*;

const MIB: u64 = 1 << 20;

/// The worker, with a kernel of a plan and one of the tool's own.
fn worker() -> Script {
    Script::of(7, 0, "worker")
        .name(1, "gemm")
        .name(2, "gb_digest")
        .allocate(0x1000, 64)
}

/// The spans of calls that begin at these milliseconds and take one.
fn spans(begin_ms: &[u64]) -> Vec<WindowSpan> {
    let span = |ms: &u64| WindowSpan {
        process: 7,
        began_ns: ms * 1_000_000,
        ended_ns: (ms + 1) * 1_000_000,
    };
    begin_ms.iter().map(span).collect()
}

fn seen(scripts: impl IntoIterator<Item = Script>) -> SeenEvents {
    SeenEvents {
        events: scripts.into_iter().flat_map(|script| script.events).collect(),
        lost: 0,
    }
}

#[test]
fn calls_are_counted_in_their_spans_and_without_the_kernels_of_the_tool() {
    let script = worker()
        .launch(1)
        .after_ms(10)
        .launch(1)
        .launch(2)
        .after_ms(10)
        .launch(1)
        .launch_as(1, LaunchKind::Plain, Execution::Captured)
        .copy(CopyDirection::HostToDevice, 100, std::time::Duration::ZERO);
    let other = Script::of(8, 0, "referee").name(1, "gemm").after_ms(10).launch(1);
    let audit = call_audit(&seen([script, other]), &spans(&[10, 20])).unwrap();
    assert_eq!((audit.calls, audit.launches, audit.streams), (2, 1.0, 1.0));
    assert_eq!((audit.copies, audit.copied_bytes), (0.5, 50.0));
    let gemm = AuditedKernel {
        name: "gemm".to_owned(),
        launches: 1.0,
    };
    assert_eq!(audit.kernels, [gemm]);
    assert_eq!(findings(&audit), [""; 0]);
}

#[test]
fn a_leak_of_each_call_is_found_and_memory_of_the_set_up_is_not() {
    let script = worker()
        .after_ms(10)
        .allocate(0x2000, MIB)
        .allocate(0x3000, 8 * MIB)
        .free(0x3000)
        .after_ms(10)
        .allocate(0x4000, MIB);
    let audit = call_audit(&seen([script]), &spans(&[10, 20])).unwrap();
    assert_eq!(audit.bytes_left, MIB as f64);
    let findings = findings(&audit);
    assert!(
        findings[0].starts_with("each call leaves 1 MiB allocated: 3 allocations and 1 free in 2 audited calls"),
        "{findings:?}"
    );
}

#[test]
fn memory_of_the_set_up_that_a_call_frees_is_less_than_before() {
    let script = worker().after_ms(10).free(0x1000).free(0);
    let audit = call_audit(&seen([script]), &spans(&[10])).unwrap();
    assert_eq!((audit.frees, audit.bytes_left), (1.0, -64.0));
    assert_eq!(findings(&audit), [""; 0]);
}

#[test]
fn failed_calls_and_lost_events_are_told() {
    let script = worker().after_ms(10).fail("cuMemAlloc", 2);
    let lossy = SeenEvents {
        lost: 3,
        ..seen([script])
    };
    let findings = findings(&call_audit(&lossy, &spans(&[10])).unwrap());
    assert_eq!(
        findings,
        [
            "1 call of the CUDA driver failed in 1 audited call",
            "the audit lost 3 events, so its numbers may be too low",
        ]
    );
}

#[test]
fn nothing_of_the_worker_is_no_audit() {
    let other = Script::of(8, 0, "referee").after_ms(10).launch(1);
    assert_eq!(call_audit(&seen([other]), &spans(&[10])), None);
    assert_eq!(call_audit(&seen([worker()]), &[]), None);
    let began = Script::of(7, 0, "worker");
    assert_eq!(call_audit(&seen([began]), &spans(&[10])), None);
}

#[test]
fn a_kernel_that_the_plan_does_not_launch_so_often_is_found() {
    let script = || worker().name(3, "extra").after_ms(10).launch(1).launch(2);
    let unplanned = |script: Script, planned: &[&str]| unplanned(&seen([script]), &spans(&[10]), planned);
    assert_eq!(unplanned(script(), &["gemm"]), None);
    assert_eq!(unplanned(script().launch(3), &["gemm"]), Some("extra".to_owned()));
    assert_eq!(unplanned(script().launch(1), &["gemm"]), Some("gemm".to_owned()));
    assert_eq!(unplanned(script().launch(1), &["gemm", "gemm"]), None);
    // The driver did not tell its name.
    assert_eq!(unplanned(script().launch(9), &["gemm"]), None);
}
