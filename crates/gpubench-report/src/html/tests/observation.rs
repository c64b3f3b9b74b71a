//! The page of an observation.

use super::outline::outline;
use crate::ObservationPage;
use crate::tests::observation::{finished, finished_without_calls, hostile, started, started_without_calls};
use gpubench_contract::ProbeState;

fn page(finished: &gpubench_contract::ProbeFinished) -> String {
    ObservationPage {
        started: &started(),
        finished,
    }
    .page()
}

#[test]
fn page_of_an_observation() {
    insta::assert_snapshot!(outline(&page(&finished())));
}

#[test]
fn hostile_names_stay_text() {
    let mut finished = finished();
    finished.calls = hostile().calls;
    let page = page(&finished);
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
}

#[test]
fn a_page_of_nothing_says_so() {
    let mut finished = finished();
    finished.calls = Some(Default::default());
    finished.timeline.clear();
    assert!(outline(&page(&finished)).contains("No call of the CUDA driver was seen."));
}

#[test]
fn a_program_without_memory_and_work_made_calls() {
    let mut finished = finished();
    let calls = finished.calls.take().expect("calls").calls;
    finished.calls = Some(ProbeState {
        calls,
        ..ProbeState::default()
    });
    finished.timeline.clear();
    let page = outline(&page(&finished));
    assert!(
        page.contains("calls of the CUDA driver besides queries, but no memory or work."),
        "{page}"
    );
}

#[test]
fn an_observation_without_time_has_no_rates() {
    let mut finished = finished();
    finished.timeline.iter_mut().for_each(|point| point.elapsed_ns = 0);
    let page = page(&finished);
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}

#[test]
fn page_without_calls_has_no_figures_of_them() {
    let page = ObservationPage {
        started: &started_without_calls(),
        finished: &finished_without_calls(),
    };
    insta::assert_snapshot!(outline(&page.page()));
}

#[test]
fn the_page_and_the_summary_say_whose_drivers_are_not_observed() {
    let mut finished = finished();
    let notice = "calls through 2 files of user 7 are not observed: there are too many at once";
    finished.calls.as_mut().expect("calls").notices = vec![notice.to_owned()];
    assert!(page(&finished).contains(notice));
    let summary = crate::probe_summary(&started(), &finished, gpubench_diagnostic::layout::UNBOUNDED);
    assert!(summary.contains(&format!(": {notice}\n")), "{summary}");
}
