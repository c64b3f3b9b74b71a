//! What people do wrong on their first day: each message has the place, the cause and the remedy.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use gpubench_tests::{Finished, Fixture, Run, nvrtc};

fn newcomer() -> Run {
    Run::on(&Fixture::new("newcomer")).args(["--device", "cpu", "--threads", "2"])
}

/// Checks all cases of the crate once, with a compiler for GPUs.
fn checked() -> &'static Finished {
    static CHECKED: OnceLock<Finished> = OnceLock::new();
    CHECKED.get_or_init(|| {
        let run = newcomer().args(["--test", "--seed", "5eed", "--nvrtc", &nvrtc()]);
        run.finish().expect_code(100)
    })
}

/// What differs between machines: values of memory that nobody has written, words of the host's
/// compiler, and paths.
const DIFFERENT: &[(&str, &str)] = &[
    (r"(?m)^  │   \[\d+\] .*\n", ""),
    (
        r"(expected|got|is|relative error|absolute|absolute error) -?[0-9][0-9.e+-]*",
        "$1 [value]",
    ),
    (r"\d+ of 64 elements", "[some] of 64 elements"),
    (r"(?m)^  │ +\d* *\|.*\n", ""),
    (r"; did you mean '\w+'\?", ""),
    (r"address 0x[0-9a-f]+", "address [address]"),
    (r"--nvrtc \S+", "--nvrtc [path]"),
];

/// Returns what the screen says about the failed cases of a module.
fn explained(module: &str) -> String {
    let module = format!("newcomer {module}::");
    let explanations = checked().stdout.split("\n\n");
    let of_module = explanations.filter(|text| text.split_once(' ').is_some_and(|(_, rest)| rest.starts_with(&module)));
    let text = of_module.collect::<Vec<_>>().join("\n\n");
    DIFFERENT.iter().fold(text, |text, (pattern, instead)| {
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        pattern.replace_all(&text, *instead).into_owned()
    })
}

#[test]
fn wrong_answers_references_and_inputs() {
    insta::assert_snapshot!(explained("answers"));
}

#[test]
fn wrong_arguments() {
    insta::assert_snapshot!(explained("arguments"));
}

#[test]
fn wrong_shared_memory() {
    insta::assert_snapshot!(explained("shared"));
}

#[test]
fn kernels_that_a_compiler_refuses() {
    insta::assert_snapshot!(explained("sources"));
}

#[test]
fn mistakes_on_the_command_line() {
    let refused = |words: &&[&str]| {
        let finished = newcomer().args(words.iter().copied()).finish().expect_code(2);
        let (_, error) = finished.stderr.split_once("error: ").expect("an error");
        format!("$ cargo gpubench {}\nerror: {error}", words.join(" "))
    };
    let lines: [&[&str]; 10] = [
        &["--sort", "name"],
        &["--sample-count", "100"],
        &["--min-time", "1"],
        &["--items-count", "7"],
        &["--bytes-count", "7"],
        &["--skip-ext-time", "true"],
        &["--markdown", "out.md"],
        &["-d", "0"],
        &["--axis", "rows=1..4"],
        &["--axis", "rows[pow2]=[4:8:1]"],
    ];
    insta::assert_snapshot!(lines.iter().map(refused).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_size_below_zero() {
    let words = ["--test", "--axis", "rows=-1", "signed", "without_barrier"];
    let finished = newcomer().args(words).finish().expect_code(100);
    let lines = finished.stdout.lines();
    let said: Vec<&str> = lines.filter(|line| line.starts_with("  │ ")).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_profile_without_its_prefix() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gpubench.toml");
    std::fs::write(&file, "[default]\ntimeout = '3s'\n").expect("written");
    let file = file.to_str().expect("text");
    let finished = newcomer().args(["--list", "--config-file", file]).finish();
    let said = finished.stderr.replace(file, "gpubench.toml");
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning")).collect();
    insta::assert_snapshot!(warnings.join("\n"));
}
