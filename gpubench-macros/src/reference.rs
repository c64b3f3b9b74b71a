//! References: a CPU function, a function that launches kernels, or a command.

use crate::callee::{Expected, Wrong, is_path, shown};
use crate::function::{Form, Function};
use crate::options::{Options, value};
use crate::types::Registered;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprCall, ExprLit, Lit, LitStr, Result};

/// A reference as written in the attribute.
#[derive(Clone)]
pub(crate) enum ReferenceOption {
    /// `reference = function`, called with slices.
    Cpu(TokenStream),
    /// `reference = launch(function)`, called with a launcher and buffers.
    Launch(TokenStream),
    /// `reference = provider("python3", "softmax.py")`, a command.
    Provider(Vec<LitStr>),
}

const PROVIDER: &str = "provider(\"python3\", \"softmax.py\")";

impl ReferenceOption {
    /// Parses the value of `reference`.
    pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<ReferenceOption> {
        let written: Expr = value(option, input, "reference = function")?;
        match ungrouped(&written) {
            Expr::Call(call) if is_named(&call.func, "launch") => match (call.args.first(), call.args.len()) {
                (Some(function), 1) => Ok(ReferenceOption::Launch(function.to_token_stream())),
                _ => Err(Error::new(
                    call.span(),
                    "expected `reference = launch(function)`, for a reference that launches kernels",
                )),
            },
            Expr::Call(call) if is_named(&call.func, "provider") => ReferenceOption::command(call),
            function => Ok(ReferenceOption::Cpu(function.to_token_stream())),
        }
    }

    /// Parses the program and the arguments of a provider.
    fn command(call: &ExprCall) -> Result<ReferenceOption> {
        let wrong = |span| {
            let message = format!("expected a program and its arguments, each a string: `reference = {PROVIDER}`");
            Error::new(span, message)
        };
        let parts = call.args.iter().map(|part| match ungrouped(part) {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text), ..
            }) => Ok(text.clone()),
            other => Err(wrong(other.span())),
        });
        let command = parts.collect::<Result<Vec<LitStr>>>()?;
        match command.first() {
            None => Err(wrong(call.span())),
            Some(program) if program.value().is_empty() => Err(wrong(program.span())),
            Some(_) => match command.iter().find(|part| part.value().contains('\0')) {
                Some(part) => Err(wrong(part.span())),
                None => Ok(ReferenceOption::Provider(command)),
            },
        }
    }

    /// Returns the function under `#[problem]`, which is the reference.
    /// `None` if it is a check.
    pub(crate) fn of_problem(function: &Function) -> Option<ReferenceOption> {
        let name = function.instance();
        match function.form {
            Form::Slices => Some(ReferenceOption::Cpu(name)),
            Form::Launcher => Some(ReferenceOption::Launch(name)),
            Form::Check => None,
        }
    }

    /// Returns a `ReferenceFunction` that calls it with the axes and tensors of `function`.
    pub(crate) fn tokens(&self, function: &Function) -> TokenStream {
        match self {
            ReferenceOption::Cpu(reference) => on_cpu(function, Some(reference)),
            ReferenceOption::Launch(reference) => by_launches(function, reference),
            ReferenceOption::Provider(command) => quote! {
                __gpubench::__private::ReferenceFunction::Provider {
                    command: &[#(#command),*],
                    folder: ::core::env!("CARGO_MANIFEST_DIR"),
                }
            },
        }
    }
}

/// Removes the invisible group around an expression that another macro passed on.
pub(crate) fn ungrouped(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => ungrouped(&group.expr),
        expression => expression,
    }
}

fn is_named(function: &Expr, name: &str) -> bool {
    matches!(function, Expr::Path(path) if path.path.is_ident(name))
}

/// Returns the `ReferenceFunction` of a problem without outputs.
pub(crate) fn nothing_to_compute(function: &Function) -> TokenStream {
    on_cpu(function, None)
}

/// Returns the reference of a benchmark that has its own problem. `None` if there are no outputs.
pub(crate) fn own_reference(options: &Options, function: &Function) -> Result<Option<ReferenceOption>> {
    if let Some(reference) = &options.reference {
        return Ok(Some(reference.clone()));
    }
    match function.first_output() {
        None => Ok(None),
        Some(_) if options.check.is_some() => Ok(None),
        Some(output) => {
            let message = format!(
                "missing `reference = ..`, which computes the expected `{}`: a CPU function, `launch(function)` to launch kernels, or `{PROVIDER}` to run a command; or `check = ..`, a function that judges it",
                output.text()
            );
            Err(Error::new(Span::call_site(), message))
        }
    }
}

/// Returns `&[(DeviceKind, ReferenceFunction)]`, the device-specific references.
pub(crate) fn device_references(options: &Options, function: &Function) -> TokenStream {
    let devices = [
        (quote!(Cpu), &options.cpu.reference),
        (quote!(Cuda), &options.cuda.reference),
    ];
    let references = devices.into_iter().filter_map(|(kind, reference)| {
        let (_, reference) = reference.as_ref()?;
        let reference = reference.tokens(function);
        Some(quote!((__gpubench::catalog::DeviceKind::#kind, #reference)))
    });
    quote!(&[#(#references),*])
}

/// Fails on a device-specific reference if the benchmark shares a problem.
pub(crate) fn reject_device_references(options: &Options, problem: &str) -> Result<()> {
    match options.cpu.reference.iter().chain(&options.cuda.reference).next() {
        None => Ok(()),
        Some((option, _)) => Err(Error::new(
            option.span(),
            format!("`reference` is defined by the problem `{problem}`: remove it here"),
        )),
    }
}

/// How a CPU reference takes buffers.
const AS_SLICES: &str = "`In<T>` as `&[T]`, `Out<T>` and `InOut<T>` as `&mut [T]`";

/// Returns a statement that checks the signature of a named reference, and a local name to call it
/// by.
fn checked(
    function: &Function,
    reference: &TokenStream,
    expected: Expected,
    buffers: &str,
) -> (TokenStream, TokenStream) {
    let name = &function.item.sig.ident;
    if !is_path(reference) || *name == reference.to_string() {
        return (TokenStream::new(), reference.clone());
    }
    let written = shown(reference);
    let wrong = Wrong {
        message: format!("the reference `{written}` does not take the axes and tensors of `{name}`"),
        label: format!("expected `{}`", expected.signature()),
        notes: vec![format!(
            "a reference takes the parameters of `{name}` in the same order: {buffers}"
        )],
    };
    expected.checked(reference, function, &wrong)
}

/// Returns a function that takes `Params` and `CpuData`.
fn on_cpu(function: &Function, reference: Option<&TokenStream>) -> TokenStream {
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let data = Ident::new("gpubench_data", Span::mixed_site());
    let body = match reference {
        None => quote!(::core::result::Result::Ok(())),
        Some(reference) => {
            let axes = function.bind_locals(&params);
            let slices = function.bind_slices(&data);
            let span = reference.span();
            let arguments = function.reference_arguments().map(|parameter| parameter.local_at(span));
            let (found, reference) = checked(function, reference, Expected::slices(function), AS_SLICES);
            let call = quote_spanned!(span=> (#reference)(#(#arguments),*));
            quote! {
                #axes
                #slices
                #found
                __gpubench::Outcome::into_result(#call)
            }
        }
    };
    let registered = Registered {
        name: "gpubench_reference",
        params: &params,
        other: Some((&data, quote!(&mut __gpubench::CpuData<'_>))),
        returned: quote!(()),
        body,
    };
    let registered = registered.expression(&function.types);
    quote!(__gpubench::__private::ReferenceFunction::Cpu(#registered))
}

/// Returns a function that takes `Params` and `Launcher`. The called function determines the types
/// of its buffers.
fn by_launches(function: &Function, reference: &TokenStream) -> TokenStream {
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let launcher = Ident::new("gpubench_launcher", Span::mixed_site());
    let span = reference.span();
    let axes = function.bind_locals(&params);
    let buffers = function.operands().map(|parameter| {
        let (local, name, place) = (parameter.local_at(span), parameter.text(), parameter.place());
        quote_spanned!(span=> let #local = __gpubench::__private::buffer(#launcher, #name, #place)?;)
    });
    let arguments = function.reference_arguments().map(|parameter| parameter.local_at(span));
    let (found, reference) = checked(
        function,
        reference,
        Expected::buffers(function),
        "a launcher first, then the same axes and buffers",
    );
    let call = quote_spanned!(span=> (#reference)(#launcher, #(#arguments),*));
    let registered = Registered {
        name: "gpubench_reference",
        params: &params,
        other: Some((&launcher, quote!(&mut __gpubench::Launcher))),
        returned: quote!(()),
        body: quote! {
            #axes
            #(#buffers)*
            #found
            __gpubench::Outcome::into_result(#call)
        },
    };
    let registered = registered.expression(&function.types);
    quote!(__gpubench::__private::ReferenceFunction::Launch(#registered))
}
