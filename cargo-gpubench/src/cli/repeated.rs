//! What a command that runs a case again repeats of the command line and the environment: everything that says what is built, and on what and how it is
//! measured. Which cases run, what is shown and written and what results are compared with is another run's affair; the configuration file speaks again by itself.

use clap::{Arg, ArgMatches, Command};

use super::measurement;
use super::offer::{Offers, Source, is_flag};
use super::precedence::comes_from_command_line;
use super::settings::COMMAND_LINE_HEADINGS;

/// Options below other headings that are repeated: an ignored case is not found without, and a check is no measurement.
const BESIDES: [&str; 3] = ["ignored", "include-ignored", "test"];

/// Options below these headings that are not: a case has its own seed, and the others change neither what is built nor what runs.
const NEVER: [&str; 4] = ["build-jobs", "extract-overwrite", "extract-to", "seed"];

/// The options that are repeated with their values, word by word: first what is built, then how it is measured.
pub(super) fn repeated(gpubench: &Command, given: &ArgMatches, offers: &Offers) -> Vec<String> {
    let headings: Vec<&str> = COMMAND_LINE_HEADINGS
        .into_iter()
        .chain([measurement::HEADING])
        .collect();
    let place = |option: &Arg| {
        headings
            .iter()
            .position(|heading| option.get_help_heading() == Some(*heading))
    };
    let is_repeated = |option: &&Arg| {
        let long = option.get_long().unwrap_or_default();
        (place(option).is_some() || BESIDES.contains(&long)) && !NEVER.contains(&long)
    };
    let mut options: Vec<&Arg> = gpubench.get_arguments().filter(is_repeated).collect();
    options.sort_by_key(|option| place(option));
    options.iter().flat_map(|option| words(option, given, offers)).collect()
}

fn words(option: &Arg, given: &ArgMatches, offers: &Offers) -> Vec<String> {
    let (Some(long), id) = (option.get_long(), option.get_id().as_str()) else {
        return Vec::new();
    };
    let texts: Vec<String> = if comes_from_command_line(given, id) {
        let raw = given.get_raw(id).into_iter().flatten();
        raw.map(|text| text.to_string_lossy().into_owned()).collect()
    } else {
        match offers.get(long) {
            Some(offer) if matches!(offer.source, Source::Environment(_)) => offer.texts.clone(),
            _ => Vec::new(),
        }
    };
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
