//! Options that are settings of a benchmark's cases.

use crate::options::value;
use proc_macro2::{Ident, Span};
use syn::parse::ParseStream;
use syn::{Error, Lit, LitStr, Result};

/// An option that is the default of a setting for a benchmark's cases.
pub(crate) struct Setting {
    /// Name of the option.
    pub(crate) option: &'static str,
    /// The option with a placeholder, for lists of options.
    pub(crate) written: &'static str,
    /// Key of the setting.
    key: &'static str,
    kind: Kind,
}

/// What a value can be. The tool checks the rest, and names the file and the line.
#[derive(Clone, Copy)]
enum Kind {
    /// Text.
    Words { example: &'static str },
    /// A time with its unit: `"25ms"`.
    Time { example: &'static str },
    /// A time, or `"none"`.
    Budget { example: &'static str },
    /// A whole number from 1.
    Count { example: &'static str },
    /// A percentage, or a number between 0 and 1.
    Fraction { example: &'static str },
    /// The option alone.
    Switch,
}

macro_rules! settings {
    ($($option:ident = $written:literal => $key:literal: $kind:ident $({ $example:literal })?;)+) => {
        /// All such options.
        pub(crate) const SETTINGS: &[Setting] = &[$(Setting {
            option: stringify!($option),
            written: $written,
            key: $key,
            kind: Kind::$kind $({ example: $example })?,
        }),+];
    };
}

settings! {
    mode = "mode = \"..\"" => "mode": Words { "cold,warm" };
    warmup_time = "warmup_time = \"..\"" => "warmup-time": Budget { "25ms" };
    sample_time = "sample_time = \"..\"" => "sample-time": Budget { "100ms" };
    cooldown = "cooldown" => "cooldown": Switch;
    min_samples = "min_samples = .." => "min-samples": Count { "100" };
    max_samples = "max_samples = .." => "max-samples": Count { "50" };
    max_time = "max_time = \"..\"" => "max-time": Time { "500ms" };
    target_cv = "target_cv = .." => "target-cv": Fraction { "0.5%" };
    workers = "workers = .." => "workers": Count { "5" };
    calls_per_sample = "calls_per_sample = .." => "calls-per-sample": Count { "20" };
    timeout = "timeout = \"..\"" => "timeout": Time { "1min" };
    reference_timeout = "reference_timeout = \"..\"" => "reference-timeout": Time { "5min" };
}

/// Returns the setting of an option.
pub(crate) fn named(option: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.option == option)
}

/// A setting as given: its key and value, as a profile has them.
pub(crate) struct Given {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    span: Span,
}

impl Setting {
    /// Parses the value after the option's name.
    pub(crate) fn parse(&self, option: &Ident, input: ParseStream) -> Result<Given> {
        if let Kind::Switch = self.kind {
            return Ok(self.given("true".to_owned(), option.span()));
        }
        let example = self.example();
        let literal: Lit = value(option, input, &example).map_err(|error| {
            let message = format!("expected `{example}`");
            Error::new(error.span(), message)
        })?;
        let text = self.text(&literal).ok_or_else(|| {
            let expected = self.kind.expected();
            Error::new(literal.span(), format!("expected {expected}, as in `{example}`"))
        })?;
        Ok(self.given(text, literal.span()))
    }

    fn given(&self, value: String, span: Span) -> Given {
        Given {
            key: self.key,
            value,
            span,
        }
    }

    fn example(&self) -> String {
        let option = self.option;
        match self.kind {
            Kind::Switch => option.to_owned(),
            Kind::Count { example } => format!("{option} = {example}"),
            Kind::Words { example }
            | Kind::Time { example }
            | Kind::Budget { example }
            | Kind::Fraction { example } => format!("{option} = \"{example}\""),
        }
    }

    /// Returns the value as a profile has it, if it can be one.
    fn text(&self, literal: &Lit) -> Option<String> {
        match (self.kind, literal) {
            (Kind::Words { .. }, Lit::Str(text)) => Some(text.value()),
            (Kind::Time { .. }, Lit::Str(text)) => time(text),
            (Kind::Budget { .. }, Lit::Str(text)) if text.value() == "none" => Some(text.value()),
            (Kind::Budget { .. }, Lit::Str(text)) => time(text),
            (Kind::Count { .. }, Lit::Int(number)) => {
                let number: u64 = number.base10_parse().ok()?;
                (number > 0).then(|| number.to_string())
            }
            (Kind::Fraction { .. }, Lit::Float(number)) => {
                let number: f64 = number.base10_parse().ok()?;
                (number > 0.0 && number < 1.0).then(|| number.to_string())
            }
            (Kind::Fraction { .. }, Lit::Str(text)) => {
                let text = text.value();
                let percentage: f64 = text.strip_suffix('%')?.trim_end().parse().ok()?;
                (percentage > 0.0 && percentage < 100.0).then_some(text)
            }
            _ => None,
        }
    }
}

impl Kind {
    fn expected(self) -> &'static str {
        match self {
            Kind::Words { .. } => "text",
            Kind::Time { .. } => "a time above zero with its unit",
            Kind::Budget { .. } => "a time above zero with its unit, or `none`",
            Kind::Count { .. } => "a whole number of at least 1",
            Kind::Fraction { .. } => "a percentage above 0 and below 100",
            Kind::Switch => "nothing",
        }
    }
}

/// Returns a text that looks like a time with its unit.
fn time(text: &LitStr) -> Option<String> {
    let text = text.value();
    let is_time = text.starts_with(|first: char| first.is_ascii_digit())
        && text.ends_with(char::is_alphabetic)
        && text.contains(|digit| ('1'..='9').contains(&digit));
    is_time.then_some(text)
}

/// Fails if the least number of samples is more than the most.
pub(crate) fn reject_crossing(settings: &[Given]) -> Result<()> {
    let number = |key: &str| {
        let given = settings.iter().find(|given| given.key == key)?;
        Some((given.value.parse::<u64>().ok()?, given.span))
    };
    match (number("min-samples"), number("max-samples")) {
        (Some((min, span)), Some((max, _))) if min > max => Err(Error::new(
            span,
            format!("`min_samples` is {min}, but `max_samples` is {max}"),
        )),
        _ => Ok(()),
    }
}
