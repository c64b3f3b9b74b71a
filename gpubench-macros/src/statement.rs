//! What a `#[problem]` says of itself: its documentation, its signature and how it is graded.

use crate::callee::shown;
use crate::function::{Function, Kind, Parameter};
use crate::options::Options;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaNameValue, Result};

/// Returns a `ProblemStatement`.
pub(crate) fn tokens(options: &Options, function: &Function) -> Result<TokenStream> {
    let text = text(&function.item.attrs);
    let signature = function.parameters.iter().map(parameter).collect::<Result<Vec<_>>>()?;
    let amounts = [("bytes", &options.bytes), ("flops", &options.flops)];
    let amounts = amounts
        .into_iter()
        .filter_map(|(name, amount)| Some((name, amount.as_ref()?)));
    let counters = options
        .counters
        .iter()
        .map(|counter| (counter.name.as_str(), &counter.amount));
    let work = amounts.chain(counters).map(|(name, amount)| {
        let amount = shown(amount);
        quote!((#name, #amount))
    });
    let hidden = options.hidden.tokens(function)?;
    let (score, limits) = (options.score.tokens(), options.limits.tokens());
    Ok(quote! {
        __gpubench::__private::ProblemStatement {
            text: #text,
            signature: &[#(#signature),*],
            work: &[#(#work),*],
            hidden: #hidden,
            score: #score,
            limits: #limits,
        }
    })
}

/// Returns a `StatedParameter`.
fn parameter(parameter: &Parameter) -> Result<TokenStream> {
    let name = parameter.text();
    let (ty, role) = match &parameter.kind {
        Kind::Axis => (&parameter.ty, None),
        Kind::Read(element) | Kind::Write(element) | Kind::Scratch(element) => (element, Some(parameter.role()?)),
    };
    let ty = shown(ty);
    let tensor = match role {
        None => quote!(::core::option::Option::None),
        Some(role) => {
            let shape = match &parameter.declared {
                None => quote!(::core::option::Option::None),
                Some(declared) => {
                    let shape = declared.shape();
                    quote!(::core::option::Option::Some(#shape))
                }
            };
            quote!(::core::option::Option::Some((__gpubench::catalog::Role::#role, #shape)))
        }
    };
    Ok(quote! {
        __gpubench::__private::StatedParameter { name: #name, type_name: #ty, tensor: #tensor }
    })
}

/// Returns the documentation as Markdown, without the space that a comment has before each line.
fn text(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(MetaNameValue {
            path,
            value: Expr::Lit(ExprLit {
                lit: Lit::Str(line), ..
            }),
            ..
        }) if path.is_ident("doc") => Some(line.value()),
        _ => None,
    });
    let lines: Vec<String> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned())
        .collect();
    lines.join("\n").trim().to_owned()
}
