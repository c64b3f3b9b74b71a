//! The option `hidden(..)`: further cases of a problem, for grading alone.

use crate::axes::{AxisList, AxisOption, parameter, reject_twice};
use crate::function::Function;
use crate::options::{comma, group, value};
use crate::types::Types;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, ExprRange, Lit, RangeLimits, Result, Token};

/// The cases of `hidden(..)`.
#[derive(Default)]
pub(crate) struct Hidden {
    axes: Vec<AxisOption>,
    draws: Vec<Draw>,
    /// `count = 5`, at the number.
    count: Option<(u32, proc_macro2::Span)>,
}

/// `n = draw(1..100_000)`.
struct Draw {
    name: Ident,
    range: ExprRange,
}

const WRITTEN: &str = "hidden(n = [1000, 4097])";
const DRAWN: &str = "hidden(n = draw(1..100_000), count = 5)";
const RANGE: &str = "draw(1..100_000)";

/// Most draws: each is a case that a grader measures.
const MOST_DRAWS: u32 = 1000;

impl Hidden {
    /// Parses the parentheses after `hidden`.
    pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Hidden> {
        let content = group(option, input, WRITTEN)?;
        let mut hidden = Hidden::default();
        if content.is_empty() {
            return Err(Error::new(
                option.span(),
                format!("expected hidden cases: `{WRITTEN}` or `{DRAWN}`"),
            ));
        }
        while !content.is_empty() {
            hidden.parse_one(&content)?;
            comma(&content)?;
        }
        match (&hidden.count, hidden.draws.first()) {
            (Some((_, place)), None) => Err(Error::new(
                *place,
                format!("nothing is drawn, so there is nothing to count: write `{DRAWN}`"),
            )),
            (None, Some(draw)) => Err(Error::new(
                draw.name.span(),
                format!("`{}` is drawn, so say how often: `{DRAWN}`", draw.name),
            )),
            _ => Ok(hidden),
        }
    }

    fn parse_one(&mut self, input: ParseStream) -> Result<()> {
        if input.peek(syn::Ident::peek_any) && input.peek2(syn::token::Paren) {
            let word = input.call(Ident::parse_any)?;
            if word != "cases" {
                return Err(Error::new(
                    word.span(),
                    format!("expected an axis, as in `{WRITTEN}`, or `cases((m, n) = [(1, 4096)])`"),
                ));
            }
            let known = self.axes.len();
            AxisList::Cases.parse(&word, input, &mut self.axes)?;
            return self.axes[known..]
                .iter()
                .try_for_each(|axis| self.reject_drawn(&axis.name));
        }
        let ahead = input.fork();
        let is_named = ahead.call(Ident::parse_any).is_ok_and(|name| name == "count");
        if is_named && ahead.parse::<Token![=]>().is_ok() && ahead.peek(syn::LitInt) {
            return self.parse_count(input);
        }
        if let Some((name, range)) = drawn(input)? {
            let given = self.names().collect::<Vec<_>>();
            reject_twice(&name, given)?;
            self.draws.push(Draw { name, range });
            return Ok(());
        }
        AxisList::Axes.parse_one(input, &mut self.axes)?;
        let last = self.axes.last().map(|axis| axis.name.clone());
        last.map_or(Ok(()), |name| self.reject_drawn(&name))
    }

    fn parse_count(&mut self, input: ParseStream) -> Result<()> {
        let word = input.call(Ident::parse_any)?;
        if self.count.is_some() {
            return Err(Error::new(word.span(), "`count` is given twice"));
        }
        let number: syn::LitInt = value(&word, input, "count = 5")?;
        let count = number.base10_parse::<u32>().ok();
        match count.filter(|count| (1..=MOST_DRAWS).contains(count)) {
            Some(count) => self.count = Some((count, number.span())),
            None => {
                return Err(Error::new(
                    number.span(),
                    format!("expected a number from 1 to {MOST_DRAWS}"),
                ));
            }
        }
        Ok(())
    }

    fn reject_drawn(&self, name: &Ident) -> Result<()> {
        reject_twice(name, self.draws.iter().map(|draw| &draw.name))
    }

    /// Returns the names of the axes with hidden values.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Ident> + Clone {
        let drawn = self.draws.iter().map(|draw| &draw.name);
        self.axes.iter().map(|axis| &axis.name).chain(drawn)
    }

    /// Returns a `fn() -> HiddenCases`.
    pub(crate) fn tokens(&self, function: &Function) -> Result<TokenStream> {
        let axes = AxisOption::list_tokens(&Types::default(), &self.axes, function)?;
        let draws = self.draws.iter().map(|draw| draw.tokens(function));
        let draws = draws.collect::<Result<Vec<_>>>()?;
        let count = self.count.map_or(0, |(count, _)| count);
        Ok(quote! {
            || __gpubench::catalog::HiddenCases {
                axes: #axes,
                draws: __gpubench::__private::vec![#(#draws),*],
                count: #count,
            }
        })
    }
}

impl Draw {
    /// Returns a `Draw` with bounds of the parameter's type.
    fn tokens(&self, function: &Function) -> Result<TokenStream> {
        let ty = &parameter(&self.name, function)?.ty;
        let written = ty.to_token_stream().to_string();
        let name = self.name.unraw().to_string();
        if ["f32", "f64", "bool", "& str"].contains(&&*written) {
            let written = crate::callee::shown(ty);
            return Err(Error::new(
                self.name.span(),
                format!("only integers can be drawn, and `{name}` is `{written}`: list its values, `{name} = [..]`"),
            ));
        }
        let place = self.range.span();
        let (Some(start), Some(end)) = (&self.range.start, &self.range.end) else {
            return Err(Error::new(place, format!("expected a range with both ends: `{RANGE}`")));
        };
        let includes_end = matches!(self.range.limits, RangeLimits::Closed(_));
        if let (Some(least), Some(end)) = (literal(start), literal(end))
            && (least > end || (least == end && !includes_end))
        {
            return Err(Error::new(place, "this range has no numbers"));
        }
        Ok(quote_spanned!(place=> __gpubench::__private::draw::<#ty>(#name, #start, #end, #includes_end)))
    }
}

/// Parses `n = draw(1..100_000)`. `None`, with nothing parsed, if the values are not drawn.
fn drawn(input: ParseStream) -> Result<Option<(Ident, ExprRange)>> {
    let ahead = input.fork();
    let is_drawn = ahead.call(Ident::parse_any).is_ok()
        && ahead.parse::<Token![=]>().is_ok()
        && ahead.call(Ident::parse_any).is_ok_and(|function| function == "draw")
        && ahead.peek(syn::token::Paren);
    if !is_drawn {
        return Ok(None);
    }
    let name = input.call(Ident::parse_any)?;
    input.parse::<Token![=]>()?;
    let Expr::Call(call) = input.parse::<Expr>()? else {
        return Err(Error::new(name.span(), format!("expected `{name} = {RANGE}`")));
    };
    let mut arguments = call.args.iter();
    match (arguments.next(), arguments.next()) {
        (Some(Expr::Range(range)), None) => Ok(Some((name, range.clone()))),
        _ => Err(Error::new(call.func.span(), format!("expected a range: `{RANGE}`"))),
    }
}

/// Returns the value of an integer literal.
fn literal(bound: &Expr) -> Option<i128> {
    match bound {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number), ..
        }) => number.base10_parse().ok(),
        Expr::Unary(negated) if matches!(negated.op, syn::UnOp::Neg(_)) => literal(&negated.expr).map(|number| -number),
        _ => None,
    }
}
