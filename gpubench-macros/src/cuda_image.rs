//! `cuda_image!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Expr, Ident, Result, Token, Visibility};

/// `pub AFFINE = some_crate::AFFINE`.
struct Input {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    image: Expr,
}

const WRITTEN: &str = "`cuda_image!` is written `cuda_image!(AFFINE = some_crate::AFFINE)`";

impl Parse for Input {
    fn parse(input: ParseStream) -> Result<Input> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let wrong = |error: Error| Error::new(error.span(), WRITTEN);
        let name = input.parse().map_err(wrong)?;
        input.parse::<Token![=]>().map_err(wrong)?;
        let image = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            return Err(input.error(WRITTEN));
        }
        Ok(Input {
            attributes,
            visibility,
            name,
            image,
        })
    }
}

/// A static with the image, and its registration.
pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let Input {
        attributes,
        visibility,
        name,
        image,
    } = syn::parse2(input)?;
    Ok(quote! {
        #(#attributes)*
        #visibility static #name: ::gpubench::CudaSource = {
            static IMAGE: &(dyn ::gpubench::ImageBytes + ::core::marker::Sync) = &#image;
            ::gpubench::CudaSource::image(
                ::core::stringify!(#name),
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                IMAGE,
            )
        };

        const _: () = {
            ::gpubench::__private::inventory::submit! {
                ::gpubench::__private::SourceEntry(&#name, ::gpubench::__private::origin!())
            }
        };
    })
}
