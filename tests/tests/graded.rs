//! Submissions of others are judged by a crate's problems, each for itself.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use camino::Utf8Path;
use gpubench_tests::{Fixture, Records, Run, RunFolder, ends};
use sha2::{Digest, Sha256};

/// The submissions, in the order in which they are given.
const SUBMISSIONS: [&str; 14] = [
    "thread_a_row",
    "block_a_row",
    "zeros",
    "first_answer",
    "does_not_compile",
    "crashes",
    "hangs",
    "template_bomb",
    "reads_a_file",
    "opens_a_folder",
    "no_launch",
    "beyond_its_buffer",
    "host_code",
    "host_code_that_kills",
];

fn grade(problem: &str) -> Run {
    Run::on_verb("grade", &Fixture::new("graded")).args(["--offline", "--problem", problem])
}

/// Grades all submissions once.
fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| {
        let files: Vec<String> = SUBMISSIONS
            .iter()
            .map(|name| format!("submissions/{name}.cu"))
            .collect();
        let run = grade("row_sums").briefly().json();
        let run = run.giving_up("hangs", "2s").args([
            "--test",
            "--axis",
            "rows=100",
            "--compile-timeout",
            "20s",
            "missing.cu",
        ]);
        run.args(files.iter().map(String::as_str))
            .finish()
            .expect_code(100)
            .records()
    })
}

#[test]
fn each_submission_has_a_record_in_the_given_order() {
    let names: Vec<&str> = records()
        .results()
        .map(|result| result["benchmark"].as_str().expect("a name"))
        .collect();
    let given = ["missing"].into_iter().chain(SUBMISSIONS);
    let expected: Vec<&str> = given
        .map(|name| if name == "block_a_row" { "a block a row" } else { name })
        .collect();
    assert_eq!(names, expected);
}

#[test]
fn right_submissions_pass_next_to_hostile_ones() {
    for name in ["thread_a_row", "a block a row", "host_code"] {
        let result = records().result(name);
        assert_eq!(result["verdict"], "pass", "{name}: {}", result["message"]);
    }
}

ends! {
    zeros_are_wrong: "zeros" is "wrong-output", "constant", "`sums`";
    the_first_answer_is_wrong_for_other_inputs: "first_answer" is "wrong-output", "cached", "`sums`";
    a_compiler_error_has_its_line: "does_not_compile" is "error", "compile-failed", "does_not_compile.cu:5", "cannot convert";
    a_crash_is_of_the_submission: "crashes" is "crashed", "out-of-bounds";
    a_kernel_that_does_not_end_is_a_timeout: "hangs" is "timeout", "slow";
    a_template_bomb_ends_with_its_compiler: "template_bomb" is "error", "compile-failed", "template_bomb.cu";
    a_compiler_reads_no_file_of_the_machine: "reads_a_file" is "error", "compile-failed", "environ";
    options_open_no_folder_of_the_machine: "opens_a_folder" is "error", "submission-invalid", "`/proc/self`", "opens_a_folder.cu:4";
    a_submission_without_a_launch_says_what_to_write: "no_launch" is "error", "submission-invalid", "grid";
    a_missing_file_is_an_error_of_its_own: "missing" is "error", "submission-invalid", "missing.cu";
    signals_reach_the_submission_alone: "host_code_that_kills" is "crashed", "killed";
    reads_past_the_end_are_found: "beyond_its_buffer" is "crashed", "out-of-bounds", "`matrix`", "beyond_its_buffer.cu:7";
}

#[test]
fn a_result_says_what_was_graded() {
    let submission = &records().result("zeros")["submission"];
    assert_eq!(submission["place"], "submissions/zeros.cu");
    let file = std::fs::read(Fixture::new("graded").directory().join("submissions/zeros.cu")).expect("it is there");
    assert_eq!(submission["sha256"], sha256(&file));
    assert!(records().result("missing")["submission"]["sha256"].is_null());
    assert_eq!(records().result("host_code")["execution"], "hosted-sync");
}

#[test]
fn submissions_that_passed_are_ranked_and_the_others_have_no_score() {
    let files = [
        "submissions/block_a_row.cu",
        "submissions/zeros.cu",
        "submissions/thread_a_row.cu",
    ];
    let run = grade("row_sums")
        .briefly()
        .json()
        .args(["--over", "a block a row"])
        .args(files);
    let records = run.finish().expect_code(100).records();
    let graded: Vec<_> = records.with_reason("problem-complete").collect();
    let names: Vec<_> = graded
        .iter()
        .map(|one| one["submission"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["a block a row", "zeros", "thread_a_row"]);
    let mut ranks: Vec<_> = [0, 2].map(|one| graded[one]["rank"].as_u64().expect("a rank")).into();
    ranks.sort_unstable();
    assert_eq!(ranks, [1, 2]);
    assert_eq!(&graded[0]["public"], &serde_json::json!({"cases": 2, "passed": 2}));
    assert_eq!(
        (&graded[1]["verdict"], &graded[1]["public"]["passed"]),
        (&"wrong-output".into(), &0.into())
    );
    assert!(graded[1]["score"].is_null() && graded[1]["rank"].is_null());
    let speedup = &graded[2]["score"]["speedup"];
    assert_eq!(speedup["over"], "a block a row");
    assert!(speedup["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{speedup}");
    let score = &graded[2]["score"];
    let rates = records.results().filter(|result| result["benchmark"] == "thread_a_row");
    let rates: Vec<f64> = rates
        .filter_map(|result| result["throughput"]["flops_per_s"].as_f64())
        .collect();
    let mean = rates.iter().sum::<f64>() / 2.0;
    let found = score["mean_flops_per_s"].as_f64().expect("a number");
    assert!((found / mean - 1.0).abs() < 1e-9, "{found} {rates:?}");
    assert!(score["speed_of_light"].is_null());
    assert_eq!(score["no_speed_of_light"], "the peak rates of the device are not known");
}

#[test]
fn hidden_cases_show_a_verdict_and_nothing_of_their_values() {
    let files = ["submissions/thread_a_row.cu", "submissions/only_public.cu"];
    let folder = RunFolder::new();
    let page = folder.path("page.html");
    let report = format!("html={page}");
    let run = grade("row_sums")
        .briefly()
        .json()
        .args(["--leaderboard", "--report", &report]);
    let finished = run.args(files).finish().expect_code(100);
    let page = std::fs::read_to_string(page).expect("it is written");
    assert!(page.contains("id=\"scores\"") && page.contains("hidden=2"), "{page}");
    for value in ["rows=7919", "cols=5", "cols=3,", "cols=3<"] {
        assert!(!page.contains(value), "{value}: {page}");
    }
    for value in ["rows\":7919", "\"cols\":5,", "\"cols\":5}", "rows=7919", "cols=5"] {
        assert!(!finished.stdout.contains(value), "{value}: {}", finished.stdout);
        assert!(!finished.stderr.contains(value), "{value}: {}", finished.stderr);
    }
    let records = finished.records();
    let right = records.result("thread_a_row::hidden=1");
    assert_eq!(
        (&right["verdict"], &right["params"]["hidden"]),
        (&"pass".into(), &1.into())
    );
    assert_eq!(right["submission"]["hidden_case"], 1);
    assert!(
        right["stats"].is_null() && right["samples"] == serde_json::json!([]),
        "{right}"
    );
    let wrong = records.result("only_public::hidden=2");
    assert_eq!(
        (&wrong["verdict"], wrong["cause"].is_null()),
        (&"wrong-output".into(), true)
    );
    assert!(
        wrong["message"].is_null() && wrong["checks"] == serde_json::json!([]),
        "{wrong}"
    );
    let graded: Vec<_> = records.with_reason("problem-complete").collect();
    assert!(graded[0]["score"]["value"].as_f64().is_some_and(|value| value > 0.0));
    assert_eq!(graded[0]["hidden"], serde_json::json!({"cases": 2, "passed": 2}));
    assert_eq!(
        (&graded[1]["hidden"]["passed"], graded[1]["score"].is_null()),
        (&1.into(), true)
    );
    assert_eq!(graded[1]["failed_case"], "only_public::hidden=2");
}

#[test]
fn people_see_no_value_of_a_hidden_case() {
    let run = grade("row_sums")
        .briefly()
        .args(["--leaderboard", "--verbose", "submissions/only_public.cu"]);
    let finished = run.finish().expect_code(100);
    let shown = finished.stdout + &finished.stderr;
    assert!(shown.contains("hidden=2") && shown.contains("wrong-output"), "{shown}");
    for value in ["7919", "cols=5"] {
        assert!(!shown.contains(value), "{value}: {shown}");
    }
}

#[test]
fn a_misspelt_hidden_case_gives_no_hint_of_its_values() {
    for name in ["thread_a_row::hidden=3", "thread_a_row::rows=7919"] {
        let run = grade("row_sums").args([
            "--leaderboard",
            "--test",
            "--exact",
            name,
            "submissions/thread_a_row.cu",
        ]);
        let finished = run.finish().expect_code(4);
        let shown = finished.stderr.replace(name, "");
        assert!(!shown.contains("7919"), "{shown}");
    }
    let run = grade("row_sums")
        .json()
        .args(["--leaderboard", "--test", "--exact", "thread_a_row::hidden=2"]);
    let finished = run.args(["submissions/thread_a_row.cu"]).finish().expect_code(0);
    assert_eq!(finished.records().results().count(), 1);
}

#[test]
fn a_problem_without_hidden_cases_is_graded_without_a_warning() {
    let run = grade("deeper::positive").args(["--test", "--leaderboard", "--quiet", "submissions/zeros.cu"]);
    let finished = run.finish().expect_code(100);
    assert!(!finished.stderr.contains("warning"), "{}", finished.stderr);
}

#[test]
fn hidden_cases_that_are_not_graded_are_mentioned() {
    let finished = grade("row_sums")
        .args(["--test", "submissions/thread_a_row.cu"])
        .finish()
        .expect_code(0);
    assert!(finished.stderr.contains("--leaderboard"), "{}", finished.stderr);
}

#[test]
fn an_unknown_rival_is_refused() {
    let run = grade("row_sums").args(["--over", "thread_a_rwo", "submissions/thread_a_row.cu"]);
    let finished = run.finish().expect_code(2);
    assert!(
        finished.stderr.contains("no submission is called `thread_a_rwo`"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("did you mean `thread_a_row`?"),
        "{}",
        finished.stderr
    );
}

#[test]
fn drawn_cases_follow_from_the_seed() {
    let grade = |seed: &str| {
        let run = grade("doubled")
            .json()
            .args(["--leaderboard", "--test", "--seed", seed]);
        let finished = run.args(["submissions/doubles.cu"]).finish().expect_code(0);
        assert_eq!(finished.records().results().count(), 4);
    };
    grade("1");
    grade("2");
}

#[test]
fn a_problem_limits_its_submissions_and_makes_its_score() {
    let run = grade("doubled")
        .briefly()
        .json()
        .args(["submissions/long.cu", "submissions/doubles.cu"]);
    let records = run.finish().expect_code(100).records();
    records.assert_ends("long", "error", "submission-invalid", &["600 bytes"]);
    let graded: Vec<_> = records.with_reason("problem-complete").collect();
    assert_eq!(graded[1]["score"]["rule"], "arithmetic-mean");
}

#[test]
fn what_does_not_compile_alone_is_a_failed_submission_and_no_failed_build() {
    let run = grade("row_sums").args(["--test", "submissions/does_not_compile.cu"]);
    let _ = run.finish().expect_code(100);
}

#[test]
fn a_problem_of_an_archive_is_graded_without_its_sources() {
    let fixture = Fixture::new("graded");
    let archive = Fixture::target_directory().join("graded.tar.gz");
    let _ = Run::archiving(&fixture, &archive).finish().expect_code(0);
    let run = Run::on_verb("grade", &fixture).args(["--archive-file", archive.as_str(), "--problem", "row_sums"]);
    let finished = run
        .args(["--test", "submissions/thread_a_row.cu"])
        .json()
        .finish()
        .expect_code(0);
    assert_eq!(finished.records().results().count(), 2);
}

#[test]
fn standard_input_is_a_submission() {
    let line =
        "cat submissions/thread_a_row.cu | \"$0\" gpubench grade --offline --problem row_sums --test --axis rows=64 -";
    let finished = Run::of_shell(line, Fixture::new("graded").directory())
        .finish()
        .expect_code(0);
    assert!(finished.stdout.contains("submission"), "{}", finished.stdout);
}

/// Returns a folder with these files.
fn folder_with(files: &[(&str, &str)]) -> RunFolder {
    let folder = RunFolder::new();
    for (name, text) in files {
        std::fs::write(folder.path(name), text).expect("a file");
    }
    folder
}

#[test]
fn a_name_of_a_file_is_no_option_of_a_compiler() {
    let files = [
        ("submission.toml", "file = \"@r.cu\"\n[library]\n"),
        (
            "@r.cu",
            "#if 0\n#include \"r.cu\"\n#include \"real.h\"\n#include \"s.sh\"\n#endif\n",
        ),
        ("r.cu", "-x c++ real.h -wrapper /bin/sh,s.sh\n"),
        ("real.h", "extern \"C\" void solution() {}\n"),
        ("s.sh", "echo the script has run >&2\nexec \"$@\"\n"),
    ];
    let folder = folder_with(&files);
    let run = grade("row_sums").json().args(["--test", folder.path(".").as_str()]);
    let finished = run.finish().expect_code(100);
    assert!(!finished.stdout.contains("the script has run"), "{}", finished.stdout);
    let dash = folder_with(&[
        (
            "submission.toml",
            "file = \"-DX=.cu\"\n[library]\narguments = [\"matrix\", \"sums\"]\n",
        ),
        (
            "-DX=.cu",
            "extern \"C\" void solution(const float *matrix, float *sums) { sums[0] = matrix[0]; }\n",
        ),
    ]);
    let run = grade("row_sums")
        .json()
        .args(["--test", "--axis", "rows=64", dash.path(".").as_str()]);
    let records = run.finish().expect_code(100).records();
    let result = records.results().next().expect("a result");
    assert_eq!(result["verdict"], "wrong-output", "{result}");
}

#[test]
fn two_readers_of_options_agree() {
    let rival = Fixture::new("graded").directory().join("submissions");
    for taken in ["-Xptxas", "-arch", "--diag-suppress", "-D", "--define-macro", "-std"] {
        let text = format!(
            "/* gpubench\ngrid = \"rows\"\nblock = 1\noptions = [\"{taken}\", \"-I\", \"-I{rival}\"]\n*/\n\
             #include <thread_a_row.cu>\n"
        );
        let folder = folder_with(&[("thief.cu", &text)]);
        let run = grade("row_sums")
            .json()
            .args(["--test", "--axis", "rows=64", folder.path("thief.cu").as_str()]);
        let records = run.finish().expect_code(100).records();
        records.assert_ends("thief", "error", "submission-invalid", &["options"]);
    }
}

#[test]
fn deep_nesting_fails_its_own_submission_alone() {
    let deep = format!(
        "/* gpubench\ngrid = \"rows\"\nblock = 1\n*/\n{}\n",
        "namespace a{".repeat(20_000)
    );
    let folder = folder_with(&[("deep.cu", &deep)]);
    let run = grade("row_sums")
        .json()
        .args(["--test", "--axis", "rows=64", "--compile-timeout", "60s"]);
    let run = run.args([folder.path("deep.cu").as_str(), "submissions/thread_a_row.cu"]);
    let records = run.finish().expect_code(100).records();
    assert_eq!(records.result("deep")["verdict"], "error");
    assert_eq!(records.result("thread_a_row")["verdict"], "pass");
}

/// Compiles a submission's function to a shared library.
fn compile_library(body: &str, library: &Utf8Path) {
    let source = library.with_file_name("source.cpp");
    let text = format!(
        "extern \"C\" void solution(const float *matrix, float *sums, long long rows, long long cols) {{ {body} }}"
    );
    std::fs::write(&source, text).expect("a file");
    let compiled = std::process::Command::new("c++")
        .args(["-shared", "-fPIC", "-o", library.as_str(), source.as_str()])
        .status();
    assert!(compiled.expect("a C++ compiler").success());
}

#[test]
fn libraries_whose_names_look_alike_are_judged_each_by_itself() {
    let folder = folder_with(&[]);
    // Messages show the first folder as the second.
    let [right, wrong] = ["\u{1}", r"\u{1}"].map(|name| {
        std::fs::create_dir(folder.path(name)).expect("a folder");
        folder.path(name).join("x.so")
    });
    let sums = "for (long long r = 0; r < rows; ++r) { float sum = 0; \
                for (long long c = 0; c < cols; ++c) sum += matrix[r * cols + c]; sums[r] = sum; }";
    compile_library(sums, &right);
    compile_library("sums[0] = matrix[0];", &wrong);
    for order in [[&right, &wrong], [&wrong, &right]] {
        let run = grade("row_sums").json().args(["--test", "--axis", "rows=64"]);
        let run = run.args(order.map(|place| place.as_str()));
        let records = run.finish().expect_code(100).records();
        let verdicts: Vec<_> = records.results().map(|result| result["verdict"] == "pass").collect();
        assert_eq!(verdicts, order.map(|place| *place == right));
    }
}

#[test]
fn an_ambiguous_rival_is_refused() {
    let twin = folder_with(&[("thread_a_row.cu", "x")]);
    let run = grade("row_sums").args(["--over", "thread_a_row", "submissions/thread_a_row.cu"]);
    let finished = run
        .args([twin.path("thread_a_row.cu").as_str()])
        .finish()
        .expect_code(2);
    assert!(
        finished
            .stderr
            .contains("several submissions are called `thread_a_row`"),
        "{}",
        finished.stderr
    );
}

#[test]
fn an_unknown_problem_has_a_suggestion() {
    let finished = grade("row_sum").args(["submissions/zeros.cu"]).finish().expect_code(2);
    assert!(
        finished.stderr.contains("there is no problem `row_sum`"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("did you mean `row_sums`?"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_problem_is_found_by_the_end_of_its_path() {
    for name in ["positive", "deeper::positive", "graded::deeper::positive"] {
        let finished = grade(name)
            .args(["--test", "submissions/zeros.cu"])
            .json()
            .finish()
            .expect_code(100);
        finished
            .records()
            .assert_ends("zeros", "error", "submission-invalid", &["there is no `rows`", "`n`"]);
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
