//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueHint};
use thiserror::Error;

use crate::address::Address;

/// Serve the judge of `cargo gpubench` to programs of this machine, over HTTP
///
/// Answers the requests of FlashInfer-Bench's `serve`: a submission comes in as JSON, is graded in
/// a process of its own, and its traces are fetched later. Tasks and results are kept in a folder,
/// so that a killed server goes on where it was. Ends at SIGTERM or SIGINT; tasks that run then are
/// put back.
#[derive(Debug, Parser)]
#[command(name = "gpubench-serve", version, max_term_width = 100, after_long_help = EXAMPLES)]
pub(crate) struct CommandLine {
    /// Take definitions and workloads from this folder
    ///
    /// It has the folders `definitions` and `workloads` of FlashInfer-Bench's data sets.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dataset: PathBuf,

    /// Keep tasks and results in this folder, which no other server uses
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) spool: PathBuf,

    /// Listen here: an address of this machine alone, or `unix:FILE` for a socket
    ///
    /// Only the user of the server can open the socket, but every user of the machine can connect
    /// to an address. Port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8000")]
    pub(crate) listen: Address,

    /// Grade on this device. Each time that it is given adds a device, with one task at once
    ///
    /// `auto` is the first GPU, or the CPU if there is none.
    #[arg(long = "device", value_name = "DEVICE", default_value = "auto", value_parser = device)]
    pub(crate) devices: Vec<String>,

    /// Grade with this `cargo-gpubench`, not with the one next to this program
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) tool: Option<PathBuf>,

    /// Stop a task that runs longer
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = time_limit)]
    pub(crate) timeout: Duration,

    /// Refuse a task if this many wait
    #[arg(long, value_name = "COUNT", default_value = "256", value_parser = count)]
    pub(crate) queue: usize,

    /// Keep this many results. The oldest go first
    #[arg(long, value_name = "COUNT", default_value = "10000", value_parser = count)]
    pub(crate) keep: usize,

    /// Further options of `cargo gpubench grade`, after `--`
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) arguments: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  gpubench-serve --dataset flashinfer-trace --spool spool --device cuda:0 --device cuda:1
  gpubench-serve --dataset flashinfer-trace --spool spool --listen unix:/run/user/1000/judge";

/// A longer limit is a wrong unit.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The most tasks or results.
const MOST: usize = 1_000_000;

/// Why a value is invalid.
#[derive(Debug, Error)]
enum InvalidValue {
    #[error("must be a time from `1s` to `24h`, with a unit")]
    TimeLimit,
    #[error("must be a number from 1 to {MOST}")]
    Count,
    #[error("must be `cpu`, `cuda:0` or the like")]
    Device,
}

fn time_limit(text: &str) -> Result<Duration, InvalidValue> {
    let limit = humantime::parse_duration(text).ok();
    let fits = |limit: &Duration| (Duration::from_secs(1)..=LONGEST).contains(limit);
    limit.filter(fits).ok_or(InvalidValue::TimeLimit)
}

fn count(text: &str) -> Result<usize, InvalidValue> {
    let count = text.parse().ok();
    count
        .filter(|count| (1..=MOST).contains(count))
        .ok_or(InvalidValue::Count)
}

/// The tool itself says which devices there are.
fn device(text: &str) -> Result<String, InvalidValue> {
    let is_word = |text: &str| {
        text.chars()
            .all(|letter| letter.is_ascii_alphanumeric() || ":-_.".contains(letter))
    };
    let is_device = text.starts_with(|letter: char| letter.is_ascii_alphabetic()) && is_word(text);
    is_device.then(|| text.to_owned()).ok_or(InvalidValue::Device)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parsed(more: &[&str]) -> Result<CommandLine, String> {
        let words = ["gpubench-serve", "--dataset", "d", "--spool", "s"];
        CommandLine::try_parse_from(words.iter().chain(more)).map_err(|error| error.to_string())
    }

    #[test]
    fn verify_the_command_line() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_reference_has_the_help() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/gpubench-serve.md");
        let help = CommandLine::command().term_width(100).render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let wanted = format!(
            "# `gpubench-serve --help`\n\n```text\n{}\n```\n",
            lines.join("\n").trim_end()
        );
        let text = std::fs::read_to_string(page).unwrap_or_default();
        match std::env::var_os("GPUBENCH_UPDATE_REFERENCE") {
            Some(_) => std::fs::write(page, wanted).expect("written"),
            None => assert!(text == wanted, "{page}: run this test with GPUBENCH_UPDATE_REFERENCE=1"),
        }
    }

    #[test]
    fn each_device_has_an_option_and_words_after_two_dashes_are_the_graders() {
        let options = parsed(&["--device", "cuda:0", "--device=cuda:1", "--", "--over", "naive"]).expect("options");
        assert_eq!(options.devices, ["cuda:0", "cuda:1"]);
        assert_eq!(options.arguments, ["--over", "naive"]);
        assert_eq!(parsed(&[]).expect("options").devices, ["auto"]);
    }

    #[test]
    fn values_out_of_their_range_are_refused() {
        for words in [
            ["--timeout", "0s"],
            ["--timeout", "25h"],
            ["--timeout", "7"],
            ["--queue", "0"],
            ["--queue", "1000001"],
            ["--keep", "-1"],
            ["--device", ""],
            ["--device", "a b"],
            ["--device", "0"],
        ] {
            let error = parsed(&words).expect_err("refused");
            assert!(
                error.contains("must be") || error.contains("unexpected argument"),
                "{words:?}: {error}"
            );
        }
        assert!(parsed(&["--timeout", "1s", "--queue", "1", "--keep", "1000000"]).is_ok());
    }
}
