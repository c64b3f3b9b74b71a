//! The function under an attribute, and its parameters.

use crate::launch::LaunchOption;
use crate::options::{Attribute, Execution, Options};
use crate::place::reject_associated;
use crate::signature::Declaration;
use crate::types::Types;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, Item, ItemFn, Pat, PathArguments, Result, ReturnType, Signature, Token, Type,
    Visibility, parse_quote,
};

/// A function and its parameters, without the launcher.
pub(crate) struct Function {
    pub(crate) item: ItemFn,
    pub(crate) types: Types,
    pub(crate) form: Form,
    pub(crate) parameters: Vec<Parameter>,
}

/// How a function does its work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// With a launcher and buffers: it records launches.
    Launcher,
    /// With slices: it computes on the CPU.
    Slices,
    /// With slices and answers: it judges outputs on the CPU.
    Check,
}

/// A parameter that is an axis or a tensor.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
    /// The tensor's declaration, if the signature has it.
    pub(crate) declared: Option<Declaration>,
    /// Local name that no user-defined name shadows.
    pub(crate) local: Ident,
}

/// The meaning of a parameter.
pub(crate) enum Kind {
    Axis,
    /// `In<T>`, `Constant<T>` or `&[T]`, with the element type.
    Read(Type),
    /// `Out<T>`, `InOut<T>`, `&mut [T]` or `Answer<T>`, with the element type.
    Write(Type),
    /// `Scratch<T>`, with the element type.
    Scratch(Type),
}

impl Parameter {
    /// Returns the local name, with the span that errors should point to.
    pub(crate) fn local_at(&self, place: Span) -> Ident {
        let mut local = self.local.clone();
        local.set_span(local.span().located_at(place));
        local
    }

    /// Returns an expression for the parameter's location, `file:line`.
    pub(crate) fn place(&self) -> TokenStream {
        let line = Literal::usize_unsuffixed(self.name.span().unwrap().start().line());
        quote!(::core::concat!(::core::file!(), ":", #line))
    }

    /// Returns the name of the axis or tensor: the parameter's name without a leading underscore.
    pub(crate) fn text(&self) -> String {
        let name = self.name.unraw().to_string();
        match name.strip_prefix('_') {
            Some(rest) if !rest.is_empty() => rest.to_owned(),
            _ => name,
        }
    }

    /// Returns the type of the tensor's elements. `None` for an axis.
    pub(crate) fn element(&self) -> Option<&Type> {
        match &self.kind {
            Kind::Axis => None,
            Kind::Read(element) | Kind::Write(element) | Kind::Scratch(element) => Some(element),
        }
    }

    /// Returns the name of the buffer type: `In`, `Out`, `InOut`, `Scratch` or `Constant`.
    pub(crate) fn buffer(&self) -> Option<&'static str> {
        buffer(&self.ty).map(|(name, _)| name)
    }

    /// Returns an identifier of that name, raw if the parameter's is.
    fn ident(&self) -> Ident {
        let make = match self.name.unraw() == self.name {
            true => Ident::new,
            false => Ident::new_raw,
        };
        make(&self.text(), self.name.span())
    }
}

impl Function {
    /// Parses the function under `#[gpubench]`: a launcher or host, then axes and buffers. It
    /// returns a `Result`. With `launch = ..` it is a signature of axes and buffers.
    pub(crate) fn parse_benchmark(item: TokenStream, options: &Options) -> Result<Function> {
        let execution = &options.execution;
        let item = match (parse(Attribute::Gpubench, item, &options.types)?, &options.launch) {
            (Parsed::Function(item), None) => *item,
            (Parsed::Signature(signature), Some(launch)) => launch.function(signature, options)?,
            (Parsed::Function(item), Some(launch)) => return Err(launch.has_a_body(&item)),
            (Parsed::Signature(signature), None) => return Err(LaunchOption::missing(&signature)),
        };
        match item.sig.inputs.first() {
            Some(FnArg::Typed(context)) if is_exclusive_reference(&context.ty, execution.context()) => {
                Function::with_context(item, &options.types, execution.missing_result())
            }
            Some(FnArg::Typed(context)) if is_of_another_execution(&context.ty) => {
                Err(Error::new_spanned(&context.ty, execution.wrong_context(&context.ty)))
            }
            Some(method @ FnArg::Receiver(_)) => Err(is_a_method(method)),
            Some(other) => {
                let message = format!("the first parameter of {}", execution.context_rule("must be"));
                Err(Error::new_spanned(other, message))
            }
            None => Err(Error::new(
                item.sig.paren_token.span.join(),
                execution.context_rule("must take"),
            )),
        }
    }

    /// Parses the function under `#[problem]`: axes and slices, or a launcher, axes and buffers.
    pub(crate) fn parse_problem(item: TokenStream, options: &Options) -> Result<Function> {
        let types = options.types.clone();
        let mut item = match parse(Attribute::Problem, item, &types)? {
            Parsed::Function(item) if options.reference.is_none() => *item,
            Parsed::Function(item) => {
                let message = "a command computes the expected outputs, so the function has no body: write `;` instead";
                return Err(Error::new(item.block.brace_token.span.join(), message));
            }
            Parsed::Signature(item) if options.reference.is_some() => item.without_statements(),
            Parsed::Signature(item) => {
                let message = "a problem's function is its reference, so it needs a body";
                return Err(Error::new(item.semicolon.span(), message));
            }
        };
        match item.sig.inputs.first() {
            Some(FnArg::Typed(launcher)) if is_exclusive_reference(&launcher.ty, LAUNCHER) => {
                let returns = "a reference that launches kernels must return a result: add `-> Result<()>`";
                let function = Function::with_context(item, &types, returns)?;
                match function.scratch() {
                    None => Ok(function),
                    Some(scratch) => Err(Error::new_spanned(
                        &scratch.ty,
                        "a reference cannot take the benchmark's scratch memory: allocate with `launcher.scratch(..)`",
                    )),
                }
            }
            _ => {
                let parameters = parameters(item.sig.inputs.iter_mut(), slice_kind)?;
                let form = form_of(&parameters)?;
                if let (Form::Check, Some(check)) = (form, options.given("check")) {
                    let message =
                        "the function under `#[problem]` takes an `Answer<..>`, so it is the check: remove `check`";
                    return Err(Error::new(check.span(), message));
                }
                let function = Function {
                    item,
                    types,
                    form,
                    parameters,
                };
                Ok(function.with_axes_used())
            }
        }
    }

    /// Parses a function whose first parameter is a launcher or a host. `returns` is the error
    /// message for a missing return type.
    fn with_context(mut item: ItemFn, types: &Types, returns: &str) -> Result<Function> {
        if let ReturnType::Default = item.sig.output {
            return Err(Error::new(item.sig.paren_token.span.close(), returns));
        }
        let parameters = parameters(item.sig.inputs.iter_mut().skip(1), benchmark_kind)?;
        let form = Form::Launcher;
        let function = Function {
            item,
            types: types.clone(),
            form,
            parameters,
        };
        Ok(function.with_axes_used())
    }

    /// Returns the parameter of an axis.
    pub(crate) fn axis(&self, name: &str) -> Option<&Parameter> {
        self.axes().find(|parameter| parameter.text() == name)
    }

    /// Returns the parameters that are axes.
    pub(crate) fn axes(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| matches!(parameter.kind, Kind::Axis))
    }

    /// Returns the parameters that are tensors.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| !matches!(parameter.kind, Kind::Axis))
    }

    /// Counts every axis as used if the signature declares tensors: their extents name axes, but
    /// are evaluated elsewhere.
    fn with_axes_used(mut self) -> Function {
        if self.declared().next().is_some() {
            let axes = self.axes().map(|parameter| &parameter.name);
            self.item.block.stmts.insert(0, parse_quote!(let _ = (#(&#axes,)*);));
        }
        self
    }

    /// Returns the parameters whose tensors the signature declares.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.declared.is_some())
    }

    /// Returns the parameters that a reference reads or writes.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Parameter> {
        self.tensors()
            .filter(|parameter| !matches!(parameter.kind, Kind::Scratch(_)))
    }

    /// Returns the first parameter that is an output.
    pub(crate) fn first_output(&self) -> Option<&Parameter> {
        self.tensors()
            .find(|parameter| matches!(parameter.kind, Kind::Write(_)))
    }

    /// Returns the function's name, with the types of the case if it is generic.
    pub(crate) fn instance(&self) -> TokenStream {
        self.types.instance(&self.item.sig.ident, &self.item.sig.generics)
    }

    fn scratch(&self) -> Option<&Parameter> {
        self.tensors()
            .find(|parameter| matches!(parameter.kind, Kind::Scratch(_)))
    }

    /// Returns statements that bind every axis to its value, under its own name and under one that
    /// nothing shadows.
    pub(crate) fn bind_axes(&self, params: &Ident) -> TokenStream {
        let locals = self.bind_locals(params);
        let named = self.axes().map(|parameter| {
            let (name, local, ty) = (parameter.ident(), &parameter.local, &parameter.ty);
            quote!(let #name: #ty = #local;)
        });
        quote!(#locals #(#named)*)
    }

    /// Returns statements that bind every axis to its value, under a name that nothing shadows.
    pub(crate) fn bind_locals(&self, params: &Ident) -> TokenStream {
        let axes = self.axes().map(|parameter| {
            let (local, ty, name) = (&parameter.local, &parameter.ty, parameter.text());
            quote!(let #local: #ty = __gpubench::__private::axis::<#ty>(#params, #name)?;)
        });
        quote!(#(#axes)*)
    }

    /// Returns statements that take a reference's tensors from `data`.
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
                Kind::Axis | Kind::Scratch(_) => None,
            }
        });
        quote!(#(#slices)*)
    }

    /// Returns the arguments of a reference: axes and slices in parameter order.
    pub(crate) fn reference_arguments(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| !matches!(parameter.kind, Kind::Scratch(_)))
    }
}

/// A function without a body, as `launch = ..` needs.
pub(crate) struct FunctionSignature {
    pub(crate) attributes: Vec<syn::Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) semicolon: Token![;],
}

impl FunctionSignature {
    /// Returns a function that does nothing.
    fn without_statements(self) -> ItemFn {
        let FunctionSignature {
            attributes,
            visibility,
            signature,
            ..
        } = self;
        parse_quote!(#(#attributes)* #visibility #signature {})
    }
}

impl Parse for FunctionSignature {
    fn parse(input: ParseStream) -> Result<FunctionSignature> {
        Ok(FunctionSignature {
            attributes: input.call(syn::Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            semicolon: input.parse()?,
        })
    }
}

/// Returns an item as the compiler takes it without the attribute: without declarations of tensors,
/// and with a body.
pub(crate) fn as_plain_rust(item: TokenStream) -> TokenStream {
    let bodiless = || -> Result<ItemFn> {
        let FunctionSignature {
            attributes,
            visibility,
            signature,
            ..
        } = syn::parse2(item.clone())?;
        Ok(parse_quote!(#(#attributes)* #visibility #signature { ::core::unimplemented!() }))
    };
    let Ok(mut function) = syn::parse2::<ItemFn>(item.clone()).or_else(|_| bodiless()) else {
        return item;
    };
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(input) = input {
            Declaration::remove(&mut input.attrs);
        }
    }
    quote!(#[allow(unused)] #function)
}

/// The item under an attribute.
enum Parsed {
    Function(Box<ItemFn>),
    Signature(Box<FunctionSignature>),
}

/// Parses the item, if it is a function that the attribute supports.
fn parse(attribute: Attribute, item: TokenStream, types: &Types) -> Result<Parsed> {
    let name = match attribute {
        Attribute::Gpubench => "#[gpubench]",
        Attribute::Problem => "#[problem]",
    };
    let parsed = match syn::parse2(item)? {
        Item::Fn(item) => Parsed::Function(Box::new(item)),
        Item::Verbatim(tokens) if syn::parse2::<FunctionSignature>(tokens.clone()).is_ok() => {
            Parsed::Signature(Box::new(syn::parse2(tokens)?))
        }
        other => {
            return Err(Error::new(
                first_token(&other),
                format!("`{name}` can be used only on a function"),
            ));
        }
    };
    let (attributes, signature) = match &parsed {
        Parsed::Function(item) => (&item.attrs, &item.sig),
        Parsed::Signature(item) => (&item.attributes, &item.signature),
    };
    check_function(name, attributes, signature)?;
    types.check(name, &signature.ident, &signature.generics)?;
    Ok(parsed)
}

/// Fails if a function has another attribute of this library, or is of a kind that the attribute
/// `name` does not support.
fn check_function(name: &str, attributes: &[syn::Attribute], signature: &Signature) -> Result<()> {
    let again = attributes.iter().find(|other| {
        let last = other.path().segments.last();
        last.is_some_and(|last| last.ident == "gpubench" || last.ident == "problem")
    });
    if let Some(again) = again {
        let path = again.path();
        let again = quote!(#path).to_string().replace(' ', "");
        return Err(Error::new(
            path.span(),
            format!("a function can have only one `#[gpubench]` or `#[problem]`: remove this `#[{again}]`"),
        ));
    }
    reject_associated(name, &signature.ident)?;
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
    if let Some(token) = &signature.variadic {
        return cannot_be(token.span(), "variadic");
    }
    Ok(())
}

fn first_token(item: &Item) -> Span {
    quote!(#item)
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |token| token.span())
}

fn parameters<'a>(
    inputs: impl Iterator<Item = &'a mut FnArg>,
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
                    "expected the plain name of an axis or a tensor",
                ));
            }
        };
        let kind = kind_of(&input.ty)?;
        let local = format_ident!("gpubench_parameter_{}", position, span = Span::mixed_site());
        parameters.push(Parameter {
            name,
            ty: (*input.ty).clone(),
            kind,
            declared: Declaration::take(&mut input.attrs)?,
            local,
        });
    }
    Ok(parameters)
}

fn is_a_method(receiver: &FnArg) -> Error {
    Error::new_spanned(receiver, "the function cannot be a method")
}

/// Returns the meaning of a benchmark function's parameter.
fn benchmark_kind(ty: &Type) -> Result<Kind> {
    match (ty, buffer(ty)) {
        (_, Some(("In" | "Constant", element))) => Ok(Kind::Read(element)),
        (_, Some(("Scratch", element))) => Ok(Kind::Scratch(element)),
        (_, Some((_, element))) => Ok(Kind::Write(element)),
        (Type::Reference(reference), None) => match (&*reference.elem, buffer(&reference.elem)) {
            (_, Some((name, _))) => Err(Error::new_spanned(
                ty,
                format!("a buffer must be taken by value: `{name}<..>`"),
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
                    format!("a benchmark takes buffers, not slices: write {written}"),
                ))
            }
            _ => axis_kind(ty),
        },
        _ => axis_kind(ty),
    }
}

/// Returns the meaning of a CPU function's parameter.
fn slice_kind(ty: &Type) -> Result<Kind> {
    if let Some((name, element)) = buffer(ty) {
        let element = quote!(#element);
        let written = match name {
            "In" | "Constant" => format!("write `&[{element}]`"),
            "Scratch" => "scratch memory is for benchmarks only".to_owned(),
            _ => format!("write `&mut [{element}]`"),
        };
        return Err(Error::new_spanned(
            ty,
            format!("a problem's function without a launcher runs on the CPU and takes slices: {written}"),
        ));
    }
    if let Some(element) = answer(ty) {
        return Ok(Kind::Write(element));
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

/// Returns an axis if the type can be one. Named types are checked by the compiler.
fn axis_kind(ty: &Type) -> Result<Kind> {
    let is_text = matches!(ty, Type::Reference(reference) if is_path_to(&reference.elem, "str") && reference.mutability.is_none());
    match ty {
        _ if is_path_to(ty, "String") => Err(Error::new_spanned(ty, "an axis cannot be a `String`: write `&str`")),
        Type::Path(_) => Ok(Kind::Axis),
        _ if is_text => Ok(Kind::Axis),
        _ => Err(Error::new_spanned(
            ty,
            "this is neither an axis type (an integer, a float, `bool` or `&str`) nor a buffer (`In<T>`, `Out<T>`, `InOut<T>`, \
             `Scratch<T>` or `Constant<T>`)",
        )),
    }
}

/// Returns the element type of an `Answer<T>`.
fn answer(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Answer")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(element) => Some(element.clone()),
        _ => None,
    })
}

/// Returns whether a CPU function is a reference or a check, by how it takes its outputs.
fn form_of(parameters: &[Parameter]) -> Result<Form> {
    let outputs = || {
        parameters
            .iter()
            .filter(|parameter| matches!(parameter.kind, Kind::Write(_)))
    };
    let is_answer = |parameter: &&Parameter| answer(&parameter.ty).is_some();
    match (outputs().find(is_answer), outputs().find(|output| !is_answer(output))) {
        (None, _) => Ok(Form::Slices),
        (Some(_), None) => Ok(Form::Check),
        (Some(_), Some(other)) => Err(Error::new_spanned(
            &other.ty,
            "a check judges all outputs: take each as an `Answer<..>`",
        )),
    }
}

/// Returns the name and element type of a buffer type.
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

fn is_exclusive_reference(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_some() && is_path_to(&reference.elem, name))
}

/// Types of a first parameter.
const LAUNCHER: &str = "Launcher";
const HOST: &str = "Host";
const LIBRARY: &str = "Library";

/// Returns whether a type is the first parameter of some execution.
fn is_of_another_execution(ty: &Type) -> bool {
    [LAUNCHER, HOST, LIBRARY]
        .into_iter()
        .any(|context| is_exclusive_reference(ty, context))
}

impl Execution {
    /// Returns the type of the first parameter.
    pub(crate) fn context(&self) -> &'static str {
        match self {
            Execution::Sealed => LAUNCHER,
            Execution::Hosted(_) => HOST,
            Execution::Library(..) => LIBRARY,
        }
    }

    fn context_rule(&self, verb: &str) -> String {
        match self {
            Execution::Sealed => format!("a benchmark {verb} the launcher: `launcher: &mut Launcher`"),
            Execution::Hosted(_) => format!("a hosted benchmark {verb} the host: `host: &mut Host`"),
            Execution::Library(..) => {
                format!("a benchmark with a library of its own {verb} the library: `library: &mut Library`")
            }
        }
    }

    /// Explains that `ty` belongs to another execution.
    fn wrong_context(&self, ty: &Type) -> &'static str {
        match self {
            Execution::Sealed if is_exclusive_reference(ty, HOST) => {
                "a benchmark that takes a `Host` must be hosted: write `#[gpubench(hosted, ..)]`"
            }
            Execution::Sealed | Execution::Hosted(_) if is_exclusive_reference(ty, LIBRARY) => {
                "a benchmark that takes a `Library` must name it: write `#[gpubench(hosted(library = path), ..)]`"
            }
            Execution::Sealed => "a benchmark takes a `Launcher`: write `launcher: &mut Launcher`",
            Execution::Hosted(_) => "a hosted benchmark takes a `Host`, not a `Launcher`: write `host: &mut Host`",
            Execution::Library(..) => {
                "a benchmark with a library of its own takes a `Library`: write `library: &mut Library`"
            }
        }
    }

    fn missing_result(&self) -> &'static str {
        match self {
            Execution::Sealed => "a benchmark must return a result: add `-> Result<()>`",
            Execution::Hosted(_) | Execution::Library(..) => {
                "a hosted benchmark must return a result: add `-> Result<()>`"
            }
        }
    }
}

fn is_path_to(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}
