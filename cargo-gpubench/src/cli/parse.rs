//! The command line of this process.

use std::ffi::OsString;

use camino::Utf8PathBuf;

use super::app::GPUBENCH;
use super::{ConfigurationOf, Environment, Resolved, Unresolved, Verb, resolve};
use crate::cdylibs::workspace_root;
use crate::config::folder_with_configuration;
use gpubench_diagnostic::{Failure, print_to_stderr, print_warning};
use gpubench_report::OutputError;

/// The subcommand with a parser of its own.
const PROBE: &str = "probe";

/// Reads the command line, the environment and the configuration of this process. Prints help and
/// clap's errors, and ends the process after them.
///
/// # Errors
/// The environment or the configuration is invalid.
pub fn parse() -> Result<Verb, Failure> {
    let arguments: Vec<_> = std::env::args_os().collect();
    let of_folder = || {
        let here = Utf8PathBuf::from_path_buf(std::env::current_dir().ok()?).ok()?;
        folder_with_configuration(&here)
    };
    let find_workspace = |whose: ConfigurationOf<'_>| match whose {
        ConfigurationOf::Workspace(manifest) => workspace_root(manifest).or_else(of_folder),
        ConfigurationOf::Folder => of_folder(),
    };
    match resolve(&arguments, &Environment::of_process(), &find_workspace) {
        Ok(Resolved {
            verb,
            unknown_variables,
            warnings,
            foreign_file,
        }) => {
            foreign_file.iter().for_each(|file| print_warning(file));
            unknown_variables.iter().for_each(|variable| print_warning(variable));
            warnings.iter().for_each(|warning| print_warning(warning));
            Ok(verb)
        }
        Err(Unresolved::CommandLine(error)) if error.use_stderr() => {
            print_to_stderr(&error.render().ansi());
            std::process::exit(error.exit_code())
        }
        Err(Unresolved::CommandLine(help)) => match help.print() {
            Ok(()) => std::process::exit(help.exit_code()),
            Err(source) => Err(OutputError::Unwritten {
                what: "the help".to_owned(),
                source,
            }
            .into()),
        },
        Err(Unresolved::Expected(error)) => Err(error),
    }
}

/// Returns the arguments of `gpubench-probe`, if the command line has `probe` as its first word.
/// They have a parser of their own.
pub fn arguments_of_probe(line: &[OsString]) -> Option<&[OsString]> {
    let words = line.get(1..)?;
    let words = match words.split_first() {
        Some((first, rest)) if first == GPUBENCH => rest,
        _ => words,
    };
    words
        .split_first()
        .filter(|(first, _)| *first == PROBE)
        .map(|(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_after_probe_are_of_the_other_program() {
        let arguments = |line: &[&str]| {
            let line: Vec<OsString> = line.iter().map(Into::into).collect();
            arguments_of_probe(&line).map(|words| words.join(" ".as_ref()).into_string().expect("text"))
        };
        let rest = Some("--quiet -- app -h".to_owned());
        assert_eq!(
            arguments(&["cargo-gpubench", "gpubench", "probe", "--quiet", "--", "app", "-h"]),
            rest
        );
        assert_eq!(
            arguments(&["cargo-gpubench", "probe", "--quiet", "--", "app", "-h"]),
            rest
        );
        assert_eq!(arguments(&["cargo-gpubench", "probe"]), Some(String::new()));
        for other in [
            &["cargo-gpubench"][..],
            &["cargo-gpubench", "gpubench"],
            &["x", "gpubench", "doctor", "probe"],
        ] {
            assert_eq!(arguments(other), None);
        }
    }
}
