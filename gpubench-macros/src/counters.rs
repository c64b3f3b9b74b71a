//! `counters(tokens = rows, pixels = width * height)`: what a call processes besides bytes and
//! operations.

use crate::amounts::{reject_mixed, reject_unknown};
use crate::function::Function;
use crate::options::{comma, group, value};
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

/// `tokens = rows`.
pub(crate) struct Counter {
    pub(crate) name: String,
    pub(crate) amount: Expr,
}

/// Most letters of a name. The library checks it again, and the number of counters.
const LONGEST: usize = 32;

impl Counter {
    /// Parses the parentheses after `counters`.
    pub(crate) fn parse_list(option: &Ident, input: ParseStream) -> Result<Vec<Counter>> {
        let written = "counters(tokens = rows)";
        let content = group(option, input, written)?;
        let mut counters: Vec<Counter> = Vec::new();
        while !content.is_empty() {
            let word = content
                .call(Ident::parse_any)
                .map_err(|error| Error::new(error.span(), format!("expected a name: `{written}`")))?;
            let name = name_of(&word)?;
            if counters.iter().any(|counter| counter.name == name) {
                return Err(Error::new(word.span(), format!("the counter `{name}` is given twice")));
            }
            let amount = value(&word, &content, &format!("{name} = rows"))?;
            counters.push(Counter { name, amount });
            comma(&content)?;
        }
        if counters.is_empty() {
            return Err(Error::new(option.span(), format!("expected `{written}`")));
        }
        Ok(counters)
    }

    /// Returns an expression of type `Counter`, which may return an error.
    pub(crate) fn tokens(&self, function: &Function) -> Result<TokenStream> {
        let Counter { name, amount } = self;
        reject_unknown(name, amount, function)?;
        reject_mixed(amount, function)?;
        Ok(quote_spanned!(amount.span()=> __gpubench::__private::counter(#name, #amount)?))
    }
}

fn name_of(word: &Ident) -> Result<String> {
    let name = word.unraw().to_string();
    if name == "bytes" || name == "flops" {
        return Err(Error::new(
            word.span(),
            format!("`{name}` is an option of its own: write `{name} = ..` outside `counters(..)`"),
        ));
    }
    let is_named = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    if !is_named || name.chars().count() > LONGEST {
        return Err(Error::new(
            word.span(),
            format!("the name of a counter consists of at most {LONGEST} letters, digits and `_`"),
        ));
    }
    Ok(name)
}
