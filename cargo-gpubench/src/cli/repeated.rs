//! What a command that runs a case again repeats of the command line and the environment:
//! everything that says what is built, and on what and how it is measured. Which cases run, what is
//! shown and written and what results are compared with is another run's affair; the configuration
//! file speaks again by itself.

use clap::{Arg, Command};

use super::layered_value::is_flag;
use crate::config::{LayeredValue, Source, Values};

/// Headings of options that say what is built and how it is measured, in the order in which they
/// are repeated.
const HEADINGS: [&str; 7] = [
    "Manifest options",
    "Package selection",
    "Feature selection",
    "Compilation options",
    "Archive options",
    "Configuration options",
    "Measurement options",
];

/// Options below other headings that are repeated: an ignored case is not found without, and a
/// check is no measurement.
const BESIDES: [&str; 3] = ["ignored", "include-ignored", "test"];

/// Options below these headings that are not: a case has its own seed, and the others change
/// neither what is built nor what runs.
const NEVER: [&str; 4] = ["build-jobs", "extract-overwrite", "extract-to", "seed"];

/// The options that are repeated with their values, word by word: first what is built, then how it
/// is measured.
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
    let by_environment = |offer: &LayeredValue| matches!(offer.source, Source::Environment(_));
    if !run.on_line(id) && !run.offer(id).is_some_and(by_environment) {
        return Vec::new();
    }
    let texts = run.texts(id);
    if is_flag(option) {
        let is_on = texts.iter().any(|text| text == "true");
        return is_on.then(|| format!("--{long}")).into_iter().collect();
    }
    texts.iter().flat_map(|text| with_value(long, text)).collect()
}

/// A value that begins as an option does is not taken for one behind `=`.
fn with_value(long: &str, text: &str) -> Vec<String> {
    if text.starts_with('-') {
        vec![format!("--{long}={text}")]
    } else {
        vec![format!("--{long}"), text.to_owned()]
    }
}
