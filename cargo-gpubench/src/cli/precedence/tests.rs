use std::time::Duration;

use camino::Utf8PathBuf;
use clap::CommandFactory;
use regex::Regex;

use super::*;
use crate::broker::options::{
    CaseOptions, DeviceChoice, ExportFormat, LibrarySource, MessageFormat, OpponentSource, OtherRuns, ResultOptions,
    RunOptions, Verbosity,
};
use crate::cli::Command;
use crate::cli::described_verb;
use crate::cli::option_kind::takes_a_value;
use crate::config::{CaseNames, DEFAULT_FILE, Switch, TimeLimit};
use gpubench_diagnostic::chain;
use gpubench_measure::clients::Output;
use gpubench_measure::measurement::Rest;

/// A workspace with a configuration.
struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn with(configuration: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(DEFAULT_FILE);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
        std::fs::write(file, configuration).expect("a file");
        Self { folder }
    }

    fn root(&self) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.folder.path().to_owned()).expect("UTF-8")
    }

    fn resolve(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<Resolved, Unresolved> {
        resolve(&command_line(arguments), &environment(variables), &|_| {
            Some(self.root())
        })
    }

    fn options(&self, arguments: &[&str], variables: &[(&str, &str)]) -> RunOptions {
        options(self.resolve(arguments, variables).expect("it makes sense"))
    }
}

#[test]
fn a_run_from_an_archive_asks_no_cargo_for_its_configuration() {
    let asked_for = |arguments: &[&str]| {
        let asked = std::cell::Cell::new(None);
        let find = |whose: ConfigurationOf<'_>| {
            asked.set(Some(whose == ConfigurationOf::Folder));
            None
        };
        resolve(&command_line(arguments), &environment(&[]), &find).expect("it makes sense");
        asked.get()
    };
    assert_eq!(asked_for(&["--archive-file", "suite.tar.gz"]), Some(true));
    assert_eq!(asked_for(&["--test"]), Some(false));
}

fn command_line(arguments: &[&str]) -> Vec<OsString> {
    ["cargo-gpubench", "gpubench"]
        .iter()
        .chain(arguments)
        .map(Into::into)
        .collect()
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::from_variables(variables.iter().map(|(name, value)| (name.to_string(), value.into())))
}

fn without_configuration(arguments: &[&str], variables: &[(&str, &str)]) -> Result<Resolved, Unresolved> {
    resolve(&command_line(arguments), &environment(variables), &|_| None)
}

fn options(resolved: Resolved) -> RunOptions {
    match resolved.verb {
        Verb::Gpubench(arguments) => arguments.into_options(&described_verb()).expect("options"),
        other => panic!("another verb: {other:?}"),
    }
}

fn refusal(outcome: Result<Resolved, Unresolved>) -> String {
    match outcome.expect_err("a refusal") {
        Unresolved::Expected(error) => {
            assert_eq!(error.exit_code().number(), 2);
            chain(error.as_error())
        }
        Unresolved::CommandLine(error) => error.to_string(),
    }
}

/// The options of a command, whichever it is.
fn graded(resolved: Resolved) -> RunOptions {
    let Verb::Gpubench(arguments) = resolved.verb else {
        panic!("another verb");
    };
    match arguments.into_command(&described_verb()).expect("options") {
        Command::Run(options) => *options,
        other => panic!("another command: {other:?}"),
    }
}

#[test]
fn settings_of_cases_reach_a_grading_from_every_layer() {
    let workspace = Workspace::with("[profile.default]\nworkers = 7\ntimeout = '3s'\nmin-samples = 30\n");
    let variables = [("GPUBENCH_TIMEOUT", "4s")];
    let line = ["grade", "--problem", "sums", "--min-samples", "40", "a.cu", "-"];
    let options = graded(workspace.resolve(&line, &variables).expect("it makes sense"));
    let cases = &options.measurement.cases;
    assert_eq!(
        cases.profile.workers.map(|workers| workers.to_string()).as_deref(),
        Some("7")
    );
    assert_eq!(
        cases.given.timeout.map(|timeout| timeout.to_string()).as_deref(),
        Some("4s")
    );
    let grading = options.grading.expect("it grades");
    assert_eq!(grading.problem.as_deref(), Some("sums"));
    let places: Vec<String> = grading.submissions.iter().map(ToString::to_string).collect();
    assert_eq!(places, ["a.cu", "-"]);
    assert_eq!(
        options.repeated,
        ["grade", "--problem", "sums", "--timeout", "4s", "--min-samples", "40"]
    );
}

#[test]
fn no_configuration_names_an_archive_to_run() {
    let workspace = Workspace::with("[profile.default]\nagainst-archive = 'released.tar.gz'\n");
    let against = |variables: &[(&str, &str)]| workspace.options(&[], variables).results.against;
    assert_eq!(against(&[]), None);
    let other = Some(OpponentSource::Archive("other.tar.gz".into()));
    assert_eq!(against(&[("GPUBENCH_AGAINST_ARCHIVE", "other.tar.gz")]), other);
}

#[test]
fn a_configuration_names_no_file_outside_of_its_folder() {
    for (key, value) in [
        ("export-json", "/a.json"),
        ("export-csv", "../a.csv"),
        ("export-samples", "../a.csv"),
        ("export-markdown", "new/../../a.md"),
        ("export-junit", "link/a.xml"),
        ("report", "html=/a.html"),
        ("save-baseline", "/a.json"),
        ("baseline", "../b.json"),
        ("baseline-lenient", "../a.json"),
        ("history-dir", "/"),
    ] {
        let workspace = Workspace::with(&format!("[profile.default]\n{key} = '{value}'\n"));
        std::os::unix::fs::symlink("/", workspace.root().join("link")).expect("a link");
        let refused = refusal(workspace.resolve(&[], &[]));
        assert!(
            refused.contains(&format!("`{key}` names `")) && refused.contains("is outside of"),
            "{refused}"
        );
        // The command line and the environment say where files are.
        let option = format!("--{key}={value}");
        workspace.resolve(&[&option], &[]).expect("it is given");
        let variable = format!("GPUBENCH_{}", key.to_uppercase().replace('-', "_"));
        workspace.resolve(&[], &[(&variable, value)]).expect("it is given");
        // Other commands do not use the setting, and show it.
        workspace.resolve(&["show-config"], &[]).expect("it only shows");
        workspace.resolve(&["doctor"], &[]).expect("it does not use it");
    }
}

#[test]
fn a_configuration_names_neither_programs_nor_libraries() {
    let text = "[profile.default]\nnvcc = './evil'\nnvrtc = './evil.so'\nnvtx = true\n";
    let workspace = Workspace::with(text);
    for command in [&[][..], &["doctor"], &["archive", "--archive-file", "a.tar.gz"]] {
        let resolved = workspace.resolve(command, &[]).expect("it makes sense");
        let warnings: Vec<_> = resolved.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert!(
            warnings
                .iter()
                .all(|warning| warning.contains("only the command line and the environment")),
            "{warnings:?}"
        );
    }
    let options = workspace.options(&[], &[("GPUBENCH_NVCC", "/usr/bin/nvcc")]);
    assert!(!options.nvtx);
    assert_eq!(options.device.compilers.nvcc.as_deref(), Some("/usr/bin/nvcc".as_ref()));
    assert_eq!(options.device.compilers.nvrtc, None);
}

fn timeout(options: &RunOptions, package: CaseSettings) -> TimeLimit {
    let names = CaseNames {
        name: "sums::n=1",
        full_name: "rows::sums::n=1",
    };
    options.measurement.cases.of_case(names, package).timeout
}

#[test]
fn each_layer_overrides_the_next() {
    let package = CaseSettings {
        timeout: Some(TimeLimit::seconds(2)),
        ..CaseSettings::default()
    };
    let nothing = Workspace::with("");
    assert_eq!(
        timeout(&nothing.options(&[], &[]), CaseSettings::default()),
        TimeLimit::seconds(10),
        "built in"
    );
    assert_eq!(
        timeout(&nothing.options(&[], &[]), package),
        TimeLimit::seconds(2),
        "package over built-in"
    );

    let profile = Workspace::with("[profile.default]\ntimeout = '3s'\n");
    assert_eq!(
        timeout(&profile.options(&[], &[]), package),
        TimeLimit::seconds(3),
        "profile over package"
    );

    let with_override = "[profile.ci]\ntimeout = '3s'\n[[profile.ci.overrides]]\nfilter = '^sums'\ntimeout = '4s'\n";
    let all = Workspace::with(with_override);
    let chosen = [("GPUBENCH_PROFILE", "ci")];
    assert_eq!(
        timeout(&all.options(&[], &chosen), package),
        TimeLimit::seconds(4),
        "override over profile"
    );
    assert_eq!(
        all.options(&[], &chosen)
            .measurement
            .everywhere()
            .window_within
            .as_secs(),
        3
    );

    let variables = [("GPUBENCH_PROFILE", "ci"), ("GPUBENCH_TIMEOUT", "5s")];
    assert_eq!(
        timeout(&all.options(&[], &variables), package),
        TimeLimit::seconds(5),
        "environment over override"
    );
    let given = all.options(&["--timeout", "6s"], &variables);
    assert_eq!(
        timeout(&given, package),
        TimeLimit::seconds(6),
        "command line over environment"
    );
}

#[test]
fn the_noise_threshold_may_differ_between_cases() {
    let workspace = Workspace::with(
        "[profile.default]\nnoise-threshold = '3%'\n[[profile.default.overrides]]\nfilter = 'sums'\nnoise-threshold = 0.05\n",
    );
    let threshold = |options: &RunOptions, name| {
        let names = CaseNames { name, full_name: name };
        options
            .measurement
            .cases
            .of_case(names, CaseSettings::default())
            .noise_threshold
            .value()
    };
    let options = workspace.options(&[], &[]);
    assert_eq!(
        (threshold(&options, "sums"), threshold(&options, "other")),
        (0.05, 0.03)
    );
    let given = workspace.options(&["--noise-threshold", "2%"], &[]);
    assert_eq!((threshold(&given, "sums"), threshold(&given, "other")), (0.02, 0.02));
    assert_eq!(given.results.judging.noise_threshold, 0.02);
}

#[test]
fn every_source_sets_the_time_budgets_and_a_higher_one_takes_them_back() {
    let budgets = |options: &RunOptions| {
        let CaseOptions {
            warmup_time,
            rest,
            stopping,
            ..
        } = options.measurement.everywhere();
        (warmup_time.as_millis(), stopping.sample_time, rest)
    };
    let set = (25, Duration::from_millis(100), Rest::Taken);
    let unset = (0, Duration::MAX, Rest::Skipped);
    let keys = "warmup-time = '25ms'\nsample-time = '100ms'\ncooldown = true\n";
    let profile = Workspace::with(&format!("[profile.default]\n{keys}"));
    assert_eq!(budgets(&profile.options(&[], &[])), set);
    let taken_back = ["--warmup-time", "none", "--sample-time", "none", "--cooldown=false"];
    assert_eq!(budgets(&profile.options(&taken_back, &[])), unset);

    let environment = [
        ("GPUBENCH_WARMUP_TIME", "25ms"),
        ("GPUBENCH_SAMPLE_TIME", "100ms"),
        ("GPUBENCH_COOLDOWN", "1"),
    ];
    let nothing = Workspace::with("");
    assert_eq!(budgets(&nothing.options(&[], &environment)), set);
    assert_eq!(budgets(&nothing.options(&taken_back, &environment)), unset);
    let line = ["--warmup-time", "25ms", "--sample-time", "100ms", "--cooldown", "sums"];
    assert_eq!(budgets(&nothing.options(&line, &[("GPUBENCH_COOLDOWN", "no")])), set);

    let overriding = Workspace::with(&format!("[[profile.default.overrides]]\nfilter = 'sums'\n{keys}"));
    let cases = overriding.options(&[], &[]).measurement.cases;
    let settings = |name| cases.of_case(CaseNames { name, full_name: name }, CaseSettings::default());
    assert_eq!(settings("other").cooldown, Switch::Off);
    assert_eq!(settings("sums").cooldown, Switch::On);
    assert_eq!(settings("sums").sample_time.to_string(), "100ms");
    assert_eq!(settings("sums").warmup_time.to_string(), "25ms");
}

#[test]
fn a_value_equal_to_the_built_in_one_still_overrides_lower_layers() {
    let with_override = Workspace::with("[[profile.default.overrides]]\nfilter = 'sums'\ntimeout = '4s'\n");
    let given = with_override.options(&["--timeout", "10s"], &[]);
    assert_eq!(timeout(&given, CaseSettings::default()), TimeLimit::seconds(10));
}

#[test]
fn a_profile_sets_options_of_every_kind() {
    let workspace = Workspace::with(
        "gpubench-version = '0.1'\n[profile.ci]\ndevice = 'cpu'\nthreads = 2\nfail-fast = true\nno-capture = true\n\
         message-format = 'json'\ntarget-cv = '0.5%'\nflush-bytes = 0\nexport-csv = 'out/a.csv'\nexport-json = 'b.json'\n\
         skip = ['slow', 'flaky']\naxis = 'n=1,2'\nquiet = true\n",
    );
    let options = workspace.options(&["-P", "ci"], &[]);
    assert!(matches!(options.device.choice, DeviceChoice::Kind(_)));
    assert_eq!(options.device.threads.map(|threads| threads.get()), Some(2));
    assert!(options.fail_fast);
    assert_eq!(options.output.user_output, Output::Shown);
    assert_eq!(options.output.format, MessageFormat::Json);
    assert_eq!(options.output.verbosity, Verbosity::Quiet);
    let CaseOptions { stopping, .. } = options.measurement.everywhere();
    assert_eq!(stopping.target_cv, 0.005);
    assert_eq!(options.measurement.flush_bytes, Some(0));
    let facts = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN);
    assert_eq!(options.measurement.flushed_bytes(&facts), 0);
    let exports: Vec<_> = options
        .output
        .exports
        .iter()
        .map(|export| (export.format, export.outlet.file()))
        .collect();
    let [json, csv] = ["b.json", "out/a.csv"].map(|file| workspace.root().join(file));
    assert_eq!(
        exports,
        [(ExportFormat::Json, Some(&*json)), (ExportFormat::Csv, Some(&*csv))]
    );
    assert_eq!(options.cases.axes.len(), 1);
    let names = format!("{:?}", options.cases.names);
    assert!(names.contains("slow") && names.contains("flaky"), "{names}");
}

#[test]
fn the_command_line_can_undo_a_profile_and_the_environment() {
    let workspace = Workspace::with("[profile.default]\nfail-fast = true\nquiet = true\nskip = 'a'\n");
    let undone = workspace.options(&["--no-fail-fast", "-v"], &[]);
    assert!(!undone.fail_fast);
    assert_eq!(undone.output.verbosity, Verbosity::Verbose);
    let undone = workspace.options(&[], &[("GPUBENCH_FAIL_FAST", "0"), ("GPUBENCH_QUIET", "false")]);
    assert!(!undone.fail_fast);
    assert_eq!(undone.output.verbosity, Verbosity::Normal);
    let between = workspace.options(&[], &[("GPUBENCH_VERBOSE", "1")]);
    assert_eq!(between.output.verbosity, Verbosity::Verbose);
    let against_variable = workspace.options(&["-v"], &[("GPUBENCH_QUIET", "1")]);
    assert_eq!(against_variable.output.verbosity, Verbosity::Verbose);
    let keeping = Workspace::with("[profile.default]\nsave-baseline = 'main'\nhistory = true\n");
    assert_eq!(keeping.options(&["--test"], &[]).results, ResultOptions::default());
    let other_list = workspace.options(&["--skip", "b"], &[]);
    assert!(
        !format!("{:?}", other_list.cases.names).contains("\"a\""),
        "{:?}",
        other_list.cases.names
    );
}

#[test]
fn one_limit_on_samples_moves_the_other() {
    let options = options(without_configuration(&["--max-samples", "5"], &[]).expect("it makes sense"));
    let CaseOptions { stopping, .. } = options.measurement.everywhere();
    assert_eq!((stopping.min_samples, stopping.max_samples), (5, 5));
    let crossing = without_configuration(&[], &[("GPUBENCH_MIN_SAMPLES", "3"), ("GPUBENCH_MAX_SAMPLES", "2")]);
    assert_eq!(refusal(crossing), "`min-samples` 3 is more than `max-samples` 2");
}

#[test]
fn an_invalid_value_is_reported_with_its_position() {
    for (configuration, reason) in [
        (
            "timeout = 10",
            ":2: `timeout` has an invalid value: must be a number with a unit",
        ),
        (
            "flush = 'sideways'",
            ":2: `flush` has an invalid value: possible values: `read`, `write`",
        ),
        (
            "quiet = 'yes'",
            ":2: `quiet` must be `true` or `false`, not something else",
        ),
        (
            "device = true",
            ":2: `device` must be a string or a number, not a boolean",
        ),
        (
            "device = ['cpu']",
            ":2: `device` must be a string or a number, not a list",
        ),
        ("threads = 0", "from 1 to 1024"),
        (
            "skip = ['sums', '[']",
            ":2: `skip` has an invalid value: regex parse error",
        ),
        (
            "max-samples = 1\nmin-samples = 2",
            ":3: the limits on samples contradict each other",
        ),
    ] {
        let workspace = Workspace::with(&format!("[profile.default]\n{configuration}\n"));
        let text = refusal(workspace.resolve(&[], &[]));
        assert!(
            text.contains("gpubench.toml:") && text.contains(reason),
            "{configuration}: {text}"
        );
    }
    for (name, value, reason) in [
        (
            "GPUBENCH_TIMEOUT",
            "soon",
            "the environment variable `GPUBENCH_TIMEOUT` has the invalid value `soon`: must be",
        ),
        (
            "GPUBENCH_FAIL_FAST",
            "maybe",
            "the environment variable `GPUBENCH_FAIL_FAST` has the invalid value `maybe`: use `1`, `true`",
        ),
        ("GPUBENCH_COLOR", "blue", "possible values: `auto`, `always`, `never`"),
    ] {
        let text = refusal(without_configuration(&[], &[(name, value)]));
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn a_flag_in_the_environment_is_on_off_or_unset() {
    let fail_fast = |value: &str| {
        let resolved = without_configuration(&[], &[("GPUBENCH_FAIL_FAST", value)]);
        options(resolved.expect("it makes sense")).fail_fast
    };
    for on in ["1", "true", "TRUE", "yes", "on"] {
        assert!(fail_fast(on), "{on}");
    }
    for off in ["0", "false", "no", "Off", ""] {
        assert!(!fail_fast(off), "{off}");
    }
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let resolved = without_configuration(&[], &[("GPUBENCH_DEVICE", ""), ("GPUBENCH_TIMEOUT", "")]);
    assert_eq!(
        options(resolved.expect("it makes sense")).device.choice,
        DeviceChoice::Auto
    );
}

#[test]
fn a_variable_may_have_several_values_one_per_line() {
    let resolved = without_configuration(&[], &[("GPUBENCH_SKIP", "first,one\nsecond\n")]);
    let names = format!("{:?}", options(resolved.expect("it makes sense")).cases.names);
    assert!(names.contains("first,one") && names.contains("second"), "{names}");
}

#[test]
fn an_unknown_variable_is_reported_with_the_closest_one() {
    let variables = [
        ("GPUBENCH_WORKER", "3"),
        ("GPUBENCH_MAX_TIMES", "5s"),
        ("GPUBENCH_SOFTMAX", "1"),
        ("GPUBENCH_TIMEUOT", ""),
        ("GPUBENCH_VERSION", "0.1.0"),
        ("GPUBENCH_GPU_ARCH", "sm_90"),
        ("GPUBENCH_TIMEOUT", "5s"),
        ("CARGO_GPUBENCH_WORKER", "3"),
    ];
    let resolved = without_configuration(&[], &variables).expect("it makes sense");
    let warnings: Vec<_> = resolved.unknown_variables.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "the environment variable `GPUBENCH_MAX_TIMES` is unknown and has no effect (hint: did you mean `GPUBENCH_MAX_TIME`?)",
            "the environment variable `GPUBENCH_SOFTMAX` is unknown and has no effect",
            "the environment variable `GPUBENCH_WORKER` is unknown and has no effect (hint: did you mean `GPUBENCH_WORKERS`?)",
        ]
    );
}

#[test]
fn every_option_has_its_variable() {
    let mut app = App::command();
    app.build();
    let verb = gpubench(&app);
    let below = verb.get_subcommands().flat_map(clap::Command::get_arguments);
    for option in verb.get_arguments().chain(below).filter(|option| takes_a_value(option)) {
        if option.is_positional() {
            continue;
        }
        let long = option.get_long().expect("every option has a long name");
        let name = variable_of(option).expect("a variable");
        assert_eq!(name, format!("GPUBENCH_{}", long.replace('-', "_").to_uppercase()));
        let value = example_of(option);
        let offers = of_environment(&alone(option), &environment(&[(&name, &value)]));
        let offers = offers.unwrap_or_else(|error| panic!("{long}: {}", chain(&error)));
        assert_eq!(
            offers[option.get_id().as_str()].source,
            Source::Environment(name.clone()),
            "{long}"
        );
        assert_eq!(environment(&[(&name, &value)]).unknown(verb), [""; 0], "{long}");
    }
}

/// A command with an option that conflicts with no other and requires none.
fn alone(option: &Arg) -> clap::Command {
    let alone = Arg::new(option.get_id().clone()).long(option.get_long().expect("a long name").to_owned());
    let alone = alone.value_parser(option.get_value_parser().clone());
    clap::Command::new("alone").arg(alone.action(option.get_action().clone()))
}

/// Returns a valid value of an option.
fn example_of(option: &Arg) -> String {
    let fitting = |text: &&str| {
        let offers = of_environment(&alone(option), &environment(&[(&variable_of(option).unwrap(), text)]));
        offers.is_ok()
    };
    let texts = [
        "1",
        "10s",
        "10%",
        "cpu",
        "json",
        "always",
        "read",
        "n=1",
        "sm_90",
        "hash:1/2",
        "html",
        "bash",
        "(n)",
        "all",
        "notices",
        "sealed",
        "cold",
        "time",
        "memcheck",
        "ncu",
        "metrics.prom",
        "ptx",
        "reward.json",
    ];
    texts
        .iter()
        .find(|text| fitting(text))
        .unwrap_or_else(|| panic!("no example fits `--{}`", option.get_long().unwrap_or_default()))
        .to_string()
}

/// The output of `show-config --template`.
fn template() -> String {
    let resolved = without_configuration(&["show-config", "--template"], &[]).expect("it makes sense");
    match resolved.verb {
        Verb::Gpubench(arguments) => match arguments.into_command(&described_verb()).expect("a command") {
            Command::Print(text) => text,
            other => panic!("no text: {other:?}"),
        },
        other => panic!("another verb: {other:?}"),
    }
}

#[test]
fn the_template_sets_the_built_in_values() {
    let workspace = Workspace::with(&template());
    let resolved = workspace.resolve(&[], &[]).expect("it makes sense");
    assert_eq!(resolved.warnings, []);
    assert_eq!(
        format!("{:#?}", without_case_layers(options(resolved))),
        format!(
            "{:#?}",
            without_case_layers(options(without_configuration(&[], &[]).expect("it makes sense")))
        )
    );
    let unsaid = CaseSettings {
        mode: None,
        calls_per_sample: None,
        workers: None,
        ..CaseSettings::BUILT_IN
    };
    assert_eq!(
        workspace.options(&[], &[]).measurement.everywhere(),
        CaseOptions::from(unsaid),
        "a copy of the file says everything but the modes and numbers of calls and workers"
    );
}

#[test]
fn the_template_has_every_setting_with_its_built_in_value_or_an_example() {
    insta::assert_snapshot!(template());
    let examples = Regex::new("(?m)^# ([a-z-]+ = )").expect("an expression");
    let (settings, _) = template()
        .split_once("# Another profile")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("two parts");
    let all_set = examples.replace_all(&settings, "$1").into_owned();
    let workspace = Workspace::with(&all_set);
    let resolved = workspace
        .resolve(&["--no-fail-fast"], &[])
        .expect("every example is a value");
    assert_eq!(resolved.warnings, []);
    for row in RunArguments::rows().iter().filter(|row| row.scope >= Scope::Profile) {
        assert!(all_set.contains(&format!("\n{} = ", row.key())), "{}", row.id);
    }
}

fn without_case_layers(mut options: RunOptions) -> RunOptions {
    options.measurement.cases = CaseLayers::default();
    options
}

#[test]
fn a_named_configuration_file_must_exist() {
    let workspace = Workspace::with("[profile.default]\nfail-fast = true\n");
    let file = workspace.root().join(DEFAULT_FILE);
    let named = without_configuration(&["--config-file", file.as_str()], &[]);
    assert!(options(named.expect("it makes sense")).fail_fast);
    let missing = without_configuration(&[], &[("GPUBENCH_CONFIG_FILE", "/nonexistent/x.toml")]);
    assert!(refusal(missing).starts_with("could not read the configuration `/nonexistent/x.toml`: "));
    let profile = refusal(without_configuration(&["-P", "ci"], &[]));
    assert_eq!(profile, "there is no profile `ci`: no configuration file was found");
}

#[test]
fn subcommands_read_the_settings_that_they_share_with_a_run() {
    let workspace = Workspace::with(
        "[profile.default]\ndevice = 'cpu'\nnoise-threshold = '7%'\nmessage-format = 'json'\nexport-markdown = 'run.md'\n",
    );
    let command = |arguments: &[&str]| match workspace.resolve(arguments, &[]).expect("it makes sense").verb {
        Verb::Gpubench(arguments) => arguments.into_command(&described_verb()).expect("a command"),
        other => panic!("another verb: {other:?}"),
    };
    match command(&["doctor"]) {
        Command::Doctor(options) => {
            assert!(matches!(options.device.choice, DeviceChoice::Kind(_)));
            assert_eq!(
                options.format,
                MessageFormat::Human,
                "what a run prints is its own affair"
            );
        }
        other => panic!("no doctor: {other:?}"),
    }
    match command(&["compare", "a", "b"]) {
        Command::Compare(options) => {
            assert_eq!(options.judging.noise_threshold, 0.07);
            assert_eq!(options.export_markdown, None, "what a run writes is its own affair");
        }
        other => panic!("no comparison: {other:?}"),
    }
    let archive = [("GPUBENCH_ARCHIVE_FILE", "a.tar.gz")];
    assert!(matches!(workspace.resolve(&["archive"], &archive), Ok(Resolved { .. })));
}

#[test]
fn help_shows_built_in_values_and_not_the_environment() {
    let workspace = Workspace::with("[profile.default]\ntimeout = '99s'\n");
    let help = refusal(workspace.resolve(&["--help"], &[("GPUBENCH_TIMEOUT", "nonsense")]));
    assert!(help.contains("[default: 10s]") && !help.contains("99s"), "{help}");
}

#[test]
fn the_examples_of_the_documentation_are_configurations() {
    const DOCUMENTATION: [&str; 3] = [
        include_str!("../../../../docs/reference/settings.md"),
        include_str!("../../../../docs/guides/ci.md"),
        include_str!("../../../../docs/guides/grades.md"),
    ];
    let blocks = Regex::new(r"(?s)```toml\n(.*?)```").expect("an expression");
    let texts = DOCUMENTATION.iter().flat_map(|page| blocks.captures_iter(page));
    let configurations: Vec<_> = texts
        .map(|block| block[1].to_owned())
        .filter(|text| text.contains("[profile.ci]"))
        .collect();
    assert_eq!(configurations.len(), DOCUMENTATION.len(), "one on each page");
    for configuration in configurations {
        let workspace = Workspace::with(&configuration);
        let resolved = workspace.resolve(&["-P", "ci"], &[]).expect("it makes sense");
        assert_eq!(resolved.warnings, []);
    }
}

#[test]
fn a_repeat_command_has_the_environment_but_not_the_profile() {
    let workspace = Workspace::with("[profile.ci]\nthreads = 2\n");
    let variables = [
        ("GPUBENCH_DEVICE", "cpu"),
        ("GPUBENCH_OFFLINE", "1"),
        ("GPUBENCH_LOCKED", "0"),
    ];
    let repeated = |arguments: &[&str]| workspace.options(arguments, &variables).repeated.join(" ");
    assert_eq!(repeated(&["-P", "ci"]), "--offline --profile ci --device cpu");
    assert_eq!(repeated(&["--device", "auto"]), "--offline --device auto");
}

#[test]
fn a_dash_in_a_profile_is_standard_output() {
    let workspace = Workspace::with("[profile.default]\nexport-csv = '-'\n");
    assert!(workspace.options(&[], &[]).gives_standard_output_away());
}

#[test]
fn an_option_before_a_subcommand_is_refused_with_a_hint() {
    let workspace = Workspace::with("[profile.ci]\n");
    for (arguments, hint) in [
        (
            &["--nvtx", "show-config"][..],
            "leave it out: `show-config` has no such option",
        ),
        (
            &["--export-markdown=c", "compare", "a", "b"],
            "write `compare --export-markdown`",
        ),
        (&["-q", "compare", "a", "b"], "write `compare --quiet`"),
        (
            &["--max-time", "5s", "doctor"],
            "leave it out: `doctor` has no such option",
        ),
        (&["--list", "archive"], "leave it out: `archive` has no such option"),
        (
            &["--exact", "-P", "ci", "report"],
            "leave it out: `report` has no such option",
        ),
        (&["-q", "compare"], "write `compare --quiet`"),
        (
            &["-p", "a", "archive", "--archive-file", "x"],
            "write `archive --package`",
        ),
        (
            &["--archive-file", "x", "archive", "--archive-file", "y"],
            "write `archive --archive-file`",
        ),
        (&["--skip", "x", "history"], "has no such option"),
        (&["--bench", "report", "a"], "has no such option"),
        (&["-P", "ci", "--exact", "man"], "has no such option"),
        (&["--noise-threshold=2%", "completions", "bash"], "has no such option"),
    ] {
        match workspace.resolve(arguments, &[]) {
            Err(Unresolved::Expected(error)) => {
                let (text, hint_text) = (error.to_string(), error.hint().unwrap_or_default());
                assert_eq!(error.exit_code().number(), 2);
                assert!(text.contains("cannot come before"), "{text}");
                assert!(
                    hint_text.starts_with(hint) || hint_text.contains(hint),
                    "{arguments:?}: {hint_text}"
                );
                assert!(hint_text.contains("write `-- "), "{hint_text}");
            }
            other => panic!("{arguments:?}: {other:?}"),
        }
    }
}

#[test]
fn an_option_of_a_run_after_a_subcommand_without_it_is_refused_with_a_hint() {
    let grade = ["grade", "--problem", "p", "a.cu"];
    for (subcommand, option, hint) in [
        (&["lint"][..], &["--runner", "srun"][..], "start it where the device is"),
        (&["lint"], &["--agents=2"], "start it where the device is"),
        (&grade, &["--nvtx"], "`cargo gpubench grade --help` shows"),
    ] {
        match without_configuration(&[subcommand, option].concat(), &[]) {
            Err(Unresolved::Expected(error)) => {
                let (text, hint_text) = (error.to_string(), error.hint().unwrap_or_default());
                assert!(text.starts_with(&format!("`{}` has no `--", subcommand[0])), "{text}");
                assert!(hint_text.contains(hint), "{option:?}: {hint_text}");
            }
            other => panic!("{option:?}: {other:?}"),
        }
    }
    let unknown = without_configuration(&[&grade[..], &["--nosuch"]].concat(), &[]);
    assert!(matches!(unknown, Err(Unresolved::CommandLine(_))), "{unknown:?}");
}

#[test]
fn a_command_to_grade_again_repeats_the_reference_but_no_other_submission() {
    let repeated = |over: &str| {
        let line = ["grade", "--problem", "sums", "--over", over, "a.cu", "b.cu"];
        graded(without_configuration(&line, &[]).expect("it makes sense"))
            .repeated
            .join(" ")
    };
    assert_eq!(repeated("reference"), "grade --problem sums --over reference");
    assert_eq!(repeated("b"), "grade --problem sums");
}

#[test]
fn global_options_may_come_before_a_subcommand() {
    let workspace = Workspace::with("[profile.ci]\ntimeout = '7s'\n");
    let file = workspace.root().join(DEFAULT_FILE);
    for arguments in [
        &["-P", "ci", "show-config", "sums::n=1"][..],
        &["show-config", "sums::n=1", "-P", "ci"],
        &["--color", "never", "-P", "ci", "show-config", "sums::n=1"],
        &[
            "--profile=ci",
            "--config-file",
            file.as_str(),
            "show-config",
            "sums::n=1",
        ],
    ] {
        let resolved = workspace.resolve(arguments, &[]).expect("it makes sense");
        let Verb::Gpubench(arguments) = resolved.verb else {
            panic!("another verb");
        };
        match arguments.into_command(&described_verb()).expect("a command") {
            Command::Print(text) => {
                assert!(
                    text.contains("[profile.ci]") && text.contains("timeout = \"7s\""),
                    "{text}"
                );
            }
            other => panic!("no text: {other:?}"),
        }
    }
}

#[test]
fn fractions_and_times_have_the_same_form_everywhere() {
    let results = |option: &str, value: &str| {
        let key = option.trim_start_matches("--");
        let variable = format!("GPUBENCH_{}", key.to_uppercase().replace('-', "_"));
        let file = Workspace::with(&format!("[profile.default]\n{key} = '{value}'\n"));
        let overriding = Workspace::with(&format!(
            "[[profile.default.overrides]]\nfilter = 'x'\n{key} = '{value}'\n"
        ));
        [
            without_configuration(&[option, value], &[]),
            without_configuration(&[], &[(&variable, value)]),
            file.resolve(&[], &[]),
            overriding.resolve(&[], &[]),
        ]
    };
    for option in ["--target-cv", "--noise-threshold"] {
        for fine in ["0.02", "2%", "0.5 %"] {
            assert!(results(option, fine).iter().all(Result::is_ok), "{option} {fine}");
        }
        for wrong in results(option, "2") {
            assert!(refusal(wrong).contains("write `2%` or `0.02`"), "{option}");
        }
        for wrong in ["2s", "0", "100%", "x"] {
            for wrong in results(option, wrong) {
                assert!(refusal(wrong).contains("`2%`, `0.02`"), "{option}");
            }
        }
    }
    for option in ["--timeout", "--reference-timeout", "--max-time"] {
        for fine in ["2s", "500ms", "1m 30s", "2min"] {
            assert!(results(option, fine).iter().all(Result::is_ok), "{option} {fine}");
        }
        for wrong in ["2", "0.5", "2%", "soon"] {
            for wrong in results(option, wrong) {
                assert!(refusal(wrong).contains("`10s`, `500ms`, `2min`"), "{option}");
            }
        }
    }
    for option in ["--warmup-time", "--sample-time"] {
        for fine in ["25ms", "none"] {
            assert!(results(option, fine).iter().all(Result::is_ok), "{option} {fine}");
        }
        for (wrong, reason) in [
            ("25", "`10s`, `500ms`, `2min`, or `none`"),
            ("-25ms", "`10s`, `500ms`, `2min`, or `none`"),
            ("0s", "must be longer than zero, or `none`"),
            ("1year", "must be at most 7 days, or `none`"),
        ] {
            for wrong in results(option, wrong) {
                assert!(refusal(wrong).contains(reason), "{option}");
            }
        }
    }
    let wrong = refusal(without_configuration(&["--profile-time", "10"], &[]));
    assert!(wrong.contains("`10s`, `500ms`, `2min`"), "{wrong}");
}

#[test]
fn the_executable_itself_needs_no_subcommand() {
    let resolved = |words: &[&str]| {
        let words: Vec<OsString> = words.iter().map(Into::into).collect();
        resolve(&words, &environment(&[]), &|_| None)
    };
    let direct = resolved(&["cargo-gpubench", "--archive-file", "k.tar.gz"]).expect("a run");
    assert!(matches!(options(direct).libraries, LibrarySource::Archive { .. }));
    assert!(matches!(
        resolved(&["cargo-gpubench", "__worker"]).expect("a role").verb,
        Verb::Worker
    ));
    let help = resolved(&["cargo-gpubench", "--help"]).expect_err("help");
    let Unresolved::CommandLine(help) = help else {
        panic!("{help:?}");
    };
    assert!(help.to_string().contains("--archive-file"), "{help}");
}

#[test]
fn an_error_about_conflicts_names_only_given_options() {
    let refused = refusal(without_configuration(&["--archive-file", "k.tar.gz", "--offline"], &[]));
    assert!(
        refused.contains("--offline") && !refused.contains("--package"),
        "{refused}"
    );
    let refused = refusal(without_configuration(
        &["--archive-file", "k", "--offline", "-p", "a"],
        &[],
    ));
    assert!(
        refused.contains("--offline") && refused.contains("--package"),
        "{refused}"
    );
    assert!(!refused.contains("--frozen"), "{refused}");
}

#[test]
fn a_compatibility_flag_is_not_suggested_and_takes_no_value() {
    let refused = refusal(without_configuration(&["--nosuch"], &[]));
    assert!(!refused.contains("--bench") && !refused.contains("tip"), "{refused}");
    assert_eq!(
        refusal(without_configuration(&["--bench", "sums"], &[])),
        "`--bench NAME` is an option of cargo and nextest"
    );
    assert!(without_configuration(&["--bench", "--list"], &[]).is_ok());
}

#[test]
fn a_profile_may_turn_features_on_and_waiting_off() {
    let workspace = Workspace::with("[profile.default]\nfeatures = ['bench', 'wide']\nno-wait = true\n");
    let options = workspace.options(&[], &[]);
    assert_eq!(options.measurement.other_runs, OtherRuns::Ignored);
    let LibrarySource::Build(build) = options.libraries else {
        panic!("{:?}", options.libraries);
    };
    assert_eq!(build.features.features, ["bench", "wide"]);
}
