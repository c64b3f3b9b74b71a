use std::time::Duration;

use gpubench_contract::{ProbeDirection, ProbeEnd, ProbeMemoryKind, ProbeState};

use super::{Sampler, Totals};
use crate::ledger::{Ledger, Limits};
use crate::testing::{Replay, Script};
use crate::{CopyDirection, Source, Timestamp};

fn seconds(number: u64) -> Timestamp {
    Timestamp(number * 1_000_000_000)
}

fn add(ledger: &mut Ledger, script: Script) -> Script {
    let rest = Script {
        events: Vec::new(),
        ..script.clone()
    };
    script.events.into_iter().for_each(|event| ledger.apply(event));
    rest
}

fn rates(seen: &ProbeState) -> Vec<(&str, f64)> {
    let kernels = seen.kernels.iter();
    kernels
        .map(|kernel| (kernel.name.as_str(), kernel.launches_per_second))
        .collect()
}

#[test]
fn rates_are_those_of_the_interval_and_counts_those_of_the_whole_time() {
    let mut ledger = Ledger::new(Limits::default());
    let mut sampler = Sampler::starting(seconds(1));
    let totals = Totals::default();
    let script = Script::new(7, 1000, "app").name(1, "a").name(2, "b");
    let script = (0..10).fold(script, |script, _| script.launch(1));
    let script = add(
        &mut ledger,
        script.copy(CopyDirection::HostToDevice, 4000, Duration::from_millis(2)),
    );
    let first = sampler.sample(&ledger, &totals, seconds(3));
    assert_eq!(rates(first.calls.as_ref().expect("calls")), [("a", 5.0)]);
    assert_eq!(first.calls.as_ref().expect("calls").work.launches_per_second, 5.0);
    assert_eq!(
        first.calls.as_ref().expect("calls").processes[0].launches_per_second,
        5.0
    );
    assert_eq!(
        first.calls.as_ref().expect("calls").copies[0].direction,
        ProbeDirection::HostToDevice
    );
    assert_eq!(first.calls.as_ref().expect("calls").copies[0].bytes_per_second, 2000.0);
    assert_eq!(first.calls.as_ref().expect("calls").copies[0].bandwidth, Some(2e6));
    add(&mut ledger, script.launch(2));
    let second = sampler.sample(&ledger, &totals, seconds(4));
    assert_eq!(rates(second.calls.as_ref().expect("calls")), [("a", 0.0), ("b", 1.0)]);
    assert_eq!((second.elapsed_ns, second.interval_ns), (3_000_000_000, 1_000_000_000));
    assert_eq!(second.calls.as_ref().expect("calls").copies[0].bytes_per_second, 0.0);
    let end = sampler.finish(&ledger, &totals, seconds(6), ProbeEnd::Ended);
    assert_eq!(rates(end.calls.as_ref().expect("calls")), [("a", 2.0), ("b", 0.2)]);
    let steps: Vec<u64> = end.timeline.iter().map(|point| point.launches).collect();
    assert_eq!(steps, [10, 1, 0]);
}

#[test]
fn memory_has_its_age_and_what_ended_has_what_it_left() {
    let mut ledger = Ledger::new(Limits::default());
    let mut sampler = Sampler::starting(seconds(1));
    let script = Script::new(7, 1000, "app").allocate(0x1000, 100).after_ms(1000);
    let script = script
        .in_thread(9)
        .allocate(0x2000, 50)
        .allocate(0x3000, 50)
        .free(0x1000);
    let script = add(&mut ledger, script);
    let seen = sampler
        .sample(&ledger, &Totals::default(), seconds(4))
        .calls
        .expect("calls");
    let process = &seen.processes[0];
    assert_eq!((process.live, process.live_bytes, process.peak_bytes), (2, 100, 200));
    let [group] = &process.memory[..] else {
        panic!("{:?}", process.memory)
    };
    assert_eq!(
        (group.count, group.bytes, group.thread, group.kind),
        (2, 50, 9, ProbeMemoryKind::Device)
    );
    assert!((1_990_000_000..2_000_000_000).contains(&group.oldest_ns), "{group:?}");
    assert_eq!(process.oldest_ns, Some(group.oldest_ns));
    add(&mut ledger, script.exit(256));
    let end = sampler
        .finish(&ledger, &Totals::default(), seconds(9), ProbeEnd::Ended)
        .calls
        .expect("calls");
    let process = &end.processes[0];
    assert!(!process.running);
    assert_eq!((process.live, process.unfreed, process.unfreed_bytes), (0, 2, 100));
    assert_eq!((process.wait_status, process.oldest_ns), (Some(256), None));
    assert_eq!(process.memory[0].count, 2);
    assert_eq!((end.memory[0].live, end.memory[0].unfreed), (0, 2));
}

#[test]
fn a_look_at_a_time_without_events_is_a_sample_like_any_other() {
    let mut source = Replay::default();
    let mut ledger = Ledger::new(Limits::default());
    let mut sampler = Sampler::starting(seconds(1));
    for second in 2..5 {
        let events = source.poll(&mut |event| ledger.apply(event)).expect("a replay");
        assert_eq!(events, 0);
        let sample = sampler.sample(&ledger, &Totals::from_source(&source), seconds(second));
        assert_eq!(sample.elapsed_ns, (second - 1) * 1_000_000_000);
    }
}

#[test]
fn a_record_has_a_bounded_number_of_rows_and_counts_the_rest() {
    let mut ledger = Ledger::new(Limits::default());
    for pid in 1..=200 {
        let script = (0..20).fold(Script::new(pid, 1000, "app"), |script, n| {
            let function = u64::from(pid) * 100 + n;
            script.name(function, &format!("k{function}")).launch(function)
        });
        add(&mut ledger, if pid % 2 == 0 { script.exit(0) } else { script });
    }
    let seen = Sampler::starting(seconds(1))
        .sample(&ledger, &Totals::default(), seconds(2))
        .calls
        .expect("calls");
    assert_eq!((seen.processes.len(), seen.processes_left_out), (64 + 16, 120));
    assert_eq!((seen.kernels.len() as u64 + seen.kernels_left_out), 4000);
    assert!(seen.kernels.len() <= 64 && seen.processes.iter().all(|process| process.kernels.len() <= 8));
}

#[test]
fn processes_with_the_most_memory_and_then_launches_come_first_and_ended_ones_last() {
    let mut ledger = Ledger::new(Limits::default());
    let mut sampler = Sampler::starting(seconds(1));
    let launches = |script, count| (0..count).fold(script, |script: Script, _| script.launch(1));
    let script = |pid, bytes, count| launches(Script::new(pid, 1000, "app").allocate(0x1000, bytes), count);
    for script in [script(1, 10, 9), script(2, 30, 1), script(3, 10, 12), script(4, 10, 9)] {
        add(&mut ledger, script);
    }
    add(&mut ledger, script(5, 99, 6).exit(0));
    add(&mut ledger, script(6, 1, 2).exit(0));
    let seen = sampler
        .sample(&ledger, &Totals::default(), seconds(3))
        .calls
        .expect("calls");
    let found: Vec<_> = seen
        .processes
        .iter()
        .map(|process| (process.pid, process.launches_per_second, process.running))
        .collect();
    let running = [(2, 0.5, true), (3, 6.0, true), (1, 4.5, true), (4, 4.5, true)];
    assert_eq!(found, [&running[..], &[(6, 0.0, false), (5, 0.0, false)]].concat());
    assert_eq!((seen.processes_seen, seen.processes_left_out), (6, 0));
}

#[test]
fn errors_beyond_the_rows_and_beyond_the_table_are_counted() {
    let limits = Limits {
        errors: 70,
        ..Limits::default()
    };
    let mut ledger = Ledger::new(limits);
    let script = (1..=80).fold(Script::new(7, 1000, "app"), |script, code| {
        script.fail("cuMemAlloc", code)
    });
    add(&mut ledger, script.fail("cuMemAlloc", 9));
    let sampler = &mut Sampler::starting(seconds(1));
    let seen = sampler
        .sample(&ledger, &Totals::default(), seconds(3))
        .calls
        .expect("calls");
    assert_eq!(
        (seen.errors[0].code, seen.errors[0].count),
        (9, 2),
        "the most frequent is first"
    );
    assert_eq!((seen.errors.len(), seen.errors_left_out), (64, 6 + 10));
}

#[test]
fn launches_without_a_name_yet_are_a_row_with_those_that_are_captured() {
    let mut ledger = Ledger::new(Limits::default());
    let script = Script::new(7, 1000, "app").launch(1).launch(1);
    let script = script.launch_as(1, crate::LaunchKind::Plain, crate::Execution::Captured);
    add(&mut ledger, script);
    let sampler = &mut Sampler::starting(seconds(1));
    let seen = sampler
        .sample(&ledger, &Totals::default(), seconds(3))
        .calls
        .expect("calls");
    let [kernel] = &seen.kernels[..] else {
        panic!("{:?}", seen.kernels)
    };
    assert_eq!((kernel.name.as_str(), &kernel.mangled), ("(unnamed)", &None));
    assert_eq!(
        (kernel.launches, kernel.captured_launches, kernel.launches_per_second),
        (2, 1, 1.0)
    );
}

#[test]
fn calls_have_the_most_frequent_first_and_errors_only_if_their_results_are_seen() {
    let total = |call: &str, entries, returns, errors, dropped| crate::FunctionTotal {
        call: crate::DriverCall(call.into()),
        entries,
        returns,
        errors,
        dropped,
    };
    let totals = Totals {
        functions: vec![
            total("cuNever", 0, 0, 0, 0),
            total("cuInit", 2, 2, 1, 0),
            total("cuLaunchKernel", 9, 0, 0, 4),
            total("cuCtxGet", 2, 2, 0, 0),
        ],
        lost: 5,
        drivers: Vec::new(),
        notices: vec!["a notice".to_owned()],
        left_out: None,
    };
    let ledger = Ledger::new(Limits::default());
    let seen = Sampler::starting(seconds(1))
        .sample(&ledger, &totals, seconds(2))
        .calls
        .expect("calls");
    let calls: Vec<_> = seen
        .calls
        .iter()
        .map(|call| (call.call.as_str(), call.calls, call.errors, call.lost))
        .collect();
    assert_eq!(
        calls,
        [
            ("cuLaunchKernel", 9, None, 4),
            ("cuCtxGet", 2, Some(0), 0),
            ("cuInit", 2, Some(1), 0)
        ]
    );
    assert_eq!((seen.lost_events, seen.notices), (5, totals.notices));
}

#[test]
fn what_no_process_has_is_left_out_as_one_more() {
    let limits = Limits {
        processes: 1,
        ..Limits::default()
    };
    let mut ledger = Ledger::new(limits);
    for pid in [7, 8, 9] {
        add(&mut ledger, Script::new(pid, 1000, "app").launch(1));
    }
    let sampler = &mut Sampler::starting(seconds(1));
    let seen = sampler
        .sample(&ledger, &Totals::default(), seconds(2))
        .calls
        .expect("calls");
    assert_eq!(
        (seen.processes.len(), seen.processes_left_out, seen.processes_seen),
        (1, 1, 3)
    );
}
