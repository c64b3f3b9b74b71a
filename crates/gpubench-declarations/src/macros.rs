//! The macros of a source and of its options.

use std::collections::{HashMap, HashSet};

use crate::words::tokens;

/// Words after which a parameter has the type that it has without them.
const EMPTY: [&str; 5] = [
    "__restrict__",
    "__restrict",
    "restrict",
    "volatile",
    "__grid_constant__",
];

/// Macros, each with its expansions, of which `#if` may choose one. A macro with parameters begins
/// its expansion with them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expansions<'a>(HashMap<&'a str, Vec<Vec<&'a str>>>);

impl<'a> Expansions<'a> {
    /// Adds the macros of lines with `#define`.
    pub(crate) fn add_directives(&mut self, lines: &'a str) {
        let words: Vec<&str> = tokens(lines).iter().map(|token| token.text).collect();
        for at in 0..words.len() {
            let ["#", "define", name, rest @ ..] = &words[at..] else {
                continue;
            };
            let expansion = rest.iter().take_while(|word| **word != "#");
            self.0.entry(name).or_default().push(expansion.copied().collect());
        }
    }

    /// Adds what an option defines: `NAME`, `NAME=expansion` or `NAME(x)=expansion`.
    pub(crate) fn add_option(&mut self, definition: &'a str) {
        let end = definition.find(['=', '(']).unwrap_or(definition.len());
        let (name, rest) = definition.split_at(end);
        let expansion = if rest.is_empty() {
            "1"
        } else {
            rest.trim_start_matches('=')
        };
        let expansion = tokens(expansion).iter().map(|token| token.text).collect();
        self.0.entry(name).or_default().push(expansion);
    }

    /// Returns what the macros can mean among the words of a parameter.
    pub(crate) fn macros(&self) -> Macros<'a> {
        let says_nothing = |expansions: &[Vec<&str>]| expansions.iter().flatten().all(|word| EMPTY.contains(word));
        let empty = self.0.iter().filter(|(_, expansions)| says_nothing(expansions));
        let empty: HashSet<&str> = empty.map(|(name, _)| *name).collect();
        let is_macro = |word: &str| self.0.contains_key(word) && !empty.contains(word);
        let separates = |word: &&str| matches!(*word, "," | "(") || is_macro(word);
        let meaning = |(name, expansions): (&&'a str, &Vec<Vec<&'a str>>)| {
            let meaning = match () {
                () if empty.contains(name) => Meaning::Nothing,
                () if expansions.iter().flatten().any(separates) => Meaning::PerhapsSeveral,
                () => Meaning::PartOfOne,
            };
            (*name, meaning)
        };
        Macros(self.0.iter().map(meaning).collect())
    }
}

/// What a macro can mean among the words of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Nothing about its type, as `RESTRICT` often.
    Nothing,
    /// A part of its type.
    PartOfOne,
    /// Perhaps several parameters.
    PerhapsSeveral,
}

/// The macros of a source and of its options.
#[derive(Clone, Debug)]
pub(crate) struct Macros<'a>(HashMap<&'a str, Meaning>);

impl Macros<'_> {
    /// Returns whether a word is a macro that may say something about a type.
    pub(crate) fn is_macro(&self, word: &str) -> bool {
        self.0.get(word).is_some_and(|meaning| *meaning != Meaning::Nothing)
    }

    /// Returns whether a word is a macro that says nothing about a type.
    pub(crate) fn is_empty(&self, word: &str) -> bool {
        self.0.get(word) == Some(&Meaning::Nothing)
    }

    /// Returns whether a word, if it is a macro, may be more than a part of one parameter.
    pub(crate) fn may_be_several(&self, word: &str) -> bool {
        self.0.get(word) == Some(&Meaning::PerhapsSeveral)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_known_by_what_they_say_about_types() {
        let mut macros = Expansions::default();
        macros.add_directives(
            "#define RESTRICT __restrict__\n#define NOTHING\n#define REAL float\n#define REAL\n#define TWO int a, int b\n\
             # define NESTED TWO\n#define CALL(x) x\n",
        );
        for option in ["NOTHING", "COUNT=unsigned", "PAIR=int a,int", "F(x)=x"] {
            macros.add_option(option);
        }
        let macros = macros.macros();
        for (word, is_macro, is_empty, may_be_several) in [
            ("RESTRICT", false, true, false),
            ("NOTHING", true, false, false),
            ("REAL", true, false, false),
            ("TWO", true, false, true),
            ("NESTED", true, false, true),
            ("CALL", true, false, true),
            ("COUNT", true, false, false),
            ("PAIR", true, false, true),
            ("F", true, false, true),
            ("float", false, false, false),
        ] {
            let found = (
                macros.is_macro(word),
                macros.is_empty(word),
                macros.may_be_several(word),
            );
            assert_eq!(found, (is_macro, is_empty, may_be_several), "{word}");
        }
    }
}
