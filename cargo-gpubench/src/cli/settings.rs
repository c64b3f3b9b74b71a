//! Which options a configuration file may set.

use clap::{Arg, CommandFactory};

use super::App;
use super::offer::takes_a_value;

/// Headings of options that say what is built and where it and its configuration are. A profile may not set them: cargo has its own configuration for its own.
pub(super) const COMMAND_LINE_HEADINGS: [&str; 6] = [
    "Manifest options",
    "Package selection",
    "Feature selection",
    "Compilation options",
    "Archive options",
    "Configuration options",
];

/// Options that say what one run is for, or that would take a surprise out of it: who knows the seed knows the inputs.
const COMMAND_LINE_ONLY: [&str; 12] = [
    "against",
    "discard-baseline",
    "exact",
    "ignored",
    "list",
    "load-baseline",
    "no-fail-fast",
    "no-run",
    "partition",
    "profile-time",
    "seed",
    "test",
];

/// Settings of a profile that subcommands with options of these names heed as well. What a run prints and which files it writes is its own affair.
pub(super) const OF_SUBCOMMANDS: [&str; 10] = [
    "allow-different-setups",
    "color",
    "confidence-level",
    "device",
    "fail-on-inconclusive",
    "history-dir",
    "no-fail-on-regression",
    "noise-threshold",
    "nvrtc",
    "reference-timeout",
];

/// The names of the options of a run.
#[derive(Debug)]
pub(super) struct OptionNames {
    /// Those that a profile may set.
    pub(super) configurable: Vec<String>,
    /// Those that it may not.
    pub(super) command_line_only: Vec<String>,
}

/// The names of the options of a run.
pub(super) fn of_runs() -> OptionNames {
    let app = App::command();
    let gpubench = app.find_subcommand("gpubench").expect("the verb is there");
    let options = gpubench.get_arguments().filter(|option| takes_a_value(option));
    let (configurable, command_line_only) = options
        .filter(|option| option.get_long().is_some() && !option.is_hide_set())
        .partition::<Vec<_>, _>(|option| is_configurable(option));
    let names = |options: Vec<&Arg>| {
        let longs = options.into_iter().filter_map(Arg::get_long);
        longs.map(str::to_owned).collect()
    };
    OptionNames {
        configurable: names(configurable),
        command_line_only: names(command_line_only),
    }
}

fn is_configurable(option: &Arg) -> bool {
    let heading = option.get_help_heading().unwrap_or_default();
    let long = option.get_long().unwrap_or_default();
    !COMMAND_LINE_HEADINGS.contains(&heading) && !COMMAND_LINE_ONLY.contains(&long)
}
