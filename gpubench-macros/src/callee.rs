//! Functions that an attribute names: one with other parameters is an error that says which were
//! expected, by name.

use crate::function::{Form, Function, Kind, Parameter};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

/// What a function is expected to take, in order.
#[derive(Default)]
pub(crate) struct Expected {
    types: Vec<TokenStream>,
    shown: Vec<String>,
    /// Type parameters among `types`, which the function decides.
    decided: Vec<TokenStream>,
}

impl Expected {
    /// A parameter by its name and type.
    pub(crate) fn takes(&mut self, name: &str, ty: &impl ToTokens) {
        self.takes_as(name, ty.to_token_stream(), &shown(ty));
    }

    fn takes_as(&mut self, name: &str, ty: TokenStream, shown: &str) {
        self.types.push(ty);
        self.shown.push(format!("{name}: {shown}"));
    }

    /// What a reference on the CPU takes: axes and slices.
    pub(crate) fn slices(function: &Function) -> Expected {
        let mut expected = Expected::default();
        for parameter in function.reference_arguments() {
            let name = parameter.text();
            match &parameter.kind {
                Kind::Read(element) => {
                    expected.takes_as(&name, quote!(&'gpubench [#element]), &format!("&[{}]", shown(element)));
                }
                Kind::Write(element) => {
                    let shown = format!("&mut [{}]", shown(element));
                    expected.takes_as(&name, quote!(&'gpubench mut [#element]), &shown);
                }
                Kind::Axis | Kind::Scratch => expected.takes(&name, &parameter.ty),
            }
        }
        expected
    }

    /// What a reference that launches kernels takes. Of a buffer it is the function that says which
    /// type it has.
    pub(crate) fn buffers(function: &Function) -> Expected {
        let mut expected = Expected::default();
        expected.launcher("cx", &quote!(Launcher));
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

    /// What the function under `#[gpubench]` takes.
    pub(crate) fn benchmark(function: &Function, context: &TokenStream) -> Expected {
        let mut expected = Expected::default();
        expected.launcher("cx", context);
        for parameter in &function.parameters {
            expected.takes(&parameter.text(), &parameter.ty);
        }
        expected
    }

    /// What a function that makes tensors takes.
    pub(crate) fn axes<'a>(axes: impl Iterator<Item = &'a Parameter>) -> Expected {
        let mut expected = Expected::default();
        for axis in axes {
            expected.takes(&axis.text(), &axis.ty);
        }
        expected
    }

    fn launcher(&mut self, name: &str, context: &TokenStream) {
        let shown = format!("&mut {}", shown(context));
        self.takes_as(name, quote!(&'gpubench mut __gpubench::#context), &shown);
    }

    /// `fn(n: usize, x: &[f32], y: &mut [f32])`.
    pub(crate) fn signature(&self) -> String {
        format!("fn({})", self.shown.join(", "))
    }

    /// The names of the parameters, as a call has them.
    pub(crate) fn names(&self) -> String {
        let names = self.shown.iter().filter_map(|shown| shown.split(':').next());
        names.collect::<Vec<_>>().join(", ")
    }

    /// A statement that finds the function `named`, if it takes this, and what it is called by
    /// then. What is expected of it comes from `function`.
    pub(crate) fn checked(
        &self,
        named: &TokenStream,
        function: &Function,
        wrong: &Wrong,
    ) -> (TokenStream, TokenStream) {
        // Errors stand where the user wrote the names; a local has none of their hygiene.
        let (span, origin) = (named.span(), function.item.sig.ident.span());
        let local = Ident::new("candidate", Span::mixed_site());
        let Expected { types, decided, .. } = self;
        let literal = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let (message, label) = (literal(&wrong.message), literal(&wrong.label));
        let notes = wrong.notes.iter().map(|note| literal(note));
        let candidate = quote_spanned!(span=> __gpubench::__private::Candidate(#named));
        let found = quote_spanned!(span=> gpubench_function(#candidate.fit()));
        let bound = quote_spanned!(origin=> fn gpubench_function<GpubenchFound: GpubenchExpected>(#local: GpubenchFound) -> GpubenchFound::Function);
        let callee = Ident::new("gpubench_callee", Span::mixed_site().located_at(span));
        let statement = quote! {
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
                // Found where the function does not fit.
                #[allow(unused_imports)]
                use __gpubench::__private::Unfit as _;
                #found
            };
        };
        (statement, quote!(#callee))
    }
}

/// What is said of a function that takes something else.
pub(crate) struct Wrong {
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) notes: Vec<String>,
}

/// Whether an expression is the name of a function. Of a closure it is the call that says which
/// types it takes.
pub(crate) fn is_path(function: &TokenStream) -> bool {
    matches!(syn::parse2(function.clone()), Ok(Expr::Path(_)))
}

/// A type as it is written by people.
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
