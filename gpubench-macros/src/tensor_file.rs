//! `tensor_file!`.

use crate::library;
use crate::source_files::{MOST_BYTES_COMPILED, Package};
use proc_macro2::TokenStream;
use quote::quote;
use std::path::Path;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, LitStr, Result, Token, Visibility};

/// `pub MODEL = "model.safetensors", crate = gb`.
struct Input {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    path: LitStr,
    library: Option<syn::Path>,
}

const WRITTEN: &str = "expected `tensor_file!(MODEL = \"model.safetensors\")`";

impl Parse for Input {
    fn parse(input: ParseStream) -> Result<Input> {
        let wrong = |error: Error| Error::new(error.span(), WRITTEN);
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name = input.parse().map_err(wrong)?;
        input.parse::<Token![=]>().map_err(wrong)?;
        let path = input.parse().map_err(wrong)?;
        let mut library = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            input.parse::<Token![crate]>().map_err(wrong)?;
            input.parse::<Token![=]>().map_err(wrong)?;
            library = Some(input.parse().map_err(wrong)?);
            input.parse::<Option<Token![,]>>()?;
        }
        match input.is_empty() {
            true => Ok(Input {
                attributes,
                visibility,
                name,
                path,
                library,
            }),
            false => Err(input.error(WRITTEN)),
        }
    }
}

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let Input {
        attributes,
        visibility,
        name,
        path,
        library,
    } = syn::parse2(input)?;
    let file = Package::of_the_compilation()?.one(&path)?;
    check(Path::new(&file.absolute)).map_err(|reason| {
        let message = format!("`{}` {reason}", file.inside);
        Error::new(path.span(), message)
    })?;
    let library = library::path(library.as_ref());
    let (inside, absolute) = (&file.inside, &file.absolute);
    // The file is part of the library, and so of an archive. The compiler tracks it.
    Ok(quote! {
        #(#attributes)*
        #visibility static #name: #library::TensorFile =
            #library::TensorFile::embedded(#inside, ::core::include_bytes!(#absolute));
    })
}

/// Checks that a file can be part of the library. Returns what it is or has instead.
fn check(path: &Path) -> std::result::Result<(), String> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("safetensors" | "npy")) {
        return Err("is neither a `.safetensors` nor a `.npy` file".to_owned());
    }
    let metadata = path.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    match metadata.len() {
        0..=MOST_BYTES_COMPILED => Ok(()),
        bytes => Err(format!(
            "has {bytes} bytes; the limit for a file of tensors is {MOST_BYTES_COMPILED}"
        )),
    }
}
