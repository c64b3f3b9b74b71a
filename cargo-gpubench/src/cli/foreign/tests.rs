use clap::CommandFactory;

use super::*;
use crate::cli::examples::tests::words;
use crate::cli::{App, Environment, Unresolved, Verb, described_verb, resolve};
use gpubench_diagnostic::Expected;

/// Checks a command line in a workspace without configuration.
fn checked(arguments: &[&str]) -> Result<(), Unresolved> {
    let all: Vec<OsString> = ["cargo-gpubench", "gpubench"]
        .iter()
        .chain(arguments)
        .map(Into::into)
        .collect();
    match resolve(&all, &Environment::default(), &|_| None)?.verb {
        Verb::Gpubench(arguments) => Ok(arguments.into_command(&described_verb()).map(drop)?),
        other => panic!("another verb: {other:?}"),
    }
}

/// Returns the message and the hint of a refusal.
fn refused(arguments: &[&str]) -> (String, String) {
    match checked(arguments) {
        Err(Unresolved::Expected(failure)) => (failure.to_string(), failure.hint().unwrap_or_default()),
        Err(Unresolved::CommandLine(error)) => panic!("{arguments:?} is left to clap: {error}"),
        Ok(_) => panic!("{arguments:?} is accepted"),
    }
}

fn own_options() -> Vec<String> {
    let verb = described_verb();
    let long = verb.get_arguments().filter_map(|option| option.get_long());
    let short = verb.get_arguments().filter_map(|option| option.get_short());
    long.map(|long| format!("--{long}"))
        .chain(short.map(|short| format!("-{short}")))
        .collect()
}

#[test]
fn every_option_of_another_tool_is_refused_with_its_row_or_has_a_remark_about_the_one_here() {
    let own = own_options();
    let verb = described_verb();
    let mut app = App::command();
    app.build();
    for row in FOREIGN {
        for name in row.names {
            if own.contains(&(*name).to_owned()) {
                assert!(row.remark.contains(&format!("here `{name}`")), "{name}: {}", row.remark);
                continue;
            }
            for words in [&[*name][..], &[name, "3"], &["gemm", &format!("{name}=3")]] {
                let all = ["cargo-gpubench", "gpubench"].iter().chain(words);
                let error = app.try_get_matches_from_mut(all).expect_err("a refusal");
                let refusal = explain(&error, &verb).unwrap_or_else(|| panic!("{words:?} is left to clap: {error}"));
                let (message, hint) = (refusal.to_string(), refusal.hint().expect("advice"));
                assert!(message.contains("is an option of"), "{words:?}: {message}");
                for tool in row.tools {
                    assert!(message.contains(tool.name()), "{words:?}: {message}");
                }
                assert!(hint.contains(&row.advice()), "{words:?}: {hint}");
                assert_eq!(hint.lines().count(), 1, "{hint}");
            }
        }
    }
}

#[test]
fn everything_to_type_instead_is_accepted() {
    for row in FOREIGN.iter().filter(|row| !row.instead.is_empty()) {
        let typed = words(row.instead);
        let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
        match checked(&typed) {
            Ok(()) => {}
            Err(Unresolved::CommandLine(help)) if !help.use_stderr() => {}
            Err(error) => panic!("{}: {error:?}", row.instead),
        }
    }
}

#[test]
fn remarks_name_only_options_that_exist() {
    let own = own_options();
    let option = regex::Regex::new("`(--?[a-z][a-z-]*)").expect("an expression");
    for row in FOREIGN {
        for captures in option.captures_iter(row.remark) {
            assert!(own.contains(&captures[1].to_owned()), "{:?}: {}", row.names, row.remark);
        }
    }
}

#[test]
fn a_tool_has_each_option_once() {
    for tool in FOREIGN.iter().flat_map(|row| row.tools) {
        let rows = FOREIGN.iter().filter(|row| row.tools.contains(tool));
        let mut names: Vec<_> = rows.flat_map(|row| row.names).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{tool:?}: {names:?}");
    }
}

#[test]
fn a_row_without_anything_to_type_says_why() {
    for row in FOREIGN.iter().filter(|row| row.instead.is_empty()) {
        assert!(!row.remark.is_empty(), "{:?}", row.names);
    }
}

#[test]
fn refusals_of_options_of_other_tools() {
    let shown = |words: &[&str]| {
        let (message, hint) = refused(words);
        format!("$ cargo gpubench {}\n{message}\n(hint: {hint})\n", words.join(" "))
    };
    let lines = [
        &["--sort", "name"][..],
        &["--sample-count", "100"],
        &["--min-time", "1"],
        &["--items-count", "7"],
        &["--skip-ext-time", "true"],
        &["--sample-size=10"],
        &["--markdown", "out.md"],
        &["-d", "0"],
        &["--jsonlist-devices"],
        &["--num_iters", "30"],
        &["--bench", "gemm"],
        &["--profile"],
        &["--profile", "--quiet"],
        &["archive", "--release", "--archive-file", "kernels.tar.gz"],
        &["gemm", "--", "--measurement-time", "3"],
    ];
    insta::assert_snapshot!(lines.map(shown).join("\n"));
}

#[test]
fn a_subcommand_gets_no_advice_about_options_that_it_lacks() {
    let Err(Unresolved::CommandLine(error)) = checked(&["history", "--jsonbin", "x"]) else {
        panic!("clap refuses the option");
    };
    assert!(error.to_string().contains("'--jsonbin'"), "{error}");
}

#[test]
fn an_option_that_was_renamed_is_refused_with_its_new_name() {
    assert_eq!(refused(&["--energy"]).0, "`--energy` is called `--metric energy` now");
}

#[test]
fn a_typo_is_left_to_clap() {
    let error = App::command()
        .try_get_matches_from(["cargo-gpubench", "gpubench", "--max-tim", "3s"])
        .expect_err("a refusal");
    assert!(explain(&error, &described_verb()).is_none());
    assert!(error.to_string().contains("--max-time"), "{error}");
}
