//! Windows with simulated roles: the messages that each receives, and the outcome.

use crate::measurement::EvidenceUse;
use std::num::NonZeroUsize;
use std::thread::{sleep, spawn};

use bytemuck::Zeroable;
use gpubench::catalog::{Recording, Reference, Work};
use gpubench::plan::Plan;

use super::*;
use crate::clients::{Child, End, Interrupt, MetricRequest, Output};
use crate::measurement::run_mode::RunMode;
use gpubench_device::{ClockBound, DeviceOrder};
use gpubench_protocol::window::Seeds;
use gpubench_protocol::wire::{
    Channel, Patience, Problem, WindowEnd, WindowFacts, from_referee, from_worker, to_referee, to_worker,
};
use gpubench_stats::{StopRule, WarmUpRule, WorkerCountRule};

mod kept;

const WINDOW: u32 = 3;

/// The broker's time limit of a window.
const WITHIN: Duration = Duration::from_secs(1);

/// The test's time limit for a message that may not come.
const SOON: Duration = Duration::from_secs(5);

fn claim() -> Claim {
    Claim {
        elapsed_ns: 100.0,
        ..Claim::empty(WINDOW)
    }
}

fn facts(end: WindowEnd) -> WindowFacts {
    WindowFacts {
        window: WINDOW,
        end,
        ..WindowFacts::zeroed()
    }
}

fn armed() -> WindowOrder {
    WindowOrder::about(WINDOW, WindowKind::Timed)
}

/// Returns the kind of the next message, if one comes.
fn next(channel: &Channel) -> Option<u32> {
    Some(channel.receive(Patience::at_most(SOON)).ok()?.kind)
}

fn tell_facts(broker: &Channel, end: WindowEnd) {
    broker.send_record(from_referee::FACTS, &facts(end)).unwrap();
}

/// The outcome of a window, and its visible effects.
struct Seen {
    outcome: Result<WindowOutcome, MeasureError>,
    /// Kinds of the messages that the referee received, in order.
    sent_to_referee: Vec<u32>,
    worker_was_killed: bool,
}

impl Seen {
    fn ending(self) -> (bool, Ending) {
        match self.outcome {
            Ok(WindowOutcome::Lost(evidence, ending)) => (evidence.is_some(), ending),
            other => panic!("the worker is not lost: {other:?}"),
        }
    }

    fn claim(self) -> Box<Claim> {
        match self.outcome {
            Ok(WindowOutcome::Ended(WindowEvidence { claim, .. })) => claim.unwrap(),
            other => panic!("the window did not end: {other:?}"),
        }
    }
}

/// Runs a window with simulated roles. `referee` returns the kinds of the messages that it
/// received.
fn window(
    worker: impl FnOnce(&Channel) -> Leaves + Send + 'static,
    referee: impl FnOnce(&Channel) -> Vec<u32> + Send + 'static,
) -> Seen {
    interruptible(&Interrupt::default(), worker, referee)
}

/// Whether a role closes its connection.
#[derive(PartialEq)]
enum Leaves {
    Never,
    AtOnce,
}

fn interruptible(
    interrupt: &Interrupt,
    worker: impl FnOnce(&Channel) -> Leaves + Send + 'static,
    referee: impl FnOnce(&Channel) -> Vec<u32> + Send + 'static,
) -> Seen {
    let (worker_child, worker_end) = Child::simulated(RoleName::Worker);
    let (referee_child, referee_end) = Child::simulated(RoleName::Referee);
    let (author_child, _author_end) = Child::simulated(RoleName::Author);
    let mut worker_client = WorkerClient::simulated(worker_child);
    let mut referee_client = RefereeClient::simulated(referee_child);
    let mut author_client = AuthorClient::simulated(author_child);
    let one = NonZeroUsize::MIN;
    let protocol = Protocol {
        energy: Default::default(),
        rest: Default::default(),
        schedules: &[],
        mode: RunMode::Test,
        metric: MetricRequest::default(),
        worker_count: WorkerCountRule::exactly(one),
        warm_up: WarmUpRule::default(),
        stop: StopRule::default(),
        within: WITHIN,
        reference_within: WITHIN,
        kernels_run_in: KernelHost::Author,
        device: DeviceOrder::cpu(1, 0),
        observer: None,
        submissions: None,
        evidence: EvidenceUse::Judged,
        output: Output::Captured,
        clock_bound: &ClockBound::Exclusive,
        seeds: &Seeds::new([1; 32]),
        interrupt,
    };
    let recording = Recording {
        tensors: Vec::new(),
        work: Work::default(),
        plan: Plan::default(),
        execution: Default::default(),
        call: None,
        reference: Reference::Author,
    };
    let mut sequencer = Sequencer {
        referee: &mut referee_client,
        author: &mut author_client,
        placement: CodePlacement::new(&recording, KernelHost::Author),
        protocol: &protocol,
        last_work: Default::default(),
        gate: Gate::Stream,
        rests: Rests::from_protocol(&protocol),
        sets: None,
        kept: None,
    };
    let worker = spawn(move || match worker(&worker_end) {
        Leaves::Never => Some(worker_end),
        Leaves::AtOnce => None,
    });
    let referee = spawn(move || {
        let received = referee(&referee_end);
        (received, referee_end)
    });
    let outcome = sequencer.release(
        &mut worker_client,
        WindowUser::of_side(WindowOwner::default()),
        WINDOW,
        WindowKind::Timed,
        std::num::NonZeroU32::MIN,
    );
    let _worker_end = worker.join().unwrap();
    let (sent_to_referee, _referee_end) = referee.join().unwrap();
    Seen {
        outcome,
        sent_to_referee,
        worker_was_killed: ends_soon(worker_client.child()),
    }
}

/// Whether the process ends before it is dropped. If it is not killed, it waits for ten minutes.
fn ends_soon(child: &Child) -> bool {
    (0..200).any(|_| {
        sleep(Duration::from_millis(1));
        child.has_ended()
    })
}

/// A worker that arms, then does `and`.
fn arms(and: impl FnOnce(&Channel) -> Leaves) -> impl FnOnce(&Channel) -> Leaves {
    move |broker| {
        assert_eq!(next(broker), Some(to_worker::ARM));
        broker.send_record(from_worker::ARMED, &armed()).unwrap();
        and(broker)
    }
}

fn claims(claim: Claim) -> impl FnOnce(&Channel) -> Leaves {
    arms(move |broker| {
        broker.send_record(from_worker::CLAIM, &claim).unwrap();
        Leaves::Never
    })
}

fn sends_nothing(_: &Channel) -> Leaves {
    Leaves::Never
}

/// A referee that waits for *release*, then for *abort*, and sends its facts.
fn aborts_when_asked(broker: &Channel) -> Vec<u32> {
    let received = [next(broker), next(broker)];
    tell_facts(broker, WindowEnd::Aborted);
    received.into_iter().flatten().collect()
}

/// A referee that waits for *release* and sends its facts after `time`.
fn checks_for(time: Duration) -> impl FnOnce(&Channel) -> Vec<u32> {
    move |broker| {
        let received = next(broker);
        sleep(time);
        tell_facts(broker, WindowEnd::Checked);
        received
            .into_iter()
            .chain(broker.receive(Patience::at_most(WITHIN / 3)).map(|frame| frame.kind))
            .collect()
    }
}

/// A referee that waits for a while and expects no message.
fn waits(broker: &Channel) -> Vec<u32> {
    broker
        .receive(Patience::at_most(2 * WITHIN))
        .map(|frame| frame.kind)
        .into_iter()
        .collect()
}

#[test]
fn a_window_ends_with_facts_and_claim_in_whichever_order_they_come() {
    let late = |broker: &Channel| {
        sleep(WITHIN / 3);
        broker.send_record(from_worker::CLAIM, &claim()).unwrap();
        Leaves::Never
    };
    for seen in [
        window(claims(claim()), checks_for(WITHIN / 3)),
        window(arms(late), checks_for(Duration::ZERO)),
    ] {
        assert_eq!(seen.sent_to_referee, [to_referee::RELEASE]);
        assert!(!seen.worker_was_killed);
        assert_eq!(seen.claim().elapsed_ns, 100.0);
    }
}

/// The time of the call and the time at which its return was seen are two readings. Another process
/// can have the referee's processor between them.
#[test]
fn the_timed_region_begins_with_the_look_that_missed_go_whatever_the_call_took() {
    let timed_ns = |go_missed_ns, returned_seen_ns| {
        let seen = window(claims(claim()), move |broker| {
            let received = next(broker);
            let facts = WindowFacts {
                call_ns: 100,
                go_missed_ns,
                returned_seen_ns,
                ..facts(WindowEnd::Checked)
            };
            broker.send_record(from_referee::FACTS, &facts).unwrap();
            received.into_iter().collect()
        });
        match seen.outcome {
            Ok(WindowOutcome::Ended(evidence)) => evidence.span.unwrap().timed_ns,
            other => panic!("the window did not end: {other:?}"),
        }
    };
    assert_eq!(timed_ns(1_000, 9_000), Some((1_000, 9_000)));
    assert_eq!(timed_ns(0, 9_000), None, "the host did not look for *go*");
}

#[test]
fn checks_may_take_longer_than_a_call_may() {
    let seen = window(claims(claim()), checks_for(2 * WITHIN));
    // The abort ends the wait for *done*, which has come already.
    assert_eq!(seen.sent_to_referee, [to_referee::RELEASE, to_referee::ABORT]);
    assert!(!seen.worker_was_killed);
    assert_eq!(seen.claim().fault, FaultCode::None);
}

#[test]
fn the_referee_stops_waiting_for_done_at_the_deadline_despite_a_claim() {
    let seen = window(claims(claim()), aborts_when_asked);
    assert_eq!(seen.sent_to_referee, [to_referee::RELEASE, to_referee::ABORT]);
    assert_eq!(seen.claim().fault, FaultCode::None);
}

#[test]
fn a_fault_aborts_the_window_at_once() {
    let fault = Claim {
        fault: FaultCode::OutOfBounds,
        ..claim()
    };
    let seen = window(claims(fault), aborts_when_asked);
    assert_eq!(seen.sent_to_referee, [to_referee::RELEASE, to_referee::ABORT]);
    assert_eq!(seen.claim().fault, FaultCode::OutOfBounds);
}

#[test]
fn a_worker_without_a_claim_times_out_and_is_killed() {
    let seen = window(arms(sends_nothing), aborts_when_asked);
    assert_eq!(seen.sent_to_referee, [to_referee::RELEASE, to_referee::ABORT]);
    assert!(seen.worker_was_killed);
    assert_eq!(seen.ending(), (true, Ending::TimedOut { within: WITHIN }));
}

#[test]
fn a_worker_that_is_silent_after_done_times_out() {
    let seen = window(arms(sends_nothing), checks_for(Duration::ZERO));
    assert!(seen.worker_was_killed);
    assert_eq!(seen.ending(), (true, Ending::TimedOut { within: WITHIN }));
}

#[test]
fn a_worker_that_never_arms_times_out_and_nothing_is_released() {
    let seen = window(sends_nothing, waits);
    assert!(seen.sent_to_referee.is_empty());
    assert!(seen.worker_was_killed);
    assert_eq!(seen.ending(), (false, Ending::TimedOut { within: WITHIN }));
}

#[test]
fn a_worker_that_exits_during_its_call_aborts_the_window() {
    let seen = window(arms(|_| Leaves::AtOnce), aborts_when_asked);
    assert_eq!(seen.sent_to_referee, [to_referee::RELEASE, to_referee::ABORT]);
    let (end, log) = (End::Killed(9), String::new());
    assert_eq!(seen.ending(), (true, Ending::WorkerEnded { end, log }));
}

#[test]
fn a_claim_of_another_window_breaks_the_protocol() {
    for number in [WINDOW - 1, WINDOW + 1, 0] {
        let seen = window(claims(Claim::empty(number)), aborts_when_asked);
        assert_eq!(seen.sent_to_referee, [to_referee::RELEASE, to_referee::ABORT]);
        let (released, ending) = seen.ending();
        assert!(released && matches!(ending, Ending::BrokeProtocol { .. }), "{ending:?}");
    }
}

#[test]
fn a_worker_that_arms_something_else_breaks_the_protocol_and_nothing_is_released() {
    for other in [
        WindowOrder::about(WINDOW + 1, WindowKind::Timed),
        WindowOrder::about(WINDOW, WindowKind::EarlyCheck),
        WindowOrder::about(WINDOW, WindowKind::Control),
    ] {
        let seen = window(
            move |broker| {
                broker.send_record(from_worker::ARMED, &other).unwrap();
                Leaves::Never
            },
            waits,
        );
        assert!(seen.sent_to_referee.is_empty());
        let (released, ending) = seen.ending();
        assert!(
            !released && matches!(ending, Ending::BrokeProtocol { .. }),
            "{ending:?}"
        );
    }
}

#[test]
fn an_interrupt_ends_the_window() {
    let interrupt = Interrupt::default();
    let flag = interrupt.clone();
    let interrupts = move |_: &Channel| {
        flag.flag().store(true, std::sync::atomic::Ordering::Relaxed);
        Leaves::Never
    };
    let seen = interruptible(&interrupt, arms(interrupts), waits);
    assert!(
        matches!(seen.outcome, Err(MeasureError::Interrupted)),
        "{:?}",
        seen.outcome
    );
}

#[test]
fn a_message_instead_of_a_claim_decides_the_ending() {
    let text = || "no".to_owned();
    let problem = Problem {
        text: gpubench_protocol::wire::FixedText::new(&text()),
    };
    for kind in [
        from_worker::PLAN_REFUSED,
        from_worker::FAILED,
        from_worker::OUT_OF_MEMORY,
    ] {
        let sends = arms(move |broker: &Channel| {
            broker.send_record(kind, &problem).unwrap();
            Leaves::Never
        });
        let seen = window(sends, aborts_when_asked);
        assert_eq!(seen.ending(), (true, Ending::Refused { why: text() }));
    }
    let role = RoleName::Worker;
    let broke = |failure: RoleFailure| {
        let ending = ending_of(failure).unwrap();
        assert!(matches!(ending, Ending::BrokeProtocol { .. }), "{ending:?}");
    };
    broke(RoleFailure::protocol(role, text()));
    broke(RoleFailure::Generator { text: text() });
    broke(RoleFailure::Reference { text: text() });
    assert!(matches!(
        ending_of(RoleFailure::Interrupted),
        Err(MeasureError::Interrupted)
    ));
    let silent = RoleFailure::Silent { role, within: SOON };
    assert_eq!(ending_of(silent).unwrap(), Ending::TimedOut { within: SOON });
    let (end, log) = (End::Exited(3), text());
    let ended = RoleFailure::Ended { role, end, log };
    assert_eq!(ending_of(ended).unwrap(), Ending::WorkerEnded { end, log: text() });
}
