//! The options `score = ..` and `limits(..)`: how a submission to a problem is graded.

use crate::options::{comma, group, value};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, LitStr, Result};

/// How cases make one score.
#[derive(Clone, Copy, Default)]
pub(crate) enum Score {
    #[default]
    GeometricMean,
    ArithmeticMean,
    Last,
}

impl Score {
    /// Parses the value after `score`.
    pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Score> {
        let expected = "expected `score = geometric_mean`, `arithmetic_mean` or `last`";
        let at = |error: Error| Error::new(error.span(), expected);
        let equals: Option<syn::Token![=]> = input.parse()?;
        if equals.is_none() || input.is_empty() {
            return Err(Error::new(option.span(), expected));
        }
        let word = input.call(Ident::parse_any).map_err(at)?;
        match word.to_string().as_str() {
            "geometric_mean" => Ok(Score::GeometricMean),
            "arithmetic_mean" => Ok(Score::ArithmeticMean),
            "last" => Ok(Score::Last),
            _ => Err(Error::new(word.span(), expected)),
        }
    }

    pub(crate) fn tokens(self) -> TokenStream {
        match self {
            Score::GeometricMean => quote!(__gpubench::catalog::Score::GeometricMean),
            Score::ArithmeticMean => quote!(__gpubench::catalog::Score::ArithmeticMean),
            Score::Last => quote!(__gpubench::catalog::Score::Last),
        }
    }
}

/// `limits(time = "10s", source = "64 KiB")`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    call_ns: Option<u64>,
    source_bytes: Option<u64>,
}

const WRITTEN: &str = "limits(time = \"10s\", source = \"64 KiB\")";

const TIMES: [(&str, u64); 5] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];

const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

impl Limits {
    /// Parses the parentheses after `limits`.
    pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Limits> {
        let content = group(option, input, WRITTEN)?;
        let mut limits = Limits::default();
        if content.is_empty() {
            return Err(Error::new(option.span(), format!("expected `{WRITTEN}`")));
        }
        while !content.is_empty() {
            let wrong = |span| Error::new(span, format!("the limits are `time` and `source`: `{WRITTEN}`"));
            let word = content.call(Ident::parse_any).map_err(|error| wrong(error.span()))?;
            let (slot, example, units, what) = match word.to_string().as_str() {
                "time" => (&mut limits.call_ns, "time = \"10s\"", &TIMES[..], "a time above zero"),
                "source" => (
                    &mut limits.source_bytes,
                    "source = \"64 KiB\"",
                    &SIZES[..],
                    "a size above zero",
                ),
                _ => return Err(wrong(word.span())),
            };
            if slot.is_some() {
                return Err(Error::new(word.span(), format!("`{word}` is given twice")));
            }
            let text: LitStr = value(&word, &content, example)
                .map_err(|error| Error::new(error.span(), format!("expected `{example}`")))?;
            let amount = amount(&text.value(), units);
            *slot = Some(amount.ok_or_else(|| {
                let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
                let names = names.join("`, `");
                Error::new(
                    text.span(),
                    format!("expected {what}, a whole number with a unit, as in `{example}`; the units are `{names}`"),
                )
            })?);
            comma(&content)?;
        }
        Ok(limits)
    }

    pub(crate) fn tokens(self) -> TokenStream {
        let option = |limit: Option<u64>| match limit {
            None => quote!(::core::option::Option::None),
            Some(limit) => quote!(::core::option::Option::Some(#limit)),
        };
        let (call_ns, source_bytes) = (option(self.call_ns), option(self.source_bytes));
        quote! {
            __gpubench::catalog::SubmissionLimits { call_ns: #call_ns, source_bytes: #source_bytes }
        }
    }
}

/// Returns a whole number above zero in the smallest unit.
fn amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(*factor)
        .filter(|amount| *amount > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_whole_number_with_a_unit() {
        assert_eq!(amount("10s", &TIMES), Some(10_000_000_000));
        assert_eq!(amount("250 us", &TIMES), Some(250_000));
        assert_eq!(amount("64 KiB", &SIZES), Some(65_536));
        for wrong in [
            "",
            "10",
            "0s",
            "1.5s",
            "-1s",
            "10 parsecs",
            "s",
            "99999999999999999999s",
        ] {
            assert_eq!(amount(wrong, &TIMES), None, "{wrong}");
        }
        assert_eq!(amount("18446744073709551615GiB", &SIZES), None);
    }
}
