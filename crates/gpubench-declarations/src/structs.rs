//! Structs whose fields are numbers.

use std::collections::HashMap;
use std::sync::Arc;

use crate::declarations::FileTokens;
use crate::number::{MOST_WORDS, Number, number};
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

/// The structs of all files that have numbers and arrays of numbers only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structs<'a> {
    /// The fields of each struct, or none if they are unknown.
    by_name: HashMap<&'a str, Option<Arc<[Field]>>>,
}

impl<'a> Structs<'a> {
    /// Reads the structs. `redefine` says of which words the source changes the meaning.
    pub(crate) fn of(files: &[FileTokens<'a>], redefine: impl Fn(&str) -> bool) -> Structs<'a> {
        let mut by_name: HashMap<&'a str, Option<Arc<[Field]>>> = HashMap::new();
        for FileTokens { tokens, .. } in files {
            let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
            for at in 0..texts.len() {
                let ["struct", name, "{", body @ ..] = &texts[at..] else {
                    continue;
                };
                let fields = fields_in(body).filter(|_| !by_name.contains_key(name));
                let fields = fields.filter(|body| !body.iter().any(|word| redefine(word)));
                by_name.insert(name, fields.and_then(laid_out).map(Arc::from));
            }
        }
        Structs { by_name }
    }

    /// Returns the fields of a struct that the text defines once.
    pub(crate) fn fields_of(&self, name: &str) -> Option<Arc<[Field]>> {
        self.by_name.get(name).cloned().flatten()
    }
}

/// Returns the words of a struct's fields. Plain fields have no braces, and a struct with alignment
/// after its body stays unknown.
fn fields_in<'t, 'a>(body: &'t [&'a str]) -> Option<&'t [&'a str]> {
    let end = body.iter().position(|text| matches!(*text, "{" | "}"))?;
    (body[end] == "}" && body.get(end + 1) == Some(&";")).then(|| &body[..end])
}

fn laid_out(body: &[&str]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    let mut offset = 0u32;
    let statements = body
        .split(|&text| text == ";")
        .filter(|statement| !statement.is_empty());
    for statement in statements {
        let words: Vec<&str> = statement.iter().copied().filter(|word| *word != "const").collect();
        let first_name = (1..words.len().min(MOST_WORDS))
            .find(|&at| number(&words[..at]).is_some() && number(&words[..=at]).is_none())?;
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
