//! The precedence of the command line, the environment and the configuration.
//!
//! The command line is parsed once. A setting that it lacks comes from the environment, then from
//! the profile, then from the default. clap's value parsers read all of them.

use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command, FromArgMatches};

use super::app::GPUBENCH;
use super::description::described;
use super::environment::{Environment, variable_of};
use super::gpubench::rows_of;
use super::grade::GRADE;
use super::layered_value::{files_of, of_environment, of_profile};
use super::observer::take_profiler_arguments;
use super::option_kind::is_flag;
use super::repeated::repeated;
use super::selection::names;
use super::settings::RunArguments;
use super::show_config::{ActiveSetting, ActiveSettings};
use super::{App, GpubenchArguments, UsageError, Verb, foreign, help};
use crate::config::{
    CaseLayers, CaseSettings, ConfigError, ConfigFile, ConfigWarning, DEFAULT_PROFILE, ForeignFile, Group, Profile,
    Row, Scope, Source, Values, default_location,
};
use gpubench_diagnostic::{Expected, Failure};
use gpubench_store::is_inside;

/// Finds the folder that has the configuration.
pub type FindWorkspace<'a> = &'a dyn Fn(ConfigurationOf<'_>) -> Option<Utf8PathBuf>;

/// Whose configuration applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigurationOf<'a> {
    /// That of the workspace of a manifest, or of the current folder.
    Workspace(Option<&'a Utf8Path>),
    /// That of the current folder or of the closest one above it. A run from an archive needs no
    /// cargo, so it starts none.
    Folder,
}

/// The command line with all settings.
#[derive(Debug)]
pub struct Resolved {
    /// The role of the process.
    pub verb: Verb,
    /// Warnings about environment variables without effect.
    pub unknown_variables: Vec<String>,
    /// Warnings about configuration entries without effect.
    pub warnings: Vec<ConfigWarning>,
    /// A configuration that is not read.
    pub foreign_file: Option<ForeignFile>,
}

impl Resolved {
    /// Returns the command line of a role, which has no settings.
    fn role(given: &ArgMatches) -> Result<Resolved, Unresolved> {
        Ok(Resolved {
            verb: App::from_arg_matches(given).map_err(Unresolved::CommandLine)?.verb,
            unknown_variables: Vec::new(),
            warnings: Vec::new(),
            foreign_file: None,
        })
    }
}

/// The reason why there are no settings.
#[derive(Debug)]
pub enum Unresolved {
    /// The command line is invalid, or asks for help.
    CommandLine(clap::Error),
    /// The environment, the configuration or a combination of options is invalid.
    Expected(Failure),
}

impl<E: Expected + Send + Sync + 'static> From<E> for Unresolved {
    fn from(error: E) -> Self {
        Self::Expected(error.into())
    }
}

/// Parses a command line, and adds the environment and the configuration.
///
/// # Errors
/// One of the three is invalid, or help was requested.
pub fn resolve(
    arguments: &[OsString],
    environment: &Environment,
    find_workspace: FindWorkspace<'_>,
) -> Result<Resolved, Unresolved> {
    environment.refuse_renamed()?;
    let mut app = described().mut_subcommand(GPUBENCH, |verb| {
        verb.mut_subcommands(|below| below.mut_args(|option| optional_if_in(environment, option)))
    });
    app.build();
    let mut arguments = with_subcommand(arguments);
    let profiler_arguments = take_profiler_arguments(&mut arguments);
    let arguments = &arguments;
    let given = match app.try_get_matches_from_mut(arguments) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return Err(Unresolved::CommandLine(help::shown(app, arguments)));
        }
        given => given.map_err(|error| refused(error, arguments, gpubench(&app)))?,
    };
    let Some(line) = given.subcommand_matches(GPUBENCH) else {
        return Resolved::role(&given);
    };
    if let Some((help::HELP, asked)) = line.subcommand() {
        return Err(Unresolved::CommandLine(help::of_topic(app, asked.get_one("topic"))));
    }
    let gpubench = gpubench(&app);
    let mut given = Given::new(gpubench, line, environment)?;
    given.refuse_options_before_subcommand(gpubench)?;
    if let Some(foreign) = foreign::bench_with_a_name(arguments) {
        return Err(foreign.into());
    }
    let rows = RunArguments::rows();
    let profile_name = given.text("profile").unwrap_or(DEFAULT_PROFILE.to_owned());
    let (file, foreign_file) = match given.configuration_file(gpubench, find_workspace) {
        Ok(file) => (file, None),
        Err(foreign) => (None, Some(foreign)),
    };
    let configuration = match &file {
        Some(file) => ConfigFile::read(file, &rows)?,
        None => ConfigFile::default(),
    };
    let profile = configuration.profile(&profile_name)?;
    given.add_profile(gpubench, &rows, &profile, &configuration.root)?;
    let (run, (measuring, measured)) = (&given.run, given.measured(gpubench));
    let active_settings = ActiveSettings {
        profile: profile_name,
        file,
        settings: active_settings(gpubench, &rows, run),
        cases: layered_cases(measured, profile)?,
    };
    let repeated = repeated(measuring, measured);
    let below = given.below.as_ref();
    let arguments = GpubenchArguments::from_values(run, below, profiler_arguments, repeated, active_settings);
    Ok(Resolved {
        verb: Verb::Gpubench(Box::new(arguments)),
        unknown_variables: environment.unknown(gpubench),
        warnings: configuration.warnings,
        foreign_file,
    })
}

/// The values of a command line, with those of the environment below them.
struct Given<'l> {
    /// Those of the run.
    run: Values<'l>,
    /// The subcommand and its values.
    below: Option<(&'l str, Values<'l>)>,
}

impl<'l> Given<'l> {
    fn new(gpubench: &Command, line: &'l ArgMatches, environment: &Environment) -> Result<Self, UsageError> {
        let values = |command: &Command, line| -> Result<_, UsageError> {
            let layered = of_environment(command, environment)?;
            Ok(Values { line, layered })
        };
        let below = line.subcommand();
        let below = below.map(|(name, line)| Ok::<_, UsageError>((name, values(subcommand(gpubench, name), line)?)));
        Ok(Given {
            run: values(gpubench, line)?,
            below: below.transpose()?,
        })
    }

    /// Refuses an option of a run before a subcommand.
    fn refuse_options_before_subcommand(&self, gpubench: &Command) -> Result<(), UsageError> {
        let mut options = gpubench.get_arguments().filter(|option| !option.is_global_set());
        match &self.below {
            Some((name, _)) => match options.find(|option| self.run.on_line(option.get_id().as_str())) {
                Some(option) => Err(before_subcommand(subcommand(gpubench, name), option)),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Returns the command that measures, with its values: a run, or a subcommand that is one.
    fn measured<'c>(&self, gpubench: &'c Command) -> (&'c Command, &Values<'l>) {
        match &self.below {
            Some((GRADE, values)) => (subcommand(gpubench, GRADE), values),
            _ => (gpubench, &self.run),
        }
    }

    /// Returns the value of an option, which the subcommand may have, too.
    fn text(&self, id: &str) -> Option<String> {
        let of = |values: &Values<'_>| values.texts(id).into_iter().next();
        self.below
            .as_ref()
            .and_then(|(_, values)| of(values))
            .or_else(|| of(&self.run))
    }

    /// Returns the configuration file: the one that is named, or that of the workspace.
    fn configuration_file(
        &self,
        gpubench: &Command,
        find_workspace: FindWorkspace<'_>,
    ) -> Result<Option<Utf8PathBuf>, ForeignFile> {
        if let Some(file) = self.text("config_file") {
            return Ok(Some(file.into()));
        }
        let manifest = self.text("manifest_path").map(Utf8PathBuf::from);
        let whose = match self.measured(gpubench).1.texts("archive_file")[..] {
            [] => ConfigurationOf::Workspace(manifest.as_deref()),
            _ => ConfigurationOf::Folder,
        };
        let Some(root) = find_workspace(whose) else {
            return Ok(None);
        };
        Ok(default_location(&root)?.map(|file| seen_from_here(&file)))
    }

    /// Adds what a profile of the configuration in `root` has, below all else.
    fn add_profile(
        &mut self,
        gpubench: &Command,
        rows: &[Row],
        profile: &Profile,
        root: &Utf8Path,
    ) -> Result<(), Unresolved> {
        self.run.add_layer(of_profile(gpubench, rows, profile, root)?);
        if let Some((name, values)) = &mut self.below {
            let command = subcommand(gpubench, name);
            values.add_layer(of_profile(command, &rows_of(name), profile, root)?);
        }
        drop_contradicted(&mut self.run, gpubench);
        let used = self.below.as_ref().map_or(&self.run, |(_, values)| values);
        Ok(refuse_places_outside(used, root)?)
    }
}

/// Inserts `gpubench` if it is missing. Cargo passes it; people who start the executable directly
/// may leave it out.
fn with_subcommand(arguments: &[OsString]) -> Vec<OsString> {
    let word = arguments.get(1).and_then(|word| word.to_str());
    // The names of roles start with `__`.
    let has_subcommand = word.is_some_and(|word| word == GPUBENCH || word.starts_with("__"));
    let mut arguments = arguments.to_vec();
    if !has_subcommand {
        arguments.insert(arguments.len().min(1), GPUBENCH.into());
    }
    arguments
}

/// Makes a required option optional if its environment variable is set.
fn optional_if_in(environment: &Environment, option: Arg) -> Arg {
    let variable = variable_of(&option);
    match variable.and_then(|name| environment.get(&name)) {
        Some(_) => option.required(false),
        None => option,
    }
}

fn refused(mut error: clap::Error, arguments: &[OsString], gpubench: &Command) -> Unresolved {
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some(refusal) = subcommand_after_an_option(arguments, gpubench)
    {
        return refusal.into();
    }
    let command = refusing(arguments, gpubench);
    match foreign::explain(&error, command).or_else(|| option_of_a_run(&error, command, gpubench)) {
        Some(explained) => explained.into(),
        None => {
            remove_hidden_suggestion(&mut error, gpubench);
            keep_given_conflicts(&mut error, arguments, gpubench);
            Unresolved::CommandLine(error)
        }
    }
}

/// Returns the command that refused a command line.
fn refusing<'a>(arguments: &[OsString], gpubench: &'a Command) -> &'a Command {
    let words = arguments.iter().skip(2).filter_map(|word| word.to_str());
    let mut subcommands = words.filter_map(|word| gpubench.find_subcommand(word));
    subcommands.next().unwrap_or(gpubench)
}

/// Returns the error for an option of a run that a subcommand does not have.
fn option_of_a_run(error: &clap::Error, command: &Command, gpubench: &Command) -> Option<UsageError> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let long = given.split(['=', ' ']).next()?.strip_prefix("--")?;
    let is_of_run = |option: &Arg| option.get_long() == Some(long) && !option.is_hide_set();
    let is_unknown = error.kind() == ErrorKind::UnknownArgument && command.get_name() != gpubench.get_name();
    (is_unknown && gpubench.get_arguments().any(is_of_run)).then(|| UsageError::NotOfSubcommand {
        option: long.to_owned(),
        subcommand: command.get_name().to_owned(),
    })
}

/// Hidden options exist for users of other tools and are not suggested.
fn remove_hidden_suggestion(error: &mut clap::Error, gpubench: &Command) {
    let Some(ContextValue::String(suggested)) = error.get(ContextKind::SuggestedArg) else {
        return;
    };
    let long = suggested.trim_start_matches("--").to_owned();
    let mut options = gpubench.get_arguments();
    if options.any(|option| option.get_long() == Some(&long) && option.is_hide_set()) {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Suggested);
    }
}

/// Reduces a list of conflicting options to those on the command line.
fn keep_given_conflicts(error: &mut clap::Error, arguments: &[OsString], gpubench: &Command) {
    let Some(ContextValue::Strings(all)) = error.get(ContextKind::PriorArg) else {
        return;
    };
    let is_given = |shown: &&String| {
        let long = shown.split([' ', '=']).next().unwrap_or(shown).trim_start_matches("--");
        let option = gpubench.get_arguments().find(|option| option.get_long() == Some(long));
        option.is_some_and(|option| {
            let mut words = arguments.iter().filter_map(|word| word.to_str());
            words.any(|word| names(word, option))
        })
    };
    let given: Vec<String> = all.iter().filter(is_given).cloned().collect();
    match &given[..] {
        [] => {}
        [one] => drop(error.insert(ContextKind::PriorArg, ContextValue::String(one.clone()))),
        _ => drop(error.insert(ContextKind::PriorArg, ContextValue::Strings(given))),
    }
}

/// Returns the error for an option before a subcommand. clap would report the missing arguments of
/// a subcommand that may have been meant as a filter.
fn subcommand_after_an_option(arguments: &[OsString], gpubench: &Command) -> Option<UsageError> {
    let mut before = None;
    for word in arguments.iter().skip(2).filter_map(|word| word.to_str()) {
        if let Some(subcommand) = gpubench.find_subcommand(word) {
            return before.map(|option| before_subcommand(subcommand, option));
        }
        let mut options = gpubench.get_arguments().filter(|option| !option.is_global_set());
        before = before.or_else(|| options.find(|option| names(word, option)));
    }
    None
}

fn gpubench(command: &Command) -> &Command {
    subcommand(command, GPUBENCH)
}

fn subcommand<'a>(command: &'a Command, name: &str) -> &'a Command {
    command.find_subcommand(name).expect("clap found it there")
}

/// Returns the error for an option of a run before a subcommand, where it has no effect.
fn before_subcommand(subcommand: &Command, option: &Arg) -> UsageError {
    let (name, long) = (subcommand.get_name(), option.get_long().unwrap_or_default());
    let has_it = |other: &Arg| other.get_long() == Some(long);
    UsageError::OptionBeforeSubcommand {
        option: long.to_owned(),
        subcommand: name.to_owned(),
        instead: if subcommand.get_arguments().any(has_it) {
            format!("write `{name} --{long}`")
        } else {
            format!("leave it out: `{name}` has no such option")
        },
    }
}

/// Returns the file's path, relative to the current folder if possible.
fn seen_from_here(file: &Utf8Path) -> Utf8PathBuf {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| file.as_std_path().strip_prefix(here).ok().map(ToOwned::to_owned));
    let short = short.and_then(|short| Utf8PathBuf::from_path_buf(short).ok());
    short.unwrap_or_else(|| file.to_owned())
}

/// Refuses the files that a profile names outside of the folder of its configuration. Who checks
/// out a folder has not chosen what is written elsewhere.
fn refuse_places_outside(used: &Values<'_>, root: &Utf8Path) -> Result<(), ConfigError> {
    for (id, layered) in &used.layered {
        let (Some(_), Source::Profile { place, .. }) = (used.layered(id), &layered.source) else {
            continue;
        };
        if let Some(outside) = files_of(layered, id).into_iter().find(|file| !is_inside(file, root)) {
            return Err(ConfigError::Outside {
                place: place.clone(),
                key: id.replace('_', "-"),
                file: outside,
                folder: root.to_owned(),
            });
        }
    }
    Ok(())
}

/// Removes values that conflict with an option of higher precedence: `-v` on the command line
/// overrides `quiet = true` in the profile.
fn drop_contradicted(values: &mut Values<'_>, command: &Command) {
    let rank = |option: &Arg| {
        let id = option.get_id().as_str();
        if values.on_line(id) {
            return Some(0);
        }
        let layered = values.layered.get(id)?;
        // A flag that is off conflicts with nothing.
        let asserts = !is_flag(option) || layered.texts == ["true"];
        asserts.then_some(match layered.source {
            Source::Environment(_) => 1,
            Source::Profile { .. } => 2,
        })
    };
    let asserted: Vec<_> = command
        .get_arguments()
        .filter_map(|option| Some((option, rank(option)?)))
        .collect();
    let is_contradicted = |option: &Arg, rank: u8| {
        let mut above = asserted.iter().filter(|(_, other)| *other < rank);
        above.any(|(other, _)| exclude_each_other(command, option, other))
    };
    let contradicted = asserted.iter().filter(|(option, rank)| is_contradicted(option, *rank));
    let contradicted: Vec<_> = contradicted.map(|(option, _)| option.get_id().as_str()).collect();
    values.layered.retain(|id, _| !contradicted.contains(&&**id));
}

fn exclude_each_other(command: &Command, a: &Arg, b: &Arg) -> bool {
    let names = |from: &Arg, to: &Arg| {
        let conflicts = command.get_arg_conflicts_with(from);
        conflicts.iter().any(|other| other.get_id() == to.get_id())
    };
    a.get_id() != b.get_id() && (names(a, b) || names(b, a))
}

/// Returns every setting that a profile may have, with its value.
fn active_settings(gpubench: &Command, rows: &[Row], run: &Values<'_>) -> Vec<ActiveSetting> {
    let configurable = rows.iter().filter(|row| row.scope >= Scope::Profile);
    let option = |row: &Row| gpubench.get_arguments().find(|option| option.get_id() == row.id);
    let settings =
        configurable.filter_map(|row| Some((option(row)?, run.layered(row.id).map(|layered| &layered.source))));
    settings
        .map(|(option, source)| ActiveSetting::new(option, &run.texts(option.get_id().as_str()), source.cloned()))
        .collect()
}

/// Separates the settings for cases by source.
fn layered_cases(run: &Values<'_>, profile: Profile) -> Result<CaseLayers, Unresolved> {
    let settings_by = |by: &dyn Fn(&str) -> bool| {
        let mut settings = CaseSettings::default();
        for key in CaseSettings::KEYS {
            let id = key.replace('-', "_");
            if let [text] = &run.texts(&id)[..]
                && by(&id)
            {
                // clap has already parsed the text.
                let _ = settings.set(key, text);
            }
        }
        settings
    };
    let source = |id: &str| run.layered(id).map(|layered| &layered.source);
    let by_profile = settings_by(&|id| matches!(source(id), Some(Source::Profile { .. })));
    if let Err(source) = by_profile.consistent()
        && let Some(setting) = profile.settings.get("min-samples")
    {
        let place = setting.place.clone();
        return Err(ConfigError::Samples { place, source }.into());
    }
    let by_environment = settings_by(&|id| matches!(source(id), Some(Source::Environment(_))));
    let by_environment = by_environment.consistent().map_err(UsageError::from)?;
    let on_line = settings_by(&|id| run.on_line(id));
    Ok(CaseLayers {
        given: on_line.consistent().map_err(UsageError::from)?.over(by_environment),
        overrides: profile.overrides,
        profile: by_profile,
    })
}

#[cfg(test)]
mod tests;
