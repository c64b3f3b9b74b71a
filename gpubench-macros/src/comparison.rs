//! The options `exact` and `tolerance(..)`.

use crate::function::{Function, Kind};
use crate::options::{Options, comma, group, value};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result, Type};

/// The elements that are compared for equality, unless their output has a tolerance of its own.
const INTEGERS: [&str; 8] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"];

/// Fails on a tolerance for the floating-point outputs of a function that only has integers.
pub(crate) fn reject_for_integers(options: &Options, function: &Function) -> Result<()> {
    let mut outputs = function
        .parameters
        .iter()
        .filter_map(|parameter| match &parameter.kind {
            Kind::Write(element) => Some((parameter, element)),
            Kind::Axis | Kind::Read(_) | Kind::Scratch(_) => None,
        });
    let given = ["tolerance", "reduction"]
        .into_iter()
        .find_map(|name| options.given(name));
    let (Some(option), Some((first, element))) = (given, outputs.next()) else {
        return Ok(());
    };
    let all_are = |element| options.types.of(element).iter().all(is_integer);
    if !all_are(element) || !outputs.all(|(_, element)| all_are(element)) {
        return Ok(());
    }
    Err(Error::new(
        option.span(),
        format!(
            "no output has floating-point numbers, and integers are compared exactly: remove `{option}`, or give an output its own, such as `#[tolerance(atol = 1.0)]` before `{}`",
            first.text()
        ),
    ))
}

fn is_integer(ty: &Type) -> bool {
    let Type::Path(path) = ty else {
        return false;
    };
    INTEGERS.iter().any(|name| path.path.is_ident(name))
}

/// `exact` or `tolerance(..)`.
pub(crate) enum Comparison {
    Exact,
    /// The two expressions. An omitted one is zero.
    Tolerance {
        rtol: TokenStream,
        atol: TokenStream,
        /// `mismatched` and `cap`.
        mismatched: Option<(TokenStream, TokenStream)>,
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
const WITH_MISMATCHED: &str = "tolerance(rtol = 1e-2, mismatched = 0.001, cap = 10.0)";

impl Comparison {
    pub(crate) fn parse_tolerance(option: &Ident, input: ParseStream) -> Result<Comparison> {
        let content = group(option, input, WRITTEN)?;
        let (mut rtol, mut atol, mut mismatched, mut cap) = (None, None, None, None);
        while !content.is_empty() {
            let wrong = |span| Error::new(span, format!("expected `{WRITTEN}`"));
            let part = content.call(Ident::parse_any).map_err(|error| wrong(error.span()))?;
            let slot: &mut Option<Expr> = match part.to_string().as_str() {
                "rtol" => &mut rtol,
                "atol" => &mut atol,
                "mismatched" => &mut mismatched,
                "cap" => &mut cap,
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
        let mismatched = match (mismatched, cap) {
            (None, None) => None,
            (Some(share), Some(cap)) => Some((quote!(#share), quote!(#cap))),
            (Some(share), None) => {
                return Err(Error::new(
                    share.span(),
                    format!(
                        "`mismatched` needs `cap`, how many times the tolerance such an element may differ by: `{WITH_MISMATCHED}`"
                    ),
                ));
            }
            (None, Some(cap)) => {
                return Err(Error::new(
                    cap.span(),
                    format!(
                        "`cap` needs `mismatched`, the share of elements that may differ by more: `{WITH_MISMATCHED}`"
                    ),
                ));
            }
        };
        let tokens = |part: Option<Expr>| part.map_or_else(|| quote!(0.0), |part| quote!(#part));
        Ok(Comparison::Tolerance {
            rtol: tokens(rtol),
            atol: tokens(atol),
            mismatched,
        })
    }

    /// Returns an `Option<Tolerance>`.
    pub(crate) fn tokens(comparison: Option<&Comparison>) -> TokenStream {
        match comparison {
            None => quote!(::core::option::Option::None),
            Some(Comparison::Exact) => {
                quote!(::core::option::Option::Some(__gpubench::catalog::Tolerance::Exact))
            }
            Some(Comparison::Tolerance { rtol, atol, mismatched }) => {
                let tolerance = match mismatched {
                    None => quote!(Close { rtol: #rtol, atol: #atol }),
                    Some((share, cap)) => quote!(Mostly {
                        rtol: #rtol,
                        atol: #atol,
                        mismatched: __gpubench::catalog::Mismatched { share: #share, cap: #cap },
                    }),
                };
                quote!(::core::option::Option::Some(__gpubench::catalog::Tolerance::#tolerance))
            }
        }
    }

    /// Returns the call that sets it for the last output of a `Tensors`.
    pub(crate) fn call(&self) -> TokenStream {
        match self {
            Comparison::Exact => quote!(.exact()),
            Comparison::Tolerance { rtol, atol, mismatched } => {
                let mismatched = mismatched.iter().map(|(share, cap)| quote!(.mismatched(#share, #cap)));
                quote!(.tolerance(#rtol, #atol) #(#mismatched)*)
            }
        }
    }
}
