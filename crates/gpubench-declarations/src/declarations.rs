//! The declarations of a source.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::functions::Functions;
use crate::macros::{Expansions, Macros};
use crate::number::number;
use crate::structs::Structs;
use crate::type_names::TypeNames;
use crate::words::{Token, definitions_apart, statement, tokens};

/// The files of a source, apart from their macro definitions.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    path: String,
    text: String,
    definitions: String,
}

impl Texts {
    /// Takes files apart, each a path for messages and its text.
    pub fn of<'t>(files: impl IntoIterator<Item = (&'t str, Cow<'t, str>)>) -> Texts {
        let files = files.into_iter().map(|(path, text)| {
            let (text, definitions) = definitions_apart(&text);
            let path = path.to_owned();
            File {
                path,
                text,
                definitions,
            }
        });
        Texts { files: files.collect() }
    }

    /// Returns whether there are macros that define kernels. The names of such kernels are unknown.
    pub fn make_kernels_by_macros(&self) -> bool {
        self.files.iter().any(|file| file.definitions.contains("__global__"))
    }

    /// Reads the declarations. `definitions` are those of compiler options: `NAME`, `NAME=value`.
    pub fn declarations<'a>(&'a self, definitions: impl IntoIterator<Item = &'a str>) -> Declarations<'a> {
        let mut expansions = Expansions::default();
        definitions
            .into_iter()
            .for_each(|definition| expansions.add_option(definition));
        self.files
            .iter()
            .for_each(|file| expansions.add_directives(&file.definitions));
        let files: Vec<FileTokens<'_>> = self
            .files
            .iter()
            .map(|file| FileTokens {
                path: &file.path,
                tokens: tokens(&file.text),
            })
            .collect();
        let mut declarations = Declarations {
            aliases: TypeNames::of_aliases(files.iter().map(|file| &*file.tokens)),
            renamed: files.iter().flat_map(|file| number_names(&file.tokens)).collect(),
            functions: Functions::of(&files),
            structs: Structs::default(),
            macros: expansions.macros(),
            files,
        };
        declarations.structs = Structs::of(&declarations.files, |word| declarations.redefine(word));
        declarations
    }
}

/// What the text of a source declares.
#[derive(Clone, Debug)]
pub struct Declarations<'a> {
    pub(crate) files: Vec<FileTokens<'a>>,
    pub(crate) macros: Macros<'a>,
    /// Names of number types to which the source gives another meaning.
    renamed: HashSet<String>,
    pub(crate) aliases: TypeNames<'a>,
    pub(crate) functions: Functions<'a>,
    pub(crate) structs: Structs<'a>,
}

impl Declarations<'_> {
    /// Returns whether a name is a macro, or a number type with another meaning.
    pub fn redefine(&self, name: &str) -> bool {
        self.macros.is_macro(name) || self.renamed.contains(name)
    }
}

/// A file as words.
#[derive(Clone, Debug)]
pub(crate) struct FileTokens<'a> {
    pub(crate) path: &'a str,
    pub(crate) tokens: Vec<Token<'a>>,
}

/// Returns the names of number types to which a file gives another meaning.
fn number_names(tokens: &[Token<'_>]) -> Vec<String> {
    let mut names = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let words = || -> Vec<&str> { statement(tokens, at).iter().map(|token| token.text).collect() };
        let (name, meaning) = match token.text {
            "typename" | "class" | "struct" | "enum" => (tokens.get(at + 1).map(|token| token.text), None),
            "using" => {
                let words = words();
                (words.first().copied(), words.get(2..).and_then(number))
            }
            "typedef" => {
                let words = words();
                let split = words.split_last();
                (
                    split.map(|(name, _)| *name),
                    split.and_then(|(_, meaning)| number(meaning)),
                )
            }
            _ => continue,
        };
        let known = name.and_then(|name| number(&[name]));
        if let Some(name) = name.filter(|_| known.is_some() && known != meaning) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Calls `read` with the declarations of a file.
    pub(crate) fn of_text<T>(text: &str, read: impl FnOnce(&Declarations<'_>) -> T) -> T {
        let texts = Texts::of([("a.cu", Cow::Borrowed(text))]);
        read(&texts.declarations([]))
    }

    #[test]
    fn a_number_type_may_be_declared_again_with_its_own_meaning() {
        let text = "typedef unsigned int uint; using size_t = unsigned long; typedef unsigned char ushort; using half = float; struct uchar;";
        of_text(text, |found| {
            let words = ["uint", "size_t", "ushort", "half", "uchar"].map(|word| found.redefine(word));
            assert_eq!(words, [false, false, true, true, true]);
        });
    }

    #[test]
    fn only_macros_with_kernels_make_kernels() {
        let texts = |text| Texts::of([("a.cu", Cow::Borrowed(text))]);
        assert!(texts("#define OP(NAME) \\\n  __global__ void NAME() {}\n").make_kernels_by_macros());
        assert!(!texts("#define N 4\n__global__ void k() {}\n").make_kernels_by_macros());
    }

    #[test]
    fn a_definition_ends_with_its_line() {
        let text = "#define A 1 // one\n#define WIDE \\\n  8 // bytes \\\n  wide\nint x; // y\n#define B 2\n";
        of_text(text, |found| {
            let macros = ["A", "WIDE", "B", "wide"].map(|word| found.redefine(word));
            assert_eq!(macros, [true, true, true, false]);
        });
    }
}
