//! Axes and their values.

use crate::function::Function;
use crate::options::{comma, group, value};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

/// `width = [1024, 4096]`.
pub(crate) struct AxisOption {
    pub(crate) name: Ident,
    values: Expr,
}

impl AxisOption {
    /// Parses the axes in the parentheses after `axes`.
    pub(crate) fn parse_list(option: &Ident, input: ParseStream) -> Result<Vec<AxisOption>> {
        let content = group(option, input, "axes(width = [1024, 4096])")?;
        let mut axes: Vec<AxisOption> = Vec::new();
        while !content.is_empty() {
            let name = content
                .call(Ident::parse_any)
                .map_err(|error| Error::new(error.span(), "expected an axis, such as `width = [1024, 4096]`"))?;
            if axes.iter().any(|axis| name.unraw() == axis.text()) {
                return Err(Error::new(name.span(), format!("the axis `{name}` is given twice")));
            }
            let values: Expr = value(&name, &content, &format!("{name} = [1024, 4096]"))?;
            if let Expr::Array(array) = &values
                && array.elems.is_empty()
            {
                return Err(Error::new(values.span(), format!("the axis `{name}` has no values")));
            }
            if let Expr::Lit(_) = &values {
                return Err(Error::new(
                    values.span(),
                    "the values of an axis must be a list: write `[..]` around them",
                ));
            }
            axes.push(AxisOption { name, values });
            comma(&content)?;
        }
        Ok(axes)
    }

    /// Returns the name without `r#`.
    pub(crate) fn text(&self) -> String {
        self.name.unraw().to_string()
    }

    /// Returns a `Vec<Axis>` with the types of the function's parameters.
    pub(crate) fn list_tokens(axes: &[AxisOption], function: &Function) -> Result<TokenStream> {
        let axes = axes
            .iter()
            .map(|axis| axis.tokens(function))
            .collect::<Result<Vec<_>>>()?;
        Ok(quote!(__gpubench::__private::vec![#(#axes),*]))
    }

    fn tokens(&self, function: &Function) -> Result<TokenStream> {
        let name = self.text();
        let parameter = function.axis(&name).ok_or_else(|| {
            let is_buffer = function.tensors().any(|tensor| tensor.text() == name);
            let hint = if is_buffer { ": it is a buffer" } else { "" };
            let function = &function.item.sig.ident;
            Error::new(
                self.name.span(),
                format!("the axis `{name}` is not a parameter of `{function}`{hint}"),
            )
        })?;
        let ty = &parameter.ty;
        let values = match &self.values {
            // With an explicit type, a value of another type is an error at that value.
            Expr::Array(array) => {
                let count = array.elems.len();
                quote!({ let values: [#ty; #count] = #array; values })
            }
            values => quote!(#values),
        };
        Ok(quote_spanned!(self.values.span()=> __gpubench::__private::axis_values::<#ty>(#name, #values)))
    }
}

/// Returns the `Vec<(DeviceKind, Vec<Axis>)>` of device-specific axes.
pub(crate) fn device_tokens(cpu: &[AxisOption], cuda: &[AxisOption], function: &Function) -> Result<TokenStream> {
    let mut devices = Vec::new();
    for (kind, axes) in [(quote!(Cpu), cpu), (quote!(Cuda), cuda)] {
        if !axes.is_empty() {
            let axes = AxisOption::list_tokens(axes, function)?;
            devices.push(quote!((__gpubench::catalog::DeviceKind::#kind, #axes)));
        }
    }
    Ok(quote!(__gpubench::__private::vec![#(#devices),*]))
}
