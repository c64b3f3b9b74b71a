//! The memory layout of structs that kernels share with Rust.

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Meta, Result, Token};

/// Returns the error about a struct that is not `#[repr(C)]`. `what` is the struct's use, with an
/// article.
///
/// # Errors
/// The struct is packed.
pub(crate) fn missing(item: &DeriveInput, what: &str) -> Result<Option<Error>> {
    let mut is_c = false;
    for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        for layout in attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)? {
            if layout.path().is_ident("packed") {
                let message = format!("{what} cannot be a packed struct");
                return Err(Error::new(layout.span(), message));
            }
            is_c |= layout.path().is_ident("C");
        }
    }
    let message = || format!("{what} must have a C layout: add `#[repr(C)]`");
    Ok((!is_c).then(|| Error::new(item.ident.span(), message())))
}
