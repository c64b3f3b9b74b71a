//! What the function of a kernel takes for its parameters.

use gpubench_declarations::{Access, Number, Parameter, ParameterType, name_of_variable};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// What a function takes for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// This type.
    Value(&'static str),
    /// Any integer, checked at the launch to fit this type.
    Integer(&'static str),
    /// A buffer of this type to read.
    ConstPointer(&'static str),
    /// A buffer of this type to write.
    MutPointer(&'static str),
    /// Whatever a kernel can take. The tool compares it with the source later.
    Anything,
}

impl Taken {
    pub(crate) fn of(parameter: &Parameter) -> Taken {
        match (&parameter.ty, parameter.access) {
            (ParameterType::Number(number), _) => by_value(*number),
            (ParameterType::Pointer(Some(number)), Access::Reads) => Taken::ConstPointer(element(*number)),
            (ParameterType::Pointer(Some(number)), Access::Writes) => Taken::MutPointer(element(*number)),
            (ParameterType::Pointer(None) | ParameterType::Unknown, Access::Reads) => Taken::ConstPointer(ANY),
            (ParameterType::Pointer(None) | ParameterType::Unknown, Access::Writes) => Taken::MutPointer(ANY),
            (ParameterType::Unknown, _) if is_tensor_map(&parameter.written) => Taken::Value("TensorMap"),
            _ => Taken::Anything,
        }
    }

    /// Returns the type in the function's signature.
    pub(crate) fn rust_type(self, library: &TokenStream) -> TokenStream {
        match self {
            Taken::Value(ty) => path(ty, library),
            Taken::Integer(ty) => {
                let ty = path(ty, library);
                quote!(impl #library::IntegerArg<#ty>)
            }
            Taken::ConstPointer(element) => {
                let element = path(element, library);
                quote!(impl #library::ConstPointer<#element>)
            }
            Taken::MutPointer(element) => {
                let element = path(element, library);
                quote!(impl #library::MutPointer<#element>)
            }
            Taken::Anything => quote!(impl #library::KernelArg),
        }
    }

    /// Returns the expression that records the argument in the variable `name`.
    pub(crate) fn argument(self, name: &Ident, written: &str, library: &TokenStream) -> TokenStream {
        match self {
            Taken::Integer(ty) => {
                let ty = path(ty, library);
                quote!(#library::__private::integer::<#ty>(#name, #written))
            }
            _ => quote!(#library::__private::argument(#name)),
        }
    }
}

const ANY: &str = "AnyElement";
const BYTE: &str = "Byte";

/// Returns the path of a Rust type.
fn path(ty: &str, library: &TokenStream) -> TokenStream {
    let name = Ident::new(ty, Span::call_site());
    if ty.starts_with(|first: char| first.is_ascii_uppercase()) {
        quote!(#library::#name)
    } else {
        quote!(::core::primitive::#name)
    }
}

fn by_value(number: Number) -> Taken {
    match number {
        Number::Bool => Taken::Value("bool"),
        number if number.is_float() => Taken::Value(element(number)),
        // An address is a buffer, too.
        Number::Address => Taken::Anything,
        _ => Taken::Integer(element(number)),
    }
}

/// Returns the type of a tensor's elements that has the bits of a number type.
fn element(number: Number) -> &'static str {
    match number {
        // The sign of `char` depends on the compiler, and tensors have no `bool`.
        Number::Bool | Number::Char => BYTE,
        Number::I8 => "i8",
        Number::U8 => "u8",
        Number::I16 => "i16",
        Number::U16 => "u16",
        Number::I32 => "i32",
        Number::U32 => "u32",
        Number::I64 => "i64",
        Number::U64 => "u64",
        Number::Address => ANY,
        Number::F16 => "F16",
        Number::BF16 => "BF16",
        Number::F32 => "f32",
        Number::F64 => "f64",
        Number::F8E4M3 => "F8E4M3",
        Number::F8E5M2 => "F8E5M2",
    }
}

/// Returns whether a parameter is a tensor map by value.
fn is_tensor_map(written: &str) -> bool {
    let mut words = written.split_whitespace();
    !written.contains(['*', '&', '<', '[', '(']) && words.any(|word| word == "CUtensorMap")
}

/// Returns a name for each parameter, different from the static's.
pub(crate) fn names_of(parameters: &[Parameter], of_static: &str) -> Vec<Ident> {
    let mut taken = vec![of_static.to_owned()];
    let names = parameters.iter().enumerate().map(|(position, parameter)| {
        let declared = parameter.name.as_deref().map(name_of_variable);
        let mut name = declared.unwrap_or_else(|| format!("arg{position}"));
        while taken.contains(&name) || rust_name(&name).is_none() {
            name.push('_');
        }
        let identifier = rust_name(&name);
        taken.push(name);
        identifier
    });
    names.flatten().collect()
}

/// Returns a name of C++ as a Rust identifier, if it can be one. Keywords become raw identifiers.
pub(crate) fn rust_name(name: &str) -> Option<Ident> {
    let at_call = Span::call_site();
    let is_never = matches!(name, "_" | "self" | "Self" | "super" | "crate");
    let parsed = || syn::parse_str::<Ident>(name).is_ok();
    match name {
        _ if is_never => None,
        _ if parsed() => Some(Ident::new(name, at_call)),
        _ => syn::parse_str::<Ident>(&format!("r#{name}"))
            .ok()
            .map(|_| Ident::new_raw(name, at_call)),
    }
}
