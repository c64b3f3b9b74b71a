//! Options that select cases.

use clap::{Arg, Command};
use regex::Regex;

use super::UsageError;
use super::foreign::foreign_option;
use super::settings::SelectionArguments;
use crate::broker::cases::{CaseSelection, IgnoredSelection, NameFilter, NamePattern, ShownBy, SkipOrigin};
use gpubench_diagnostic::closest;

impl SelectionArguments {
    /// Returns the selection. `gpubench` is the described command: words that it knows are
    /// probably not meant as filters.
    pub(super) fn into_selection(
        self,
        skip_origin: SkipOrigin,
        gpubench: &Command,
    ) -> Result<CaseSelection, UsageError> {
        let Self { filters, skip, .. } = self;
        if let Some(refusal) = filters.iter().find_map(|filter| option_as_filter(filter, gpubench)) {
            return Err(refusal);
        }
        let meant = filters.first().and_then(|filter| meant_by(filter, gpubench));
        let patterns = |texts: Vec<String>| -> Result<_, UsageError> {
            Ok(if self.exact {
                texts.into_iter().map(NamePattern::Exact).collect()
            } else {
                expressions(texts)?.into_iter().map(NamePattern::Search).collect()
            })
        };
        Ok(CaseSelection {
            names: NameFilter {
                filters: patterns(filters)?,
                skip: patterns(skip)?,
                skip_origin,
            },
            // clap accepts at most one of the two.
            ignored: match (self.ignored, self.include_ignored) {
                (true, _) => IgnoredSelection::Only,
                (_, true) => IgnoredSelection::Include,
                _ => IgnoredSelection::Exclude,
            },
            axes: self.axis,
            partition: self.partition,
            meant,
            shown_by: ShownBy::List,
        })
    }
}

pub(super) fn expressions(texts: Vec<String>) -> Result<Vec<Regex>, UsageError> {
    texts
        .into_iter()
        .map(|text| {
            Regex::new(&text).map_err(|source| UsageError::Filter {
                text,
                source: Box::new(source),
            })
        })
        .collect()
}

/// Returns the error for a filter that is an option, of this tool or of a known one, which
/// `cargo bench` would have passed on.
fn option_as_filter(filter: &str, gpubench: &Command) -> Option<UsageError> {
    if gpubench.get_arguments().any(|option| names(filter, option)) {
        let option = filter.to_owned();
        return Some(UsageError::OptionAfterDashes { option });
    }
    foreign_option(filter.split('=').next().unwrap_or(filter))
}

/// Returns whether a word of a command line is this option.
pub(super) fn names(word: &str, option: &Arg) -> bool {
    let word = word.split('=').next().unwrap_or(word);
    let long = option.get_long_and_visible_aliases().unwrap_or_default();
    let short = option.get_short_and_visible_aliases().unwrap_or_default();
    long.iter().any(|long| word.strip_prefix("--") == Some(long))
        || short.iter().any(|short| word == format!("-{short}"))
}

/// Words that are subcommands in other tools, and their equivalents here.
const MEANT: [(&str, &str); 7] = [
    ("baselines", "`cargo gpubench compare --baselines`"),
    ("bench", "`cargo gpubench` without `bench`"),
    ("calibrate", "`cargo gpubench --package gpubench-problems known_length`"),
    ("emit", "`--verbose`, which prints where compiled kernels are kept"),
    ("list", "`--list`"),
    ("run", "`cargo gpubench` without `run`"),
    ("test", "`--test`"),
];

/// Returns what the user probably meant by a filter that matches no name: a subcommand, here or of
/// another tool.
fn meant_by(filter: &str, gpubench: &Command) -> Option<String> {
    if let Some((_, meant)) = MEANT.iter().find(|(word, _)| *word == filter) {
        return Some((*meant).to_owned());
    }
    let subcommand = closest(filter, gpubench.get_subcommands().map(Command::get_name))?;
    Some(format!("the subcommand `{subcommand}`"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::described_verb;
    use gpubench_diagnostic::Expected;

    #[derive(Debug, Parser)]
    struct Selecting {
        #[command(flatten)]
        selection: SelectionArguments,
    }

    fn selection(arguments: &[&str]) -> Result<CaseSelection, UsageError> {
        let all = ["gpubench"].iter().chain(arguments);
        Selecting::try_parse_from(all)
            .expect("a command line")
            .selection
            .into_selection(SkipOrigin::CommandLine, &described_verb())
    }

    #[test]
    fn an_option_after_two_dashes_is_refused() {
        for words in [
            &["--save-baseline", "main"][..],
            &["--baseline=main"],
            &["gemm", "-b", "main"],
        ] {
            let arguments: Vec<_> = ["n=64", "--"].iter().chain(words).copied().collect();
            let error = selection(&arguments).expect_err("a refusal");
            assert!(matches!(error, UsageError::OptionAfterDashes { .. }), "{error}");
            assert_eq!(
                error.hint().as_deref(),
                Some("leave out the `--`: `cargo gpubench` has no options after it")
            );
        }
    }

    #[test]
    fn a_filter_after_two_dashes_may_look_like_an_option() {
        for filter in ["gemm", "-1", "--odd", "--", "[-]b"] {
            assert!(selection(&["--", filter]).is_ok(), "{filter}");
        }
    }

    #[test]
    fn subcommands_of_other_tools_and_misspelt_ones_have_hints() {
        let meant = |filter: &str| selection(&[filter]).expect("a selection").meant;
        assert_eq!(meant("list").as_deref(), Some("`--list`"));
        assert_eq!(meant("run").as_deref(), Some("`cargo gpubench` without `run`"));
        assert_eq!(meant("comapre").as_deref(), Some("the subcommand `compare`"));
        assert_eq!(meant("gemm"), None);
    }
}
