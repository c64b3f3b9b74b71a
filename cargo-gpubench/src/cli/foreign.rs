//! Options of other benchmark tools, for hands that know them.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::UsageError;

/// An option that this tool does not have, whose it is, and what does the same here.
type Foreign = (&'static str, &'static str, &'static str);

const EXACTLY_N: &str = "`--min-samples N --max-samples N` takes exactly N samples of a case";
const IN_LIBRARIES: &str = "every benchmark is in a library; `--package` and filters choose among them";
const ON_ONE_DEVICE: &str = "benchmarks of a device run one after the other";
const NAMES: &str = "filters are regular expressions for the names that `--list` prints; `--skip` leaves names out";
const WORK: &str = "`bytes = ..` and `flops = ..` in `#[gpubench]` declare a benchmark's work";
const SHOWN: &str = "a line for every case is shown as it ends; `--quiet` shows less, `--verbose` more, `--no-capture` what kernels and user code print";
const ORDER: &str = "cases are in the order of their sources; `--export-csv` writes what can be sorted";
const PROGRESS: &str = "`CARGO_TERM_PROGRESS_WHEN=never` hides the progress, and `--quiet` all but failures";
const BY_ITSELF: &str = "the warm-up ends by itself, when the running median has settled";

const FOREIGN: &[Foreign] = &[
    (
        "--measurement-time",
        "criterion",
        "`--max-time` limits how long samples of a case are taken",
    ),
    ("--warm-up-time", "criterion", BY_ITSELF),
    ("--warmup", "hyperfine", BY_ITSELF),
    (
        "--sample-size",
        "criterion and divan, which mean different things by it",
        EXACTLY_N,
    ),
    ("--sample-count", "divan", EXACTLY_N),
    ("--runs", "hyperfine", EXACTLY_N),
    (
        "--min-runs",
        "hyperfine",
        "`--min-samples` is the least number of samples of a case",
    ),
    (
        "--max-runs",
        "hyperfine",
        "`--max-samples` is the largest number of samples of a case",
    ),
    (
        "--min-time",
        "divan",
        "`--min-samples` is the least number of samples of a case",
    ),
    (
        "--max-noise",
        "NVBench",
        "`--target-cv` is the noise that is good enough",
    ),
    ("--devices", "NVBench", "`--device cuda:1` is the second GPU"),
    ("--benchmark", "NVBench", "give a part of its name as a filter"),
    (
        "--json",
        "NVBench",
        "`--export-json FILE`, or `--message-format json` for standard output",
    ),
    ("--csv", "NVBench", "`--export-csv FILE`"),
    ("--md", "NVBench", "`--export-markdown FILE`"),
    ("-a", "NVBench", "`--axis n=1024,2048` gives an axis other values"),
    (
        "--stopping-criterion",
        "NVBench",
        "`--target-cv`, `--max-time` and `--max-samples` say when there are enough samples",
    ),
    (
        "--quick",
        "criterion",
        "`--target-cv 5 --max-time 500ms` is quick; `--test` runs every case once",
    ),
    (
        "--nresamples",
        "criterion",
        "the number of resamples is fixed; docs/statistics.md has it",
    ),
    (
        "--significance-level",
        "criterion",
        "`--confidence-level` is how sure the intervals of a comparison are",
    ),
    (
        "--output-format",
        "criterion",
        "`--message-format json` is for programs",
    ),
    (
        "--format",
        "libtest",
        "`--list` prints a name a line; `--message-format json` is for programs",
    ),
    ("--test-threads", "libtest and nextest", ON_ONE_DEVICE),
    ("--jobs", "cargo", "`--build-jobs` is the number of compilers"),
    (
        "--release",
        "cargo",
        "benchmarks are built in release mode unless `--cargo-profile` says otherwise",
    ),
    (
        "--target",
        "cargo",
        "benchmarks run on the machine that builds them; `cargo gpubench archive` takes them elsewhere",
    ),
    (
        "--retries",
        "nextest",
        "no case is tried again until it passes: a wrong output is a finding",
    ),
    ("--filter-expr", "nextest", NAMES),
    ("--no-tests", "nextest", "a selection without cases exits with 4"),
    ("--max-fail", "nextest", "`--fail-fast` stops after the first failure"),
    ("--sort", "divan", ORDER),
    ("--sortr", "divan", ORDER),
    ("--timer", "divan", "times are those of the device's own clock"),
    (
        "--bytes-format",
        "divan",
        "sizes in tables are binary; `--export-json` has plain numbers",
    ),
    ("--bytes-count", "divan", WORK),
    ("--items-count", "divan", WORK),
    ("--chars-count", "divan", WORK),
    ("--cycles-count", "divan", WORK),
    (
        "--skip-ext-time",
        "divan",
        "`--max-time` counts what is measured, and inputs are made outside of it",
    ),
    ("-c", "criterion", "`--color` says when output is coloured"),
    (
        "-n",
        "criterion",
        "there are no plots unless `--report html` asks for a page",
    ),
    (
        "--plotting-backend",
        "criterion",
        "`--report html` writes a page that needs none",
    ),
    (
        "--history-id",
        "criterion",
        "`--history` records each run with its revision",
    ),
    (
        "--history-description",
        "criterion",
        "`--history` records each run with its revision",
    ),
    ("--debug", "criterion", "`--verbose` shows details of every case"),
    (
        "--criterion-manifest-path",
        "criterion",
        "`--manifest-path` names the workspace",
    ),
    ("--lib", "cargo", IN_LIBRARIES),
    ("--bin", "cargo", IN_LIBRARIES),
    ("--bins", "cargo", IN_LIBRARIES),
    ("--example", "cargo", IN_LIBRARIES),
    ("--examples", "cargo", IN_LIBRARIES),
    ("--tests", "cargo", IN_LIBRARIES),
    ("--benches", "cargo", IN_LIBRARIES),
    ("--all-targets", "cargo", IN_LIBRARIES),
    ("--doc", "cargo", IN_LIBRARIES),
    ("--timings", "cargo", "`cargo build` has it, and builds the same crates"),
    (
        "--keep-going",
        "cargo",
        "a kernel that does not compile fails its own cases only; a crate that does not ends the run",
    ),
    (
        "--ignore-rust-version",
        "cargo",
        "`--config` gives settings to cargo, as `resolver.incompatible-rust-versions`",
    ),
    ("--unit-graph", "cargo", "`cargo build` has it, for the same crates"),
    (
        "--future-incompat-report",
        "cargo",
        "`cargo build` has it, and builds the same crates",
    ),
    (
        "-Z",
        "cargo",
        "`--config unstable.NAME=true` sets what an unstable cargo knows",
    ),
    ("-E", "nextest", NAMES),
    ("--filterset", "nextest", NAMES),
    ("--filter-expression", "nextest", NAMES),
    (
        "--run-ignored",
        "nextest",
        "`--ignored` runs only what is ignored, `--include-ignored` that too",
    ),
    (
        "--ignore-default-filter",
        "nextest",
        "`--skip` on the command line replaces that of the profile",
    ),
    ("--platform-filter", "nextest", NAMES),
    ("--status-level", "nextest", SHOWN),
    ("--final-status-level", "nextest", SHOWN),
    ("--failure-output", "nextest", SHOWN),
    ("--success-output", "nextest", SHOWN),
    ("--no-output-indent", "nextest", SHOWN),
    ("--show-progress", "nextest", PROGRESS),
    ("--hide-progress-bar", "nextest", PROGRESS),
    ("--no-input-handler", "nextest", "nothing is read from the terminal"),
    (
        "--workspace-remap",
        "nextest",
        "an archive needs no sources: `--archive-file` alone runs it",
    ),
    (
        "--cargo-message-format",
        "nextest",
        "`--message-format json` is for programs; cargo's own messages go to standard error",
    ),
    ("--cargo-quiet", "nextest", "`--quiet` makes cargo quiet, too"),
    (
        "--cargo-verbose",
        "nextest",
        "`--config term.verbose=true` makes cargo verbose",
    ),
    ("--rerun", "nextest", "`--exact` runs the cases that are named"),
    (
        "--message-format-version",
        "nextest",
        "every record of `--message-format json` has its `schema_version`",
    ),
    (
        "--tool-config-file",
        "nextest",
        "`--config-file` names the configuration",
    ),
    (
        "--user-config-file",
        "nextest",
        "`--config-file` names the configuration",
    ),
    (
        "--override-version-check",
        "nextest",
        "`gpubench-version` in the configuration says which version it needs",
    ),
    (
        "--debugger",
        "nextest",
        "`--profile-time` keeps a case running for a tool to attach to",
    ),
    (
        "--tracer",
        "nextest",
        "`--profile-time` keeps a case running for a tool to attach to",
    ),
    (
        "--stress-count",
        "nextest",
        "`--min-samples` and `--workers` repeat each case",
    ),
    ("--shuffle", "libtest", ON_ONE_DEVICE),
    (
        "--report-time",
        "libtest",
        "every case's time is in its row, and `wall_ns` in `--export-json`",
    ),
    ("--logfile", "libtest", "`--export-json` writes results to a file"),
];

/// The error for an option of another tool; clap's own where it is nobody's.
pub(super) fn explain(error: &clap::Error) -> Option<UsageError> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let option = given.split(['=', ' ']).next().unwrap_or(given);
    let (option, tool, instead) = FOREIGN.iter().find(|(foreign, ..)| *foreign == option)?;
    Some(UsageError::Foreign { option, tool, instead })
}

/// Whether an option is one of another tool.
pub(super) fn is_foreign(option: &str) -> bool {
    FOREIGN.iter().any(|(foreign, ..)| *foreign == option)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::App;
    use gpubench_diagnostic::Expected;

    fn refusal(arguments: &[&str]) -> UsageError {
        let all = ["cargo-gpubench", "gpubench"].iter().chain(arguments);
        let error = App::command().try_get_matches_from(all).expect_err("a refusal");
        explain(&error).unwrap_or_else(|| panic!("not known: {error}"))
    }

    #[test]
    fn an_option_of_another_tool_is_told_ours() {
        let error = refusal(&["--measurement-time", "3"]);
        assert_eq!(error.to_string(), "`--measurement-time` is an option of criterion");
        assert_eq!(
            error.hint().as_deref(),
            Some("`--max-time` limits how long samples of a case are taken")
        );
        assert_eq!(refusal(&["-a", "n=5"]).to_string(), "`-a` is an option of NVBench");
        assert!(
            refusal(&["--sample-size=10"])
                .hint()
                .is_some_and(|hint| hint.contains("--max-samples N"))
        );
    }

    #[test]
    fn no_option_of_ours_counts_as_foreign_and_no_hint_names_one_that_is_not_there() {
        let app = App::command();
        let gpubench = app.find_subcommand("gpubench").expect("the verb");
        let ours: Vec<_> = gpubench
            .get_arguments()
            .filter_map(|option| option.get_long())
            .collect();
        let named = regex::Regex::new("--([a-z][a-z-]*)").expect("an expression");
        for (position, (option, _, instead)) in FOREIGN.iter().enumerate() {
            let others = &FOREIGN[position + 1..];
            assert!(
                others.iter().all(|(other, ..)| other != option),
                "{option} is there twice"
            );
            assert!(!ours.contains(&option.trim_start_matches("--")), "{option} is ours");
            for captures in named.captures_iter(instead) {
                assert!(ours.contains(&&captures[1]), "{option}: {}", &captures[0]);
            }
        }
    }

    #[test]
    fn a_typo_is_left_to_clap() {
        let error = App::command()
            .try_get_matches_from(["cargo-gpubench", "gpubench", "--max-tim", "3s"])
            .expect_err("a refusal");
        assert!(explain(&error).is_none());
        assert!(error.to_string().contains("--max-time"), "{error}");
    }
}
