//! `cuda_image!`.

use crate::library;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Expr, Ident, Path, Result, Token, Visibility};

/// `pub AFFINE = some_crate::AFFINE`.
struct Input {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    image: Expr,
    library: Option<Path>,
}

const WRITTEN: &str = "expected `cuda_image!(AFFINE = some_crate::AFFINE)`";

impl Parse for Input {
    fn parse(input: ParseStream) -> Result<Input> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let wrong = |error: Error| Error::new(error.span(), WRITTEN);
        let name = input.parse().map_err(wrong)?;
        input.parse::<Token![=]>().map_err(wrong)?;
        let image = input.parse()?;
        let mut library = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && input.peek(Token![crate]) {
            let option = input.call(Ident::parse_any)?;
            library = Some(library::parse(&option, input)?);
            input.parse::<Option<Token![,]>>()?;
        }
        if !input.is_empty() {
            return Err(input.error(WRITTEN));
        }
        Ok(Input {
            attributes,
            visibility,
            name,
            image,
            library,
        })
    }
}

/// Returns a static with the image, and its registration.
pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let Input {
        attributes,
        visibility,
        name,
        image,
        library,
    } = syn::parse2(input)?;
    let submission = quote!(
        __gpubench::__private::inventory::submit! { __gpubench::__private::SourceEntry(&#name, __gpubench::__private::origin!()) }
    );
    let submission = library::scope(library.as_ref(), &submission);
    let library = library::path(library.as_ref());
    Ok(quote! {
        #(#attributes)*
        #visibility static #name: #library::CudaSource = {
            static IMAGE: &(dyn #library::ImageBytes + ::core::marker::Sync) = &#image;
            #library::CudaSource::image(
                ::core::stringify!(#name),
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                IMAGE,
            )
        };

        #submission
    })
}
