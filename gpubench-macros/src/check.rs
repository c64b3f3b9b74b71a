//! Checks: CPU functions that say which outputs are right.

use crate::callee::{Expected, Wrong, is_path, shown};
use crate::function::{Form, Function, Kind};
use crate::options::Options;
use crate::reference::ReferenceOption;
use crate::types::Registered;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Result};

/// How a check takes tensors.
const AS_ANSWERS: &str = "`In<T>` as `&[T]`, `Out<T>` and `InOut<T>` as `Answer<T>`";

/// Returns the check of a problem, `Option<CheckFunction>`. `reference` is what else judges its
/// outputs.
pub(crate) fn tokens(
    options: &Options,
    function: &Function,
    reference: Option<&ReferenceOption>,
) -> Result<TokenStream> {
    let own = (function.form == Form::Check).then(|| function.instance());
    let given = options.check.as_ref().map(ToTokens::to_token_stream);
    let Some(check) = given.or(own) else {
        return Ok(quote!(::core::option::Option::None));
    };
    if reference.is_none() {
        reject_comparison(options)?;
    }
    let comparand = match reference {
        Some(_) => quote!(Reference),
        None => quote!(Nothing),
    };
    let judge = judge(function, &check);
    Ok(quote! {
        ::core::option::Option::Some(__gpubench::__private::CheckFunction {
            judge: #judge,
            comparand: __gpubench::__private::Comparand::#comparand,
        })
    })
}

/// Fails on an option that compares outputs with those of a reference, if there is none.
fn reject_comparison(options: &Options) -> Result<()> {
    let given = ["tolerance", "exact", "reduction"]
        .into_iter()
        .find_map(|name| options.given(name));
    match given {
        None => Ok(()),
        Some(option) => Err(Error::new(
            option.span(),
            format!("without a reference, the check alone judges: remove `{option}`, or add `reference = ..`"),
        )),
    }
}

/// Returns a function that takes `Params` and `CheckData`.
fn judge(function: &Function, check: &TokenStream) -> TokenStream {
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let data = Ident::new("gpubench_data", Span::mixed_site());
    let axes = function.bind_locals(&params);
    let tensors = function.parameters.iter().filter_map(|parameter| {
        let (local, name) = (&parameter.local, parameter.text());
        match &parameter.kind {
            Kind::Read(element) => {
                Some(quote!(let #local = __gpubench::__private::checked_input::<#element>(#data, #name)?;))
            }
            Kind::Write(element) => {
                Some(quote!(let #local = __gpubench::__private::answer::<#element>(#data, #name)?;))
            }
            Kind::Axis | Kind::Scratch(_) => None,
        }
    });
    let span = check.span();
    let arguments = function.reference_arguments().map(|parameter| parameter.local_at(span));
    let name = &function.item.sig.ident;
    let (found, check) = if !is_path(check) || *name == check.to_string() {
        (TokenStream::new(), check.clone())
    } else {
        let (expected, written) = (Expected::answers(function), shown(check));
        let wrong = Wrong {
            message: format!("the check `{written}` does not take the axes and tensors of `{name}`"),
            label: format!("expected `{}`", expected.signature()),
            notes: vec![format!(
                "a check takes the parameters of `{name}` in the same order: {AS_ANSWERS}"
            )],
        };
        expected.checked(check, function, &wrong)
    };
    let call = quote_spanned!(span=> (#check)(#(#arguments),*));
    let registered = Registered {
        name: "gpubench_check",
        params: &params,
        other: Some((&data, quote!(&mut __gpubench::__private::CheckData<'_>))),
        returned: quote!(__gpubench::Result<()>),
        body: quote! {
            #axes
            #(#tensors)*
            #found
            ::core::result::Result::Ok(__gpubench::Outcome::into_result(#call))
        },
    };
    registered.expression(&function.types)
}
