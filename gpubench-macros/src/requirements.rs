//! The option `requires(..)`.

use crate::function::Function;
use crate::options::{comma, group, value};
use crate::types::Registered;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, Lit, Result};

/// The contents of `requires(..)`.
#[derive(Default)]
pub(crate) struct Requirements {
    /// Device requirements.
    pub(crate) of_device: Vec<Requirement>,
    /// Conditions on the axes, each a `bool` expression.
    conditions: Vec<Expr>,
}

/// A device requirement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    Cpu,
    Cuda,
    /// Compute capability as `major * 10 + minor`.
    Capability(u32),
}

const WRITTEN: &str = "`requires(cuda)`, `requires(cpu)`, `requires(capability = 9.0)` or `requires(if = n % 8 == 0)`";

impl Requirements {
    pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Requirements> {
        let content = group(option, input, "requires(cuda)")?;
        let mut requirements: Vec<Requirement> = Vec::new();
        let mut conditions = Vec::new();
        while !content.is_empty() {
            let wrong = |span| Error::new(span, format!("expected {WRITTEN}"));
            let name = content.call(Ident::parse_any).map_err(|error| wrong(error.span()))?;
            let requirement = match name.to_string().as_str() {
                "if" => {
                    conditions.push(value(&name, &content, "if = n % 8 == 0")?);
                    comma(&content)?;
                    continue;
                }
                "cpu" => Requirement::Cpu,
                "cuda" => Requirement::Cuda,
                "capability" => Requirement::Capability(capability(&value(&name, &content, "capability = 9.0")?)?),
                _ => return Err(wrong(name.span())),
            };
            if requirements.iter().any(|other| other.kind() == requirement.kind()) {
                return Err(Error::new(name.span(), format!("`{name}` is given twice")));
            }
            if requirements.iter().any(|other| other.excludes(requirement)) {
                return Err(Error::new(
                    name.span(),
                    "no device is both the CPU device and a CUDA device",
                ));
            }
            requirements.push(requirement);
            comma(&content)?;
        }
        if requirements.is_empty() && conditions.is_empty() {
            Err(Error::new(option.span(), format!("expected {WRITTEN}")))
        } else {
            Ok(Requirements {
                of_device: requirements,
                conditions,
            })
        }
    }

    /// Returns a `fn(&Params) -> Result<()>` that skips a case whose axes do not meet the
    /// conditions.
    pub(crate) fn condition(&self, function: &Function) -> TokenStream {
        if self.conditions.is_empty() {
            return quote!(|_| ::core::result::Result::Ok(()));
        }
        let params = Ident::new("gpubench_params", Span::mixed_site());
        let bindings = function.bind_axes(&params);
        let conditions = self.conditions.iter().map(|condition| {
            let reason = format!("requires `{}`", quote!(#condition));
            quote_spanned! {condition.span()=>
                let holds: bool = #condition;
                if !holds {
                    return ::core::result::Result::Err(__gpubench::Error::skip(#reason));
                }
            }
        });
        let registered = Registered {
            name: "gpubench_condition",
            params: &params,
            other: None,
            returned: quote!(()),
            body: quote! {
                #bindings
                #(#conditions)*
                ::core::result::Result::Ok(())
            },
        };
        registered.expression(&function.types)
    }
}

impl Requirement {
    fn kind(self) -> std::mem::Discriminant<Requirement> {
        std::mem::discriminant(&self)
    }

    fn excludes(self, other: Requirement) -> bool {
        (self == Requirement::Cpu) != (other == Requirement::Cpu)
    }

    pub(crate) fn tokens(self) -> TokenStream {
        match self {
            Requirement::Cpu => {
                quote!(__gpubench::catalog::Requirement::Device(
                    __gpubench::catalog::DeviceKind::Cpu
                ))
            }
            Requirement::Cuda => {
                quote!(__gpubench::catalog::Requirement::Device(
                    __gpubench::catalog::DeviceKind::Cuda
                ))
            }
            Requirement::Capability(capability) => {
                quote!(__gpubench::catalog::Requirement::Capability(#capability))
            }
        }
    }
}

/// Parses a compute capability such as `9.0`.
fn capability(literal: &Lit) -> Result<u32> {
    let text = match literal {
        Lit::Float(number) => number.to_string(),
        other => return Err(wrong_capability(other)),
    };
    let (major, minor) = text.split_once('.').ok_or_else(|| wrong_capability(literal))?;
    match (major.parse::<u32>(), minor.parse::<u32>()) {
        (Ok(major), Ok(minor)) if (1..100).contains(&major) && minor < 10 && minor.to_string().len() == 1 => {
            Ok(major * 10 + minor)
        }
        _ => Err(wrong_capability(literal)),
    }
}

fn wrong_capability(literal: &Lit) -> Error {
    Error::new(
        literal.span(),
        "expected a compute capability with major and minor version: `9.0`",
    )
}
