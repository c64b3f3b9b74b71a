//! `types(T = [f32, F16])`: benchmarks over several types. Each type parameter is an axis of texts,
//! and everything that an attribute registers is made once for each combination of types.

use crate::options::{comma, group, value};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprArray, GenericParam, Generics, Result, Type};

/// The types of every type parameter, in the order of `types(..)`.
#[derive(Clone, Default)]
pub(crate) struct Types {
    parameters: Vec<TypeParameter>,
}

/// `T = [f32, F16]`.
#[derive(Clone)]
struct TypeParameter {
    name: Ident,
    types: Vec<Type>,
}

/// With more, a crate compiles for minutes.
const MOST_COMBINATIONS: usize = 64;

impl Types {
    /// Parses the parentheses after `types`.
    pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Types> {
        let content = group(option, input, "types(T = [f32, F16])")?;
        let mut parameters: Vec<TypeParameter> = Vec::new();
        while !content.is_empty() {
            let name: Ident = content
                .parse()
                .map_err(|error| Error::new(error.span(), "expected a type parameter: `types(T = [f32, F16])`"))?;
            if parameters.iter().any(|parameter| parameter.name == name) {
                return Err(Error::new(
                    name.span(),
                    format!("the types of `{name}` are given twice"),
                ));
            }
            let written = format!("{name} = [f32, F16]");
            let list: ExprArray = value(&name, &content, &written)
                .map_err(|_| Error::new(name.span(), format!("expected a list of types: `{written}`")))?;
            let types = list.elems.iter().map(type_of).collect::<Result<Vec<_>>>()?;
            if types.is_empty() {
                return Err(Error::new(list.span(), format!("`{name}` has no types")));
            }
            parameters.push(TypeParameter { name, types });
            comma(&content)?;
        }
        if parameters.is_empty() {
            return Err(Error::new(option.span(), "expected `types(T = [f32, F16])`"));
        }
        let combinations = parameters
            .iter()
            .map(|parameter| parameter.types.len())
            .product::<usize>();
        if combinations > MOST_COMBINATIONS {
            let message =
                format!("these are {combinations} combinations of types; at most {MOST_COMBINATIONS} are possible");
            return Err(Error::new(option.span(), message));
        }
        Ok(Types { parameters })
    }

    /// Checks that the type parameters of the function under the attribute `attribute` are the
    /// listed ones.
    pub(crate) fn check(&self, attribute: &str, name: &Ident, generics: &Generics) -> Result<()> {
        for parameter in &generics.params {
            let GenericParam::Type(parameter) = parameter else {
                return Err(Error::new_spanned(
                    parameter,
                    format!("a function under `{attribute}` can only be generic over types"),
                ));
            };
            if !self.parameters.iter().any(|listed| listed.name == parameter.ident) {
                let name = &parameter.ident;
                return Err(Error::new_spanned(
                    parameter,
                    format!("the attribute does not list the types of `{name}`: add `types({name} = [f32, F16])`"),
                ));
            }
        }
        let is_parameter =
            |listed: &TypeParameter| generics.type_params().any(|parameter| parameter.ident == listed.name);
        match self.parameters.iter().find(|listed| !is_parameter(listed)) {
            None => Ok(()),
            Some(TypeParameter { name: unknown, .. }) => Err(Error::new(
                unknown.span(),
                format!("`{unknown}` is not a type parameter of `{name}`: write `fn {name}<{unknown}: Element>(..)`"),
            )),
        }
    }

    /// Returns the types that `ty` stands for: those of a type parameter, or itself.
    pub(crate) fn of<'a>(&'a self, ty: &'a Type) -> &'a [Type] {
        let is_it = |parameter: &&TypeParameter| matches!(ty, Type::Path(path) if path.path.is_ident(&parameter.name));
        match self.parameters.iter().find(is_it) {
            Some(parameter) => &parameter.types,
            None => std::slice::from_ref(ty),
        }
    }

    /// Returns an expression for each type parameter's `Axis`.
    pub(crate) fn axes(&self) -> impl Iterator<Item = TokenStream> {
        self.parameters.iter().map(|TypeParameter { name, types }| {
            let (name, types) = (name.unraw().to_string(), types.iter().map(shown));
            quote!(__gpubench::__private::axis_values::<&::core::primitive::str>(#name, [#(#types),*]))
        })
    }

    /// Returns `&[(&str, &[&str])]`: the types of every parameter, by name.
    pub(crate) fn listed(&self) -> TokenStream {
        let parameters = self.parameters.iter().map(|TypeParameter { name, types }| {
            let (name, types) = (name.unraw().to_string(), types.iter().map(shown));
            quote!((#name, &[#(#types),*]))
        });
        quote!(&[#(#parameters),*])
    }

    /// Returns the name of each axis, with its place.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&Ident, String)> {
        self.parameters
            .iter()
            .map(|parameter| (&parameter.name, parameter.name.unraw().to_string()))
    }

    /// Returns `name`, with the types if it is the name of a generic function.
    pub(crate) fn instance(&self, name: &Ident, generics: &Generics) -> TokenStream {
        if self.parameters.is_empty() {
            return name.to_token_stream();
        }
        let parameters = generics.type_params().map(|parameter| &parameter.ident);
        quote!(#name::<#(#parameters),*>)
    }

    /// Returns every combination: a type for each parameter, in order.
    fn combinations(&self) -> Vec<Vec<&Type>> {
        let mut combinations: Vec<Vec<&Type>> = vec![Vec::new()];
        for parameter in &self.parameters {
            let mut longer = Vec::new();
            for combination in &combinations {
                longer.extend(
                    parameter
                        .types
                        .iter()
                        .map(|ty| [combination.as_slice(), &[ty]].concat()),
                );
            }
            combinations = longer;
        }
        combinations
    }
}

fn type_of(written: &Expr) -> Result<Type> {
    match written {
        Expr::Path(_) => syn::parse2(written.to_token_stream()),
        other => Err(Error::new(other.span(), "expected a type, such as `f32`")),
    }
}

/// Returns the last part of a type's path: `F16` for `gpubench::F16`.
fn shown(ty: &Type) -> String {
    let text = match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.unraw().to_string()),
        _ => None,
    };
    text.unwrap_or_else(|| ty.to_token_stream().to_string())
}

/// A function that an attribute registers. Its first parameter is the case's `Params`.
pub(crate) struct Registered<'a> {
    pub(crate) name: &'static str,
    pub(crate) params: &'a Ident,
    /// The other parameter, with its type.
    pub(crate) other: Option<(&'a Ident, TokenStream)>,
    /// What the `Result` holds.
    pub(crate) returned: TokenStream,
    pub(crate) body: TokenStream,
}

impl Registered<'_> {
    /// Returns the item. With type parameters, it calls an instance for the types of the case.
    pub(crate) fn item(&self, types: &Types) -> TokenStream {
        let Registered { params, body, .. } = self;
        let item = Ident::new(self.name, Span::call_site());
        if types.parameters.is_empty() {
            return self.function(&item, body);
        }
        let instance = Ident::new("gpubench_instance", Span::mixed_site());
        let function = self.function(&instance, body);
        let other = self.other.iter().map(|(name, _)| name);
        let arguments = quote!(#params #(, #other)*);
        let names: Vec<&Ident> = types.parameters.iter().map(|parameter| &parameter.name).collect();
        let texts: Vec<String> = types.names().map(|(_, name)| name).collect();
        let arms = types.combinations().into_iter().map(|combination| {
            let chosen = combination.iter().map(|ty| shown(ty));
            quote! {
                [#(#chosen),*] => {
                    #(#[allow(dead_code, non_camel_case_types)] type #names = #combination;)*
                    #function
                    #instance(#arguments)
                }
            }
        });
        let dispatch = quote! {
            let chosen = [#(__gpubench::__private::axis::<&::core::primitive::str>(#params, #texts)?),*];
            match chosen {
                #(#arms)*
                _ => ::core::result::Result::Err(__gpubench::__private::no_instance(&[#(#texts),*], &chosen)),
            }
        };
        self.function(&item, &dispatch)
    }

    /// Returns the item and its name, as an expression.
    pub(crate) fn expression(&self, types: &Types) -> TokenStream {
        let (item, name) = (self.item(types), Ident::new(self.name, Span::call_site()));
        quote!({ #item #name })
    }

    fn function(&self, name: &Ident, body: &TokenStream) -> TokenStream {
        let Registered { params, returned, .. } = self;
        let other = self.other.iter().map(|(name, ty)| quote!(#name: #ty));
        quote! {
            #[allow(unused_variables, unused_parens, clippy::unit_arg, clippy::redundant_closure_call)]
            fn #name(#params: &__gpubench::catalog::Params, #(#other),*) -> __gpubench::Result<#returned> {
                #body
            }
        }
    }
}
