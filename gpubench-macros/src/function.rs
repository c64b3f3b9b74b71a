//! The function under an attribute: its parameters and what each stands for.

use crate::options::{Attribute, Execution};
use crate::place::refuse_associated;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericArgument, Item, ItemFn, Pat, PathArguments, Result, ReturnType, Type};

/// A function and its parameters, without the launcher.
pub(crate) struct Function {
    pub(crate) item: ItemFn,
    pub(crate) form: Form,
    pub(crate) parameters: Vec<Parameter>,
}

/// What a function works with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A launcher and buffers: it describes launches.
    Launcher,
    /// Slices: it computes on the CPU.
    Slices,
}

/// A parameter that is an axis or a tensor.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
    /// A name for it that no name of the user's hides.
    pub(crate) local: Ident,
}

/// What a parameter stands for.
pub(crate) enum Kind {
    Axis,
    /// `In<T>`, `Constant<T>` or `&[T]`, with the element type.
    Read(Type),
    /// `Out<T>`, `InOut<T>` or `&mut [T]`, with the element type.
    Write(Type),
    /// `Scratch<T>`.
    Scratch,
}

impl Parameter {
    /// The local name, placed where an error about it belongs.
    pub(crate) fn local_at(&self, place: Span) -> Ident {
        let mut local = self.local.clone();
        local.set_span(local.span().located_at(place));
        local
    }

    /// Where it is, as `file:line`.
    pub(crate) fn place(&self) -> TokenStream {
        let line = Literal::usize_unsuffixed(self.name.span().unwrap().start().line());
        quote!(::core::concat!(::core::file!(), ":", #line))
    }

    /// The name of the axis or tensor: the parameter's without an underscore in front.
    pub(crate) fn text(&self) -> String {
        let name = self.name.unraw().to_string();
        match name.strip_prefix('_') {
            Some(rest) if !rest.is_empty() => rest.to_owned(),
            _ => name,
        }
    }
}

impl Function {
    /// The function under `#[gpubench]`: what it launches with, then axes and buffers; it returns a
    /// `Result`.
    pub(crate) fn parse_benchmark(item: TokenStream, execution: Execution) -> Result<Function> {
        let item = parse(Attribute::Gpubench, item)?;
        match item.sig.inputs.first() {
            Some(FnArg::Typed(context)) if is_exclusive(&context.ty, execution.context()) => {
                Function::with_context(item, execution.returns())
            }
            Some(FnArg::Typed(context)) if is_exclusive(&context.ty, execution.other().context()) => {
                Err(Error::new_spanned(&context.ty, execution.mistaken()))
            }
            Some(method @ FnArg::Receiver(_)) => Err(is_a_method(method)),
            Some(other) => {
                let message = format!("the first parameter of {}", execution.is_given("is"));
                Err(Error::new_spanned(other, message))
            }
            None => Err(Error::new(
                item.sig.paren_token.span.join(),
                execution.is_given("takes"),
            )),
        }
    }

    /// The function under `#[problem]`: axes and slices, or a launcher, axes and buffers.
    pub(crate) fn parse_problem(item: TokenStream) -> Result<Function> {
        let item = parse(Attribute::Problem, item)?;
        match item.sig.inputs.first() {
            Some(FnArg::Typed(launcher)) if is_exclusive(&launcher.ty, Execution::Sealed.context()) => {
                let returns =
                    "a reference that launches kernels returns what the launcher reports: add `-> Result<()>`";
                let function = Function::with_context(item, returns)?;
                match function.scratch() {
                    None => Ok(function),
                    Some(scratch) => Err(Error::new_spanned(
                        &scratch.ty,
                        "scratch memory is the benchmark's own; a reference has `cx.scratch(..)`",
                    )),
                }
            }
            _ => {
                let parameters = parameters(item.sig.inputs.iter(), slice_kind)?;
                Ok(Function {
                    item,
                    form: Form::Slices,
                    parameters,
                })
            }
        }
    }

    /// A function whose first parameter is a launcher or a host; `returns` says what it has to
    /// return.
    fn with_context(item: ItemFn, returns: &str) -> Result<Function> {
        if let ReturnType::Default = item.sig.output {
            return Err(Error::new(item.sig.paren_token.span.close(), returns));
        }
        let parameters = parameters(item.sig.inputs.iter().skip(1), benchmark_kind)?;
        Ok(Function {
            item,
            form: Form::Launcher,
            parameters,
        })
    }

    /// The parameter of an axis.
    pub(crate) fn axis(&self, name: &str) -> Option<&Parameter> {
        self.axes().find(|parameter| parameter.text() == name)
    }

    /// Parameters that are axes.
    pub(crate) fn axes(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| matches!(parameter.kind, Kind::Axis))
    }

    /// Parameters that are tensors.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| !matches!(parameter.kind, Kind::Axis))
    }

    /// Parameters that a reference computes with or computes.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Parameter> {
        self.tensors()
            .filter(|parameter| !matches!(parameter.kind, Kind::Scratch))
    }

    /// The first parameter that is written and checked.
    pub(crate) fn first_output(&self) -> Option<&Parameter> {
        self.tensors()
            .find(|parameter| matches!(parameter.kind, Kind::Write(_)))
    }

    fn scratch(&self) -> Option<&Parameter> {
        self.tensors().find(|parameter| matches!(parameter.kind, Kind::Scratch))
    }

    /// Statements that give every axis its value under its own name, and under one that nothing
    /// hides.
    pub(crate) fn bind_axes(&self, params: &Ident) -> TokenStream {
        let locals = self.bind_locals(params);
        let named = self.axes().map(|parameter| {
            let (local, ty) = (&parameter.local, &parameter.ty);
            let name = Ident::new(&parameter.text(), parameter.name.span());
            quote!(let #name: #ty = #local;)
        });
        quote!(#locals #(#named)*)
    }

    /// Statements that give every axis its value under a name that nothing hides.
    pub(crate) fn bind_locals(&self, params: &Ident) -> TokenStream {
        let axes = self.axes().map(|parameter| {
            let (local, ty, name) = (&parameter.local, &parameter.ty, parameter.text());
            quote!(let #local: #ty = __gpubench::__private::axis::<#ty>(#params, #name)?;)
        });
        quote!(#(#axes)*)
    }

    /// Statements that take every tensor that a reference sees from `data`.
    pub(crate) fn bind_slices(&self, data: &Ident) -> TokenStream {
        let slices = self.parameters.iter().filter_map(|parameter| {
            let (local, name) = (&parameter.local, parameter.text());
            match &parameter.kind {
                Kind::Read(element) => {
                    Some(quote!(let #local = __gpubench::__private::read::<#element>(#data, #name)?;))
                }
                Kind::Write(element) => {
                    Some(quote!(let #local = __gpubench::__private::write::<#element>(#data, #name)?;))
                }
                Kind::Axis | Kind::Scratch => None,
            }
        });
        quote!(#(#slices)*)
    }

    /// What a reference is called with: axes and slices in the order of the parameters.
    pub(crate) fn reference_arguments(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| !matches!(parameter.kind, Kind::Scratch))
    }
}

/// The function, if the item is one that an attribute can stand over.
fn parse(attribute: Attribute, item: TokenStream) -> Result<ItemFn> {
    let name = match attribute {
        Attribute::Gpubench => "#[gpubench]",
        Attribute::Problem => "#[problem]",
    };
    let item = match syn::parse2(item)? {
        Item::Fn(item) => item,
        other => {
            return Err(Error::new(
                first_token(&other),
                format!("`{name}` belongs on a function"),
            ));
        }
    };
    let again = item.attrs.iter().find(|other| {
        let last = other.path().segments.last();
        last.is_some_and(|last| last.ident == "gpubench" || last.ident == "problem")
    });
    if let Some(again) = again {
        let path = again.path();
        let again = quote!(#path).to_string().replace(' ', "");
        return Err(Error::new(
            path.span(),
            format!("a function has one of `#[gpubench]` and `#[problem]`, once; here is `#[{again}]` again"),
        ));
    }
    refuse_associated(name, &item.sig.ident)?;
    let signature = &item.sig;
    let cannot_be =
        |span: Span, what: &str| Err(Error::new(span, format!("a function under `{name}` cannot be {what}")));
    if let Some(token) = &signature.asyncness {
        return cannot_be(token.span(), "`async`");
    }
    if let Some(token) = &signature.constness {
        return cannot_be(token.span(), "`const`");
    }
    if let Some(token) = &signature.abi {
        return cannot_be(token.span(), "`extern`");
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &signature.generics,
            format!("a function under `{name}` cannot be generic"),
        ));
    }
    if let Some(token) = &signature.variadic {
        return cannot_be(token.span(), "variadic");
    }
    Ok(item)
}

fn first_token(item: &Item) -> Span {
    quote!(#item)
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |token| token.span())
}

fn parameters<'a>(
    inputs: impl Iterator<Item = &'a FnArg>,
    kind_of: fn(&Type) -> Result<Kind>,
) -> Result<Vec<Parameter>> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for (position, input) in inputs.enumerate() {
        let FnArg::Typed(input) = input else {
            return Err(is_a_method(input));
        };
        let name = match &*input.pat {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => pattern.ident.clone(),
            other => {
                return Err(Error::new(
                    other.span(),
                    "a parameter has the plain name of an axis or a tensor",
                ));
            }
        };
        let kind = kind_of(&input.ty)?;
        let local = format_ident!("gpubench_parameter_{}", position, span = Span::mixed_site());
        parameters.push(Parameter {
            name,
            ty: (*input.ty).clone(),
            kind,
            local,
        });
    }
    Ok(parameters)
}

fn is_a_method(receiver: &FnArg) -> Error {
    Error::new_spanned(receiver, "the function cannot be a method")
}

/// What a parameter of a benchmark function stands for.
fn benchmark_kind(ty: &Type) -> Result<Kind> {
    match (ty, buffer(ty)) {
        (_, Some(("In" | "Constant", element))) => Ok(Kind::Read(element)),
        (_, Some(("Scratch", _))) => Ok(Kind::Scratch),
        (_, Some((_, element))) => Ok(Kind::Write(element)),
        (Type::Reference(reference), None) => match (&*reference.elem, buffer(&reference.elem)) {
            (_, Some((name, _))) => Err(Error::new_spanned(
                ty,
                format!("a buffer is taken by value: `{name}<..>`"),
            )),
            (Type::Slice(slice), None) => {
                let element = &slice.elem;
                let element = quote!(#element);
                let written = match reference.mutability {
                    Some(_) => format!("`Out<{element}>` or `InOut<{element}>`"),
                    None => format!("`In<{element}>` or `Constant<{element}>`"),
                };
                Err(Error::new_spanned(
                    ty,
                    format!("a benchmark takes buffers, not slices: this one is {written}"),
                ))
            }
            _ => axis_kind(ty),
        },
        _ => axis_kind(ty),
    }
}

/// What a parameter of a function on the CPU stands for.
fn slice_kind(ty: &Type) -> Result<Kind> {
    if let Some((name, element)) = buffer(ty) {
        let element = quote!(#element);
        let written = match name {
            "In" | "Constant" => format!("this one is `&[{element}]`"),
            "Scratch" => "scratch memory is the benchmark's own".to_owned(),
            _ => format!("this one is `&mut [{element}]`"),
        };
        return Err(Error::new_spanned(
            ty,
            format!("without a launcher in front, a problem's function runs on the CPU and takes slices: {written}"),
        ));
    }
    match ty {
        Type::Reference(reference) => match (&*reference.elem, &reference.mutability) {
            (Type::Slice(slice), None) => Ok(Kind::Read((*slice.elem).clone())),
            (Type::Slice(slice), Some(_)) => Ok(Kind::Write((*slice.elem).clone())),
            _ => axis_kind(ty),
        },
        _ => axis_kind(ty),
    }
}

/// An axis, if the type can be one's. Whether a named type can is left to the compiler.
fn axis_kind(ty: &Type) -> Result<Kind> {
    let is_text = matches!(ty, Type::Reference(reference) if is_path_to(&reference.elem, "str") && reference.mutability.is_none());
    match ty {
        Type::Path(_) => Ok(Kind::Axis),
        _ if is_text => Ok(Kind::Axis),
        _ => Err(Error::new_spanned(
            ty,
            "this is neither the type of an axis (an integer, a float, `bool` or `&str`) nor a buffer (`In<T>`, `Out<T>`, `InOut<T>`, \
             `Scratch<T>` or `Constant<T>`)",
        )),
    }
}

/// The name and element type of a buffer type.
fn buffer(ty: &Type) -> Option<(&'static str, Type)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let name = ["In", "Out", "InOut", "Scratch", "Constant"]
        .into_iter()
        .find(|name| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(element) if arguments.args.len() == 1 => Some((name, element.clone())),
        _ => None,
    }
}

fn is_exclusive(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_some() && is_path_to(&reference.elem, name))
}

impl Execution {
    /// The type behind the first parameter.
    fn context(self) -> &'static str {
        match self {
            Execution::Sealed => "Launcher",
            Execution::Hosted => "Host",
        }
    }

    fn other(self) -> Execution {
        match self {
            Execution::Sealed => Execution::Hosted,
            Execution::Hosted => Execution::Sealed,
        }
    }

    fn is_given(self, verb: &str) -> String {
        match self {
            Execution::Sealed => format!("a benchmark {verb} the launcher: `cx: &mut Launcher`"),
            Execution::Hosted => format!("a hosted benchmark {verb} the host: `cx: &mut Host`"),
        }
    }

    fn mistaken(self) -> &'static str {
        match self {
            Execution::Sealed => "a benchmark that launches by itself is `#[gpubench(hosted, ..)]`",
            Execution::Hosted => "a hosted benchmark launches by itself: it takes `cx: &mut Host`",
        }
    }

    fn returns(self) -> &'static str {
        match self {
            Execution::Sealed => "a benchmark returns what the launcher reports: add `-> Result<()>`",
            Execution::Hosted => "a hosted benchmark returns what the host reports: add `-> Result<()>`",
        }
    }
}

fn is_path_to(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}
