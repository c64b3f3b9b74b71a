//! Tensors declared in a function's signature:
//! `#[fill(Uniform(0.0..1.0), [rows, cols])] x: In<f32>` and `#[shape(rows)] sums: Out<f32>`.

use crate::comparison::Comparison;
use crate::function::{Function, Kind, Parameter};
use crate::options::Options;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Ident, Meta, Result, Token};

/// What a parameter's attributes say of its tensor.
pub(crate) struct Declaration {
    /// The attribute, for errors.
    place: Span,
    contents: Contents,
    extents: Vec<Expr>,
    comparison: Option<(Span, Comparison)>,
}

/// What a tensor holds before a call.
enum Contents {
    /// `#[fill(..)]`: new contents for every call.
    Fill(Expr),
    /// `#[constant(..)]`: the same contents for every call.
    Constant(Expr),
    /// `#[shape(..)]`: noise.
    Noise,
}

const FILL: &str = "#[fill(Uniform(0.0..1.0), [rows, cols])]";
const CONSTANT: &str = "#[constant(Uniform(0.0..1.0), [taps])]";
const SHAPE: &str = "#[shape([rows, cols])]";

impl Declaration {
    /// Removes the attributes of a declaration and returns them.
    pub(crate) fn remove(attributes: &mut Vec<Attribute>) -> Vec<Attribute> {
        let (ours, others) = std::mem::take(attributes).into_iter().partition(is_ours);
        *attributes = others;
        ours
    }

    /// Removes the declaration from a parameter's attributes and returns it.
    pub(crate) fn take(attributes: &mut Vec<Attribute>) -> Result<Option<Declaration>> {
        let (mut declared, mut comparison): (Option<Declaration>, Option<(Span, Comparison)>) = (None, None);
        for attribute in &Declaration::remove(attributes) {
            let place = attribute.path().span();
            if attribute.path().is_ident("exact") || attribute.path().is_ident("tolerance") {
                if comparison.is_some() {
                    return Err(Error::new(
                        place,
                        "a tensor can have only one `#[exact]` or `#[tolerance(..)]`",
                    ));
                }
                comparison = Some((place, comparison_of(attribute)?));
            } else if declared.is_some() {
                return Err(Error::new(
                    place,
                    "a tensor can have only one `#[fill(..)]`, `#[constant(..)]` or `#[shape(..)]`",
                ));
            } else {
                declared = Some(Declaration::parse(attribute)?);
            }
        }
        match (declared, comparison) {
            (None, Some((place, _))) => Err(Error::new(
                place,
                format!("this belongs to a tensor that the signature declares: add `{SHAPE}`"),
            )),
            (declared, comparison) => Ok(declared.map(|declared| Declaration { comparison, ..declared })),
        }
    }

    fn parse(attribute: &Attribute) -> Result<Declaration> {
        let path = attribute.path();
        let written = [("fill", FILL), ("constant", CONSTANT), ("shape", SHAPE)]
            .into_iter()
            .find(|(name, _)| path.is_ident(name))
            .map_or(SHAPE, |(_, written)| written);
        let wrong = || Error::new(path.span(), format!("expected `{written}`"));
        let Meta::List(list) = &attribute.meta else {
            return Err(wrong());
        };
        let listed = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(list.tokens.clone())?;
        let mut listed = listed.into_iter();
        let contents = match path {
            path if path.is_ident("fill") => Contents::Fill(listed.next().ok_or_else(wrong)?),
            path if path.is_ident("constant") => Contents::Constant(listed.next().ok_or_else(wrong)?),
            _ => Contents::Noise,
        };
        let extents: Vec<Expr> = listed.collect();
        if extents.is_empty() {
            return Err(wrong());
        }
        Ok(Declaration {
            place: path.span(),
            contents,
            extents,
            comparison: None,
        })
    }

    /// Returns the shape as written: an expression over the axes.
    pub(crate) fn shape(&self) -> String {
        crate::callee::shown(&self.extents())
    }

    /// Returns the extents as one expression.
    fn extents(&self) -> TokenStream {
        match self.extents.as_slice() {
            [extents] => quote!(#extents),
            several => quote!([#(#several),*]),
        }
    }

    /// Returns how `parameter` uses the tensor, the method of `Tensors` that adds it, and its
    /// contents.
    fn method(&self, parameter: &Parameter) -> Result<(Use, &'static str, Option<&Expr>)> {
        let (name, place) = (parameter.text(), self.place);
        let error = |message: String| Err(Error::new(place, message));
        let uses = match &parameter.kind {
            Kind::Axis => {
                return error(format!(
                    "`{name}` is an axis, not a tensor: `axes(..)` lists its values"
                ));
            }
            Kind::Read(_) => Use::Read,
            Kind::Write(_) => Use::Written,
            Kind::Scratch(_) => Use::Scratch,
        };
        let uses = match parameter.buffer() {
            Some("Constant") => Use::Constant,
            Some("InOut") => Use::Overwritten,
            Some("Out") => Use::OnlyWritten,
            Some("In") => Use::OnlyRead,
            _ => uses,
        };
        let ty = parameter.ty.to_token_stream();
        let shown = crate::callee::shown(&ty);
        let (method, fill) = match (uses, &self.contents) {
            (Use::Read | Use::OnlyRead, Contents::Fill(fill)) => ("input", Some(fill)),
            (Use::Constant, Contents::Fill(fill)) | (Use::Read | Use::Constant, Contents::Constant(fill)) => {
                ("constant", Some(fill))
            }
            (Use::Written | Use::OnlyWritten, Contents::Noise) => ("output", None),
            (Use::Written | Use::Overwritten, Contents::Fill(fill)) => ("inout", Some(fill)),
            (Use::Scratch, Contents::Noise) => ("scratch", None),
            (Use::Read | Use::OnlyRead | Use::Constant | Use::Overwritten, Contents::Noise) => {
                return error(format!("`{name}` is read, so it needs contents: write `{FILL}`"));
            }
            (Use::OnlyRead, Contents::Constant(_)) => {
                return error(format!(
                    "`{name}` is an `{shown}`, which has new contents for every call: make it a `Constant<..>`, or write `{FILL}`"
                ));
            }
            (Use::OnlyWritten, Contents::Fill(_)) => {
                return error(format!(
                    "`{name}` is an `{shown}`, which holds noise before a call: make it an `InOut<..>`, or write `{SHAPE}`"
                ));
            }
            (Use::Scratch, _) => {
                return error(format!(
                    "`{name}` is scratch memory, which holds noise before a call: write `{SHAPE}`"
                ));
            }
            (Use::Written | Use::OnlyWritten | Use::Overwritten, Contents::Constant(_)) => {
                return error(format!("`{name}` is written, so it cannot be constant: write `{FILL}`"));
            }
        };
        Ok((uses, method, fill))
    }

    /// Returns the call that adds the tensor of `parameter` to a `Tensors`.
    fn call(&self, parameter: &Parameter) -> Result<TokenStream> {
        let (name, place) = (parameter.text(), self.place);
        let (uses, method, fill) = self.method(parameter)?;
        let element = parameter.element();
        let method = Ident::new(method, place);
        let extents = self.extents();
        let extents_span = self.extents.first().map_or(place, Spanned::span);
        let shape = quote_spanned!(extents_span=> <#element as __gpubench::Element>::shape(#extents));
        let fill = fill.map(|fill| quote!(, #fill));
        let comparison = match (&self.comparison, uses) {
            (None, _) => None,
            (Some((_, comparison)), Use::Written | Use::OnlyWritten | Use::Overwritten) => Some(comparison.call()),
            (Some((place, _)), _) => {
                let message = format!("`{name}` is not an output, so nothing of it is compared");
                return Err(Error::new(*place, message));
            }
        };
        Ok(quote!(.#method(#name, #shape #fill) #comparison))
    }
}

impl Parameter {
    /// Returns the name of its tensor's role in the catalog. Without a declaration, it only says
    /// whether the function reads or writes the tensor.
    pub(crate) fn role(&self) -> Result<Ident> {
        let method = match (&self.declared, &self.kind) {
            (Some(declared), _) => declared.method(self)?.1,
            (None, Kind::Write(_)) => "output",
            (None, Kind::Scratch(_)) => "scratch",
            (None, Kind::Read(_) | Kind::Axis) => "input",
        };
        let role = match method {
            "constant" => "Constant",
            "output" => "Output",
            "inout" => "InOut",
            "scratch" => "Scratch",
            _ => "Input",
        };
        Ok(Ident::new(role, self.name.span()))
    }
}

/// How a parameter uses its tensor.
#[derive(Clone, Copy)]
enum Use {
    /// `&[T]`.
    Read,
    /// `In<T>`.
    OnlyRead,
    Constant,
    /// `&mut [T]`.
    Written,
    /// `Out<T>`.
    OnlyWritten,
    /// `InOut<T>`.
    Overwritten,
    Scratch,
}

fn is_ours(attribute: &Attribute) -> bool {
    ["fill", "constant", "shape", "exact", "tolerance"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

/// Parses `#[exact]` or `#[tolerance(..)]`.
pub(crate) fn comparison_of(attribute: &Attribute) -> Result<Comparison> {
    let name = Ident::new("tolerance", attribute.path().span());
    match &attribute.meta {
        Meta::Path(path) if path.is_ident("exact") => Ok(Comparison::Exact),
        Meta::List(list) if list.path.is_ident("tolerance") => {
            let tokens = &list.tokens;
            let parser = |input: ParseStream| Comparison::parse_tolerance(&name, input);
            parser.parse2(quote_spanned!(name.span()=> (#tokens)))
        }
        other => Err(Error::new(
            other.span(),
            "expected `#[exact]` or `#[tolerance(rtol = 1e-5, atol = 1e-6)]`",
        )),
    }
}

/// Returns the `Tensors` that the signature declares. `None` if it declares none.
pub(crate) fn declared_tensors(options: &Options, function: &Function) -> Result<Option<TokenStream>> {
    let Some(first) = function.declared().next() else {
        return match options.given("generate") {
            None => Ok(None),
            Some(generate) => Err(Error::new(
                generate.span(),
                "`generate` fills tensors that the signature declares: write `#[fill(ByCpu, n)]` before one, or call `.generate(..)` in the function of `tensors = ..`",
            )),
        };
    };
    if let Some(tensors) = options.given("tensors") {
        let message = format!(
            "the signature declares the tensors, `{}` for one: remove `tensors = ..`, or the parameters' attributes",
            first.text()
        );
        return Err(Error::new(tensors.span(), message));
    }
    let calls = function
        .parameters
        .iter()
        .filter_map(|parameter| match (&parameter.declared, &parameter.kind) {
            (Some(declared), _) => Some(declared.call(parameter)),
            (None, Kind::Axis) => None,
            (None, kind) => Some(Err(undeclared(parameter, kind, first))),
        })
        .collect::<Result<Vec<_>>>()?;
    let generate = options.generate.as_ref().map(|generate| quote!(.generate(#generate)));
    Ok(Some(quote!(__gpubench::Tensors::new() #(#calls)* #generate)))
}

fn undeclared(parameter: &Parameter, kind: &Kind, first: &Parameter) -> Error {
    let written = match kind {
        Kind::Read(_) => FILL,
        _ => SHAPE,
    };
    Error::new(
        parameter.name.span(),
        format!(
            "`{}` needs a declaration too, as `{}` has one: write `{written}` before it",
            parameter.text(),
            first.text()
        ),
    )
}

/// Fails if a benchmark declares tensors of the problem that it shares.
pub(crate) fn reject_declared(function: &Function, problem: &str) -> Result<()> {
    let declared = function
        .parameters
        .iter()
        .find_map(|parameter| Some((parameter, parameter.declared.as_ref()?)));
    match declared {
        None => Ok(()),
        Some((parameter, declared)) => Err(Error::new(
            declared.place,
            format!(
                "`{}` is defined by the problem `{problem}`: remove the attribute here",
                parameter.text()
            ),
        )),
    }
}
