use gpubench_observe::testing::Script;
use gpubench_observe::{
    CopyDirection, EventKind, Execution, FunctionHandle, LaunchKind, Origin, ProcessId, ProcessStart, StreamHandle,
    Timestamp, observed_calls,
};

use super::*;
use gpubench_contract::ObservedSystemCall;

const MIB: u64 = 1 << 20;

/// The worker, with a kernel of a plan and one of the tool's own.
fn worker() -> Script {
    Script::new(7, 0, "worker")
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
        timed_ns: None,
        submissions: None,
    };
    begin_ms.iter().map(span).collect()
}

fn seen(scripts: impl IntoIterator<Item = Script>) -> SeenCalls {
    let events: Vec<_> = scripts.into_iter().flat_map(|script| script.events).collect();
    SeenCalls {
        calls: observed_calls(&events),
        ..SeenCalls::default()
    }
}

/// Returns the calls of a worker that begin at these milliseconds, after a first call that is left
/// out.
fn calls(script: Script, begin_ms: &[u64]) -> AuditedCalls {
    let begins: Vec<u64> = [2].iter().chain(begin_ms).copied().collect();
    AuditedCalls::from_calls(&seen([script]), &spans(&begins)).unwrap()
}

fn kernel(name: &str, launches: f64) -> AuditedKernel {
    AuditedKernel {
        name: name.to_owned(),
        launches,
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
    let other = Script::new(8, 0, "referee").name(1, "gemm").after_ms(10).launch(1);
    let calls = AuditedCalls::from_calls(&seen([script, other]), &spans(&[5, 10, 20])).unwrap();
    let audit = calls.audit();
    assert_eq!((audit.calls, audit.launches, audit.streams), (2, 1.0, 1.0));
    assert_eq!((audit.copies, audit.copied_bytes), (0.5, 50.0));
    assert_eq!(audit.kernels, [kernel("gemm", 1.0)]);
    assert_eq!(calls.findings(), [""; 0]);
}

#[test]
fn submissions_that_no_call_of_the_driver_explains_are_found() {
    let stream = StreamHandle(1);
    let call = |script: Script| {
        let script = script.launch(1).launch(2).push(EventKind::RecordEvent { stream });
        script.copy(CopyDirection::HostToDevice, 2 * MIB, std::time::Duration::ZERO)
    };
    let script = call(worker().after_ms(10)).after_ms(10);
    // The tool records an event in every window.
    let empty = script.after_ms(10).push(EventKind::RecordEvent { stream }).launch(2);
    let mut seen = seen([empty]);
    let of = |seen: &SeenCalls, submissions: f64| {
        let mut calls = AuditedCalls::from_calls(seen, &spans(&[10])).unwrap();
        calls.add_submissions(submissions, AuditedCalls::from_calls(seen, &spans(&[30])).as_ref());
        (calls.audit().submissions, calls.findings())
    };
    // A launch, and three for the copy.
    assert_eq!(of(&seen, 4.0), (Some(4.0), Vec::new()));
    assert_eq!(of(&seen, 4.4).1, [""; 0]);
    let (submissions, findings) = of(&seen, 6.0);
    assert_eq!(submissions, Some(6.0));
    assert!(
        findings[0].starts_with("2 submissions to the GPU in 1 audited call belong to no launch"),
        "{findings:?}"
    );
    // The lost events may have been those of the submissions.
    seen.lost = 1;
    assert!(of(&seen, 6.0).1.iter().all(|finding| finding.contains("lost 1 event")));
}

#[test]
fn a_copy_within_the_device_explains_one_submission() {
    let script = worker().after_ms(10).launch(1);
    let script = script.copy(CopyDirection::DeviceToDevice, 64 * MIB, std::time::Duration::ZERO);
    let mut calls = calls(script, &[10]);
    calls.add_submissions(3.0, None);
    assert_eq!(calls.findings().len(), 1);
}

#[test]
fn the_first_call_is_left_out_unless_it_is_the_only_one() {
    let script = || worker().after_ms(10).launch(1).launch(1).after_ms(10).launch(1);
    let launches = |begin_ms: &[u64]| {
        let calls = AuditedCalls::from_calls(&seen([script()]), &spans(begin_ms)).unwrap();
        (calls.audit().calls, calls.audit().launches)
    };
    assert_eq!(launches(&[10]), (1, 2.0));
    assert_eq!(launches(&[10, 20]), (1, 1.0));
}

#[test]
fn a_leak_of_each_call_is_found_and_memory_of_the_set_up_is_not() {
    let script = worker()
        .launch(1)
        .after_ms(10)
        .allocate(0x2000, MIB)
        .allocate(0x3000, 8 * MIB)
        .free(0x3000)
        .after_ms(10)
        .launch(1)
        .allocate(0x4000, MIB);
    let calls = calls(script, &[10, 20]);
    assert_eq!(calls.audit().unfreed_bytes, MIB as f64);
    let findings = calls.findings();
    assert!(
        findings[0].starts_with("each call leaves 1 MiB allocated: 3 allocations and 1 free in 2 audited calls"),
        "{findings:?}"
    );
}

#[test]
fn a_leak_of_some_calls_is_found() {
    let leaks = |script: Script, address| script.launch(1).allocate(address, MIB).after_ms(10);
    let idle = |script: Script| script.launch(1).after_ms(10);
    let script = leaks(worker().after_ms(10), 0x2000);
    let script = leaks(idle(idle(script)), 0x3000);
    let findings = calls(script, &[10, 20, 30, 40]).findings();
    assert!(
        findings[0].starts_with("on average, a call leaves 512 KiB allocated"),
        "{findings:?}"
    );
}

#[test]
fn a_workspace_that_is_allocated_once_or_replaced_is_no_leak() {
    let once = worker().after_ms(10).launch(1).after_ms(10).launch(1);
    let once = once.allocate(0x2000, 32 * MIB).after_ms(10).launch(1);
    assert_eq!(calls(once, &[10, 20, 30]).findings(), [""; 0]);
    let replaced = worker().after_ms(2).allocate(0x2000, MIB).after_ms(8);
    let replaced = replaced.launch(1).free(0x2000).allocate(0x3000, MIB).after_ms(10);
    let replaced = replaced.launch(1).free(0x3000).allocate(0x2000, MIB);
    assert_eq!(calls(replaced, &[10, 20]).findings(), [""; 0]);
}

#[test]
fn memory_of_the_set_up_that_a_call_frees_is_less_than_before() {
    let calls = calls(worker().after_ms(10).launch(1).free(0x1000).free(0), &[10]);
    let audit = calls.audit();
    assert_eq!((audit.frees, audit.unfreed_bytes), (1.0, -64.0));
    assert_eq!(calls.findings(), [""; 0]);
}

#[test]
fn failed_calls_and_lost_events_are_told() {
    let script = worker().after_ms(10).launch(1).fail("cuMemAlloc", 2);
    let lossy = SeenCalls {
        lost: 3,
        ..seen([script])
    };
    let calls = AuditedCalls::from_calls(&lossy, &spans(&[10])).unwrap();
    assert_eq!(
        calls.findings(),
        [
            "1 call of the CUDA driver failed in 1 audited call",
            "the audit lost 3 events, so its numbers may be too low",
        ]
    );
}

#[test]
fn calls_without_any_work_are_told() {
    let findings = calls(worker().after_ms(10).launch(2), &[10]).findings();
    assert!(
        findings[0].starts_with("no launch, copy or fill was seen in 1 audited call"),
        "{findings:?}"
    );
}

#[test]
fn nothing_of_the_worker_is_no_audit() {
    let audited = |script, begin_ms: &[u64]| AuditedCalls::from_calls(&seen([script]), &spans(begin_ms)).is_some();
    let other = Script::new(8, 0, "referee").after_ms(10).launch(1);
    assert!(!audited(other, &[10]));
    assert!(!audited(worker(), &[]));
    assert!(!audited(Script::new(7, 0, "worker"), &[10]));
}

#[test]
fn processes_that_the_worker_starts_are_audited_with_it() {
    let parent = ProcessId {
        pid: 7,
        started: Timestamp(0),
    };
    let child = Script::unseen(9, 5).push(EventKind::Started(ProcessStart {
        origin: Origin::Fork { parent },
        executable: None,
        command: Vec::new(),
        owner: Default::default(),
    }));
    let child = child.name(1, "scan").after_ms(5).launch(1);
    let calls = AuditedCalls::from_calls(&seen([worker(), child]), &spans(&[10])).unwrap();
    assert_eq!(calls.audit().kernels, [kernel("scan", 1.0)]);
}

#[test]
fn a_kernel_that_the_plan_does_not_launch_so_often_is_found() {
    let script = || worker().name(3, "extra").after_ms(10).launch(1).launch(2);
    let unplanned = |script: Script, planned: &[&str]| {
        let planned: Vec<String> = planned.iter().map(|name| (*name).to_owned()).collect();
        calls(script, &[10]).unplanned(&planned)
    };
    assert_eq!(unplanned(script(), &["gemm"]), None);
    assert_eq!(unplanned(script().launch(3), &["gemm"]), Some("extra".to_owned()));
    assert_eq!(unplanned(script().launch(1), &["gemm"]), Some("gemm".to_owned()));
    assert_eq!(unplanned(script().launch(1), &["gemm", "gemm"]), None);
    // The driver did not tell its name.
    assert_eq!(unplanned(script().launch(9), &["gemm"]), None);
    // The end of its name is cut off.
    let long = script().name(4, &"n".repeat(LONGEST_NAME)).launch(4);
    assert_eq!(unplanned(long, &["gemm"]), None);
}

#[test]
fn a_launch_has_the_name_that_its_handle_had_then() {
    let (first, second) = (FunctionHandle(5), FunctionHandle(6));
    let alias = |function, of| EventKind::Alias { function, of };
    let script = worker()
        .after_ms(10)
        // Its name comes through another handle, after the launch.
        .launch(5)
        .push(alias(first, second))
        .name(6, "late")
        .launch(5)
        // Then the driver uses the handle for another kernel.
        .name(6, "next")
        .launch(6);
    let audit = calls(script, &[10]).audit();
    assert_eq!(audit.kernels, [kernel("late", 2.0), kernel("next", 1.0)]);
    // Two handles that are named for each other end in no circle.
    let script = worker().after_ms(10).launch(5);
    let script = script.push(alias(first, second)).push(alias(second, first)).launch(6);
    assert_eq!(calls(script, &[10]).audit().kernels, [kernel(UNNAMED, 2.0)]);
}

#[test]
fn system_calls_count_while_host_code_is_timed() {
    let (once, often) = ("write", "open");
    let call = |at_us: u64, process, name: &str| ObservedSystemCall {
        at_ns: at_us * 1000,
        process,
        name: name.to_owned(),
    };
    let system_calls = vec![
        call(9_900, 7, once),
        call(10_100, 7, once),
        call(10_200, 8, once),
        call(10_300, 7, often),
        call(10_400, 7, often),
        call(10_500, 7, once),
        call(20_200, 7, often),
    ];
    let seen = SeenCalls {
        system_calls,
        ..seen([worker().after_ms(10).launch(1)])
    };
    let timed = |from_us: u64, until_us: u64| Some((from_us * 1000, until_us * 1000));
    let mut spans = spans(&[2, 10, 20]);
    (spans[1].timed_ns, spans[2].timed_ns) = (timed(10_100, 10_500), timed(20_100, 20_500));
    let named = |spans: &[WindowSpan]| {
        let calls = AuditedCalls::from_calls(&seen, spans).unwrap().audit().system_calls?;
        let call = |call: AuditedSystemCall| (call.name, call.calls);
        Some(calls.into_iter().map(call).collect::<Vec<_>>())
    };
    let expected = [(often.to_owned(), 1.5), (once.to_owned(), 0.5)];
    assert_eq!(named(&spans).as_deref(), Some(&expected[..]));
    // Without host code in its time, no call of the worker is one of the timed region.
    spans[2].timed_ns = None;
    assert_eq!(named(&spans), None);
}

#[test]
fn a_call_of_any_one_kind_of_work_has_done_some() {
    let set = || EventKind::RecordEvent {
        stream: StreamHandle(1),
    };
    let nothing = calls(worker().after_ms(10).push(set()), &[10]);
    assert!(nothing.findings()[0].starts_with("no launch, copy or fill was seen in 1 audited call"));
    let work: [fn(&mut Call); 4] = [
        |call| call.totals.graph_launches = 1.0,
        |call| call.totals.copies = 1.0,
        |call| call.totals.memsets = 1.0,
        |call| {
            call.kernels.insert(None, 1);
        },
    ];
    for (number, work) in work.into_iter().enumerate() {
        let mut some = calls(worker().after_ms(10).push(set()), &[10]);
        work(&mut some.calls[0]);
        assert_eq!(some.findings(), [""; 0], "{number}");
    }
}

#[test]
fn graphs_are_launches_and_half_a_submission_of_a_call_is_one_too_many() {
    let mut audited = calls(worker().after_ms(10).launch(1).launch(1), &[10]);
    audited.calls[0].totals.graph_launches = 3.0;
    assert_eq!(audited.launches(), 5);
    for (submissions, findings) in [(2.4, 0), (2.5, 1)] {
        audited.add_submissions(submissions, None);
        assert_eq!(audited.findings().len(), findings, "{submissions}");
    }
}
