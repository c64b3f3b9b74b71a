//! `--sanitize`, `--profile-with` and `--debugger`, and the profiler's own arguments.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::broker::options::{DebuggerCommand, ObserverChoice, Profiler};
use gpubench_contract::SanitizerTool;

/// The option whose words after `--` are the profiler's.
const PROFILE_WITH: &str = "--profile-with";

/// Returns the parser of `--sanitize`.
pub(super) fn sanitizer_tools() -> impl TypedValueParser<Value = SanitizerTool> {
    let words = SanitizerTool::ALL.iter().map(|tool| tool.as_str());
    PossibleValuesParser::new(words).map(|word| {
        let mut tools = SanitizerTool::ALL.iter();
        *tools
            .find(|tool| tool.as_str() == word)
            .expect("clap admits only these words")
    })
}

/// Returns the parser of `--profile-with`.
pub(super) fn profilers() -> impl TypedValueParser<Value = Profiler> {
    let words = Profiler::ALL.map(Profiler::program);
    PossibleValuesParser::new(words).map(|word| {
        let mut profilers = Profiler::ALL.into_iter();
        profilers
            .find(|profiler| profiler.program() == word)
            .expect("clap admits only these words")
    })
}

/// Returns the program that observes the calls. clap accepts at most one of the options.
pub(super) fn observer(
    sanitize: Option<SanitizerTool>,
    profile_with: Option<Profiler>,
    debugger: Option<DebuggerCommand>,
    profiler_arguments: Vec<OsString>,
) -> Option<ObserverChoice> {
    let profiler = |profiler| ObserverChoice::Profiler(profiler, profiler_arguments);
    sanitize
        .map(ObserverChoice::Sanitizer)
        .or_else(|| profile_with.map(profiler))
        .or_else(|| debugger.map(ObserverChoice::Debugger))
}

/// Removes the words after `--` from a command line with `--profile-with`, and returns them. In
/// other command lines they are filters.
pub(super) fn take_profiler_arguments(arguments: &mut Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| {
        let rest = word.to_str().and_then(|word| word.strip_prefix(PROFILE_WITH));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    match arguments.iter().position(|word| word == "--") {
        Some(dashes) if arguments[..dashes].iter().any(is_option) => {
            let taken = arguments.split_off(dashes + 1);
            arguments.truncate(dashes);
            taken
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (String, Vec<String>) {
        let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let taken = take_profiler_arguments(&mut words);
        let text = |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let left: Vec<String> = text(&words);
        (left.join(" "), text(&taken))
    }

    #[test]
    fn words_after_the_dashes_are_the_profilers_only_if_there_is_one() {
        let left = "gpubench --profile-with ncu add1";
        for given in [left, "gpubench --profile-with=ncu add1"] {
            let (rest, taken) = split(&format!("{given} -- -o add1 -- --set full"));
            assert_eq!((&*rest, &*taken.join(" ")), (given, "-o add1 -- --set full"));
        }
        assert_eq!(split(left), (left.to_owned(), Vec::new()));
        for filters in [
            "gpubench -- n=64 --profile-with",
            "gpubench --profile-without ncu -- n=64",
        ] {
            assert_eq!(split(filters), (filters.to_owned(), Vec::new()));
        }
    }
}
