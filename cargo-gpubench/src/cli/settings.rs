//! The table of settings: every option of a run, and those that its subcommands share with it.
//!
//! A row has the name, the type, the form of the value and its built-in one, help, an example, and
//! where besides the command line and the environment the setting may be given. What may differ
//! from case to case is in [`config`](crate::config), which also reads it from the manifests of
//! crates.

use std::path::PathBuf;

use camino::Utf8PathBuf;
use clap::ValueHint;

use super::byte_size::parse_size;
use super::cargo::parse_jobs;
use super::measurement::{DeviceParser, flush_kinds};
use crate::broker::cases::{AxisOverride, Partition};
use crate::broker::options::{DeviceChoice, MasterSeed, MessageFormat, PageTarget};
use crate::build::{PackageSpec, Profile};
use crate::config::{
    DEFAULT_PROFILE, Fraction, NoiseArguments, SamplingArguments, ThreadCount, TimeLimit, Value, settings,
};
use gpubench_contract::Flush;
use gpubench_report::{Color, OnInconclusive, OutputTarget};
use gpubench_stats::Confidence;
use gpubench_store::RunName;

macro_rules! values {
    ($($type:ty),+) => {
        $(impl Value for $type {})+
    };
}

values! { AxisOverride, Color, (DeviceChoice, u32), Flush, Fraction, MasterSeed, MessageFormat, OnInconclusive }
values! { OutputTarget, PackageSpec, PageTarget, Partition, PathBuf, Profile, RunName, String, TimeLimit, Utf8PathBuf, u64 }

settings! {
    #[command(next_help_heading = "Run options")]
    pub(super) struct RunArguments {
        /// Print the names of the selected cases, one a line, and run nothing
        ///
        /// Each name is one that `--exact` accepts. With several packages it has the package in
        /// front. With `--message-format json` it is a record a case, `benchmark-listed`.
        #[arg(long, conflicts_with = "no_run")]
        list: bool => Line "--list transpose";

        /// Build the libraries and run nothing
        ///
        /// For machines that build for others, and to see whether everything compiles.
        #[arg(long)]
        no_run: bool => Line "--no-run --workspace";

        /// Call every case once and check it, without measuring
        ///
        /// One fresh process and one call a case, with fresh inputs: every element of every output
        /// is compared, and that all of it is there when the call has ended. On the CPU device
        /// there are four of them, each with another order of blocks and threads, so that a missing
        /// barrier shows: see `--schedule`. Results have a verdict and no times, and are neither
        /// saved nor compared.
        #[arg(long,
            conflicts_with_all = ["list", "no_run", "profile_time", "save_baseline", "baseline",
            "baseline_lenient", "against", "against_archive", "history", "report"])]
        test: bool => Line "--test";

        /// Call every case again and again for this long, for a profiler that the command runs
        /// under
        ///
        /// Every call is checked; nothing is analysed, saved or compared. Choose the case with a
        /// filter; with `--nvtx` the profiler knows its calls by name.
        #[arg(long, value_name = "DURATION",
            conflicts_with_all = ["list", "no_run", "save_baseline", "baseline", "baseline_lenient", "against",
            "against_archive", "history", "report"])]
        profile_time: Option<TimeLimit> => Line "--profile-time 10s --nvtx --exact add1";

        /// Stop after the first benchmark that fails
        ///
        /// Without it the others still run. Either way the command exits with 100.
        #[arg(long)]
        fail_fast: bool => Profile "--fail-fast";

        /// Go on after a benchmark has failed, whatever the profile says
        #[arg(long, conflicts_with = "fail_fast")]
        no_fail_fast: bool => Line "-P ci --no-fail-fast";

        /// Mark every window as an NVTX range, for a profiler that the command runs under
        ///
        /// `nsys profile --trace=cuda,nvtx cargo gpubench --nvtx …` shows which kernels belong to
        /// which case and window. A profiler slows calls down.
        #[arg(long)]
        nvtx: bool => Profile "--nvtx --exact add1";

        /// Run benchmarks: libtest and criterion want to be told
        #[arg(long, hide = true)]
        bench: bool => Line "";

        /// Show what passing benchmarks print: `--no-capture` does, as it comes
        #[arg(long, hide = true)]
        show_output: bool => Line "";

        /// Draw no plots: there are none unless a report is asked for
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
        configuration: ConfigurationArguments;

        #[command(flatten)]
        cargo: CargoArguments;
    }

    #[command(next_help_heading = "Selection options")]
    pub(super) struct SelectionArguments {
        /// Run the cases whose names contain one of these regular expressions
        ///
        /// A case is named `path::axis=value,axis=value`, for instance
        /// `image::grayscale::width=1024,height=4096`, and with its package in front in the full
        /// form. An expression may be found in either form. Without any, every case runs.
        #[arg(value_name = "FILTERS", help_heading = None::<&str>)]
        filters: Vec<String> => Line "reduction '^image::.*width=1024'";

        /// Leave out the cases whose names contain this regular expression
        ///
        /// May be given several times. It wins over FILTERS.
        #[arg(long, value_name = "REGEX")]
        skip: Vec<String> => Profile "--skip naive --skip 'n=1024$'";

        /// Take FILTERS and `--skip` as whole names instead of regular expressions
        ///
        /// The names are those that `--list` prints.
        #[arg(long)]
        exact: bool => Line "--exact image::grayscale::width=1024,height=4096";

        /// Run only benchmarks marked `ignore`
        #[arg(long, conflicts_with = "include_ignored")]
        ignored: bool => Line "--ignored";

        /// Run benchmarks marked `ignore` as well
        #[arg(long)]
        include_ignored: bool => Profile "--include-ignored";

        /// Give an axis other values than its benchmark declares
        ///
        /// `width=1024,2048` names values, `width=256:1024:256` is a range of integers with its
        /// stop included (the step is 1 where it is left out), `mode="a,b"` quotes a text. May be
        /// given several times; the values for one axis add up. Benchmarks without the axis are
        /// left alone; an axis that no selected benchmark has is an error.
        #[arg(long, value_name = "NAME=VALUES")]
        axis: Vec<AxisOverride> => Profile "--axis width=1024,2048 --axis 'height=256:1024:256'";

        /// Run only one part of the selected cases
        ///
        /// `hash:1/3` is the first of three parts. `hash` divides by the names, so that nearly
        /// every case stays in its part when others come or go; `count` and `slice` in turn,
        /// `count` anew for every package. Parts differ by one case at most, with `count` by one of
        /// each package. They have no case in common, and together they have all.
        #[arg(long, value_name = "PARTITION")]
        partition: Option<Partition> => Line "--partition hash:1/3";
    }

    #[command(next_help_heading = "Measurement options")]
    pub(super) struct MeasurementArguments {
        #[command(flatten)]
        device: DeviceArguments;

        /// Give the CPU device this many threads
        ///
        /// Without it, as many as the process may use; at most 1024.
        #[arg(long, value_name = "N")]
        threads: Option<ThreadCount> => Profile "--device cpu --threads 4";

        /// Run blocks and their threads in another order on the CPU device
        ///
        /// A number, 0 for their own order, which is the default. Blocks, and threads between two
        /// barriers, may run in any order; a kernel that lacks a barrier, or whose blocks rely on
        /// one another, can be right in one order and wrong in another. In any order but 0 blocks
        /// run one after the other, so that the number repeats what they did. `--test` tries 0, 1,
        /// 2 and 3 one after another unless this names one.
        #[arg(long, value_name = "SEED")]
        schedule: Option<u64> => Profile "--device cpu --schedule 7";

        /// Measure also while another run measures on the device
        ///
        /// Without it a run waits until the others of this user on the same device have ended, for
        /// an hour at most, and says for whom. Two that measure at once disturb each other.
        /// `--test` never waits.
        #[arg(long)]
        no_wait: bool => Profile "--no-wait";

        /// Draw inputs, orders and keys from this seed, for reproduction
        ///
        /// Up to 64 hexadecimal digits. Without it the operating system draws a fresh one for every
        /// run. Someone who knows the seed can prepare for the inputs, so leave it out when kernels
        /// are not trusted.
        #[arg(long, value_name = "HEX")]
        seed: Option<MasterSeed> => Line "--seed 1f2e";

        #[command(flatten)]
        cases: SamplingArguments;

        /// Flush this much cache before every call [default: twice a GPU's L2 cache, 8MiB on the
        /// CPU device]
        ///
        /// `8MiB`, `512KiB`, `64MB`, or bytes; `0` measures with a warm cache. On the CPU device
        /// the whole cache is not the default: shared machines report caches of hundreds of MiB.
        #[arg(long, value_name = "SIZE", value_parser = parse_size)]
        flush_bytes: Option<u64> => Profile "--flush-bytes 256MiB";

        /// How the cache is flushed
        ///
        /// `read` leaves no dirty lines behind that the kernel would have to write back; `write`
        /// does.
        #[arg(long, value_name = "HOW", default_value = "read", value_parser = flush_kinds())]
        flush: Flush => Profile "--flush write";
    }

    #[command(next_help_heading = "Baseline options")]
    pub(super) struct BaselineArguments {
        /// Save the results under this name
        ///
        /// A name, such as `main`, is a baseline in the target directory; with a path separator, or
        /// where it ends in `.json`, it is a file. What is there is replaced when the run has come
        /// to its end; results of benchmarks that were not selected stay in it as they were.
        #[arg(short, long, value_name = "NAME")]
        save_baseline: Option<RunName> => Profile "--save-baseline main";

        /// Compare with the results saved under this name
        ///
        /// A regression makes the command exit with 3. A selected benchmark that the baseline lacks
        /// is an error before anything is measured.
        #[arg(short, long, visible_alias = "compare", value_name = "NAME", conflicts_with = "baseline_lenient")]
        baseline: Option<RunName> => Profile "--baseline main";

        /// Like `--baseline`, and benchmarks that the baseline lacks are listed as new
        #[arg(long, value_name = "NAME")]
        baseline_lenient: Option<RunName> => Profile "--baseline-lenient main --save-baseline pr";

        /// Measure nothing, and take the results saved under this name instead
        ///
        /// With `--baseline` they are compared; filters choose among them.
        #[arg(long, value_name = "NAME",
            conflicts_with_all = ["list", "no_run", "test", "profile_time", "archive_file", "axis", "ignored",
            "partition"])]
        load_baseline: Option<RunName> => Line "--load-baseline pr --baseline main";

        /// Measure in turns with another revision, and compare with it
        ///
        /// A branch, a tag or a hash: `cargo gpubench --against main`. The revision is checked out
        /// below the target directory and built as the sources here are; the windows of the two
        /// then take turns on the device, so that drift hits both alike. What is not committed is
        /// part of the sources here. A regression makes the command exit with 3. Where five rounds
        /// do not decide a case there are up to 20, unless `--workers` says how many.
        #[arg(long, value_name = "GIT-REV",
            conflicts_with_all = ["baseline", "baseline_lenient", "load_baseline", "archive_file", "list",
            "no_run"])]
        against: Option<String> => Line "--against main";

        /// Measure in turns with what is in this archive, and compare with that
        ///
        /// As `--against`, for machines without sources: `cargo-gpubench gpubench --archive-file
        /// new.tar.gz --against-archive old.tar.gz`. Without `--archive-file` the sources here are
        /// built and compared with the archive. It is unpacked to a temporary folder. A regression
        /// makes the command exit with 3.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
            conflicts_with_all = ["against", "baseline", "baseline_lenient", "load_baseline", "list", "no_run"])]
        against_archive: Option<Utf8PathBuf> => Profile "--archive-file new.tar.gz --against-archive old.tar.gz";

        /// Keep nothing of this run: no baseline, no history
        ///
        /// It overrides what the environment and the configuration say.
        #[arg(long)]
        discard_baseline: bool => Line "-P ci --discard-baseline";

        #[command(flatten)]
        judging: JudgingArguments;

        /// Add the times of this run to the history of the device
        ///
        /// `cargo gpubench history` shows it. From ten runs on, comparisons take their noise
        /// threshold from it.
        #[arg(long)]
        history: bool => Profile "--history";

        /// Keep histories in this folder instead of the target directory
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        history_dir: Option<Utf8PathBuf> => Profile "--history-dir ~/gpubench-history";
    }

    #[command(next_help_heading = "Baseline options")]
    pub(super) struct ChangeArguments {
        #[command(flatten)]
        noise: NoiseArguments;

        /// How sure the intervals of a comparison are: `99%`, `0.99`
        #[arg(long, value_name = "FRACTION", default_value_t = Fraction::of(Confidence::DEFAULT.fraction()))]
        confidence_level: Fraction => Profile "--confidence-level 95%";

        /// Compare also what was measured on another device, with another driver or in another mode
        ///
        /// What differs is listed. Without the option such results are shown and not compared.
        #[arg(long)]
        allow_different_setups: bool => Profile "--allow-different-setups";
    }

    #[command(next_help_heading = "Baseline options")]
    pub(super) struct JudgingArguments {
        #[command(flatten)]
        change: ChangeArguments;

        /// Exit with 0 even where a comparison finds a regression
        #[arg(long)]
        no_fail_on_regression: bool => Profile "--no-fail-on-regression";

        /// Exit with 6 where a comparison could not judge benchmarks that both sides have
        ///
        /// They are inconclusive, or not compared: measured on another device, without samples.
        /// `all` means every one of them, and where there are none; `any` means one is enough;
        /// `never` warns where nothing was judged. A regression counts more.
        #[arg(long, value_name = "WHEN", default_value = "never")]
        fail_on_inconclusive: OnInconclusive => Profile "--fail-on-inconclusive all";
    }

    #[command(next_help_heading = "Output options")]
    pub(super) struct OutputArguments {
        /// Write results to standard output for people or for programs
        ///
        /// `json` is one object a line, each with `reason` and `schema_version`; whatever is for
        /// people then goes to standard error.
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        message_format: MessageFormat => Profile "--message-format json > results.jsonl";

        /// Colour the output
        ///
        /// `auto` colours on a terminal and respects `NO_COLOR` and `CLICOLOR_FORCE`. Without the
        /// option `CARGO_TERM_COLOR` counts. Progress is shown on a terminal unless
        /// `CARGO_TERM_PROGRESS_WHEN` is `never`.
        #[arg(long, value_name = "WHEN", global = true)]
        color: Option<Color> => Profile "--color always | less -R";

        /// Show failures and the summary only
        #[arg(short, long, conflicts_with = "verbose", overrides_with = "quiet")]
        quiet: bool => Profile "--quiet";

        /// Show details of every case as well
        #[arg(short, long, overrides_with = "verbose")]
        verbose: bool => Profile "--verbose reduction";

        /// Show what kernels, benchmark functions, generators and references print, as they print
        /// it
        ///
        /// It goes to standard error. Without the option the last of it is shown, and only where a
        /// kernel fails or a process ends.
        #[arg(long, visible_alias = "nocapture")]
        no_capture: bool => Profile "--no-capture";

        /// Write the results to this file as well, as `--message-format json` prints them
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        export_json: Option<OutputTarget> => Profile "--export-json results.jsonl";

        /// Write the results to this file as well, a row a case
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        export_csv: Option<OutputTarget> => Profile "--export-csv results.csv";

        /// Write the results to this file as well, as a Markdown table
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        export_markdown: Option<OutputTarget> => Profile "--export-markdown results.md";

        /// Write the results to this file as well, as JUnit's XML, which most CI services show
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        export_junit: Option<OutputTarget> => Profile "--export-junit results.xml";

        /// Write a page about the run as well: `html`, or `html=FILE` to say where
        ///
        /// The page is one file that needs no network and no script. Without FILE it is
        /// `gpubench/report.html` in the target directory; `html=-` is standard output, and the
        /// table then goes to standard error. `cargo gpubench report` makes it from stored results.
        #[arg(long, value_name = "KIND")]
        report: Option<PageTarget> => Profile "--report html=page.html";
    }

    #[command(next_help_heading = "Archive options")]
    pub(super) struct UnpackArguments {
        /// Run what is in this archive instead of building
        ///
        /// `cargo gpubench archive` makes one. Neither cargo nor sources are needed here; cargo's
        /// options have no meaning.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["CargoArguments", "no_run"])]
        archive_file: Option<Utf8PathBuf> => Line "--archive-file kernels.tar.gz";

        /// Unpack the archive to this folder and keep it
        ///
        /// Without it the archive is unpacked to a temporary folder, which is removed at the end.
        #[arg(long, value_name = "DIRECTORY", requires = "archive_file")]
        extract_to: Option<Utf8PathBuf> => Line "--archive-file kernels.tar.gz --extract-to kernels";

        /// Unpack even if the folder of `--extract-to` is not empty
        ///
        /// Files of the same names are replaced, others are left.
        #[arg(long, requires = "extract_to")]
        extract_overwrite: bool => Line "--archive-file kernels.tar.gz --extract-to kernels --extract-overwrite";
    }

    #[command(next_help_heading = "Configuration options")]
    pub(super) struct ConfigurationArguments {
        /// Use the settings of this profile of the configuration file
        ///
        /// `-P ci` is `[profile.ci]` in `.config/gpubench.toml` at the root of the workspace.
        /// Cargo's own profile is given by `--cargo-profile`.
        #[arg(short = 'P', long, value_name = "NAME", default_value = DEFAULT_PROFILE, global = true)]
        profile: String => Line "--profile ci";

        /// Read this configuration file instead of `.config/gpubench.toml`
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, global = true)]
        config_file: Option<Utf8PathBuf> => Line "--config-file nightly.toml";
    }

    pub(super) struct CargoArguments {
        /// Benchmark this package
        ///
        /// A name, `name@version`, a package identifier or a pattern such as `kernels-*`. May be
        /// given several times.
        #[arg(short, long, value_name = "SPEC", help_heading = "Package selection")]
        package: Vec<PackageSpec> => Line "--package row-sums --package 'kernels-*'";

        /// Benchmark every package of the workspace that depends on `gpubench-runtime`
        #[arg(long, visible_alias = "all", help_heading = "Package selection")]
        workspace: bool => Line "--workspace";

        /// Leave this package of the workspace out
        #[arg(long, value_name = "SPEC", help_heading = "Package selection", requires = "workspace")]
        exclude: Vec<PackageSpec> => Line "--workspace --exclude slow-kernels";

        /// Activate these features, separated by commas or spaces
        ///
        /// What benchmarks of a package always need is said once, by `features = ["bench"]` in its
        /// `[package.metadata.gpubench]`.
        #[arg(short = 'F', long, value_name = "FEATURES", help_heading = "Feature selection")]
        features: Vec<String> => Profile "--features fp8,bf16";

        /// Activate all features of the selected packages
        #[arg(long, help_heading = "Feature selection")]
        all_features: bool => Line "--all-features";

        /// Do not activate the `default` feature
        #[arg(long, help_heading = "Feature selection")]
        no_default_features: bool => Line "--no-default-features";

        /// Build with this cargo profile
        ///
        /// The default is `gpubench`, which inherits `bench`; add to it with `[profile.gpubench]`.
        #[arg(long, value_name = "NAME", help_heading = "Compilation options", default_value = "gpubench")]
        cargo_profile: Profile => Line "--cargo-profile release";

        /// Put what is built into this directory
        #[arg(long, value_name = "DIRECTORY", help_heading = "Compilation options")]
        target_dir: Option<Utf8PathBuf> => Line "--target-dir /tmp/target";

        /// Run this many compilers at a time
        #[arg(short = 'j', long, alias = "jobs", value_name = "N", help_heading = "Compilation options", value_parser = parse_jobs,
            allow_hyphen_values = true)]
        build_jobs: Option<String> => Line "--build-jobs 8";

        /// Use the package or workspace of this `Cargo.toml`
        #[arg(long, value_name = "PATH", help_heading = "Manifest options")]
        manifest_path: Option<Utf8PathBuf> => Line "--manifest-path kernels/Cargo.toml";

        /// Require that `Cargo.lock` stays as it is
        #[arg(long, help_heading = "Manifest options")]
        locked: bool => Line "--locked";

        /// Run without the network
        #[arg(long, help_heading = "Manifest options")]
        offline: bool => Line "--offline";

        /// Like `--locked` and `--offline` together
        #[arg(long, help_heading = "Manifest options")]
        frozen: bool => Line "--frozen";

        /// Override a cargo configuration value
        #[arg(long, value_name = "KEY=VALUE|PATH", help_heading = "Manifest options")]
        config: Vec<String> => Line "--config 'build.rustflags=\"-Ctarget-cpu=native\"'";
    }

    #[command(next_help_heading = "Manifest options")]
    pub(super) struct PlaceArguments {
        /// Take histories from this folder instead of the target directory
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        history_dir: Option<Utf8PathBuf> => Profile "--history-dir ~/gpubench-history";

        /// Look for baselines and histories in this target directory
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        target_dir: Option<Utf8PathBuf> => Line "--target-dir /tmp/target";

        /// Look for baselines and histories of the workspace of this `Cargo.toml`
        #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
        manifest_path: Option<Utf8PathBuf> => Line "--manifest-path kernels/Cargo.toml";
    }

    #[command(next_help_heading = "Measurement options")]
    pub(super) struct DeviceArguments {
        /// Measure on this kind of device
        ///
        /// `auto` is the first GPU where there is one, and otherwise the CPU device, whose times
        /// say nothing about a GPU. `cuda` demands a GPU, `cuda:1` the second of several, `cpu` the
        /// CPU device.
        #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = DeviceParser,
            hide_possible_values = true)]
        device: (DeviceChoice, u32) => Profile "--device cuda:1";

        /// Compile kernels for a GPU with this NVRTC
        ///
        /// A library (`libnvrtc.so.13`) or a folder that has one: a toolkit, or the `site-packages`
        /// of Python. Without it the toolkit in `CUDA_HOME` or `CUDA_PATH`, those in `/usr/local`,
        /// the loader's path and Python's `nvidia` packages are searched, in this order.
        #[arg(long, value_name = "PATH")]
        nvrtc: Option<PathBuf> => Profile "--nvrtc /usr/local/cuda";

        /// Compile kernels for a GPU with this nvcc, where NVRTC cannot
        ///
        /// A program, or a folder that has one: a toolkit, or the `site-packages` of Python. nvcc
        /// compiles sources with `compiler = nvcc` and those that NVRTC refuses. Without the option
        /// `NVCC`, what is beside the NVRTC that `--nvrtc` names, the path, toolkits and Python's
        /// packages are searched, in this order.
        #[arg(long, value_name = "PATH")]
        nvcc: Option<PathBuf> => Profile "--nvcc /usr/local/cuda/bin/nvcc";
    }
}

#[cfg(test)]
mod reference;
