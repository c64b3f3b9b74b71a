//! `launch = SUMS::naive<<<blocks, threads>>>(x, sums, rows, cols)`: the only launch of a benchmark
//! whose function has no body.

use crate::function::FunctionSignature;
use crate::library;
use crate::options::{Execution, Options};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprPath, FnArg, ItemFn, Result, ReturnType, Token, parenthesized, parse_quote};

/// The launch, as written.
pub(crate) struct LaunchOption {
    /// The word `launch`.
    option: Ident,
    kernel: LaunchedKernel,
    grid: WrittenGrid,
    arguments: Punctuated<Expr, Token![,]>,
}

/// What is between `<<<` and `>>>`.
struct WrittenGrid {
    place: Span,
    /// A `Grid`; or blocks and threads; or blocks, threads and bytes of dynamic shared memory.
    parts: Vec<Expr>,
}

/// What comes before `<<<`.
enum LaunchedKernel {
    /// `SUMS::naive`: the function that `cuda_source!` made of a kernel.
    Typed(ExprPath),
    /// Any other expression: a `Kernel`, as from `SUMS.kernel("sum<256>")`.
    Untyped(Expr),
}

const WRITTEN: &str = "launch = SUMS::naive<<<blocks, threads>>>(x, sums, rows, cols)";

impl LaunchOption {
    /// Parses what follows the word `launch`.
    pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<LaunchOption> {
        let wrong = |span: Span| Error::new(span, format!("expected `{WRITTEN}`"));
        if input.parse::<Option<Token![=]>>()?.is_none() {
            return Err(wrong(option.span()));
        }
        let kernel = tokens_until(input, |input| input.peek(Token![<<]) && input.peek2(Token![<<]));
        if kernel.is_empty() || input.is_empty() {
            return Err(wrong(if kernel.is_empty() {
                option.span()
            } else {
                kernel.span()
            }));
        }
        let kernel: Expr = syn::parse2(kernel)?;
        if let Expr::Field(field) = &kernel {
            return Err(Error::new(
                field.span(),
                "a kernel's function follows `::`, as in `SUMS::naive`",
            ));
        }
        let opening = input.span();
        input.parse::<Token![<<]>()?;
        input.parse::<Token![<]>()?;
        let grid = tokens_until(input, |input| input.peek(Token![>>]) && input.peek2(Token![>>]));
        if input.is_empty() {
            return Err(Error::new(opening, "this `<<<` has no `>>>`"));
        }
        input.parse::<Token![>>]>()?;
        input.parse::<Token![>]>()?;
        if !input.peek(syn::token::Paren) {
            return Err(wrong(opening));
        }
        let content;
        parenthesized!(content in input);
        Ok(LaunchOption {
            option: option.clone(),
            kernel: match kernel {
                Expr::Path(function) if function.path.segments.len() > 1 => LaunchedKernel::Typed(function),
                kernel => LaunchedKernel::Untyped(kernel),
            },
            grid: WrittenGrid::parse(grid, opening)?,
            arguments: Punctuated::parse_terminated(&content)?,
        })
    }

    /// Returns the function that makes the launch.
    pub(crate) fn function(&self, item: Box<FunctionSignature>, options: &Options) -> Result<ItemFn> {
        if !matches!(options.execution, Execution::Sealed) {
            return Err(Error::new(
                self.option.span(),
                "host code makes its launches itself: remove `launch = ..`, and write the function's body",
            ));
        }
        let mut signature = item.signature;
        if let ReturnType::Type(_, ty) = &signature.output {
            return Err(Error::new(
                ty.span(),
                "with `launch = ..`, the function returns nothing",
            ));
        }
        if let Some(FnArg::Typed(first)) = signature.inputs.first()
            && matches!(&*first.ty, syn::Type::Reference(reference) if reference.mutability.is_some())
        {
            let message = "with `launch = ..`, the function takes no launcher: remove this parameter";
            return Err(Error::new(first.span(), message));
        }
        let library = library::path(options.library.as_ref());
        let launcher = Ident::new("launcher", Span::mixed_site());
        signature
            .inputs
            .insert(0, parse_quote!(#launcher: &mut #library::Launcher));
        signature.output = parse_quote!(-> #library::Result<()>);
        let (grid, arguments) = (self.grid.tokens(&library), self.arguments.iter());
        let launch = match &self.kernel {
            LaunchedKernel::Typed(function) => {
                quote_spanned!(function.span()=> #function(#launcher, #grid, #(#arguments),*))
            }
            LaunchedKernel::Untyped(kernel) => {
                quote_spanned!(kernel.span()=> #launcher.launch(#kernel, #grid, (#(#arguments,)*)))
            }
        };
        Ok(ItemFn {
            attrs: item.attributes,
            vis: item.visibility,
            sig: signature,
            block: Box::new(parse_quote!({ #launch })),
            ..parse_quote!(
                fn gpubench() {}
            )
        })
    }

    /// The error for a function that has a body.
    pub(crate) fn has_a_body(&self, item: &ItemFn) -> Error {
        let name = &item.sig.ident;
        Error::new(
            self.option.span(),
            format!(
                "`{name}` has a body, which makes the launches: remove `launch = ..`, or put `;` in place of the body"
            ),
        )
    }

    /// The error for a function without a body and without this option.
    pub(crate) fn missing(item: &FunctionSignature) -> Error {
        Error::new(
            item.semicolon.span(),
            format!("the function needs a body, or the attribute its only launch: `{WRITTEN}`"),
        )
    }
}

/// Returns the tokens up to the place where `is_end` holds, or to the end.
fn tokens_until(input: ParseStream, is_end: impl Fn(ParseStream) -> bool) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !is_end(input) {
        match input.parse::<TokenTree>() {
            Ok(token) => tokens.extend([token]),
            Err(_) => break,
        }
    }
    tokens
}

impl WrittenGrid {
    fn parse(written: TokenStream, place: Span) -> Result<WrittenGrid> {
        let parts = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(written)?;
        if let (1, Some(Expr::Lit(_) | Expr::Tuple(_))) = (parts.len(), parts.first()) {
            return Err(Error::new(
                place,
                "the threads of a block are missing: write `<<<blocks, threads>>>`",
            ));
        }
        match parts.len() {
            1..=3 => Ok(WrittenGrid {
                place,
                parts: parts.into_iter().collect(),
            }),
            _ => Err(Error::new(
                place,
                "expected `<<<blocks, threads>>>`, `<<<blocks, threads, shared_bytes>>>` or `<<<Grid::covering(n, threads)>>>`",
            )),
        }
    }

    /// Returns a `Grid`.
    fn tokens(&self, library: &TokenStream) -> TokenStream {
        let place = self.place;
        match self.parts.as_slice() {
            [blocks, threads] => quote_spanned!(place=> #library::Grid::new(#blocks, #threads)),
            [blocks, threads, shared] => {
                quote_spanned!(place=> #library::Grid::new(#blocks, #threads).shared(#shared))
            }
            grid => quote!(#(#grid)*),
        }
    }
}
