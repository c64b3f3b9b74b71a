//! Splits CUDA C++ into words. This is enough to find kernels and constructs, without a parser.

use std::collections::HashSet;

use gpubench::catalog::Source;

/// A word or punctuation mark of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// Offset in bytes in the text.
    pub(super) start: usize,
    pub(super) line: u32,
}

/// A `__global__` function at its first declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeclaredKernel {
    /// The name, with its namespaces.
    pub(super) name: String,
    /// The path, relative to the crate's root.
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) is_template: bool,
}
/// Returns whether a source has macros that define kernels. The names of such kernels are unknown.
pub fn makes_kernels_by_macros(source: &Source) -> bool {
    let defines_kernels = |text: &str| definitions_apart(text).1.contains("__global__");
    source.files.iter().any(|file| defines_kernels(&file.text()))
}

/// Returns the names of the `__global__` functions of a source, with namespaces, in order, each
/// once. Kernels that macros define are missing.
pub fn declared_kernels(source: &Source) -> Vec<String> {
    kernels_in(source).into_iter().map(|kernel| kernel.name).collect()
}

/// Returns the kernels of a source with their places.
pub(super) fn kernels_in(source: &Source) -> Vec<DeclaredKernel> {
    let mut kernels: Vec<DeclaredKernel> = Vec::new();
    let mut known = HashSet::new();
    for file in &source.files {
        let (text, _) = definitions_apart(&file.text());
        for (name, line, is_template) in kernels_of(&tokens(&text)) {
            if known.insert(name.clone()) {
                let file = file.path.clone();
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

/// Returns a text with its macro definitions blanked out, and the definitions.
pub(super) fn definitions_apart(text: &str) -> (String, String) {
    let (mut rest, mut definitions) = (String::with_capacity(text.len()), String::new());
    let mut continued = false;
    for line in text.lines() {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let defines = continued || directive.is_some_and(|directive| directive.starts_with("define"));
        if defines {
            definitions.push_str(line)
        } else {
            rest.push_str(line)
        }
        rest.push('\n');
        continued = defines && line.ends_with('\\');
    }
    (rest, definitions)
}

fn kernels_of(tokens: &[Token<'_>]) -> Vec<(String, u32, bool)> {
    let mut kernels = Vec::new();
    let mut namespaces: Vec<Option<&str>> = Vec::new();
    let mut opening: Option<&str> = None;
    let mut is_template = false;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "namespace" => opening = tokens.get(at + 1).map(|name| name.text).filter(|name| is_word(name)),
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
                let Some(name) = name_of_function(&tokens[at + 1..]) else {
                    continue;
                };
                let path = namespaces.iter().flatten().copied().chain([name.text]);
                kernels.push((path.collect::<Vec<_>>().join("::"), name.line, is_template));
            }
            _ => {}
        }
    }
    kernels
}

/// Returns the word before the parameter list of the next function, skipping attributes with
/// parentheses.
fn name_of_function<'a>(tokens: &[Token<'a>]) -> Option<Token<'a>> {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.text {
            "(" => {
                let name = *tokens.get(at.checked_sub(1)?)?;
                if !name.text.starts_with("__") {
                    return Some(name).filter(|name| is_word(name.text));
                }
                at = after_parentheses(tokens, at)?;
            }
            ";" | "{" | "}" | "__global__" => return None,
            _ => at += 1,
        }
    }
    None
}

/// Returns the position after the closing parenthesis. A `__global__` inside means that it is
/// missing.
pub(super) fn after_parentheses(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            "__global__" => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// Splits a source into words and single punctuation marks, without comments, strings and character
/// constants.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => end_of_line(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => find(text, at + 2, "*/"),
            b'"' if is_raw_string(bytes, at) => end_of_raw_string(text, at),
            quote @ (b'"' | b'\'') => end_of_quoted(bytes, at, quote),
            byte if byte.is_ascii_whitespace() => at + 1,
            byte => {
                let end = if is_word_byte(byte) {
                    end_of_word(bytes, at)
                } else {
                    end_of_character(text, at)
                };
                tokens.push(Token {
                    text: &text[at..end],
                    start: at,
                    line,
                });
                end
            }
        };
        line += bytes[at..end].iter().filter(|&&byte| byte == b'\n').count() as u32;
        at = end;
    }
    tokens
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the end of a word or a number; a number keeps its digit separators.
fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let number = bytes[start].is_ascii_digit();
    let separator =
        |at: usize| number && bytes[at] == b'\'' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
    (start..bytes.len())
        .find(|&at| !is_word_byte(bytes[at]) && !separator(at))
        .unwrap_or(bytes.len())
}

fn end_of_character(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

fn end_of_line(bytes: &[u8], start: usize) -> usize {
    (start..bytes.len())
        .find(|&at| bytes[at] == b'\n' && bytes[at - 1] != b'\\')
        .unwrap_or(bytes.len())
}

fn find(text: &str, from: usize, what: &str) -> usize {
    text.get(from..)
        .and_then(|rest| rest.find(what))
        .map_or(text.len(), |found| from + found + what.len())
}

/// Returns the end of a quoted text: its quote, or the end of its line if the quote is missing.
fn end_of_quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn is_raw_string(bytes: &[u8], quote: usize) -> bool {
    quote > 0 && bytes[quote - 1] == b'R'
}

fn end_of_raw_string(text: &str, quote: usize) -> usize {
    let Some(open) = text[quote..].find('(') else {
        return text.len();
    };
    let closing = format!("){}\"", &text[quote + 1..quote + open]);
    find(text, quote + open, &closing)
}

#[cfg(test)]
mod tests {
    use super::super::parameters::declared_parameters;
    use super::super::tests::source_of as source;
    use super::*;

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
            __global__ void last();
            __global__ void last() {}
        "#;
        assert_eq!(
            declared_kernels(&source(text)),
            ["plain", "bounded", "reduce", "image::gray", "last"]
        );
    }

    #[test]
    fn a_kernel_has_its_line_and_whether_it_is_a_template() {
        let text = "template <class T> struct S { T t; };\n__global__ void plain();\ntemplate <int N>\n__global__ void\nmade() {}\n";
        let found: Vec<_> = kernels_in(&source(text))
            .into_iter()
            .map(|kernel| (kernel.name, kernel.line, kernel.is_template))
            .collect();
        assert_eq!(found, [("plain".to_owned(), 2, false), ("made".to_owned(), 5, true)]);
    }

    /// Each scan stops at the next kernel; otherwise this test would take hours.
    #[test]
    fn a_text_is_scanned_once_however_many_kernels_it_seems_to_have() {
        for unfinished in [
            "__global__ void\n",
            "__global__ __attribute__((\n",
            "__global__ void kernel(\n",
        ] {
            let text = format!("{}__global__ void last() {{}}", unfinished.repeat(50_000));
            assert_eq!(
                declared_kernels(&source(&text)).last().map(|name| &**name),
                Some("last")
            );
            assert_eq!(declared_parameters(&source(&text), "last"), Some(vec![]));
        }
        let text: String = (0..50_000)
            .map(|number| format!("__global__ void k{number}();\n"))
            .collect();
        assert_eq!(declared_kernels(&source(&text)).len(), 50_000);
    }

    #[test]
    fn kernels_defined_by_macros_have_no_name() {
        let text = "#define OP(NAME) \\\n  extern \"C\" __global__ void NAME(float *x) { \\\n  }\n__global__ void plain() {}\nOP(made)\n";
        let found = kernels_in(&source(text));
        assert_eq!((found.len(), &*found[0].name, found[0].line), (1, "plain", 4));
        assert!(makes_kernels_by_macros(&source(text)));
    }

    #[test]
    fn lines_are_counted_through_comments_and_raw_strings() {
        let text = "/* a\nb */ one\nR\"x(\n\"quoted\n)x\" two // three\n'\\'' 1'000 four";
        let found: Vec<(&str, u32)> = tokens(text).iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(found, [("one", 2), ("R", 3), ("two", 5), ("1'000", 6), ("four", 6)]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split_without_a_panic(text in "[ -~\n\u{e9}\\\\\"'/*R()]{0,200}") {
            for token in tokens(&text) {
                proptest::prop_assert!(!token.text.is_empty());
            }
        }
    }
}
