//! The declarations of a source.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::number::number;
use crate::type_names::TypeNames;
use crate::words::{Token, definitions_apart, tokens};

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

    /// Reads the declarations. `macros` are the names that compiler options define.
    pub fn declarations<'a>(&self, macros: impl IntoIterator<Item = &'a str>) -> Declarations<'_> {
        let files: Vec<FileTokens<'_>> = self
            .files
            .iter()
            .map(|file| {
                let tokens = tokens(&file.text);
                let kernels = (0..tokens.len()).filter(|&at| tokens[at].text == "__global__");
                FileTokens {
                    path: &file.path,
                    kernels: kernels.collect(),
                    tokens,
                }
            })
            .collect();
        let mut redefined: HashSet<String> = macros.into_iter().map(str::to_owned).collect();
        redefined.extend(self.files.iter().flat_map(|file| defined_in(&file.definitions)));
        redefined.extend(files.iter().flat_map(|file| number_names(&file.tokens)));
        Declarations {
            aliases: TypeNames::of_aliases(files.iter().map(|file| &*file.tokens)),
            files,
            redefined,
        }
    }
}

/// What the text of a source declares.
#[derive(Clone, Debug)]
pub struct Declarations<'a> {
    pub(crate) files: Vec<FileTokens<'a>>,
    /// Macros, and names of number types that the source redefines.
    pub(crate) redefined: HashSet<String>,
    pub(crate) aliases: TypeNames<'a>,
}

/// A file as words.
#[derive(Clone, Debug)]
pub(crate) struct FileTokens<'a> {
    pub(crate) path: &'a str,
    pub(crate) tokens: Vec<Token<'a>>,
    /// The positions of `__global__`.
    pub(crate) kernels: Vec<usize>,
}

/// Returns the names of macros that directives define.
fn defined_in(definitions: &str) -> Vec<String> {
    let tokens = tokens(definitions);
    let macros = tokens.windows(2).filter(|pair| pair[0].text == "define");
    macros.map(|pair| pair[1].text.to_owned()).collect()
}

/// Returns the names of number types that a file declares.
fn number_names(tokens: &[Token<'_>]) -> Vec<String> {
    let names = tokens
        .windows(2)
        .enumerate()
        .filter_map(|(at, pair)| match pair[0].text {
            "typename" | "class" | "struct" | "enum" | "using" => Some(pair[1].text),
            "typedef" => tokens[at..]
                .windows(2)
                .find(|pair| pair[1].text == ";")
                .map(|pair| pair[0].text),
            _ => None,
        });
    let numbers = names.filter(|name| number(&[name]).is_some());
    numbers.map(str::to_owned).collect()
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
    fn only_macros_with_kernels_make_kernels() {
        let texts = |text| Texts::of([("a.cu", Cow::Borrowed(text))]);
        assert!(texts("#define OP(NAME) \\\n  __global__ void NAME() {}\n").make_kernels_by_macros());
        assert!(!texts("#define N 4\n__global__ void k() {}\n").make_kernels_by_macros());
    }
}
