//! `#[derive(Element)]`.

use crate::comparison::Comparison;
use crate::signature::comparison_of;
use crate::{c_layout, library};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Result};

/// Returns an implementation that describes every field, with its comparison. A wrong struct has
/// one without fields next to the error, so that rustc finds no other fault in its tensors.
pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    if let Some(attribute) = item.attrs.iter().find(|attribute| is_comparison(attribute)) {
        return Err(Error::new(
            attribute.path().span(),
            "each field is compared on its own: write this before a field",
        ));
    }
    let renamed = library::renamed_by(&item.attrs, "element")?;
    let (described, error) = match fields_of(&item) {
        Ok(described) => (described, None),
        Err(error) if item.generics.params.is_empty() => (Vec::new(), Some(error.to_compile_error())),
        Err(error) => return Err(error),
    };
    let (name, text) = (&item.ident, item.ident.unraw().to_string());
    let implementation = quote! {
        #[automatically_derived]
        impl __gpubench::Element for #name {
            const DTYPE: __gpubench::catalog::DType = __gpubench::catalog::DType::U8;
            const RECORD: ::core::option::Option<__gpubench::__private::RecordType> =
                ::core::option::Option::Some(__gpubench::__private::RecordType {
                    name: #text,
                    size: ::core::mem::size_of::<#name>(),
                    fields: || __gpubench::__private::Vec::from([#(#described),*]),
                });
            const CUDA_TYPE: &'static ::core::primitive::str = #text;

            fn of(elements: __gpubench::__private::Elements<'_>) -> ::core::option::Option<&mut [Self]> {
                __gpubench::__private::struct_elements(elements)
            }
        }
    };
    let implementation = library::scope(renamed.as_ref(), &implementation);
    Ok(quote!(#error #implementation))
}

/// Returns the descriptions of the fields of a struct.
fn fields_of(item: &DeriveInput) -> Result<Vec<TokenStream>> {
    let Data::Struct(data) = &item.data else {
        return Err(Error::new(
            item.ident.span(),
            "`Element` can be derived only for structs",
        ));
    };
    let fields = match &data.fields {
        Fields::Named(fields) if !fields.named.is_empty() => &fields.named,
        Fields::Named(_) => {
            return Err(Error::new(
                item.ident.span(),
                "a struct without fields has nothing to compare",
            ));
        }
        Fields::Unnamed(fields) => {
            return Err(Error::new(
                fields.span(),
                "fields of an element need names, which messages and results repeat: `struct Hit { value: f32, index: u32 }`",
            ));
        }
        Fields::Unit => {
            return Err(Error::new(
                item.ident.span(),
                "a struct without fields has nothing to compare",
            ));
        }
    };
    if !item.generics.params.is_empty() {
        return Err(Error::new(
            item.generics.params.span(),
            "an element cannot be generic: its layout is part of the case",
        ));
    }
    if let Some(missing) = c_layout::missing(item, "an element")? {
        return Err(missing);
    }
    fields.iter().map(described).collect()
}

/// Returns the description of a field.
fn described(field: &Field) -> Result<TokenStream> {
    let (name, ty) = (&field.ident, &field.ty);
    let text = name.as_ref().map(|name| name.unraw().to_string());
    let mut comparison: Option<Comparison> = None;
    for attribute in field.attrs.iter().filter(|attribute| is_comparison(attribute)) {
        if comparison.is_some() {
            return Err(Error::new(
                attribute.path().span(),
                "a field can have only one `#[exact]` or `#[tolerance(..)]`",
            ));
        }
        comparison = Some(comparison_of(attribute)?);
    }
    let comparison = Comparison::tokens(comparison.as_ref());
    let describe = quote_spanned!(ty.span()=> __gpubench::__private::field::<#ty>);
    Ok(quote!(#describe(#text, ::core::mem::offset_of!(Self, #name), #comparison)))
}

fn is_comparison(attribute: &Attribute) -> bool {
    attribute.path().is_ident("exact") || attribute.path().is_ident("tolerance")
}
