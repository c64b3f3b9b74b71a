//! Texts of others in the log of a CI system, which obeys lines that begin with `::` after blanks,
//! and `##[…]` and `##vso[…]` anywhere.
#![forbid(unsafe_code)]

use camino::Utf8Path;
use gpubench_tests::{Finished, Fixture, Run, RunFolder, repository};

const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";

const COMMANDS: [&str; 6] = [
    "::error file=src/lib.rs,line=1::forged",
    "::stop-commands::token",
    "##[error]forged",
    "##vso[task.complete result=Failed]forged",
    "##teamcity[buildStatus text='forged']",
    "section_start:1:forged",
];

/// Removes blanks, styles and the lines of tables, as a generous runner would.
fn beginning(line: &str) -> &str {
    line.trim_start_matches(|letter: char| !letter.is_ascii_graphic() || letter == '|')
}

#[track_caller]
fn assert_no_runner_obeys(text: &str) {
    for line in text.split(['\n', '\r']) {
        let within = ["##[", "##vso[", "##teamcity[", "section_start:", "\u{202e}"];
        let obeyed = beginning(line).starts_with("::") || within.iter().any(|command| line.contains(command));
        assert!(!obeyed, "{line:?}");
    }
}

#[track_caller]
fn assert_obeys_none(finished: &Finished) {
    assert_no_runner_obeys(&finished.stdout);
    assert_no_runner_obeys(&finished.stderr);
}

/// Returns the records of a run in which names and messages are a command, also after a line break
/// and blanks.
fn hostile(records: &str, command: &str) -> String {
    let name = format!("{command}\\n  {command}\\u202e");
    let renamed = records.replace(CASE, &name).replace("sums::one_thread_a_row", &name);
    renamed.replace("\"notices\":[]", &format!("\"notices\":[\"{name}\"]"))
}

#[test]
fn no_text_of_a_stored_run_is_a_command() {
    let (folder, fixture) = (RunFolder::new(), Fixture::new("tidy"));
    let honest = folder.path("honest.jsonl");
    let run = Run::on(&fixture)
        .briefly()
        .args(["--exact", CASE, "--export-json", honest.as_str()]);
    let _ = run.finish().expect_code(0);
    let records = std::fs::read_to_string(&honest).expect("it is written");
    for command in COMMANDS {
        let file = folder.path("hostile.jsonl");
        std::fs::write(&file, hostile(&records, command)).expect("a file");
        let compare = |arguments: &[&str]| {
            let run = Run::on_verb("compare", &fixture).args([file.as_str(), file.as_str()]);
            let finished = run.args(arguments.iter().copied()).finish();
            assert!(
                finished.stdout.contains("error") || finished.stdout.contains("forged") || !finished.stdout.is_empty()
            );
            assert_obeys_none(&finished);
        };
        compare(&[]);
        compare(&["--export-markdown", "-"]);
        compare(&["--message-format", "json"]);
        let page = Run::on_verb("report", &fixture)
            .args([file.as_str(), "--output", "-"])
            .finish();
        assert_obeys_none(&page.expect_code(0));
        for export in [
            "--export-json",
            "--export-csv",
            "--export-samples",
            "--export-markdown",
            "--export-junit",
        ] {
            let run = Run::on(&fixture).args(["--load-baseline", file.as_str(), export, "-"]);
            assert_obeys_none(&run.finish().expect_code(0));
        }
    }
}

/// A crate whose build script says something.
fn crate_that_says(folder: &Utf8Path, script: &str) -> Fixture {
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let manifest = format!(
        "[package]\nname = \"says\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\ngpubench = {{ path = \"{}\" }}\n",
        repository().join("gpubench")
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    std::fs::write(folder.join("src/lib.rs"), "").expect("a file");
    std::fs::write(folder.join("build.rs"), script).expect("a file");
    Fixture::made_in(folder)
}

#[test]
fn nothing_that_a_build_script_says_is_a_command() {
    let folder = RunFolder::new();
    let said: String = COMMANDS
        .iter()
        .map(|command| {
            format!("println!(\"cargo::warning={command}\"); println!(\"{command}\"); eprintln!(\"{command}\");\n")
        })
        .collect();
    let script = format!("fn main() {{ {said} std::process::exit(1); }}");
    let fixture = crate_that_says(&folder.path("crate"), &script);
    let finished = Run::on(&fixture).args(["--color", "never"]).finish();
    assert!(finished.stderr.contains("forged"), "{}", finished.stderr);
    assert_obeys_none(&finished);
}

#[test]
fn no_setting_and_no_error_about_one_is_a_command() {
    let folder = RunFolder::new();
    let configuration = folder.path("gpubench.toml");
    for command in COMMANDS {
        let text = format!(
            "[profile.default]\ntimeout = \"3s\"\n[[profile.default.overrides]]\n\
             filter = \"x|\\n{command}\\u202e\"\ntimeout = \"4s\"\n"
        );
        std::fs::write(&configuration, text).expect("a file");
        for case in [None, Some("suite::a")] {
            let run =
                Run::on_verb("show-config", &Fixture::new("tidy")).args(["--config-file", configuration.as_str()]);
            assert_obeys_none(&run.args(case).finish());
        }
        let broken = format!("[profile.default]\n\"\\n{command}\\u202e\" = 1\n");
        std::fs::write(&configuration, broken).expect("a file");
        let run = Run::on_verb("show-config", &Fixture::new("tidy")).args(["--config-file", configuration.as_str()]);
        let finished = run.finish();
        assert!(!finished.stderr.is_empty());
        assert_obeys_none(&finished);
        let missing = format!("\n{command}\u{202e}");
        let run = Run::on_verb("compare", &Fixture::new("tidy")).args([&*missing, &missing]);
        let finished = run.finish();
        assert!(!finished.stderr.is_empty());
        assert_obeys_none(&finished);
    }
}
