//! Options that choose cases.
#![forbid(unsafe_code)]

use clap::{Args, Command};
use regex::Regex;

use super::UsageError;
use super::app::described_verb;
use crate::broker::cases::{AxisOverride, CaseSelection, IgnoredSelection, NameFilter, Partition};
use crate::closest::closest;

const HEADING: &str = "Selection options";

#[derive(Debug, Args)]
pub(super) struct SelectionArguments {
    /// Run the cases whose names contain one of these regular expressions
    ///
    /// A case is named `path::axis=value,axis=value`, for instance `image::grayscale::width=1024,height=4096`, and with its package in
    /// front in the full form. An expression may be found in either form. Without any, every case runs.
    #[arg(value_name = "FILTERS")]
    filters: Vec<String>,

    /// Leave out the cases whose names contain this regular expression
    ///
    /// May be given several times. It wins over FILTERS.
    #[arg(long, value_name = "REGEX", help_heading = HEADING)]
    skip: Vec<String>,

    /// Take FILTERS and `--skip` as whole names instead of regular expressions
    ///
    /// The names are those that `--list` prints.
    #[arg(long, help_heading = HEADING)]
    exact: bool,

    /// Run only benchmarks marked `ignore`
    #[arg(long, help_heading = HEADING, conflicts_with = "include_ignored")]
    ignored: bool,

    /// Run benchmarks marked `ignore` as well
    #[arg(long, help_heading = HEADING)]
    include_ignored: bool,

    /// Give an axis other values than its benchmark declares
    ///
    /// `width=1024,2048` names values, `width=256:1024:256` is a range of integers with its stop included (the step is 1 where it is left
    /// out), `mode="a,b"` quotes a text. May be given several times; the values for one axis add up. Benchmarks without the axis are left
    /// alone; an axis that no selected benchmark has is an error.
    #[arg(long, value_name = "NAME=VALUES", help_heading = HEADING)]
    axis: Vec<AxisOverride>,

    /// Run only one part of the selected cases
    ///
    /// `hash:1/3` is the first of three parts. `hash` divides by the names, so that a case stays in its part when others come or go; `count`
    /// and `slice` in turn, `count` anew for every package. The parts have no case in common, and together they have all.
    #[arg(long, value_name = "PARTITION", help_heading = HEADING)]
    partition: Option<Partition>,
}

impl SelectionArguments {
    pub(super) fn into_selection(self) -> Result<CaseSelection, UsageError> {
        let Self {
            filters,
            skip,
            exact,
            ignored,
            include_ignored,
            axis,
            partition,
        } = self;
        let subcommand = match &filters[..] {
            [filter] => misspelt_subcommand(filter),
            _ => None,
        };
        let names = if exact {
            NameFilter::Exact { filters, skip }
        } else {
            NameFilter::Search {
                filters: expressions(filters)?,
                skip: expressions(skip)?,
            }
        };
        Ok(CaseSelection {
            names,
            ignored: ignored_selection(ignored, include_ignored),
            axes: axis,
            partition,
            subcommand,
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

/// A misspelt subcommand is a filter that no name fits.
fn misspelt_subcommand(filter: &str) -> Option<String> {
    let gpubench = described_verb();
    closest(filter, gpubench.get_subcommands().map(Command::get_name)).map(str::to_owned)
}

/// clap admits at most one of the two.
fn ignored_selection(ignored: bool, include_ignored: bool) -> IgnoredSelection {
    match (ignored, include_ignored) {
        (true, _) => IgnoredSelection::Only,
        (_, true) => IgnoredSelection::Include,
        _ => IgnoredSelection::Exclude,
    }
}
