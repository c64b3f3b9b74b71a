//! The functions after `__global__`, indexed by their names.

use std::collections::HashMap;

use crate::declarations::FileTokens;
use crate::words::{Token, after_parentheses};

/// Where a file declares a function. Positions are those of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    file: usize,
    global: usize,
    open: usize,
    end: usize,
}

impl Function {
    /// Returns the tokens before `__global__`.
    pub(crate) fn before<'t, 'a>(&self, files: &'t [FileTokens<'a>]) -> &'t [Token<'a>] {
        &files[self.file].tokens[..self.global]
    }

    /// Returns the tokens between `__global__` and the name.
    pub(crate) fn attributes<'t, 'a>(&self, files: &'t [FileTokens<'a>]) -> &'t [Token<'a>] {
        &files[self.file].tokens[self.global + 1..self.open - 1]
    }

    /// Returns the tokens between the parentheses.
    pub(crate) fn list<'t, 'a>(&self, files: &'t [FileTokens<'a>]) -> &'t [Token<'a>] {
        &files[self.file].tokens[self.open + 1..self.end - 1]
    }
}

/// The functions of all files, so that reading every kernel takes one pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions<'a> {
    by_name: HashMap<&'a str, Vec<Function>>,
}

impl<'a> Functions<'a> {
    pub(crate) fn of(files: &[FileTokens<'a>]) -> Functions<'a> {
        let mut by_name: HashMap<&'a str, Vec<Function>> = HashMap::new();
        for (file, FileTokens { tokens, .. }) in files.iter().enumerate() {
            for global in (0..tokens.len()).filter(|&at| tokens[at].text == "__global__") {
                let Some(open) = list_start(tokens, global) else {
                    continue;
                };
                let Some(end) = after_parentheses(tokens, open) else {
                    continue;
                };
                by_name.entry(tokens[open - 1].text).or_default().push(Function {
                    file,
                    global,
                    open,
                    end,
                });
            }
        }
        Functions { by_name }
    }

    /// Returns the declarations of a name without namespaces, in order.
    pub(crate) fn named(&self, name: &str) -> &[Function] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Returns where the parameters open of the function after a `__global__`, past attributes with
/// parentheses. The token before is its name.
pub(crate) fn list_start(tokens: &[Token<'_>], global: usize) -> Option<usize> {
    let mut at = global + 1;
    loop {
        match tokens.get(at)?.text {
            "(" if at == global + 1 => return None,
            "(" if tokens[at - 1].text.starts_with("__") => at = after_parentheses(tokens, at)?,
            "(" => return Some(at),
            ";" | "{" | "}" | "__global__" => return None,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::declarations::tests::of_text;

    #[test]
    fn a_name_leads_to_its_own_declarations_only() {
        let text = "__global__ void a(int); namespace n { __global__ void __launch_bounds__(8) b(float x) {} }
            __global__ int unfinished(\n__global__ void a(int n) {} __global__ variable; __global__ (*f)(int);";
        of_text(text, |found| {
            let lists = |name: &str| {
                let functions = found.functions.named(name).iter();
                let words = |function: &super::Function| {
                    let list = function.list(&found.files).iter();
                    list.map(|token| token.text).collect::<Vec<_>>().join(" ")
                };
                functions.map(words).collect::<Vec<_>>()
            };
            assert_eq!(lists("a"), ["int", "int n"]);
            assert_eq!(lists("b"), ["float x"]);
            assert!(lists("unfinished").is_empty() && lists("variable").is_empty() && lists("f").is_empty());
        });
    }
}
