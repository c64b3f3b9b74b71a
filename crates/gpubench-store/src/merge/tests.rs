//! Tests of runs of several parts.

use super::*;
use crate::testing::{Size, run};
use gpubench_contract::{ContestShare, Params};

const SIZE: Size = Size { workers: 2, samples: 3 };

fn part(name: &str, seed: u64, benchmarks: &[&str]) -> Part {
    let benchmarks: Vec<(&str, f64)> = benchmarks.iter().map(|benchmark| (*benchmark, 1e5)).collect();
    Part {
        name: name.to_owned(),
        run: run(seed, &benchmarks, SIZE),
    }
}

fn merged(parts: impl IntoIterator<Item = Part>) -> Result<Merged, MergeError> {
    let mut parts = parts.into_iter();
    merge(parts.next().expect("a part"), parts.collect())
}

fn refusal(one: Part, other: Part) -> MergeError {
    merged([one, other]).expect_err("they do not fit")
}

#[test]
fn a_single_run_stays_as_it_is_even_if_it_is_named_twice_or_unfinished() {
    let mut one = part("one", 1, &["b", "a"]);
    one.run.finished = None;
    let again = Part {
        name: "again".to_owned(),
        ..one.clone()
    };
    assert_eq!(merged([one.clone(), again]).expect("one run").run, one.run);
}

#[test]
fn parts_in_any_order_make_the_same_run() {
    let parts = [
        part("one", 1, &["c"]),
        part("two", 2, &["a", "d"]),
        part("three", 3, &["b"]),
    ];
    let [one, two, three] = parts.clone();
    let (forth, back) = (merged(parts).expect("a run"), merged([three, two, one]).expect("a run"));
    assert_eq!((&forth.run, &forth.lacks), (&back.run, &back.lacks));
    let names: Vec<&str> = forth.run.results.iter().map(|result| &*result.benchmark).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    let finished = forth.run.finished.expect("it finished");
    assert_eq!(
        (finished.passed, finished.wall_ns, forth.run.run.cases),
        (4, 3_000_000_000, 4)
    );
}

#[test]
fn the_results_of_two_packages_have_their_names() {
    let mut other = part("other", 2, &["a"]);
    other.run.run.packages = vec!["other".to_owned()];
    other.run.results[0].package = "other".to_owned();
    let run = merged([part("one", 1, &["a"]), other]).expect("a run").run;
    let names: Vec<&str> = run.results.iter().map(|result| &*result.case).collect();
    assert_eq!(
        (names, run.run.packages),
        (
            vec!["other::a", "suite::a"],
            vec!["other".to_owned(), "suite".to_owned()]
        )
    );
}

#[test]
fn the_same_result_in_two_parts_counts_once_and_another_one_is_refused() {
    let whole = part("whole", 1, &["a", "b"]);
    let mut half = Part {
        name: "half".to_owned(),
        ..whole.clone()
    };
    half.run.results.truncate(1);
    let run = merged([half.clone(), whole.clone()]).expect("a run").run;
    assert_eq!(
        (run.results, &run.run.run_id),
        (whole.run.results.clone(), &whole.run.run.run_id)
    );
    half.run.results[0].wall_ns += 1;
    let refusal = refusal(half, whole);
    assert_eq!(
        refusal.to_string(),
        "`suite::a` is in `half` and in `whole`, with different results"
    );
}

#[test]
fn contests_of_two_parts_stay_apart() {
    let mut parts = [part("one", 1, &["b", "d"]), part("two", 2, &["a", "c"])];
    for part in &mut parts {
        for result in &mut part.run.results {
            result.params = Params::default();
            result.contest = Some(ContestShare {
                number: 0,
                confidence: 0.95,
                analyses: 1,
            });
        }
    }
    let run = merged(parts).expect("a run").run;
    let numbers: Vec<Option<u64>> = run
        .results
        .iter()
        .map(|result| Some(result.contest.as_ref()?.number))
        .collect();
    assert_eq!(numbers, [Some(0), Some(1), Some(0), Some(1)]);
}

#[test]
fn gpus_of_all_parts_are_listed_and_the_coarsest_clock_counts() {
    let mut parts = [part("one", 1, &["a"]), part("two", 2, &["b"])];
    for (part, uuid) in parts.iter_mut().zip(["GPU-2", "GPU-1"]) {
        part.run.run.device.uuids = vec![uuid.to_owned()];
    }
    parts[0].run.run.device.clock_tick_ns = Some(1000.0);
    parts[0].run.run.environment.compiler = Some("other".to_owned());
    let run = merged(parts).expect("a run").run.run;
    assert_eq!(run.device.uuids, ["GPU-1", "GPU-2"]);
    assert_eq!(
        (run.device.clock_tick_ns, run.environment.compiler),
        (Some(1000.0), None)
    );
}

#[test]
fn branches_of_one_revision_may_differ_but_not_its_changes() {
    let revision = |branch: &str, modified| {
        Some(Revision {
            commit: "0123456789".to_owned(),
            branch: Some(branch.to_owned()),
            modified,
        })
    };
    let [mut one, mut other] = [part("one", 1, &["a"]), part("two", 2, &["b"])];
    (one.run.revision, other.run.revision) = (revision("main", false), revision("pr", false));
    let run = merged([one.clone(), other.clone()]).expect("a run").run;
    let known = run.revision.expect("it is known");
    assert_eq!(
        (known.in_words(), run.run.revision),
        ("012345678".to_owned(), Some(known))
    );
    other.run.revision = revision("main", true);
    assert_eq!(
        refusal(one.clone(), other.clone()).to_string(),
        "revision: 012345678 on main in `one`, 012345678 on main, modified in `two`"
    );
    other.run.revision = None;
    assert!(refusal(one, other).to_string().contains("unknown revision in `two`"));
}

#[test]
fn parts_of_two_drivers_are_refused() {
    let mut other = part("two", 2, &["b"]);
    other.run.run.environment.driver = None;
    assert_eq!(
        refusal(part("one", 1, &["a"]), other).to_string(),
        "driver: 580.159 (CUDA 13.0) in `one`, not known in `two`"
    );
}

#[test]
fn parts_of_two_seeds_make_a_run_without_one() {
    let mut other = part("two", 2, &["b"]);
    other.run.run.seed_commitment = "11".repeat(32);
    let Merged { run, lacks } = merged([part("one", 1, &["a"]), other]).expect("a run");
    assert_eq!(
        (run.run.seed_commitment, run.finished.expect("it finished").seed),
        Default::default()
    );
    assert_eq!(lacks.iter().map(|lack| lack.what).collect::<Vec<_>>(), [Lacking::Seed]);
}
