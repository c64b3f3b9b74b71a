//! Detection of unknown names in `bytes` and `flops`.

use crate::function::{Function, Parameter};
use proc_macro2::Ident;
use syn::{Error, Expr, Result};

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
