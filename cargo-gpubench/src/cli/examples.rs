//! The examples in the help of options.

use clap::{Arg, Command};

use crate::config::Row;

/// The arguments that a subcommand requires in the example of a shared option. Examples with one of
/// the words have them already.
const PREFIXES: &[(&str, &str, &[&str])] = &[
    ("archive", "archive --archive-file kernels.tar.gz ", &["kernels.tar.gz"]),
    ("compare", "compare main pr ", &["main"]),
    (
        "grade",
        "grade --problem row_sums fast.cu ",
        &["row_sums", "--definition"],
    ),
    ("probe", "probe --system ", &["--", "--pid", "--system"]),
    ("judge", "judge results.jsonl ", &["results.jsonl"]),
    ("report", "report results.jsonl ", &["results.jsonl"]),
];

/// Returns an example command line for an option.
fn example(command: &Command, option: &Arg, rows: &[Row]) -> Option<String> {
    let row = rows.iter().find(|row| option.get_id() == row.id)?;
    let own = command.get_name();
    let is_complete = |words: &[&str]| row.example.split(' ').any(|word| words.contains(&word));
    let prefix = match PREFIXES.iter().find(|(verb, ..)| *verb == own) {
        _ if own == "gpubench" || row.example.starts_with(own) => String::new(),
        Some((_, prefix, words)) if !is_complete(words) => prefix.to_string(),
        _ => format!("{own} "),
    };
    Some(format!("cargo gpubench {prefix}{}", row.example))
}

/// Adds an example to the long help of each option.
pub(super) fn illustrated(command: Command, rows: &[Row]) -> Command {
    let examples: Vec<_> = command
        .get_arguments()
        .filter_map(|option| Some((option.get_id().clone(), example(&command, option, rows)?)))
        .collect();
    examples.into_iter().fold(command, |command, (id, example)| {
        command.mut_arg(id, |option| {
            let help = option.get_long_help().or(option.get_help());
            let help = help.cloned().unwrap_or_default();
            option.long_help(format!("{help}\n\nExample: {example}"))
        })
    })
}

#[cfg(test)]
pub(super) mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::App;
    use crate::cli::gpubench::rows_of;
    use crate::cli::settings::RunArguments;
    use crate::config::Group;

    fn gpubench() -> Command {
        let app = App::command();
        app.find_subcommand("gpubench").expect("the verb").clone()
    }

    /// Splits a command line into words like a shell: without quotes, up to a redirection.
    pub(in crate::cli) fn words(line: &str) -> Vec<String> {
        let end = [" > ", " | "].iter().filter_map(|sign| line.find(sign)).min();
        let line = &line[..end.unwrap_or(line.len())];
        let quotes = regex::Regex::new(r"'([^']*)'|(\S+)").expect("an expression");
        quotes
            .captures_iter(line)
            .map(|word| word.get(1).or(word.get(2)).expect("a word").as_str().to_owned())
            .collect()
    }

    #[test]
    fn every_option_has_an_example_that_works() {
        let gpubench = gpubench();
        let below = gpubench
            .get_subcommands()
            .map(|below| (below, rows_of(below.get_name())));
        for (command, rows) in std::iter::once((&gpubench, RunArguments::rows())).chain(below) {
            for option in command.get_arguments() {
                let id = option.get_id();
                if ["help", "version"].contains(&id.as_str()) || option.is_hide_set() {
                    continue;
                }
                let example = example(command, option, &rows)
                    .unwrap_or_else(|| panic!("`{id}` of `{}` has no example", command.get_name()));
                let mut line = words(&example);
                line[0] = "cargo-gpubench".to_owned();
                if let Err(error) = App::command().try_get_matches_from(&line) {
                    panic!("{example}: {error}");
                }
                if let Some(long) = option.get_long() {
                    assert!(line.iter().any(|word| *word == format!("--{long}")), "{example}");
                }
            }
        }
    }

    #[test]
    fn every_setting_is_a_row_and_every_row_an_option() {
        let gpubench = gpubench();
        let below = gpubench
            .get_subcommands()
            .map(|below| (below, rows_of(below.get_name())));
        for (command, rows) in std::iter::once((&gpubench, RunArguments::rows())).chain(below) {
            let ids: Vec<_> = command.get_arguments().map(|option| option.get_id().as_str()).collect();
            assert!(rows.iter().map(|row| row.id).eq(ids), "{}", command.get_name());
        }
    }
}
