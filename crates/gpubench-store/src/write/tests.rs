//! Tests of what a run replaces when it is saved over another.

use camino::Utf8PathBuf;
use tempfile::TempDir;

use super::*;
use crate::tests::stored;
use gpubench_contract::{Cause, Mode};
use gpubench_testing::on_gpu;

const FIRST: &str = "suite::axpy::add_one::n=1024";

struct Place {
    destination: Destination,
    _kept: TempDir,
}

fn place() -> Place {
    let kept = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(kept.path().join("main.json")).unwrap();
    Place {
        destination: Destination::new(&path.as_str().parse().unwrap(), &Home::ABSENT).unwrap(),
        _kept: kept,
    }
}

/// The run that is stored first.
fn whole() -> StoredRun {
    stored(&on_gpu())
}

/// A later run with the cases that `select` chooses.
fn later(select: impl Fn(&BenchmarkComplete) -> bool) -> StoredRun {
    let mut run = whole();
    run.run.run_id = "later".to_owned();
    run.run.started_at = "2026-11-22T09:00:00Z".to_owned();
    run.results.retain(select);
    for result in &mut run.results {
        result.run_id = "later".to_owned();
    }
    let count =
        |is_counted: fn(Verdict) -> bool| run.results.iter().filter(|result| is_counted(result.verdict)).count() as u64;
    let counts = (count(|verdict| verdict == Verdict::Pass), count(Verdict::is_failure));
    if let Some(finished) = &mut run.finished {
        finished.run_id = "later".to_owned();
        (finished.passed, finished.failed, finished.skipped) = (counts.0, counts.1, 0);
    }
    run
}

fn is_axpy(result: &BenchmarkComplete) -> bool {
    result.benchmark == "axpy::add_one"
}

fn keys(run: &StoredRun) -> HashSet<ResultKey> {
    run.results.iter().map(BenchmarkComplete::key).collect()
}

fn of_suite() -> Replaced {
    Replaced::OfPackages(HashSet::from(["suite".to_owned()]))
}

/// Saves a run over another, and returns what is then there.
fn saved_over(before: &StoredRun, run: &StoredRun, replaced: &Replaced) -> (Result<Saved, StoreError>, StoredRun) {
    let place = place();
    place.destination.save(before, &Replaced::All).unwrap();
    let checked = place.destination.ensure_nothing_is_lost(&keys(run), replaced);
    let saved = place.destination.save(run, replaced);
    if let Err(refusal) = checked {
        assert_eq!(
            refusal.to_string(),
            saved.as_ref().unwrap_err().to_string(),
            "known before anything is measured"
        );
    }
    (saved, read(place.destination.path()).unwrap())
}

#[test]
fn a_run_of_some_benchmarks_does_not_replace_a_run_with_others() {
    let (saved, left) = saved_over(&whole(), &later(is_axpy), &Replaced::None);
    assert!(matches!(&saved, Err(StoreError::Lost { results: 3, .. })), "{saved:?}");
    assert_eq!(left, whole());
    let mut warm = later(|_| true);
    warm.results.iter_mut().for_each(|result| result.mode = Mode::Warm);
    let (saved, left) = saved_over(&whole(), &warm, &Replaced::None);
    assert!(saved.is_err(), "results in another mode are others");
    assert_eq!(left, whole());
}

#[test]
fn a_run_of_some_benchmarks_replaces_a_run_of_the_same() {
    let (saved, left) = saved_over(&later(is_axpy), &later(is_axpy), &Replaced::None);
    assert_eq!(saved.unwrap(), Saved::default());
    assert_eq!(left.run.run_id, "later");
    let (saved, left) = saved_over(&later(is_axpy), &whole(), &Replaced::None);
    assert_eq!(saved.unwrap(), Saved::default());
    assert_eq!(left, whole(), "or of more");
}

#[test]
fn a_run_of_all_benchmarks_replaces_those_of_its_packages() {
    let without_first = later(|result| result.full_name() != FIRST);
    let (saved, left) = saved_over(&whole(), &without_first, &of_suite());
    let gone = Saved {
        gone: 1,
        ..Saved::default()
    };
    assert_eq!(saved.unwrap(), gone);
    assert_eq!(left, without_first);
    let mut several = whole();
    several.results[0].package = "other".to_owned();
    let (saved, left) = saved_over(&several, &whole(), &of_suite());
    assert!(matches!(&saved, Err(StoreError::Lost { results: 1, .. })), "{saved:?}");
    assert_eq!(left, several);
}

#[test]
fn an_edited_run_is_replaced_only_if_no_result_is_lost() {
    let place = place();
    let path = place.destination.path();
    place.destination.save(&whole(), &Replaced::All).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let edited = text.replacen("3648", "3600", 1);
    std::fs::write(path, &edited).unwrap();
    let part = later(is_axpy);
    let refusals = [
        place
            .destination
            .ensure_nothing_is_lost(&keys(&part), &Replaced::None)
            .unwrap_err(),
        place.destination.save(&part, &Replaced::None).unwrap_err(),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, StoreError::Altered { .. }), "{refusal:?}");
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), edited);
    place.destination.save(&later(|_| true), &of_suite()).unwrap();
    assert!(read(path).is_ok());
}

/// A later run in which a benchmark fails that passed before.
fn broken() -> StoredRun {
    let mut broken = later(|_| true);
    let failed = broken.results.iter_mut().find(|result| result.full_name() == FIRST);
    let failed = failed.unwrap();
    (failed.verdict, failed.cause) = (Verdict::WrongOutput, Some(Cause::Mismatch));
    failed.stats = None;
    failed.samples.clear();
    failed.workers.clear();
    (failed.throughput, failed.conservation) = Default::default();
    if let Some(finished) = &mut broken.finished {
        (finished.passed, finished.failed) = (finished.passed - 1, finished.failed + 1);
    }
    broken
}

#[test]
fn a_failure_replaces_no_good_result() {
    for replaced in [of_suite(), Replaced::None] {
        let (saved, left) = saved_over(&whole(), &broken(), &replaced);
        assert!(
            matches!(&saved, Err(StoreError::FailsNow { cases, .. }) if *cases == [FIRST]),
            "{saved:?}"
        );
        assert_eq!(left, whole());
    }
}

#[test]
fn a_failure_is_saved_without_an_earlier_good_result_and_in_a_copy() {
    let (saved, left) = saved_over(&broken(), &broken(), &of_suite());
    assert_eq!(saved.unwrap(), Saved::default());
    assert_eq!(left, broken());
    let (saved, left) = saved_over(&whole(), &broken(), &Replaced::All);
    assert_eq!(saved.unwrap(), Saved::default());
    assert_eq!(left, broken());
}
