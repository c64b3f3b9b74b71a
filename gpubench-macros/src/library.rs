//! What the output of the macros calls the library.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Path, Result};

use crate::options::value;

/// `crate = gb`.
pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Path> {
    value(option, input, "crate = gb")
}

/// The library's path, where `crate = ..` does not say another.
pub(crate) fn path(renamed: Option<&Path>) -> TokenStream {
    match renamed {
        Some(path) => quote!(#path),
        None => quote!(::gpubench),
    }
}

/// `items`, which name the library `__gpubench`, where they can stand beside any others.
pub(crate) fn scope(renamed: Option<&Path>, items: &TokenStream) -> TokenStream {
    let path = path(renamed);
    quote! {
        #[allow(unused_qualifications)]
        const _: () = {
            use #path as __gpubench;
            #items
        };
    }
}
