//! The table of other tools' options, and what to type instead.

use super::Foreign;
use super::Tool::{
    self, Cargo, Criterion, Divan, DoBench, FlashInfer, Hyperfine, Libtest, Nextest, NvBench, Other, Proton,
};

const EXACTLY: &str = "--min-samples 100 --max-samples 100";
const EXACT_NUMBER: &str = "it takes exactly 100 samples of a case";
const WARM_UP: &str = "--warmup-time 25ms";
const WARM_UP_ENDS: &str = "without it, the warm-up ends when the times are stable";
const SAMPLE_TIME: &str = "it limits the time of all sampled calls of a case";
const PRECISION: &str = "sampling also stops after `--max-time` or `--max-samples`";
const FILTER: &str = "the word is a regular expression for names; `--skip` excludes cases";
const CALLS_TOGETHER: &str = "a sample is then this many calls; in the mode `cold` it is one call";
const SORTED: &str = "benchmarks are sorted by name, and `--contest` ranks those of one problem by time";
const DECLARED_WORK: &str = "`bytes = ..`, `flops = ..` and `counters(items = n)` in `#[gpubench(..)]` say what a call does, and give the rates";
const FRESH_INPUTS: &str = "generators make the inputs of each call, and no preparation is part of a time";
const THROTTLED: &str = "throttled samples are taken again or flagged";
const CASE_UNDER_PROFILER: &str = "words after `--` are the profiler's own";
const ONE_AT_A_TIME: &str =
    "timed cases run one after another; those that are only counted or tested run side by side by themselves";
const IN_LIBRARIES: &str =
    "benchmarks are in libraries and in examples of type `cdylib`; `--package` and filters select";
const NEVER_REPEATED: &str = "no case is repeated until it passes, because wrong outputs must show";
const ALWAYS_CHECKED: &str = "every call is checked, and a case with a wrong output has no time";
const ARCHIVES: &str = "an archive needs no sources at its old place";
const ENTROPY: &str = "the criterion of noise is the only one";
const NO_SHELL: &str = "no shell starts the benchmarks";

/// A row for an option that something else does here.
const fn row(
    names: &'static [&'static str],
    tools: &'static [Tool],
    instead: &'static str,
    remark: &'static str,
) -> Foreign {
    Foreign {
        names,
        tools,
        instead,
        remark,
    }
}

/// A row for an option that nothing does here, and why.
const fn none(names: &'static [&'static str], tools: &'static [Tool], remark: &'static str) -> Foreign {
    Foreign {
        names,
        tools,
        instead: "",
        remark,
    }
}

/// An option that is here, too, but means something else here, has a remark that says `here`.
#[rustfmt::skip]
pub(super) const FOREIGN: &[Foreign] = &[
    // How many samples, and how long.
    row(&["--sample-count"], &[Divan], EXACTLY, EXACT_NUMBER),
    row(&["--sample-size"], &[Criterion], EXACTLY, EXACT_NUMBER),
    row(&["--sample-size"], &[Divan], "--mode hot --calls-per-sample 20", CALLS_TOGETHER),
    row(&["--runs", "-r"], &[Hyperfine], EXACTLY, EXACT_NUMBER),
    row(&["--min-runs", "-m"], &[Hyperfine], "--min-samples 100", ""),
    row(&["--max-runs", "-M"], &[Hyperfine], "--max-samples 100", ""),
    row(&["--num-iters", "-n"], &[FlashInfer], EXACTLY, EXACT_NUMBER),
    row(&["--repeat-iters"], &[FlashInfer], EXACTLY, EXACT_NUMBER),
    row(&["--target-samples"], &[NvBench], EXACTLY, EXACT_NUMBER),
    row(&["--min-time"], &[Divan, NvBench], "--min-samples 100", "there is a least number of samples, but no least time"),
    row(&["--timeout"], &[NvBench], "--max-time 15s", "here `--timeout` limits a single call"),
    row(&["--measurement-time"], &[Criterion], "--max-time 5s", "it limits the sampling time of a case"),
    row(&["--repeat-time-ms"], &[FlashInfer], "--sample-time 100ms", SAMPLE_TIME),
    row(&["--rep"], &[DoBench], "--sample-time 100ms", SAMPLE_TIME),
    row(&["--ensure-time"], &[Libtest], "--timeout 10s", "it limits a single call"),
    row(&["--quick"], &[Criterion], "--target-cv 5% --max-time 500ms", "`--test` is quicker: it checks and does not measure"),
    row(&["--max-noise"], &[NvBench], "--target-cv 0.5%", PRECISION),
    row(&["--stopping-criterion"], &[NvBench], "--target-cv 0.5%", PRECISION),
    row(&["--max-angle", "--min-r2"], &[NvBench], "--target-cv 0.5%", ENTROPY),
    row(&["--stress-count", "--stress-duration"], &[Nextest], "--profile-time 1min", "it calls each case for so long and checks every call"),

    // Warm-up, caches, modes.
    row(&["--warm-up-time"], &[Criterion], "--warmup-time 3s", WARM_UP_ENDS),
    row(&["--warmup", "-w"], &[Hyperfine], WARM_UP, WARM_UP_ENDS),
    row(&["--warmup"], &[DoBench], WARM_UP, WARM_UP_ENDS),
    row(&["--dry-run-time-ms"], &[FlashInfer], WARM_UP, WARM_UP_ENDS),
    row(&["--dry-run-iters", "-d"], &[FlashInfer], WARM_UP, WARM_UP_ENDS),
    row(&["--cold-warmup-runs", "--cold-max-warmup-walltime"], &[NvBench], WARM_UP, WARM_UP_ENDS),
    row(&["--l2-flush", "--cold-l2-cache"], &[FlashInfer], "--mode cold", "that is the default; `--mode hot` leaves the caches alone"),
    row(&["--l2-flush-size-mb"], &[FlashInfer], "--flush-bytes 256MiB", ""),
    none(&["--l2-flush-device"], &[FlashInfer], "the cache of `--device` is flushed"),
    row(&["--sleep-after-run"], &[FlashInfer], "--cooldown", ""),
    row(&["--use-cuda-graph"], &[FlashInfer], "--mode graph", ""),
    none(&["--no-cuda-graph"], &[FlashInfer], "only the modes `graph` and `hot-graph` use graphs"),
    row(&["--num-iters-within-graph"], &[FlashInfer], "--mode graph --calls-per-sample 10", ""),
    row(&["--batch-target-time"], &[NvBench], "--mode hot", "it calls back to back; `--calls-per-sample` sets how often"),
    none(&["--no-batch"], &[NvBench], "calls are back to back only with `--mode hot` or `--mode hot-graph`"),
    none(&["--skip-time"], &[NvBench], "short calls are measured, too; `--skip` excludes cases by name"),
    none(&["--skip-ext-time"], &[Divan], FRESH_INPUTS),
    none(&["--grad-to-none"], &[DoBench], FRESH_INPUTS),
    none(&["--setup", "--prepare", "--conclude", "--cleanup", "-C", "-c"], &[Hyperfine], FRESH_INPUTS),
    none(&["--timer"], &[Divan], "the device's own clock times calls, and a second process checks the times"),
    none(&["--enable-cupti", "--use-cupti", "--use-cuda-events"], &[FlashInfer], "CUDA events time the calls, and a second process checks the times"),
    none(&["--throttle-threshold", "--throttle-recovery-delay"], &[NvBench], THROTTLED),
    row(&["--random-seed"], &[FlashInfer], "--seed 2a", "the number is hexadecimal"),
    none(&["--refcheck"], &[FlashInfer], ALWAYS_CHECKED),
    none(&["--allow-output-mismatch"], &[FlashInfer], ALWAYS_CHECKED),

    // Devices.
    row(&["--devices", "-d"], &[NvBench], "--device cuda:1", "that is the second GPU; `cuda:0,1` shares the cases among two"),
    row(&["--lock-gpu-clocks", "--lgc"], &[NvBench], "--lock-clocks base", "the clock is unlocked when the run ends"),
    none(&["--persistence-mode", "--pm"], &[NvBench], "`nvidia-smi -pm 1` sets it"),
    row(&["--jsonlist-devices"], &[NvBench], "doctor", "it shows the devices"),
    none(&["--threads"], &[Divan], "here `--threads` is the number of threads of the CPU device"),
    none(&["--test-threads"], &[Libtest, Nextest], ONE_AT_A_TIME),
    none(&["--force-run-in-process"], &[Libtest], "each case has processes of its own"),

    // Selection and axes.
    row(&["--benchmark"], &[NvBench], "copy", FILTER),
    row(&["-b"], &[NvBench], "copy", "here `-b` is short for `--baseline`"),
    row(&["--routine", "-R"], &[FlashInfer], "gemm", FILTER),
    row(&["--filter"], &[Other], "gemm", FILTER),
    row(&["--filterset", "--filter-expr", "-E"], &[Nextest], "gemm", FILTER),
    row(&["--run-ignored"], &[Nextest], "--include-ignored", "`--ignored` runs only those marked `ignore`"),
    none(&["--no-tests"], &[Nextest], "if no case is selected, the exit code is 4"),
    row(&["-a"], &[NvBench], "--axis n=2^10:2^30:5", "in place of `n[pow2]=[10:30:5]`; several `--axis` combine"),
    row(&["--help-axes", "--help-axis"], &[NvBench], "help cases", "it explains `--axis`"),
    row(&["--parameter-scan", "--parameter-step-size", "-D"], &[Hyperfine], "--axis n=256:1024:256", "the range includes its end"),
    row(&["--parameter-list", "-L"], &[Hyperfine], "--axis n=1024,2048", ""),
    row(&["--testlist"], &[FlashInfer], "--axis n=1024,2048", "a profile in `.config/gpubench.toml` can keep it"),
    none(&["--shuffle", "--shuffle-seed"], &[Libtest], "each case has fresh processes; `--schedule` permutes blocks and threads of the CPU device"),
    none(&["--exclude-should-panic"], &[Libtest], "no benchmark is expected to panic"),
    row(&["--list-type"], &[Nextest], "--list", ""),
    row(&["-l"], &[NvBench], "--list", ""),
    row(&["--jsonlist-benches"], &[NvBench], "--list --message-format json", ""),
    row(&["-T"], &[Nextest], "--list --message-format json", ""),
    none(&["--command-name", "-n"], &[Hyperfine], "a benchmark is named by its function, or by `name = ..` in `#[gpubench(..)]`"),

    // What stops a run.
    none(&["--retries", "--flaky-result"], &[Nextest], NEVER_REPEATED),
    row(&["--max-fail", "--ff"], &[Nextest], "--fail-fast", "it stops after the first failure"),
    row(&["--nff"], &[Nextest], "--no-fail-fast", ""),
    none(&["--ignore-failure", "-i"], &[Hyperfine], "other cases still run after a failure, and the exit code is 100"),
    none(&["--rerun"], &[Nextest], "a failed case prints the command that runs it alone"),
    none(&["--generate-repro-command"], &[FlashInfer], "a failed case prints the command that runs it alone"),

    // Comparisons.
    row(&["--significance-level"], &[Criterion], "--confidence-level 95%", "it is 100 % minus the significance level"),
    none(&["--nresamples"], &[Criterion], "intervals have a closed form, so nothing is resampled"),
    row(&["--reference", "--reference-name"], &[Hyperfine], "--contest", "it ranks the kernels of a problem; `--baseline` compares with a stored run"),

    // Outputs.
    row(&["--json"], &[NvBench], "--export-json results.jsonl", "`--message-format json` writes to standard output"),
    row(&["--jsonbin"], &[NvBench], "--export-json results.jsonl", "it has every sample"),
    row(&["--csv"], &[NvBench], "--export-csv results.csv", "`--export-samples` writes a row per sample"),
    row(&["--markdown", "--md"], &[NvBench], "--export-markdown results.md", ""),
    row(&["--export-asciidoc", "--export-orgmode"], &[Hyperfine], "--export-markdown results.md", ""),
    row(&["--output"], &[Hyperfine], "--no-capture", "for results there is `--export-json`, `--export-csv` or `--export-markdown`"),
    row(&["--output-path"], &[FlashInfer], "--export-csv results.csv", ""),
    row(&["--logfile"], &[Libtest], "--export-json results.jsonl", ""),
    row(&["--output-format"], &[Criterion], "--message-format json", "it is for programs; people get the table"),
    row(&["--format"], &[Libtest, Criterion], "--message-format json", "it is for programs; `--list` prints one name per line"),
    none(&["--message-format-version"], &[Nextest], "each record has its `schema_version`"),
    row(&["--save-path", "--show-plots"], &[DoBench], "--report html=page.html", "the page has all plots"),
    none(&["--print-data"], &[DoBench], "the table is always printed"),
    row(&["--plotting-backend"], &[Criterion], "--report html=page.html", "the page has all plots"),
    none(&["-n"], &[Criterion], "only `--report` draws plots"),
    row(&["--quantiles", "--return-mode"], &[DoBench], "--export-json results.jsonl", "the table has the median; a record has mean, quartiles, extremes and every sample"),
    row(&["--style"], &[Hyperfine], "--color never", "`--quiet` shows only failures and the summary"),
    row(&["--color"], &[NvBench], "--color always", "here `--color` takes a value"),
    row(&["-c"], &[Criterion], "--color always", ""),
    none(&["--sort"], &[Divan, Hyperfine], SORTED),
    none(&["--sortr"], &[Divan], SORTED),
    none(&["--time-unit", "-u"], &[Hyperfine], "each time has a unit that fits it; records have nanoseconds"),
    none(&["--bytes-format"], &[Divan], "rates are in powers of 1000, such as GB/s"),
    none(&["--bytes-count", "--items-count", "--chars-count", "--cycles-count"], &[Divan], DECLARED_WORK),
    none(&["--report-time"], &[Libtest], "a measured case always shows its time"),
    row(&["--status-level", "--final-status-level"], &[Nextest], "--quiet", "it shows only failures and the summary; `--verbose` shows details"),
    row(&["--success-output", "--failure-output"], &[Nextest], "--no-capture", "it shows what kernels and user code print"),
    none(&["--show-progress", "--hide-progress-bar"], &[Nextest], "the variable `CARGO_TERM_PROGRESS_WHEN=never` hides progress"),

    // Profilers.
    row(&["--profile"], &[NvBench], "--profile-time 10s", "here `--profile` selects a profile of the configuration; `--profile-with ncu` starts a profiler"),
    row(&["--run-once"], &[NvBench], "--profile-with ncu --exact add1", CASE_UNDER_PROFILER),
    row(&["--backend", "--context", "--data", "--hook", "-k", "--name"], &[Proton], "--profile-with nsys --exact add1", CASE_UNDER_PROFILER),
    row(&["--mode"], &[Proton], "--profile-with nsys --exact add1", "here `--mode` sets how calls are timed"),

    // What cargo builds.
    none(&["--release", "-r"], &[Cargo, Nextest], "benchmarks are built in release mode; `--cargo-profile` sets another profile"),
    row(&["--profile"], &[Cargo], "--cargo-profile release", "here `--profile` selects a profile of the configuration"),
    none(&["--target"], &[Cargo, Nextest], "benchmarks run on the machine that builds them; `cargo gpubench archive` packs them for others"),
    none(&["--lib", "--bin", "--bins", "--benches", "--examples", "--tests", "--all-targets"], &[Cargo, Nextest], IN_LIBRARIES),
    none(&["--example"], &[Cargo, Nextest], "a filter selects: the names of the benchmarks in an example `gpu` begin with `gpu::`"),
    none(&["--bench"], &[Cargo, Nextest], "here `--bench` does nothing, since benchmarks are in libraries and in examples of type `cdylib`; `--package` and filters select"),
    none(&["--test"], &[Cargo, Nextest], "here `--test` checks every case, without measuring"),
    row(&["--cargo-quiet"], &[Nextest], "--quiet", ""),
    row(&["--cargo-verbose"], &[Nextest], "--verbose", ""),
    none(&["--workspace-remap", "--target-dir-remap", "--build-dir-remap"], &[Nextest], ARCHIVES),
    row(&["--persist-extract-tempdir"], &[Nextest], "--archive-file kernels.tar.gz --extract-to kernels", ""),
    none(&["--shell", "-S", "-N"], &[Hyperfine], NO_SHELL),
];
