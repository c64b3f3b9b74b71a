//! `cuda_source!`.

use crate::include_folders::IncludeFolders;
use crate::kernel_functions::Source;
use crate::library;
use crate::source_files::Package;
use proc_macro2::TokenStream;
use quote::quote;
use std::path::Path;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Ident, LitStr, Result, Token, Visibility, bracketed};

/// `pub IMAGE = "image.cu", compiler = nvcc, options = ["-DTILE=16"]`.
struct Input {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    path: LitStr,
    compiler: Option<Ident>,
    options: Vec<LitStr>,
    library: Option<syn::Path>,
}

const WRITTEN: &str = "expected `cuda_source!(IMAGE = \"image.cu\")` or `cuda_source!(IMAGE = \"image.cu\", compiler = nvcc, options = [\"-DTILE=16\"])`";

impl Parse for Input {
    fn parse(input: ParseStream) -> Result<Input> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let wrong = |error: Error| Error::new(error.span(), WRITTEN);
        let name = input.parse().map_err(wrong)?;
        input.parse::<Token![=]>().map_err(wrong)?;
        let path = input.parse().map_err(wrong)?;
        let (mut compiler, mut options, mut library) = (None, Vec::new(), None);
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let option = input.call(Ident::parse_any).map_err(wrong)?;
            input.parse::<Token![=]>().map_err(wrong)?;
            if option == "compiler" && compiler.is_none() {
                compiler = Some(input.parse().map_err(wrong)?);
            } else if option == "options" && options.is_empty() {
                let content;
                bracketed!(content in input);
                options = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?
                    .into_iter()
                    .collect();
            } else if option == "crate" && library.is_none() {
                library = Some(input.parse().map_err(wrong)?);
            } else {
                return Err(Error::new(option.span(), WRITTEN));
            }
        }
        if !input.is_empty() {
            return Err(input.error(WRITTEN));
        }
        Ok(Input {
            attributes,
            visibility,
            name,
            path,
            compiler,
            options,
            library,
        })
    }
}

impl Input {
    /// Returns the source's format. The file extension shows whether it needs a compiler, and
    /// `compiler` names it.
    fn form(&self) -> Result<TokenStream> {
        let image = image_form(&self.path.value());
        let misplaced = |span| Error::new(span, "this file is already compiled: remove `compiler` and `options`");
        match (image, &self.compiler, self.options.first()) {
            (Some(image), None, None) => Ok(image),
            (Some(_), Some(compiler), _) => Err(misplaced(compiler.span())),
            (Some(_), None, Some(option)) => Err(misplaced(option.span())),
            (None, None, _) => Ok(quote!(Cuda)),
            (None, Some(compiler), _) if compiler == "nvcc" => Ok(quote!(CudaForNvcc)),
            (None, Some(compiler), _) => Err(Error::new(
                compiler.span(),
                "the only possible value is `nvcc`; without `compiler`, NVRTC is used if available",
            )),
        }
    }
}

/// Returns the format of a compiled file.
pub(crate) fn image_form(path: &str) -> Option<TokenStream> {
    match Path::new(path).extension()?.to_str()? {
        "ptx" => Some(quote!(Ptx)),
        "cubin" => Some(quote!(Cubin)),
        "fatbin" => Some(quote!(Fatbin)),
        _ => None,
    }
}

/// Returns a static with the source's text, and its registration.
pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: Input = syn::parse2(input)?;
    let form = input.form()?;
    let Input {
        attributes,
        visibility,
        name,
        path,
        options,
        library,
        ..
    } = input;
    let package = Package::of_the_compilation()?;
    let folders = match image_form(&path.value()) {
        Some(_) => IncludeFolders::default(),
        None => package.include_folders(&options)?,
    };
    let files = package.collect(&path, &folders)?;
    let renamed = library;
    let library = library::path(renamed.as_ref());
    let (path, options) = (path.value(), options.iter().map(LitStr::value).collect::<Vec<_>>());
    let functions = image_form(&path).is_none().then(|| {
        let source = Source {
            attributes: &attributes,
            visibility: &visibility,
            name: &name,
            path: &path,
            options: &options,
            library: &library,
        };
        source.kernel_functions(&files)
    });
    // With `include_bytes!`, the compiler tracks the files as dependencies.
    let files = files.iter().map(|file| {
        let (inside, absolute) = (&file.inside, &file.absolute);
        quote!((#inside, ::core::include_bytes!(#absolute)))
    });
    let submission = quote!(
        __gpubench::__private::inventory::submit! { __gpubench::__private::SourceEntry(&#name, __gpubench::__private::origin!()) }
    );
    let submission = library::scope(renamed.as_ref(), &submission);
    Ok(quote! {
        #(#attributes)*
        #visibility static #name: #library::CudaSource =
            #library::CudaSource::embedded(
                #path,
                #library::catalog::SourceForm::#form,
                &[#(#files),*],
                &[#(#options),*],
            );

        #functions

        #submission
    })
}
