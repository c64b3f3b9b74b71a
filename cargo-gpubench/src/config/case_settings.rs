//! Settings that may differ between cases.

use std::any::TypeId;

use thiserror::Error;

use super::{
    CallCount, Denied, Fraction, LeastGrade, Metrics, Modes, SampleCount, Switch, TimeBudget, TimeLimit, WorkerCount,
    settings,
};
use gpubench_contract::Mode;
use gpubench_diagnostic::closest;
use gpubench_store::compare::Rules;

mod serialised;

/// Declares the settings, grouped for the help. Each row has a key, a field, a type, a built-in
/// value and an example. Values are parsed from text and displayed as text.
macro_rules! case_settings {
    ($($(#[$meta:meta])* struct $group:ident {
        $($(#[doc = $doc:literal])+ $(#[arg($($arg:tt)*)])? $key:literal => $field:ident: $type:ty = $built_in:expr, $example:literal;)+
    })+) => {
        settings! {
            $($(#[$meta])* pub(crate) struct $group {
                $($(#[doc = $doc])+ #[arg(long = $key, default_value_t = $built_in, $($($arg)*)?)] $field: $type => Case $example;)+
            })+
        }

        /// Settings that may differ between cases. A setting that is `None` comes from another
        /// source.
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
            /// The built-in values.
            pub const BUILT_IN: CaseSettings = CaseSettings { $($($field: Some($built_in),)+)+ };

            /// Returns all settings, with built-in values for those that are not set.
            pub fn complete(self) -> CompleteSettings {
                let merged = self.over(Self::BUILT_IN);
                CompleteSettings { $($($field: merged.$field.unwrap_or($built_in),)+)+ }
            }

            /// The keys of all settings: the long names of their options.
            pub const KEYS: &[&str] = &[$($($key),+),+];

            /// Returns whether a setting is either on or off.
            pub(crate) fn is_switch(key: &str) -> bool {
                match key {
                    $($($key => TypeId::of::<$type>() == TypeId::of::<Switch>(),)+)+
                    _ => false,
                }
            }

            /// Sets a setting from text.
            ///
            /// # Errors
            /// The key is unknown, or the value is invalid.
            pub fn set(&mut self, key: &str, text: &str) -> Result<(), InvalidSetting> {
                match key {
                    $($($key => self.$field = Some(text.parse().map_err(InvalidSetting::value)?),)+)+
                    _ => return Err(InvalidSetting::Unknown { closest: closest(key, Self::KEYS.iter().copied()) }),
                }
                Ok(())
            }

            /// Returns keys and values of the settings that are set.
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
    #[command(next_help_heading = "Measure")]
    struct SamplingArguments {
        /// Measure each case in these modes: `cold`, `warm`, `hot`, `graph`, `hot-graph`, or
        /// several as in `cold,graph` [default: cold]
        ///
        /// `cold` flushes the caches before each call. `warm` flushes nothing. `graph` puts several
        /// calls in a CUDA graph, each with its own tensors, and flushes the caches before it.
        /// `hot` makes several calls back to back, each with its own tensors, which are in the L2
        /// cache. `hot-graph` puts these in a CUDA graph. With several modes, each case is
        /// measured in one after the other and has a result for each. Results are compared and
        /// ranked only with results of the same mode. `--test` and `--profile-time` use the first
        /// mode. With `--flush-bytes 0` the default is `warm`.
        #[arg(value_name = "MODES", hide_default_value = true)]
        "mode" => mode: Modes = Modes::only(Mode::Cold), "--mode cold,warm";

        /// Measure this: `time`, `instructions`, `memory`, `energy`, `ncu:NAME`, or several as in
        /// `time,memory` [default: time]
        ///
        /// `instructions` counts what the kernels of one call execute: instructions of warps on a
        /// GPU, through CUPTI, and of the processor on the CPU device, through valgrind. They have
        /// a result of their own. `memory` is the most device memory in use at a time during a
        /// call, another result: tensors, scratch, and on a GPU what host code has allocated,
        /// through CUPTI. `energy` reads the GPU's energy counter before and after calls
        /// that are repeated back to back for up to a second, after the samples. The result of the
        /// time has it, and it includes the power of an idle GPU. For short calls they are in
        /// graphs. Host code cannot be, so its energy stays unknown if 400 calls take less than
        /// 200 ms. `ncu:NAME` adds a metric of the hardware to the records, by its name in
        /// `ncu --query-metrics`; further names follow after commas.
        #[arg(value_name = "METRICS", hide_default_value = true)]
        "metric" => metric: Metrics = Metrics::TIME, "--metric time,instructions";

        /// Put this many calls in a sample, in the modes `hot`, `graph` and `hot-graph` [default:
        /// 10 in a graph, or fewer long ones; 8 or more hot ones]
        ///
        /// Each call has its own tensors and scratch. There are fewer calls if a window, the memory
        /// of the device, or for hot calls half of its L2 cache has no room for them;
        /// `calls_per_sample` in the record has the number. By default a graph has fewer calls, but
        /// at least two, if the tensors of ten exceed 256 MiB, or if an earlier mode of the run
        /// shows that fewer calls take 1 ms. Hot calls take about 32 µs together, and there are
        /// always at least eight of them.
        #[arg(value_name = "N", hide_default_value = true)]
        "calls-per-sample" => calls_per_sample: CallCount = CallCount::new(10), "--calls-per-sample 20";

        /// Give up on a case if one call of its kernels takes longer than this
        ///
        /// The limit includes everything around the call: `10s`, `500ms`, `2min`. The case fails
        /// with the verdict `timeout`. With `--test` on the CPU device, up to four cases run at the
        /// same time, and the limit is as many times as long.
        #[arg(value_name = "DURATION")]
        "timeout" => timeout: TimeLimit = TimeLimit::seconds(10), "--timeout 1min";

        /// Give up on a case if one of its CPU functions takes longer than this
        ///
        /// CPU functions are the benchmark function, the CPU reference and the generators. For a
        /// reference that is a command, the limit is for its whole run.
        #[arg(value_name = "DURATION")]
        "reference-timeout" => reference_timeout: TimeLimit = TimeLimit::seconds(60), "--reference-timeout 5min";

        /// Measure each case with this many fresh processes [default: 5 on the CPU device, 3, 5
        /// or 10 on a GPU]
        ///
        /// Processes that run the same code differ by more than the samples within one process. The
        /// medians of the processes show how reproducible a result is. The default is 5 on the CPU
        /// device. On a GPU it is 3 if those determine the value to 0.7% or to a tick of the clock,
        /// otherwise 5, and 10 if those do not either. Limits on samples and time apply to the case
        /// and are divided among its processes. A comparison needs at least 3. With `--against`,
        /// the number sets the rounds; by default there are 5, and up to 20 if those do not decide
        /// the case. `--workers 1` is the shortest run.
        #[arg(value_name = "N", hide_default_value = true)]
        "workers" => workers: WorkerCount = WorkerCount::new(10), "--workers 9";

        /// Warm up each process until its calls have taken this time on the device, or `none`
        ///
        /// The time is the sum of the times of the warm-up calls: `25ms`. The times must be stable,
        /// too, as without this setting. Short calls may not reach the time: the wait for it ends
        /// when the warm-up has taken the process's share of `--max-time`.
        #[arg(value_name = "DURATION", allow_hyphen_values = true)]
        "warmup-time" => warmup_time: TimeBudget = TimeBudget::None, "--warmup-time 25ms";

        /// Stop sampling a case after this time on the device, or `none`
        ///
        /// The time is the sum of the times of all sampled calls: `100ms`. Each process has an
        /// equal share of it, so a case that needs fewer processes takes less. A case always gets
        /// the samples of `--min-samples`. Sampling may stop earlier for another reason. Each mode
        /// has the whole time.
        #[arg(value_name = "DURATION", allow_hyphen_values = true)]
        "sample-time" => sample_time: TimeBudget = TimeBudget::None, "--sample-time 100ms";

        /// Idle after each window for five times the duration of its calls
        ///
        /// The GPU cools down and can draw full power again. A rest takes at most a second. It does
        /// not count as `--max-time`.
        #[arg(value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_default_value = true)]
        "cooldown" => cooldown: Switch = Switch::Off, "--cooldown";

        /// Stop sampling when the coefficient of variation is below this: `2%`, `0.02`
        ///
        /// Samples of a short kernel never get there. For those, a narrow confidence interval of
        /// the median is enough.
        #[arg(value_name = "FRACTION")]
        "target-cv" => target_cv: Fraction = Fraction::new(0.01), "--target-cv 0.5%";

        /// Take at least this many samples of a case
        #[arg(value_name = "N")]
        "min-samples" => min_samples: SampleCount = SampleCount::new(20), "--min-samples 100";

        /// Take at most this many samples of a case
        #[arg(value_name = "N")]
        "max-samples" => max_samples: SampleCount = SampleCount::new(1000), "--max-samples 50";

        /// Stop sampling a case after this time
        ///
        /// A case always gets the samples of `--min-samples`. Several modes of a case share the
        /// time.
        #[arg(value_name = "DURATION")]
        "max-time" => max_time: TimeLimit = TimeLimit::seconds(2), "--max-time 500ms";

        /// Fail a case if there is a notice about its check or its audit
        ///
        /// `notices`: correct answers to other inputs would pass the check, or zeros would; or
        /// `--audit` found a leak or a failed call, or could not see the calls. The case then ends
        /// as `error` with the cause `denied-notice`, and the exit code is 100. This is not the
        /// default, because indices, flags and counts are often the same for many inputs.
        #[arg(value_name = "WHAT", value_enum)]
        "deny" => deny: Denied = Denied::Nothing, "--deny notices";

        /// Fail a case if the grade of its times is lower than this
        ///
        /// The case ends as `error` with the cause `grade-too-low` and the reason for its grade,
        /// and the exit code is 100. `cargo gpubench doctor` shows which grades a machine can give.
        /// `--test` measures no times, so it has no grades.
        #[arg(value_name = "GRADE", value_enum)]
        "require-grade" => require_grade: LeastGrade = LeastGrade::Unverified, "--require-grade sealed";
    }

    #[command(next_help_heading = "Compare")]
    struct NoiseArguments {
        /// Treat changes below this as noise: `2%`, `0.02`
        ///
        /// If the history of the device has ten runs and shows more noise, that value counts.
        #[arg(value_name = "FRACTION")]
        "noise-threshold" => noise_threshold: Fraction = Fraction::new(Rules::FLOOR), "--noise-threshold 2%";

        /// Report changes of instruction counts only if they are larger than this: `0.5%`, `0.005`
        ///
        /// It replaces `--noise-threshold` for counts, which hardly vary.
        #[arg(value_name = "FRACTION")]
        "count-threshold" => count_threshold: Fraction = Fraction::new(Rules::COUNT_FLOOR), "--count-threshold 0.5%";
    }
}

/// The reason why a setting is invalid.
#[derive(Debug, Error)]
pub enum InvalidSetting {
    /// No setting has this key.
    #[error("no setting with this name can differ between cases")]
    Unknown {
        /// The most similar key.
        closest: Option<&'static str>,
    },
    /// The value is invalid.
    #[error(transparent)]
    Value(Box<dyn std::error::Error + Send + Sync>),
}

impl InvalidSetting {
    fn value(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Value(Box::new(error))
    }
}

/// `min-samples` above `max-samples`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("`min-samples` {min} is more than `max-samples` {max}")]
pub struct SamplesCross {
    /// `min-samples`.
    pub min: SampleCount,
    /// `max-samples`.
    pub max: SampleCount,
}

impl CaseSettings {
    /// Returns these settings, completed by `lower`. If a limit on the samples crosses the other
    /// limit of `lower`, both limits become equal.
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

    /// Checks that the settings do not contradict each other.
    ///
    /// # Errors
    /// `min-samples` is more than `max-samples`.
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
    fn displayed_settings_can_be_parsed() {
        let entries = CaseSettings::BUILT_IN.entries();
        let keys: Vec<_> = entries.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, CaseSettings::KEYS, "every setting has a built-in value");
        let texts: Vec<_> = entries.iter().map(|(key, text)| (*key, text.as_str())).collect();
        assert_eq!(settings(&texts), CaseSettings::BUILT_IN);
    }

    #[test]
    fn criteria_are_words_and_a_higher_layer_wins() {
        let strict = settings(&[("deny", "notices"), ("require-grade", "sealed")]);
        let lenient = settings(&[("deny", "nothing"), ("require-grade", "sandboxed")]);
        let merged = strict.over(lenient).complete();
        assert_eq!(
            (merged.deny, merged.require_grade),
            (Denied::Notices, LeastGrade::Sealed)
        );
        let error = CaseSettings::default().set("deny", "warnings").unwrap_err();
        assert_eq!(error.to_string(), "possible values: `nothing`, `notices`");
    }

    #[test]
    fn an_unknown_setting_has_the_closest_as_a_hint() {
        let error = CaseSettings::default().set("max-tme", "1s").unwrap_err();
        assert!(matches!(
            error,
            InvalidSetting::Unknown {
                closest: Some("max-time")
            }
        ));
    }

    #[test]
    fn one_limit_moves_the_other_limit_of_a_lower_layer() {
        let few = settings(&[("max-samples", "5")]).over(CaseSettings::BUILT_IN);
        assert_eq!(
            (few.min_samples, few.max_samples),
            (Some(SampleCount::new(5)), Some(SampleCount::new(5)))
        );
        let many = settings(&[("min-samples", "5000")]).over(CaseSettings::BUILT_IN);
        assert_eq!(many.max_samples, Some(SampleCount::new(5000)));
        let wide = settings(&[("min-samples", "30")]).over(CaseSettings::BUILT_IN);
        assert_eq!(wide.max_samples, Some(SampleCount::new(1000)));
    }

    #[test]
    fn contradictory_limits_in_one_layer_are_refused() {
        let crossing = settings(&[("min-samples", "3"), ("max-samples", "2")]);
        assert_eq!(
            crossing.consistent().unwrap_err().to_string(),
            "`min-samples` 3 is more than `max-samples` 2"
        );
    }

    fn layer() -> impl Strategy<Value = CaseSettings> {
        let bound = || proptest::option::of((1..40_usize).prop_map(SampleCount::new));
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
        fn a_higher_layer_always_wins(higher in layer(), lower in layer()) {
            prop_assume!(higher.consistent().is_ok() && lower.consistent().is_ok());
            let merged = higher.over(lower).over(CaseSettings::BUILT_IN);
            prop_assert!(merged.consistent().is_ok());
            for (key, text) in higher.entries() {
                prop_assert!(merged.entries().contains(&(key, text)), "{key}");
            }
        }
    }
}
