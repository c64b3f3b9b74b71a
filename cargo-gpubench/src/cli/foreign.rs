//! Options of other benchmark tools, and their equivalents here.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::UsageError;
use gpubench_contract::renamed;

/// An option of another tool, the tool, and the equivalent here.
type Foreign = (&'static str, &'static str, &'static str);

const EXACTLY_N: &str = "`--min-samples N --max-samples N` takes exactly N samples of a case";
const WARM_UP: &str =
    "the warm-up ends by itself when the running median is stable; `--warmup-time 25ms` makes it last at least so long";
const IN_LIBRARIES: &str = "every benchmark is in a library; select with `--package` and filters";
const NAMES: &str =
    "filters need no option: `cargo gpubench gemm` runs the cases whose names match; `--skip` excludes cases";
const SHOWN: &str = "`--quiet` shows less, `--verbose` more, `--no-capture` what kernels and user code print";
const BATCH: &str =
    "`--mode hot` times calls back to back, each with its own tensors; `--calls-per-sample N` sets their number";
const WORK: &str = "`bytes = ..` and `flops = ..` in `#[gpubench]` declare the work of a call";
const ORDER: &str = "cases are in the order of their sources; `--export-csv FILE` writes a table to sort";
const LOCK_CLOCKS: &str = "`--lock-clocks base` or `--lock-clocks 1410` locks the clock for the run";
const ONE_BY_ONE: &str =
    "timed cases run one after another; cases that are only counted run side by side by themselves";

#[rustfmt::skip]
const FOREIGN: &[Foreign] = &[
    ("--measurement-time", "criterion", "`--max-time` limits the sampling time of a case"),
    ("--warm-up-time", "criterion", WARM_UP),
    ("--sample-size", "criterion and divan, with different meanings", EXACTLY_N),
    ("--quick", "criterion", "`--target-cv 5% --max-time 500ms` is quick; `--test` checks every case once"),
    ("--nresamples", "criterion", "the intervals need no resampling, as `docs/statistics.md` says"),
    ("--plotting-backend", "criterion", "only `--report html` draws plots"),
    ("--significance-level", "criterion", "`--confidence-level` sets the confidence level of a comparison"),
    ("--output-format", "criterion", "`--message-format json` prints results for programs"),
    ("-n", "criterion", "only `--report html` draws plots"),
    ("--sample-count", "divan", EXACTLY_N),
    ("--min-time", "divan", "`--min-samples` sets the minimum number of samples of a case"),
    ("--skip-ext-time", "divan", "`--sample-time 100ms` limits the time of the sampled calls alone"),
    ("--items-count", "divan", WORK),
    ("--bytes-count", "divan", WORK),
    ("--chars-count", "divan", WORK),
    ("--cycles-count", "divan", WORK),
    ("--bytes-format", "divan", "`--export-json FILE` has plain numbers"),
    ("--sort", "divan", ORDER),
    ("--sortr", "divan", ORDER),
    ("--warmup", "hyperfine", WARM_UP),
    ("--runs", "hyperfine", EXACTLY_N),
    ("--min-runs", "hyperfine", "`--min-samples` sets the minimum number of samples of a case"),
    ("--max-runs", "hyperfine", "`--max-samples` sets the maximum number of samples of a case"),
    ("--max-noise", "NVBench", "`--target-cv` sets the noise at which sampling stops"),
    ("--devices", "NVBench", "`--device cuda:1` is the second GPU"),
    ("--benchmark", "NVBench", "use a part of the name as a filter"),
    ("--json", "NVBench", "`--export-json FILE`, or `--message-format json` for standard output"),
    ("--csv", "NVBench", "`--export-csv FILE`"),
    ("--md", "NVBench", "`--export-markdown FILE`"),
    ("--markdown", "NVBench", "`--export-markdown FILE`"),
    ("-d", "NVBench", "`--device cuda:1` is the second GPU"),
    ("-a", "NVBench", "`--axis n=1024,2048` replaces the values of an axis"),
    ("--jsonbin", "NVBench", "`--export-json FILE` includes every sample"),
    ("--skip-time", "NVBench", "short calls are not skipped; `--skip` excludes cases by name"),
    ("--throttle-threshold", "NVBench", "throttled samples are taken again, up to `--min-samples` of a case, or flagged"),
    ("--throttle-recovery-delay", "NVBench", "throttled samples are taken again after a pause of 5 to 50 ms"),
    ("--lgc", "NVBench", LOCK_CLOCKS),
    ("--lock-gpu-clocks", "NVBench", LOCK_CLOCKS),
    ("--cold-warmup-runs", "NVBench", WARM_UP),
    ("--cold-max-warmup-walltime", "NVBench", WARM_UP),
    ("--batch-target-time", "NVBench", BATCH),
    ("--no-batch", "NVBench", BATCH),
    ("--run-once", "NVBench", "`--test` checks every case once; `--profile-time 1s` is for profilers"),
    ("--stopping-criterion", "NVBench", "`--target-cv`, `--max-time` and `--max-samples` stop sampling"),
    ("--dry-run-time-ms", "FlashInfer", "`--warmup-time 25ms` sets the least time of the warm-up"),
    ("--repeat-time-ms", "FlashInfer", "`--sample-time 100ms` limits the time of the sampled calls"),
    ("--num-iters-within-graph", "FlashInfer", "`--calls-per-sample N` sets the number of calls in a graph"),
    ("--release", "cargo", "benchmarks are built in release mode by default; `--cargo-profile` sets another profile"),
    ("--target", "cargo", "benchmarks run on the machine that builds them; `cargo gpubench archive` packs them for other machines"),
    ("--lib", "cargo", IN_LIBRARIES),
    ("--bin", "cargo", IN_LIBRARIES),
    ("--benches", "cargo", IN_LIBRARIES),
    ("--all-targets", "cargo", IN_LIBRARIES),
    ("--format", "libtest", "`--list` prints one name per line; `--message-format json` prints results for programs"),
    ("--test-threads", "libtest and nextest", ONE_BY_ONE),
    ("-E", "nextest", NAMES),
    ("--filter-expr", "nextest", NAMES),
    ("--filter", "other tools", NAMES),
    ("--retries", "nextest", "no case is repeated until it passes, because wrong outputs must show"),
    ("--run-ignored", "nextest", "`--ignored` runs only ignored benchmarks; `--include-ignored` runs all benchmarks"),
    ("--no-tests", "nextest", "if no case is selected, the exit code is 4"),
    ("--max-fail", "nextest", "`--fail-fast` stops after the first failure"),
    ("--status-level", "nextest", SHOWN),
    ("--final-status-level", "nextest", SHOWN),
    ("--failure-output", "nextest", SHOWN),
    ("--success-output", "nextest", SHOWN),
];

/// Options that take a value here, and none in another tool.
const FOREIGN_FLAGS: &[Foreign] = &[(
    "--profile",
    "NVBench",
    "`--profile-time 10s` calls a case repeatedly under a profiler; `--profile NAME` selects a profile of the configuration",
)];

/// Returns the error for an option of another tool, or nothing if no tool is known to have it.
pub(super) fn explain(error: &clap::Error) -> Option<UsageError> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let option = given.split(['=', ' ']).next().unwrap_or(given);
    let find = |options: &'static [Foreign]| options.iter().find(|(foreign, ..)| *foreign == option);
    match error.kind() {
        ErrorKind::UnknownArgument => {
            if let Some(new) = option.strip_prefix("--").and_then(renamed) {
                return Some(UsageError::Renamed {
                    old: option.to_owned(),
                    new: format!("--{}", new.replace('=', " ")),
                });
            }
            let (option, tool, instead) = find(FOREIGN)?;
            Some(UsageError::Foreign { option, tool, instead })
        }
        ErrorKind::InvalidValue if has_no_value(error) => {
            let (option, tool, instead) = find(FOREIGN_FLAGS)?;
            Some(UsageError::ForeignFlag { option, tool, instead })
        }
        _ => None,
    }
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
    is_named.then_some(UsageError::Foreign {
        option: "--bench NAME",
        tool: "cargo",
        instead: IN_LIBRARIES,
    })
}

/// Returns whether another tool has this option.
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
    fn an_option_of_another_tool_has_our_equivalent_as_a_hint() {
        let error = refusal(&["--measurement-time", "3"]);
        assert_eq!(error.to_string(), "`--measurement-time` is an option of criterion");
        assert_eq!(
            error.hint().as_deref(),
            Some("`--max-time` limits the sampling time of a case")
        );
        assert_eq!(
            refusal(&["--no-batch"]).to_string(),
            "`--no-batch` is an option of NVBench"
        );
        assert!(
            refusal(&["--filter", "gemm"])
                .hint()
                .is_some_and(|hint| hint.contains("`cargo gpubench gemm`"))
        );
        assert_eq!(refusal(&["-a", "n=5"]).to_string(), "`-a` is an option of NVBench");
        assert!(
            refusal(&["--sample-size=10"])
                .hint()
                .is_some_and(|hint| hint.contains("--max-samples N"))
        );
    }

    #[test]
    fn options_of_divan_nextest_and_flashinfer_have_hints_that_hold() {
        for (option, named) in [
            ("--sample-count=10", "--max-samples N"),
            ("--items-count=1", "flops"),
            ("--sort=name", "--export-csv"),
            ("--failure-output=final", "--no-capture"),
            ("--num-iters-within-graph=20", "--calls-per-sample"),
            ("--nresamples=10", "no resampling"),
            ("--no-batch", "--mode hot"),
        ] {
            let hint = refusal(&[option]).hint();
            assert!(hint.is_some_and(|hint| hint.contains(named)), "{option}");
        }
    }

    #[test]
    fn a_flag_of_another_tool_that_takes_a_value_here_has_both_meanings_in_the_error() {
        for arguments in [&["--profile"][..], &["--profile", "--quiet"]] {
            let error = refusal(arguments);
            assert_eq!(
                error.to_string(),
                "`--profile` needs a value; without a value it is an option of NVBench"
            );
            assert!(error.hint().is_some_and(|hint| hint.contains("--profile-time")));
        }
    }

    #[test]
    fn no_foreign_option_is_ours_and_hints_name_only_existing_options() {
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
                let is_of_nvidia_smi = instead.contains(&format!("`nvidia-smi {}`", &captures[0]));
                assert!(
                    is_of_nvidia_smi || ours.contains(&&captures[1]),
                    "{option}: {}",
                    &captures[0]
                );
            }
        }
        for (option, ..) in FOREIGN_FLAGS {
            assert!(
                ours.contains(&option.trim_start_matches("--")),
                "{option} takes no value here"
            );
        }
    }

    #[test]
    fn an_option_that_was_renamed_is_refused_with_its_new_name() {
        let error = refusal(&["--sleep-after-run"]);
        assert_eq!(error.to_string(), "`--sleep-after-run` is called `--cooldown` now");
        let error = refusal(&["--energy"]);
        assert_eq!(error.to_string(), "`--energy` is called `--metric energy` now");
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
