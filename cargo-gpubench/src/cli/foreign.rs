//! Options of other tools, and what to type instead.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::UsageError;
use gpubench_contract::renamed;

mod table;

use table::FOREIGN;

/// A tool whose users may try its options here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Cargo,
    Criterion,
    Divan,
    DoBench,
    FlashInfer,
    Hyperfine,
    Libtest,
    Nextest,
    NvBench,
    Other,
    Proton,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Criterion => "criterion",
            Self::Divan => "divan",
            Self::DoBench => "Triton's do_bench",
            Self::FlashInfer => "FlashInfer",
            Self::Hyperfine => "hyperfine",
            Self::Libtest => "libtest",
            Self::Nextest => "nextest",
            Self::NvBench => "NVBench",
            Self::Other => "other tools",
            Self::Proton => "Proton",
        }
    }
}

/// Options of other tools that all have the same equivalent here.
#[derive(Debug)]
struct Foreign {
    /// The options. Arguments of Python functions are spelt as options, with dashes.
    names: &'static [&'static str],
    tools: &'static [Tool],
    /// What to type after `cargo gpubench`; empty if nothing replaces the option.
    instead: &'static str,
    /// What else to know: why there is nothing to type, or what it does.
    remark: &'static str,
}

impl Foreign {
    /// Returns what to type, as code.
    fn typed(&self) -> Option<String> {
        match self.instead {
            "" => None,
            options if options.starts_with('-') => Some(format!("`{options}`")),
            words => Some(format!("`cargo gpubench {words}`")),
        }
    }

    fn advice(&self) -> String {
        match (self.typed(), self.remark) {
            (Some(typed), "") => format!("type {typed}"),
            (Some(typed), remark) => format!("type {typed}: {remark}"),
            (None, remark) => format!("leave it out: {remark}"),
        }
    }

    fn tool_names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.iter().map(|tool| tool.name())
    }
}

/// Options that are flags in another tool and take a value here.
const FLAGS: [(&str, Tool); 2] = [("--profile", Tool::NvBench), ("--color", Tool::NvBench)];

/// Returns the error for an option of another tool, or nothing if no tool is known to have it.
/// `command` is the command that refused the option.
pub(super) fn explain(error: &clap::Error, command: &clap::Command) -> Option<UsageError> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let option = given.split(['=', ' ']).next().unwrap_or(given);
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let suits = |row: &&Foreign| options_in(row.instead).all(|word| has_option(command, word));
            refusal(option, &rows(option).filter(suits).collect::<Vec<_>>()).or_else(|| new_name(option))
        }
        ErrorKind::InvalidValue if has_no_value(error) => {
            let (_, tool) = FLAGS.iter().find(|(flag, _)| *flag == option)?;
            let row = rows(option).find(|row| row.tools.contains(tool))?;
            Some(UsageError::ForeignFlag {
                option: option.to_owned(),
                tool: tool.name(),
                advice: row.advice(),
            })
        }
        _ => None,
    }
}

/// Returns the error for a word that is an option of another tool.
pub(super) fn foreign_option(option: &str) -> Option<UsageError> {
    refusal(option, &rows(option).collect::<Vec<_>>())
}

/// Returns the rows of an option. Some tools write `_` where others write `-`.
fn rows(option: &str) -> impl Iterator<Item = &'static Foreign> {
    let dashed = option.replace('_', "-");
    FOREIGN.iter().filter(move |row| row.names.contains(&dashed.as_str()))
}

fn refusal(option: &str, rows: &[&Foreign]) -> Option<UsageError> {
    let advice = match rows {
        [] => return None,
        [row] => row.advice(),
        _ => {
            let of_tools = rows
                .iter()
                .map(|row| format!("for {}, {}", listed(row.tool_names()), row.advice()));
            of_tools.collect::<Vec<_>>().join("; ")
        }
    };
    Some(UsageError::Foreign {
        option: option.to_owned(),
        tools: listed(rows.iter().flat_map(|row| row.tool_names())),
        advice,
    })
}

/// Joins names as a sentence does: `a, b and c`. A name counts once.
fn listed(names: impl Iterator<Item = &'static str>) -> String {
    let mut once = Vec::new();
    names.for_each(|name| {
        if !once.contains(&name) {
            once.push(name);
        }
    });
    match once.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn new_name(option: &str) -> Option<UsageError> {
    let new = option.strip_prefix("--").and_then(renamed)?;
    Some(UsageError::Renamed {
        old: option.to_owned(),
        new: format!("--{}", new.replace('=', " ")),
    })
}

fn options_in(words: &str) -> impl Iterator<Item = &str> {
    words.split(' ').filter_map(|word| word.strip_prefix("--"))
}

fn has_option(command: &clap::Command, long: &str) -> bool {
    command.get_arguments().any(|option| option.get_long() == Some(long))
}

fn has_no_value(error: &clap::Error) -> bool {
    matches!(error.get(ContextKind::InvalidValue), None | Some(ContextValue::None))
        || matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(value)) if value.is_empty())
}

/// Returns the error for `--bench NAME`, which selects an executable in cargo. `--bench` alone is
/// accepted, because cargo passes it to libtest.
pub(super) fn bench_with_a_name(arguments: &[OsString]) -> Option<UsageError> {
    let words = arguments.iter().take_while(|word| *word != "--");
    let words: Vec<&str> = words.filter_map(|word| word.to_str()).collect();
    let mut pairs = words.windows(2);
    let is_named = pairs.any(|pair| pair[0] == "--bench" && !pair[1].starts_with('-'));
    if !is_named {
        return None;
    }
    refusal("--bench NAME", &rows("--bench").collect::<Vec<_>>())
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
