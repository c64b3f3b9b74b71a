//! The grammar of an expression, with Python's precedence.

use super::error::ExpressionError;
use super::number::Number;
use super::token::{Token, tokens, unexpected};

/// Most levels of the grammar within each other. A pair of parentheses has three.
const MOST_DEPTH: usize = 300;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Number(Number),
    Name(String),
    Negated(Box<Tree>),
    Binary(&'static str, Box<[Tree; 2]>),
}

pub(super) struct Comparison {
    pub(super) left: Tree,
    pub(super) operator: &'static str,
    pub(super) right: Tree,
}

/// Reads a whole text as an expression.
///
/// # Errors
/// It is none, too long or too deep.
pub(super) fn expression(text: &str) -> Result<Tree, ExpressionError> {
    let mut parser = Parser::new(text)?;
    let tree = parser.sum(0)?;
    parser.end("an operator or the end")?;
    Ok(tree)
}

/// Reads a whole text as two expressions with a comparison between them.
///
/// # Errors
/// It is none, too long or too deep.
pub(super) fn comparison(text: &str) -> Result<Comparison, ExpressionError> {
    let mut parser = Parser::new(text)?;
    let left = parser.sum(0)?;
    let operator = parser.operator(&["==", "!=", "<", "<=", ">", ">="]);
    let operator = operator.ok_or_else(|| parser.unexpected("a comparison"))?;
    let right = parser.sum(0)?;
    parser.end("an operator or the end")?;
    Ok(Comparison { left, operator, right })
}

/// Counts a level of the grammar. A chain such as `1 + 1 + 1` is a tree too, and its depth is
/// bounded by the length of the text.
fn deeper(depth: usize) -> Result<usize, ExpressionError> {
    match depth < MOST_DEPTH {
        true => Ok(depth + 1),
        false => Err(ExpressionError::TooMuch {
            how: "deep",
            most: MOST_DEPTH,
        }),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(usize, Token)>,
    next: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Parser<'t>, ExpressionError> {
        let tokens = tokens(text)?;
        Ok(Parser { text, tokens, next: 0 })
    }

    fn unexpected(&self, expected: &'static str) -> ExpressionError {
        let at = self.tokens.get(self.next).map_or(self.text.len(), |(at, _)| *at);
        unexpected(self.text, at, expected)
    }

    fn end(&self, expected: &'static str) -> Result<(), ExpressionError> {
        match self.next == self.tokens.len() {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Takes the next word if it is one of these operators.
    fn operator(&mut self, operators: &[&str]) -> Option<&'static str> {
        match self.tokens.get(self.next) {
            Some((_, Token::Operator(operator))) if operators.contains(operator) => {
                self.next += 1;
                Some(operator)
            }
            _ => None,
        }
    }

    fn sum(&mut self, depth: usize) -> Result<Tree, ExpressionError> {
        self.chain(depth, &["+", "-"], Parser::product)
    }

    fn product(&mut self, depth: usize) -> Result<Tree, ExpressionError> {
        self.chain(depth, &["*", "//", "/", "%"], Parser::signed)
    }

    /// Reads operators of one precedence, which group from the left.
    fn chain(
        &mut self,
        depth: usize,
        operators: &[&str],
        part: fn(&mut Parser<'t>, usize) -> Result<Tree, ExpressionError>,
    ) -> Result<Tree, ExpressionError> {
        let mut tree = part(self, depth)?;
        while let Some(operator) = self.operator(operators) {
            let right = part(self, depth)?;
            tree = Tree::Binary(operator, Box::new([tree, right]));
        }
        Ok(tree)
    }

    /// Reads signs and what they belong to. A power is within its sign: `-2 ** 2` is -4.
    fn signed(&mut self, depth: usize) -> Result<Tree, ExpressionError> {
        let below = deeper(depth)?;
        match self.operator(&["+", "-"]) {
            Some("-") => Ok(Tree::Negated(Box::new(self.signed(below)?))),
            Some(_) => self.signed(below),
            None => self.power(below),
        }
    }

    /// Reads a power, which groups from the right and may have a signed exponent.
    fn power(&mut self, depth: usize) -> Result<Tree, ExpressionError> {
        let base = self.atom(depth)?;
        if self.operator(&["**"]).is_none() {
            return Ok(base);
        }
        let below = deeper(depth)?;
        let exponent = self.signed(below)?;
        Ok(Tree::Binary("**", Box::new([base, exponent])))
    }

    fn atom(&mut self, depth: usize) -> Result<Tree, ExpressionError> {
        const EXPECTED: &str = "a number, a name or `(`";
        let below = deeper(depth)?;
        match self.tokens.get(self.next).map(|(_, token)| token.clone()) {
            Some(Token::Number(number)) => {
                self.next += 1;
                Ok(Tree::Number(number))
            }
            Some(Token::Name(name)) => {
                self.next += 1;
                Ok(Tree::Name(name))
            }
            Some(Token::Operator("(")) => {
                self.next += 1;
                let tree = self.sum(below)?;
                match self.operator(&[")"]) {
                    Some(_) => Ok(tree),
                    None => Err(self.unexpected("an operator or `)`")),
                }
            }
            Some(Token::Operator(_)) | None => Err(self.unexpected(EXPECTED)),
        }
    }
}
