//! What may be set for some cases and not for others.

use thiserror::Error;

use super::{Denied, Fraction, LeastGrade, SampleCount, TimeLimit, WorkerCount, settings};
use gpubench_diagnostic::closest;
use gpubench_store::compare::Rules;

mod serialised;

/// Declares the settings, grouped for the help, a row each: its key, its field, its type, its
/// built-in value and an example. A type is read and shown as text.
macro_rules! case_settings {
    ($($(#[$meta:meta])* struct $group:ident {
        $($(#[doc = $doc:literal])+ $(#[arg($($arg:tt)*)])? $key:literal => $field:ident: $type:ty = $built_in:expr, $example:literal;)+
    })+) => {
        settings! {
            $($(#[$meta])* pub(crate) struct $group {
                $($(#[doc = $doc])+ #[arg(long = $key, default_value_t = $built_in, $($($arg)*)?)] $field: $type => Case $example;)+
            })+
        }

        /// Settings that may differ from case to case; one that is not there is decided elsewhere.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct CaseSettings {
            $($($(#[doc = $doc])+ pub $field: Option<$type>,)+)+
        }

        /// A value for every setting.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct CompleteSettings {
            $($($(#[doc = $doc])+ pub $field: $type,)+)+
        }

        impl CaseSettings {
            /// What holds where nothing is said.
            pub const BUILT_IN: CaseSettings = CaseSettings { $($($field: Some($built_in),)+)+ };

            /// The settings, and what is built in where they say nothing.
            pub fn complete(self) -> CompleteSettings {
                let merged = self.over(Self::BUILT_IN);
                CompleteSettings { $($($field: merged.$field.unwrap_or($built_in),)+)+ }
            }

            /// The keys of all settings, named as the options of the command line.
            pub const KEYS: &[&str] = &[$($($key),+),+];

            /// Reads a setting.
            ///
            /// # Errors
            /// There is none of this key, or the text is not one of its values.
            pub fn set(&mut self, key: &str, text: &str) -> Result<(), InvalidSetting> {
                match key {
                    $($($key => self.$field = Some(text.parse().map_err(InvalidSetting::value)?),)+)+
                    _ => return Err(InvalidSetting::Unknown { closest: closest(key, Self::KEYS.iter().copied()) }),
                }
                Ok(())
            }

            /// Keys and values of what is set.
            pub fn entries(&self) -> Vec<(&'static str, String)> {
                let entries = [$($(($key, self.$field.map(|value| value.to_string()))),+),+];
                entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
            }

            fn or(self, lower: Self) -> Self {
                Self { $($($field: self.$field.or(lower.$field),)+)+ }
            }
        }
    };
}

case_settings! {
    #[command(next_help_heading = "Measurement options")]
    struct SamplingArguments {
        /// Give up on a case when one call of its kernels takes longer than this
        ///
        /// Everything around the call counts, too: `10s`, `500ms`, `2min`. The case fails with the
        /// verdict `timeout`.
        #[arg(value_name = "DURATION")]
        "timeout" => timeout: TimeLimit = TimeLimit::seconds(10), "--timeout 1min";

        /// Give up on a case when its benchmark function, CPU reference or generator takes longer
        /// than this for one call
        #[arg(value_name = "DURATION")]
        "reference-timeout" => reference_timeout: TimeLimit = TimeLimit::seconds(60), "--reference-timeout 5min";

        /// Measure each case by this many fresh processes, one after another [default: 5 on the CPU
        /// device, 5 or 10 on a GPU]
        ///
        /// Two processes that run the same code differ by more than the samples inside one of them:
        /// their medians tell how far a result can be reproduced. Unless a number is given, there
        /// are 5 on the CPU device; on a GPU 5 where they say the case's median to 0.5% or a tick
        /// of the clock, else 10. Limits on samples and time are the case's, and are divided. A
        /// comparison wants at least 3. With `--against`, a number that is given is that of the
        /// rounds; otherwise there are 5, and where those do not decide 10 or 20. `--workers 1` is
        /// the shortest run.
        #[arg(value_name = "N", hide_default_value = true)]
        "workers" => workers: WorkerCount = WorkerCount::of(10), "--workers 9";

        /// Stop sampling when the coefficient of variation is below this: `2%`, `0.02`
        ///
        /// The samples of a short kernel never get there; for those a narrow confidence interval of
        /// the median is enough.
        #[arg(value_name = "FRACTION")]
        "target-cv" => target_cv: Fraction = Fraction::of(0.01), "--target-cv 0.5%";

        /// Take at least this many samples of a case
        #[arg(value_name = "N")]
        "min-samples" => min_samples: SampleCount = SampleCount::of(20), "--min-samples 100";

        /// Take at most this many samples of a case
        #[arg(value_name = "N")]
        "max-samples" => max_samples: SampleCount = SampleCount::of(1000), "--max-samples 50";

        /// Stop sampling a case after this time
        ///
        /// The samples of `--min-samples` are taken in any case.
        #[arg(value_name = "DURATION")]
        "max-time" => max_time: TimeLimit = TimeLimit::seconds(2), "--max-time 500ms";

        /// Fail a case that has a notice about its check
        ///
        /// `notices`: the right answers to other inputs would pass, or zeros would. The case then
        /// ends as `error` with the cause `denied-notice`, and the command with 100. It is not the
        /// default: indices, flags and counts are honestly alike for many inputs.
        #[arg(value_name = "WHAT", value_enum)]
        "deny" => deny: Denied = Denied::Nothing, "--deny notices";

        /// Fail a case whose times can be trusted less than this
        ///
        /// The case ends as `error` with the cause `grade-too-low` and the reason of its grade, and
        /// the command with 100. `cargo gpubench doctor` says which grade a machine can give.
        /// `--test` measures no times and has no grades.
        #[arg(value_name = "GRADE", value_enum)]
        "require-grade" => require_grade: LeastGrade = LeastGrade::Advisory, "--require-grade sealed";
    }

    #[command(next_help_heading = "Baseline options")]
    struct NoiseArguments {
        /// Take changes below this for noise: `2%`, `0.02`
        ///
        /// Where the history of the device has ten runs and shows more noise, that counts.
        #[arg(value_name = "FRACTION")]
        "noise-threshold" => noise_threshold: Fraction = Fraction::of(Rules::FLOOR), "--noise-threshold 2%";
    }
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
    /// These settings, and `lower` where these say nothing. A bound on the samples takes the other
    /// bound of `lower` along where the two would cross.
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
    fn what_a_case_must_meet_is_said_by_words_and_a_higher_layer_counts() {
        let strict = settings(&[("deny", "notices"), ("require-grade", "sealed")]);
        let lenient = settings(&[("deny", "nothing"), ("require-grade", "bracketed")]);
        let merged = strict.over(lenient).complete();
        assert_eq!(
            (merged.deny, merged.require_grade),
            (Denied::Notices, LeastGrade::Sealed)
        );
        let error = CaseSettings::default().set("deny", "warnings").unwrap_err();
        assert_eq!(error.to_string(), "possible are `nothing`, `notices`");
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
        let bound = || proptest::option::of((1..40_usize).prop_map(SampleCount::of));
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
