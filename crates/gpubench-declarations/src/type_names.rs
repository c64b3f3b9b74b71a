//! Names that a source gives to number types: aliases, and the template parameters of one kernel.
//! The tool does not know scopes, so a name with two meanings has none.

use std::collections::HashMap;

use crate::number::MOST_WORDS;
use crate::words::{Token, is_word, statement, tokens};

/// What names of types stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeNames<'a> {
    /// The words of each, or none if they are unknown.
    meanings: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> TypeNames<'a> {
    /// Returns the aliases of files.
    pub(crate) fn of_aliases<'t>(files: impl IntoIterator<Item = &'t [Token<'a>]>) -> TypeNames<'a>
    where
        'a: 't,
    {
        let mut names = TypeNames::default();
        for file in files {
            for (at, token) in file.iter().enumerate() {
                let words: Vec<&str> = match token.text {
                    "using" | "typedef" => statement(file, at).iter().map(|token| token.text).collect(),
                    _ => continue,
                };
                match (token.text, &words[..]) {
                    ("using", [name, "=", meaning @ ..]) => names.add(name, meaning),
                    ("typedef", [meaning @ .., name]) => names.add(name, meaning),
                    _ => {}
                }
            }
        }
        names
    }

    fn add(&mut self, name: &'a str, meaning: &[&'a str]) {
        let is_new = !self.meanings.contains_key(name);
        let is_plain = meaning.len() < MOST_WORDS && meaning.iter().all(|word| is_word(word) || *word == ":");
        let known = if is_new && is_plain {
            meaning.to_vec()
        } else {
            Vec::new()
        };
        self.meanings.insert(name, known);
    }

    /// Returns these names with those of a kernel's template parameters, which the name expression
    /// has arguments for. `before` are the tokens before `__global__`.
    pub(crate) fn with_arguments(&self, before: &[Token<'a>], expression: &'a str) -> KernelTypeNames<'_, 'a> {
        let mut names = KernelTypeNames {
            aliases: self,
            parameters: HashMap::new(),
        };
        let arguments = arguments(expression);
        for (position, parameter) in template_parameters(before).into_iter().enumerate() {
            let argument = arguments.get(position).cloned().unwrap_or_default();
            let known = match parameter[..] {
                ["typename" | "class", _] => resolved(&argument, |word| self.meanings.get(word)),
                _ => Vec::new(),
            };
            if let Some(name) = parameter.last() {
                names.parameters.insert(name, known);
            }
        }
        names
    }
}

/// What names of types stand for in the parameters of a kernel.
#[derive(Debug)]
pub(crate) struct KernelTypeNames<'n, 'a> {
    aliases: &'n TypeNames<'a>,
    /// The kernel's template parameters, which hide aliases.
    parameters: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> KernelTypeNames<'_, 'a> {
    /// Returns the words with what they stand for. An unknown name stays as it is, and an alias of
    /// an alias is not followed further.
    pub(crate) fn resolved(&self, words: &[&'a str]) -> Vec<&'a str> {
        resolved(words, |word| {
            let parameter = self.parameters.get(word);
            parameter.or_else(|| self.aliases.meanings.get(word))
        })
    }
}

fn resolved<'m, 'a: 'm>(words: &[&'a str], meaning: impl Fn(&str) -> Option<&'m Vec<&'a str>>) -> Vec<&'a str> {
    let meaning = |word: &'a str| match meaning(word) {
        Some(known) if !known.is_empty() => known.clone(),
        _ => vec![word],
    };
    words.iter().flat_map(|word| meaning(word)).collect()
}

/// Returns the words of each template argument of a name expression: of `sum<float, 4>`, `float`
/// and `4`.
fn arguments(expression: &str) -> Vec<Vec<&str>> {
    let inside = expression.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>'));
    let Some((inside, _)) = inside else {
        return Vec::new();
    };
    let words: Vec<&str> = tokens(inside).iter().map(|token| token.text).collect();
    at_top_level(&words)
}

/// Returns the words of each parameter of the template that ends before `__global__`, without
/// default arguments.
fn template_parameters<'a>(before: &[Token<'a>]) -> Vec<Vec<&'a str>> {
    let other_kernel = before.iter().rposition(|token| token.text == "__global__");
    let before = &before[other_kernel.map_or(0, |at| at + 1)..];
    let words: Vec<&str> = before.iter().map(|token| token.text).collect();
    let qualifiers = words
        .iter()
        .rev()
        .take_while(|word| is_word(word) && **word != "template");
    let end = words.len() - qualifiers.count();
    let mut depth = 0;
    let begin = (0..end).rev().find(|&at| {
        match words[at] {
            ">" => depth += 1,
            "<" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    match begin {
        Some(begin) if begin > 0 && words[begin] == "<" && words[begin - 1] == "template" => {
            let parameters = at_top_level(&words[begin + 1..end - 1]).into_iter();
            let without_default =
                |parameter: Vec<&'a str>| parameter.into_iter().take_while(|word| *word != "=").collect();
            parameters.map(without_default).collect()
        }
        _ => Vec::new(),
    }
}

/// Splits words at the commas outside of brackets.
fn at_top_level<'a>(words: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut depth = 0;
    let parts = words.split(|word| {
        match *word {
            "<" | "(" | "[" | "{" => depth += 1,
            ">" | ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        *word == "," && depth == 0
    });
    parts.map(<[&str]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str, expression: &str, words: &str) -> String {
        let file = tokens(text);
        let kernel = file.iter().rposition(|token| token.text == "__global__").unwrap();
        let names = TypeNames::of_aliases([&*file]);
        let names = names.with_arguments(&file[..kernel], expression);
        names.resolved(&words.split(' ').collect::<Vec<_>>()).join(" ")
    }

    #[test]
    fn aliases_and_template_arguments_are_resolved() {
        let kernel = "template <typename T, int N, class U = float> static __global__ void k(T *x, U u) {}";
        assert_eq!(resolved(kernel, "k<double, 4>", "const T * x"), "const double * x");
        assert_eq!(
            resolved(kernel, "ns::k<unsigned int, 4, half>", "T U N"),
            "unsigned int half N"
        );
        assert_eq!(resolved(kernel, "k<double, 4>", "U"), "U", "a default stays unknown");
        let aliased = format!("using real = float; typedef unsigned long word; {kernel}");
        assert_eq!(
            resolved(&aliased, "k<real, 4>", "T real word"),
            "float float unsigned long"
        );
    }

    #[test]
    fn names_with_several_meanings_have_none() {
        let twice =
            "namespace a { using real = float; } namespace b { using real = double; } __global__ void k(real x);";
        assert_eq!(resolved(twice, "k", "real"), "real");
        let hidden = "using T = float; template <typename T> __global__ void k(T x);";
        assert_eq!(resolved(hidden, "k", "T"), "T");
        let other = "template <typename T> struct S { T x; }; __global__ void k(S s);";
        assert_eq!(resolved(other, "k<float>", "T"), "T");
        let fields = "typedef struct { int x; } P; using F = float (*)(int); __global__ void k(float x, F f);";
        assert_eq!(resolved(fields, "k", "x F"), "x F");
        let nested = "template <template <class> class C, typename T> __global__ void k(T x);";
        assert_eq!(resolved(nested, "k<Vec, float>", "T C"), "float C");
    }
}
