//! Which setting holds for a case.

use regex::Regex;

use super::{CaseSettings, CompleteSettings, ConfigLine};
use gpubench_diagnostic::{closest, suggestion};

/// What is said about cases beside their packages, in the order in which it counts.
#[derive(Clone, Debug, Default)]
pub struct CaseLayers {
    /// By the command line and the environment.
    pub given: CaseSettings,
    /// By the profile's overrides, and then by those of the profiles that it inherits from.
    pub overrides: Vec<CaseOverride>,
    /// By the profile itself.
    pub profile: CaseSettings,
}

/// Settings for the cases of some names.
#[derive(Clone, Debug)]
pub struct CaseOverride {
    /// Where it stands.
    pub place: ConfigLine,
    /// Found in the names of the cases: with the package in front, or without.
    pub filter: Regex,
    /// What holds for them.
    pub settings: CaseSettings,
}

/// The two forms of a case's name.
#[derive(Clone, Copy, Debug)]
pub struct CaseNames<'a> {
    /// Within its package.
    pub name: &'a str,
    /// With the package in front.
    pub full_name: &'a str,
}

impl CaseLayers {
    /// What holds for a case whose package asks for `package`: every setting from the first layer
    /// that has it.
    pub fn of_case(&self, names: CaseNames<'_>, package: CaseSettings) -> CompleteSettings {
        self.said_of_case(names, package).complete()
    }

    /// As [`of_case`](Self::of_case), and nothing where no layer says anything.
    pub fn said_of_case(&self, names: CaseNames<'_>, package: CaseSettings) -> CaseSettings {
        let overrides = self.overrides.iter().filter(|other| other.fits(names));
        overrides
            .fold(self.given, |settings, other| settings.over(other.settings))
            .over(self.profile)
            .over(package)
    }

    /// The values that hold for every case, before any override.
    pub fn said_everywhere(&self) -> CaseSettings {
        self.given.over(self.profile)
    }
}

impl CaseOverride {
    /// What to tell of it where it fits none of the benchmarks of these paths.
    pub fn told_as_idle<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> String {
        let CaseOverride { place, filter, .. } = self;
        let hint = match closest(filter.as_str().trim_matches(['^', '$']), paths) {
            None => " (hint: `cargo gpubench --list` prints the names)".to_owned(),
            closest => suggestion(closest),
        };
        format!("{place}: the filter `{filter}` fits no benchmark that is built, and its override has no effect{hint}")
    }

    /// Whether a case is one of those.
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
    fn each_layer_counts_more_than_the_one_below() {
        let mut layers = CaseLayers::default();
        assert_timeout(&layers, CaseSettings::default(), 10);
        assert_timeout(&layers, within(1), 1);
        layers.profile = within(2);
        assert_timeout(&layers, within(1), 2);
        layers.overrides = vec![overriding("other", within(9)), overriding("sums", within(3))];
        assert_timeout(&layers, within(1), 3);
        layers.given = within(4);
        assert_timeout(&layers, within(1), 4);
        assert_eq!(layers.said_everywhere().complete().timeout, TimeLimit::seconds(4));
    }

    #[test]
    fn of_several_overrides_the_first_wins_for_each_setting() {
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
        assert_eq!(layers.said_everywhere().complete(), CaseSettings::BUILT_IN.complete());
    }
}
