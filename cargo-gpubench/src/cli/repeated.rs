//! The options in a command that repeats a case: those from the command line and the environment
//! that affect the build, the device and the measurement. The selection, the output and the
//! baseline are not repeated. The configuration file applies again by itself.

use clap::{Arg, Command};

use super::option_kind::{is_flag, is_switch};
use crate::config::{LayeredValue, Source, Values};

/// The help headings of the options that are repeated, in the order of repetition: first what is
/// built, then how it is measured.
const HEADINGS: [&str; 4] = ["Build", "Configure", "Machine", "Measure"];

/// Options with other headings that are repeated.
const BESIDES: [&str; 2] = ["ignored", "include-ignored"];

/// Options with these headings that are not repeated: a case has its own seed, and the others
/// change neither the build nor the case.
const NEVER: [&str; 13] = [
    "agent-silence",
    "agents",
    "build-jobs",
    "extract-overwrite",
    "extract-to",
    "fail-fast",
    "no-fail-fast",
    "no-run",
    "nvtx",
    "profile-time",
    "profile-with",
    "sanitize",
    "seed",
];

/// Returns the repeated options with their values, one word each: first the build, then the
/// measurement.
pub(super) fn repeated(gpubench: &Command, run: &Values<'_>) -> Vec<String> {
    let place = |option: &Arg| {
        let own = option.get_help_heading();
        HEADINGS.iter().position(|heading| own == Some(*heading))
    };
    let is_repeated = |option: &&Arg| {
        let long = option.get_long().unwrap_or_default();
        (place(option).is_some() || BESIDES.contains(&long)) && !NEVER.contains(&long)
    };
    let mut options: Vec<&Arg> = gpubench.get_arguments().filter(is_repeated).collect();
    options.sort_by_key(|option| place(option));
    options.iter().flat_map(|option| words(option, run)).collect()
}

fn words(option: &Arg, run: &Values<'_>) -> Vec<String> {
    let (long, id) = (option.get_long().unwrap_or_default(), option.get_id().as_str());
    let by_environment = |layered: &LayeredValue| matches!(layered.source, Source::Environment(_));
    if !run.on_line(id) && !run.layered(id).is_some_and(by_environment) {
        return Vec::new();
    }
    let texts = run.texts(id);
    if is_flag(option) {
        let is_on = texts.iter().any(|text| text == "true");
        return is_on.then(|| format!("--{long}")).into_iter().collect();
    }
    texts.iter().flat_map(|text| with_value(option, text)).collect()
}

/// A value that starts with a dash needs `=`, or it would be an option. That of a switch needs it,
/// too.
fn with_value(option: &Arg, text: &str) -> Vec<String> {
    let long = option.get_long().unwrap_or_default();
    if text.starts_with('-') || is_switch(option) {
        vec![format!("--{long}={text}")]
    } else {
        vec![format!("--{long}"), text.to_owned()]
    }
}
