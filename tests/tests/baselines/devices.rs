//! Runs of several devices next to each other, in a terminal, in files and on a page.

use gpubench_tests::{Finished, Fixture, Run, RunFolder, repository};
use serde_json::{Value, json};

/// Returns the records of the sample run on a GPU, as if a device of this name had measured them.
fn records_on(name: &str) -> Vec<Value> {
    let golden = repository().join("crates/gpubench-report/src/tests/snapshots");
    let golden = golden.join("gpubench_report__tests__golden__json_lines_on_a_gpu.snap");
    let golden = std::fs::read_to_string(golden).expect("the golden copy");
    let lines = golden.lines().filter(|line| line.starts_with('{'));
    let mut records: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for record in &mut records {
        record["run_id"] = format!("run on {name}").into();
        if record["device"].is_object() {
            record["device"]["name"] = name.into();
        }
    }
    records
}

/// Returns the first result of a run. It passed.
fn first_result(records: &mut [Value]) -> &mut Value {
    let mut results = records.iter_mut().filter(|record| record["verdict"] == "pass");
    results.next().expect("a result")
}

fn compare(arguments: &[&str]) -> Finished {
    let run = Run::on_verb("compare", &Fixture::new("paced"));
    run.args(arguments.iter().copied()).finish()
}

/// Writes the runs of three devices.
fn three(folder: &RunFolder) -> [String; 3] {
    ["H100", "H200", "A100"].map(|name| folder.lines(&format!("{name}.jsonl"), &records_on(&format!("NVIDIA {name}"))))
}

#[test]
fn runs_of_several_devices_are_next_to_each_other() {
    let folder = RunFolder::new();
    let [one, two, three] = three(&folder);
    let shown = compare(&[&one, &two, &three]).expect_code(0);
    for what in ["NVIDIA H100", "NVIDIA H200", "NVIDIA A100", "≈1.00×", "fastest"] {
        assert!(shown.stdout.contains(what), "{what}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("not compared"), "{}", shown.stdout);
    let warnings = shown.stderr.matches("no benchmark was judged").count();
    assert_eq!(warnings, 1, "{}", shown.stderr);
    let undecided = compare(&[&one, &two, "--fail-on-inconclusive", "all"]);
    let _ = undecided.expect_code(6);
}

#[test]
fn the_record_has_what_the_table_shows_and_matches_the_schema() {
    let folder = RunFolder::new();
    let [one, two, three] = three(&folder);
    let printed = compare(&[&one, &two, &three, "--message-format", "json"]).expect_code(0);
    let records = printed.records();
    let matrix = records.the("device-matrix");
    assert_eq!(records.all().last(), Some(matrix), "it comes after the comparisons");
    let titles = matrix["columns"].as_array().expect("a list");
    let titles: Vec<&Value> = titles.iter().map(|column| &column["title"]).collect();
    assert_eq!(titles, ["NVIDIA H100", "NVIDIA H200", "NVIDIA A100"]);
    let schema = repository().join("crates/gpubench-contract/schema/gpubench-v2.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).expect("the schema is there")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    assert!(validator.is_valid(matrix), "{matrix:#}");
}

#[test]
fn a_comment_has_the_table_too() {
    let folder = RunFolder::new();
    let [one, two, _] = three(&folder);
    let file = folder.path("comment.md");
    let shown = compare(&[&one, &two, "--message-format", "markdown"]).expect_code(0);
    let _ = compare(&[&one, &two, "--export-markdown", file.as_str()]).expect_code(0);
    let written = std::fs::read_to_string(&file).expect("it is written");
    assert_eq!(written, shown.stdout);
    assert!(
        written.contains("| Benchmark | NVIDIA H100 | NVIDIA H200 |"),
        "{written}"
    );
}

#[test]
fn a_case_that_fails_on_another_device_says_so_with_exit_code_100() {
    let folder = RunFolder::new();
    let [one, ..] = three(&folder);
    let mut other = records_on("NVIDIA A100");
    first_result(&mut other)["verdict"] = json!("wrong-output");
    let other = folder.lines("other.jsonl", &other);
    let shown = compare(&[&one, &other]).expect_code(100);
    assert!(shown.stdout.contains("✗ wrong-output"), "{}", shown.stdout);
}

#[test]
fn one_device_has_the_usual_comparison_and_another_one_below_it() {
    let folder = RunFolder::new();
    let [one, other, _] = three(&folder);
    let mut later = records_on("NVIDIA H100");
    for record in &mut later {
        record["run_id"] = json!("later");
    }
    let later = folder.lines("later.jsonl", &later);
    let alone = compare(&[&one, &later]).expect_code(0);
    assert!(
        !alone.stdout.contains("fastest") && alone.stdout.contains("baseline"),
        "{}",
        alone.stdout
    );
    let twice = compare(&[&one, &one, &other]).expect_code(0);
    assert!(twice.stdout.contains("both are the same run"), "{}", twice.stdout);
    let both = compare(&[&one, &later, &other]).expect_code(0);
    for what in ["NVIDIA H100,", "later.jsonl", "NVIDIA H200", "fastest", "drift"] {
        assert!(both.stdout.contains(what), "{what}: {}", both.stdout);
    }
    let as_one = compare(&[&one, &other, "--allow-different-setups"]);
    assert!(!as_one.stdout.contains("fastest"), "{}", as_one.stdout);
}

#[test]
fn runs_without_a_case_in_common_end_with_exit_code_4_and_say_what_each_lacks() {
    let folder = RunFolder::new();
    let [one, ..] = three(&folder);
    let mut other = records_on("NVIDIA A100");
    other.retain(|record| record["package"].is_null());
    let mut result = records_on("NVIDIA A100");
    let result = first_result(&mut result);
    (result["benchmark"], result["case"]) = (json!("other"), json!("other"));
    other.insert(1, result.clone());
    let other = folder.lines("other.jsonl", &other);
    let shown = compare(&[&one, &other]).expect_code(4);
    assert!(shown.stdout.contains("not in this run"), "{}", shown.stdout);
    assert!(
        !shown.stdout.contains("fastest") && !shown.stdout.contains('×'),
        "{}",
        shown.stdout
    );
}

#[test]
fn names_of_devices_reach_no_terminal_as_control_characters() {
    let folder = RunFolder::new();
    let [one, ..] = three(&folder);
    let wild = format!("\u{1b}]0;title\u{7}\u{202e}{}", "x".repeat(10_000));
    let other = folder.lines("other.jsonl", &records_on(&wild));
    let page = folder.path("page.html");
    let run = Run::on_verb("report", &Fixture::new("paced"));
    let reported = run.args([&one, &other, "-o", page.as_str()]).finish().expect_code(0);
    let page = std::fs::read_to_string(&page).expect("the page");
    for text in [compare(&[&one, &other]).expect_code(0).stdout, reported.stderr, page] {
        let hidden = text
            .chars()
            .find(|letter| letter.is_control() && *letter != '\n' || *letter == '\u{202e}');
        assert_eq!(hidden, None);
    }
}

#[test]
fn a_file_of_several_runs_is_refused_with_what_to_do() {
    let folder = RunFolder::new();
    let [one, ..] = three(&folder);
    let several = folder.lines(
        "all.jsonl",
        &[records_on("NVIDIA H200"), records_on("NVIDIA A100")].concat(),
    );
    let refused = compare(&[&one, &several]).expect_code(2);
    assert!(
        refused.stderr.contains("contains 2 runs") && refused.stderr.contains("one file per run"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_page_about_runs_of_several_devices_shows_the_latest_of_each() {
    let folder = RunFolder::new();
    let [one, two, three] = three(&folder);
    let mut earlier = records_on("NVIDIA H100");
    for record in &mut earlier {
        record["run_id"] = json!("earlier");
    }
    earlier[0]["started_at"] = json!("2026-01-01T00:00:00Z");
    let earlier = folder.lines("earlier.jsonl", &earlier);
    let page = folder.path("page.html");
    let run = Run::on_verb("report", &Fixture::new("paced"));
    let files = [&one, &two, &earlier, "--compare", &three, "-o", page.as_str()];
    let reported = run.args(files).finish().expect_code(0);
    let html = std::fs::read_to_string(&page).expect("the page");
    let devices = html
        .split("id=\"devices\"")
        .nth(1)
        .and_then(|rest| rest.split("</section>").next());
    let devices = devices.expect("a section");
    for run in ["H100.jsonl", "H200.jsonl", "A100.jsonl"] {
        assert!(devices.contains(run), "{run}: {devices}");
    }
    assert!(!devices.contains("earlier.jsonl"), "{devices}");
    assert!(
        reported.stderr.contains("earlier.jsonl` is left out") && reported.stderr.matches("left out").count() == 1,
        "{}",
        reported.stderr
    );
}
