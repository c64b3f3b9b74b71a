//! Functions passed to an attribute's options. If the parameters are wrong, the error shows the
//! expected ones by name.

use crate::function::{Form, Function, Kind, Parameter};
use crate::same_file::parameters_of;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Type};

/// The expected parameters of a function, in order.
#[derive(Default)]
pub(crate) struct Expected {
    types: Vec<TokenStream>,
    /// Name and type of each, as in a signature: `n: usize`.
    shown: Vec<String>,
    /// Type parameters among `types`, which the function's signature determines.
    decided: Vec<TokenStream>,
}

impl Expected {
    /// A parameter's name and type.
    pub(crate) fn takes(&mut self, name: &str, ty: &impl ToTokens) {
        self.takes_as(name, ty.to_token_stream(), &shown(ty));
    }

    fn takes_as(&mut self, name: &str, ty: TokenStream, shown: &str) {
        self.types.push(ty);
        self.shown.push(format!("{name}: {shown}"));
    }

    /// Returns the parameters of a CPU reference: axes and slices.
    pub(crate) fn slices(function: &Function) -> Expected {
        Expected::on_host(function, |element| {
            let shown = format!("&mut [{}]", shown(element));
            (quote!(&'gpubench mut [#element]), shown)
        })
    }

    /// Returns the parameters of a check: axes, slices of what is read, and answers.
    pub(crate) fn answers(function: &Function) -> Expected {
        Expected::on_host(function, |element| {
            let shown = format!("Answer<{}>", shown(element));
            (quote!(__gpubench::Answer<'gpubench, #element>), shown)
        })
    }

    /// Returns the parameters of a function that runs on the host. `written` gives the type of a
    /// tensor that the call writes, and what messages show of it.
    fn on_host(function: &Function, written: impl Fn(&Type) -> (TokenStream, String)) -> Expected {
        let mut expected = Expected::default();
        for parameter in function.reference_arguments() {
            let name = parameter.text();
            match &parameter.kind {
                Kind::Read(element) => {
                    expected.takes_as(&name, quote!(&'gpubench [#element]), &format!("&[{}]", shown(element)));
                }
                Kind::Write(element) => {
                    let (ty, shown) = written(element);
                    expected.takes_as(&name, ty, &shown);
                }
                Kind::Axis | Kind::Scratch(_) => expected.takes(&name, &parameter.ty),
            }
        }
        expected
    }

    /// Returns the parameters of a reference that launches kernels. The function determines the
    /// types of its buffers.
    pub(crate) fn buffers(function: &Function) -> Expected {
        let mut expected = Expected::default();
        expected.launcher(&quote!(Launcher));
        for parameter in function.reference_arguments() {
            let name = parameter.text();
            match (&parameter.kind, function.form) {
                (Kind::Axis, _) => expected.takes(&name, &parameter.ty),
                (kind, form) => {
                    let decided = format_ident!("GpubenchBuffer{}", expected.decided.len());
                    let shown = match (kind, form) {
                        (Kind::Read(element), Form::Slices) => format!("In<{}>", shown(element)),
                        (Kind::Write(element), Form::Slices) => format!("Out<{}>", shown(element)),
                        _ => shown(&parameter.ty),
                    };
                    expected.takes_as(&name, quote!(#decided), &shown);
                    expected.decided.push(quote!(#decided));
                }
            }
        }
        expected
    }

    /// Returns the parameters of the function under `#[gpubench]`.
    pub(crate) fn benchmark(function: &Function, context: &TokenStream) -> Expected {
        let mut expected = Expected::default();
        expected.launcher(context);
        for parameter in &function.parameters {
            expected.takes(&parameter.text(), &parameter.ty);
        }
        expected
    }

    /// Returns the parameters of a function that returns tensors.
    pub(crate) fn axes<'a>(axes: impl Iterator<Item = &'a Parameter>) -> Expected {
        let mut expected = Expected::default();
        for axis in axes {
            expected.takes(&axis.text(), &axis.ty);
        }
        expected
    }

    /// Adds the parameter that makes calls: `launcher: &mut Launcher` or `host: &mut Host`.
    fn launcher(&mut self, context: &TokenStream) {
        let name = shown(context).to_lowercase();
        let shown = format!("&mut {}", shown(context));
        self.takes_as(&name, quote!(&'gpubench mut __gpubench::#context), &shown);
    }

    /// Returns the signature: `fn(n: usize, x: &[f32], y: &mut [f32])`.
    pub(crate) fn signature(&self) -> String {
        format!("fn({})", self.shown.join(", "))
    }

    /// Returns the parameters' names, as in a call.
    pub(crate) fn names(&self) -> String {
        let names = self.shown.iter().filter_map(|shown| shown.split(':').next());
        names.collect::<Vec<_>>().join(", ")
    }

    /// Returns the names of the parameters of the function `named` if one of them has the name of
    /// another parameter of the same type. The compiler accepts such a function. A function in
    /// another file is not checked.
    fn swapped(&self, named: &TokenStream) -> Option<Vec<String>> {
        let parameters: Vec<_> = self.shown.iter().filter_map(|shown| shown.split_once(": ")).collect();
        let function: Ident = syn::parse2(named.clone()).ok()?;
        let is_swapped = |position: usize, name: &str| {
            let expected = parameters.get(position);
            let meant = parameters.iter().find(|(other, _)| *other == name);
            matches!((expected, meant), (Some(expected), Some(meant)) if expected.0 != meant.0 && expected.1 == meant.1)
        };
        let has_same_types =
            |(position, (_, ty)): (usize, &(&str, &str))| parameters[..position].iter().any(|(_, other)| other == ty);
        if !parameters.iter().enumerate().any(has_same_types) {
            return None;
        }
        let names = parameters_of(&function, named.span()).filter(|names| names.len() == parameters.len())?;
        let swapped = names
            .iter()
            .enumerate()
            .any(|(position, name)| is_swapped(position, name));
        swapped.then_some(names)
    }

    /// Returns a statement that checks the signature of the function `named`, and a local name to
    /// call it by. The expected types come from `function`.
    pub(crate) fn checked(
        &self,
        named: &TokenStream,
        function: &Function,
        wrong: &Wrong,
    ) -> (TokenStream, TokenStream) {
        // Errors point to the names that the user wrote. A local name has other hygiene.
        let (span, origin) = (named.span(), function.item.sig.ident.span());
        let local = Ident::new("candidate", Span::mixed_site());
        let Expected { types, decided, .. } = self;
        let is_itself = syn::parse2(named.clone()).is_ok_and(|name: Ident| name == function.item.sig.ident);
        let swapped = (!is_itself).then(|| self.swapped(named)).flatten();
        let swapped = swapped.map(|names| {
            let taken = names.join(", ");
            let message = format!(
                "`{}` takes `{taken}`, but gets `{}` in this order: rename its parameters or pass the arguments yourself",
                shown(named),
                self.names()
            );
            quote_spanned!(span=> ::core::compile_error!(#message);)
        });
        let literal = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let (message, label) = (literal(&wrong.message), literal(&wrong.label));
        let notes = wrong.notes.iter().map(|note| literal(note));
        let candidate = quote_spanned!(span=> __gpubench::__private::Candidate(#named));
        let found = quote_spanned!(span=> gpubench_function(#candidate.fit()));
        let bound = quote_spanned!(origin=> fn gpubench_function<GpubenchFound: GpubenchExpected>(#local: GpubenchFound) -> GpubenchFound::Function);
        let callee = Ident::new("gpubench_callee", Span::mixed_site().located_at(span));
        let statement = quote! {
            #swapped
            let #callee = {
                #[diagnostic::on_unimplemented(message = #message, label = #label, #(note = #notes),*)]
                trait GpubenchExpected {
                    type Function;
                    fn function(self) -> Self::Function;
                }
                impl<GpubenchFunction> GpubenchExpected for __gpubench::__private::Fits<GpubenchFunction> {
                    type Function = GpubenchFunction;
                    fn function(self) -> GpubenchFunction {
                        self.0
                    }
                }
                trait GpubenchFit<'gpubench, GpubenchFunction, GpubenchReturned, #(#decided),*> {
                    fn fit(self) -> __gpubench::__private::Fits<GpubenchFunction>;
                }
                impl<'gpubench, GpubenchFunction, GpubenchReturned, #(#decided),*> GpubenchFit<'gpubench, GpubenchFunction, GpubenchReturned, #(#decided),*>
                    for __gpubench::__private::Candidate<GpubenchFunction>
                where
                    GpubenchFunction: ::core::ops::FnOnce(#(#types),*) -> GpubenchReturned,
                {
                    fn fit(self) -> __gpubench::__private::Fits<GpubenchFunction> {
                        __gpubench::__private::Fits(self.0)
                    }
                }
                #bound {
                    #local.function()
                }
                // The type if the function does not match.
                #[allow(unused_imports)]
                use __gpubench::__private::Unfit as _;
                #found
            };
        };
        (statement, quote!(#callee))
    }
}

/// The error for a function with other parameters.
pub(crate) struct Wrong {
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) notes: Vec<String>,
}

/// Returns whether an expression is the name of a function. The parameter types of a closure are
/// inferred from the call.
pub(crate) fn is_path(function: &TokenStream) -> bool {
    matches!(syn::parse2(function.clone()), Ok(Expr::Path(_)))
}

/// Returns a type with normal spacing.
pub(crate) fn shown(ty: &impl ToTokens) -> String {
    let text = ty.to_token_stream().to_string();
    let spaces = [
        ("& ", "&"),
        (" ::", "::"),
        (":: ", "::"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
    ];
    spaces.into_iter().fold(text, |text, (from, to)| text.replace(from, to))
}
