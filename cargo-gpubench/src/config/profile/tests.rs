use camino::Utf8Path;

use super::*;
use crate::config::{Row, SampleCount, Scope, TimeLimit};
use gpubench_diagnostic::{Expected, chain};

fn read(text: &str) -> Result<ConfigFile, ConfigError> {
    let row = |(id, scope)| Row {
        id,
        scope,
        example: "",
        is_common: false,
    };
    let rows = [
        ("timeout", Scope::Case),
        ("device", Scope::Profile),
        ("skip", Scope::Profile),
        ("quiet", Scope::Profile),
        ("list", Scope::Line),
    ];
    ConfigFile::parse(
        Utf8Path::new("gpubench.toml"),
        Utf8Path::new("/w"),
        text,
        &rows.map(row),
    )
}

#[track_caller]
fn assert_refused(text: &str, message: &str) {
    let error = match read(text) {
        Err(error) => error,
        Ok(file) => file.profile("ci").expect_err(message),
    };
    assert_eq!(chain(&error), message);
}

fn texts(profile: &Profile) -> Vec<(&str, &ConfigValue, String)> {
    let settings = profile.settings.iter();
    settings
        .map(|(key, setting)| (key.as_str(), &setting.value, setting.place.to_string()))
        .collect()
}

#[test]
fn a_profile_inherits_settings_that_it_lacks() {
    let file = read(
        "[profile.default]\ntimeout = '10s'\ndevice = 'cpu'\n[profile.ci]\ntimeout = '1min'\n[profile.nightly]\ninherits = 'ci'\nquiet = true\n",
    )
    .expect("a configuration");
    let place = |line| format!("gpubench.toml:{line}");
    assert_eq!(
        texts(&file.profile("nightly").expect("a profile")),
        [
            ("device", &ConfigValue::Text("cpu".to_owned()), place(3)),
            ("quiet", &ConfigValue::Flag(true), place(8)),
            ("timeout", &ConfigValue::Text("1min".to_owned()), place(5)),
        ]
    );
    assert_eq!(
        file.profile("nightly").expect("a profile").settings["timeout"].profile,
        "ci"
    );
}

#[test]
fn overrides_of_a_profile_come_before_inherited_ones() {
    let file = read(
        "[[profile.default.overrides]]\nfilter = 'slow'\ntimeout = '1min'\n\
         [[profile.ci.overrides]]\nfilter = 'a'\nmax-samples = 5\n[[profile.ci.overrides]]\nfilter = 'b'\ntarget-cv = '0.5%'\n",
    )
    .expect("a configuration");
    let overrides = file.profile("ci").expect("a profile").overrides;
    let filters: Vec<_> = overrides.iter().map(|other| other.filter.as_str()).collect();
    assert_eq!(filters, ["a", "b", "slow"]);
    assert_eq!(overrides[0].settings.max_samples, Some(SampleCount::new(5)));
    assert_eq!(overrides[2].settings.timeout, Some(TimeLimit::seconds(60)));
}

#[test]
fn the_default_profile_always_exists() {
    let file = read("[profile.ci]\nquiet = false\n").expect("a configuration");
    assert!(file.profile("default").expect("it is always there").settings.is_empty());
}

#[test]
fn an_unknown_profile_has_a_hint() {
    let file = read("[profile.nightly]\n").expect("a configuration");
    let error = file.profile("nightlly").expect_err("no such profile");
    assert_eq!(error.to_string(), "there is no profile `nightlly` in `gpubench.toml`");
    assert_eq!(error.hint().as_deref(), Some("did you mean `nightly`?"));
    let error = file.profile("release").expect_err("no such profile");
    assert_eq!(
        error.hint().as_deref(),
        Some("`--cargo-profile release` sets cargo's profile")
    );
}

#[test]
fn a_key_that_was_renamed_is_refused_with_its_new_name() {
    for text in [
        "[profile.ci]\nsleep-after-run = true\n",
        "[[profile.ci.overrides]]\nsleep-after-run = true\nfilter = 'a'\n",
    ] {
        assert_refused(text, "gpubench.toml:2: `sleep-after-run` is called `cooldown` now");
    }
    assert_refused(
        "[profile.ci]\nenergy = true\n",
        "gpubench.toml:2: `energy` is called `metric = \"energy\"` now",
    );
}

#[test]
fn unknown_keys_are_warnings_with_a_line_and_the_closest_key() {
    let file = read(
        "colour = 1\n[profile.ci]\ntimeot = '1s'\nlist = true\n[[profile.ci.overrides]]\nfilter = 'x'\nmax-sample = 3\n",
    )
    .expect("warnings are no errors");
    let warnings: Vec<_> = file.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "gpubench.toml:1: the key `colour` is unknown and has no effect",
            "gpubench.toml:4: the key `list` has no effect here: only the command line and the environment can set it",
            "gpubench.toml:7: the key `max-sample` is unknown and has no effect (hint: did you mean `max-samples`?)",
            "gpubench.toml:3: the key `timeot` is unknown and has no effect (hint: did you mean `timeout`?)",
        ]
    );
}

#[test]
fn a_table_that_is_like_a_profile_is_a_warning_with_the_name_that_it_needs() {
    let file = read("[default]\nmax-time = '1s'\n[nightly]\ninherits = 'ci'\n[profiles.ci]\ntimeout = '1s'\n");
    let warnings = file.expect("no errors").warnings;
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(warnings.join("\n"), @r"
    gpubench.toml:1: the key `default` is unknown and has no effect (hint: write `[profile.default]` for a profile)
    gpubench.toml:3: the key `nightly` is unknown and has no effect (hint: write `[profile.nightly]` for a profile)
    gpubench.toml:5: the key `profiles` is unknown and has no effect (hint: did you mean `profile`?)
    ");
}

#[test]
fn settings_in_the_wrong_table_are_warnings_that_name_the_right_one() {
    let file = read("timeout = '1s'\n[[profile.ci.overrides]]\nfilter = 'x'\ndevice = 'cpu'\n").expect("no errors");
    let warnings: Vec<_> = file.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "gpubench.toml:4: the key `device` has no effect in an override, because it applies to the whole run (hint: move it to the profile)",
            "gpubench.toml:1: the key `timeout` has no effect here (hint: move it to `[profile.default]` or another profile)",
        ]
    );
}

#[test]
fn an_override_with_a_misspelt_filter_has_a_hint() {
    let error = read("[[profile.ci.overrides]]\nfiltr = 'x'\n").expect_err("a refusal");
    assert_eq!(
        error.hint().as_deref(),
        Some("did you mean `filter` instead of `filtr`?")
    );
}

#[test]
fn an_invalid_value_is_refused_with_its_line_and_key() {
    assert_refused(
        "[profile.ci]\ntimeout = '1s'\ntimeout = '2s'\n",
        "gpubench.toml:3: not TOML: duplicate key",
    );
    assert_refused(
        "profile = 3\n",
        "gpubench.toml:1: `profile` must be a table, not an integer",
    );
    assert_refused(
        "[profile]\nci = 'x'\n",
        "gpubench.toml:2: `ci` must be a table, not a string",
    );
    assert_refused(
        "[profile.ci]\n\ntimeout = 2026-01-01\n",
        "gpubench.toml:3: `timeout` must be a string, a number, a boolean or a list, not a date",
    );
    assert_refused(
        "[profile.ci.overrides]\nfilter = 'x'\n",
        "gpubench.toml:1: `overrides` must be a list of tables, each `[[profile.NAME.overrides]]`, not a table",
    );
    assert_refused(
        "[[profile.ci.overrides]]\ntimeout = '1s'\n",
        "gpubench.toml:1: an override needs `filter`, a regular expression for case names",
    );
    assert_refused(
        "[[profile.ci.overrides]]\nfilter = 'x'\nmax-time = 10\n",
        "gpubench.toml:3: `max-time` has an invalid value: must be a number with a unit: `10s`, `500ms`, `2min`",
    );
    assert_refused(
        "[[profile.ci.overrides]]\nfilter = 'x'\nmax-samples = 1\nmin-samples = 2\n",
        "gpubench.toml:1: the limits on samples contradict each other: `min-samples` 2 is more than `max-samples` 1",
    );
    assert_refused(
        "[profile.ci]\ninherits = 'cii'\n",
        "gpubench.toml:2: the profile `ci` inherits from `cii`, which does not exist",
    );
    assert_refused(
        "[profile.ci]\ninherits = 'b'\n[profile.b]\ninherits = 'ci'\n",
        "gpubench.toml:2: the profile `b` inherits from itself through `ci`",
    );
}

#[test]
fn unused_profiles_are_checked_too() {
    let error = read("[profile.ci]\n[profile.x]\ninherits = 'y'\n[profile.y]\ninherits = 'x'\n").expect_err("a circle");
    assert_eq!(
        error.to_string(),
        "gpubench.toml:5: the profile `x` inherits from itself through `y`"
    );
}

#[test]
fn a_configuration_that_is_too_long_is_refused_unread() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(1 << 40).expect("a sparse file");
    let path = Utf8Path::from_path(file.path()).expect("UTF-8");
    let error = ConfigFile::read(path, &[]).expect_err("too long");
    assert!(chain(&error).ends_with("it is longer than 4 MiB"), "{}", chain(&error));
}

#[test]
fn a_circle_names_all_its_profiles() {
    assert_refused(
        "[profile.ci]\ninherits = 'ci'\n",
        "gpubench.toml:2: the profile `ci` inherits from itself",
    );
}

#[test]
fn a_configuration_may_require_a_newer_tool() {
    assert!(read("gpubench-version = '0.1'\n").is_ok());
    assert!(read(&format!("gpubench-version = '{}'\n", env!("CARGO_PKG_VERSION"))).is_ok());
    let error = read("gpubench-version = '99.1'\nprofile = 'of a kind that is not known yet'\n").expect_err("too old");
    assert_eq!(
        error.to_string(),
        format!(
            "gpubench.toml:1: the configuration needs `cargo gpubench` 99.1 or later; this is {}",
            env!("CARGO_PKG_VERSION")
        )
    );
    assert_eq!(error.exit_code().number(), 92);
    assert_refused(
        "gpubench-version = 'soon'\n",
        "gpubench.toml:1: `gpubench-version` must be a version such as \"0.1\", not another string",
    );
}
