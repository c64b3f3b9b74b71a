//! Tests of merging a run of some benchmarks into a stored run.

use camino::Utf8PathBuf;
use tempfile::TempDir;

use super::*;
use crate::tests::stored;
use crate::{Destination, Home, StoreError, read};
use gpubench_contract::{Cause, Method, Revision};
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
        destination: Destination::of(&path.as_str().parse().unwrap(), &Home::ABSENT).unwrap(),
        _kept: kept,
    }
}

/// The run that is stored first.
fn whole() -> StoredRun {
    stored(&on_gpu())
}

/// A later run of another revision, with the cases that `select` chooses.
fn later(select: impl Fn(&BenchmarkComplete) -> bool) -> StoredRun {
    let mut run = whole();
    run.run.run_id = "later".to_owned();
    run.run.started_at = "2026-11-22T09:00:00Z".to_owned();
    run.revision = Some(Revision {
        commit: "f".repeat(40),
        branch: Some("main".to_owned()),
        modified: false,
    });
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

fn names(run: &StoredRun) -> Vec<String> {
    run.results.iter().map(BenchmarkComplete::full_name).collect()
}

#[test]
fn a_run_of_some_benchmarks_keeps_the_results_of_the_others() {
    let place = place();
    place.destination.save(whole(), &Others::Go).unwrap();
    let saved = place.destination.save(later(is_axpy), &Others::Stay).unwrap();
    assert_eq!(
        saved,
        Saved {
            kept: 3,
            ..Saved::default()
        }
    );
    let merged = read(place.destination.path()).unwrap();
    assert_eq!(names(&merged), names(&whole()), "each in its place");
    assert_eq!(merged.run.run_id, "later");
    for (result, before) in merged.results.iter().zip(whole().results) {
        let origin = merged.origin_of(result);
        if is_axpy(result) {
            assert_eq!(
                (&*origin.run_id, &*origin.started_at),
                ("later", "2026-11-22T09:00:00Z")
            );
            assert_eq!(origin.revision, later(is_axpy).revision);
        } else {
            assert_eq!(*result, before);
            assert_eq!(origin.started_at, whole().run.started_at);
            assert_eq!(origin.revision, whole().revision);
        }
    }
}

#[test]
fn results_in_another_mode_stay_unless_the_run_is_of_all_benchmarks() {
    let place = place();
    let mut warm = later(is_axpy);
    warm.results.iter_mut().for_each(|result| result.mode = Method::Warm);
    place.destination.save(whole(), &Others::Go).unwrap();
    let saved = place.destination.save(warm.clone(), &Others::Stay).unwrap();
    assert_eq!((saved.kept, saved.gone), (whole().results.len(), 0));
    let merged = read(place.destination.path()).unwrap();
    assert_eq!(merged.results.len(), whole().results.len() + warm.results.len());
    let all = Others::GoWithTheirBenchmarks {
        packages: HashSet::from(["suite".to_owned()]),
        left_out: HashSet::new(),
    };
    let saved = place.destination.save(warm.clone(), &all).unwrap();
    assert_eq!((saved.kept, saved.gone), (0, whole().results.len()));
}

#[test]
fn a_run_without_remaining_results_is_dropped() {
    let place = place();
    place.destination.save(whole(), &Others::Go).unwrap();
    place.destination.save(later(is_axpy), &Others::Stay).unwrap();
    let mut rest = later(|result| !is_axpy(result));
    rest.run.run_id = "latest".to_owned();
    for result in &mut rest.results {
        result.run_id = "latest".to_owned();
    }
    if let Some(finished) = &mut rest.finished {
        finished.run_id = "latest".to_owned();
    }
    place.destination.save(rest, &Others::Stay).unwrap();
    let merged = read(place.destination.path()).unwrap();
    let earlier: Vec<&str> = merged.run.earlier_runs.iter().map(|run| run.run_id.as_str()).collect();
    assert_eq!(earlier, ["later"]);
}

#[test]
fn a_run_of_all_benchmarks_keeps_only_cases_that_it_could_not_select() {
    let place = place();
    let everything = |left_out: &[&str]| Others::GoWithTheirBenchmarks {
        packages: HashSet::from(["suite".to_owned()]),
        left_out: left_out.iter().map(|name| (*name).to_owned()).collect(),
    };
    place.destination.save(whole(), &Others::Go).unwrap();
    let without_first = || later(|result| result.full_name() != FIRST);
    let ignored = place.destination.save(without_first(), &everything(&[FIRST])).unwrap();
    assert_eq!(
        ignored,
        Saved {
            kept: 1,
            ..Saved::default()
        }
    );
    let removed = place.destination.save(without_first(), &everything(&[])).unwrap();
    assert_eq!(
        removed,
        Saved {
            gone: 1,
            ..Saved::default()
        }
    );
    assert!(read(place.destination.path()).unwrap().run.earlier_runs.is_empty());
}

#[test]
fn results_of_packages_that_were_not_built_stay() {
    let place = place();
    place.destination.save(whole(), &Others::Go).unwrap();
    let other = of_another_package();
    let others = Others::GoWithTheirBenchmarks {
        packages: HashSet::from(["other".to_owned()]),
        left_out: HashSet::new(),
    };
    place.destination.save(other, &others).unwrap();
    let merged = read(place.destination.path()).unwrap();
    assert_eq!(merged.run.packages, ["other", "suite"]);
    assert_eq!(merged.results.len(), whole().results.len() + 3);
}

/// A run of another package that has benchmarks with the same names.
fn of_another_package() -> StoredRun {
    let mut other = later(is_axpy);
    for (result, index) in other.results.iter_mut().zip(0..) {
        result.package = "other".to_owned();
        result.index = index;
    }
    other.run.packages = vec!["other".to_owned()];
    other
}

#[test]
fn kept_results_have_unique_positions_and_names() {
    let place = place();
    place.destination.save(whole(), &Others::Go).unwrap();
    let mut part = later(is_axpy);
    let first = part.results.remove(0);
    part.results.push(first);
    for (result, index) in part.results.iter_mut().zip(0..) {
        result.index = index;
    }
    place.destination.save(part, &Others::Stay).unwrap();
    place.destination.save(of_another_package(), &Others::Stay).unwrap();
    let merged = read(place.destination.path()).unwrap();
    let positions: Vec<u64> = merged.results.iter().map(|result| result.index).collect();
    assert_eq!(positions, (0..merged.results.len() as u64).collect::<Vec<_>>());
    let cases: HashSet<&str> = merged.results.iter().map(|result| &*result.case).collect();
    assert_eq!(cases.len(), merged.results.len(), "{cases:?}");
    assert!(
        cases.contains(FIRST) && cases.contains("other::axpy::add_one::n=1024"),
        "{cases:?}"
    );
}

#[test]
fn results_of_different_devices_never_share_a_file() {
    let place = place();
    place.destination.save(whole(), &Others::Go).unwrap();
    let before = std::fs::read(place.destination.path()).unwrap();
    let mut elsewhere = later(is_axpy);
    elsewhere.run.environment.driver = Some("590.1 (CUDA 13.1)".to_owned());
    let identity = elsewhere.origin().identity();
    let cases = keys(&elsewhere);
    let refusals = [
        place
            .destination
            .ensure_keepable(&identity, &cases, &Others::Stay)
            .unwrap_err(),
        place
            .destination
            .save(elsewhere.clone(), &Others::Stay)
            .map(|_| ())
            .unwrap_err(),
    ];
    for refusal in refusals {
        assert!(
            matches!(&refusal, StoreError::SetupMismatch { source, .. } if source.kept == 3),
            "{refusal:?}"
        );
        assert!(gpubench_diagnostic::chain(&refusal).contains("driver 580.159 (CUDA 13.0) and 590.1 (CUDA 13.1)"));
    }
    assert_eq!(std::fs::read(place.destination.path()).unwrap(), before);
    place
        .destination
        .ensure_keepable(&identity, &keys(&whole()), &Others::Stay)
        .unwrap();
    place.destination.save(elsewhere, &Others::Go).unwrap();
}

#[test]
fn nothing_is_kept_from_an_edited_run() {
    let place = place();
    place.destination.save(whole(), &Others::Go).unwrap();
    let text = std::fs::read_to_string(place.destination.path()).unwrap();
    std::fs::write(place.destination.path(), text.replacen("3648", "3600", 1)).unwrap();
    let refusal = place.destination.save(later(is_axpy), &Others::Stay).unwrap_err();
    assert!(matches!(refusal, StoreError::Altered { .. }), "{refusal:?}");
    place.destination.save(later(|_| true), &Others::Go).unwrap();
    assert!(read(place.destination.path()).is_ok());
}

#[test]
fn a_run_of_one_package_does_not_replace_an_edited_run_of_several() {
    let place = place();
    let mut both = whole();
    both.results[0].package = "other".to_owned();
    place.destination.save(both, &Others::Go).unwrap();
    let text = std::fs::read_to_string(place.destination.path()).unwrap();
    let edited = text.replacen("3648", "3600", 1);
    std::fs::write(place.destination.path(), &edited).unwrap();
    let of_packages = |packages: &[&str]| Others::GoWithTheirBenchmarks {
        packages: packages.iter().map(|name| (*name).to_owned()).collect(),
        left_out: HashSet::new(),
    };
    let (run, identity) = (whole(), whole().origin().identity());
    let cases = keys(&run);
    let refusals = [
        place
            .destination
            .ensure_keepable(&identity, &cases, &of_packages(&["suite"]))
            .unwrap_err(),
        place
            .destination
            .save(run.clone(), &of_packages(&["suite"]))
            .unwrap_err(),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, StoreError::Altered { .. }), "{refusal:?}");
    }
    assert_eq!(std::fs::read_to_string(place.destination.path()).unwrap(), edited);
    place.destination.save(run, &of_packages(&["suite", "other"])).unwrap();
    assert!(read(place.destination.path()).is_ok());
}

fn everything() -> Others {
    Others::GoWithTheirBenchmarks {
        packages: HashSet::from(["suite".to_owned()]),
        left_out: HashSet::new(),
    }
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
fn a_failure_keeps_the_earlier_good_result() {
    for others in [everything(), Others::Stay] {
        let place = place();
        place.destination.save(whole(), &Others::Go).unwrap();
        let saved = place.destination.save(broken(), &others).unwrap();
        let spared = vec![FIRST.to_owned()];
        assert_eq!(
            saved,
            Saved {
                spared,
                ..Saved::default()
            }
        );
        let merged = read(place.destination.path()).unwrap();
        assert_eq!(names(&merged), names(&whole()));
        let of_first = |run: &StoredRun| run.results.iter().find(|result| result.full_name() == FIRST).cloned();
        assert_eq!(of_first(&merged), of_first(&whole()));
        let kept: Vec<String> = merged.kept().map(BenchmarkComplete::full_name).collect();
        assert_eq!(kept, [FIRST], "all others are of the later run");
        assert_eq!(merged.finished.unwrap().passed, whole().finished.unwrap().passed);
    }
}

#[test]
fn a_failure_is_saved_without_an_earlier_good_result_and_in_a_copy() {
    let place = place();
    place.destination.save(broken(), &everything()).unwrap();
    assert_eq!(
        place.destination.save(broken(), &everything()).unwrap(),
        Saved::default()
    );
    place.destination.save(whole(), &everything()).unwrap();
    assert_eq!(place.destination.save(broken(), &Others::Go).unwrap(), Saved::default());
    assert_eq!(read(place.destination.path()).unwrap().results, broken().results);
}

#[test]
fn a_good_result_with_another_driver_is_removed_and_reported() {
    let place = place();
    place.destination.save(whole(), &Others::Go).unwrap();
    let mut elsewhere = broken();
    elsewhere.run.environment.driver = Some("590.1 (CUDA 13.1)".to_owned());
    let saved = place.destination.save(elsewhere, &everything()).unwrap();
    let lost = vec![FIRST.to_owned()];
    assert_eq!(
        saved,
        Saved {
            lost,
            ..Saved::default()
        }
    );
    assert!(read(place.destination.path()).unwrap().kept().next().is_none());
}
