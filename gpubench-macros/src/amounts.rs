//! Mistakes in the arithmetic of `bytes`, `flops` and counters that the compiler would explain
//! badly.

use crate::function::{Function, Parameter};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Error, Expr, ExprLit, Lit, LitFloat, Result};

const INTEGERS: &[&str] = &[
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "u128", "i128", "usize", "isize",
];

/// Fails if arithmetic combines a float with an integer axis. The compiler's error would list
/// implementations of an operator.
pub(crate) fn reject_mixed(value: &Expr, function: &Function) -> Result<()> {
    Operand::of(value, function).map(drop)
}

/// What an operand of an arithmetic expression is.
#[derive(Clone, Copy)]
enum Operand<'a> {
    Float(&'a LitFloat),
    IntegerAxis(&'a Parameter),
    Other,
}

impl<'a> Operand<'a> {
    fn of(value: &'a Expr, function: &'a Function) -> Result<Operand<'a>> {
        match value {
            Expr::Lit(ExprLit {
                lit: Lit::Float(float), ..
            }) => Ok(Operand::Float(float)),
            Expr::Path(path) => {
                let axis = path.path.get_ident().and_then(|name| {
                    let name = name.to_string();
                    function.axis(name.trim_start_matches("r#"))
                });
                let integer = axis.filter(|axis| INTEGERS.contains(&&*axis.ty.to_token_stream().to_string()));
                Ok(integer.map_or(Operand::Other, Operand::IntegerAxis))
            }
            Expr::Binary(binary) => {
                let operands = (
                    Operand::of(&binary.left, function)?,
                    Operand::of(&binary.right, function)?,
                );
                match operands {
                    (Operand::Float(float), Operand::IntegerAxis(axis))
                    | (Operand::IntegerAxis(axis), Operand::Float(float)) => Err(mixed(float, axis)),
                    (Operand::Other, operand) | (operand, _) => Ok(operand),
                }
            }
            Expr::Unary(unary) => Operand::of(&unary.expr, function),
            Expr::Paren(inner) => Operand::of(&inner.expr, function),
            Expr::Group(inner) => Operand::of(&inner.expr, function),
            Expr::Cast(cast) => Operand::of(&cast.expr, function).map(|_| Operand::Other),
            _ => Ok(Operand::Other),
        }
    }
}

fn mixed(float: &LitFloat, axis: &Parameter) -> Error {
    let (digits, name) = (float.to_string(), axis.text());
    let ty = axis.ty.to_token_stream();
    let whole = digits.strip_suffix(".0").or_else(|| digits.strip_suffix('.'));
    let integer = whole.map(|whole| format!("write `{whole}`, or ")).unwrap_or_default();
    Error::new(
        float.span(),
        format!("`{digits}` is a float, but the axis `{name}` is `{ty}`: {integer}convert the axis: `{name} as f64`"),
    )
}

/// Fails if arithmetic uses a name that is neither an axis nor a constant. The compiler's error
/// would suggest any similar name instead of an axis. Names in calls and blocks are left to the
/// compiler.
pub(crate) fn reject_unknown(option: &str, value: &Expr, function: &Function) -> Result<()> {
    let Some(unknown) = operands(value).into_iter().find(|name| !is_known(name, function)) else {
        return Ok(());
    };
    let axes: Vec<String> = function.axes().map(Parameter::text).collect();
    let axes = match axes.as_slice() {
        [] => "there are no axes".to_owned(),
        [axis] => format!("the only axis is `{axis}`"),
        axes => format!("the axes are `{}`", axes.join("`, `")),
    };
    Err(Error::new(
        unknown.span(),
        format!("`{unknown}` in `{option}` is not an axis: {axes}"),
    ))
}

/// Returns whether the name is an axis or could be a constant.
fn is_known(name: &Ident, function: &Function) -> bool {
    let text = name.to_string();
    function.axis(text.trim_start_matches("r#")).is_some() || text.chars().any(char::is_uppercase)
}

/// Returns the names among the operands of an arithmetic expression.
fn operands(value: &Expr) -> Vec<&Ident> {
    match value {
        Expr::Path(path) => path.path.get_ident().into_iter().collect(),
        Expr::Binary(binary) => [operands(&binary.left), operands(&binary.right)].concat(),
        Expr::Unary(unary) => operands(&unary.expr),
        Expr::Paren(inner) => operands(&inner.expr),
        Expr::Group(inner) => operands(&inner.expr),
        Expr::Cast(cast) => operands(&cast.expr),
        _ => Vec::new(),
    }
}
