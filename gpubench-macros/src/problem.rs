//! Problems: either a `#[problem]`, or part of a benchmark's attribute.

use crate::amounts::{reject_mixed, reject_unknown};
use crate::axes::{AxisOption, device_tokens};
use crate::callee::{Expected, Wrong, shown};
use crate::check;
use crate::comparison::{Comparison, reject_for_integers};
use crate::function::Function;
use crate::library;
use crate::options::{Attribute, Options};
use crate::reference::{ReferenceOption, device_references, nothing_to_compute, ungrouped};
use crate::signature::declared_tensors;
use crate::statement;
use crate::types::Registered;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprPath, Result};

/// Returns the output of `#[problem]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = Options::parse(Attribute::Problem, options)?;
    let function = Function::parse_problem(item, &options)?;
    let name = &function.item.sig.ident;
    let reference = match &options.reference {
        Some(command) => Some(command.clone()),
        None => ReferenceOption::of_problem(&function),
    };
    let definition = definition(&name.unraw().to_string(), &options, &function, reference.as_ref())?;
    let visibility = &function.item.vis;
    // Nothing calls a function that a command stands for.
    let (item, doc) = match &options.reference {
        Some(_) => (None, "The problem whose reference is a command.".to_owned()),
        None => {
            let doc = format!("The problem whose reference is the function [`{name}`](fn@{name}).");
            (Some(&function.item), doc)
        }
    };
    let statement = statement::tokens(&options, &function)?;
    let entry = entry(&name.unraw().to_string(), name, &function, &statement);
    let implementation = quote! {
        #[automatically_derived]
        impl __gpubench::Problem for #name {
            const DEFINITION: &'static __gpubench::__private::ProblemDefinition = &#definition;
        }

        __gpubench::__private::inventory::submit! { #entry }
    };
    let implementation = library::scope(options.library.as_ref(), &implementation);
    // An enum takes its name among types only, so the function can have the same name.
    Ok(quote! {
        #item

        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code)]
        #visibility enum #name {}

        #implementation
    })
}

/// Returns a `BenchmarkEntry` without code: submissions bring it.
fn entry(name: &str, problem: &Ident, function: &Function, statement: &TokenStream) -> TokenStream {
    let types = function.types.listed();
    quote! {
        __gpubench::__private::BenchmarkEntry {
            module: ::core::module_path!(),
            origin: __gpubench::__private::origin!(),
            in_test_harness: false,
            name: #name,
            file: ::core::file!(),
            line: ::core::line!(),
            selection: __gpubench::catalog::Selection::Default,
            requirements: &[],
            condition: |_| ::core::result::Result::Ok(()),
            axis_names: &[],
            axes: __gpubench::__private::Vec::new,
            device_axes: __gpubench::__private::Vec::new,
            types: #types,
            settings: &[],
            problem: <#problem as __gpubench::Problem>::DEFINITION,
            body: __gpubench::__private::Body::Submission { statement: &#statement },
        }
    }
}

/// Returns a `ProblemDefinition`.
pub(crate) fn definition(
    name: &str,
    options: &Options,
    function: &Function,
    reference: Option<&ReferenceOption>,
) -> Result<TokenStream> {
    check_parameters(options, function)?;
    let type_names = options.types.names().map(|(_, name)| name);
    let axis_names = type_names.chain(options.axes.iter().map(AxisOption::text));
    let axes = AxisOption::list_tokens(&options.types, &options.axes, function)?;
    let device_axes = device_tokens(&options.cpu.axes, &options.cuda.axes, function)?;
    let requirements = options
        .requirements
        .of_device
        .iter()
        .map(|requirement| requirement.tokens());
    let condition = options.requirements.condition(function);
    let tolerance = Comparison::tokens(options.comparison.as_ref());
    let tensors = tensors(options, function)?;
    let work = work(options, function)?;
    let allowed = &options.allowed;
    let counters = options.counters.iter().map(|counter| &counter.name);
    let reduction = reduction(options, function)?;
    let operands = function.reference_arguments().map(|parameter| parameter.text());
    let check = check::tokens(options, function, reference)?;
    reject_for_integers(options, function)?;
    let reference = match reference {
        Some(reference) => reference.tokens(function),
        None => nothing_to_compute(function),
    };
    let device_references = device_references(options, function);
    Ok(quote! {
        __gpubench::__private::ProblemDefinition {
            module: ::core::module_path!(),
            name: #name,
            axis_names: &[#(#axis_names),*],
            axes: || #axes,
            device_axes: || #device_axes,
            requirements: &[#(#requirements),*],
            condition: #condition,
            tolerance: #tolerance,
            reduction: #reduction,
            tensors: #tensors,
            work: #work,
            counters: &[#(#counters),*],
            allowed: &[#(#allowed),*],
            operands: &[#(#operands),*],
            reference: #reference,
            device_references: #device_references,
            check: #check,
        }
    })
}

/// Checks that every parameter that is not a tensor is an axis, and that device-specific axes
/// exist.
fn check_parameters(options: &Options, function: &Function) -> Result<()> {
    let known: Vec<String> = options.axes.iter().map(AxisOption::text).collect();
    let listed = match known.as_slice() {
        [] => "there are no `axes(..)`".to_owned(),
        names => format!("the axes are `{}`", names.join("`, `")),
    };
    for parameter in function.axes() {
        if !known.contains(&parameter.text()) {
            let message = format!("`{}` is neither an axis nor a buffer: {listed}", parameter.text());
            return Err(Error::new(parameter.name.span(), message));
        }
    }
    for axis in options.cpu.axes.iter().chain(&options.cuda.axes) {
        if !known.contains(&axis.text()) {
            return Err(Error::new(
                axis.name.span(),
                format!("`{}` is not an axis: {listed}", axis.text()),
            ));
        }
    }
    Ok(())
}

/// Returns a `fn(&Params) -> Result<Tensors>`.
fn tensors(options: &Options, function: &Function) -> Result<TokenStream> {
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let declared = declared_tensors(options, function)?;
    let (bindings, made) = match options.tensors.as_ref().map(ungrouped) {
        None if declared.is_some() => (function.bind_axes(&params), quote!(#declared)),
        None => match function.tensors().next() {
            None => (quote!(), quote!(__gpubench::Tensors::new())),
            Some(tensor) => {
                let name = tensor.text();
                let message = format!(
                    "`{name}` has no declaration: write `#[fill(Uniform(0.0..1.0), [rows, cols])]` or `#[shape(rows)]` before each tensor, or `tensors = ..`, a function that takes the axes and returns the tensors",
                );
                return Err(Error::new(tensor.name.span(), message));
            }
        },
        Some(Expr::Path(path)) => {
            let axes = || options.axes.iter().filter_map(|axis| function.axis(&axis.text()));
            let arguments = axes().map(|parameter| parameter.local_at(path.span()));
            let (found, made) = generator(path, function, &Expected::axes(axes()));
            let locals = function.bind_locals(&params);
            (
                quote!(#locals #found),
                quote_spanned!(path.span()=> #made(#(#arguments),*)),
            )
        }
        Some(made) => (function.bind_axes(&params), quote!(#made)),
    };
    let span = options.tensors.as_ref().map_or_else(Span::call_site, Spanned::span);
    let typed = quote_spanned!(span=> let tensors: __gpubench::Tensors = #made;);
    let registered = Registered {
        name: "gpubench_tensors",
        params: &params,
        other: None,
        returned: quote!(__gpubench::Tensors),
        body: quote! {
            #bindings
            #typed
            ::core::result::Result::Ok(tensors)
        },
    };
    Ok(registered.expression(&function.types))
}

/// Returns a statement that checks the signature of the function that returns the tensors, and a
/// local name to call it by.
fn generator(path: &ExprPath, function: &Function, expected: &Expected) -> (TokenStream, TokenStream) {
    let (written, axes) = (shown(path), expected.names());
    let wrong = Wrong {
        message: format!("`{written}` does not take the axes in the order of `axes(..)`"),
        label: format!("expected `{} -> Tensors`", expected.signature()),
        notes: vec![format!(
            "to pass other arguments, write the call: `tensors = {written}({axes})`"
        )],
    };
    expected.checked(&quote!(#path), function, &wrong)
}

/// Returns a `fn(&Params) -> Result<Option<u64>>`.
fn reduction(options: &Options, function: &Function) -> Result<TokenStream> {
    let Some(terms) = &options.reduction else {
        return Ok(quote!(|_| ::core::result::Result::Ok(::core::option::Option::None)));
    };
    reject_unknown("reduction", terms, function)?;
    reject_mixed(terms, function)?;
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let bindings = function.bind_axes(&params);
    let terms = quote_spanned!(terms.span()=> __gpubench::__private::work("reduction", #terms));
    let registered = Registered {
        name: "gpubench_reduction",
        params: &params,
        other: None,
        returned: quote!(::core::option::Option<u64>),
        body: quote!(#bindings #terms),
    };
    Ok(registered.expression(&function.types))
}

/// Returns a `fn(&Params) -> Result<Work>`.
fn work(options: &Options, function: &Function) -> Result<TokenStream> {
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let bindings = function.bind_axes(&params);
    let amount = |option: &str, value: &Option<Expr>| -> Result<TokenStream> {
        match value {
            None => Ok(quote!(::core::option::Option::None)),
            Some(value) => {
                reject_unknown(option, value, function)?;
                reject_mixed(value, function)?;
                Ok(quote_spanned!(value.span()=> __gpubench::__private::work(#option, #value)?))
            }
        }
    };
    let (bytes, flops) = (amount("bytes", &options.bytes)?, amount("flops", &options.flops)?);
    let counters = options.counters.iter().map(|counter| counter.tokens(function));
    let counters = counters.collect::<Result<Vec<_>>>()?;
    let registered = Registered {
        name: "gpubench_work",
        params: &params,
        other: None,
        returned: quote!(__gpubench::catalog::Work),
        body: quote! {
            #bindings
            ::core::result::Result::Ok(__gpubench::catalog::Work {
                bytes: #bytes,
                flops: #flops,
                counters: __gpubench::__private::vec![#(#counters),*],
            })
        },
    };
    Ok(registered.expression(&function.types))
}
