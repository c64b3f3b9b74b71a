//! Structs whose fields are numbers.

use crate::declarations::Declarations;
use crate::number::{Number, number};
use crate::words::is_word;

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// Bytes from the start of the struct.
    pub offset: u32,
    /// The type.
    pub number: Number,
    /// The number of array elements, or 1.
    pub count: u32,
}

impl Field {
    /// Returns whether it is the same field, if the sign of integers counts for nothing.
    pub(crate) fn is_like(&self, other: &Field) -> bool {
        let places = |field: &Field| (field.name.clone(), field.offset, field.count);
        places(self) == places(other) && self.number.is_like(other.number)
    }
}

/// Returns the fields of a struct that the text defines once, with numbers and arrays of numbers
/// only.
pub(crate) fn fields_of(name: &str, declarations: &Declarations<'_>) -> Option<Vec<Field>> {
    let mut found = None;
    for file in &declarations.files {
        let tokens = &file.tokens;
        for at in 0..tokens.len() {
            let opens = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
            if !(opens(at, "struct") && opens(at + 1, name) && opens(at + 2, "{")) {
                continue;
            }
            let body: Vec<&str> = tokens[at + 3..].iter().map(|token| token.text).collect();
            let end = body.iter().position(|&text| text == "}")?;
            let is_redefined = body[..end].iter().any(|word| declarations.redefine(word));
            // A struct with two definitions, or with alignment after its body, stays unknown.
            if found.is_some() || is_redefined || body.get(end + 1) != Some(&";") {
                return None;
            }
            found = Some(laid_out(&body[..end])?);
        }
    }
    found
}

fn laid_out(body: &[&str]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    let mut offset = 0u32;
    let statements = body
        .split(|&text| text == ";")
        .filter(|statement| !statement.is_empty());
    for statement in statements {
        let words: Vec<&str> = statement.iter().copied().filter(|word| *word != "const").collect();
        let first_name =
            (1..words.len()).find(|&at| number(&words[..at]).is_some() && number(&words[..=at]).is_none())?;
        let number = number(&words[..first_name])?;
        for declared in words[first_name..].split(|&text| text == ",") {
            let (name, count) = match declared {
                [name] => (*name, 1),
                [name, "[", count, "]"] => (*name, count.parse().ok()?),
                _ => return None,
            };
            if !is_word(name) {
                return None;
            }
            let size = number.size() as u32;
            offset = offset.checked_next_multiple_of(size)?;
            fields.push(Field {
                name: name.to_owned(),
                offset,
                number,
                count,
            });
            offset = offset.checked_add(size.checked_mul(count)?)?;
        }
    }
    (!fields.is_empty()).then_some(fields)
}
