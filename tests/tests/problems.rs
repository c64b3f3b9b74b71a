//! `cargo gpubench problem`, on a crate that has problems and no benchmarks.
#![forbid(unsafe_code)]

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_submission::{Body, Limits, Submission};
use gpubench_tests::{Finished, Fixture, Run};
use serde_json::Value;

const FIXTURE: &str = "stated_problems";

fn problem(arguments: &[&str]) -> Finished {
    Run::on_verb("problem", &Fixture::new(FIXTURE))
        .args(["--offline", "--quiet"])
        .args(arguments.iter().copied())
        .finish()
}

fn shown(arguments: &[&str]) -> String {
    problem(arguments).expect_code(0).stdout
}

fn refused(arguments: &[&str]) -> String {
    problem(arguments).expect_code(2).stderr
}

struct Folder {
    path: Utf8PathBuf,
    _removed: tempfile::TempDir,
}

fn folder() -> Folder {
    let removed = tempfile::tempdir().expect("a folder");
    let path = Utf8PathBuf::from_path_buf(removed.path().to_owned()).expect("UTF-8");
    Folder {
        path,
        _removed: removed,
    }
}

#[test]
fn problems_are_listed_with_the_beginning_of_their_statements() {
    insta::assert_snapshot!(shown(&["list"]));
}

#[test]
fn a_problem_is_shown_with_its_shapes_over_the_axes_its_rule_and_its_limits() {
    insta::assert_snapshot!(shown(&["show", "normalize"]));
}

#[test]
fn shapes_that_a_function_makes_are_those_of_the_first_case() {
    insta::assert_snapshot!(shown(&["show", "histogram"]));
}

#[test]
fn a_problem_that_a_check_judges_is_shown_with_its_numbers_of_cases() {
    let text = shown(&["show", "rows::shuffle"]);
    assert!(text.contains("a check of the problem judges it"), "{text}");
    // There are four values to draw.
    assert!(text.contains("  1  public\n  4  hidden\n"), "{text}");
}

#[test]
fn an_archive_shows_the_problems_of_its_crate_without_cargo() {
    let folder = folder();
    let archive = folder.path.join("problems.tar.gz");
    let _ = Run::archiving(&Fixture::new(FIXTURE), &archive).finish().expect_code(0);
    let of_archive = |arguments: &[&str]| {
        let run = Run::outside_of_workspaces(&folder.path)
            .args(["problem"])
            .args(arguments.iter().copied());
        run.args(["--quiet", "--archive-file", archive.as_str()]).finish()
    };
    for arguments in [&["list"][..], &["show", "normalize"], &["starter", "normalize"]] {
        assert_eq!(of_archive(arguments).expect_code(0).stdout, shown(arguments));
    }
    let refused = of_archive(&["list", "--package", "x"]).expect_code(2).stderr;
    assert!(refused.contains("cannot be used with"), "{refused}");
    std::fs::write(&archive, "no archive").expect("it is written");
    let refused = of_archive(&["list"]).expect_code(103).stderr;
    assert!(refused.contains("problems.tar.gz"), "{refused}");
}

fn objects(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn programs_get_an_object_for_each_problem() {
    let listed = objects(&shown(&["list", "--message-format", "json"]));
    let names: Vec<&Value> = listed.iter().map(|line| &line["problem"]).collect();
    assert_eq!(names, ["copy", "histogram", "normalize", "rows::shuffle", "rows::sums"]);
    assert!(listed.iter().all(|line| line["reason"] == "problem-listed"));
    let shown = objects(&shown(&["show", "sums", "--message-format", "json"]));
    let [shown] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!(shown["reason"], "problem-shown");
    assert_eq!(shown["tensors"][0]["shape"], "[rows, cols]");
    assert_eq!(shown["hidden_cases"]["cuda"], 2);
    assert_eq!(shown["score"], "geometric_mean");
}

#[test]
fn no_output_has_a_value_of_a_hidden_case() {
    for name in ["histogram", "normalize", "rows::sums"] {
        for arguments in [
            &["show", name][..],
            &["show", name, "--message-format", "json"],
            &["starter", name],
        ] {
            let text = shown(arguments);
            for value in ["4097", "98765", "98_765", "98764", "[3,5]", "(3, 5)"] {
                assert!(!text.contains(value), "{arguments:?}: {text}");
            }
        }
    }
}

#[test]
fn a_name_that_nothing_has_is_an_error_with_a_suggestion() {
    let message = refused(&["show", "normalise"]);
    assert!(message.contains("there is no problem `normalise`"), "{message}");
    assert!(message.contains("(hint: did you mean `normalize`?)"), "{message}");
    let message = refused(&["show", "zzz"]);
    assert!(
        message.contains("`cargo gpubench problem list` shows the names of all 5"),
        "{message}"
    );
}

#[test]
fn arguments_of_another_command_are_refused() {
    for (arguments, words) in [
        (&["show"][..], "`problem show` needs the name of a problem"),
        (&["starter"], "`problem starter` needs the name of a problem"),
        (&["list", "sums"], "`problem list` has no `sums`"),
        (&["list", "--form", "ptx"], "`problem list` has no `--form`"),
        (
            &["show", "sums", "--output", "a.cu"],
            "`problem show` has no `--output`",
        ),
        (
            &["starter", "sums", "--message-format", "json"],
            "`problem starter` has no `--message-format`",
        ),
    ] {
        let message = refused(arguments);
        assert!(message.contains(words), "{message}");
        assert!(message.contains("(hint: "), "{message}");
    }
}

#[test]
fn a_run_of_problems_alone_says_what_they_are_for() {
    for options in [&[][..], &["--list"]] {
        let run = Run::on(&Fixture::new(FIXTURE)).args(["--device", "cpu"]);
        let message = run.args(options.iter().copied()).finish().expect_code(4).stderr;
        assert!(
            message.contains("no `#[gpubench]` functions, but 5 problems"),
            "{message}"
        );
        assert!(
            message.contains("`cargo gpubench problem list` shows them"),
            "{message}"
        );
    }
}

#[test]
fn a_crate_without_problems_has_none_to_list() {
    let finished = Run::on_verb("problem", &Fixture::new("reaching"))
        .args(["list", "--offline"])
        .finish()
        .expect_code(4);
    let words = "there are no problems\n(hint: package `reaching` has no `#[problem]` functions)";
    assert!(finished.stderr.contains(words), "{}", finished.stderr);
}

/// Compiles a C++ source without linking it.
fn compiles(source: &Utf8Path, arguments: &[&str]) {
    let output = Command::new("c++")
        .args(["-std=c++17", "-Wall", "-Werror", "-fsyntax-only", "-x", "c++"])
        .args(arguments)
        .arg(source)
        .output()
        .expect("a C++ compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_starter_has_the_names_and_the_types_of_the_problem() {
    insta::assert_snapshot!(shown(&["starter", "sums"]));
    insta::assert_snapshot!(shown(&["starter", "sums", "--form", "ptx"]));
    insta::assert_snapshot!(shown(&["starter", "sums", "--form", "tvm-ffi"]));
}

// Words of C++ are names in Rust.
#[test]
fn a_starter_of_host_code_compiles_and_has_its_description_in_a_file() {
    let folder = folder();
    for name in ["copy", "histogram", "normalize", "sums", "shuffle"] {
        let file = folder.path.join(format!("{name}.cpp"));
        shown(&["starter", name, "--form", "library", "--output", file.as_str()]);
        compiles(&file, &["-Wno-unused-parameter"]);
        let description = std::fs::read_to_string(file.with_extension("toml")).expect("a description");
        let table: toml::Table = description.parse().expect("TOML");
        assert_eq!(table["library"]["function"].as_str(), Some("solution"), "{description}");
    }
}

/// Reads what `starter` wrote as a grader does.
fn submission(path: &Utf8Path) -> Submission {
    Submission::read(path.as_std_path(), &Limits::default()).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_starter_is_a_submission_that_a_grader_reads() {
    let folder = folder();
    for name in ["copy", "histogram", "normalize", "sums", "shuffle"] {
        for (form, ending) in [("cuda", "cu"), ("ptx", "ptx")] {
            let file = folder.path.join(format!("{name}.{ending}"));
            shown(&["starter", name, "--form", form, "-o", file.as_str()]);
            let read = submission(&file);
            assert!(matches!(read.description.body, Body::Steps(_)), "{read:?}");
        }
        for form in ["library", "tvm-ffi"] {
            let file = folder.path.join(format!("{name}-{form}.cpp"));
            shown(&["starter", name, "--form", form, "-o", file.as_str()]);
            let library = file.with_extension("so");
            std::fs::write(&library, b"\x7fELF").expect("written");
            let read = submission(&library);
            assert!(matches!(read.description.body, Body::Library(_)), "{read:?}");
        }
    }
}

/// A problem.
const PROBLEM: &str = "
use gpubench::prelude::*;
cuda_source!(STARTER = \"solution.cu\");

/// Scales a vector.
#[problem(axes(n = [1000], factor = [3]), exact, hidden(n = [7777]))]
fn scale(n: usize, factor: u32, #[fill(Integers(1..9), n)] x: &[u32], #[shape(n)] y: &mut [u32]) {
    for (x, y) in x.iter().zip(y) {
        *y = factor * x;
    }
}
";

/// A benchmark that launches its starter.
const BENCHMARK: &str = "
#[gpubench(problem = scale, launch = STARTER::solution<<<n.div_ceil(256), 256>>>(x, y, n, factor))]
fn starter(n: usize, factor: u32, x: In<u32>, y: Out<u32>);
";

#[test]
fn the_cpu_device_runs_a_starter_and_finds_that_it_writes_nothing_and_no_hidden_case_runs() {
    let folder = folder();
    let runtime = gpubench_tests::repository().join("gpubench");
    let manifest = format!(
        "[package]\nname = \"p\"\nedition = \"2024\"\n\n[dependencies]\ngpubench = {{ path = \"{runtime}\" }}\n\n[workspace]\n"
    );
    let write = |path: &str, text: &str| std::fs::write(folder.path.join(path), text).expect("written");
    std::fs::create_dir(folder.path.join("src")).expect("a folder");
    write("Cargo.toml", &manifest);
    write(
        "src/lib.rs",
        &PROBLEM.replace("cuda_source!(STARTER = \"solution.cu\");\n", ""),
    );
    let fixture = Fixture::made_in(&folder.path);
    let starter = folder.path.join("src/solution.cu");
    let written = Run::on_verb("problem", &fixture)
        .args(["starter", "scale", "--offline", "-o", starter.as_str()])
        .finish()
        .expect_code(0);
    assert!(written.stderr.contains("Wrote"), "{}", written.stderr);
    write("src/lib.rs", &format!("{PROBLEM}{BENCHMARK}"));
    let listed = Run::on(&fixture)
        .args(["--list", "--device", "cpu"])
        .finish()
        .expect_code(0);
    assert_eq!(listed.stdout, "starter::n=1000,factor=3\n");
    let finished = Run::on(&fixture)
        .args(["--test", "--device", "cpu"])
        .finish()
        .expect_code(100);
    assert!(finished.stdout.contains("0 passed, 1 failed"), "{}", finished.stdout);
    assert!(!finished.stdout.contains("compile"), "{}", finished.stdout);
    assert!(!finished.stdout.contains("n=7777"), "{}", finished.stdout);
}

/// Words of CUDA C++, as far as starters use them.
const CUDA: &str = "#include <stddef.h>\n#define __global__\nstruct Index { unsigned x, y, z; };\n\
                    static Index blockIdx, blockDim, threadIdx;\nstruct float2 { float x, y; };\n";

#[test]
fn a_starter_in_cuda_compiles_as_cpp_and_its_comment_is_toml() {
    let folder = folder();
    std::fs::write(folder.path.join("words.h"), CUDA).expect("written");
    std::fs::write(
        folder.path.join("cuda_fp16.h"),
        "struct __half { unsigned short bits; };\n",
    )
    .expect("written");
    let words = folder.path.join("words.h");
    let (include, below) = (format!("-include{words}"), format!("-I{}", folder.path));
    for name in ["copy", "histogram", "normalize", "sums", "shuffle"] {
        let file = folder.path.join(format!("{name}.cu"));
        shown(&["starter", name, "-o", file.as_str()]);
        compiles(&file, &[&include, &below]);
        let source = std::fs::read_to_string(&file).expect("a source");
        let (_, after) = source.split_once("/* gpubench\n").expect("a comment");
        let (description, _) = after.split_once("*/").expect("its end");
        let table: toml::Table = description.parse().expect("TOML");
        assert_eq!(table["kernel"].as_str(), Some("solution"), "{description}");
    }
}

#[test]
fn a_starter_overwrites_nothing() {
    let folder = folder();
    let file = folder.path.join("solution.cu");
    shown(&["starter", "sums", "-o", file.as_str()]);
    let before = std::fs::read_to_string(&file).expect("a source");
    let message = refused(&["starter", "copy", "-o", file.as_str()]);
    assert!(message.contains("solution.cu` exists already"), "{message}");
    assert_eq!(std::fs::read_to_string(&file).expect("a source"), before);
    let toml = folder.path.join("solution.toml");
    let message = refused(&["starter", "sums", "--form", "library", "-o", toml.as_str()]);
    assert!(message.contains("which is the place of its description"), "{message}");
    let elsewhere = folder.path.join("none/solution.cu");
    let message = problem(&["starter", "sums", "-o", elsewhere.as_str()])
        .expect_code(110)
        .stderr;
    assert!(message.contains("cannot write"), "{message}");
}
