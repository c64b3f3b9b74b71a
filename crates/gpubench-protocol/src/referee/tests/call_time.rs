//! The time of calls that the worker's host holds back.

use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::mpsc::channel;
use std::time::Instant;

use super::*;
use crate::wire::to_referee;

const LASTS: Duration = Duration::from_millis(20);

/// How long one thread of a test waits for the other.
const AT_MOST: Duration = Duration::from_secs(20);

fn from_outside() -> WindowOrder {
    WindowOrder {
        gate: Gate::Host,
        ..order(1)
    }
}

fn wait_for(word: &AtomicU32) {
    let began = Instant::now();
    while word.load(Ordering::Acquire) != 1 && began.elapsed() < AT_MOST {
        std::thread::yield_now();
    }
}

/// Runs a window whose worker does what `worker` does with the words of its page and with the
/// referee's own word. Returns the referee's facts.
fn window(worker: impl FnOnce(&crate::wire::PageLayout, &AtomicU32) + Send) -> WindowFacts {
    window_on(Box::new(cpu()), worker)
}

fn window_on(driver: Box<dyn Driver>, worker: impl FnOnce(&crate::wire::PageLayout, &AtomicU32) + Send) -> WindowFacts {
    let mut referee = referee(driver).unwrap();
    let case = opened(&mut referee, recording());
    referee.generate(&case, 1).unwrap();
    let page = case.page_of(from_outside().owner).unwrap().words.in_window(1);
    let start = &case.start.words.in_window(1).go;
    let (ours, _theirs) = Channel::pair().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| worker(page, start));
        referee.release(&case, &from_outside(), &ours).unwrap()
    })
}

#[test]
fn a_call_lasts_from_go_to_returned() {
    let facts = window(|page, _| {
        wait_for(&page.go);
        std::thread::sleep(LASTS);
        page.returned.store(1, Ordering::Release);
        std::thread::sleep(3 * LASTS);
        page.done.store(1, Ordering::Release);
    });
    let call = Duration::from_nanos(facts.call_ns);
    assert_eq!((facts.end, facts.gate), (WindowEnd::Checked, Gate::Host));
    assert!(call >= LASTS, "{call:?}");
    // The rest of the window is what the referee's other clock sees beyond the call.
    let rest = Duration::from_nanos(facts.s2_ns - facts.s1_ns).saturating_sub(call);
    assert!(rest >= 2 * LASTS, "{rest:?} after {call:?}");
}

/// A device whose clock the host cannot read, as a GPU. The host's first look for a word takes
/// until `delay` is over.
fn without_clock(delay: Duration) -> Box<dyn Driver> {
    let mut delay = Some(delay);
    let driver = FaultyDriver::watched(cpu(), move |_, call| {
        if call.name == "see_value" {
            delay.take().into_iter().for_each(std::thread::sleep);
        }
    });
    Box::new(driver.without_host_clock())
}

#[test]
fn a_host_that_looks_late_makes_a_call_longer_and_never_shorter() {
    let returns_at_once = |page: &crate::wire::PageLayout, start: &AtomicU32| {
        wait_for(start);
        page.returned.store(1, Ordering::Release);
        page.done.store(1, Ordering::Release);
    };
    let facts = window_on(without_clock(LASTS), returns_at_once);
    let call = Duration::from_nanos(facts.call_ns);
    assert_eq!(facts.end, WindowEnd::Checked);
    assert!(call >= LASTS, "{call:?} although *go* was not seen for {LASTS:?}");
}

#[test]
fn without_a_clock_of_the_device_a_call_lasts_from_go_to_returned_too() {
    let facts = window_on(without_clock(Duration::ZERO), |page, _| {
        wait_for(&page.go);
        std::thread::sleep(LASTS);
        page.returned.store(1, Ordering::Release);
        page.done.store(1, Ordering::Release);
    });
    let call = Duration::from_nanos(facts.call_ns);
    assert!(call >= LASTS, "{call:?}");
    assert!(facts.returned_seen_ns > 0);
}

/// Another process has the host's processor while the call runs and returns.
#[test]
fn a_host_that_sees_the_return_late_knows_when_the_call_can_have_begun() {
    let mut looks = 0;
    let driver = FaultyDriver::watched(cpu(), move |_, call| {
        looks += u32::from(call.name == "see_value");
        if looks == 2 {
            std::thread::sleep(LASTS);
        }
    });
    let began_ns = AtomicU64::new(0);
    let facts = window_on(Box::new(driver.without_host_clock()), |page, _| {
        wait_for(&page.go);
        began_ns.store(gpubench_device::monotonic_ns(), Ordering::Release);
        page.returned.store(1, Ordering::Release);
        page.done.store(1, Ordering::Release);
    });
    let began_ns = began_ns.into_inner();
    let (missed_ns, seen_ns) = (facts.go_missed_ns, facts.returned_seen_ns);
    assert!(missed_ns > 0 && missed_ns <= began_ns, "{missed_ns}, {began_ns}");
    assert_eq!(facts.call_ns, seen_ns - missed_ns);
}

#[test]
fn a_return_is_seen_only_after_the_worker_has_written_it() {
    let written_ns = AtomicU64::new(0);
    let facts = window(|page, _| {
        wait_for(&page.go);
        std::thread::sleep(LASTS);
        written_ns.store(gpubench_device::monotonic_ns(), Ordering::Release);
        page.returned.store(1, Ordering::Release);
        page.done.store(1, Ordering::Release);
    });
    let (seen_ns, written_ns) = (facts.returned_seen_ns, written_ns.into_inner());
    assert!(seen_ns >= written_ns, "seen at {seen_ns}, written at {written_ns}");
}

/// The worker writes *returned* and *done* between the look that misses *returned* and the one that
/// finds *done*.
#[test]
fn a_call_that_returns_between_two_looks_has_its_time() {
    let ((done, is_done), (look, looks), (written, is_written)) = (channel(), channel(), channel());
    let mut looked = 0;
    let driver = FaultyDriver::watched(cpu(), move |_, call| {
        if call.name != "see_value" {
            return;
        }
        looked += 1;
        match looked {
            1 => is_done.recv_timeout(AT_MOST).unwrap(),
            2 => {
                look.send(()).unwrap();
                is_written.recv_timeout(AT_MOST).unwrap();
            }
            _ => {}
        }
    });
    let facts = window_on(Box::new(driver), move |page, start| {
        wait_for(start);
        page.done.store(1, Ordering::Release);
        done.send(()).unwrap();
        looks.recv_timeout(AT_MOST).unwrap();
        page.returned.store(1, Ordering::Release);
        written.send(()).unwrap();
    });
    assert_eq!(facts.end, WindowEnd::Checked);
    assert!(facts.call_ns > 0 && facts.returned_seen_ns > 0);
}

#[test]
fn a_worker_that_hides_go_does_not_shorten_its_call() {
    let facts = window(|page, start| {
        wait_for(start);
        wait_for(&page.go);
        page.go.store(0, Ordering::Release);
        std::thread::sleep(LASTS);
        page.go.store(1, Ordering::Release);
        page.returned.store(1, Ordering::Release);
        page.done.store(1, Ordering::Release);
    });
    assert!(Duration::from_nanos(facts.call_ns) >= LASTS, "{}", facts.call_ns);
}

#[test]
fn a_call_that_never_returns_has_no_time() {
    let facts = window(|page, _| {
        wait_for(&page.go);
        page.done.store(1, Ordering::Release);
    });
    assert_eq!((facts.end, facts.call_ns), (WindowEnd::Checked, 0));
}

#[test]
fn the_broker_can_end_a_window_while_its_call_runs() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, recording());
    referee.generate(&case, 1).unwrap();
    let start = &case.start.words.in_window(1).go;
    let (ours, theirs) = Channel::pair().unwrap();
    let facts = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(start);
            theirs.send(to_referee::ABORT, &[], &[]).unwrap();
        });
        referee.release(&case, &from_outside(), &ours).unwrap()
    });
    assert_eq!((facts.end, facts.call_ns), (WindowEnd::Aborted, 0));
}

#[test]
fn a_return_is_counted_from_go_by_the_clock_that_saw_it() {
    use crate::referee::call_time::{ReturnTime, SeenCall};
    let reported = |at| {
        let mut facts = WindowFacts {
            s0_ns: 100,
            s1_ns: 1_000,
            ..bytemuck::Zeroable::zeroed()
        };
        SeenCall::Returned { at, seen_ns: 9_000 }.report(&mut facts);
        (facts.call_ns, facts.go_missed_ns, facts.returned_seen_ns)
    };
    assert_eq!(reported(ReturnTime::OnDevice(1_500)), (500, 0, 9_000));
    assert_eq!(reported(ReturnTime::OnDevice(900)), (0, 0, 9_000), "before *go*");
    let by_the_host = ReturnTime::AfterGo { missed_ns: 7_000 };
    assert_eq!(reported(by_the_host), (2_000, 7_000, 9_000));
}
