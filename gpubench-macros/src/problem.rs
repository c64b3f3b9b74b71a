//! Problems: what a benchmark computes, whether it stands in a `#[problem]` of its own or in the benchmark's own attribute.

use crate::axes::{AxisOption, device_tokens};
use crate::comparison::Comparison;
use crate::function::Function;
use crate::options::{Attribute, Options};
use crate::reference::{ReferenceOption, device_references, nothing_to_compute};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

/// The output of `#[problem]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = Options::parse(Attribute::Problem, options)?;
    let function = Function::parse_problem(item)?;
    let name = &function.item.sig.ident;
    let reference = ReferenceOption::of_problem(&function);
    let definition = definition(&name.unraw().to_string(), &options, &function, Some(&reference))?;
    let item = &function.item;
    let visibility = &item.vis;
    let doc = format!("The problem that the function [`{name}`](fn@{name}) is the reference of.");
    // An enum, since it takes its name among types only and leaves the function's alone.
    Ok(quote! {
        #item

        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code)]
        #visibility enum #name {}

        const _: () = {
            #[automatically_derived]
            impl ::gpubench::Problem for #name {
                const DEFINITION: &'static ::gpubench::__private::ProblemDefinition = &#definition;
            }
        };
    })
}

/// A `ProblemDefinition`.
pub(crate) fn definition(
    name: &str,
    options: &Options,
    function: &Function,
    reference: Option<&ReferenceOption>,
) -> Result<TokenStream> {
    check_parameters(options, function)?;
    let axis_names = options.axes.iter().map(AxisOption::text);
    let axes = AxisOption::list_tokens(&options.axes, function)?;
    let device_axes = device_tokens(&options.cpu.axes, &options.cuda.axes, function)?;
    let requirements = options
        .requirements
        .of_device
        .iter()
        .map(|requirement| requirement.tokens());
    let condition = options.requirements.condition(function);
    let tolerance = Comparison::tokens(options.comparison.as_ref());
    let tensors = tensors(options, function)?;
    let work = work(options, function);
    let operands = function.reference_arguments().map(|parameter| parameter.text());
    let reference = match reference {
        Some(reference) => reference.tokens(function),
        None => nothing_to_compute(function),
    };
    let device_references = device_references(options, function);
    Ok(quote! {
        ::gpubench::__private::ProblemDefinition {
            module: ::core::module_path!(),
            name: #name,
            axis_names: &[#(#axis_names),*],
            axes: || #axes,
            device_axes: || #device_axes,
            requirements: &[#(#requirements),*],
            condition: #condition,
            tolerance: #tolerance,
            tensors: #tensors,
            work: #work,
            operands: &[#(#operands),*],
            reference: #reference,
            device_references: #device_references,
        }
    })
}

/// Every parameter that is no tensor is an axis, and axes for a device are axes.
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

/// `fn(&Params) -> Result<Tensors>`.
fn tensors(options: &Options, function: &Function) -> Result<TokenStream> {
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let (bindings, made) = match &options.inputs {
        None => match function.tensors().next() {
            None => (quote!(), quote!(::gpubench::Tensors::new())),
            Some(tensor) => {
                let message = format!(
                    "`inputs = ..` is missing: a function of the axes that makes the tensors, such as `{}`",
                    tensor.text()
                );
                return Err(Error::new(Span::call_site(), message));
            }
        },
        Some(Expr::Path(path)) => {
            let arguments = options.axes.iter().filter_map(|axis| function.axis(&axis.text()));
            let arguments = arguments.map(|parameter| parameter.local_at(path.span()));
            (
                function.bind_locals(&params),
                quote_spanned!(path.span()=> #path(#(#arguments),*)),
            )
        }
        Some(made) => (function.bind_axes(&params), quote!(#made)),
    };
    let span = options.inputs.as_ref().map_or_else(Span::call_site, Spanned::span);
    let typed = quote_spanned!(span=> let tensors: ::gpubench::Tensors = #made;);
    Ok(quote! {
        {
            #[allow(unused_variables)]
            fn gpubench_tensors(#params: &::gpubench::catalog::Params) -> ::gpubench::Result<::gpubench::Tensors> {
                #bindings
                #typed
                ::std::result::Result::Ok(tensors)
            }
            gpubench_tensors
        }
    })
}

/// `fn(&Params) -> Result<Work>`.
fn work(options: &Options, function: &Function) -> TokenStream {
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let bindings = function.bind_axes(&params);
    let amount = |option: &str, value: &Option<Expr>| match value {
        None => quote!(::std::option::Option::None),
        Some(value) => quote_spanned!(value.span()=> ::gpubench::__private::work(#option, #value)?),
    };
    let (bytes, flops) = (amount("bytes", &options.bytes), amount("flops", &options.flops));
    quote! {
        {
            #[allow(unused_variables)]
            fn gpubench_work(#params: &::gpubench::catalog::Params) -> ::gpubench::Result<::gpubench::catalog::Work> {
                #bindings
                ::std::result::Result::Ok(::gpubench::catalog::Work { bytes: #bytes, flops: #flops })
            }
            gpubench_work
        }
    }
}
