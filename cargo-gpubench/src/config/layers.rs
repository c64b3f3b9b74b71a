//! The settings of a case.

use regex::Regex;

use super::{CaseSettings, CompleteSettings, ConfigLine};
use gpubench_diagnostic::{closest, suggestion};

/// The settings for cases from all sources except packages, in the order of precedence.
#[derive(Clone, Debug, Default)]
pub struct CaseLayers {
    /// From the command line and the environment.
    pub given: CaseSettings,
    /// From the overrides of the profile, then of the profiles that it inherits from.
    pub overrides: Vec<CaseOverride>,
    /// From the profile itself.
    pub profile: CaseSettings,
}

/// Settings for the cases that a filter matches.
#[derive(Clone, Debug)]
pub struct CaseOverride {
    /// The position in the configuration.
    pub place: ConfigLine,
    /// Matches any part of a case's name, with or without the package.
    pub filter: Regex,
    /// The settings.
    pub settings: CaseSettings,
}

/// The two forms of a case's name.
#[derive(Clone, Copy, Debug)]
pub struct CaseNames<'a> {
    /// The name without the package.
    pub name: &'a str,
    /// The name with the package.
    pub full_name: &'a str,
}

impl CaseLayers {
    /// Returns the settings of a case. `package` has the settings of its package. Each setting
    /// comes from the first layer that has it.
    pub fn of_case(&self, names: CaseNames<'_>, package: CaseSettings) -> CompleteSettings {
        self.settings_of_case(names, package).complete()
    }

    /// Returns the settings like [`of_case`](Self::of_case), without built-in values.
    pub fn settings_of_case(&self, names: CaseNames<'_>, package: CaseSettings) -> CaseSettings {
        let overrides = self.overrides.iter().filter(|other| other.fits(names));
        overrides
            .fold(self.given, |settings, other| settings.over(other.settings))
            .over(self.profile)
            .over(package)
    }

    /// Returns whether any layer asks for what a device counts.
    pub fn count(&self) -> bool {
        let overrides = self.overrides.iter().map(|other| &other.settings);
        let mut layers = [&self.given, &self.profile].into_iter().chain(overrides);
        layers.any(|settings| settings.metric.is_some_and(|metric| metric.need_counters()))
    }

    /// Returns the values for every case, without overrides.
    pub fn settings_everywhere(&self) -> CaseSettings {
        self.given.over(self.profile)
    }
}

impl CaseOverride {
    /// Returns the warning about an override that matches none of the benchmarks of these paths.
    pub fn no_effect_warning<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> String {
        let CaseOverride { place, filter, .. } = self;
        let hint = match closest(filter.as_str().trim_matches(['^', '$']), paths) {
            None => " (hint: `cargo gpubench --list` prints the names)".to_owned(),
            closest => suggestion(closest),
        };
        format!("{place}: the filter `{filter}` matches no case, so its override has no effect{hint}")
    }

    /// Returns whether the override applies to a case.
    pub fn fits(&self, names: CaseNames<'_>) -> bool {
        self.filter.is_match(names.name) || self.filter.is_match(names.full_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TimeLimit;

    fn within(seconds: u64) -> CaseSettings {
        CaseSettings {
            timeout: Some(TimeLimit::seconds(seconds)),
            ..CaseSettings::default()
        }
    }

    fn overriding(filter: &str, settings: CaseSettings) -> CaseOverride {
        CaseOverride {
            place: ConfigLine::at("gpubench.toml", 1),
            filter: Regex::new(filter).expect("an expression"),
            settings,
        }
    }

    const CASE: CaseNames<'_> = CaseNames {
        name: "sums::n=1",
        full_name: "rows::sums::n=1",
    };

    #[track_caller]
    fn assert_timeout(layers: &CaseLayers, package: CaseSettings, seconds: u64) {
        assert_eq!(layers.of_case(CASE, package).timeout, TimeLimit::seconds(seconds));
    }

    #[test]
    fn each_layer_overrides_the_next() {
        let mut layers = CaseLayers::default();
        assert_timeout(&layers, CaseSettings::default(), 10);
        assert_timeout(&layers, within(1), 1);
        layers.profile = within(2);
        assert_timeout(&layers, within(1), 2);
        layers.overrides = vec![overriding("other", within(9)), overriding("sums", within(3))];
        assert_timeout(&layers, within(1), 3);
        layers.given = within(4);
        assert_timeout(&layers, within(1), 4);
        assert_eq!(layers.settings_everywhere().complete().timeout, TimeLimit::seconds(4));
    }

    #[test]
    fn the_first_override_with_a_setting_wins() {
        let slow = CaseSettings {
            max_time: Some(TimeLimit::seconds(7)),
            ..within(5)
        };
        let layers = CaseLayers {
            overrides: vec![overriding("^rows::", within(3)), overriding("n=1$", slow)],
            ..CaseLayers::default()
        };
        let settings = layers.of_case(CASE, CaseSettings::default());
        assert_eq!(settings.timeout, TimeLimit::seconds(3));
        assert_eq!(settings.max_time, TimeLimit::seconds(7));
        assert_eq!(
            layers.settings_everywhere().complete(),
            CaseSettings::BUILT_IN.complete()
        );
    }
}
