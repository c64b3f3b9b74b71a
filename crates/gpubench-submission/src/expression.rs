//! Expressions over the integers of a case: `ceil_div(rows * cols, block)`.
//!
//! ```text
//! expression = sum [("==" | "!=" | "<" | "<=" | ">" | ">=") sum]
//! sum        = product {("+" | "-") product}
//! product    = factor {("*" | "/" | "%") factor}
//! factor     = "-" factor | number | 'text' | name {"." name} | function "(" expression {"," expression} ")"
//!            | "(" expression ")"
//! ```

use std::fmt;

use gpubench_diagnostic::{closest, suggestion};

/// Most bytes of an expression.
const LONGEST: usize = 1024;

/// Most words of an expression. `1 + 1 + 1 + 1` is as deep as it has operators.
const MOST_WORDS: usize = 200;

/// Most expressions inside of each other.
const DEEPEST: usize = 32;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Integer(i128),
    /// A floating-point number: only an axis or a literal has one.
    Float(f64),
    /// A string.
    Text(String),
    /// A truth value.
    Bool(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(integer) => integer.fmt(f),
            Value::Float(float) => write!(f, "{float:?}"),
            Value::Text(text) => write!(f, "'{}'", text.escape_debug()),
            Value::Bool(truth) => truth.fmt(f),
        }
    }
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a floating-point number",
            Value::Text(_) => "a text",
            Value::Bool(_) => "a truth value",
        }
    }
}

/// What the names of an expression mean.
pub trait Names {
    /// Returns the value of a name, such as `rows` or `matrix.len`. `None` if it has none.
    fn value(&self, name: &str) -> Option<Value>;

    /// Returns the names that have values, for suggestions.
    fn known(&self) -> Vec<String>;
}

/// An error of an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ExpressionError {
    /// The character, from 0.
    pub at: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Problem {
    #[error("an expression has at most {LONGEST} bytes, and {MOST_WORDS} numbers, names and marks")]
    TooLong,
    #[error("too many expressions are inside of each other; the limit is {DEEPEST}")]
    TooDeep,
    #[error("expected {wanted}, found {found}")]
    Unexpected { wanted: &'static str, found: String },
    #[error("`{0}` is not a number (hint: write an integer such as `256` or `0x100`)")]
    NotANumber(String),
    #[error("the text has no closing quote")]
    OpenText,
    #[error("there is no function `{name}`{}", suggestion(closest(.name, FUNCTIONS.map(|(name, _)| name))))]
    NoFunction { name: String },
    #[error("`{function}` takes {wanted} values, not {given}")]
    Arguments {
        function: &'static str,
        wanted: usize,
        given: usize,
    },
    #[error("there is no `{name}`: the names are {}{}", listed(.known), suggestion(closest(.name, .known.iter().map(String::as_str))))]
    NoName { name: String, known: Vec<String> },
    #[error("{0} is not an integer")]
    NotAnInteger(String),
    #[error("`if` needs a comparison first, not {0}")]
    NotACondition(&'static str),
    #[error("{0} and {1} cannot be compared")]
    NotComparable(&'static str, &'static str),
    #[error("texts and truth values have no order (hint: use `==` or `!=`)")]
    NoOrder,
    #[error("the result has more than 127 bits")]
    Overflow,
    #[error("a division by zero")]
    DivisionByZero,
    #[error("`{function}` of {given}: it takes {wanted}")]
    OutsideOfFunction {
        function: &'static str,
        given: i128,
        wanted: &'static str,
    },
}

/// Most names in a list of a message.
const MOST_LISTED: usize = 24;

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = names.iter().take(MOST_LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > MOST_LISTED { ", …" } else { "" };
    shown.join(", ") + more
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
struct Node {
    at: usize,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Value(Value),
    Name(String),
    Negative(Box<Node>),
    Binary(Operator, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Compare(Comparison),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    CeilDiv,
    If,
    Max,
    Min,
    NextPowerOfTwo,
}

pub(crate) const FUNCTIONS: [(&str, Function); 5] = [
    ("ceil_div", Function::CeilDiv),
    ("if", Function::If),
    ("max", Function::Max),
    ("min", Function::Min),
    ("next_power_of_two", Function::NextPowerOfTwo),
];

impl Function {
    fn name(self) -> &'static str {
        let row = FUNCTIONS.iter().find(|(_, function)| *function == self);
        row.map_or("", |(name, _)| name)
    }

    fn parameters(self) -> usize {
        match self {
            Function::NextPowerOfTwo => 1,
            Function::CeilDiv | Function::Max | Function::Min => 2,
            Function::If => 3,
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// The first place that is not one.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        let root = parse::parsed(text)?;
        let text = text.to_owned();
        Ok(Expression { text, root })
    }

    /// Returns an expression of one value.
    pub fn of_value(value: Value) -> Expression {
        Expression {
            text: value.to_string(),
            root: Node {
                at: 0,
                kind: Kind::Value(value),
            },
        }
    }

    /// Returns the name, if it is a name and nothing else.
    pub fn as_name(&self) -> Option<&str> {
        match &self.root.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns whether it is one written value, without a name.
    pub fn is_literal(&self) -> bool {
        match &self.root.kind {
            Kind::Value(_) => true,
            Kind::Negative(inner) => matches!(inner.kind, Kind::Value(_)),
            _ => false,
        }
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// A name has no value, or a value does not fit what is done with it.
    pub fn evaluate(&self, names: &dyn Names) -> Result<Value, ExpressionError> {
        self.root.evaluate(names)
    }
}

fn error(at: usize, problem: Problem) -> ExpressionError {
    ExpressionError { at, problem }
}

impl Node {
    fn evaluate(&self, names: &dyn Names) -> Result<Value, ExpressionError> {
        let here = |problem| error(self.at, problem);
        match &self.kind {
            Kind::Value(value) => Ok(value.clone()),
            Kind::Name(name) => names.value(name).ok_or_else(|| {
                let (name, known) = (name.clone(), names.known());
                here(Problem::NoName { name, known })
            }),
            Kind::Negative(inner) => {
                let negated = inner.integer(names)?.checked_neg();
                negated.map(Value::Integer).ok_or_else(|| here(Problem::Overflow))
            }
            Kind::Binary(Operator::Compare(comparison), sides) => {
                let [left, right] = &**sides;
                let (left, right) = (left.evaluate(names)?, right.evaluate(names)?);
                compared(*comparison, &left, &right).map(Value::Bool).map_err(here)
            }
            Kind::Binary(operator, sides) => {
                let [left, right] = &**sides;
                let (left, right) = (left.integer(names)?, right.integer(names)?);
                calculated(*operator, left, right).map(Value::Integer).map_err(here)
            }
            Kind::Call(Function::If, arguments) => {
                let [condition, one, other] = arguments.as_slice() else {
                    return Err(here(Problem::Overflow));
                };
                match condition.evaluate(names)? {
                    Value::Bool(true) => one.evaluate(names),
                    Value::Bool(false) => other.evaluate(names),
                    other => Err(error(condition.at, Problem::NotACondition(other.kind()))),
                }
            }
            Kind::Call(function, arguments) => {
                let values = arguments.iter().map(|argument| argument.integer(names));
                let values = values.collect::<Result<Vec<i128>, _>>()?;
                called(*function, &values).map(Value::Integer).map_err(here)
            }
        }
    }

    fn integer(&self, names: &dyn Names) -> Result<i128, ExpressionError> {
        match self.evaluate(names)? {
            Value::Integer(integer) => Ok(integer),
            other => {
                let what = match &self.kind {
                    Kind::Name(name) => format!("`{name}`, {},", other.kind()),
                    _ => other.kind().to_owned(),
                };
                Err(error(self.at, Problem::NotAnInteger(what)))
            }
        }
    }
}

fn compared(comparison: Comparison, left: &Value, right: &Value) -> Result<bool, Problem> {
    let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let order = match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
        (Value::Text(_), Value::Text(_)) | (Value::Bool(_), Value::Bool(_)) if !is_equality => {
            return Err(Problem::NoOrder);
        }
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (left, right) => return Err(Problem::NotComparable(left.kind(), right.kind())),
    };
    Ok(match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}

fn calculated(operator: Operator, left: i128, right: i128) -> Result<i128, Problem> {
    let result = match operator {
        Operator::Divide | Operator::Remainder if right == 0 => return Err(Problem::DivisionByZero),
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
        Operator::Compare(_) => None,
    };
    result.ok_or(Problem::Overflow)
}

fn called(function: Function, values: &[i128]) -> Result<i128, Problem> {
    let refused = |given, wanted| {
        Err(Problem::OutsideOfFunction {
            function: function.name(),
            given,
            wanted,
        })
    };
    match (function, values) {
        (Function::Min, [one, other]) => Ok(*one.min(other)),
        (Function::Max, [one, other]) => Ok(*one.max(other)),
        (Function::CeilDiv, [_, 0]) => Err(Problem::DivisionByZero),
        (Function::CeilDiv, [value, by]) => match (value, by) {
            (..0, _) => refused(*value, "numbers that are not negative"),
            (_, ..0) => refused(*by, "numbers that are not negative"),
            _ => Ok(value / by + i128::from(value % by != 0)),
        },
        (Function::NextPowerOfTwo, [value]) => match u128::try_from(*value) {
            Err(_) => refused(*value, "a number that is not negative"),
            Ok(value) => {
                let power = value.checked_next_power_of_two();
                power
                    .and_then(|power| i128::try_from(power).ok())
                    .ok_or(Problem::Overflow)
            }
        },
        // The parser counts arguments, and `if` is evaluated elsewhere.
        _ => Err(Problem::Overflow),
    }
}

mod parse;
#[cfg(test)]
mod tests;
