//! The help pages. `-h` fits a screen, `--help` lists every option by task, and `help TOPIC`
//! explains the options of one task.

use std::ffi::OsString;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command};

use super::app::GPUBENCH;
use super::gpubench::rows_of;
use super::settings::RunArguments;
use crate::config::{Group, Row};

/// The name of the help subcommand.
pub(super) const HELP: &str = "help";

/// How much the help says about an option.
#[derive(Clone, Copy)]
enum Detail {
    /// A line or two.
    Brief,
    /// Everything.
    Full,
}

/// The options of one task.
#[derive(Debug)]
struct Topic {
    /// The argument of `help`.
    name: &'static str,
    /// The help heading of its options.
    heading: &'static str,
    about: &'static str,
    examples: &'static [&'static str],
}

const TOPICS: [Topic; 8] = [
    Topic {
        name: "cases",
        heading: "Select cases",
        about: "Cases that match any of FILTERS are run. Without FILTERS, all cases are run.",
        examples: &["cargo gpubench --list", "cargo gpubench gemm --skip naive"],
    },
    Topic {
        name: "measuring",
        heading: "Measure",
        about: "A case is sampled until its median is precise, or `--max-time` has passed.",
        examples: &["cargo gpubench --test", "cargo gpubench --max-time 500ms gemm"],
    },
    Topic {
        name: "comparing",
        heading: "Compare",
        about: "The baseline is a stored run, or a revision that is measured in the same run.",
        examples: &["cargo gpubench --baseline main", "cargo gpubench --against main"],
    },
    Topic {
        name: "saving",
        heading: "Save and report",
        about: "Results can be saved as a baseline, and written to files in several formats.",
        examples: &["cargo gpubench --save-baseline main", "cargo gpubench --report html"],
    },
    Topic {
        name: "building",
        heading: "Build",
        about: "Cargo builds the selected packages, unless an archive contains them.",
        examples: &["cargo gpubench --package kernels --features fp8"],
    },
    Topic {
        name: "machine",
        heading: "Machine",
        about: "`cargo gpubench doctor` shows what the machine can measure.",
        examples: &["cargo gpubench --device cuda:1"],
    },
    Topic {
        name: "output",
        heading: "Output",
        about: "The table goes to standard output, progress and warnings to standard error.",
        examples: &["cargo gpubench --message-format json > results.jsonl"],
    },
    Topic {
        name: "configuring",
        heading: "Configure",
        about: "Precedence: command line, environment (`GPUBENCH_MAX_TIME=1s`), profile.",
        examples: &["cargo gpubench --profile ci"],
    },
];

/// Returns the subcommand `help`, which takes a topic or a subcommand of `gpubench`.
pub(super) fn subcommand(gpubench: &Command) -> Command {
    let topics = TOPICS
        .iter()
        .map(|topic| PossibleValue::new(topic.name).help(topic.heading));
    let commands = gpubench
        .get_subcommands()
        .map(|command| PossibleValue::new(command.get_name().to_owned()));
    Command::new(HELP)
        .about("Show the options of a task in detail, or the help of a command")
        .arg(
            Arg::new("topic")
                .value_name("TOPIC")
                .help("The task or the command")
                .value_parser(PossibleValuesParser::new(topics.chain(commands).collect::<Vec<_>>())),
        )
}

/// Returns the help for a command line with `-h` or `--help`. The app must be built.
pub(super) fn shown(app: Command, arguments: &[OsString]) -> clap::Error {
    let app = app.mut_subcommand(GPUBENCH, |gpubench| {
        let (short, long) = (short_page(&gpubench), long_page(&gpubench));
        with_page(gpubench.mut_subcommands(with_common_options), short, long)
    });
    parsed(app, arguments)
}

/// Returns the help for `cargo gpubench help NAME`. The app must be built.
pub(super) fn of_topic(app: Command, name: Option<&String>) -> clap::Error {
    let line = |name: Option<&String>| {
        let words = ["cargo-gpubench", GPUBENCH].into_iter().chain(name.map(String::as_str));
        words.chain(["--help"]).map(OsString::from).collect::<Vec<_>>()
    };
    match TOPICS.iter().find(|topic| name.is_some_and(|name| name == topic.name)) {
        Some(topic) => {
            let app = app.mut_subcommand(GPUBENCH, |gpubench| {
                let page = topic.page(&gpubench, Detail::Full);
                with_page(gpubench, String::new(), page)
            });
            parsed(app, &line(None))
        }
        None => shown(app, &line(name)),
    }
}

fn parsed(mut app: Command, arguments: &[OsString]) -> clap::Error {
    app.try_get_matches_from_mut(arguments)
        .expect_err("a command line that asks for help has no other result")
}

fn with_page(command: Command, short: String, long: String) -> Command {
    command
        .help_template("{before-help}")
        .before_help(short)
        .before_long_help(long)
}

/// Hides all options but the common ones from the `-h` of a subcommand.
fn with_common_options(command: Command) -> Command {
    let rows = rows_of(command.get_name());
    command.mut_args(|option| {
        let is_uncommon = |row: &Row| option.get_id() == row.id && !row.is_common;
        let is_hidden = option.is_global_set() || rows.iter().any(is_uncommon);
        option.hide_short_help(is_hidden)
    })
}

fn heading(text: &str) -> String {
    let style = gpubench_report::HELP_STYLES.get_header();
    format!("{style}{text}:{style:#}")
}

fn short_page(gpubench: &Command) -> String {
    let rows = RunArguments::rows();
    let is_common = |row: &Row, option: &Arg| option.get_id() == row.id && row.is_common;
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}\n{{options}}\n\n{}\n{{subcommands}}{{after-help}}",
        heading("Options"),
        heading("Commands")
    );
    // The long page has what is set up once or used rarely.
    let command = gpubench
        .clone()
        .mut_subcommand(HELP, |help| help.hide(true))
        .mut_subcommand("man", |man| man.hide(true))
        .mut_subcommand("completions", |completions| completions.hide(true))
        .mut_subcommand("judge", |judge| judge.hide(true))
        .mut_subcommand("problem", |problem| problem.hide(true))
        .mut_subcommand("show-config", |show_config| show_config.hide(true))
        .help_template(template);
    rendered(
        command,
        |option| rows.iter().any(|row| is_common(row, option)),
        Detail::Brief,
    )
}

fn long_page(gpubench: &Command) -> String {
    let commands = heading("Commands");
    let opening = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{commands}\n{{subcommands}}");
    let whole = |template: String| rendered(gpubench.clone().help_template(template), |_| true, Detail::Full);
    let topics = TOPICS.iter().map(|topic| topic.page(gpubench, Detail::Brief));
    let pages = std::iter::once(whole(opening)).chain(topics);
    let pages: String = pages.map(|page| page + "\n").collect();
    pages + whole("{after-help}".to_owned()).trim_start()
}

impl Topic {
    /// Returns the topic's sentence, examples and options.
    fn page(&self, gpubench: &Command, detail: Detail) -> String {
        let Self {
            name, about, examples, ..
        } = self;
        let title = match detail {
            Detail::Full => heading(self.heading),
            Detail::Brief => format!("{} (details: `cargo gpubench help {name}`)", heading(self.heading)),
        };
        let examples: String = examples.iter().map(|line| format!("  {line}\n")).collect();
        let command = gpubench.clone().help_template("{positionals}\n\n{options}");
        // `--help` and `--version` have no heading.
        let own = |option: &Arg| option.get_help_heading().unwrap_or("Output") == self.heading;
        let options = rendered(command, own, detail);
        format!("{title}\n{about}\n{examples}\n{}", options.trim_start_matches('\n'))
    }
}

/// Renders the help of a command with only the options that `is_shown` selects.
fn rendered(command: Command, is_shown: impl Fn(&Arg) -> bool, detail: Detail) -> String {
    let mut command = command.mut_args(|option| {
        let is_hidden = option.is_hide_set() || !is_shown(&option);
        option.hide(is_hidden)
    });
    let text = match detail {
        Detail::Full => command.render_long_help(),
        Detail::Brief => command.render_help(),
    };
    text.ansi().to_string()
}

#[cfg(test)]
mod tests;
