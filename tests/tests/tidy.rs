//! An honest crate: every case passes, and the records follow the machine contract.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::OnceLock;

use gpubench_tests::{Finished, Fixture, Records, Run, repository};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn tidy() -> Run {
    Run::on(&Fixture::new("tidy")).briefly()
}

/// Runs all cases of the crate once.
fn run() -> &'static Finished {
    static RUN: OnceLock<Finished> = OnceLock::new();
    RUN.get_or_init(|| tidy().json().args(["--include-ignored"]).finish())
}

fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| run().records())
}

fn measured() -> impl Iterator<Item = &'static Value> {
    records().results().filter(|result| result["verdict"] != "skipped")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[test]
fn a_run_without_failures_has_exit_code_0() {
    let _ = run().clone().expect_code(0);
}

#[test]
fn verbose_output_names_the_file_with_the_compiled_kernels_of_a_source() {
    let case = "sums::one_block_a_row::rows=33,cols=100,threads=32";
    let finished = tidy().args(["-v", "--exact", case]).finish().expect_code(0);
    let lines = lines(&finished.stderr);
    let line = lines
        .iter()
        .find_map(|line| line.strip_prefix("    Compiled sums.cu for "));
    let (_, path) = line
        .and_then(|line| line.split_once(" ("))
        .unwrap_or_else(|| panic!("{lines:?}"));
    let bytes = std::fs::read(path.trim_end_matches(')')).expect("the file is there");
    assert!(bytes.starts_with(b"\x7fELF"), "{path}");
}

#[test]
fn every_case_passes_or_has_a_reason_to_be_skipped() {
    for result in records().results() {
        let case = &result["case"];
        match result["verdict"].as_str() {
            Some("pass") => assert_eq!(
                (&result["cause"], &result["message"]),
                (&Value::Null, &Value::Null),
                "{case}"
            ),
            Some("skipped") => assert!(result["message"].is_string(), "{case}"),
            verdict => panic!("{case}: {verdict:?} / {}: {}", result["cause"], result["message"]),
        }
    }
    let finished = records().the("run-finished");
    assert_eq!((&finished["failed"], &finished["skipped"]), (&json!(0), &json!(4)));
    assert_eq!(finished["end"], "completed");
}

#[test]
fn an_inapplicable_combination_of_axis_values_is_skipped_with_a_reason() {
    for (case, applies, reason) in [
        (
            "devices::in_whole_tiles::n=100",
            "devices::in_whole_tiles::n=96",
            "requires `n % 32 == 0`",
        ),
        (
            "devices::in_tiles_that_divide::tile=30",
            "devices::in_tiles_that_divide::tile=10",
            "30 does not divide 100",
        ),
    ] {
        let find = |name: &str| {
            records()
                .results()
                .find(|result| result["case"] == name)
                .expect("its result")
        };
        let result = find(case);
        assert_eq!(
            (&result["verdict"], &result["cause"], &result["message"]),
            (&json!("skipped"), &json!("not-applicable"), &json!(reason))
        );
        assert_eq!(find(applies)["verdict"], "pass");
    }
}

#[test]
fn a_missing_device_feature_is_the_reason_to_skip() {
    for (benchmark, reason) in [("devices::needs_a_gpu", "CUDA"), ("devices::needs_a_hopper", "9.0")] {
        let result = records().result(benchmark);
        assert_eq!(
            (&result["verdict"], &result["cause"]),
            (&json!("skipped"), &json!("unsupported"))
        );
        assert!(
            result["message"]
                .as_str()
                .is_some_and(|message| message.contains(reason)),
            "{}",
            result["message"]
        );
        assert_eq!(
            (&result["samples"], &result["stats"], &result["grade"]),
            (&json!([]), &Value::Null, &Value::Null)
        );
    }
    assert_eq!(records().result("devices::needs_the_cpu_device")["verdict"], "pass");
}

#[test]
fn every_record_follows_the_schema() {
    let schema = repository().join("crates/gpubench-contract/schema/gpubench-v2.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).expect("the schema is there")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    for record in records().all() {
        let errors: Vec<String> = validator.iter_errors(record).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}\n{record:#}");
    }
}

#[test]
fn every_record_names_the_run_and_the_version_of_the_contract() {
    let ids: BTreeSet<&str> = records()
        .all()
        .iter()
        .map(|record| record["run_id"].as_str().expect("a text"))
        .collect();
    assert_eq!(ids.len(), 1);
    assert!(records().all().iter().all(|record| record["schema_version"] == 2));
}

#[test]
fn the_first_record_describes_the_machine() {
    let started = &records().all()[0];
    assert_eq!(started["reason"], "run-started");
    assert_eq!(started["device"]["kind"], "cpu");
    assert_eq!(started["device"]["multiprocessors"], 2);
    assert_eq!(started["packages"], json!(["tidy"]));
    let commitment = started["seed_commitment"].as_str().expect("a text");
    assert!(
        commitment.len() == 64 && commitment.chars().all(|digit| digit.is_ascii_hexdigit()),
        "{commitment}"
    );
}

/// The page gives the text that is hashed with the seed, and the form of the seed.
#[test]
fn the_commitment_is_what_the_page_says() {
    let page = std::fs::read_to_string(repository().join("docs/reference/records.md")).expect("the page");
    let formula = regex::Regex::new(r"SHA-256 of the text `([^`]+)`, followed by the 32 bytes of the master seed");
    let text = formula
        .expect("a pattern")
        .captures(&page)
        .expect("the formula is there")[1]
        .to_owned();
    let seed = records().the("run-finished")["seed"].as_str().expect("a text");
    let digits = format!("{seed:0>64}");
    let seed = (0..64)
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("digits"));
    let hashed: Vec<u8> = text.into_bytes().into_iter().chain(seed).collect();
    let commitment: String = Sha256::digest(hashed)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(records().the("run-started")["seed_commitment"], commitment);
}

#[test]
fn cases_are_announced_before_they_are_complete() {
    let mut open: Option<&Value> = None;
    let of_cases = records().all().iter().filter(|record| record["index"].is_u64());
    for record in of_cases {
        match record["reason"].as_str() {
            Some("benchmark-started") => assert!(open.replace(record).is_none()),
            Some("benchmark-complete") => {
                let started = open.take().expect("it was announced");
                for field in ["package", "benchmark", "params", "case", "index"] {
                    assert_eq!(started[field], record[field], "{field}");
                }
            }
            reason => panic!("{reason:?} has an index"),
        }
    }
}

#[test]
fn parameters_have_the_types_of_their_axes() {
    let is_it = |result: &&Value| {
        result["case"]
            .as_str()
            .is_some_and(|case| case.starts_with("axes::scale::n=1000,gain=0.5,"))
    };
    for result in records().results().filter(is_it) {
        let params = &result["params"];
        assert_eq!((&params["n"], &params["gain"]), (&json!(1000), &json!(0.5)));
        assert!(["forward", "backward"].contains(&params["order"].as_str().expect("a text")));
    }
}

#[test]
fn booleans_are_recorded_as_such() {
    let params = &records().result("axes::scale::n=1000,gain=0.5,negate=true,order=backward")["params"];
    assert_eq!(params["negate"], true);
}

#[test]
fn a_device_can_have_other_axis_values() {
    assert_eq!(
        records().result("axes::small_on_the_cpu")["params"],
        json!({ "n": 256 })
    );
}

#[test]
fn a_benchmark_without_axes_is_one_case_with_the_given_name() {
    let result = records().result("axes::no-axes");
    assert_eq!(
        (&result["case"], &result["params"]),
        (&json!("axes::no-axes"), &json!({}))
    );
}

#[test]
fn statistics_match_the_samples() {
    for result in measured() {
        let samples: Vec<f64> = result["samples"]
            .as_array()
            .expect("a list")
            .iter()
            .map(number)
            .collect();
        let stats = &result["stats"];
        assert_eq!(samples.len(), 4, "{result:#}");
        assert_eq!(number(&stats["n"]), samples.len() as f64);
        assert!(samples.iter().all(|sample| *sample > 0.0));
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        assert!((number(&stats["mean"]) - mean).abs() <= 1e-9 * mean);
        let ordered = ["min", "q1", "value", "q3", "max"].map(|name| number(&stats[name]));
        assert!(ordered.is_sorted(), "{stats:#}");
        let interval = [&stats["ci95"][0], &stats["ci95"][1]].map(number);
        assert!(interval[0] <= ordered[2] && ordered[2] <= interval[1], "{stats:#}");
        assert!((number(&stats["stddev"]) / mean - number(&stats["cv"])).abs() < 1e-9);
    }
}

#[test]
fn the_minimum_number_of_samples_is_taken_even_after_the_time_limit() {
    let limits = [
        "--min-samples",
        "4",
        "--max-samples",
        "4",
        "--max-time",
        "1ms",
        "--flush-bytes",
        "256KiB",
    ];
    let case = ["--exact", "steps::memset_copy_and_launches::n=1000"];
    let finished = Run::on(&Fixture::new("tidy"))
        .json()
        .args(limits)
        .args(case)
        .finish()
        .expect_code(0);
    let result = finished.records().result("steps::memset_copy_and_launches").clone();
    assert_eq!(result["stats"]["n"], 4, "{}", result["stop"]);
}

#[test]
fn every_window_has_different_inputs() {
    for result in measured() {
        match result["benchmark"].as_str() {
            Some(name) if name.starts_with("devices::") => assert_eq!(result["distinct_inputs"], 0),
            _ => assert_eq!(result["distinct_inputs"], result["windows"], "{}", result["case"]),
        }
        let counts = &result["window_counts"];
        let sum: f64 = ["warm_up", "timed", "retaken", "early_check", "parts"]
            .map(|kind| number(&counts[kind]))
            .iter()
            .sum();
        assert_eq!(sum, number(&result["windows"]));
        assert_eq!(number(&counts["timed"]), number(&result["stats"]["n"]));
        assert!(number(&counts["early_check"]) >= 1.0, "{result:#}");
    }
}

#[test]
fn a_result_has_the_stop_reason_and_the_grade() {
    for result in measured() {
        assert!(result["stop"]["reason"].is_string(), "{result:#}");
        assert_eq!(result["stop"]["target_cv"], 0.01);
        assert_eq!(
            (&result["grade"], &result["mode"]),
            (&json!("unverified"), &json!("cold"))
        );
        let conservation = &result["conservation"];
        assert!(
            number(&conservation["claimed_ns"]) <= number(&conservation["observed_ns"]),
            "{result:#}"
        );
        assert!(number(&result["event_overhead_ns"]) >= 0.0 && number(&result["host_ns"]["median_ns"]) >= 0.0);
        assert!(number(&result["wall_ns"]) > 0.0);
    }
}

#[test]
fn every_output_has_one_check_over_all_its_elements() {
    for result in measured() {
        for check in result["checks"].as_array().expect("a list") {
            assert_eq!(check["matched"], check["elements"]);
            assert_eq!(check["first_wrong"], Value::Null);
        }
    }
    let tolerances = |benchmark| -> Vec<[f64; 2]> {
        let checks = records().result(benchmark)["checks"].as_array().expect("a list");
        let number = |check: &Value, part: &str| check["tolerance"][part].as_f64().expect("a number");
        let tolerance = |check| [number(check, "rtol"), number(check, "atol")];
        checks.iter().map(tolerance).collect()
    };
    assert_eq!(tolerances("fills::halves"), [[1e-3, 1e-4], [0.0, 0.0]]);
    assert_eq!(tolerances("fills::complex"), [[1e-5, 1e-6]; 2]);
    let outputs = |benchmark| -> Vec<(String, u64)> {
        let checks = records().result(benchmark)["checks"].as_array().expect("a list");
        let check = |check: &Value| Some((check["output"].as_str()?.to_owned(), check["elements"].as_u64()?));
        checks.iter().filter_map(check).collect()
    };
    let each = |names: &[&str], elements| {
        names
            .iter()
            .map(|name| ((*name).to_owned(), elements))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        outputs("fills::several_outputs"),
        each(&["a_out", "b_out", "c_out", "d_out"], 257)
    );
    assert_eq!(
        outputs("steps::in_place_with_constant_and_scratch"),
        each(&["signal"], 515)
    );
    assert_eq!(outputs("devices::needs_the_cpu_device"), each(&["zeros"], 100));
}

#[test]
fn throughput_is_the_declared_work_divided_by_the_time() {
    let result = records().result("sums::one_thread_a_row");
    let time = number(&result["stats"]["value"]) * 1e-9;
    let throughput = &result["throughput"];
    let is_close = |got: f64, wanted: f64| (got / wanted - 1.0).abs() < 1e-9;
    assert!(
        is_close(
            number(&throughput["bytes_per_s"]),
            f64::from(4 * 33 * 100 + 4 * 33) / time
        ),
        "{throughput}"
    );
    assert!(
        is_close(number(&throughput["flops_per_s"]), f64::from(33 * 100) / time),
        "{throughput}"
    );
    assert_eq!(
        throughput["of_peak_bandwidth"],
        Value::Null,
        "the CPU device has no known peak"
    );
    assert_eq!(throughput["bytes_from"], "declared");
    let undeclared = records().result("steps::memset_copy_and_launches");
    assert_eq!(undeclared["throughput"]["bytes_from"], "tensors");
    assert_eq!(undeclared["throughput"]["flops_per_s"], Value::Null);
}

#[test]
fn implementations_of_a_problem_have_its_name() {
    let of = |case| records().result(case)["problem"].clone();
    let problem = of("sums::one_thread_a_row");
    assert!(
        problem.as_str().is_some_and(|problem| problem.contains("row_sums")),
        "{problem}"
    );
    assert_eq!(of("sums::one_block_a_row::rows=33,cols=100,threads=32"), problem);
    assert_ne!(of("axes::small_on_the_cpu"), problem);
}

#[test]
fn listed_names_match_the_results() {
    let listed = tidy().args(["--list", "--include-ignored"]).finish().expect_code(0);
    let names: Vec<&str> = records()
        .results()
        .map(|result| result["case"].as_str().expect("a text"))
        .collect();
    assert_eq!(lines(&listed.stdout), names);
    assert!(names.len() > 30);
}

#[test]
fn a_json_list_has_a_record_per_case() {
    let listed = tidy()
        .json()
        .args(["--list", "--include-ignored"])
        .finish()
        .expect_code(0);
    let listed = listed.records();
    assert!(listed.all().iter().all(|record| record["reason"] == "benchmark-listed"));
    let results: Vec<&Value> = records().results().collect();
    assert_eq!(listed.all().len(), results.len());
    for (listed, result) in listed.all().iter().zip(results) {
        for field in ["schema_version", "package", "benchmark", "params", "case", "index"] {
            assert_eq!(listed[field], result[field], "{field}");
        }
        // A list does not know which axis values a benchmark function rejects, because it runs no
        // function.
        let is_skipped = result["verdict"] == "skipped" && result["cause"] != "not-applicable";
        assert_eq!(listed["skipped"].is_string(), is_skipped, "{listed}");
    }
}

#[test]
fn every_listed_name_selects_its_case_exactly() {
    let listed = tidy().args(["--list"]).finish().expect_code(0);
    for name in listed.stdout.lines() {
        let again = tidy().args(["--list", "--exact", name]).finish().expect_code(0);
        assert_eq!(again.stdout, format!("{name}\n"));
    }
    let together = tidy()
        .args(["--list", "--exact"])
        .args(listed.stdout.lines())
        .finish()
        .expect_code(0);
    assert_eq!(together.stdout, listed.stdout);
}

#[test]
fn filters_are_regular_expressions_and_skip_wins() {
    let arguments = [
        "--list",
        "^sums::",
        "n=1000,gain=2.0,.*order=back",
        "--skip",
        "threads=(32|64)$",
        "--skip",
        "n=1000,.*,order=backward",
    ];
    let listed = tidy().args(arguments).finish().expect_code(0);
    let expected = [
        "sums::one_block_a_row::rows=33,cols=100,threads=128",
        "sums::one_thread_a_row::rows=33,cols=100",
    ];
    assert_eq!(lines(&listed.stdout), expected);
    let listed = tidy()
        .args(["--list", "n=1000,gain=2.0,.*order=back"])
        .finish()
        .expect_code(0);
    assert_eq!(lines(&listed.stdout).len(), 2, "{}", listed.stdout);
}

#[test]
fn ignored_benchmarks_run_only_on_request() {
    let list = |arguments: &[&'static str]| {
        let run = tidy()
            .args(["--list", "devices::(not_by_default|needs_the_cpu)"])
            .args(arguments.iter().copied());
        run.finish().expect_code(0).stdout
    };
    assert_eq!(list(&[]), "devices::needs_the_cpu_device\n");
    assert_eq!(list(&["--ignored"]), "devices::not_by_default\n");
    assert_eq!(
        list(&["--include-ignored"]),
        "devices::needs_the_cpu_device\ndevices::not_by_default\n"
    );
}

#[test]
fn selecting_nothing_has_exit_code_4() {
    for arguments in [
        &["no_such_benchmark"][..],
        &["--exact", "axes::scale"],
        &["--skip", "."],
        &["--list", "no_such_benchmark"],
    ] {
        let finished = tidy().args(arguments.iter().copied()).finish().expect_code(4);
        assert_eq!(finished.errors().len(), 1, "{}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn an_axis_on_the_command_line_replaces_the_values_of_the_benchmark() {
    let arguments = ["axes::small_on_the_cpu", "--axis", "n=50,60"];
    let finished = tidy().json().args(arguments).finish().expect_code(0);
    let records = finished.records();
    let elements = |result: &Value| (result["params"]["n"].clone(), result["checks"][0]["elements"].clone());
    let found: Vec<(Value, Value)> = records.results().map(elements).collect();
    assert_eq!(found, [(50.into(), 50.into()), (60.into(), 60.into())]);
}

#[test]
fn an_unknown_axis_and_an_invalid_value_are_errors() {
    let unknown = tidy().args(["axes::", "--axis", "width=3"]).finish().expect_code(2);
    assert!(
        unknown.stderr.contains("width") && unknown.stderr.contains("gain"),
        "{}",
        unknown.stderr
    );
    let fraction = tidy().args(["axes::scale", "--axis", "n=2.5"]).finish().expect_code(2);
    assert!(
        fraction.stderr.contains("2.5") && fraction.stderr.contains('n'),
        "{}",
        fraction.stderr
    );
}

/// The expected value of a wrong element depends on the inputs, so it reveals a change of the
/// inputs.
#[test]
fn equal_seeds_give_equal_inputs_and_different_seeds_different_ones() {
    let expected = |seed: &[&'static str]| {
        let case = ["--exact", "answers::one_element_is_wrong::n=600"];
        let run = Run::on(&Fixture::new("hostile"))
            .briefly()
            .json()
            .args(case)
            .args(seed.iter().copied());
        let records = run.finish().expect_code(100).records();
        let commitment = records.the("run-started")["seed_commitment"].clone();
        (
            commitment,
            records.result("answers::one_element_is_wrong")["checks"][0]["first_wrong"]["expected"].clone(),
        )
    };
    let first = expected(&["--seed", "5eed"]);
    assert_eq!(expected(&["--seed", "5eed"]), first);
    for other in [expected(&["--seed", "5eee"]), expected(&[])] {
        assert_ne!(other.0, first.0);
        assert_ne!(other.1, first.1);
    }
}

#[test]
fn a_crate_without_benchmarks_is_reported() {
    let finished = Run::on(&Fixture::new("empty")).finish().expect_code(4);
    assert_eq!(finished.stdout, "");
    let lines: Vec<&str> = finished
        .stderr
        .lines()
        .filter(|line| line.contains("`empty`"))
        .collect();
    assert!(
        lines
            .iter()
            .any(|line| line.contains("no `#[gpubench]`") || line.contains("no #[gpubench]")),
        "{}",
        finished.stderr
    );
}

#[test]
fn every_export_format_is_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let files = ["results.json", "results.csv", "results.md"].map(path);
    let finished = tidy()
        .args([
            "sums::",
            "--export-json",
            &files[0],
            "--export-csv",
            &files[1],
            "--export-markdown",
            &files[2],
        ])
        .finish()
        .expect_code(0);
    assert!(finished.stdout.contains("one_thread_a_row"));
    let [json, csv, markdown] = files.map(|file| std::fs::read_to_string(file).expect("it is written"));
    assert_eq!(Records::parse(&json).results().count(), 3);
    assert_eq!(csv.lines().count(), 4, "a head and a row a case:\n{csv}");
    let rows = markdown
        .lines()
        .filter(|line| line.starts_with('|') && line.contains("_a_row"))
        .count();
    assert_eq!(rows, 3, "{markdown}");
}

#[test]
fn a_run_that_checks_nothing_says_so_and_fails_on_request() {
    let skipped = || Run::on(&Fixture::new("tidy")).args(["--test", "--device", "cpu", "devices::needs_a_gpu"]);
    let told = skipped().finish().expect_code(0).stderr;
    assert!(
        told.contains("every case was skipped, so nothing was checked"),
        "{told}"
    );
    let _ = skipped().args(["--fail-on-skip"]).finish().expect_code(100);
    let checked = Run::on(&Fixture::new("tidy")).args(["--test", "--fail-on-skip", "sums::one_thread"]);
    let told = checked.args(["--device", "cpu"]).finish().expect_code(0).stderr;
    assert!(!told.contains("every case was skipped"), "{told}");
}
