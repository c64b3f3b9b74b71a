//! `cargo gpubench show-config`: the settings and their sources.

use std::fmt::{self, Display, Write};

use camino::Utf8PathBuf;
use clap::Arg;

use super::option_kind::{is_flag, is_switch, takes_several};
use crate::cdylibs::{BenchmarkPackages, packages_with_benchmarks};
use crate::config::{CaseLayers, CaseNames, CaseSettings, ConfigLine, Source, settings};
use gpubench_diagnostic::{is_printable, print_warning, printable_line};
use gpubench_store::{Home, Listing};

mod case_name;
mod template;

use case_name::{BothForms, looked_up};
use template::template;

settings! {
    /// The options of `cargo gpubench show-config`.
    pub(super) struct ShowConfigArguments {
        /// Show the settings of this case
        ///
        /// A name as `--list` prints it, with or without the package. Nothing is built: a name that
        /// is not in the latest listing causes a warning. Settings in the manifest of the case's
        /// package override the built-in values shown here.
        #[arg(value_name = "CASE")]
        case: Option<String> => Line "image::grayscale::width=1024,height=4096", common;

        /// Print a configuration file with every setting
        #[arg(long, help_heading = "Configure", conflicts_with = "case")]
        template: bool => Line "--template > .config/gpubench.toml", common;
    }
}

/// The settings of a run, from the environment and the configuration.
#[derive(Debug, Default)]
pub(super) struct ActiveSettings {
    pub(super) profile: String,
    pub(super) file: Option<Utf8PathBuf>,
    pub(super) settings: Vec<ActiveSetting>,
    pub(super) cases: CaseLayers,
}

/// A setting and its source.
#[derive(Debug)]
pub(super) struct ActiveSetting {
    key: String,
    assignment: String,
    origin: Origin,
}

/// The source of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Set(Source),
    Overridden(ConfigLine),
    /// The other limit on samples, which would cross this one.
    Moved {
        by: &'static str,
        origin: Box<Origin>,
    },
    BuiltIn,
    /// There is no value. The text describes what a run does.
    Unset(Option<String>),
}

impl ShowConfigArguments {
    /// Returns the text to print.
    pub(super) fn text(&self, active_settings: &ActiveSettings) -> String {
        match &self.case {
            _ if self.template => template(),
            Some(case) => {
                let BenchmarkPackages {
                    names,
                    target_directory,
                } = packages_with_benchmarks();
                let home = target_directory.map(|target| Home::in_target_directory(&target));
                let listing = home.and_then(|home| Listing::remembered(&home));
                let remark = looked_up(case, listing.as_ref()).unwrap_or_else(|warning| {
                    print_warning(&warning);
                    warning
                });
                active_settings.of_case(&BothForms::new(case, &names), &remark)
            }
            None => active_settings.of_run(),
        }
    }
}

impl ActiveSettings {
    fn of_run(&self) -> String {
        let mut text = self.head();
        let layers = [self.cases.given, self.cases.profile, CaseSettings::BUILT_IN];
        let origin_of = |key: &str| self.origin_of(key);
        let lines = self.settings.iter();
        let lines = lines.map(|setting| match moved_limit(&setting.key, &layers, origin_of) {
            Some((value, origin)) => (format!("{} = {value}", setting.key), origin.to_string()),
            None => (setting.assignment.clone(), setting.origin.to_string()),
        });
        push_aligned(&mut text, &lines.collect::<Vec<_>>());
        for other in &self.cases.overrides {
            let _ = write!(
                text,
                "\n{}[[profile.{}.overrides]]\nfilter = {}\n",
                comment(&other.place.to_string()),
                printable_line(&self.profile),
                quoted(other.filter.as_str())
            );
            for (key, value) in other.settings.entries() {
                let _ = writeln!(text, "{key} = {}", of_case_setting(&value));
            }
        }
        text
    }

    fn of_case(&self, case: &BothForms, remark: &str) -> String {
        let names = case.names();
        let set = self.cases.settings_of_case(names, CaseSettings::default());
        let overrides = self.cases.overrides.iter().filter(|other| other.fits(names));
        let layers: Vec<CaseSettings> = std::iter::once(self.cases.given)
            .chain(overrides.map(|other| other.settings))
            .chain([self.cases.profile, CaseSettings::BUILT_IN])
            .collect();
        let origin_of = |key: &str| self.origin_for_case(key, names);
        let lines: Vec<_> = set
            .over(CaseSettings::BUILT_IN)
            .entries()
            .into_iter()
            .map(|(key, value)| {
                let moved = moved_limit(key, &layers, origin_of).map(|(_, origin)| origin);
                let origin = moved.unwrap_or_else(|| origin_of(key));
                let assignment = match origin {
                    Origin::Unset(_) => format!("# {key}"),
                    _ => format!("{key} = {}", of_case_setting(&value)),
                };
                (assignment, origin.to_string())
            })
            .collect();
        let mut text = format!("{}{}{}", case.remarks(), comment(remark), self.which_fit(names));
        text += &self.head();
        push_aligned(&mut text, &lines);
        text
    }

    /// Returns a line for each override, with whether it fits the case.
    fn which_fit(&self, names: CaseNames<'_>) -> String {
        let lines = self.cases.overrides.iter().map(|other| {
            let fits = if other.fits(names) { "matches" } else { "does not match" };
            comment(&format!("override {}, filter `{}`: {fits}", other.place, other.filter))
        });
        lines.collect()
    }

    fn head(&self) -> String {
        let Self { profile, file, .. } = self;
        let file = file
            .as_ref()
            .map_or("no configuration file".to_owned(), |file| format!("`{file}`"));
        format!("{}[profile.{}]\n", comment(&file), printable_line(profile))
    }

    fn origin_of(&self, key: &str) -> Origin {
        let setting = self.settings.iter().find(|setting| setting.key == key);
        setting.map_or(Origin::BuiltIn, |setting| setting.origin.clone())
    }

    fn origin_for_case(&self, key: &str, names: CaseNames<'_>) -> Origin {
        let origin = self.origin_of(key);
        let has_it = |settings: &CaseSettings| settings.entries().iter().any(|(other, _)| *other == key);
        let mut overrides = self.cases.overrides.iter();
        match overrides.find(|other| other.fits(names) && has_it(&other.settings)) {
            Some(other) if !matches!(origin, Origin::Set(Source::Environment(_))) => {
                Origin::Overridden(other.place.clone())
            }
            _ => origin,
        }
    }
}

/// Returns the value and the origin of a limit on samples that another limit moves, because the two
/// would cross. `layers` begin with the highest.
fn moved_limit(key: &str, layers: &[CaseSettings], origin_of: impl Fn(&str) -> Origin) -> Option<(String, Origin)> {
    let by = match key {
        "min-samples" => "max-samples",
        "max-samples" => "min-samples",
        _ => return None,
    };
    let value_in = |settings: CaseSettings| {
        let mut entries = settings.entries().into_iter();
        entries.find(|(other, _)| *other == key).map(|(_, value)| value)
    };
    let own = layers.iter().find_map(|layer| value_in(*layer));
    let layers = layers.iter().copied();
    let shown = value_in(layers.fold(CaseSettings::default(), CaseSettings::over));
    let origin = || Box::new(origin_of(by));
    shown
        .filter(|shown| Some(shown) != own.as_ref())
        .map(|shown| (shown, Origin::Moved { by, origin: origin() }))
}

impl ActiveSetting {
    /// Returns the setting of an option with the values `texts`, which `source` or the default set.
    pub(super) fn new(option: &Arg, texts: &[String], source: Option<Source>) -> Self {
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let (_, otherwise) = help.split_once("[default: ").unzip();
        let origin = match source {
            Some(source) => Origin::Set(source),
            // If the help describes another default, the built-in value does not apply.
            None if otherwise.is_some() || texts.is_empty() && !is_flag(option) => {
                Origin::Unset(otherwise.map(|words| words.trim_end_matches(']').to_owned()))
            }
            None => Origin::BuiltIn,
        };
        let key = option.get_long().unwrap_or_default().to_owned();
        Self {
            assignment: match origin {
                Origin::Unset(_) => format!("# {key}"),
                _ => assignment(option, texts),
            },
            key,
            origin,
        }
    }
}

/// Returns the configuration line that sets an option.
fn assignment(option: &Arg, texts: &[String]) -> String {
    let key = option.get_long().unwrap_or_default();
    let quoted: Vec<_> = texts.iter().map(|text| quoted(&as_of_a_case(key, text))).collect();
    match texts {
        _ if takes_several(option) => format!("{key} = [{}]", quoted.join(", ")),
        _ if is_flag(option) => format!("{key} = {}", texts.first().map_or("false", String::as_str)),
        [text] if is_switch(option) => format!("{key} = {}", of_case_setting(&as_of_a_case(key, text))),
        _ => format!("{key} = {}", quoted.concat()),
    }
}

/// Returns a value in the form of a case's settings, so that every source is shown alike.
fn as_of_a_case(key: &str, text: &str) -> String {
    let mut settings = CaseSettings::default();
    let read = CaseSettings::KEYS.contains(&key) && settings.set(key, text).is_ok();
    let written = settings.entries().into_iter().find(|(other, _)| read && *other == key);
    written.map_or_else(|| text.to_owned(), |(_, value)| value)
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Set(source) => source.fmt(f),
            Origin::Overridden(place) => place.fmt(f),
            Origin::Moved { by, origin } => write!(f, "as `{by}`: {origin}"),
            Origin::BuiltIn => f.write_str("built in"),
            Origin::Unset(None) => f.write_str("not set"),
            Origin::Unset(Some(otherwise)) => write!(f, "not set: {otherwise}"),
        }
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Environment(name) => write!(f, "environment: {name}"),
            Source::Profile { name, place } => write!(f, "profile `{name}`, {place}"),
        }
    }
}

/// Returns the value of a case's setting for a file. Only switches are `true` or `false`.
fn of_case_setting(text: &str) -> String {
    match text {
        "true" | "false" => text.to_owned(),
        _ => quoted(text),
    }
}

/// Returns a number unchanged, anything else as a TOML string.
fn quoted(text: &str) -> String {
    if text.parse::<i64>().is_ok() {
        text.to_owned()
    } else {
        toml_string(text)
    }
}

fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if !is_printable(c) => {
                let _ = write!(quoted, "\\U{:08X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Returns a comment line. Files of others name what it quotes.
fn comment(text: &str) -> String {
    format!("# {}\n", printable_line(text))
}

fn push_aligned(text: &mut String, lines: &[(String, String)]) {
    let width = lines
        .iter()
        .map(|(assignment, _)| assignment.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    for (assignment, origin) in lines {
        let _ = write!(text, "{assignment:width$}  {}", comment(origin));
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::cli::description::described_verb;
    use crate::config::{CaseOverride, TimeLimit, WorkerCount};

    /// Returns the settings of a case, with an override that sets 3 s for names that match
    /// `filter`.
    fn shown(filter: &str, case: &str, packages: &[&str]) -> String {
        let active_settings = ActiveSettings {
            cases: CaseLayers {
                overrides: vec![CaseOverride {
                    place: ConfigLine::at("gpubench.toml", 7),
                    filter: Regex::new(filter).expect("an expression"),
                    settings: CaseSettings {
                        timeout: Some(TimeLimit::seconds(3)),
                        ..CaseSettings::default()
                    },
                }],
                ..CaseLayers::default()
            },
            ..ActiveSettings::default()
        };
        let packages: Vec<_> = packages.iter().map(|package| (*package).to_owned()).collect();
        active_settings.of_case(
            &BothForms::new(case, &packages),
            &looked_up(case, None).expect("a remark"),
        )
    }

    /// A filter of a repository's configuration can have any text.
    #[test]
    fn no_value_hides_its_letters_or_leaves_its_line() {
        assert_eq!(
            toml_string("a\u{202e}b\n\u{e0001}"),
            r#""a\U0000202Eb\U0000000A\U000E0001""#
        );
        let text = shown("x|\n::error::\u{202e}", "suite::a", &["suite"]);
        assert!(text.contains("filter `x| ::error::⟨U+202E⟩`"), "{text}");
    }

    #[test]
    fn an_override_matches_either_form_of_the_name() {
        for filter in ["^rows::sums::", "^sums::"] {
            for case in ["rows::sums::n=1", "sums::n=1"] {
                let text = shown(filter, case, &["rows"]);
                assert!(text.contains("timeout = \"3s\""), "{filter} {case}: {text}");
                assert!(
                    text.starts_with("# case `sums::n=1`, with its package `rows::sums::n=1`\n"),
                    "{text}"
                );
            }
        }
        assert!(shown("^n=1", "sums::n=1", &["rows"]).contains("timeout = \"10s\""));
    }

    #[test]
    fn the_output_says_that_a_case_is_not_checked_and_its_package_unknown() {
        let text = shown("^rows::", "sums::n=1", &["rows", "cols"]);
        assert!(text.contains("timeout = \"10s\""), "{text}");
        assert!(
            text.contains("with an unknown package") && text.contains("# the name is not checked"),
            "{text}"
        );
        let text = shown("^rows::", "rows::sums::n=1", &["rows", "cols"]);
        assert!(text.contains("timeout = \"3s\""), "{text}");
    }

    #[test]
    fn the_output_shows_which_overrides_match() {
        let text = shown("^rows::", "rows::sums::n=1", &["rows"]);
        assert!(text.contains("gpubench.toml:7, filter `^rows::`: matches\n"), "{text}");
        let text = shown("^cols::", "rows::sums::n=1", &["rows"]);
        assert!(
            text.contains("gpubench.toml:7, filter `^cols::`: does not match\n"),
            "{text}"
        );
    }

    fn samples(origin: Origin, cases: CaseLayers) -> ActiveSettings {
        let setting = |key: &str, value: u32, origin| ActiveSetting {
            key: key.to_owned(),
            assignment: format!("{key} = {value}"),
            origin,
        };
        ActiveSettings {
            settings: vec![
                setting("min-samples", 20, Origin::BuiltIn),
                setting("max-samples", 7, origin),
            ],
            cases,
            ..ActiveSettings::default()
        }
    }

    fn seven() -> CaseSettings {
        let mut seven = CaseSettings::default();
        seven.set("max-samples", "7").expect("a setting");
        seven
    }

    #[test]
    fn a_limit_that_another_one_moves_names_the_other_one() {
        let variable = || Origin::Set(Source::Environment("GPUBENCH_MAX_SAMPLES".to_owned()));
        let given = CaseLayers {
            given: seven(),
            ..CaseLayers::default()
        };
        let given = samples(variable(), given);
        for text in [given.of_run(), of_a_case(&given)] {
            let line = text.lines().find(|line| line.starts_with("min-samples"));
            let words: Vec<_> = line.expect("a line").split_whitespace().collect();
            assert_eq!(
                words.join(" "),
                "min-samples = 7 # as `max-samples`: environment: GPUBENCH_MAX_SAMPLES"
            );
        }
        let overridden = samples(
            Origin::BuiltIn,
            CaseLayers {
                overrides: vec![CaseOverride {
                    place: ConfigLine::at("gpubench.toml", 7),
                    filter: Regex::new("sums").expect("an expression"),
                    settings: seven(),
                }],
                ..CaseLayers::default()
            },
        );
        let text = of_a_case(&overridden);
        assert!(text.contains("# as `max-samples`: gpubench.toml:7"), "{text}");
    }

    fn workers(source: Option<Source>, overrides: Vec<CaseOverride>) -> ActiveSettings {
        let verb = described_verb();
        let mut options = verb.get_arguments();
        let option = options.find(|option| option.get_id() == "workers").expect("an option");
        ActiveSettings {
            settings: vec![ActiveSetting::new(option, &["10".to_owned()], source)],
            cases: CaseLayers {
                overrides,
                ..CaseLayers::default()
            },
            ..ActiveSettings::default()
        }
    }

    fn of_a_case(active_settings: &ActiveSettings) -> String {
        active_settings.of_case(&BothForms::new("sums", &[]), "not checked")
    }

    #[test]
    fn an_unset_number_of_workers_is_shown_as_not_set() {
        let open = workers(None, Vec::new());
        for text in [open.of_run(), of_a_case(&open)] {
            let line = text.lines().find(|line| line.contains("workers")).expect("a line");
            let words: Vec<_> = line.split_whitespace().collect();
            assert_eq!(
                words.join(" "),
                "# workers # not set: 5 on the CPU device, 3, 5 or 10 on a GPU"
            );
        }
    }

    #[test]
    fn a_number_of_workers_is_shown_even_if_it_equals_the_built_in_value() {
        let set = workers(Some(Source::Environment("GPUBENCH_WORKERS".to_owned())), Vec::new());
        for text in [set.of_run(), of_a_case(&set)] {
            assert!(
                text.contains("\nworkers = 10") && text.contains("# environment: GPUBENCH_WORKERS"),
                "{text}"
            );
        }
        let overridden = workers(
            None,
            vec![CaseOverride {
                place: ConfigLine::at("gpubench.toml", 7),
                filter: Regex::new("^sums").expect("an expression"),
                settings: CaseSettings {
                    workers: Some(WorkerCount::new(10)),
                    ..CaseSettings::default()
                },
            }],
        );
        let text = of_a_case(&overridden);
        assert!(
            text.contains("\nworkers = 10") && text.contains("# gpubench.toml:7\n"),
            "{text}"
        );
    }
}
