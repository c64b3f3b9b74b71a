//! JSON: a list of objects, whose other keys are ignored, or of lists with one value for each axis.

use super::{Cell, Row, Wrong, position};

/// Deepest nesting that is read.
const DEEPEST: usize = 64;

/// Returns a row for each element, with the values of these names.
pub(super) fn rows(text: &str, names: &[&str]) -> Result<Vec<Row>, Wrong> {
    let mut reader = Reader::new(text);
    let rows = reader.rows(names);
    rows.map_err(|what| Wrong(reader.line(), what))
}

/// Reads a text of JSON from its beginning on.
pub(crate) struct Reader<'t> {
    text: &'t str,
    position: usize,
    /// A position up to which the lines are counted, and its line.
    counted: (usize, usize),
}

/// What a value is, as far as it matters.
enum Value {
    Scalar(Cell),
    /// An object or a list.
    Nested,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str) -> Reader<'t> {
        Reader {
            text,
            position: 0,
            counted: (0, 1),
        }
    }

    /// Hands each key of an object to `member`, which reads its value.
    pub(crate) fn members<E>(
        &mut self,
        wrong: impl Fn(String) -> E,
        member: &mut dyn FnMut(String, &mut Reader<'t>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect('{', "an object").map_err(&wrong)?;
        if !self.take('}') {
            loop {
                let key = self.key().map_err(&wrong)?;
                member(key, self)?;
                if self.ends('}').map_err(&wrong)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Reads a string.
    pub(crate) fn text(&mut self) -> Result<String, String> {
        match self.value(0)? {
            Value::Scalar(Cell::Text(text)) => Ok(text),
            _ => Err("expected a string".to_owned()),
        }
    }

    /// Reads a list of whole numbers.
    pub(crate) fn whole_numbers(&mut self) -> Result<Vec<u64>, String> {
        let mut numbers = Vec::new();
        self.expect('[', "a list of whole numbers")?;
        if !self.take(']') {
            loop {
                self.skip_blank();
                let number = self.literal()?.parse();
                numbers.push(number.map_err(|_| "expected whole numbers".to_owned())?);
                if self.ends(']')? {
                    break;
                }
            }
        }
        Ok(numbers)
    }

    /// Skips a value.
    pub(crate) fn skip(&mut self) -> Result<(), String> {
        self.value(0).map(drop)
    }

    /// Checks that nothing follows.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        self.skip_blank();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err("text after the end".to_owned()),
        }
    }

    /// Returns the line, counted from where it was asked for last.
    fn line(&mut self) -> usize {
        let (from, line) = self.counted;
        let line = line + self.text[from..self.position].matches('\n').count();
        self.counted = (self.position, line);
        line
    }

    fn rows(&mut self, names: &[&str]) -> Result<Vec<Row>, String> {
        const FORM: &str = "a list of objects or of lists";
        let mut rows = Vec::new();
        self.expect('[', FORM)?;
        if !self.take(']') {
            loop {
                self.skip_blank();
                let line = self.line();
                let cells = match self.peek() {
                    Some('{') => self.object(names)?,
                    Some('[') => self.list(names)?,
                    _ => return Err(format!("expected {FORM}")),
                };
                rows.push(Row { line, cells });
                if self.ends(']')? {
                    break;
                }
            }
        }
        self.skip_blank();
        match self.peek() {
            None => Ok(rows),
            Some(_) => Err("text after the end of the list".to_owned()),
        }
    }

    /// Reads an object with these keys among others.
    fn object(&mut self, names: &[&str]) -> Result<Vec<Cell>, String> {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        self.expect('{', "an object")?;
        if !self.take('}') {
            loop {
                keys.push(self.key()?);
                values.push(Some(self.value(0)?));
                if self.ends('}')? {
                    break;
                }
            }
        }
        let cells = names
            .iter()
            .map(|name| match values[position(name, &keys, "key")?].take() {
                Some(Value::Scalar(cell)) => Ok(cell),
                _ => Err(format!("the value of `{name}` is an object or a list")),
            });
        cells.collect()
    }

    /// Reads a list with a value for each name.
    fn list(&mut self, names: &[&str]) -> Result<Vec<Cell>, String> {
        let mut cells = Vec::new();
        self.expect('[', "a list")?;
        if !self.take(']') {
            loop {
                match self.value(0)? {
                    Value::Scalar(cell) => cells.push(cell),
                    Value::Nested => return Err("a value is an object or a list".to_owned()),
                }
                if self.ends(']')? {
                    break;
                }
            }
        }
        match cells.len() == names.len() {
            true => Ok(cells),
            false => Err(format!(
                "expected {} values, for `{}`; found {}",
                names.len(),
                names.join("`, `"),
                cells.len()
            )),
        }
    }

    /// Reads any value.
    fn value(&mut self, depth: usize) -> Result<Value, String> {
        self.skip_blank();
        let (close, is_object) = match self.peek() {
            Some('"') => return Ok(Value::Scalar(Cell::Text(self.string()?))),
            Some('{') => ('}', true),
            Some('[') => (']', false),
            _ => return Ok(Value::Scalar(Cell::Literal(self.literal()?.to_owned()))),
        };
        if depth == DEEPEST {
            return Err(format!("objects and lists are nested more than {DEEPEST} deep"));
        }
        self.position += 1;
        if !self.take(close) {
            loop {
                if is_object {
                    self.key()?;
                }
                self.value(depth + 1)?;
                if self.ends(close)? {
                    break;
                }
            }
        }
        Ok(Value::Nested)
    }

    /// Reads a key and the colon after it.
    fn key(&mut self) -> Result<String, String> {
        self.skip_blank();
        if self.peek() != Some('"') {
            return Err("expected a key in quotes".to_owned());
        }
        let key = self.string()?;
        self.expect(':', "a colon after a key")?;
        Ok(key)
    }

    /// Reads a number, a truth value or `null`.
    fn literal(&mut self) -> Result<&'t str, String> {
        let rest = &self.text[self.position..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let literal = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let is_number = literal.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && literal.parse::<f64>().is_ok_and(f64::is_finite);
        if !is_number && !matches!(literal, "true" | "false" | "null") {
            return Err(match literal {
                "" => "expected a value".to_owned(),
                _ => format!("`{literal}` is not a value of JSON"),
            });
        }
        self.position += literal.len();
        Ok(literal)
    }

    fn string(&mut self) -> Result<String, String> {
        self.position += 1;
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escaped().ok_or("invalid escape in a string")?),
                Some(c) if c >= ' ' => text.push(c),
                Some(_) | None => return Err("a string has no end on its line".to_owned()),
            }
        }
    }

    /// Reads what follows a backslash.
    fn escaped(&mut self) -> Option<char> {
        Some(match self.next()? {
            c @ ('"' | '\\' | '/') => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit()?;
                let is_half = (0xd800..0xdc00).contains(&first);
                let second = match is_half {
                    true => Some((self.next()? == '\\' && self.next()? == 'u').then(|| self.unit())??),
                    false => None,
                };
                char::decode_utf16([first].into_iter().chain(second)).next()?.ok()?
            }
            _ => return None,
        })
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.position..self.position + 4)?;
        let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        self.position += 4;
        is_hexadecimal.then(|| u16::from_str_radix(digits, 16).ok())?
    }

    /// Reads the comma before another element, or the end: then returns true.
    fn ends(&mut self, close: char) -> Result<bool, String> {
        if self.take(close) {
            return Ok(true);
        }
        self.expect(',', &format!("`,` or `{close}`")).map(|()| false)
    }

    fn expect(&mut self, c: char, what: &str) -> Result<(), String> {
        match self.take(c) {
            true => Ok(()),
            false => Err(format!("expected {what}")),
        }
    }

    /// Reads a character if it is the next.
    fn take(&mut self, c: char) -> bool {
        self.skip_blank();
        let found = self.peek() == Some(c);
        self.position += if found { c.len_utf8() } else { 0 };
        found
    }

    fn skip_blank(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.position += c.len_utf8();
        Some(c)
    }
}
