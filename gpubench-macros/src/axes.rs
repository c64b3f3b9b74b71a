//! Axes and their values.

use crate::case_file::CaseFile;
use crate::function::{Function, Parameter};
use crate::options::{comma, group, value};
use crate::types::Types;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::rc::Rc;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprArray, Result, parenthesized};

/// An axis of `axes(..)` or `cases(..)`.
pub(crate) struct AxisOption {
    pub(crate) name: Ident,
    listed: Rc<Listed>,
}

/// `width = [1024, 4096]`, or `(m, n) = [(1, 4096), (16, 4096)]`.
struct Listed {
    /// Several if their values belong together.
    names: Vec<Ident>,
    values: Values,
}

/// Where values are from.
enum Values {
    /// A list, or an expression that makes one.
    Expression(Expr),
    /// `csv("shapes.csv")` or `json("shapes.json")`.
    File(CaseFile),
}

/// The option that lists axes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisList {
    /// `axes(..)`.
    Axes,
    /// `cases(..)`.
    Cases,
}

impl AxisList {
    fn example(self) -> &'static str {
        match self {
            AxisList::Axes => "width = [1024, 4096]",
            AxisList::Cases => "(m, n) = [(1, 4096), (16, 4096)]",
        }
    }

    /// Parses the axes in the parentheses after the option, and adds them to `axes`.
    pub(crate) fn parse(self, option: &Ident, input: ParseStream, axes: &mut Vec<AxisOption>) -> Result<()> {
        let content = group(option, input, &format!("{}({})", option.unraw(), self.example()))?;
        if self == AxisList::Cases && content.is_empty() {
            return Err(Error::new(
                option.span(),
                format!("expected `cases({})`", self.example()),
            ));
        }
        while !content.is_empty() {
            self.parse_one(&content, axes)?;
            comma(&content)?;
        }
        Ok(())
    }

    /// Parses an axis, or several whose values belong together, and adds them to `axes`.
    pub(crate) fn parse_one(self, input: ParseStream, axes: &mut Vec<AxisOption>) -> Result<()> {
        let names = self.names(input)?;
        for (position, name) in names.iter().enumerate() {
            let taken = axes.iter().map(|axis| &axis.name).chain(&names[..position]);
            reject_twice(name, taken)?;
        }
        let listed = Rc::new(Listed::parse(names, input)?);
        axes.extend(listed.names.iter().map(|name| AxisOption {
            name: name.clone(),
            listed: listed.clone(),
        }));
        Ok(())
    }

    /// Parses what is left of the equals sign.
    fn names(self, input: ParseStream) -> Result<Vec<Ident>> {
        let written = self.example();
        let wrong = |span: Span| match self {
            AxisList::Axes => Error::new(span, format!("expected an axis, such as `{written}`")),
            AxisList::Cases => Error::new(span, format!("expected several axes, such as `{written}`")),
        };
        if !input.peek(syn::token::Paren) {
            let name = input.call(Ident::parse_any).map_err(|error| wrong(error.span()))?;
            return match self {
                AxisList::Axes => Ok(vec![name]),
                AxisList::Cases => Err(belongs_in_axes(&name)),
            };
        }
        let content;
        let parentheses = parenthesized!(content in input);
        if self == AxisList::Axes {
            let message =
                "axes whose values belong together are an option of their own: `cases((m, n) = [(1, 2), ..])`";
            return Err(Error::new(parentheses.span.join(), message));
        }
        let mut names = Vec::new();
        while !content.is_empty() {
            names.push(content.call(Ident::parse_any).map_err(|error| wrong(error.span()))?);
            comma(&content)?;
        }
        match &names[..] {
            [] => Err(wrong(parentheses.span.join())),
            [name] => Err(belongs_in_axes(name)),
            _ => Ok(names),
        }
    }
}

/// Fails if an axis is among those that have values already.
pub(crate) fn reject_twice<'a>(name: &Ident, taken: impl IntoIterator<Item = &'a Ident>) -> Result<()> {
    match taken.into_iter().find(|taken| taken.unraw() == name.unraw()) {
        None => Ok(()),
        Some(_) => Err(Error::new(name.span(), format!("the axis `{name}` is given twice"))),
    }
}

fn belongs_in_axes(name: &Ident) -> Error {
    let message =
        format!("a single axis is written `axes({name} = [..])`; `cases(..)` lists several, such as `({name}, n)`");
    Error::new(name.span(), message)
}

impl Listed {
    /// Parses the values after the names.
    fn parse(names: Vec<Ident>, input: ParseStream) -> Result<Listed> {
        let title = title(&names);
        let example = match &names[..] {
            [_] => format!("{title} = [1024, 4096]"),
            _ => format!("{title} = [(..), (..)]"),
        };
        let values: Expr = value(&names[0], input, &example)?;
        if let Some(file) = CaseFile::named_by(&values)? {
            let values = Values::File(file);
            return Ok(Listed { names, values });
        }
        match &values {
            Expr::Array(array) if array.elems.is_empty() => {
                let message = match &names[..] {
                    [_] => format!("the axis `{title}` has no values"),
                    _ => format!("`{title}` has no values"),
                };
                return Err(Error::new(values.span(), message));
            }
            Expr::Array(array) if names.len() > 1 => check_tuples(&names, array)?,
            Expr::Lit(_) => {
                return Err(Error::new(
                    values.span(),
                    "the values of an axis must be a list: write `[..]` around them",
                ));
            }
            _ => {}
        }
        let values = Values::Expression(values);
        Ok(Listed { names, values })
    }

    /// Returns an `Axis` with the types of the function's parameters.
    fn tokens(&self, function: &Function) -> Result<TokenStream> {
        let parameters = self.names.iter().map(|name| parameter(name, function));
        let parameters = parameters.collect::<Result<Vec<_>>>()?;
        let types: Vec<_> = parameters.iter().map(|parameter| &parameter.ty).collect();
        let names: Vec<_> = self.names.iter().map(|name| name.unraw().to_string()).collect();
        let written = match &self.values {
            Values::Expression(values) => values,
            Values::File(file) => return file.tokens(&names, &types),
        };
        let of_one = match (&types[..], &names[..]) {
            ([ty], [name]) => Some((ty, name)),
            _ => None,
        };
        let item = of_one.map_or_else(|| quote!((#(#types),*)), |(ty, _)| quote!(#ty));
        let values = match written {
            // With an explicit type, a value of another type is an error at that value.
            Expr::Array(array) => {
                let count = array.elems.len();
                quote!({ let values: [#item; #count] = #array; values })
            }
            values => quote!(#values),
        };
        let span = written.span();
        if let Some((ty, name)) = of_one {
            return Ok(quote_spanned!(span=> __gpubench::__private::axis_values::<#ty>(#name, #values)));
        }
        let locals: Vec<_> = parameters.iter().map(|parameter| &parameter.local).collect();
        Ok(quote_spanned! {span=>
            __gpubench::__private::group_values(
                &[#(#names),*],
                __gpubench::__private::tuples::<#item>(#values).map(|(#(#locals),*)| {
                    __gpubench::__private::vec![#(__gpubench::__private::axis_value::<#types>(#locals)),*]
                }),
            )
        })
    }
}

/// Checks that each tuple in a list has a value for each name.
fn check_tuples(names: &[Ident], list: &ExprArray) -> Result<()> {
    for values in &list.elems {
        let found = match values {
            Expr::Tuple(tuple) => tuple.elems.len(),
            Expr::Lit(_) | Expr::Paren(_) => 1,
            _ => continue,
        };
        if found != names.len() {
            let expected = names.len();
            let value = if found == 1 { "value" } else { "values" };
            return Err(Error::new(
                values.span(),
                format!(
                    "expected {expected} values, for `{}`; found {found} {value}",
                    title(names)
                ),
            ));
        }
    }
    Ok(())
}

/// Returns the name of an axis, or those of a group: `(m, n)`.
fn title(names: &[Ident]) -> String {
    let listed: Vec<_> = names.iter().map(|name| name.unraw().to_string()).collect();
    match &listed[..] {
        [name] => name.clone(),
        names => format!("({})", names.join(", ")),
    }
}

/// Returns the parameter of an axis.
pub(crate) fn parameter<'f>(axis: &Ident, function: &'f Function) -> Result<&'f Parameter> {
    let name = axis.unraw().to_string();
    function.axis(&name).ok_or_else(|| {
        let is_buffer = function.tensors().any(|tensor| tensor.text() == name);
        let hint = if is_buffer { ": it is a buffer" } else { "" };
        let function = &function.item.sig.ident;
        Error::new(
            axis.span(),
            format!("the axis `{name}` is not a parameter of `{function}`{hint}"),
        )
    })
}

impl AxisOption {
    /// Returns the name without `r#`.
    pub(crate) fn text(&self) -> String {
        self.name.unraw().to_string()
    }

    /// Returns a `Vec<Axis>` of the type parameters, and of axes with the types of the function's
    /// parameters.
    pub(crate) fn list_tokens(types: &Types, axes: &[AxisOption], function: &Function) -> Result<TokenStream> {
        let types = types.axes();
        let lists = axes.chunk_by(|axis, next| Rc::ptr_eq(&axis.listed, &next.listed));
        let lists = lists
            .map(|axes| axes[0].listed.tokens(function))
            .collect::<Result<Vec<_>>>()?;
        Ok(quote!(__gpubench::__private::vec![#(#types,)* #(#lists),*]))
    }
}

/// Checks that a device, or a hidden case, has no values for only a part of a group.
pub(crate) fn reject_part_of_group<'a>(
    axes: &[AxisOption],
    others: impl IntoIterator<Item = &'a Ident> + Clone,
) -> Result<()> {
    for axis in axes {
        let group = &axis.listed.names;
        let mut replacing = others.clone().into_iter().filter(|other| group.contains(other));
        let Some(first) = replacing.next() else { continue };
        if replacing.count() + 1 < group.len() {
            let (name, group) = (first.unraw(), title(group));
            return Err(Error::new(
                first.span(),
                format!("the values of `{name}` belong to those of `{group}`: give values for all of them"),
            ));
        }
    }
    Ok(())
}

/// Returns the `Vec<(DeviceKind, Vec<Axis>)>` of device-specific axes.
pub(crate) fn device_tokens(cpu: &[AxisOption], cuda: &[AxisOption], function: &Function) -> Result<TokenStream> {
    let mut devices = Vec::new();
    for (kind, axes) in [(quote!(Cpu), cpu), (quote!(Cuda), cuda)] {
        if !axes.is_empty() {
            let axes = AxisOption::list_tokens(&Types::default(), axes, function)?;
            devices.push(quote!((__gpubench::catalog::DeviceKind::#kind, #axes)));
        }
    }
    Ok(quote!(__gpubench::__private::vec![#(#devices),*]))
}
