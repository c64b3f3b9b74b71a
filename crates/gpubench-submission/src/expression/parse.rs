//! The words of an expression, and what they mean.

use std::fmt;

use super::{
    Comparison, DEEPEST, ExpressionError, FUNCTIONS, Kind, LONGEST, MOST_WORDS, Node, Operator, Problem, Value, error,
};

/// Parses an expression.
///
/// # Errors
/// The first place that is not one.
pub(super) fn parsed(text: &str) -> Result<Node, ExpressionError> {
    if text.len() > LONGEST {
        return Err(error(0, Problem::TooLong));
    }
    let words = words(text)?;
    if words.len() > MOST_WORDS {
        return Err(error(0, Problem::TooLong));
    }
    let mut parser = Parser {
        words,
        next: 0,
        end: text.chars().count(),
        depth: 0,
    };
    let root = parser.expression()?;
    match parser.word() {
        None => Ok(root),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Word {
    Integer(i128),
    Text(String),
    Name(String),
    Mark(&'static str),
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Integer(integer) => write!(f, "`{integer}`"),
            Word::Text(text) => write!(f, "'{}'", text.escape_debug()),
            Word::Name(name) => write!(f, "`{name}`"),
            Word::Mark(mark) => write!(f, "`{mark}`"),
        }
    }
}

/// Longer marks first.
const MARKS: [&str; 15] = [
    "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ".",
];

/// Splits a text into words, each with its character.
fn words(text: &str) -> Result<Vec<(usize, Word)>, ExpressionError> {
    let letters: Vec<char> = text.chars().collect();
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let rest = &letters[at..];
        let (length, word) = match letter {
            letter if letter.is_whitespace() => {
                at += 1;
                continue;
            }
            quote @ ('\'' | '"') => {
                let length = rest[1..].iter().position(|&letter| letter == quote);
                let length = length.ok_or_else(|| error(at, Problem::OpenText))?;
                (length + 2, Word::Text(rest[1..=length].iter().collect()))
            }
            letter if is_of_name(letter) => {
                let length = rest.iter().take_while(|&&letter| is_of_name(letter)).count();
                let written: String = rest[..length].iter().collect();
                let word = if letter.is_ascii_digit() {
                    Word::Integer(integer(&written).ok_or_else(|| error(at, Problem::NotANumber(written)))?)
                } else {
                    Word::Name(written)
                };
                (length, word)
            }
            _ => {
                let is_next = |mark: &&&str| mark.chars().eq(rest.iter().take(mark.len()).copied());
                let mark = MARKS.iter().find(is_next).ok_or_else(|| {
                    let found = format!("`{}`", letter.escape_debug());
                    let wanted = "a number, a name or an operator";
                    error(at, Problem::Unexpected { wanted, found })
                })?;
                (mark.len(), Word::Mark(mark))
            }
        };
        words.push((at, word));
        at += length;
    }
    Ok(words)
}

fn integer(written: &str) -> Option<i128> {
    let digits = written.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

struct Parser {
    words: Vec<(usize, Word)>,
    next: usize,
    end: usize,
    depth: usize,
}

impl Parser {
    fn word(&self) -> Option<&Word> {
        self.words.get(self.next).map(|(_, word)| word)
    }

    /// Returns the character of the next word, or the end.
    fn at(&self) -> usize {
        self.words.get(self.next).map_or(self.end, |(at, _)| *at)
    }

    fn unexpected(&self, wanted: &'static str) -> ExpressionError {
        let found = self.word().map_or_else(|| "the end".to_owned(), Word::to_string);
        error(self.at(), Problem::Unexpected { wanted, found })
    }

    fn takes(&mut self, mark: &str) -> bool {
        let is_next = matches!(self.word(), Some(Word::Mark(next)) if *next == mark);
        self.next += usize::from(is_next);
        is_next
    }

    fn expression(&mut self) -> Result<Node, ExpressionError> {
        let left = self.sum()?;
        let at = self.at();
        match self.operator(&[
            ("==", Operator::Compare(Comparison::Equal)),
            ("!=", Operator::Compare(Comparison::NotEqual)),
            ("<=", Operator::Compare(Comparison::LessOrEqual)),
            (">=", Operator::Compare(Comparison::GreaterOrEqual)),
            ("<", Operator::Compare(Comparison::Less)),
            (">", Operator::Compare(Comparison::Greater)),
        ]) {
            Some(operator) => Ok(binary(at, operator, left, self.sum()?)),
            None => Ok(left),
        }
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        let operators = [("+", Operator::Add), ("-", Operator::Subtract)];
        self.chain(&operators, Parser::product)
    }

    fn product(&mut self) -> Result<Node, ExpressionError> {
        let operators = [
            ("*", Operator::Multiply),
            ("/", Operator::Divide),
            ("%", Operator::Remainder),
        ];
        self.chain(&operators, Parser::factor)
    }

    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Parser) -> Result<Node, ExpressionError>,
    ) -> Result<Node, ExpressionError> {
        let mut left = operand(self)?;
        loop {
            let at = self.at();
            let Some(operator) = self.operator(operators) else {
                return Ok(left);
            };
            left = binary(at, operator, left, operand(self)?);
        }
    }

    fn operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let found = operators.iter().find(|(mark, _)| self.takes(mark));
        found.map(|(_, operator)| *operator)
    }

    fn factor(&mut self) -> Result<Node, ExpressionError> {
        let at = self.at();
        if self.depth == DEEPEST {
            return Err(error(at, Problem::TooDeep));
        }
        self.depth += 1;
        let kind = self.kind_of_factor(at)?;
        self.depth -= 1;
        Ok(Node { at, kind })
    }

    fn kind_of_factor(&mut self, at: usize) -> Result<Kind, ExpressionError> {
        if self.takes("-") {
            return Ok(Kind::Negative(Box::new(self.factor()?)));
        }
        if self.takes("(") {
            let inner = self.expression()?;
            self.close()?;
            return Ok(inner.kind);
        }
        let word = self.word().cloned();
        match word {
            Some(Word::Integer(integer)) => {
                self.next += 1;
                Ok(Kind::Value(Value::Integer(integer)))
            }
            Some(Word::Text(text)) => {
                self.next += 1;
                Ok(Kind::Value(Value::Text(text)))
            }
            Some(Word::Name(name)) => {
                self.next += 1;
                if self.takes("(") {
                    self.call(at, &name)
                } else {
                    self.name(name)
                }
            }
            Some(Word::Mark(_)) | None => Err(self.unexpected("a number or a name")),
        }
    }

    fn name(&mut self, mut name: String) -> Result<Kind, ExpressionError> {
        while self.takes(".") {
            let Some(Word::Name(part)) = self.word().cloned() else {
                return Err(self.unexpected("`len` or `bytes`"));
            };
            self.next += 1;
            name = format!("{name}.{part}");
        }
        Ok(match name.as_str() {
            "true" => Kind::Value(Value::Bool(true)),
            "false" => Kind::Value(Value::Bool(false)),
            _ => Kind::Name(name),
        })
    }

    fn call(&mut self, at: usize, name: &str) -> Result<Kind, ExpressionError> {
        let known = FUNCTIONS.iter().find(|(known, _)| *known == name);
        let Some((_, function)) = known else {
            let name = name.to_owned();
            return Err(error(at, Problem::NoFunction { name }));
        };
        let mut arguments = vec![self.expression()?];
        while self.takes(",") {
            arguments.push(self.expression()?);
        }
        self.close()?;
        if arguments.len() == function.parameters() {
            Ok(Kind::Call(*function, arguments))
        } else {
            let problem = Problem::Arguments {
                function: function.name(),
                wanted: function.parameters(),
                given: arguments.len(),
            };
            Err(error(at, problem))
        }
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        if self.takes(")") {
            Ok(())
        } else {
            Err(self.unexpected("an operator or `)`"))
        }
    }
}

fn binary(at: usize, operator: Operator, left: Node, right: Node) -> Node {
    Node {
        at,
        kind: Kind::Binary(operator, Box::new([left, right])),
    }
}
