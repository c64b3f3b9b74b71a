//! Where the buffers lie from sample to sample.

use std::rc::Rc;

use super::*;
use crate::measurement::simulated_case::{opened, with_memory_for};
use crate::verdict::TimeUse;
use gpubench_contract::{Mode, PlacementShare};
use gpubench_device::KernelHost;
use gpubench_sandbox::Confinement;

/// What a case of some workers with 24 samples each did.
struct Seen {
    /// The places of each worker, with the number of samples there.
    places: Vec<Vec<(u64, u64)>>,
    /// What the windows of the first worker are used for.
    windows: Vec<TimeUse>,
    notices: Vec<String>,
}

/// Measures a case with two workers on a device that can place the buffers anew so often.
fn measured(places: usize, claims: fn(&WindowOrder) -> Claim, change: impl FnOnce(&mut Protocol<'_>)) -> Seen {
    let stage = Stage::of(1);
    let mut protocol = Protocol {
        stop: stop(48, 48),
        worker_count: WorkerCountRule::exactly(2.try_into().unwrap()),
        ..stage.protocol()
    };
    change(&mut protocol);
    let case = stage.case();
    let mut seen = None;
    with_memory_for(
        places,
        &protocol,
        &case,
        |order| right_facts(order, 1),
        |mut context| {
            let workers = vec![worker(claims), worker(claims)];
            let mut rounds = rounds_of(vec![arm(&protocol, &case, 0, workers)], 2, &protocol);
            rounds.use_placements(Placements::of_case(&protocol, Rc::new(opened(&case))));
            let mut watcher = Thermometer::that_finds(|_| Throttling::Absent);
            rounds.run(protocol.mode, &mut context, &mut watcher).unwrap();
            let arm = rounds.arms.remove(0);
            let notices = arm.notices.clone();
            let measured = arm.finish(&context.control, &context.sequencer.rests, None, &Confinement::Closed);
            let shares = measured.workers.iter().map(|run| run.placements.shares(24));
            let pair = |share: PlacementShare| (share.placement, share.samples);
            seen = Some(Seen {
                places: shares.map(|shares| shares.into_iter().map(pair).collect()).collect(),
                windows: measured.workers[0]
                    .windows
                    .iter()
                    .map(|window| window.time_use)
                    .collect(),
                notices,
            });
        },
    );
    seen.unwrap()
}

#[test]
fn each_worker_has_its_buffers_in_several_places_that_no_other_has() {
    let seen = measured(usize::MAX, long, |_| ());
    let expected = [
        [(0, 4), (1, 6), (2, 10), (3, 4)].to_vec(),
        [(4, 4), (5, 6), (6, 10), (7, 4)].to_vec(),
    ];
    assert_eq!(seen.places, expected);
    assert!(seen.notices.is_empty(), "{:?}", seen.notices);
}

#[test]
fn the_first_window_in_a_new_place_gives_no_sample() {
    let seen = measured(usize::MAX, long, |_| ());
    let mut samples = 0;
    let mut without = Vec::new();
    for time_use in seen.windows.iter().skip_while(|time_use| **time_use == TimeUse::WarmUp) {
        match time_use {
            TimeUse::WarmUp => without.push(samples),
            TimeUse::Counts => samples += 1,
            _ => {}
        }
    }
    // Early checks are among those whose time counts.
    assert_eq!(without.len(), 3, "{:?}", seen.windows);
    assert!(samples >= 24);
}

#[test]
fn short_calls_keep_their_place() {
    let seen = measured(usize::MAX, short, |_| ());
    assert_eq!(seen.places, [[(0, 24)], [(0, 24)]]);
}

#[test]
fn a_worker_with_code_of_its_own_has_one_place_from_its_set_up_on() {
    let seen = measured(usize::MAX, long, |protocol| {
        protocol.kernels_run_in = KernelHost::Author
    });
    assert_eq!(seen.places, [[(0, 24)], [(1, 24)]]);
}

#[test]
fn buffers_stay_where_they_are_with_a_notice_if_there_is_no_memory_for_two_places() {
    let seen = measured(2, long, |_| ());
    let first = [(0, 4), (1, 6), (2, 14)].to_vec();
    assert_eq!(seen.places, [first, [(2, 24)].to_vec()]);
    let [notice] = &seen.notices[..] else {
        panic!("{:?}", seen.notices)
    };
    assert!(
        notice.starts_with("the device lacks memory to place the buffers anew"),
        "{notice}"
    );
}

#[test]
fn calls_in_a_graph_or_of_large_buffers_or_that_are_not_timed_keep_their_place() {
    let stage = Stage::of(1);
    let case = stage.case();
    for mode in [RunMode::Test, RunMode::Audit(Duration::ZERO), RunMode::Measure] {
        let protocol = Protocol {
            mode,
            ..stage.protocol()
        };
        let placements = Placements::of_case(&protocol, Rc::new(opened(&case)));
        assert_eq!(placements.is_some(), mode == RunMode::Measure, "{mode:?}");
    }
    let mut graph = opened(&case);
    graph.calls.mode = Mode::HotGraph;
    assert!(Placements::of_case(&stage.protocol(), Rc::new(graph)).is_none());
    let mut large = opened(&case);
    large.layouts[0].allocation = (1 << 30) + 4096;
    assert!(Placements::of_case(&stage.protocol(), Rc::new(large)).is_none());
}
