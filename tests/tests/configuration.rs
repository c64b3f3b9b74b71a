//! Effects of configuration files, the environment and run modes on real runs.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use gpubench_tests::{Finished, Fixture, Run, Terminal};
use serde_json::Value;
use tempfile::TempDir;

const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";
const OTHER: &str = "axes::no-axes";

/// A temporary configuration file.
struct Configuration {
    folder: TempDir,
}

impl Configuration {
    fn new(text: &str) -> Configuration {
        let folder = tempfile::tempdir().expect("a directory");
        std::fs::write(folder.path().join("gpubench.toml"), text).expect("it is written");
        Configuration { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    fn run(&self) -> Run {
        let file = self.path("gpubench.toml");
        Run::on(&Fixture::new("tidy")).args(["--config-file", &file, "--exact", CASE, OTHER])
    }
}

fn samples(finished: &Finished, case: &str) -> usize {
    let records = finished.records();
    records.result(case)["samples"].as_array().expect("samples").len()
}

const PROFILE: &str = "
[profile.default]
device = 'cpu'
threads = 2
flush-bytes = '256KiB'
message-format = 'json'
max-time = '1min'
workers = 1

[profile.ci]
max-samples = 6
export-junit = 'results.xml'
tmeout = '3s'

[[profile.ci.overrides]]
filter = '^axes::'
max-samples = 3
";

#[test]
fn precedence_rises_from_profile_to_override_to_environment_to_command_line() {
    let configuration = Configuration::new(PROFILE);
    let finished = configuration.run().args(["-P", "ci"]).finish().expect_code(0);
    assert_eq!((samples(&finished, CASE), samples(&finished, OTHER)), (6, 3));
    assert!(
        finished.stderr.contains(
            "gpubench.toml:13: the key `tmeout` is unknown and has no effect (hint: did you mean `timeout`?)"
        ),
        "{}",
        finished.stderr
    );
    let junit = std::fs::read_to_string(configuration.path("results.xml")).expect("next to the configuration");
    assert!(
        junit.contains("<testsuite name=\"tidy\" tests=\"2\" skipped=\"0\" errors=\"0\" failures=\"0\""),
        "{junit}"
    );

    let by_environment = configuration
        .run()
        .env("GPUBENCH_PROFILE", "ci")
        .env("GPUBENCH_MAX_SAMPLES", "5")
        .finish()
        .expect_code(0);
    assert_eq!(
        (samples(&by_environment, CASE), samples(&by_environment, OTHER)),
        (5, 5)
    );

    let by_command_line = configuration
        .run()
        .args(["-P", "ci", "--max-samples", "4"])
        .env("GPUBENCH_MAX_SAMPLES", "5")
        .finish()
        .expect_code(0);
    assert_eq!(
        (samples(&by_command_line, CASE), samples(&by_command_line, OTHER)),
        (4, 4)
    );
}

#[test]
fn a_misspelt_variable_gives_one_warning_per_run() {
    let configuration = Configuration::new("");
    let run = configuration.run().env("GPUBENCH_MAX_SAMPELS", "5");
    let finished = run.finish().expect_code(0);
    let warnings: Vec<_> = finished
        .stderr
        .lines()
        .filter(|line| line.contains("GPUBENCH_"))
        .collect();
    assert_eq!(
        warnings,
        [
            "warning: the environment variable `GPUBENCH_MAX_SAMPELS` is unknown and has no effect (hint: did you mean `GPUBENCH_MAX_SAMPLES`?)"
        ]
    );
}

const IDLE: &str = "
[profile.default]
message-format = 'json'

[[profile.default.overrides]]
filter = '^axes::'
max-samples = 3

[[profile.default.overrides]]
filter = '^axis::no-axes$'
max-samples = 3

[[profile.default.overrides]]
filter = '^tidy::sums::'
max-samples = 4

# On a GPU there is such a case.
[[profile.default.overrides]]
filter = 'small_on_the_cpu::n=1048576'
max-samples = 4
";

#[test]
fn only_an_override_that_matches_no_benchmark_gives_a_warning() {
    let configuration = Configuration::new(IDLE);
    for arguments in [&["--list"][..], &["--test"]] {
        let run = Run::on(&Fixture::new("tidy")).args(["--config-file", &configuration.path("gpubench.toml")]);
        let finished = run
            .args(["--exact", CASE])
            .args(arguments.iter().copied())
            .finish()
            .expect_code(0);
        let warnings: Vec<_> = finished
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning"))
            .collect();
        let [warning] = warnings[..] else {
            panic!("{}", finished.stderr);
        };
        assert!(
            warning.ends_with("gpubench.toml:9: the filter `^axis::no-axes$` matches no case, so its override has no effect (hint: did you mean `axes::no-axes`?)"),
            "{warning}"
        );
    }
}

#[test]
fn an_invalid_configuration_ends_the_run_before_the_build() {
    let configuration = Configuration::new("[profile.default]\ntimeout = 10\n");
    let finished = configuration.run().finish().expect_code(2);
    assert_eq!(finished.stdout, "");
    for words in ["gpubench.toml:2: `timeout` has an invalid value", "caused by: must be"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    assert!(!finished.stderr.contains("Compiling"), "{}", finished.stderr);
}

#[test]
fn options_of_other_tools_get_a_hint_with_ours() {
    let finished = Run::on(&Fixture::new("tidy"))
        .args(["--sample-size", "10"])
        .finish()
        .expect_code(2);
    assert!(
        finished
            .stderr
            .contains("type `--min-samples 100 --max-samples 100`: it takes exactly 100 samples of a case"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_test_makes_three_calls_in_the_usual_order_and_one_in_each_of_three_others_and_times_none() {
    let tested = |arguments: &[&str]| {
        let run = Run::on(&Fixture::new("tidy")).briefly().json();
        let run = run
            .args(["--test", "--exact", CASE, OTHER])
            .args(arguments.iter().copied());
        run.finish().expect_code(0)
    };
    let named = tested(&["--schedule", "2"]).records();
    assert_eq!(named.result(CASE)["windows"], 3, "one order is asked for");
    let limited = Run::on(&Fixture::new("tidy")).json();
    let limited = limited.args(["--test", "--max-samples", "2", "--exact", CASE]).finish();
    let records = limited.expect_code(0).records();
    assert_eq!(records.result(CASE)["windows"], 6, "no samples are taken");
    let finished = tested(&[]);
    for case in [CASE, OTHER] {
        let records = finished.records();
        let result = records.result(case);
        assert_eq!(result["verdict"], "pass");
        assert_eq!(result["windows"], 6);
        assert_eq!(result["window_counts"]["early_check"], 6);
        assert_eq!(result["samples"], Value::Array(Vec::new()));
        for untimed in ["stats", "grade", "stop", "event_overhead_ns", "conservation", "host_ns"] {
            assert_eq!(result[untimed], Value::Null, "{untimed}");
        }
    }
}

#[test]
fn a_test_finds_what_a_measurement_finds() {
    let run = Run::on(&Fixture::new("hostile")).briefly().json();
    let cases = [
        "answers::honest::n=600",
        "answers::one_element_is_wrong::n=600",
        "memory::reads_null::n=600",
    ];
    let finished = run.args(["--test", "--exact"]).args(cases).finish().expect_code(100);
    let verdicts = cases.map(|case| finished.records().result(case)["verdict"].clone());
    assert_eq!(verdicts, ["pass", "wrong-output", "crashed"]);
}

#[test]
fn profile_time_calls_a_case_for_the_given_time_without_analysis() {
    let run = Run::on(&Fixture::new("tidy")).briefly().json();
    let finished = run
        .args(["--profile-time", "300ms", "--exact", CASE])
        .finish()
        .expect_code(0);
    let records = finished.records();
    let result = records.result(CASE);
    assert_eq!(result["verdict"], "pass");
    assert!(result["windows"].as_u64() > Some(1), "{}", result["windows"]);
    assert_eq!(result["samples"], Value::Array(Vec::new()));
    assert_eq!(result["stats"], Value::Null);
    assert!(result["wall_ns"].as_u64() >= Some(300_000_000), "{}", result["wall_ns"]);
}

#[test]
fn the_parts_of_a_partition_are_disjoint_and_together_everything() {
    let listed = |arguments: &[&str]| {
        let run = Run::on(&Fixture::new("tidy")).args(["--device", "cpu", "--list"]);
        let finished = run.args(arguments.iter().copied()).finish().expect_code(0);
        finished.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = listed(&[]);
    for division in ["hash", "count", "slice"] {
        let parts: Vec<_> = (1..=3)
            .flat_map(|part| listed(&["--partition", &format!("{division}:{part}/3")]))
            .collect();
        assert_eq!(parts.len(), all.len(), "{division}");
        assert_eq!(
            parts.iter().collect::<BTreeSet<_>>(),
            all.iter().collect(),
            "{division}"
        );
    }
}

#[test]
fn a_part_without_a_case_writes_its_reports_and_ends_well() {
    let folder = tempfile::tempdir().expect("a directory");
    let in_part = |part: &str| {
        let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
        let (junit, json) = (file("results.xml"), file("results.jsonl"));
        let run = Run::on(&Fixture::new("tidy")).args(["--device", "cpu", "--test", "--exact", OTHER]);
        let run = run.args(["--partition", part, "--export-junit", &junit, "--export-json", &json]);
        let finished = run.finish().expect_code(0);
        let junit = std::fs::read_to_string(junit).expect("a report");
        let json = std::fs::read_to_string(json).expect("an export");
        assert!(
            junit.contains("<testsuites") && json.contains("\"run-finished\""),
            "{junit}{json}"
        );
        let is_said = finished.stderr.contains("this part of `--partition` has none");
        (junit.matches("<testcase").count(), is_said)
    };
    assert_eq!(in_part("slice:1/2"), (1, false));
    assert_eq!(in_part("slice:2/2"), (0, true));
}

#[test]
fn colour_follows_the_environment_variables() {
    let coloured = |variables: &[(&str, &str)]| {
        let (terminal, stdout) = Terminal::new(100);
        let mut run = Run::on(&Fixture::new("tidy")).args(["--test", "--exact", OTHER]);
        run = run.env("TERM", "xterm-256color");
        for (name, value) in variables {
            run = run.env(name, value);
        }
        let _ = run.finish_onto(stdout).expect_code(0);
        terminal.text().contains('\u{1b}')
    };
    assert!(coloured(&[]));
    assert!(!coloured(&[("NO_COLOR", "1")]));
    assert!(!coloured(&[("CARGO_TERM_COLOR", "never")]));
    assert!(!coloured(&[
        ("GPUBENCH_COLOR", "never"),
        ("CARGO_TERM_COLOR", "always")
    ]));
    let in_a_pipe = |name: &str, value: &str| {
        let run = Run::on(&Fixture::new("tidy")).args(["--test", "--exact", OTHER]);
        run.env(name, value).finish().expect_code(0).stdout.contains('\u{1b}')
    };
    assert!(!in_a_pipe("TERM", "xterm-256color"));
    assert!(in_a_pipe("CLICOLOR_FORCE", "1"));
    assert!(in_a_pipe("CARGO_TERM_COLOR", "always"));
}
