//! `cargo gpubench completions`: scripts that let shells complete our command lines.
#![forbid(unsafe_code)]

use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

/// Completion for `cargo gpubench` beside whatever completes cargo's other subcommands.
const BASH_GLUE: &str = include_str!("completions/glue.bash");

/// What `cargo gpubench completions` is asked for.
#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: ShellArgument,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShellArgument {
    /// GNU Bash
    Bash,
    /// Z shell: for a file `_cargo-gpubench` in a folder of `fpath`
    Zsh,
    /// fish
    Fish,
    /// Elvish
    Elvish,
    /// PowerShell
    #[value(name = "powershell")]
    PowerShell,
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
            ShellArgument::Bash => generate(Shell::Bash, nested("cargo-gpubench"), "cargo-gpubench") + BASH_GLUE,
            // Cargo's own function calls one of this name, with the verb as the first word.
            ShellArgument::Zsh => generate(Shell::Zsh, gpubench.clone().name("cargo-gpubench"), "cargo-gpubench"),
            ShellArgument::Fish => generate(Shell::Fish, nested("cargo"), "cargo"),
            ShellArgument::Elvish => generate(Shell::Elvish, nested("cargo-gpubench"), "cargo-gpubench"),
            ShellArgument::PowerShell => generate(Shell::PowerShell, nested("cargo-gpubench"), "cargo-gpubench"),
        }
    }
}

fn generate(shell: Shell, mut command: Command, name: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
