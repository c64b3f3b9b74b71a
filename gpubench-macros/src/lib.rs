//! The macros of the `gpubench` library. Use them through it. Their documentation is there too, so
//! that its examples are tested.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

mod allow;
mod amounts;
mod axes;
mod benchmark;
mod c_layout;
mod callee;
mod case_file;
mod check;
mod comparison;
mod counters;
mod cuda_image;
mod cuda_source;
mod element;
mod function;
mod grading;
mod hidden;
mod include_folders;
mod kernel_arg;
mod kernel_functions;
mod kernel_parameters;
mod launch;
mod library;
mod options;
mod place;
mod problem;
mod reference;
mod requirements;
mod same_file;
mod settings;
mod signature;
mod source_files;
mod statement;
mod tensor_file;
mod types;

use proc_macro::TokenStream;

#[proc_macro_attribute]
pub fn gpubench(options: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    finish(benchmark::expand(options.into(), item.clone()), item)
}

#[proc_macro_attribute]
pub fn problem(options: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    finish(problem::expand(options.into(), item.clone()), item)
}

#[proc_macro_attribute]
pub fn bench(_options: TokenStream, item: TokenStream) -> TokenStream {
    let error = syn::Error::new(
        proc_macro2::Span::call_site(),
        "the attribute is called `#[gpubench]`: write `use gpubench::prelude::*;` and `#[gpubench(..)]`",
    );
    finish(Err(error), item.into())
}

#[proc_macro]
pub fn cuda_source(input: TokenStream) -> TokenStream {
    finish(cuda_source::expand(input.into()), Default::default())
}

#[proc_macro]
pub fn cuda_image(input: TokenStream) -> TokenStream {
    finish(cuda_image::expand(input.into()), Default::default())
}

#[proc_macro]
pub fn tensor_file(input: TokenStream) -> TokenStream {
    finish(tensor_file::expand(input.into()), Default::default())
}

#[proc_macro_derive(KernelArg, attributes(kernel_arg))]
pub fn kernel_arg(item: TokenStream) -> TokenStream {
    finish(kernel_arg::expand(item.into()), Default::default())
}

#[proc_macro_derive(Element, attributes(element, tolerance, exact))]
pub fn element(item: TokenStream) -> TokenStream {
    finish(element::expand(item.into()), Default::default())
}

/// Returns the expansion. On an error, returns the original item with the error, so that the
/// compiler does not also report the item as missing.
fn finish(expansion: syn::Result<proc_macro2::TokenStream>, original: proc_macro2::TokenStream) -> TokenStream {
    let tokens = expansion.unwrap_or_else(|error| {
        let error = error.into_compile_error();
        let original = function::as_plain_rust(original);
        quote::quote!(#original #error)
    });
    tokens.into()
}
