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
