//! Cases that are only counted or tested run side by side.
#![forbid(unsafe_code)]

use std::time::Duration;

use gpubench_tests::{Fixture, Records, Role, Run, Running, wait_until};
use rustix::process::Signal;

/// Longer than a run may take at all.
const NEVER: &str = "10min";

fn counting(cases: &[&str]) -> Run {
    gpubench_diagnostic::testing::need("valgrind");
    let names = ["--exact"].into_iter().chain(cases.iter().copied());
    let run = Run::on(&Fixture::new("hostile")).briefly().json();
    run.args(["--metric", "instructions", "--timeout", NEVER]).args(names)
}

fn testing(cases: &[&str], timeout: &str) -> Run {
    let names = ["--exact"].into_iter().chain(cases.iter().copied());
    let run = Run::on(&Fixture::new("hostile")).json();
    run.args(["--test", "--threads", "2", "--timeout", timeout]).args(names)
}

/// Waits until as many lanes have an author.
fn wait_for_lanes(running: &Running, wanted: usize) {
    wait_until(&format!("{wanted} lanes"), Duration::from_secs(300), || {
        let processes = running.processes();
        let authors = processes.iter().filter(|process| process.role == Role::Author).count();
        // The author that listed the cases waits.
        (authors == wanted + 1).then_some(())
    });
}

fn events(records: &Records) -> Vec<(&str, &str)> {
    let is_event = |reason: &&str| ["benchmark-started", "benchmark-complete"].contains(reason);
    let events = records.all().iter().filter_map(|record| {
        let reason = record["reason"].as_str().filter(is_event)?;
        Some((reason, record["benchmark"].as_str()?))
    });
    events.collect()
}

const STARTED: &str = "benchmark-started";
const COMPLETE: &str = "benchmark-complete";

#[test]
fn results_come_in_the_order_of_the_cases() {
    let finished = counting(&[
        "answers::honest::n=600",
        "sources::honest::n=600",
        "answers::leaves_in_place::n=600",
    ]);
    let records = finished.finish().expect_code(100).records();
    let indices = |reason| records.with_reason(reason).map(|record| record["index"].as_u64());
    assert_eq!(indices(STARTED).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    let reasons: Vec<&str> = events(&records).iter().map(|(reason, _)| *reason).collect();
    assert_eq!(reasons, [STARTED, COMPLETE].repeat(3));
    let [started, complete] = [STARTED, COMPLETE].map(|wanted| {
        let of_reason = events(&records).into_iter().filter(|(reason, _)| *reason == wanted);
        of_reason.map(|(_, benchmark)| benchmark.to_owned()).collect::<Vec<_>>()
    });
    assert_eq!(started, complete);
}

const HANGS_AND_HONEST: [&str; 2] = ["faults::loops_forever::n=600", "sources::honest::n=600"];

#[test]
fn an_interrupt_keeps_what_was_counted_after_a_case_that_hangs() {
    assert_interrupt_keeps_the_other_case(counting(&HANGS_AND_HONEST));
}

#[test]
fn an_interrupt_keeps_what_was_tested_after_a_case_that_hangs() {
    assert_interrupt_keeps_the_other_case(testing(&HANGS_AND_HONEST, NEVER));
}

fn assert_interrupt_keeps_the_other_case(run: Run) {
    let running = run.start();
    wait_for_lanes(&running, 2);
    wait_for_lanes(&running, 1);
    running.signal(Signal::INT);
    let records = running.finish().expect_code(130).records();
    assert_eq!(
        events(&records),
        [
            (STARTED, "faults::loops_forever"),
            (STARTED, "sources::honest"),
            (COMPLETE, "sources::honest")
        ]
    );
    assert_eq!(records.result("sources::honest")["verdict"], "pass");
    assert_eq!(records.the("run-finished")["end"], "interrupted");
}

#[test]
fn the_first_failure_ends_cases_that_run_beside_it_if_asked() {
    let run = counting(&["answers::leaves_in_place::n=600", "faults::loops_forever::n=600"]);
    let records = run.args(["--fail-fast"]).finish().expect_code(100).records();
    assert_eq!(
        events(&records),
        [
            (STARTED, "answers::leaves_in_place"),
            (COMPLETE, "answers::leaves_in_place")
        ]
    );
    let finished = records.the("run-finished");
    assert_eq!((&finished["failed"], &finished["not_run"]), (&1.into(), &1.into()));
}

#[test]
fn a_time_limit_of_a_test_is_as_many_times_as_long_as_cases_run_at_once() {
    let records = testing(&HANGS_AND_HONEST, "2s").finish().expect_code(100).records();
    records.assert_ends("faults::loops_forever", "timeout", "slow", &["4s"]);
    let alone = testing(&HANGS_AND_HONEST[..1], "1s")
        .finish()
        .expect_code(100)
        .records();
    alone.assert_ends("faults::loops_forever", "timeout", "slow", &["1s"]);
}
