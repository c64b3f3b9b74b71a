//! `#[derive(KernelArg)]`.

use crate::{c_layout, library};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Ident, Index, Member, Result};

/// Returns an implementation that writes every field at its offset, so that padding is zero.
pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Data::Struct(data) = &item.data else {
        return Err(Error::new(
            item.ident.span(),
            "`KernelArg` can be derived only for structs",
        ));
    };
    // Next to the implementation, so that it is the only error.
    let mistake = c_layout::missing(&item, "a kernel argument")?.map(Error::into_compile_error);
    if data.fields.is_empty() {
        return Err(Error::new(
            item.ident.span(),
            "a struct without fields has one byte in C++ and none in Rust: pass `0u8` instead",
        ));
    }
    let name = &item.ident;
    let mut generics = item.generics.clone();
    for parameter in item.generics.type_params() {
        let parameter = &parameter.ident;
        generics
            .make_where_clause()
            .predicates
            .push(syn::parse_quote!(#parameter: __gpubench::__private::KernelValue));
    }
    let (introduced, arguments, bounds) = generics.split_for_impl();
    let out = Ident::new("out", Span::mixed_site());
    let fields = || data.fields.iter().enumerate();
    let written = fields().map(|(position, field)| written(position, field, &out));
    let described = fields().map(|(position, field)| described(position, field));
    let implementation = quote! {
        #[automatically_derived]
        impl #introduced __gpubench::__private::KernelValue for #name #arguments #bounds {
            fn write(&self, #out: &mut [u8]) {
                #(#written)*
            }

            fn fields(
                name: &str,
                offset: usize,
                fields: &mut __gpubench::__private::Vec<__gpubench::plan::FieldType>,
            ) {
                #(#described)*
            }
        }

        #[automatically_derived]
        impl #introduced __gpubench::KernelArg for #name #arguments #bounds {
            fn argument(&self) -> __gpubench::RecordedArgument {
                __gpubench::__private::value(self)
            }
        }
    };
    let implementation = library::scope(
        library::renamed_by(&item.attrs, "kernel_arg")?.as_ref(),
        &implementation,
    );
    Ok(quote!(#mistake #implementation))
}

/// Returns the statements that write a field to `out`.
fn written(position: usize, field: &Field, out: &Ident) -> TokenStream {
    let member = member(position, field);
    let ty = &field.ty;
    let write = quote_spanned!(ty.span()=> <#ty as __gpubench::__private::KernelValue>::write);
    quote! {
        let start = ::core::mem::offset_of!(Self, #member);
        #write(&self.#member, &mut #out[start..start + ::core::mem::size_of::<#ty>()]);
    }
}

/// Returns the statements that describe a field in `fields`.
fn described(position: usize, field: &Field) -> TokenStream {
    let member = member(position, field);
    let shown = match &member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    };
    let ty = &field.ty;
    quote! {
        let inner = __gpubench::__private::field_name(name, #shown);
        let start = offset + ::core::mem::offset_of!(Self, #member);
        <#ty as __gpubench::__private::KernelValue>::fields(&inner, start, fields);
    }
}

fn member(position: usize, field: &Field) -> Member {
    match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(position)),
    }
}
