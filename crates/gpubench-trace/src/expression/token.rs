//! The words of an expression.

use super::error::ExpressionError;
use super::number::Number;

/// Most bytes of an expression.
const MOST_BYTES: usize = 1024;

/// Longer operators first.
const OPERATORS: [&str; 15] = [
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "(", ")", "<", ">",
];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(Number),
    Name(String),
    Operator(&'static str),
}

/// Returns the words with the positions where they begin.
///
/// # Errors
/// The text is too long, or something in it is no word.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    if text.len() > MOST_BYTES {
        return Err(ExpressionError::TooMuch {
            how: "long",
            most: MOST_BYTES,
        });
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        if matches!(letter, ' ' | '\t') {
            at += 1;
            continue;
        }
        let starts_number =
            letter.is_ascii_digit() || (letter == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit()));
        let (token, bytes) = if starts_number {
            number(rest).ok_or_else(|| unexpected(text, at, "a decimal number"))?
        } else if letter.is_alphabetic() || letter == '_' {
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
            let bytes = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
            (Token::Name(rest[..bytes].to_owned()), bytes)
        } else {
            let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
            let operator = operator.ok_or_else(|| unexpected(text, at, "a number, a name or an operator"))?;
            (Token::Operator(operator), operator.len())
        };
        found.push((at, token));
        at += bytes;
    }
    Ok(found)
}

pub(super) fn unexpected(text: &str, at: usize, expected: &'static str) -> ExpressionError {
    let found = match &text[at..] {
        "" => "the end".to_owned(),
        rest => crate::json::shown(rest),
    };
    ExpressionError::Syntax { found, at, expected }
}

/// Reads a number at the beginning of a text. `None` if Python has no such decimal number, or if it
/// does not fit.
fn number(text: &str) -> Option<(Token, usize)> {
    let digits = |from: usize| {
        let rest = text[from..].bytes();
        rest.take_while(u8::is_ascii_digit).count()
    };
    let whole = digits(0);
    let mut end = whole;
    let mut is_float = false;
    if text[end..].starts_with('.') {
        is_float = true;
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent == 0 {
            return None;
        }
        is_float = true;
        end += 1 + sign + exponent;
    }
    // `1_000`, `0x10`, `3j` and `2a`.
    if text[end..].starts_with(|next: char| next.is_alphanumeric() || matches!(next, '_' | '.')) {
        return None;
    }
    let written = &text[..end];
    if is_float {
        let value: f64 = written.parse().ok()?;
        return value.is_finite().then_some((Token::Number(Number::Float(value)), end));
    }
    // Python has no leading zeros, so that nobody takes them for octal numbers.
    if written.len() > 1 && written.starts_with('0') && written.bytes().any(|digit| digit != b'0') {
        return None;
    }
    let value = written.parse().ok()?;
    Some((Token::Number(Number::Int(value)), end))
}
