//! `cargo gpubench completions`: scripts that let shells complete our command lines.

use clap::Command;
use clap_complete::Shell;

use crate::config::{Value, settings};

/// Completion for `cargo gpubench` beside whatever completes cargo's other subcommands.
const BASH_GLUE: &str = include_str!("completions/glue.bash");

impl Value for Shell {}

settings! {
    /// What `cargo gpubench completions` is asked for.
    pub(super) struct CompletionsArguments {
        /// The shell
        ///
        /// The script for zsh belongs into a file `_cargo-gpubench` in a folder of `fpath`.
        #[arg(value_name = "SHELL")]
        shell: Shell => Line "bash > ~/.local/share/bash-completion/completions/cargo-gpubench";
    }
}

impl CompletionsArguments {
    /// The script for `gpubench`, the verb with all its options.
    pub(super) fn script(&self, gpubench: &Command) -> String {
        let nested = |name: &'static str| {
            Command::new(name)
                .disable_help_subcommand(true)
                .subcommand(gpubench.clone())
        };
        match self.shell {
            // Without a dash: clap_complete 4.6.11 does not find its own functions for a command that has one and subcommands.
            Shell::Bash => generate(Shell::Bash, nested("cargo_gpubench"), "cargo_gpubench") + BASH_GLUE,
            // Cargo's own function calls one of this name, with the verb as the first word.
            Shell::Zsh => generate(Shell::Zsh, gpubench.clone().name("cargo-gpubench"), "cargo-gpubench"),
            Shell::Fish => generate(Shell::Fish, nested("cargo"), "cargo"),
            other => generate(other, nested("cargo-gpubench"), "cargo-gpubench"),
        }
    }
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
    use crate::cli::app::described_verb;

    fn script(shell: Shell) -> String {
        CompletionsArguments { shell }.script(&described_verb())
    }

    /// What bash completes the last word of a line to.
    fn completed(before: &str, line: &[&str]) -> Vec<String> {
        let words = line
            .iter()
            .map(|word| format!("'{word}'"))
            .collect::<Vec<_>>()
            .join(" ");
        let program = format!(
            "{before}\n{}\nCOMP_WORDS=({words})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             function=$(complete -p \"${{COMP_WORDS[0]}}\" | sed -n 's/.* -F \\([^ ]*\\) .*/\\1/p')\n\
             $function \"${{COMP_WORDS[0]}}\" \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            script(Shell::Bash)
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

    #[test]
    fn bash_completes_devices_and_names_of_stored_runs() {
        assert_eq!(
            completed("", &["cargo", "gpubench", "--device", ""]),
            ["auto", "cpu", "cuda"]
        );
        let stored = "cargo() { [[ $* == 'gpubench compare --baselines' ]] && printf 'main\\nmaster\\npr\\n'; }";
        assert_eq!(
            completed(stored, &["cargo", "gpubench", "--baseline", "ma"]),
            ["main", "master"]
        );
        assert_eq!(
            completed(stored, &["cargo", "gpubench", "compare", ""]),
            ["main", "master", "pr"]
        );
        assert!(completed(stored, &["cargo", "gpubench", "compare", "--bas"]).contains(&"--baselines".to_owned()));
    }

    #[test]
    fn what_completed_cargo_before_still_does() {
        let other = "_of_cargo() { COMPREPLY=(build bench); }\ncomplete -F _of_cargo cargo";
        assert_eq!(completed(other, &["cargo", "b"]), ["build", "bench"]);
        assert_eq!(completed(other, &["cargo", "gpubench", "--no-ru"]), ["--no-run"]);
    }

    #[test]
    fn every_shell_has_a_script_that_names_our_options() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            assert!(script.contains("export-junit"), "{shell:?}");
            assert!(!script.contains("__author"), "{shell:?}");
        }
    }
}
