//! `cuda_source!`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::path::{Component, Path, PathBuf};
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
}

const WRITTEN: &str = "`cuda_source!` is written `cuda_source!(IMAGE = \"image.cu\")` or `cuda_source!(IMAGE = \"image.cu\", compiler = nvcc, options = [\"-DTILE=16\"])`";

impl Parse for Input {
    fn parse(input: ParseStream) -> Result<Input> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let wrong = |error: Error| Error::new(error.span(), WRITTEN);
        let name = input.parse().map_err(wrong)?;
        input.parse::<Token![=]>().map_err(wrong)?;
        let path = input.parse().map_err(wrong)?;
        let (mut compiler, mut options) = (None, Vec::new());
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let option: Ident = input.parse().map_err(wrong)?;
            input.parse::<Token![=]>().map_err(wrong)?;
            if option == "compiler" && compiler.is_none() {
                compiler = Some(input.parse().map_err(wrong)?);
            } else if option == "options" && options.is_empty() {
                let content;
                bracketed!(content in input);
                options = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?
                    .into_iter()
                    .collect();
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
        })
    }
}

impl Input {
    /// What the source is: the path's extension says whether a compiler is still needed, and `compiler` which.
    fn form(&self) -> Result<TokenStream> {
        let image = image_form(&self.path.value());
        let misplaced = |span| {
            Error::new(
                span,
                "this file is compiled already: it takes no compiler and no options",
            )
        };
        match (image, &self.compiler, self.options.first()) {
            (Some(image), None, None) => Ok(image),
            (Some(_), Some(compiler), _) => Err(misplaced(compiler.span())),
            (Some(_), None, Some(option)) => Err(misplaced(option.span())),
            (None, None, _) => Ok(quote!(Cuda)),
            (None, Some(compiler), _) if compiler == "nvcc" => Ok(quote!(CudaForNvcc)),
            (None, Some(compiler), _) => Err(Error::new(
                compiler.span(),
                "the compiler can be `nvcc`; without `compiler` it is NVRTC where there is one",
            )),
        }
    }
}

/// What a file that is compiled already is.
fn image_form(path: &str) -> Option<TokenStream> {
    match Path::new(path).extension()?.to_str()? {
        "ptx" => Some(quote!(Ptx)),
        "cubin" => Some(quote!(Cubin)),
        "fatbin" => Some(quote!(Fatbin)),
        _ => None,
    }
}

/// A static with the source's text, and its registration.
pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: Input = syn::parse2(input)?;
    let form = input.form()?;
    let Input {
        attributes,
        visibility,
        name,
        path,
        options,
        ..
    } = input;
    let package = Package::of_the_compilation()?;
    let files = package.collect(&path)?;
    // `include_bytes!` rather than the bytes: the compiler then knows that the crate depends on the files.
    let files = files.iter().map(|file| {
        let (inside, absolute) = (&file.inside, &file.absolute);
        quote!((#inside, ::core::include_bytes!(#absolute)))
    });
    Ok(quote! {
        #(#attributes)*
        #visibility static #name: ::gpubench::CudaSource =
            ::gpubench::CudaSource::embedded(
                #path,
                ::gpubench::catalog::SourceForm::#form,
                &[#(#files),*],
                &[#(#options),*],
            );

        const _: () = {
            ::gpubench::__private::inventory::submit! { ::gpubench::__private::SourceEntry(&#name) }
        };
    })
}

/// A file of a source.
struct File {
    /// Path inside the package, with `/`.
    inside: String,
    /// Path for the compiler.
    absolute: String,
}

/// The package being compiled.
struct Package {
    root: PathBuf,
}

impl Package {
    fn of_the_compilation() -> Result<Package> {
        match std::env::var_os("CARGO_MANIFEST_DIR") {
            Some(root) => Ok(Package {
                root: PathBuf::from(root),
            }),
            None => Err(Error::new(
                Span::call_site(),
                "`cuda_source!` needs to be compiled by cargo, which says where the package is",
            )),
        }
    }

    /// The file and everything it includes with quotes, each once, the file first.
    fn collect(&self, literal: &LitStr) -> Result<Vec<File>> {
        let main = self.locate(literal)?;
        let mut seen = vec![main];
        let mut files = Vec::new();
        let mut next = 0;
        while next < seen.len() {
            let path = seen[next].clone();
            next += 1;
            let contents = std::fs::read(&path)
                .map_err(|error| Error::new(literal.span(), format!("cannot read `{}`: {error}", self.shown(&path))))?;
            files.push(self.file(&path, literal)?);
            let folder = path.parent().unwrap_or(&self.root);
            let text = match image_form(&literal.value()) {
                None => String::from_utf8(contents).map_err(|_| {
                    let message = format!("`{}` is not UTF-8", self.shown(&path));
                    Error::new(literal.span(), message)
                })?,
                Some(_) => String::new(),
            };
            for included in quoted_includes(&text) {
                let included = normal(&folder.join(included));
                // A file that is not there may be one of the toolkit's headers, or left out by the preprocessor: the compiler knows.
                if included.is_file() && !seen.contains(&included) {
                    seen.push(included);
                }
            }
        }
        Ok(files)
    }

    /// The file that a literal names, relative to the Rust file it is in.
    fn locate(&self, literal: &LitStr) -> Result<PathBuf> {
        let named = PathBuf::from(literal.value());
        if named.is_absolute() {
            return Err(Error::new(
                literal.span(),
                "the path is relative to the Rust file, so that the package can be moved",
            ));
        }
        // Editors may expand macros without saying in which file: they have the root and `src` of the package to go by.
        let folders = match literal.span().unwrap().local_file().as_deref().and_then(Path::parent) {
            Some(folder) => vec![std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())],
            None => vec![self.root.join("src"), self.root.clone()],
        };
        let found = folders
            .iter()
            .map(|folder| normal(&folder.join(&named)))
            .find(|path| path.is_file());
        found.ok_or_else(|| {
            let message = format!("there is no file `{}` beside this Rust file", literal.value());
            Error::new(literal.span(), message)
        })
    }

    fn file(&self, path: &Path, literal: &LitStr) -> Result<File> {
        let inside = self.inside(path).ok_or_else(|| {
            let message = format!(
                "`{}` is outside the package, which could not be published with it",
                path.display()
            );
            Error::new(literal.span(), message)
        })?;
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| Error::new(literal.span(), format!("the path `{}` is not UTF-8", path.display())))
        };
        Ok(File {
            inside: text(&inside)?,
            absolute: text(path)?,
        })
    }

    /// The path from the package's root, if it is inside; by its text first, so that links inside the package are kept as they are.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let by_text = path.strip_prefix(&self.root).ok().map(Path::to_owned);
        by_text.or_else(|| {
            let (root, path) = (self.root.canonicalize().ok()?, path.canonicalize().ok()?);
            path.strip_prefix(root).ok().map(Path::to_owned)
        })
    }

    /// A path for people: inside the package where it is.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

/// The paths in `#include "path"` lines.
fn quoted_includes(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let quoted = directive.strip_prefix("include")?.trim_start().strip_prefix('"')?;
        quoted.split_once('"').map(|(path, _)| path)
    })
}

/// The path without `.` and `..`, by its text alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_includes_with_quotes_are_followed() {
        let text = "#include <cuda_fp16.h>\n  #  include \"a.cuh\" // why\n#include\"deep/b.cuh\"\n// #include \"no.cuh\"\nint x;";
        assert_eq!(quoted_includes(text).collect::<Vec<_>>(), ["a.cuh", "deep/b.cuh"]);
    }

    #[test]
    fn paths_lose_their_dots() {
        assert_eq!(
            normal(Path::new("/a/src/../kernels/./x.cu")),
            Path::new("/a/kernels/x.cu")
        );
    }
}
