//! The macros of a source and of its options.

use std::collections::HashMap;

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
pub(crate) struct Macros<'a> {
    expansions: HashMap<&'a str, Vec<Vec<&'a str>>>,
}

impl<'a> Macros<'a> {
    /// Adds the macros of lines with `#define`.
    pub(crate) fn add_directives(&mut self, lines: &'a str) {
        let words: Vec<&str> = tokens(lines).iter().map(|token| token.text).collect();
        let starts = (0..words.len()).filter(|&at| words[at] == "define");
        for at in starts {
            let expansion = words.iter().skip(at + 2).take_while(|word| **word != "#");
            if let Some(name) = words.get(at + 1) {
                let expansion = expansion.copied().collect();
                self.expansions.entry(name).or_default().push(expansion);
            }
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
        self.expansions.entry(name).or_default().push(expansion);
    }

    /// Returns whether a word is a macro that may say something about a type.
    pub(crate) fn is_macro(&self, word: &str) -> bool {
        self.expansions.contains_key(word) && !self.is_empty(word)
    }

    /// Returns whether a word is a macro that says nothing about a type, as `RESTRICT` often.
    pub(crate) fn is_empty(&self, word: &str) -> bool {
        let expansions = self.expansions.get(word);
        expansions.is_some_and(|expansions| expansions.iter().flatten().all(|word| EMPTY.contains(word)))
    }

    /// Returns whether a word, if it is a macro, may be more than a part of one parameter.
    pub(crate) fn may_be_several(&self, word: &str) -> bool {
        let separates = |word: &&str| matches!(*word, "," | "(") || self.is_macro(word);
        let expansions = self.expansions.get(word);
        expansions.is_some_and(|expansions| expansions.iter().flatten().any(separates))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_known_by_what_they_say_about_types() {
        let mut macros = Macros::default();
        macros.add_directives(
            "#define RESTRICT __restrict__\n#define NOTHING\n#define REAL float\n#define REAL\n#define TWO int a, int b\n\
             # define NESTED TWO\n#define CALL(x) x\n",
        );
        for option in ["NOTHING", "COUNT=unsigned", "PAIR=int a,int", "F(x)=x"] {
            macros.add_option(option);
        }
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
