//! The table of settings: every option of a run, and the options that subcommands share with it.
//!
//! A row has a name, a type, the form and default of the value, help and an example. It also says
//! whether a profile may contain the setting and whether `-h` shows it. Settings that may differ
//! between cases are declared in [`config`](crate::config), which also reads them from manifests.

use std::path::PathBuf;

use camino::Utf8PathBuf;
use clap::ValueHint;

use super::byte_size::parse_size;
use super::observer::{profilers, sanitizer_tools};
use super::parsers::{DeviceParser, file_to_go_on_with, flush_kinds, parse_jobs};
use crate::broker::cases::{AxisOverride, Partition};
use crate::broker::options::{
    AgentCount, DebuggerCommand, DeviceChoice, MasterSeed, MessageFormat, PageTarget, Profiler, RunnerCommand,
};
use crate::cdylibs::{PackageSpec, Profile};
use crate::config::{
    DEFAULT_PROFILE, Fraction, NoiseArguments, SamplingArguments, ThreadCount, TimeLimit, Value, settings,
};
use crate::scaffold::Template;
use gpubench_contract::{Flush, SanitizerTool};
use gpubench_device::Ordinals;
use gpubench_device::clocks::ClockSetting;
use gpubench_report::{Color, OnInconclusive, OutputTarget, RewardFile};
use gpubench_stats::Confidence;
use gpubench_store::RunName;

macro_rules! values {
    ($($type:ty),+) => {
        $(impl Value for $type {})+
    };
}

values! { AxisOverride, ClockSetting, Color, (DeviceChoice, Ordinals), Flush, Fraction, MasterSeed, MessageFormat, OnInconclusive }
values! { AgentCount, DebuggerCommand, Profiler, RunnerCommand, SanitizerTool, Template }
values! { OutputTarget, PackageSpec, PageTarget, Partition, PathBuf, Profile, RewardFile, RunName, String, TimeLimit, Utf8PathBuf, u64 }

settings! {
    #[command(next_help_heading = "Measure")]
    pub(super) struct RunArguments {
        /// List the selected cases and run nothing
        ///
        /// One name a line. `--exact` accepts each of them. With several packages, names start with
        /// the package. With `--message-format json`, each case is a `benchmark-listed` record.
        #[arg(long, conflicts_with_all = ["no_run", "runner"], help_heading = "Select cases")]
        list: bool => Line "--list transpose", common;

        /// Build the libraries and run nothing
        ///
        /// Use it to check that everything compiles, or on a machine that builds for others.
        #[arg(long, conflicts_with = "runner", help_heading = "Build")]
        no_run: bool => Line "--no-run --workspace";

        /// Check every case, without measuring
        ///
        /// Each case gets a fresh process, and three calls with fresh inputs, because state may
        /// outlive a call. More calls follow if zeros or old answers would have passed so far.
        /// Every element of every output is compared, and the output must be complete when the
        /// call has ended. The CPU device makes one more call in each of three processes with
        /// other orders of blocks and threads, to expose missing barriers: see `--schedule`.
        /// Results have a verdict and no times. They are neither saved nor compared.
        #[arg(long,
            conflicts_with_all = ["list", "no_run", "profile_time", "save_baseline", "baseline",
            "baseline_lenient", "against", "against_archive", "history", "report"])]
        test: bool => Line "--test", common;

        /// Call every case repeatedly for this long, under a profiler
        ///
        /// Every call is checked. Nothing is analysed, saved or compared. Choose the case with a
        /// filter. With `--nvtx`, the profiler shows calls by name.
        #[arg(long, value_name = "DURATION",
            conflicts_with_all = ["list", "no_run", "save_baseline", "baseline", "baseline_lenient", "against",
            "against_archive", "history", "report", "runner"])]
        profile_time: Option<TimeLimit> => Line "--profile-time 10s --nvtx --exact add1";

        /// Check every case once with this tool of compute-sanitizer
        ///
        /// `memcheck` finds accesses out of bounds, `racecheck` data races in shared memory,
        /// `initcheck` reads of memory that nobody has written, and `synccheck` wrong uses of
        /// barriers. A case with a finding fails, even if its outputs are right. The message has
        /// the kernel, the line, the block and the thread. The call works on buffers that end
        /// where the tensors end. It may take 30 times as long as `--timeout`. There are no times.
        /// Needs a GPU and NVIDIA's `compute-sanitizer`.
        #[arg(long, value_name = "TOOL", value_parser = sanitizer_tools(),
            conflicts_with_all = ["list", "no_run", "test", "profile_time", "profile_with", "save_baseline",
            "baseline", "baseline_lenient", "load_baseline", "against", "against_archive", "history", "report"])]
        sanitize: Option<SanitizerTool> => Line "--sanitize memcheck";

        /// Run one case under this profiler, whose report shows only the call
        ///
        /// `ncu` is Nsight Compute, `nsys` Nsight Systems. Words after `--` are arguments of the
        /// profiler. Select the case with `--exact`. Only the case's worker runs under the
        /// profiler, which records one call with fresh inputs. The output is checked. The call may
        /// take 30 times as long as `--timeout`. Needs a GPU.
        #[arg(long, value_name = "PROFILER", value_parser = profilers(),
            conflicts_with_all = ["list", "no_run", "test", "profile_time", "save_baseline", "baseline",
            "baseline_lenient", "load_baseline", "against", "against_archive", "history", "report"])]
        profile_with: Option<Profiler> => Line "--profile-with ncu --exact add1 -- -o add1 --set full";

        /// Debug one case with this program, which gets the worker's command after its arguments
        ///
        /// `gdb --args`, `cuda-gdb --args` and `lldb --` work so. Select the case with `--exact`.
        /// The worker makes one call, and no time limit ends it. The debugger has the terminal, and
        /// Ctrl-C stops the call, not the run. Kernels of the CPU device are functions of libraries
        /// that the worker loads, so breakpoints in them are pending at first.
        #[arg(long, value_name = "COMMAND",
            conflicts_with_all = ["list", "no_run", "test", "profile_time", "sanitize", "profile_with", "save_baseline",
            "baseline", "baseline_lenient", "load_baseline", "against", "against_archive", "history", "report", "runner"])]
        debugger: Option<DebuggerCommand> => Line "--debugger 'gdb --args' --exact add1";

        /// Measure the kernels of a problem alternately, and rank them
        ///
        /// Selected cases that solve the same problem with the same arguments take turns, window by
        /// window, so that whatever slows the machine slows all of them. The ranking compares each
        /// pair and names ties. A case that fails drops out. Cases without a rival are measured
        /// alone.
        #[arg(long, help_heading = "Compare",
            conflicts_with_all = ["list", "no_run", "test", "profile_time", "sanitize", "profile_with",
            "load_baseline", "against", "against_archive"])]
        contest: bool => Profile "--contest reduction";

        /// Stop after the first benchmark that fails
        ///
        /// By default the other benchmarks still run. Either way the exit code is 100.
        #[arg(long)]
        fail_fast: bool => Profile "--fail-fast";

        /// Continue after a failure, even if the profile sets `fail-fast`
        #[arg(long, conflicts_with = "fail_fast")]
        no_fail_fast: bool => Line "-P ci --no-fail-fast";

        /// Exit with 100 if a selected case was skipped
        ///
        /// A case that requires another device, or whose launch function skips it, is not checked.
        /// Without this option a run in which every case was skipped only warns.
        #[arg(long)]
        fail_on_skip: bool => Profile "--test --fail-on-skip";

        /// Mark every window as an NVTX range for profilers
        ///
        /// `nsys profile --trace=cuda,nvtx cargo gpubench --nvtx …` then shows which kernels belong
        /// to which case and window. A profiler slows calls down.
        #[arg(long, conflicts_with = "runner")]
        nvtx: bool => Line "--nvtx --exact add1";

        /// Write the records to this file, and go on from those that it has
        ///
        /// If the file is missing, the run begins. If a run was killed, the same command goes on
        /// with it: results are taken from the file if code, settings and device are the same, and
        /// all other cases are measured. So are those that failed through no fault of their own,
        /// such as a device that was lost. At the end the file is that of one run, as with
        /// `--export-json`. The file is trusted: whoever can edit it can edit verdicts.
        #[arg(long, value_name = "FILE", value_parser = file_to_go_on_with, value_hint = ValueHint::FilePath,
            conflicts_with_all = ["list", "no_run", "profile_time", "sanitize", "profile_with", "debugger", "contest",
            "load_baseline", "against", "against_archive"], help_heading = "Save and report")]
        resume: Option<Utf8PathBuf> => Line "--resume run.jsonl";

        /// Accepted and ignored: libtest and criterion require it
        #[arg(long, hide = true)]
        bench: bool => Line "";

        /// Accepted and ignored: `--no-capture` shows what benchmarks print
        #[arg(long, hide = true)]
        show_output: bool => Line "";

        /// Accepted and ignored: only `--report` draws plots
        #[arg(long, hide = true)]
        noplot: bool => Line "";

        #[command(flatten)]
        selection: SelectionArguments;

        #[command(flatten)]
        measurement: MeasurementArguments;

        #[command(flatten)]
        baseline: BaselineArguments;

        #[command(flatten)]
        output: OutputArguments;

        #[command(flatten)]
        unpack: UnpackArguments;

        #[command(flatten)]
        fleet: FleetArguments;

        #[command(flatten)]
        configuration: ConfigurationArguments;

        #[command(flatten)]
        cargo: CargoArguments;
    }

    #[command(next_help_heading = "Select cases")]
    pub(super) struct SelectionArguments {
        /// Run the cases whose names match one of these regular expressions
        ///
        /// A case is named `path::axis=value,axis=value`, for
        /// example `image::grayscale::width=1024,height=4096`. The full form starts with the
        /// package. An expression may match any part of either form. Without filters, every case
        /// runs.
        #[arg(value_name = "FILTERS")]
        filters: Vec<String> => Line "reduction '^image::.*width=1024'";

        /// Skip the cases whose names match this regular expression
        ///
        /// May be given several times. It takes precedence over FILTERS.
        #[arg(long, value_name = "REGEX")]
        skip: Vec<String> => Profile "--skip naive --skip 'n=1024$'";

        /// Match FILTERS and `--skip` against whole names
        ///
        /// `--list` prints the names.
        #[arg(long)]
        exact: bool => Line "--exact image::grayscale::width=1024,height=4096";

        /// Run only benchmarks marked `ignore`
        #[arg(long, conflicts_with = "include_ignored")]
        ignored: bool => Line "--ignored";

        /// Also run benchmarks marked `ignore`
        #[arg(long)]
        include_ignored: bool => Profile "--include-ignored";

        /// Replace the values of an axis
        ///
        /// `width=1024,2048` lists values. `width=256:1024:256` is a range of integers that
        /// includes its end; the step defaults to 1. `width=2^10` is a power, and `width=2^8:2^12`
        /// lists the powers of two from 256 to 4096; a step then counts exponents. A range has at
        /// most 10000 values. `mode="a,b"` quotes a string. May be given several times; the values
        /// for one axis add up. Benchmarks without the axis are not affected. An axis that no
        /// selected benchmark has is an error. If `cases(..)` lists the values of several axes
        /// together, give values for all of them, which are then combined, or choose among the
        /// cases with filters.
        #[arg(long, value_name = "NAME=VALUES")]
        axis: Vec<AxisOverride> => Profile "--axis width=1024,2048 --axis height=256:1024:256 --axis 'depth=2^4:2^6'";

        /// Run one part of the selected cases, to share a run between machines
        ///
        /// `hash:1/3` is the first of three parts. `hash` divides by name: nearly every case stays
        /// in its part when cases are added or removed. `slice` deals out the cases one by one;
        /// `count` does so for each package separately. Parts do not overlap, and together they
        /// cover every case. Their sizes differ by at most one case, with `count` by at most one
        /// case of each package.
        #[arg(long, value_name = "PARTITION")]
        partition: Option<Partition> => Line "--partition hash:1/3";
    }

    #[command(next_help_heading = "Measure")]
    pub(super) struct MeasurementArguments {
        #[command(flatten)]
        device: DeviceArguments;

        /// Use this many threads on the CPU device
        ///
        /// The default is the number of threads that the process may use. The limit is 1024.
        #[arg(long, value_name = "N", help_heading = "Machine")]
        threads: Option<ThreadCount> => Profile "--device cpu --threads 4";

        /// Run blocks and threads in a different order on the CPU device
        ///
        /// 0 is the natural order and the default. Any other number selects another order. Blocks
        /// may run in any order, and so may threads between two barriers. A kernel that lacks a
        /// barrier, or whose blocks depend on each other, can be right in one order and wrong in
        /// another. In any order but 0, blocks run one after another, so the same number repeats
        /// the same behaviour. `--test` tries 0, 1, 2 and 3 unless this option is given.
        #[arg(long, value_name = "SEED", help_heading = "Machine")]
        schedule: Option<u64> => Profile "--device cpu --schedule 7";

        /// Do not wait for other runs on the same device
        ///
        /// By default a run waits until your other runs on the device have ended, for at most an
        /// hour, and names the one it waits for. Two runs that measure at once disturb each other.
        /// `--test` never waits.
        #[arg(long, help_heading = "Machine")]
        no_wait: bool => Profile "--no-wait";

        /// Also show what a call asks of the CUDA driver: launches, copies, allocations, leaks
        ///
        /// Probes on the driver's functions see it from outside while the case runs once more, so
        /// no timed call carries a probe. The record has the result in `audit`. Needs the program
        /// `gpubench-probe`, with root's rights or the capabilities that `doctor` names.
        #[arg(long)]
        audit: bool => Profile "--audit";

        /// Keep in the records what the judge decided from
        ///
        /// Each result then has in `evidence` the facts and the claim of each window, about 1 KB
        /// for each output. `cargo gpubench judge` decides the verdict again from them.
        #[arg(long)]
        evidence: bool => Profile "--evidence --export-json run.json";

        /// Keep the profiles of callgrind in this folder, for `callgrind_annotate` and KCachegrind
        ///
        /// With `--metric instructions` on the CPU device. `callgrind.out.NUMBER.CASE.LAUNCH` is
        /// the profile of a launch of a case's last counted call, and replaces the one of an
        /// earlier run.
        #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
        keep_callgrind: Option<Utf8PathBuf> => Line "--device cpu --metric instructions --keep-callgrind profiles";

        /// Keep the tensors of each case's first wrong call in this folder, for `numpy.load`
        ///
        /// The call's outputs as expected and as found, and its inputs, in a `.npy` file each:
        /// `NUMBER.CASE.TENSOR.expected.npy`, `.got.npy` and `.input.npy`. The failure names the
        /// files. They replace those of an earlier run. Those of a case have at most 1 GiB. The
        /// names of a baseline's files begin with `baseline.`, and a notice of the case has them.
        #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
        keep_wrong_outputs: Option<Utf8PathBuf> => Line "--keep-wrong-outputs wrong";

        /// Lock the clock of the GPU's multiprocessors while cases are measured
        ///
        /// `base` is the clock that the GPU can keep at its rated power. A number is a supported
        /// clock in MHz. Only root may lock clocks. The run unlocks them when it ends, also if it
        /// is killed. That removes a lock set by somebody else too: the driver cannot show one.
        /// Results of other clocks are not compared. `--test` locks nothing.
        #[arg(long, value_name = "CLOCK", help_heading = "Machine")]
        lock_clocks: Option<ClockSetting> => Profile "--lock-clocks base";

        /// Derive inputs and all random choices from this seed, to reproduce a run
        ///
        /// Up to 64 hexadecimal digits. By default the operating system provides a new seed for
        /// every run. Code that knows the seed can prepare for the inputs, so do not set it for
        /// kernels that you do not trust.
        #[arg(long, value_name = "HEX", help_heading = "Measure")]
        seed: Option<MasterSeed> => Line "--seed 1f2e";

        #[command(flatten)]
        cases: SamplingArguments;

        /// Flush this much cache before every cold call [default: twice a GPU's L2 cache, 8MiB on
        /// the CPU device]
        ///
        /// `8MiB`, `512KiB`, `64MB`, or a number of bytes. `0` makes `warm` the default of
        /// `--mode`. The CPU device does not flush the whole cache by default, because shared
        /// machines report caches of hundreds of MiB.
        #[arg(long, value_name = "SIZE", value_parser = parse_size)]
        flush_bytes: Option<u64> => Profile "--flush-bytes 256MiB";

        /// Flush the cache by reading or by writing
        ///
        /// `read` leaves no dirty lines that the kernel would have to write back. `write` does.
        #[arg(long, value_name = "HOW", default_value = "read", value_parser = flush_kinds())]
        flush: Flush => Profile "--flush write";
    }

    #[command(next_help_heading = "Compare")]
    pub(super) struct BaselineArguments {
        /// Save the results as a baseline
        ///
        /// A name such as `main` is a baseline in the target directory. A value with a path
        /// separator, or one that ends in `.json`, is a file. The run replaces an existing baseline
        /// when it finishes. If that has results of benchmarks that are not selected, the command
        /// fails before it measures.
        #[arg(short, long, value_name = "NAME", help_heading = "Save and report")]
        save_baseline: Option<RunName> => Profile "--save-baseline main";

        /// Compare with this baseline
        ///
        /// If a benchmark regressed, the exit code is 3. A selected benchmark that the baseline
        /// lacks is an error before anything is measured.
        #[arg(short, long, visible_alias = "compare", value_name = "NAME", conflicts_with = "baseline_lenient")]
        baseline: Option<RunName> => Profile "--baseline main";

        /// Compare with this baseline, and list benchmarks that it lacks as new
        #[arg(long, value_name = "NAME")]
        baseline_lenient: Option<RunName> => Profile "--baseline-lenient main --save-baseline pr";

        /// Load the results of this baseline instead of measuring
        ///
        /// With `--baseline`, the two are compared. Filters select among the loaded results. May be
        /// given several times: the parts of `--partition`, or of other selections, become one run.
        #[arg(long, value_name = "NAME",
            conflicts_with_all = ["list", "no_run", "test", "profile_time", "archive_file", "axis", "ignored",
            "partition", "runner"])]
        load_baseline: Vec<RunName> => Line "--load-baseline pr --baseline main";

        /// Compare with another git revision in the same run
        ///
        /// A branch, a tag or a hash. The revision is checked out below the target directory and
        /// built like the current sources. Both are measured in the same run with alternating
        /// windows, so drift affects both. The current sources include uncommitted changes. If a
        /// benchmark regressed, the exit code is 3. If five rounds do not decide a case, it gets up
        /// to 20, unless `--workers` sets the number.
        #[arg(long, value_name = "GIT-REV",
            conflicts_with_all = ["baseline", "baseline_lenient", "load_baseline", "archive_file", "list",
            "no_run", "runner"])]
        against: Option<String> => Line "--against main", common;

        /// Compare with an archive in the same run
        ///
        /// Like `--against`, for machines without sources: `cargo-gpubench gpubench --archive-file
        /// new.tar.gz --against-archive old.tar.gz`. Without `--archive-file`, the current sources
        /// are built and compared with the archive. The archive is unpacked to a temporary folder.
        /// If a benchmark regressed, the exit code is 3.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
            conflicts_with_all = ["against", "baseline", "baseline_lenient", "load_baseline", "list", "no_run", "runner"])]
        against_archive: Option<Utf8PathBuf> => Line "--archive-file new.tar.gz --against-archive old.tar.gz";

        /// Neither compare with the last run nor keep this one for the next
        ///
        /// By default, a run says what changed since the last good result of each case in the same
        /// package on the same device. This does not affect the exit code. A run that is compared
        /// with something else only replaces these results.
        #[arg(long)]
        no_last_run: bool => Profile "--no-last-run";

        /// Save nothing of this run: no baseline, no history
        ///
        /// It overrides the environment and the configuration.
        #[arg(long, help_heading = "Save and report")]
        discard_baseline: bool => Line "-P ci --discard-baseline";

        /// Add the times of this run to the history of the device
        ///
        /// `cargo gpubench history` shows it. From ten runs on, comparisons take their noise
        /// threshold from it.
        #[arg(long, help_heading = "Save and report")]
        history: bool => Profile "--history";

        /// Keep histories in this folder instead of the target directory
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, help_heading = "Save and report")]
        history_dir: Option<Utf8PathBuf> => Profile "--history-dir ~/gpubench-history";

        #[command(flatten)]
        judging: JudgingArguments;
    }

    #[command(next_help_heading = "Compare")]
    pub(super) struct ChangeArguments {
        #[command(flatten)]
        noise: NoiseArguments;

        /// Set the confidence level of comparisons: `99%`, `0.99`
        #[arg(long, value_name = "FRACTION", default_value_t = Fraction::new(Confidence::DEFAULT.fraction()))]
        confidence_level: Fraction => Profile "--confidence-level 95%";

        /// Also compare results of another device, driver or mode
        ///
        /// The mode is `cold`, or `warm` with `--flush-bytes 0`. The differences are listed. By
        /// default such results are shown and not compared.
        #[arg(long)]
        allow_different_setups: bool => Profile "--allow-different-setups";
    }

    #[command(next_help_heading = "Compare")]
    pub(super) struct JudgingArguments {
        #[command(flatten)]
        change: ChangeArguments;

        /// Exit with 0 even if a benchmark regressed
        #[arg(long)]
        no_fail_on_regression: bool => Profile "--no-fail-on-regression";

        /// Exit with 6 if too few of the common benchmarks could be judged
        ///
        /// A benchmark could not be judged if it is inconclusive or was not compared, for example
        /// because it was measured on another device or has no samples. `all` fails if none could
        /// be judged, also if the two sides have none in common. `any` fails if one could not.
        /// `never` warns if none could. A regression takes precedence.
        #[arg(long, value_name = "WHEN", default_value = "never")]
        fail_on_inconclusive: OnInconclusive => Profile "--fail-on-inconclusive all";
    }

    #[command(next_help_heading = "Output")]
    pub(super) struct OutputArguments {
        /// Write standard output for people or for programs
        ///
        /// `json` writes one object a line, each with `reason` and `schema_version`. Text for
        /// people then goes to standard error.
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        message_format: MessageFormat => Profile "--message-format json > results.jsonl";

        /// Colour the output
        ///
        /// `auto` colours on a terminal and honours `NO_COLOR` and `CLICOLOR_FORCE`. Without this
        /// option, `CARGO_TERM_COLOR` decides. Progress is shown on a terminal unless
        /// `CARGO_TERM_PROGRESS_WHEN` is `never`.
        #[arg(long, value_name = "WHEN", global = true)]
        color: Option<Color> => Profile "--color always | less -R";

        /// Show only failures and the summary
        #[arg(short, long, conflicts_with = "verbose", overrides_with = "quiet")]
        quiet: bool => Profile "--quiet";

        /// Also show details of every case
        #[arg(short, long, overrides_with = "verbose")]
        verbose: bool => Profile "--verbose reduction";

        /// Show what kernels and user code print, while they print it
        ///
        /// User code means benchmark functions, generators and references. The text goes to
        /// standard error. By default only the end of it is shown, and only if a kernel fails or a
        /// process dies.
        #[arg(long, visible_alias = "nocapture")]
        no_capture: bool => Profile "--no-capture";

        /// Also write the results to this file as JSON lines
        ///
        /// The lines are those of `--message-format json`. `-` is standard output; the table then
        /// goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_json: Option<OutputTarget> => Profile "--export-json results.jsonl";

        /// Also write the results to this file as CSV, one row per case
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_csv: Option<OutputTarget> => Profile "--export-csv results.csv";

        /// Also write every sample to this file as CSV, one row per sample
        ///
        /// Each row has the case, the process that took the sample, and its value. `-` is standard
        /// output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_samples: Option<OutputTarget> => Profile "--export-samples samples.csv";

        /// Also write the results to this file as a Markdown table
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_markdown: Option<OutputTarget> => Profile "--export-markdown results.md";

        /// Also write the results to this file as JUnit XML
        ///
        /// Most CI services display it. `-` is standard output; the table then goes to standard
        /// error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_junit: Option<OutputTarget> => Profile "--export-junit results.xml";

        /// Also write the results to this file in Bencher Metric Format
        ///
        /// For `bencher run --file`. Times are the measure `latency`, in nanoseconds. `-` is
        /// standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_bencher: Option<OutputTarget> => Profile "--export-bencher bencher.json";

        /// Also write the results to this file for github-action-benchmark
        ///
        /// The action's tool is `customSmallerIsBetter`. `-` is standard output; the table then
        /// goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_github_benchmark: Option<OutputTarget> => Profile "--export-github-benchmark benchmark.json";

        /// Also write the results to this file as OpenMetrics text
        ///
        /// For Prometheus, for example through a Pushgateway. Values are in seconds, bytes and
        /// joules. `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        export_openmetrics: Option<OutputTarget> => Profile "--export-openmetrics results.prom";

        /// Also write an HTML page about the run: `html`, or `html=FILE`
        ///
        /// The page is one file that needs no network and no scripts. Without FILE it is
        /// `gpubench/report.html` in the target directory. `html=-` is standard output; the table
        /// then goes to standard error. `cargo gpubench report` makes the page from stored results.
        #[arg(long, value_name = "KIND", help_heading = "Save and report")]
        report: Option<PageTarget> => Profile "--report html=page.html";

        /// Also write a timeline of the run to this file, for Perfetto or `chrome://tracing`
        ///
        /// It shows what each process did, and when: opening devices, set-ups, windows, inputs,
        /// references, compilers. It is written even if the run fails.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Save and report")]
        trace: Option<Utf8PathBuf> => Line "--trace timeline.json";
    }

    #[command(next_help_heading = "Build")]
    pub(super) struct UnpackArguments {
        /// Run the benchmarks of this archive instead of building
        ///
        /// `cargo gpubench archive` makes archives. The machine needs neither cargo nor sources,
        /// and cargo's options do not apply.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["CargoArguments", "no_run"])]
        archive_file: Option<Utf8PathBuf> => Line "--archive-file kernels.tar.gz";

        /// Unpack the archive to this folder and keep it
        ///
        /// By default it is unpacked to a temporary folder, which is removed at the end.
        #[arg(long, value_name = "DIRECTORY", requires = "archive_file")]
        extract_to: Option<Utf8PathBuf> => Line "--archive-file kernels.tar.gz --extract-to kernels";

        /// Unpack even if the folder of `--extract-to` is not empty
        ///
        /// Files of the same names are replaced. Other files stay.
        #[arg(long, requires = "extract_to")]
        extract_overwrite: bool => Line "--archive-file kernels.tar.gz --extract-to kernels --extract-overwrite";
    }

    #[command(next_help_heading = "Machine")]
    pub(super) struct FleetArguments {
        /// Measure with an agent that this command starts, on this or on another machine
        ///
        /// `srun --gpus=1` starts what follows it: this executable, as an agent with one device. A
        /// command whose last word is `agent` is whole: `ssh host cargo-gpubench agent`. May be
        /// given several times, and `--agents` starts several of each. This machine builds, and
        /// needs no GPU. Agents get the archive of the build, take some cases at a time and send
        /// records. If an agent ends or its machine has a fault, others measure its case again with
        /// other inputs, up to five times. Words are split as a shell does.
        #[arg(long, value_name = "COMMAND",
            conflicts_with_all = ["sanitize", "profile_with", "audit", "keep_callgrind", "keep_wrong_outputs", "trace"])]
        runner: Vec<RunnerCommand> => Line "--runner 'srun --gpus=1' --agents 8";

        /// Start this many agents with each `--runner`
        #[arg(long, value_name = "N", default_value_t = AgentCount::ONE, requires = "runner")]
        agents: AgentCount => Line "--runner 'srun --gpus=1' --agents 8";

        /// Give an agent's case to others if nothing has come from it for this long
        ///
        /// What it sends later is kept in a file and does not count.
        #[arg(long, value_name = "DURATION", default_value_t = TimeLimit::seconds(60), requires = "runner")]
        agent_silence: TimeLimit => Line "--runner 'srun --gpus=1' --agent-silence 5min";
    }

    #[command(next_help_heading = "Configure")]
    pub(super) struct ConfigurationArguments {
        /// Use this profile of the configuration file
        ///
        /// `-P ci` is `[profile.ci]` in `.config/gpubench.toml` at the root of the workspace.
        /// `--cargo-profile` sets cargo's own profile.
        #[arg(short = 'P', long, value_name = "NAME", default_value = DEFAULT_PROFILE, global = true)]
        profile: String => Line "--profile ci";

        /// Read this configuration file instead of `.config/gpubench.toml`
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, global = true)]
        config_file: Option<Utf8PathBuf> => Line "--config-file nightly.toml";
    }

    #[command(next_help_heading = "Build")]
    pub(super) struct CargoArguments {
        /// Select this package
        ///
        /// A name, `name@version`, a package ID or a pattern such as `kernels-*`. May be given
        /// several times.
        #[arg(short, long, value_name = "SPEC")]
        package: Vec<PackageSpec> => Line "--package row-sums --package 'kernels-*'";

        /// Select every package of the workspace that depends on `gpubench`
        #[arg(long, visible_alias = "all")]
        workspace: bool => Line "--workspace";

        /// Exclude this package of the workspace
        #[arg(long, value_name = "SPEC", requires = "workspace")]
        exclude: Vec<PackageSpec> => Line "--workspace --exclude slow-kernels";

        /// Activate these features, separated by commas or spaces
        ///
        /// If the benchmarks of a package always need a feature, write `features = ["bench"]` in
        /// its `[package.metadata.gpubench]`.
        #[arg(short = 'F', long, value_name = "FEATURES")]
        features: Vec<String> => Profile "--features fp8,bf16";

        /// Activate all features of the selected packages
        #[arg(long)]
        all_features: bool => Line "--all-features";

        /// Do not activate the `default` feature
        #[arg(long)]
        no_default_features: bool => Line "--no-default-features";

        /// Build with this cargo profile
        ///
        /// The default is `gpubench`, which inherits `bench`. `[profile.gpubench]` extends it.
        #[arg(long, value_name = "NAME", default_value = "gpubench")]
        cargo_profile: Profile => Line "--cargo-profile release";

        /// Build into this target directory
        #[arg(long, value_name = "DIRECTORY")]
        target_dir: Option<Utf8PathBuf> => Line "--target-dir /tmp/target";

        /// Run this many compilers in parallel
        #[arg(short = 'j', long, alias = "jobs", value_name = "N", value_parser = parse_jobs,
            allow_hyphen_values = true)]
        build_jobs: Option<String> => Line "--build-jobs 8";

        /// Use the package or workspace of this `Cargo.toml`
        #[arg(long, value_name = "PATH")]
        manifest_path: Option<Utf8PathBuf> => Line "--manifest-path kernels/Cargo.toml";

        /// Fail if `Cargo.lock` would change
        #[arg(long)]
        locked: bool => Line "--locked";

        /// Do not use the network
        #[arg(long)]
        offline: bool => Line "--offline";

        /// Same as `--locked --offline`
        #[arg(long)]
        frozen: bool => Line "--frozen";

        /// Override a cargo configuration value
        #[arg(long, value_name = "KEY=VALUE|PATH")]
        config: Vec<String> => Line "--config 'build.rustflags=\"-Ctarget-cpu=native\"'";
    }

    #[command(next_help_heading = "Storage")]
    pub(super) struct PlaceArguments {
        /// Read histories from this folder instead of the target directory
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        history_dir: Option<Utf8PathBuf> => Profile "--history-dir ~/gpubench-history";

        /// Read baselines and histories from this target directory
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        target_dir: Option<Utf8PathBuf> => Line "--target-dir /tmp/target";

        /// Read baselines and histories of the workspace of this `Cargo.toml`
        #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
        manifest_path: Option<Utf8PathBuf> => Line "--manifest-path kernels/Cargo.toml";
    }

    #[command(next_help_heading = "Machine")]
    pub(super) struct DeviceArguments {
        /// Use this device: `auto`, `cpu`, `cuda` or `cuda:all`
        ///
        /// `auto`, the default, is the first GPU if there is one, otherwise the CPU device. Times
        /// on the CPU device say nothing about a GPU. `cuda` requires a GPU. `cuda:1` is the second
        /// GPU. `cuda:all` and lists like `cuda:0,2` and `cuda:0-3` share the cases among several
        /// GPUs. GPUs of another kind each measure every case, in a run of their own.
        #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = DeviceParser,
            hide_possible_values = true, hide_default_value = true)]
        device: (DeviceChoice, Ordinals) => Profile "--device cuda:all", common;

        /// Compile GPU kernels with this NVRTC
        ///
        /// A library (`libnvrtc.so.13`) or a folder that contains one: a toolkit, or Python's
        /// `site-packages`. By default these are searched in order: the toolkit in `CUDA_HOME` or
        /// `CUDA_PATH`, the toolkits in `/usr/local`, the loader's path, Python's `nvidia`
        /// packages.
        #[arg(long, value_name = "PATH")]
        nvrtc: Option<PathBuf> => Line "--nvrtc /usr/local/cuda";

        /// Compile GPU kernels that NVRTC cannot compile with this nvcc
        ///
        /// A program, or a folder that contains one: a toolkit, or Python's `site-packages`. nvcc
        /// compiles sources with `compiler = nvcc` and sources that NVRTC rejects. By default these
        /// are searched in order: `NVCC`, the folder of the NVRTC that `--nvrtc` names, `PATH`,
        /// toolkits, Python's packages.
        #[arg(long, value_name = "PATH")]
        nvcc: Option<PathBuf> => Line "--nvcc /usr/local/cuda/bin/nvcc";
    }
}

#[cfg(test)]
mod reference;
