use std::time::Duration;

use camino::Utf8PathBuf;
use gpubench::catalog::DeviceKind;

use super::*;
use crate::broker::cases::{IgnoredSelection, NameFilter, NamePattern};
use crate::broker::options::{
    CaseOptions, DeviceChoice, ExportFormat, MasterSeed, MessageFormat, OpponentSource, Verbosity,
};
use crate::cdylibs::{BuildOptions, PackageSelection, Profile};
use crate::cli::described_verb;
use crate::cli::{Environment, Unresolved, Verb, resolve};
use gpubench_device::cuda::Architecture;
use gpubench_measure::clients::Output;
use gpubench_measure::measurement::{Energy, PassCriteria, Rest};
use gpubench_report::Color;
use gpubench_stats::InterimAnalyses;

fn parse(arguments: &[&str]) -> Result<GpubenchArguments, Unresolved> {
    let all = ["cargo-gpubench", "gpubench"].iter().chain(arguments);
    let all: Vec<_> = all.map(Into::into).collect();
    match resolve(&all, &Environment::default(), &|_| None)?.verb {
        Verb::Gpubench(arguments) => Ok(*arguments),
        other => panic!("another verb: {other:?}"),
    }
}

fn options(arguments: &[&str]) -> RunOptions {
    parse(arguments)
        .expect("arguments")
        .into_options(&described_verb())
        .expect("options")
}

fn build(options: &RunOptions) -> &BuildOptions {
    match &options.libraries {
        LibrarySource::Build(build) => build,
        other => panic!("no build: {other:?}"),
    }
}

fn refusal(arguments: &[&str]) -> String {
    match parse(arguments) {
        Err(Unresolved::CommandLine(error)) => {
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        }
        Err(Unresolved::Expected(error)) => gpubench_diagnostic::chain(error.as_error()),
        Ok(arguments) => arguments
            .into_command(&described_verb())
            .expect_err("a refusal")
            .to_string(),
    }
}

#[test]
fn the_defaults_are_as_documented() {
    let options = options(&[]);
    assert_eq!(options.action, Action::Measure);
    assert_eq!(options.device.choice, DeviceChoice::Auto);
    assert_eq!(options.measurement.seed, MasterSeed::Fresh);
    assert_eq!(options.measurement.flush_bytes, None);
    let CaseOptions {
        calls_per_sample,
        workers,
        analyses,
        noise_threshold,
        warmup_time,
        energy,
        rest,
        stopping,
        criteria,
        window_within,
        reference_within,
    } = options.measurement.everywhere();
    assert_eq!(criteria, PassCriteria::default());
    assert_eq!(calls_per_sample, None);
    assert_eq!(
        (warmup_time, energy, rest),
        (Duration::ZERO, Energy::Ignored, Rest::Skipped)
    );
    assert_eq!(stopping.sample_time, Duration::MAX);
    assert_eq!(options.measurement.schedule, None);
    assert_eq!((workers.get(), analyses), (10, InterimAnalyses::UntilDecided));
    assert_eq!(noise_threshold, 0.01);
    assert_eq!(
        (stopping.target_cv, stopping.min_samples, stopping.max_samples),
        (0.01, 20, 1000)
    );
    assert_eq!(stopping.max_time, Duration::from_secs(2));
    assert_eq!(
        (window_within, reference_within),
        (Duration::from_secs(10), Duration::from_secs(60))
    );
    assert!(matches!(build(&options).packages, PackageSelection::Default));
    assert_eq!(build(&options).compilation.profile, Profile::Gpubench);
}

#[test]
fn all_options_are_passed_on() {
    let options = options(&[
        "grayscale",
        "softmax",
        "--skip",
        "slow",
        "--include-ignored",
        "--axis",
        "width=1,2",
        "--device",
        "cpu",
        "--threads",
        "2",
        "--seed",
        "0xff",
        "--timeout",
        "500ms",
        "--reference-timeout",
        "1min",
        "--workers",
        "3",
        "--target-cv",
        "0.5%",
        "--min-samples",
        "5",
        "--max-samples",
        "6",
        "--max-time",
        "3s",
        "--flush-bytes",
        "1MiB",
        "--fail-fast",
        "--message-format",
        "json",
        "--color",
        "never",
        "-q",
        "--export-csv",
        "a.csv",
        "--export-json",
        "a.json",
        "--no-capture",
        "-F",
        "a,b",
        "--no-default-features",
        "--workspace",
        "--exclude",
        "x",
        "--cargo-profile",
        "release",
        "-j",
        "3",
        "--locked",
        "--offline",
    ]);
    let NameFilter { filters, skip, .. } = &options.cases.names;
    assert_eq!((filters.len(), skip.len()), (2, 1));
    assert!(
        filters
            .iter()
            .chain(skip)
            .all(|name| matches!(name, NamePattern::Search(_)))
    );
    assert_eq!(options.cases.ignored, IgnoredSelection::Include);
    assert_eq!(options.cases.axes.len(), 1);
    assert_eq!(options.device.choice, DeviceChoice::Kind(DeviceKind::Cpu));
    assert_eq!(options.device.threads.map(|threads| threads.get()), Some(2));
    let mut seed = [0; 32];
    seed[31] = 0xff;
    assert_eq!(options.measurement.seed, MasterSeed::Pinned(seed));
    let CaseOptions {
        workers,
        analyses,
        stopping,
        window_within,
        reference_within,
        ..
    } = options.measurement.everywhere();
    assert_eq!((workers.get(), analyses), (3, InterimAnalyses::Once));
    assert_eq!(window_within, Duration::from_millis(500));
    assert_eq!(reference_within, Duration::from_secs(60));
    assert_eq!(stopping.target_cv, 0.005);
    assert_eq!(options.measurement.flush_bytes, Some(1 << 20));
    assert!(options.fail_fast);
    assert_eq!(options.output.format, MessageFormat::Json);
    assert_eq!(options.output.verbosity, Verbosity::Quiet);
    assert_eq!(options.output.user_output, Output::Shown);
    let formats: Vec<_> = options.output.exports.iter().map(|export| export.format).collect();
    assert_eq!(formats, [ExportFormat::Json, ExportFormat::Csv]);
    assert_eq!(build(&options).features.features, ["a", "b"]);
    assert_eq!(build(&options).features.flags, ["--no-default-features"]);
    assert!(matches!(&build(&options).packages, PackageSelection::Workspace { exclude } if exclude.len() == 1));
    assert_eq!(
        build(&options).compilation.profile,
        Profile::Named("release".to_owned())
    );
    assert_eq!(build(&options).compilation.jobs.as_deref(), Some("3"));
    assert_eq!(build(&options).manifest.lock_flags, ["--locked", "--offline"]);
    assert_eq!(build(&options).color, gpubench_report::Color::Never);
    assert!(build(&options).quiet);
}

#[test]
fn values_out_of_range_are_refused_with_a_reason() {
    for (arguments, reason) in [
        (&["--target-cv", "0"][..], "above 0"),
        (&["--target-cv=-1"], "above 0"),
        (&["--target-cv", "200"], "below 100%"),
        (&["--target-cv", "2"], "write `2%` or `0.02`"),
        (&["--min-samples", "0"], "from 1 to"),
        (&["--workers", "0"], "from 1 to 64"),
        (&["--workers", "65"], "from 1 to 64"),
        (&["--threads", "0"], "from 1 to 1024"),
        (&["--threads", "1025"], "from 1 to 1024"),
        (&["--flush", "sideways"], "possible values"),
        (&["--seed", "xyz"], "hex"),
        (&["--timeout", "0s"], "longer than zero"),
        (&["--flush-bytes", "8XB"], "unit"),
        (&["--axis", "width"], "name=value"),
        (&["--device", "tpu"], "use `auto`, `cpu`, `cuda`"),
        (&["--package", "a@b"], "version"),
        (&["--cargo-profile", "test"], "cannot build a library"),
        (&["--exclude", "a"], "--workspace"),
        (&["--list", "--no-run"], "cannot be used with"),
        (&["--test", "--list"], "cannot be used with"),
        (&["--test", "--baseline", "main"], "cannot be used with"),
        (&["--test", "--against", "main"], "cannot be used with"),
        (&["--test", "--against-archive", "a"], "cannot be used with"),
        (&["--list", "--against-archive", "a"], "cannot be used with"),
        (&["--against", "main", "--against-archive", "a"], "cannot be used with"),
        (&["--baseline", "main", "--against-archive", "a"], "cannot be used with"),
        (&["--against", "main", "--archive-file", "a"], "cannot be used with"),
        (&["--profile-time", "1s", "--history"], "cannot be used with"),
        (&["--test", "--profile-time", "1s"], "cannot be used with"),
        (&["--test", "--report", "html"], "cannot be used with"),
        (
            &["--load-baseline", "a", "--partition", "hash:1/2"],
            "cannot be used with",
        ),
        (
            &["--baseline", "a.json", "--export-json", "a.json"],
            "`a.json` is an input",
        ),
        (
            &["--load-baseline", "a.jsonl", "--report", "html=a.jsonl"],
            "`a.jsonl` is an input",
        ),
        (&["report", "a.json", "--output", "a.json"], "`a.json` is an input"),
        (
            &["report", "a", "--compare", "b.json", "-o", "b.json"],
            "`b.json` is an input",
        ),
        (&["--profile-time", "0s"], "longer than zero"),
        (&["--ignored", "--include-ignored"], "cannot be used with"),
        (&["-q", "-v"], "cannot be used with"),
        (&["--build-jobs", "0"], "jobs"),
        (&["--archive-file", "a", "--package", "x"], "cannot be used with"),
        (&["--archive-file", "a", "--offline"], "cannot be used with"),
        (
            &["--archive-file", "a", "--cargo-profile", "gpubench"],
            "cannot be used with",
        ),
        (&["--archive-file", "a", "--no-run"], "cannot be used with"),
        (&["--extract-to", "a"], "--archive-file"),
        (&["--archive-file", "a", "--extract-overwrite"], "--extract-to"),
        (&["archive"], "--archive-file"),
        (&["archive", "--archive-file", "a", "--gpu-arch", "hopper"], "sm_90"),
        (&["archive", "--archive-file", "a", "--list"], "--list"),
    ] {
        let text = refusal(arguments);
        assert!(text.contains(reason), "{arguments:?}: {text}");
    }
}

#[test]
fn limits_on_samples_must_not_contradict_each_other() {
    let text = refusal(&["--min-samples", "30", "--max-samples", "20"]);
    assert_eq!(text, "`min-samples` 30 is more than `max-samples` 20");
}

#[test]
fn a_filter_is_a_regex_unless_it_is_exact() {
    assert_eq!(
        refusal(&["reduce<("]),
        "the filter `reduce<(` is not a regular expression"
    );
    assert_eq!(refusal(&["--skip", "["]), "the filter `[` is not a regular expression");
    let options = options(&["--exact", "reduce<("]);
    assert!(matches!(&options.cases.names.filters[..], [NamePattern::Exact(name)] if name == "reduce<("));
}

#[test]
fn a_run_from_an_archive_builds_nothing() {
    let libraries = |arguments| match options(arguments).libraries {
        LibrarySource::Archive { archive, extract_to } => (archive, extract_to),
        other => panic!("no archive: {other:?}"),
    };
    let archive = || Utf8PathBuf::from("a.tar.gz");
    assert_eq!(
        libraries(&["--archive-file", "a.tar.gz", "grayscale"]),
        (archive(), ExtractTo::Temporary)
    );
    assert_eq!(
        libraries(&["--archive-file", "a.tar.gz", "--extract-to", "x", "--extract-overwrite"]),
        (
            archive(),
            ExtractTo::Kept {
                folder: "x".into(),
                overwrite: true
            }
        )
    );
}

#[test]
fn an_archive_is_compared_with_what_is_built_and_with_another_archive() {
    let old = || Some(OpponentSource::Archive("old.tar.gz".into()));
    let built = options(&["--against-archive", "old.tar.gz"]);
    assert_eq!(built.results.against, old());
    assert!(matches!(built.libraries, LibrarySource::Build(_)));
    let archived = options(&["--archive-file", "new.tar.gz", "--against-archive", "old.tar.gz"]);
    assert_eq!(archived.results.against, old());
    assert!(matches!(archived.libraries, LibrarySource::Archive { .. }));
}

#[test]
fn an_archive_contains_what_a_run_would_build() {
    let arguments = parse(&[
        "archive",
        "--archive-file",
        "a.tar.gz",
        "--gpu-arch",
        "sm_90",
        "--gpu-arch",
        "8.0",
        "-p",
        "x",
        "--locked",
        "-q",
    ]);
    match arguments
        .expect("arguments")
        .into_command(&described_verb())
        .expect("a command")
    {
        Command::Archive(options) => {
            assert_eq!(options.archive, "a.tar.gz");
            assert_eq!(options.architectures, [90, 80].map(Architecture::of_capability));
            assert!(matches!(&options.build.packages, PackageSelection::Named(names) if names.len() == 1));
            assert_eq!(options.build.manifest.lock_flags, ["--locked"]);
            assert_eq!(options.output.verbosity, Verbosity::Quiet);
        }
        other => panic!("no archive: {other:?}"),
    }
}

#[test]
fn doctor_takes_a_device() {
    let arguments = parse(&[
        "doctor",
        "--device",
        "cuda:1",
        "--message-format",
        "json",
        "--color",
        "never",
    ]);
    let arguments = arguments.expect("arguments");
    assert_eq!(arguments.color(), Color::Never);
    match arguments.into_command(&described_verb()).expect("a command") {
        Command::Doctor(options) => {
            assert_eq!(
                (options.device.choice, options.device.ordinals),
                (DeviceChoice::Kind(DeviceKind::Cuda), gpubench_device::Ordinals::one(1))
            );
            assert_eq!(options.format, MessageFormat::Json);
        }
        other => panic!("no doctor: {other:?}"),
    }
}

#[test]
fn a_filter_may_have_the_name_of_a_subcommand() {
    for arguments in [&["--", "archive"][..], &["other", "archive"]] {
        assert!(
            matches!(options(arguments).cases.names.filters[..], [NamePattern::Search(_), ..]),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_first_filter_may_be_a_misspelt_subcommand() {
    let meant = |arguments: &[&str]| options(arguments).cases.meant;
    assert_eq!(meant(&["comapre"]).as_deref(), Some("the subcommand `compare`"));
    assert_eq!(meant(&["grayscale"]), None);
    assert_eq!(
        meant(&["comapre", "main", "feature"]).as_deref(),
        Some("the subcommand `compare`")
    );
    assert_eq!(meant(&["grayscale", "comapre"]), None);
}

#[test]
fn help_is_a_subcommand_too() {
    let help = |arguments: &[&str]| match parse(arguments) {
        Err(Unresolved::CommandLine(error)) if error.exit_code() == 0 => error.to_string(),
        other => panic!("no help: {other:?}"),
    };
    let of_compare = help(&["help", "compare"]);
    assert!(of_compare.contains("Compare stored runs"), "{of_compare}");
    assert!(help(&["help"]).contains("Benchmark GPU kernels"));
}

#[test]
fn a_run_measures_checks_or_serves_a_profiler() {
    assert_eq!(options(&[]).action, Action::Measure);
    assert_eq!(options(&["--test"]).action, Action::Test);
    assert_eq!(
        options(&["--profile-time", "5s"]).action,
        Action::Profile(Duration::from_secs(5))
    );
}

#[test]
fn compatibility_flags_of_cargo_bench_have_no_effect() {
    let options = options(&["--bench", "--show-output", "--noplot", "--nocapture", "add1"]);
    assert_eq!(options.action, Action::Measure);
    assert_eq!(options.output.user_output, Output::Shown);
}

#[test]
fn filters_may_follow_two_dashes() {
    assert!(matches!(
        options(&["--", "--odd"]).cases.names.filters[..],
        [NamePattern::Search(_)]
    ));
}

#[test]
fn a_repeat_command_has_the_options_of_the_build_and_the_measurement() {
    let repeated = |arguments: &[&str]| options(arguments).repeated.join(" ");
    let chooses = [
        "--ignored",
        "--package a",
        "--package b",
        "--features fp8,bf16",
        "--no-default-features",
        "--cargo-profile release",
        "--target-dir there",
        "--manifest-path kernels/Cargo.toml",
        "--locked",
        "--config build.jobs=1",
        "--profile default",
        "--device cpu",
        "--threads 2",
        "--schedule 7",
        "--test",
        "--timeout 1s",
    ];
    let line: Vec<&str> = chooses.iter().flat_map(|option| option.split(' ')).collect();
    assert_eq!(repeated(&line), chooses.join(" "));
    assert_eq!(
        repeated(&["-p", "a", "-F", "x", "-P", "default"]),
        "--package a --features x --profile default"
    );
    assert_eq!(
        repeated(&["--workspace", "--exclude", "slow"]),
        "--workspace --exclude slow"
    );
    let archive = [
        "--archive-file",
        "k.tar.gz",
        "--extract-to",
        "there",
        "--extract-overwrite",
    ];
    assert_eq!(repeated(&archive), "--archive-file k.tar.gz");
    assert_eq!(repeated(&["--target-dir=-odd"]), "--target-dir=-odd");
}

#[test]
fn a_repeat_command_has_no_filters_outputs_or_baselines() {
    let others = [
        "--skip=x",
        "--exact",
        "--axis=n=1",
        "--partition=hash:1/2",
        "--seed=1",
        "-q",
        "--no-capture",
        "--fail-fast",
        "--export-json=r.jsonl",
        "--report=html",
        "--save-baseline=a",
        "--baseline=b",
        "--history",
        "-j2",
        "filter",
    ];
    assert_eq!(options(&others).repeated, [""; 0]);
}

#[test]
fn an_archive_for_a_gpu_that_there_cannot_be_is_refused() {
    for (architecture, expected) in [
        ("sm_999", "no GPU has architecture `sm_999`"),
        ("sm_12", "`sm_12` is not a GPU architecture"),
        ("sm_60", "`sm_60` GPUs are not supported"),
    ] {
        let refusal = refusal(&["archive", "--archive-file", "a.tar.gz", "--gpu-arch", architecture]);
        assert!(refusal.contains(expected), "{refusal}");
    }
}

#[test]
fn a_dash_is_standard_output_for_every_export_and_for_the_page() {
    for arguments in [
        &["--export-json", "-"][..],
        &["--export-csv=-"],
        &["--export-samples", "-"],
        &["--export-markdown", "-", "--export-json", "run.jsonl"],
        &["--export-junit", "-"],
        &["--report", "html=-"],
    ] {
        assert!(options(arguments).gives_standard_output_away(), "{arguments:?}");
    }
    for arguments in [
        &["--export-json", "./-"][..],
        &["--message-format", "json"],
        &["--report=html"],
    ] {
        assert!(!options(arguments).gives_standard_output_away(), "{arguments:?}");
    }
}

#[test]
fn a_saved_baseline_and_an_export_never_share_a_file() {
    let refusal = refusal(&["--export-json", "run.json", "--save-baseline", "./run.json"]);
    assert!(
        refusal.starts_with("`--export-json` and `--save-baseline` both write to"),
        "{refusal}"
    );
}

#[test]
fn two_reports_never_share_standard_output() {
    for (arguments, expected) in [
        (
            &["--export-json", "-", "--export-csv", "-"][..],
            "`--export-json -` and `--export-csv -` both write to standard output",
        ),
        (
            &["--message-format", "json", "--export-markdown", "-"],
            "`--message-format json` and `--export-markdown -` both",
        ),
        (
            &["--report", "html=-", "--export-junit", "-"],
            "`--export-junit -` and `--report html=-` both",
        ),
        (
            &[
                "compare",
                "a",
                "b",
                "--message-format",
                "markdown",
                "--export-markdown",
                "-",
            ],
            "`--message-format markdown` and `--export-markdown -` both",
        ),
    ] {
        let refusal = refusal(arguments);
        assert!(refusal.starts_with(expected), "{refusal}");
    }
}
