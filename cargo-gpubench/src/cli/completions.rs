//! `cargo gpubench completions`: scripts for shell completion.

use std::any::TypeId;
use std::collections::BTreeSet;

use clap::{Arg, Command};
use clap_complete::Shell;

use crate::broker::PlaceOptions;
use crate::broker::cases::Naming;
use crate::config::{Value, settings};
use crate::history::in_form;
use gpubench_report::is_plain;
use gpubench_store::{Listing, RunName};

/// Adds `cargo gpubench` to the existing completion of `cargo`.
const BASH_GLUE: &str = include_str!("completions/glue.bash");

/// Values that depend on the workspace: the placeholder in a generated script, and the command that
/// prints the values.
const KNOWN_LATER: [(&str, &str); 2] = [
    (
        "GPUBENCH-RUNS",
        "cargo gpubench compare --baselines --quiet 2>/dev/null",
    ),
    ("GPUBENCH-CASES", "cargo gpubench completions --cases 2>/dev/null"),
];

/// Arguments whose values are case names, or parts of them.
const OF_CASES: [&str; 4] = ["case", "filter", "filters", "skip"];

impl Value for Shell {}

settings! {
    /// The options of `cargo gpubench completions`.
    pub(super) struct CompletionsArguments {
        /// The shell
        ///
        /// Save the script for zsh as `_cargo-gpubench` in a folder of `fpath`.
        #[arg(value_name = "SHELL", required_unless_present = "cases")]
        shell: Option<Shell> => Line "bash > ~/.local/share/bash-completion/completions/cargo-gpubench", common;

        /// Print the case names of the latest listing
        ///
        /// The scripts use it. Names that a shell would evaluate are left out.
        #[arg(long, conflicts_with = "shell", help_heading = "Select cases")]
        cases: bool => Line "completions --cases", common;
    }
}

impl CompletionsArguments {
    /// Returns the script, or the case names.
    pub(super) fn text(&self, gpubench: &Command) -> String {
        self.shell.map_or_else(listed, |shell| script(shell, gpubench))
    }
}

/// Returns the case names of the latest listing, or nothing if there is none.
fn listed() -> String {
    let home = PlaceOptions::default().home().ok();
    let listing = home.and_then(|home| Listing::remembered(&home));
    listing.map_or_else(String::new, |listing| as_a_shell_takes_them(&listing.names))
}

/// Returns full names as `--list` prints them. Only names without special characters are returned,
/// because bash evaluates the words that it offers, and names come from a crate.
fn as_a_shell_takes_them(names: &[String]) -> String {
    let packages: BTreeSet<&str> = names.iter().filter_map(|name| Some(name.split_once("::")?.0)).collect();
    let naming = Naming::for_packages(packages.len());
    let shown = names.iter().map(|name| in_form(name, naming));
    let plain = shown.filter(|name| is_plain(name));
    plain.map(|name| format!("{name}\n")).collect()
}

fn script(shell: Shell, gpubench: &Command) -> String {
    let gpubench = match shell {
        Shell::Bash | Shell::Zsh | Shell::Fish => with_values_known_later(gpubench.clone()),
        _ => gpubench.clone(),
    };
    let nested = |name: &'static str| {
        Command::new(name)
            .disable_help_subcommand(true)
            .subcommand(gpubench.clone())
    };
    let script = match shell {
        // Without a dash: clap_complete 4.6.11 does not find its own functions for a command that
        // has a dash and subcommands.
        Shell::Bash => generate(Shell::Bash, nested("cargo_gpubench"), "cargo_gpubench") + BASH_GLUE,
        // Cargo's own function calls a function of this name, with `gpubench` as the first word. A
        // run may also be a file.
        Shell::Zsh => verb_or_filter(&generate(
            Shell::Zsh,
            gpubench.clone().name("cargo-gpubench"),
            "cargo-gpubench",
        ))
        .replace("(GPUBENCH-RUNS)", "{compadd -- GPUBENCH-RUNS; _files}"),
        Shell::Fish => {
            generate(Shell::Fish, nested("cargo"), "cargo").replace("-f -a \"GPUBENCH-RUNS", "-F -a \"GPUBENCH-RUNS")
                + &fish_glue(&gpubench)
        }
        other => generate(other, nested("cargo-gpubench"), "cargo-gpubench"),
    };
    let before = if shell == Shell::Fish { "(" } else { "$(" };
    KNOWN_LATER.iter().fold(script, |script, (word, command)| {
        script.replace(word, &format!("{before}{command})"))
    })
}

/// Moves the subcommand to the first word: clap_complete 4.6.11 for zsh expects it only after a
/// filter.
fn verb_or_filter(script: &str) -> String {
    let lines = script.lines().filter(|line| !line.starts_with("'::filters"));
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    let filters = "':: :{_cargo-gpubench_commands; compadd -- GPUBENCH-CASES}'";
    lines
        .replace("\":: :_cargo-gpubench_commands\"", filters)
        .replace("$line[2]", "$line[1]")
}

/// Completes positional arguments, for which clap_complete generates nothing in fish.
fn fish_glue(gpubench: &Command) -> String {
    let verbs: Vec<&str> = gpubench.get_subcommands().map(Command::get_name).collect();
    let line = |seen: &str, arguments: &str| {
        format!("complete -c cargo -n \"__fish_cargo_using_subcommand gpubench; and {seen}\" {arguments}\n")
    };
    let of_verbs = |verbs: &str| format!("__fish_seen_subcommand_from {verbs}");
    line(
        &format!("not {}", of_verbs(&verbs.join(" "))),
        "-f -a \"GPUBENCH-CASES\"",
    ) + &line(&of_verbs("history show-config"), "-f -a \"GPUBENCH-CASES\"")
        + &line(&of_verbs("compare report"), "-F -a \"GPUBENCH-RUNS\"")
}

/// Gives run and case names a placeholder as their only possible value.
fn with_values_known_later(command: Command) -> Command {
    let [runs, cases] = KNOWN_LATER.map(|(word, _)| word);
    let known_later = |argument: Arg| {
        if argument.get_value_parser().type_id() == TypeId::of::<RunName>() {
            argument.value_parser([runs])
        } else if OF_CASES.contains(&argument.get_id().as_str()) {
            argument.value_parser([cases])
        } else {
            argument
        }
    };
    command.mut_args(known_later).mut_subcommands(with_values_known_later)
}

fn generate(shell: Shell, mut command: Command, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command as Process;

    use clap::ValueEnum;

    use super::*;
    use crate::cli::description::described_verb;

    /// Returns what bash offers for the last word of a line. `before` runs first; `cargo` prints
    /// nothing unless `before` defines it.
    fn completed(before: &str, line: &[&str]) -> Vec<String> {
        let words = line
            .iter()
            .map(|word| format!("'{word}'"))
            .collect::<Vec<_>>()
            .join(" ");
        let program = format!(
            "cargo() {{ :; }}\n{before}\n{}\nCOMP_WORDS=({words})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             COMP_LINE=\"${{COMP_WORDS[*]}}\"\nCOMP_POINT=${{#COMP_LINE}}\n\
             function=$(complete -p \"${{COMP_WORDS[0]}}\" | sed -n 's/.* -F \\([^ ]*\\) .*/\\1/p')\n\
             $function \"${{COMP_WORDS[0]}}\" \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            script(Shell::Bash, &described_verb())
        );
        let output = Process::new("bash")
            .args(["--norc", "--noprofile", "-c", &program])
            .output()
            .expect("bash starts");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn nothing_in_a_script_looks_like_a_command_of_a_ci_system() {
        for shell in Shell::value_variants() {
            let script = script(*shell, &described_verb());
            assert_eq!(gpubench_diagnostic::CommandMarks::default().mark(&script), script);
        }
    }

    #[test]
    fn bash_completes_options_values_and_subcommands() {
        assert_eq!(
            completed("", &["cargo", "gpubench", "--export-j"]),
            ["--export-json", "--export-junit"]
        );
        assert_eq!(
            completed("", &["cargo", "gpubench", "--color", "a"]),
            ["auto", "always"]
        );
        assert_eq!(completed("", &["cargo", "gpubench", "doct"]), ["doctor"]);
        assert_eq!(
            completed("", &["cargo", "gpubench", "archive", "--gpu"]),
            ["--gpu-arch"]
        );
        assert_eq!(
            completed("", &["cargo-gpubench", "gpubench", "--partit"]),
            ["--partition"]
        );
    }

    /// A `cargo` that prints the runs and cases of a workspace.
    const STORED: &str = "cargo() { case $* in\n\
        'gpubench compare --baselines --quiet') printf 'main\\nmaster\\npr\\n';;\n\
        'gpubench completions --cases') printf 'rows::sums::n=1\\nrows::sums::n=2\\nscan\\n';;\n\
        esac; }";

    #[test]
    fn bash_completes_devices_and_names_of_stored_runs() {
        assert_eq!(
            completed("", &["cargo", "gpubench", "--device", ""]),
            ["auto", "cpu", "cuda"]
        );
        for option in ["-b", "--baseline", "--compare", "--baseline-lenient", "--load-baseline"] {
            let line = ["cargo", "gpubench", option, "ma"];
            assert_eq!(completed(STORED, &line), ["main", "master"], "{option}");
        }
        assert_eq!(
            completed(STORED, &["cargo", "gpubench", "--baseline=ma"]),
            ["main", "master"]
        );
        for verb in ["compare", "report"] {
            assert_eq!(
                completed(STORED, &["cargo", "gpubench", verb, ""]),
                ["main", "master", "pr"]
            );
        }
        assert_eq!(
            completed(STORED, &["cargo", "gpubench", "compare", "main", "p"]),
            ["pr"]
        );
        assert!(completed(STORED, &["cargo", "gpubench", "compare", "--bas"]).contains(&"--baselines".to_owned()));
    }

    /// Bash replaces only the text after the last colon or equals sign.
    #[test]
    fn bash_completes_names_of_cases() {
        assert_eq!(
            completed(STORED, &["cargo", "gpubench", "rows::su"]),
            ["sums::n=1", "sums::n=2"]
        );
        assert_eq!(completed(STORED, &["cargo", "gpubench", "rows::sums::n="]), ["1", "2"]);
        assert_eq!(completed(STORED, &["cargo", "gpubench", "--skip", "sc"]), ["scan"]);
        assert_eq!(completed(STORED, &["cargo", "gpubench", "s"]), ["scan", "show-config"]);
        for verb in ["show-config", "history"] {
            assert_eq!(completed(STORED, &["cargo", "gpubench", verb, "sc"]), ["scan"]);
        }
    }

    #[test]
    fn names_that_a_shell_would_evaluate_are_not_offered() {
        let names = [
            "rows::sums::n=1",
            "rows::walk::path=$(reboot)",
            "rows::walk::kind=`x`;a b",
        ]
        .map(str::to_owned);
        assert_eq!(as_a_shell_takes_them(&names), "sums::n=1\n");
        let other = ["rows::sums".to_owned(), "scan::sums".to_owned()];
        assert_eq!(as_a_shell_takes_them(&other), "rows::sums\nscan::sums\n");
    }

    #[test]
    fn zsh_and_fish_ask_the_workspace_for_runs_and_cases() {
        let assert_contains = |shell: Shell, wanted: &[&str]| {
            let script = script(shell, &described_verb());
            for wanted in wanted {
                assert!(script.contains(wanted), "{shell:?}: {wanted}");
            }
        };
        let runs = ":NAME:{compadd -- $(cargo gpubench compare --baselines --quiet 2>/dev/null); _files}'";
        let cases = "':: :{_cargo-gpubench_commands; compadd -- $(cargo gpubench completions --cases 2>/dev/null)}'";
        let known = ":DEVICE:(auto cpu cuda)'";
        assert_contains(
            Shell::Zsh,
            &[&format!("--baseline=[Compare with this baseline]{runs}"), cases, known],
        );
        let runs = "-r -F -a \"(cargo gpubench compare --baselines --quiet 2>/dev/null)";
        let of_verbs = "__fish_seen_subcommand_from compare report\" -F -a \"(cargo gpubench compare --baselines";
        let cases = "man help\" -f -a \"(cargo gpubench completions --cases 2>/dev/null)\"";
        assert_contains(Shell::Fish, &[runs, of_verbs, cases]);
    }

    #[test]
    fn the_existing_completion_of_cargo_still_works() {
        let other = "_of_cargo() { COMPREPLY=(build bench); }\ncomplete -F _of_cargo cargo";
        assert_eq!(completed(other, &["cargo", "b"]), ["build", "bench"]);
        assert_eq!(completed(other, &["cargo", "gpubench", "--no-ru"]), ["--no-run"]);
    }

    #[test]
    fn every_shell_has_a_script_with_our_options() {
        for shell in Shell::value_variants() {
            let script = script(*shell, &described_verb());
            assert!(script.contains("export-junit"), "{shell:?}");
            assert!(!script.contains("__author"), "{shell:?}");
            assert!(!script.contains("GPUBENCH-"), "{shell:?}");
        }
    }
}
