//! The kernels that a source declares.

use std::collections::HashSet;

use crate::declarations::Declarations;
use crate::functions::list_start;
use crate::words::{Token, is_word};

/// A `__global__` function at its first declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredKernel {
    /// The name, with its namespaces.
    pub name: String,
    /// The path of its file.
    pub file: String,
    /// The line of its name, from 1.
    pub line: u32,
    /// Whether it is a template.
    pub is_template: bool,
}

impl Declarations<'_> {
    /// Returns the `__global__` functions, in order, each once. Kernels that macros define are
    /// missing.
    pub fn kernels(&self) -> Vec<DeclaredKernel> {
        let mut kernels: Vec<DeclaredKernel> = Vec::new();
        let mut known = HashSet::new();
        for file in &self.files {
            for (name, line, is_template) in kernels_of(&file.tokens) {
                if known.insert(name.clone()) {
                    let file = file.path.to_owned();
                    kernels.push(DeclaredKernel {
                        name,
                        file,
                        line,
                        is_template,
                    });
                }
            }
        }
        kernels
    }
}

fn kernels_of(tokens: &[Token<'_>]) -> Vec<(String, u32, bool)> {
    let mut kernels = Vec::new();
    let mut namespaces: Vec<Option<String>> = Vec::new();
    let mut opening: Option<String> = None;
    let mut is_template = false;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "namespace" => opening = namespace_name(&tokens[at + 1..]),
            "template" => is_template = true,
            "{" => {
                namespaces.push(opening.take());
                is_template = false;
            }
            "}" => {
                namespaces.pop();
                is_template = false;
            }
            ";" => {
                opening = None;
                is_template = false;
            }
            "__global__" => {
                let name = list_start(tokens, at).map(|open| tokens[open - 1]);
                let Some(name) = name.filter(|name| is_word(name.text)) else {
                    continue;
                };
                let path = namespaces.iter().flatten().map(String::as_str).chain([name.text]);
                kernels.push((path.collect::<Vec<_>>().join("::"), name.line, is_template));
            }
            _ => {}
        }
    }
    kernels
}

/// Returns the name of a namespace that is opened: `a`, or `a::b`. An unnamed one has none.
fn namespace_name(tokens: &[Token<'_>]) -> Option<String> {
    let words = tokens.iter().map(|token| token.text);
    let is_part = |text: &&str| *text == ":" || is_word(text) && *text != "namespace";
    let name: String = words.take_while(is_part).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declarations::tests::of_text;

    fn declared_kernels(text: &str) -> Vec<String> {
        kernels_in(text).into_iter().map(|kernel| kernel.name).collect()
    }

    fn kernels_in(text: &str) -> Vec<DeclaredKernel> {
        of_text(text, |found| found.kernels())
    }

    #[test]
    fn kernels_are_found_past_attributes_templates_and_comments() {
        let text = r#"
            // __global__ void commented(int);
            const char *text = "__global__ void quoted(int)";
            __global__ void plain(float *x) {}
            extern "C" __global__ void __launch_bounds__(256, 2) bounded(int n) {}
            template <int N> __global__ void
            reduce(const float *x) {}
            namespace image { namespace { struct S { int a; }; } __global__ void gray(int n) { if (n) { } } }
            namespace a::b { __global__ void nested() {} }
            __global__ void last();
            __global__ void last() {}
        "#;
        assert_eq!(
            declared_kernels(text),
            ["plain", "bounded", "reduce", "image::gray", "a::b::nested", "last"]
        );
    }

    #[test]
    fn a_kernel_has_its_line_and_whether_it_is_a_template() {
        let text = "template <class T> struct S { T t; };\n__global__ void plain();\ntemplate <int N>\n__global__ void\nmade() {}\n";
        let found: Vec<_> = kernels_in(text)
            .into_iter()
            .map(|kernel| (kernel.name, kernel.line, kernel.is_template))
            .collect();
        assert_eq!(found, [("plain".to_owned(), 2, false), ("made".to_owned(), 5, true)]);
    }

    /// Each scan stops at the next kernel or statement, and names are looked up. Otherwise this
    /// test would take hours.
    #[test]
    fn a_text_is_scanned_once_however_many_kernels_it_seems_to_have() {
        for unfinished in [
            "__global__ void\n",
            "__global__ __attribute__((\n",
            "__global__ void kernel(\n",
        ] {
            let text = format!("{}__global__ void last() {{}}", unfinished.repeat(50_000));
            assert_eq!(declared_kernels(&text).last().map(|name| &**name), Some("last"));
            assert_eq!(of_text(&text, |found| found.parameters("last")), Some(vec![]));
        }
        let text: String = (0..50_000)
            .map(|number| format!("__global__ void k{number}();\n"))
            .collect();
        assert_eq!(declared_kernels(&text).len(), 50_000);
    }

    /// As above.
    #[test]
    fn all_kernels_of_a_text_are_read_at_once() {
        let fields = "int a; ".repeat(5_000);
        let kernels: String = (0..20_000)
            .map(|number| {
                format!("using A{number} = int; > __global__ void __launch_bounds__(64) k{number}(S s, LONG x, A{number} a) {{}}\n")
            })
            .collect();
        let long = "restrict ".repeat(20_000);
        let words = "namespace ".repeat(20_000) + &"using ".repeat(20_000) + &"struct S { ".repeat(20_000);
        let definitions = "define ".repeat(20_000);
        let text =
            format!("#define LONG {long}\n#define LOOP {definitions}\n{words}; struct T {{ {fields} }};\n{kernels}");
        let read = of_text(&text, |found| {
            let names = (0..20_000).map(|number| format!("k{number}"));
            let read = names.filter(|name| {
                let parameters = found.parameters(name).map_or(0, |parameters| parameters.len());
                (parameters, found.thread_limit(name)) == (3, Some(64))
            });
            read.count()
        });
        assert_eq!(read, 20_000);
    }

    #[test]
    fn kernels_defined_by_macros_have_no_name() {
        let text = "#define OP(NAME) \\\n  extern \"C\" __global__ void NAME(float *x) { \\\n  }\n__global__ void plain() {}\nOP(made)\n";
        let found = kernels_in(text);
        assert_eq!((found.len(), &*found[0].name, found[0].line), (1, "plain", 4));
    }
}
