//! `cargo gpubench show-config`: which settings are in force, and who says so.

use std::fmt::{self, Display, Write};

use camino::Utf8PathBuf;
use clap::Arg;

use super::layered_value::{is_flag, takes_several};
use crate::build::{BenchmarkPackages, packages_with_benchmarks};
use crate::config::{CaseLayers, CaseNames, CaseSettings, ConfigLine, Source, settings};
use gpubench_diagnostic::print_warning;
use gpubench_store::{Home, Listing};

mod case_name;
mod template;

use case_name::{BothForms, looked_up};
use template::template;

settings! {
    /// What `cargo gpubench show-config` is asked for.
    pub(super) struct ShowConfigArguments {
        /// Show what holds for the case of this name
        ///
        /// A name as `--list` prints it, or with its package in front. Nothing is built to look
        /// whether there is such a case: a name that was not there when the crate was last listed
        /// is warned about. What its package's manifest sets counts where this shows a built-in
        /// value.
        #[arg(value_name = "CASE")]
        case: Option<String> => Line "image::grayscale::width=1024,height=4096";

        /// Print a configuration file with every setting and its built-in value, to start one of
        /// your own
        #[arg(long, help_heading = "Configuration options", conflicts_with = "case")]
        template: bool => Line "--template > .config/gpubench.toml";
    }
}

/// Every setting of a run, once the environment and the configuration have been heard.
#[derive(Debug, Default)]
pub(super) struct SettingOrigins {
    pub(super) profile: String,
    pub(super) file: Option<Utf8PathBuf>,
    pub(super) settings: Vec<SettingInForce>,
    pub(super) cases: CaseLayers,
}

/// A setting and who says it.
#[derive(Debug)]
pub(super) struct SettingInForce {
    key: String,
    assignment: String,
    origin: Origin,
}

/// Who says what a setting is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Said(Source),
    Overridden(ConfigLine),
    BuiltIn,
    /// Nobody, and there is no value; what a run does then, in words.
    Nobody(Option<String>),
}

impl ShowConfigArguments {
    /// What is to be printed.
    pub(super) fn text(&self, in_force: &SettingOrigins) -> String {
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
                in_force.of_case(&BothForms::of(case, &names), &remark)
            }
            None => in_force.of_run(),
        }
    }
}

impl SettingOrigins {
    fn of_run(&self) -> String {
        let mut text = self.head();
        let lines = self.settings.iter();
        let lines = lines.map(|setting| (setting.assignment.clone(), setting.origin.to_string()));
        push_aligned(&mut text, &lines.collect::<Vec<_>>());
        for other in &self.cases.overrides {
            let _ = write!(
                text,
                "\n# {}\n[[profile.{}.overrides]]\nfilter = {}\n",
                other.place,
                self.profile,
                quoted(other.filter.as_str())
            );
            for (key, value) in other.settings.entries() {
                let _ = writeln!(text, "{key} = {}", quoted(&value));
            }
        }
        text
    }

    fn of_case(&self, case: &BothForms, remark: &str) -> String {
        let names = case.names();
        let said = self.cases.said_of_case(names, CaseSettings::default());
        let lines: Vec<_> = said
            .over(CaseSettings::BUILT_IN)
            .entries()
            .into_iter()
            .map(|(key, value)| {
                let origin = self.origin_for_case(key, names);
                let assignment = match origin {
                    Origin::Nobody(_) => format!("# {key}"),
                    _ => format!("{key} = {}", quoted(&value)),
                };
                (assignment, origin.to_string())
            })
            .collect();
        let mut text = format!("{}# {remark}\n{}", case.remarks(), self.which_fit(names));
        text += &self.head();
        push_aligned(&mut text, &lines);
        text
    }

    /// A line for each override: whether it is one for the case.
    fn which_fit(&self, names: CaseNames<'_>) -> String {
        let lines = self.cases.overrides.iter().map(|other| {
            let fits = if other.fits(names) { "fits" } else { "does not fit" };
            format!("# the override in {}, filter `{}`, {fits}\n", other.place, other.filter)
        });
        lines.collect()
    }

    fn head(&self) -> String {
        let Self { profile, file, .. } = self;
        let file = file
            .as_ref()
            .map_or("no configuration file".to_owned(), |file| format!("`{file}`"));
        format!("# {file}\n[profile.{profile}]\n")
    }

    fn origin_for_case(&self, key: &str, names: CaseNames<'_>) -> Origin {
        let setting = self.settings.iter().find(|setting| setting.key == key);
        let origin = setting.map_or(Origin::BuiltIn, |setting| setting.origin.clone());
        let has_it = |settings: &CaseSettings| settings.entries().iter().any(|(other, _)| *other == key);
        let mut overrides = self.cases.overrides.iter();
        match overrides.find(|other| other.fits(names) && has_it(&other.settings)) {
            Some(other) if !matches!(origin, Origin::Said(Source::Environment(_))) => {
                Origin::Overridden(other.place.clone())
            }
            _ => origin,
        }
    }
}

impl SettingInForce {
    /// Of an option whose words are `texts`, as `source` says, or as is built in.
    pub(super) fn of(option: &Arg, texts: &[String], source: Option<Source>) -> Self {
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let (_, otherwise) = help.split_once("[default: ").unzip();
        let origin = match source {
            Some(source) => Origin::Said(source),
            // A built-in value that help does not show is not what a run does.
            None if otherwise.is_some() || texts.is_empty() && !is_flag(option) => {
                Origin::Nobody(otherwise.map(|words| words.trim_end_matches(']').to_owned()))
            }
            None => Origin::BuiltIn,
        };
        let key = option.get_long().unwrap_or_default().to_owned();
        Self {
            assignment: match origin {
                Origin::Nobody(_) => format!("# {key}"),
                _ => assignment(option, texts),
            },
            key,
            origin,
        }
    }
}

/// The line of a configuration file that sets an option.
fn assignment(option: &Arg, texts: &[String]) -> String {
    let key = option.get_long().unwrap_or_default();
    let quoted: Vec<_> = texts.iter().map(|text| quoted(&as_of_a_case(key, text))).collect();
    match texts {
        _ if takes_several(option) => format!("{key} = [{}]", quoted.join(", ")),
        _ if is_flag(option) => format!("{key} = {}", texts.first().map_or("false", String::as_str)),
        _ => format!("{key} = {}", quoted.concat()),
    }
}

/// A value as it is written for one case: whoever said it, and however, a setting is written in one
/// way.
fn as_of_a_case(key: &str, text: &str) -> String {
    let mut settings = CaseSettings::default();
    let read = CaseSettings::KEYS.contains(&key) && settings.set(key, text).is_ok();
    let written = settings.entries().into_iter().find(|(other, _)| read && *other == key);
    written.map_or_else(|| text.to_owned(), |(_, value)| value)
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Said(source) => source.fmt(f),
            Origin::Overridden(place) => place.fmt(f),
            Origin::BuiltIn => f.write_str("built in"),
            Origin::Nobody(None) => f.write_str("not set"),
            Origin::Nobody(Some(otherwise)) => write!(f, "not set: {otherwise}"),
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

/// A number as it is, anything else as a TOML string.
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
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn push_aligned(text: &mut String, lines: &[(String, String)]) {
    let width = lines
        .iter()
        .map(|(assignment, _)| assignment.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    for (assignment, origin) in lines {
        let _ = writeln!(text, "{assignment:width$}  # {origin}");
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::cli::app::described_verb;
    use crate::config::{CaseOverride, TimeLimit, WorkerCount};

    /// What holds for a case where an override says 3 s for what `filter` fits.
    fn shown(filter: &str, case: &str, packages: &[&str]) -> String {
        let in_force = SettingOrigins {
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
            ..SettingOrigins::default()
        };
        let packages: Vec<_> = packages.iter().map(|package| (*package).to_owned()).collect();
        in_force.of_case(
            &BothForms::of(case, &packages),
            &looked_up(case, None).expect("a remark"),
        )
    }

    #[test]
    fn an_override_is_found_in_either_form_of_the_name_whichever_is_given() {
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
    fn a_case_is_said_not_to_be_looked_up_and_its_package_not_to_be_known() {
        let text = shown("^rows::", "sums::n=1", &["rows", "cols"]);
        assert!(text.contains("timeout = \"10s\""), "{text}");
        assert!(
            text.contains("its package is not known") && text.contains("# not looked up"),
            "{text}"
        );
        let text = shown("^rows::", "rows::sums::n=1", &["rows", "cols"]);
        assert!(text.contains("timeout = \"3s\""), "{text}");
    }

    #[test]
    fn the_overrides_that_fit_are_told_from_those_that_do_not() {
        let text = shown("^rows::", "rows::sums::n=1", &["rows"]);
        assert!(text.contains("gpubench.toml:7, filter `^rows::`, fits\n"), "{text}");
        let text = shown("^cols::", "rows::sums::n=1", &["rows"]);
        assert!(
            text.contains("gpubench.toml:7, filter `^cols::`, does not fit\n"),
            "{text}"
        );
    }

    fn workers(source: Option<Source>, overrides: Vec<CaseOverride>) -> SettingOrigins {
        let verb = described_verb();
        let mut options = verb.get_arguments();
        let option = options.find(|option| option.get_id() == "workers").expect("an option");
        SettingOrigins {
            settings: vec![SettingInForce::of(option, &["10".to_owned()], source)],
            cases: CaseLayers {
                overrides,
                ..CaseLayers::default()
            },
            ..SettingOrigins::default()
        }
    }

    fn of_a_case(in_force: &SettingOrigins) -> String {
        in_force.of_case(&BothForms::of("sums", &[]), "not looked up")
    }

    #[test]
    fn a_number_of_workers_that_nobody_says_is_none() {
        let open = workers(None, Vec::new());
        for text in [open.of_run(), of_a_case(&open)] {
            let line = text.lines().find(|line| line.contains("workers")).expect("a line");
            let words: Vec<_> = line.split_whitespace().collect();
            assert_eq!(
                words.join(" "),
                "# workers # not set: 5 on the CPU device, 5 or 10 on a GPU"
            );
        }
    }

    #[test]
    fn a_number_of_workers_that_is_said_is_shown_though_it_is_the_built_in_one() {
        let said = workers(Some(Source::Environment("GPUBENCH_WORKERS".to_owned())), Vec::new());
        for text in [said.of_run(), of_a_case(&said)] {
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
                    workers: Some(WorkerCount::of(10)),
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
