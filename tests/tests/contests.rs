//! `--contest`: the kernels of a problem alternately.
#![forbid(unsafe_code)]

use gpubench_tests::{Finished, Fixture, Run};
use serde_json::{Value, json};

/// Returns a contest of cases of the fixture, with a confidence that noise on a busy machine does
/// not reach.
fn contest(cases: &[&str]) -> Run {
    contest_of(Run::on(&Fixture::new("contest")), cases)
}

fn contest_of(run: Run, cases: &[&str]) -> Run {
    run.json()
        .patiently()
        .args(["--contest", "--include-ignored", "--device", "cpu", "--threads", "1"])
        .args([
            "--flush-bytes",
            "0",
            "--max-time",
            "1min",
            "--confidence-level",
            "99.9%",
        ])
        .args(["--min-samples", "40", "--max-samples", "40"])
        .env("GPUBENCH_WORKERS", "5")
        .args(cases.iter().copied())
}

fn rankings(finished: &Finished) -> Vec<Value> {
    finished.records().with_reason("contest-complete").cloned().collect()
}

fn names_of(ranking: &Value) -> Vec<&str> {
    let contestants = ranking["contestants"].as_array().expect("a list");
    contestants
        .iter()
        .map(|contestant| contestant["benchmark"].as_str().expect("a name"))
        .collect()
}

#[test]
fn kernels_of_a_problem_are_ranked_pair_by_pair_for_each_of_its_arguments_and_over_all() {
    let finished = contest(&["^quick", "^twin", "^slow.*times=16", "^alone"])
        .finish()
        .expect_code(0);
    let records = finished.records();
    let positions: Vec<&Value> = records.results().map(|result| &result["index"]).collect();
    assert_eq!(
        positions,
        [0, 1, 2, 3, 4, 5, 6].map(Value::from).iter().collect::<Vec<_>>()
    );
    assert!(records.results().all(|result| result["verdict"] == "pass"));
    assert_eq!(records.result("alone")["contest"], Value::Null);
    let rankings = rankings(&finished);
    let subjects: Vec<(&Value, &Value)> = rankings
        .iter()
        .map(|ranking| (&ranking["params"], &ranking["arguments"]))
        .collect();
    let expected = [
        (json!({"n": 64}), json!(1)),
        (json!({"n": 128}), json!(1)),
        (json!({}), json!(2)),
    ];
    assert_eq!(
        subjects,
        expected
            .iter()
            .map(|(params, number)| (params, number))
            .collect::<Vec<_>>()
    );
    for ranking in &rankings {
        assert_eq!(
            (&ranking["problem"], &ranking["remark"]),
            (&json!("copy"), &Value::Null)
        );
        let [one, other, slow] = &ranking["contestants"].as_array().expect("a list")[..] else {
            panic!("{ranking:#}");
        };
        assert_eq!(
            (&slow["benchmark"], &slow["params"]),
            (&json!("slow"), &json!({"times": 16}))
        );
        assert_eq!(
            (&slow["ranks"], &slow["ties"]),
            (&json!([3, 3]), &json!([])),
            "{ranking:#}"
        );
        assert!(slow["interval"][0].as_f64().expect("a number") > 1.0, "{ranking:#}");
        for (twin, tie) in [(one, other), (other, one)] {
            assert_eq!(twin["ranks"], json!([1, 2]), "{ranking:#}");
            assert_eq!(twin["ties"], json!([tie["benchmark"]]));
        }
        assert_eq!(one["ratio"], 1.0);
    }
    let samples = |name| records.result(name)["samples"].as_array().map(Vec::len);
    assert_eq!(samples("quick::n=64"), Some(40));
    assert_eq!(samples("slow::n=64,times=16"), Some(40));
}

#[test]
fn values_of_an_axis_that_one_benchmark_adds_are_ranked_with_and_without_turns() {
    let finished = contest(&["^slow.*n=64"]).finish().expect_code(0);
    let [ranking] = &rankings(&finished)[..] else {
        panic!("{finished:?}")
    };
    let contestants = ranking["contestants"].as_array().expect("a list");
    let times: Vec<&Value> = contestants.iter().map(|one| &one["params"]["times"]).collect();
    assert_eq!(times, [4, 16]);
    assert_eq!(ranking["params"], json!({"n": 64}));
    let plain = Run::on(&Fixture::new("contest"))
        .args(["--device", "cpu", "--workers", "1", "--max-samples", "4", "^slow.*n=64"])
        .finish()
        .expect_code(0);
    let ranked = |times: u32| plain.stdout.contains(&format!("slow times={times}"));
    assert!(ranked(4) && ranked(16), "{}", plain.stdout);
}

#[test]
fn a_wrong_contestant_drops_out_with_its_verdict_and_the_others_go_on() {
    let cases = [
        "--exact",
        "quick::n=64",
        "stale::n=64",
        "crashes::n=64",
        "slow::n=64,times=16",
    ];
    let finished = contest(&cases).finish().expect_code(100);
    let records = finished.records();
    assert_eq!(records.result("stale")["verdict"], "wrong-output");
    assert_eq!(records.result("crashes")["verdict"], "crashed");
    for name in ["quick", "slow"] {
        let result = records.result(name);
        assert_eq!(
            (&result["verdict"], &result["stats"]["n"]),
            (&json!("pass"), &json!(40))
        );
    }
    let [ranking] = &rankings(&finished)[..] else {
        panic!("one ranking")
    };
    assert_eq!(names_of(ranking), ["quick", "slow", "crashes", "stale"]);
    let ranks = [json!([1, 1]), json!([2, 2]), Value::Null, Value::Null];
    for (position, rank) in ranks.iter().enumerate() {
        assert_eq!(ranking["contestants"][position]["ranks"], *rank, "{ranking:#}");
    }
}

#[test]
fn a_contestant_cannot_write_to_the_outputs_of_its_rivals() {
    let cases = ["--exact", "quick::n=64", "twin::n=64", "spoils_outputs::n=64"];
    let finished = contest(&cases).finish().expect_code(0);
    let records = finished.records();
    assert!(records.results().all(|result| result["verdict"] == "pass"));
    let [ranking] = &rankings(&finished)[..] else {
        panic!("one ranking")
    };
    assert_eq!(names_of(ranking)[2], "spoils_outputs", "{ranking:#}");
    assert_eq!(ranking["contestants"][2]["ranks"][1], 3);
}

#[test]
fn a_contestant_that_writes_wherever_it_can_harms_only_itself() {
    let cases = ["--exact", "quick::n=64", "twin::n=64", "overwrites_shared_memory::n=64"];
    let run = contest(&cases).giving_up("overwrites_shared_memory", "3s");
    let finished = run.finish().expect_code(100);
    let records = finished.records();
    for name in ["quick", "twin"] {
        let result = records.result(name);
        assert_eq!(
            (&result["verdict"], &result["stats"]["n"]),
            (&json!("pass"), &json!(40)),
            "{}",
            result["message"]
        );
    }
    assert_ne!(records.result("overwrites_shared_memory")["verdict"], "pass");
}

#[test]
fn a_contestant_that_fails_only_in_alternation_passes_without_a_rank() {
    let cases = ["--exact", "quick::n=64", "slow::n=64,times=16", "wrong_at_first::n=64"];
    let numbers = "export NUMBERS=$(mktemp -u) && mkfifo \"$NUMBERS\" && exec 9<>\"$NUMBERS\" && printf 123456789 >&9";
    let finished = contest_of(Run::after(numbers, &Fixture::new("contest")), &cases)
        .finish()
        .expect_code(100);
    let records = finished.records();
    assert!(records.results().all(|result| result["verdict"] == "pass"));
    let result = records.result("wrong_at_first");
    let alternating = &result["failed_alternating"];
    assert_eq!(
        (&alternating["verdict"], &alternating["cause"], &result["grade"]),
        (&json!("wrong-output"), &json!("mismatch"), &json!("unverified"))
    );
    assert_eq!(records.result("quick")["failed_alternating"], Value::Null);
    let [ranking] = &rankings(&finished)[..] else {
        panic!("one ranking")
    };
    assert_eq!(names_of(ranking), ["quick", "slow", "wrong_at_first"]);
    let last = &ranking["contestants"][2];
    assert_eq!(
        (&last["ranks"], &last["verdict"], &last["failed_alternating"]),
        (&Value::Null, &json!("pass"), &json!("wrong-output"))
    );
    let doubt = ranking["doubt"].as_str().expect("a doubt");
    assert!(doubt.contains("could slow the others down"), "{doubt}");
}

#[test]
fn variants_of_a_benchmark_compete_too() {
    let finished = contest(&["--exact", "quick::n=64", "slow::n=64,times=4", "slow::n=64,times=16"]).finish();
    let [ranking] = &rankings(&finished.expect_code(0))[..] else {
        panic!("one ranking")
    };
    let variants: Vec<&Value> = (1..3)
        .map(|position| &ranking["contestants"][position]["params"])
        .collect();
    assert_eq!(variants, [&json!({"times": 4}), &json!({"times": 16})]);
}

#[test]
fn contestants_that_do_not_fit_at_once_are_told() {
    let finished = contest(&["^greedy::n=64", "^quick::n=64"]).finish().expect_code(100);
    let results = finished.records();
    let mut results = results.results();
    let words = "the 6 contestants have 207 tensors and scratch allocations together, and 192 are possible";
    assert!(results.all(|result| {
        let message = result["message"].as_str().expect("a message");
        (&result["verdict"], &result["cause"]) == (&json!("error"), &json!("plan-invalid")) && message.contains(words)
    }));
}

#[test]
fn too_few_rounds_give_results_without_a_ranking() {
    let few = contest(&["--exact", "quick::n=64", "twin::n=64"]).env("GPUBENCH_WORKERS", "2");
    let [ranking] = &rankings(&few.finish().expect_code(0))[..] else {
        panic!("one ranking")
    };
    let remark = ranking["remark"].as_str().expect("a remark");
    assert!(
        remark.contains("fewer than 3 workers") && remark.contains("`--workers`"),
        "{remark}"
    );
    assert_eq!(ranking["contestants"][0]["ranks"], Value::Null);
}

#[test]
fn without_rivals_times_or_a_single_mode_there_is_no_contest() {
    for (arguments, words) in [
        (
            &["alone"][..],
            &[
                "needs two cases of one problem with the same arguments",
                "`copy` (12), `delayed` (3)",
            ][..],
        ),
        (
            &["quick", "twin", "--mode", "cold,warm"],
            &["one mode, but `quick::n=64` has `cold`, `warm`", "`--mode cold`"],
        ),
        (
            &["quick", "twin", "--metric", "instructions"],
            &["`--metric` leaves out those of `quick::n=64`"],
        ),
        (
            &["quick", "--against", "HEAD"],
            &["'--contest' cannot be used with '--against"],
        ),
    ] {
        let run = Run::on(&Fixture::new("contest")).args(["--contest", "--device", "cpu"]);
        let finished = run.args(arguments.iter().copied()).finish().expect_code(2);
        for word in words {
            assert!(finished.stderr.contains(word), "`{word}` is not in {}", finished.stderr);
        }
    }
}

#[test]
fn tables_and_pages_show_the_ranking_of_a_stored_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (stored, markdown, page) = (path("run.json"), path("run.md"), path("page.html"));
    let run = Run::on(&Fixture::new("contest")).briefly().env("GPUBENCH_WORKERS", "3");
    let cases = [
        "--contest",
        "--device",
        "cpu",
        "--exact",
        "quick::n=64",
        "slow::n=64,times=16",
    ];
    let run = run
        .args(cases)
        .args(["--save-baseline", &stored, "--export-markdown", &markdown]);
    let finished = run.finish().expect_code(0);
    let ranked = |text: &str| {
        for word in [
            "alternating",
            "fastest",
            "× the time (",
            "hold at once with 99.0% confidence",
        ] {
            assert!(text.contains(word), "`{word}` is not in {text}");
        }
    };
    ranked(&finished.stdout);
    ranked(&std::fs::read_to_string(markdown).expect("it is written"));
    let report = Run::on_verb("report", &Fixture::new("contest")).args([&*stored, "--output", &page]);
    let _ = report.finish().expect_code(0);
    ranked(&std::fs::read_to_string(page).expect("it is written"));
    let loaded = Run::on(&Fixture::new("contest")).args(["--load-baseline", &stored]);
    ranked(&loaded.finish().expect_code(0).stdout);
}

#[test]
fn a_wall_time_without_rivals_is_in_no_contest() {
    let cases = ["--exact", "quick::n=64", "slow::n=64,times=4", "from_outside::n=64"];
    let finished = contest(&cases).finish().expect_code(0);
    let [ranking] = &rankings(&finished)[..] else {
        panic!("one ranking")
    };
    assert_eq!(names_of(ranking), ["quick", "slow"]);
    let records = finished.records();
    assert_eq!(records.result("from_outside")["contest"], Value::Null);
    assert_ne!(records.result("quick")["contest"], Value::Null);
}

#[test]
fn wall_times_compete_apart_and_host_code_costs_its_rivals_their_grade() {
    let names = ["quick", "on_the_host", "from_outside", "from_outside_again"];
    let cases = names.map(|name| format!("{name}::n=64"));
    let cases: Vec<&str> = std::iter::once("--exact")
        .chain(cases.iter().map(String::as_str))
        .collect();
    let finished = contest(&cases).finish().expect_code(0);
    let mut contests: Vec<Vec<String>> = rankings(&finished)
        .iter()
        .map(|ranking| names_of(ranking).into_iter().map(str::to_owned).collect())
        .collect();
    contests.iter_mut().for_each(|names| names.sort());
    assert_eq!(
        contests,
        [["from_outside", "from_outside_again"], ["on_the_host", "quick"]]
    );
    let records = finished.records();
    let reason = |name| {
        records.result(name)["grade_reason"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let disturbed = "host code of `contest::on_the_host::n=64 [warm]` could disturb it";
    assert!(reason("quick").contains(disturbed), "{}", reason("quick"));
    assert!(
        !reason("on_the_host").contains("could disturb"),
        "{}",
        reason("on_the_host")
    );
}
