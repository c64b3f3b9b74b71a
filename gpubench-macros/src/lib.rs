//! The macros of `gpubench`. Use them through `gpubench::prelude`, where they are documented.

use proc_macro::TokenStream;

#[proc_macro_attribute] pub fn gpubench(_o: TokenStream, i: TokenStream) -> TokenStream { i }
#[proc_macro_attribute] pub fn problem(_o: TokenStream, i: TokenStream) -> TokenStream { i }
#[proc_macro_derive(KernelArg)] pub fn kernel_arg(_i: TokenStream) -> TokenStream { TokenStream::new() }
#[proc_macro] pub fn cuda_source(_i: TokenStream) -> TokenStream { TokenStream::new() }
