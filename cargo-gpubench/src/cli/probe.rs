//! `cargo gpubench probe`.

use std::ffi::OsString;

use super::app::GPUBENCH;
use crate::config::{Value, settings};

/// The name of the subcommand.
const PROBE: &str = "probe";

impl Value for OsString {}

settings! {
    /// The options of `cargo gpubench probe`.
    #[command(override_usage = USAGE)]
    pub(super) struct ProbeArguments {
        /// What `gpubench-probe` observes, with its options
        #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, num_args = 0..)]
        arguments: Vec<OsString> => Line "-- python train.py --steps 7", common;
    }
}

const USAGE: &str = "cargo gpubench probe [OPTIONS] -- <COMMAND>...
       cargo gpubench probe [OPTIONS] --pid <PID>
       cargo gpubench probe [OPTIONS] --system";

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
