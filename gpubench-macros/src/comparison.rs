//! The options `exact` and `tolerance(..)`.

use crate::options::{comma, group, value};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Expr, Result};

/// `exact` or `tolerance(..)`.
pub(crate) enum Comparison {
    Exact,
    /// The two expressions. An omitted one is zero.
    Tolerance {
        rtol: TokenStream,
        atol: TokenStream,
    },
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Comparison::Exact => "exact",
            Comparison::Tolerance { .. } => "tolerance(..)",
        })
    }
}

const WRITTEN: &str = "tolerance(rtol = 1e-5, atol = 1e-6)";

impl Comparison {
    pub(crate) fn parse_tolerance(option: &Ident, input: ParseStream) -> Result<Comparison> {
        let content = group(option, input, WRITTEN)?;
        let (mut rtol, mut atol) = (None, None);
        while !content.is_empty() {
            let wrong = |span| Error::new(span, format!("expected `{WRITTEN}`"));
            let part = content.call(Ident::parse_any).map_err(|error| wrong(error.span()))?;
            let slot: &mut Option<Expr> = match part.to_string().as_str() {
                "rtol" => &mut rtol,
                "atol" => &mut atol,
                _ => return Err(wrong(part.span())),
            };
            if slot.is_some() {
                return Err(Error::new(part.span(), format!("`{part}` is given twice")));
            }
            *slot = Some(value(&part, &content, &format!("{part} = 1e-6"))?);
            comma(&content)?;
        }
        if rtol.is_none() && atol.is_none() {
            return Err(Error::new(option.span(), format!("expected `{WRITTEN}`")));
        }
        let tokens = |part: Option<Expr>| part.map_or_else(|| quote!(0.0), |part| quote!(#part));
        Ok(Comparison::Tolerance {
            rtol: tokens(rtol),
            atol: tokens(atol),
        })
    }

    /// Returns an `Option<Tolerance>`.
    pub(crate) fn tokens(comparison: Option<&Comparison>) -> TokenStream {
        match comparison {
            None => quote!(::core::option::Option::None),
            Some(Comparison::Exact) => {
                quote!(::core::option::Option::Some(__gpubench::catalog::Tolerance::Exact))
            }
            Some(Comparison::Tolerance { rtol, atol }) => {
                quote!(::core::option::Option::Some(__gpubench::catalog::Tolerance::Close { rtol: #rtol, atol: #atol }))
            }
        }
    }

    /// Returns the call that sets it for the last output of a `Tensors`.
    pub(crate) fn call(&self) -> TokenStream {
        match self {
            Comparison::Exact => quote!(.exact()),
            Comparison::Tolerance { rtol, atol } => quote!(.tolerance(#rtol, #atol)),
        }
    }
}
