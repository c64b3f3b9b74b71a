//! The command line, the environment and the configuration brought together.
//!
//! A value from the command line counts before one from the environment, that before one from the profile, and that before the built-in one. Values of
//! the environment and of the profile stand in for defaults, so that the command line's own grammar reads them all.

use std::collections::BTreeSet;
use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, FromArgMatches};

use super::app::described;
use super::environment::{Environment, UnknownVariable};
use super::foreign;
use super::offer::{Offer, Offers, Source, is_flag, of_environment, of_profile, takes_a_value, takes_several};
use super::repeated::repeated;
use super::show_config::{InForce, SettingInForce, SettingKind};
use super::{App, UsageError, Verb, settings};
use crate::config::{
    CaseLayers, CaseSettings, ConfigError, ConfigFile, ConfigWarning, DEFAULT_PROFILE, KnownKeys, Profile,
    default_location,
};
use crate::error::ExpectedError;

/// The verb with all options.
const GPUBENCH: &str = "gpubench";

/// Finds the root of the workspace that a manifest belongs to, or the current folder.
pub type FindWorkspace<'a> = &'a dyn Fn(Option<&Utf8Path>) -> Option<Utf8PathBuf>;

/// What the process was asked to do.
#[derive(Debug)]
pub struct Settled {
    /// It.
    pub verb: Verb,
    /// What has no effect in the environment.
    pub unknown_variables: Vec<UnknownVariable>,
    /// What has no effect in the configuration.
    pub warnings: Vec<ConfigWarning>,
}

/// Why it cannot be told.
#[derive(Debug)]
pub enum Unsettled {
    /// The command line is not one, or asks for help.
    CommandLine(clap::Error),
    /// Something else makes no sense.
    Expected(ExpectedError),
}

impl From<UsageError> for Unsettled {
    fn from(error: UsageError) -> Self {
        Self::Expected(error.into())
    }
}

impl From<ConfigError> for Unsettled {
    fn from(error: ConfigError) -> Self {
        Self::Expected(error.into())
    }
}

impl From<clap::Error> for Unsettled {
    fn from(error: clap::Error) -> Self {
        Self::CommandLine(error)
    }
}

/// Reads a command line with what stands behind it.
///
/// # Errors
/// One of the three makes no sense, or help was asked for.
pub fn settle(
    arguments: &[OsString],
    environment: &Environment,
    find_workspace: FindWorkspace<'_>,
) -> Result<Settled, Unsettled> {
    let plain = described();
    if let Err(help) = plain.clone().try_get_matches_from(arguments)
        && help.kind() == ErrorKind::DisplayHelp
    {
        // With the built-in defaults, whatever this machine has set.
        return Err(help.into());
    }
    let mut offers = of_environment(options_of(&plain).into_iter(), environment)?;
    let first = with_offers(plain.clone(), &offers)
        .try_get_matches_from(arguments)
        .map_err(refused)?;
    let Some(given) = first.subcommand_matches(GPUBENCH) else {
        let verb = App::from_arg_matches(&first)?.verb;
        return Ok(Settled {
            verb,
            unknown_variables: Vec::new(),
            warnings: Vec::new(),
        });
    };
    let unknown_variables = environment.unknown(gpubench(&plain));
    let mut config_file = None;
    let (profile, warnings) = match configuration(given, find_workspace)? {
        Some((file, profile)) => {
            config_file = Some(file.path.clone());
            for (option, offer) in of_profile(options_of(&plain).into_iter(), &profile, &file.root)? {
                offers.entry(option).or_insert(offer);
            }
            (profile, file.warnings)
        }
        None => (Profile::default(), Vec::new()),
    };
    drop_contradicted(&mut offers, &plain, given);
    let matches = with_offers(plain, &offers).try_get_matches_from(arguments)?;
    let mut verb = App::from_arg_matches(&matches)?.verb;
    if let Verb::Gpubench(arguments) = &mut verb {
        let cases = layered_cases(arguments.case_settings(), given, &offers, profile)?;
        arguments.set_case_layers(cases.clone());
        arguments.set_repeated(repeated(gpubench(&described()), given, &offers));
        arguments.show(InForce {
            profile: text_of(given, "profile").unwrap_or_default(),
            file: config_file,
            settings: in_force(&matches, &offers),
            cases,
        });
    }
    Ok(Settled {
        verb,
        unknown_variables,
        warnings,
    })
}

fn refused(error: clap::Error) -> Unsettled {
    match foreign::explain(&error) {
        Some(foreign) => foreign.into(),
        None => error.into(),
    }
}

fn gpubench(command: &Command) -> &Command {
    command.find_subcommand(GPUBENCH).expect("the verb is there")
}

/// Every option of the verb and of what is below it.
fn options_of(command: &Command) -> Vec<&Arg> {
    let gpubench = gpubench(command);
    let below = gpubench.get_subcommands().flat_map(Command::get_arguments);
    gpubench.get_arguments().chain(below).collect()
}

/// The command, with offers where it has defaults.
fn with_offers(command: Command, offers: &Offers) -> Command {
    let amend = |option: Arg| match option.get_long().and_then(|long| offers.get(long)) {
        Some(offer) if takes_a_value(&option) => offer.stand_in(option),
        _ => option,
    };
    let amend_below = |option: Arg| {
        let long = option.get_long().unwrap_or_default();
        match offers.get(long).map(|offer| &offer.source) {
            Some(Source::Profile { .. }) if !settings::OF_SUBCOMMANDS.contains(&long) => option,
            _ => amend(option),
        }
    };
    command.mut_subcommand(GPUBENCH, |gpubench| {
        gpubench
            .mut_args(amend)
            .mut_subcommands(|subcommand| subcommand.mut_args(amend_below))
    })
}

/// The configuration file, if there is one, and the profile that is chosen.
fn configuration(
    given: &ArgMatches,
    find_workspace: FindWorkspace<'_>,
) -> Result<Option<(ConfigFile, Profile)>, Unsettled> {
    let name = text_of(given, "profile").unwrap_or(DEFAULT_PROFILE.to_owned());
    let file = match text_of(given, "config_file") {
        Some(file) => Some(Utf8PathBuf::from(file)),
        None => {
            let manifest = text_of(given, "manifest_path").map(Utf8PathBuf::from);
            let file = find_workspace(manifest.as_deref()).and_then(|root| default_location(&root));
            file.map(|file| seen_from_here(&file))
        }
    };
    match file {
        Some(file) => {
            let names = settings::of_runs();
            let known = KnownKeys {
                settings: &names.configurable,
                command_line_only: &names.command_line_only,
            };
            let file = ConfigFile::read(&file, known)?;
            let profile = file.profile(&name)?;
            Ok(Some((file, profile)))
        }
        None if name == DEFAULT_PROFILE => Ok(None),
        None => Err(ConfigError::UnknownProfile {
            name,
            file: None,
            known: vec![DEFAULT_PROFILE.to_owned()],
            closest: None,
        }
        .into()),
    }
}

/// The file's name as short as the current folder allows.
fn seen_from_here(file: &Utf8Path) -> Utf8PathBuf {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| file.as_std_path().strip_prefix(here).ok().map(ToOwned::to_owned));
    let short = short.and_then(|short| Utf8PathBuf::from_path_buf(short).ok());
    short.unwrap_or_else(|| file.to_owned())
}

/// An option's text, of the verb or of what was asked below it.
fn text_of(given: &ArgMatches, id: &str) -> Option<String> {
    let own = |matches: &ArgMatches| {
        let mut texts = matches.try_get_raw(id).ok().flatten()?;
        texts.next()?.to_str().map(str::to_owned)
    };
    let below = given.subcommand().and_then(|(_, matches)| own(matches));
    below.or_else(|| own(given))
}

/// Takes away what an option that counts more excludes: `-v` on the command line and `quiet = true` in the profile are `-v`.
fn drop_contradicted(offers: &mut Offers, command: &Command, given: &ArgMatches) {
    let mut command = gpubench(command).clone();
    command.build();
    let asserted_by_environment = |option: &&Arg| {
        offer_for(option, offers)
            .is_some_and(|offer| matches!(offer.source, Source::Environment(_)) && offer.asserts(option))
    };
    let on_command_line = |option: &&Arg| comes_from_command_line(given, option.get_id().as_str());
    let options: Vec<_> = command.get_arguments().collect();
    let first: Vec<_> = options.iter().copied().filter(on_command_line).collect();
    let second: Vec<_> = options.iter().copied().filter(asserted_by_environment).collect();
    let contradicted: BTreeSet<String> = options
        .iter()
        .filter(|option| {
            let Some(offer) = offer_for(option, offers) else {
                return false;
            };
            let by_profile = matches!(offer.source, Source::Profile { .. });
            offer.asserts(option)
                && (first.iter().any(|other| exclude_each_other(&command, option, other))
                    || by_profile && second.iter().any(|other| exclude_each_other(&command, option, other)))
        })
        .filter_map(|option| option.get_long().map(str::to_owned))
        .collect();
    offers.retain(|option, _| !contradicted.contains(option));
}

fn offer_for<'a>(option: &Arg, offers: &'a Offers) -> Option<&'a Offer> {
    offers.get(option.get_long()?)
}

fn exclude_each_other(command: &Command, a: &Arg, b: &Arg) -> bool {
    let names = |from: &Arg, to: &Arg| {
        let conflicts = command.get_arg_conflicts_with(from);
        conflicts.iter().any(|other| other.get_id() == to.get_id())
    };
    a.get_id() != b.get_id() && (names(a, b) || names(b, a))
}

pub(super) fn comes_from_command_line(given: &ArgMatches, id: &str) -> bool {
    given.try_contains_id(id).unwrap_or(false) && given.value_source(id) == Some(ValueSource::CommandLine)
}

/// Every configurable setting with its value.
fn in_force(matches: &ArgMatches, offers: &Offers) -> Vec<SettingInForce> {
    let app = described();
    let matches = matches.subcommand_matches(GPUBENCH);
    let configurable = settings::of_runs().configurable;
    let options = gpubench(&app).get_arguments();
    let of_option = |option: &Arg| {
        let key = option
            .get_long()
            .filter(|long| configurable.iter().any(|key| key == long))?;
        let raw = matches.and_then(|matches| matches.try_get_raw(option.get_id().as_str()).ok().flatten());
        Some(SettingInForce {
            key: key.to_owned(),
            kind: match option {
                flag if is_flag(flag) => SettingKind::Flag,
                list if takes_several(list) => SettingKind::Several,
                _ => SettingKind::One,
            },
            texts: raw
                .into_iter()
                .flatten()
                .map(|text| text.to_string_lossy().into_owned())
                .collect(),
            source: offers.get(key).map(|offer| offer.source.clone()),
        })
    };
    options.filter_map(of_option).collect()
}

/// Tells apart who said what about cases.
fn layered_cases(
    all: CaseSettings,
    given: &ArgMatches,
    offers: &Offers,
    profile: Profile,
) -> Result<CaseLayers, Unsettled> {
    let on_command_line = |key: &str| comes_from_command_line(given, &key.replace('-', "_"));
    let from = |key: &str| {
        offers
            .get(key)
            .map(|offer| &offer.source)
            .filter(|_| !on_command_line(key))
    };
    let by_profile = all.only(|key| matches!(from(key), Some(Source::Profile { .. })));
    if let Err(source) = by_profile.consistent()
        && let Some(setting) = profile.settings.get("min-samples")
    {
        let place = setting.place.clone();
        return Err(ConfigError::Samples { place, source }.into());
    }
    Ok(CaseLayers {
        given: consistent(all.only(on_command_line))?.over(consistent(
            all.only(|key| matches!(from(key), Some(Source::Environment(_)))),
        )?),
        overrides: profile.overrides,
        profile: by_profile,
    })
}

fn consistent(settings: CaseSettings) -> Result<CaseSettings, UsageError> {
    settings.consistent().map_err(|crossing| UsageError::Samples {
        min: crossing.min,
        max: crossing.max,
    })
}

#[cfg(test)]
mod tests;
