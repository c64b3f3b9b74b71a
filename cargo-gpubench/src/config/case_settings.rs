//! What may be set for some cases and not for others.

use thiserror::Error;

use super::{Fraction, Percent, SampleCount, TimeLimit, WorkerCount};
use gpubench_diagnostic::closest;

mod serialised;

/// Declares the settings, one a line: its key, its field, its type and its built-in value. A type is read and shown as text.
macro_rules! case_settings {
    ($($(#[$doc:meta])+ $key:literal => $field:ident: $type:ty = $built_in:expr,)+) => {
        /// Settings that may differ from case to case; one that is not there is decided elsewhere.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct CaseSettings {
            $($(#[$doc])+ pub $field: Option<$type>,)+
        }

        /// A value for every setting.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct CompleteSettings {
            $($(#[$doc])+ pub $field: $type,)+
        }

        impl From<CompleteSettings> for CaseSettings {
            fn from(complete: CompleteSettings) -> Self {
                Self { $($field: Some(complete.$field),)+ }
            }
        }

        impl CaseSettings {
            /// What holds where nothing is said.
            pub const BUILT_IN: CaseSettings = CaseSettings { $($field: Some($built_in),)+ };

            /// The settings, and what is built in where they say nothing.
            pub fn complete(self) -> CompleteSettings {
                let merged = self.over(Self::BUILT_IN);
                CompleteSettings { $($field: merged.$field.unwrap_or($built_in),)+ }
            }

            /// The keys of all settings, named as the options of the command line.
            pub const KEYS: &[&str] = &[$($key),+];

            /// Reads a setting.
            ///
            /// # Errors
            /// There is none of this key, or the text is not one of its values.
            pub fn set(&mut self, key: &str, text: &str) -> Result<(), InvalidSetting> {
                match key {
                    $($key => self.$field = Some(text.parse().map_err(InvalidSetting::value)?),)+
                    _ => return Err(InvalidSetting::Unknown { closest: closest(key, Self::KEYS.iter().copied()) }),
                }
                Ok(())
            }

            /// Those whose keys are wanted.
            #[must_use]
            pub fn only(self, wanted: impl Fn(&str) -> bool) -> Self {
                Self { $($field: self.$field.filter(|_| wanted($key)),)+ }
            }

            /// Keys and values of what is set.
            pub fn entries(&self) -> Vec<(&'static str, String)> {
                let entries = [$(($key, self.$field.map(|value| value.to_string()))),+];
                entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
            }

            fn or(self, lower: Self) -> Self {
                Self { $($field: self.$field.or(lower.$field),)+ }
            }
        }
    };
}

case_settings! {
    /// How long a window may take.
    "timeout" => timeout: TimeLimit = TimeLimit::seconds(10),
    /// How long a CPU reference or CPU generator may take for one call.
    "reference-timeout" => reference_timeout: TimeLimit = TimeLimit::seconds(60),
    /// How many fresh workers the samples come from. Where nobody says, so many are the most.
    "workers" => workers: WorkerCount = WorkerCount::of(10),
    /// The coefficient of variation that is good enough.
    "target-cv" => target_cv: Percent = Percent::whole(1),
    /// The fewest samples.
    "min-samples" => min_samples: SampleCount = SampleCount::of(20),
    /// The most samples.
    "max-samples" => max_samples: SampleCount = SampleCount::of(1000),
    /// How long samples are taken.
    "max-time" => max_time: TimeLimit = TimeLimit::seconds(2),
    /// The relative change that is taken for noise.
    "noise-threshold" => noise_threshold: Fraction = Fraction::hundredths(1),
}

/// Why a text is no setting.
#[derive(Debug, Error)]
pub enum InvalidSetting {
    /// No setting has this key.
    #[error("there is no setting of this name for single cases")]
    Unknown {
        /// The key that was probably meant.
        closest: Option<&'static str>,
    },
    /// The value cannot be read.
    #[error(transparent)]
    Value(Box<dyn std::error::Error + Send + Sync>),
}

impl InvalidSetting {
    fn value(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Value(Box::new(error))
    }
}

/// More samples at least than at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("`min-samples` {min} is more than `max-samples` {max}")]
pub struct SamplesCross {
    /// At least.
    pub min: SampleCount,
    /// At most.
    pub max: SampleCount,
}

impl CaseSettings {
    /// These settings, and `lower` where these say nothing. A bound on the samples takes the other bound of `lower` along where the two would cross.
    #[must_use]
    pub fn over(self, lower: Self) -> Self {
        let mut merged = self.or(lower);
        if merged.min_samples > merged.max_samples && merged.max_samples.is_some() {
            match (self.min_samples, self.max_samples) {
                (None, Some(max)) => merged.min_samples = Some(max),
                (Some(min), None) => merged.max_samples = Some(min),
                _ => {}
            }
        }
        merged
    }

    /// Looks whether the settings can hold together.
    ///
    /// # Errors
    /// They ask for more samples at least than at most.
    pub fn consistent(self) -> Result<Self, SamplesCross> {
        match (self.min_samples, self.max_samples) {
            (Some(min), Some(max)) if min > max => Err(SamplesCross { min, max }),
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn settings(entries: &[(&str, &str)]) -> CaseSettings {
        let mut settings = CaseSettings::default();
        for (key, text) in entries {
            settings.set(key, text).expect("a setting");
        }
        settings
    }

    #[test]
    fn settings_are_shown_as_they_can_be_read_back() {
        let entries = CaseSettings::BUILT_IN.entries();
        let keys: Vec<_> = entries.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, CaseSettings::KEYS, "every setting has a built-in value");
        let texts: Vec<_> = entries.iter().map(|(key, text)| (*key, text.as_str())).collect();
        assert_eq!(settings(&texts), CaseSettings::BUILT_IN);
    }

    #[test]
    fn an_unknown_setting_is_told_the_closest() {
        let error = CaseSettings::default().set("max-tme", "1s").unwrap_err();
        assert!(matches!(
            error,
            InvalidSetting::Unknown {
                closest: Some("max-time")
            }
        ));
    }

    #[test]
    fn one_bound_takes_the_other_of_a_lower_layer_along() {
        let few = settings(&[("max-samples", "5")]).over(CaseSettings::BUILT_IN);
        assert_eq!(
            (few.min_samples, few.max_samples),
            (Some(SampleCount::of(5)), Some(SampleCount::of(5)))
        );
        let many = settings(&[("min-samples", "5000")]).over(CaseSettings::BUILT_IN);
        assert_eq!(many.max_samples, Some(SampleCount::of(5000)));
        let wide = settings(&[("min-samples", "30")]).over(CaseSettings::BUILT_IN);
        assert_eq!(wide.max_samples, Some(SampleCount::of(1000)));
    }

    #[test]
    fn bounds_that_cross_in_one_place_are_refused() {
        let crossing = settings(&[("min-samples", "3"), ("max-samples", "2")]);
        assert_eq!(
            crossing.consistent().unwrap_err().to_string(),
            "`min-samples` 3 is more than `max-samples` 2"
        );
    }

    fn layer() -> impl Strategy<Value = CaseSettings> {
        let bound = || proptest::option::of((1..40_u32).prop_map(SampleCount::of));
        let time = || proptest::option::of((1..40_u64).prop_map(TimeLimit::seconds));
        (bound(), bound(), time(), time()).prop_map(|(min_samples, max_samples, timeout, max_time)| CaseSettings {
            min_samples,
            max_samples,
            timeout,
            max_time,
            ..CaseSettings::default()
        })
    }

    proptest! {
        #[test]
        fn what_a_higher_layer_says_is_never_lost(higher in layer(), lower in layer()) {
            prop_assume!(higher.consistent().is_ok() && lower.consistent().is_ok());
            let merged = higher.over(lower).over(CaseSettings::BUILT_IN);
            prop_assert!(merged.consistent().is_ok());
            for (key, text) in higher.entries() {
                prop_assert!(merged.entries().contains(&(key, text)), "{key}");
            }
        }
    }
}
