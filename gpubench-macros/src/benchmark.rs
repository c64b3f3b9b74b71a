//! `#[gpubench]`.

use crate::axes::{AxisOption, device_tokens};
use crate::callee::{Expected, Wrong};
use crate::function::Function;
use crate::library;
use crate::options::{Attribute, Execution, Options, Waiting};
use crate::problem::definition;
use crate::reference::{own_reference, reject_device_references};
use crate::settings::Given;
use crate::signature::reject_declared;
use crate::types::{Registered, Types};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Path, Result, ReturnType};

/// Returns the output of `#[gpubench]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = Options::parse(Attribute::Gpubench, options)?;
    let mut function = Function::parse_benchmark(item, &options)?;
    let ignored = take_ignore(&mut function) || options.ignore.is_some();
    let parts = match &options.problem {
        None => own_problem(&options, &function)?,
        Some(problem) => shared_problem(problem, &options, &function)?,
    };
    let entry = entry(&options, &function, ignored, &parts)?;
    let (item, checks) = (&function.item, &parts.checks);
    let registration = quote! {
        #checks
        __gpubench::__private::inventory::submit! { #entry }
    };
    let registration = library::scope(options.library.as_ref(), &registration);
    Ok(quote! {
        #item

        #registration
    })
}

/// The parts that depend on whether the benchmark has its own problem or shares one.
struct Parts {
    /// A `&'static ProblemDefinition`.
    problem: TokenStream,
    /// `Vec<Axis>` of the axes that the benchmark adds to the problem.
    axes: TokenStream,
    /// `Vec<(DeviceKind, Vec<Axis>)>` of the device-specific axes that the benchmark adds to the
    /// problem.
    device_axes: TokenStream,
    /// Items that fail to compile if the benchmark does not match the problem.
    checks: TokenStream,
}

fn own_problem(options: &Options, function: &Function) -> Result<Parts> {
    let reference = own_reference(options, function)?;
    let name = case_name(options, function);
    let definition = definition(&name, options, function, reference.as_ref())?;
    Ok(Parts {
        problem: quote!(&GPUBENCH_PROBLEM),
        axes: quote!(__gpubench::__private::Vec::new()),
        device_axes: quote!(__gpubench::__private::Vec::new()),
        checks: quote!(static GPUBENCH_PROBLEM: __gpubench::__private::ProblemDefinition = #definition;),
    })
}

fn shared_problem(problem: &Path, options: &Options, function: &Function) -> Result<Parts> {
    for option in [
        "tensors",
        "generate",
        "reference",
        "check",
        "tolerance",
        "exact",
        "reduction",
        "bytes",
        "flops",
        "counters",
        "allow",
    ] {
        if let Some(given) = options.given(option) {
            return Err(Error::new(
                given.span(),
                format!(
                    "`{option}` is defined by the problem `{}`: remove it here",
                    shown(problem)
                ),
            ));
        }
    }
    reject_device_references(options, &shown(problem))?;
    reject_declared(function, &shown(problem))?;
    let definition = quote_spanned!(problem.span()=> <#problem as __gpubench::Problem>::DEFINITION);
    Ok(Parts {
        checks: axis_checks(&definition, options, function),
        problem: definition,
        axes: AxisOption::list_tokens(&Types::default(), &options.axes, function)?,
        device_axes: device_tokens(&options.cpu.axes, &options.cuda.axes, function)?,
    })
}

fn shown(path: &Path) -> String {
    quote!(#path).to_string().replace(' ', "")
}

/// Returns constants that fail to evaluate if an axis name is wrong: the compiler knows the
/// problem's axes, this macro does not.
fn axis_checks(definition: &TokenStream, options: &Options, function: &Function) -> TokenStream {
    let own: Vec<String> = options.axes.iter().map(AxisOption::text).collect();
    let taken = options.axes.iter().map(|axis| {
        let name = axis.text();
        let message = format!("`{name}` is already an axis of the problem");
        quote_spanned!(axis.name.span()=> const _: () = ::core::assert!(!#definition.has_axis(#name), #message);)
    });
    let on_devices = options
        .cpu
        .axes
        .iter()
        .chain(&options.cuda.axes)
        .map(|axis| (&axis.name, axis.text()));
    let parameters = function.axes().map(|parameter| (&parameter.name, parameter.text()));
    let unknown = parameters
        .chain(on_devices)
        .filter(|(_, name)| !own.contains(name))
        .map(|(ident, name)| {
            let message = format!("`{name}` is neither an axis of the problem nor a buffer");
            quote_spanned!(ident.span()=> const _: () = ::core::assert!(#definition.has_axis(#name), #message);)
        });
    let types = options.types.names().map(|(name, text)| {
        let message = format!("the problem has no type `{text}`: write `types({text} = [..])` in its attribute too");
        quote_spanned!(name.span()=> const _: () = ::core::assert!(#definition.has_axis(#text), #message);)
    });
    quote!(#(#taken)* #(#unknown)* #(#types)*)
}

/// Returns a `BenchmarkEntry`.
fn entry(options: &Options, function: &Function, ignored: bool, parts: &Parts) -> Result<TokenStream> {
    let name = case_name(options, function);
    let selection = if ignored { quote!(Ignored) } else { quote!(Default) };
    // If the benchmark has its own problem, the problem has the requirements.
    let requirements = options
        .requirements
        .of_device
        .iter()
        .filter(|_| options.problem.is_some());
    let requirements = requirements.map(|requirement| requirement.tokens());
    let condition = match options.problem {
        Some(_) => options.requirements.condition(function),
        None => quote!(|_| ::core::result::Result::Ok(())),
    };
    let own_axes = options.axes.iter().filter(|_| options.problem.is_some());
    let axis_names = own_axes.map(AxisOption::text);
    let Parts {
        problem,
        axes,
        device_axes,
        ..
    } = parts;
    let settings = options
        .settings
        .iter()
        .map(|Given { key, value, .. }| quote!((#key, #value)));
    let body = body(function, &options.execution);
    let types = function.types.listed();
    Ok(quote! {
        __gpubench::__private::BenchmarkEntry {
            module: ::core::module_path!(),
            origin: __gpubench::__private::origin!(),
            in_test_harness: ::core::cfg!(test),
            name: #name,
            file: ::core::file!(),
            line: ::core::line!(),
            selection: __gpubench::catalog::Selection::#selection,
            requirements: &[#(#requirements),*],
            condition: #condition,
            axis_names: &[#(#axis_names),*],
            axes: || #axes,
            device_axes: || #device_axes,
            types: #types,
            settings: &[#(#settings),*],
            problem: #problem,
            body: #body,
        }
    })
}

/// Returns a `Body`.
fn body(function: &Function, execution: &Execution) -> TokenStream {
    let params = Ident::new("gpubench_params", Span::mixed_site());
    let context = Ident::new("gpubench_context", Span::mixed_site());
    let context_type = Ident::new(execution.context(), Span::call_site());
    let context_type = quote!(#context_type);
    let buffer = match execution {
        Execution::Sealed => quote!(buffer),
        Execution::Hosted(_) => quote!(memory),
        Execution::Library(..) => quote!(operand),
    };
    let axes = function.bind_locals(&params);
    let buffers = function.tensors().map(|parameter| {
        let (local, ty, name, place) = (&parameter.local, &parameter.ty, parameter.text(), parameter.place());
        quote!(let #local: #ty = __gpubench::__private::#buffer::<#ty>(#context, #name, #place)?;)
    });
    let arguments = function.parameters.iter().map(|parameter| &parameter.local);
    let expected = Expected::benchmark(function, &context_type);
    let (found, name) = own_function(function, &expected);
    let span = match &function.item.sig.output {
        ReturnType::Type(_, ty) => ty.span(),
        ReturnType::Default => Span::call_site(),
    };
    let outcome = quote_spanned!(span=> __gpubench::Outcome::into_result(outcome));
    let registered = registered(execution);
    let item = Registered {
        name: "gpubench_body",
        params: &params,
        other: Some((&context, quote!(&mut __gpubench::#context_type))),
        returned: quote!(()),
        body: quote! {
            #axes
            #(#buffers)*
            #found
            let outcome = #name(#context, #(#arguments),*);
            #outcome
        },
    };
    let item = item.item(&function.types);
    quote!({ #item #registered })
}

/// Returns a `Body` with the function `gpubench_body`.
fn registered(execution: &Execution) -> TokenStream {
    let body = quote!(__gpubench::__private::Body);
    match execution {
        Execution::Sealed => quote!(#body::Sealed(gpubench_body)),
        Execution::Hosted(Waiting::Never) => quote!(#body::Hosted(gpubench_body)),
        Execution::Hosted(Waiting::Allowed) => quote!(#body::HostedSync(gpubench_body)),
        Execution::Library(waiting, path) => {
            let execution = match waiting {
                Waiting::Never => quote!(Hosted),
                Waiting::Allowed => quote!(HostedSync),
            };
            let checked = quote_spanned!(path.span()=> {
                const PATH: &str = #path;
                ::core::assert!(!PATH.is_empty(), "the path of a library cannot be empty");
                PATH
            });
            quote! {
                #body::Library {
                    path: const #checked,
                    execution: __gpubench::catalog::Execution::#execution,
                    declare: gpubench_body,
                }
            }
        }
    }
}

/// Checks that the name resolves to the function under the attribute. If its module has two
/// functions of this name, it could be the other one.
fn own_function(function: &Function, expected: &Expected) -> (TokenStream, TokenStream) {
    let (name, instance) = (&function.item.sig.ident, function.instance());
    let wrong = Wrong {
        message: format!("`{name}` is not the function under this attribute"),
        label: format!("the attribute is on `{}`", expected.signature()),
        notes: Vec::new(),
    };
    expected.checked(&instance, function, &wrong)
}

/// Returns the name in the catalog.
fn case_name(options: &Options, function: &Function) -> String {
    match &options.name {
        Some(name) => name.value(),
        None => function.item.sig.ident.unraw().to_string(),
    }
}

/// Removes `#[ignore]` from the function: the compiler accepts it on tests only.
fn take_ignore(function: &mut Function) -> bool {
    let before = function.item.attrs.len();
    function
        .item
        .attrs
        .retain(|attribute| !attribute.path().is_ident("ignore"));
    function.item.attrs.len() < before
}
