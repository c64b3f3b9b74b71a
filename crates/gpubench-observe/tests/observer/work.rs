//! Launches, copies, sets, streams, captures.

use std::time::Duration;

use gpubench_observe::{
    Attachment, Copy, CopyDirection, EventKind, Execution, GraphHandle, LaunchKind, Launches, StreamHandle,
    Synchronization, Waiting,
};

use crate::double::{Seen, Stubs, may_observe, program};

#[test]
fn each_way_to_launch_is_recorded_with_shape_stream_and_name() {
    if !may_observe("each_way_to_launch_is_recorded_with_shape_stream_and_name") {
        return;
    }
    for stubs in Stubs::ALL {
        let seen = Seen::from_command(program("dynamic", stubs, &["launches"]));
        check_launches(&seen);
        assert_eq!((seen.entries("cuLaunchKernel"), seen.lost), (1, 0), "{stubs:?}");
    }
}

#[test]
fn probes_of_old_kernels_see_the_same() {
    if !may_observe("probes_of_old_kernels_see_the_same") {
        return;
    }
    check_launches(&Seen::with(
        program("dynamic", Stubs::Call, &["launches"]),
        Attachment::OneByOne,
        Launches::Each,
    ));
}

fn check_launches(seen: &Seen) {
    let created = |kind: &EventKind| match kind {
        EventKind::StreamCreate { stream } => Some(*stream),
        _ => None,
    };
    let stream = seen.kinds().find_map(created).expect("a stream");
    let launches = seen.launches();
    let kinds: Vec<_> = launches.iter().map(|launch| launch.kind).collect();
    assert_eq!(
        kinds,
        [LaunchKind::Plain, LaunchKind::Extended, LaunchKind::Cooperative]
    );
    assert!(
        launches
            .iter()
            .all(|launch| launch.stream == stream && launch.execution == Execution::Runs)
    );
    for launch in [launches[0], launches[2]] {
        assert_eq!((launch.grid, launch.block), ([2, 3, 4], [5, 6, 7]));
    }
    assert_eq!((launches[1].grid, launches[1].block), ([8, 9, 10], [11, 12, 1]));
    assert_eq!(seen.launched_names(), ["plain", "of_a_library", "of_a_library"]);
    let has = |wanted: &EventKind| seen.kinds().any(|kind| kind == wanted);
    let graph = GraphHandle(0x4444);
    assert!(has(&EventKind::GraphLaunch { graph, stream }));
    assert!(has(&EventKind::HostFunction { stream }));
    assert!(has(&EventKind::StreamDestroy { stream }));
    let waited = seen.kinds().find_map(|kind| match kind {
        EventKind::Synchronize { what, duration } if *what == Synchronization::Stream(stream) => Some(*duration),
        _ => None,
    });
    assert!(
        waited.expect("it is recorded") >= Duration::from_millis(2),
        "the double waits 2 ms"
    );
    assert!(
        seen.kinds()
            .any(|kind| matches!(kind, EventKind::Name { name, .. } if &**name == "named_by_the_driver"))
    );
    let loads = seen.kinds().filter(|kind| matches!(kind, EventKind::ModuleLoad { .. }));
    let unloads = seen
        .kinds()
        .filter(|kind| matches!(kind, EventKind::ModuleUnload { .. }));
    assert_eq!((loads.count(), unloads.count()), (2, 1));
}

#[test]
fn copies_have_the_direction_that_their_function_or_structure_says() {
    if !may_observe("copies_have_the_direction_that_their_function_or_structure_says") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["copies"]));
    let copies: Vec<Copy> = seen
        .kinds()
        .filter_map(|kind| match kind {
            EventKind::Copy(copy) => Some(*copy),
            _ => None,
        })
        .collect();
    use CopyDirection::{ByAddress, DeviceToDevice, DeviceToHost, HostToDevice, HostToHost, PeerToPeer};
    use Waiting::{Blocks, Queues};
    let expected = [
        (HostToDevice, 11, Blocks, 0),
        (DeviceToHost, 12, Blocks, 0),
        (DeviceToDevice, 13, Queues, 0),
        (ByAddress, 14, Queues, 0),
        (HostToDevice, 15, Queues, 9),
        (PeerToPeer, 16, Queues, 0),
        (DeviceToHost, 50, Blocks, 0),
        (HostToHost, 100, Queues, 9),
    ];
    let found: Vec<_> = copies
        .iter()
        .map(|copy| (copy.direction, copy.bytes, copy.waiting, copy.stream.0))
        .collect();
    assert_eq!(found, expected);
    assert!(copies.iter().all(|copy| copy.duration > Duration::ZERO));
    assert_eq!((copies[6].source, copies[6].destination), (0x1000, 0x5000));
    let sets = seen.kinds().filter_map(|kind| match kind {
        EventKind::Set(set) => Some((set.bytes, set.stream.0)),
        _ => None,
    });
    assert_eq!(sets.collect::<Vec<_>>(), [(400, 0), (30 * 4 * 2, 9)]);
}

#[test]
fn launches_into_a_captured_stream_or_one_that_joined_it_do_not_run() {
    if !may_observe("launches_into_a_captured_stream_or_one_that_joined_it_do_not_run") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["capture"]));
    let found: Vec<_> = seen
        .launches()
        .iter()
        .map(|launch| (launch.stream.0, launch.execution))
        .collect();
    use Execution::{Captured, Runs};
    let expected = [
        (1000, Runs),
        (1000, Captured),
        (2000, Captured),
        (3000, Runs),
        (1000, Runs),
        (2000, Runs),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        seen.entries("cuEventRecord"),
        2,
        "also the one outside of the capture is counted"
    );
    let recorded = seen
        .kinds()
        .filter(|kind| matches!(kind, EventKind::RecordEvent { .. }));
    let stream = StreamHandle(1000);
    assert_eq!(recorded.collect::<Vec<_>>(), [&EventKind::RecordEvent { stream }]);
}
