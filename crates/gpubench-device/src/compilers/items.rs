//! Finds the functions, types and variables of CUDA C++ text by its brackets. This is enough to
//! remove one of them, without a parser.

use std::ops::Range;

use gpubench_declarations::is_word;

/// A word or punctuation mark of a source, with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Offset in bytes in the text.
    pub(super) start: usize,
    pub(super) file: &'a str,
    pub(super) line: u32,
}

/// The words that stand for `__global__` and `__device__` in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) global: &'static str,
    pub(super) device: &'static str,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A `__global__` function.
    Kernel,
    /// A function marked `__device__`.
    Device,
    /// The definition of an unmarked function.
    Host,
    /// The declaration of an unmarked function.
    Prototype,
    /// A variable, an alias, or a declaration with a mark.
    Declaration,
    /// The head and the end of a type. Its members are separate items.
    Type,
}

/// A part of a source that can be removed.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// The name by which other items mention it; `None` for an operator at namespace scope and for
    /// a directive such as `using namespace`.
    pub(super) name: Option<&'a str>,
    pub(super) kind: Kind,
    /// The type that it is a member of.
    pub(super) of_type: Option<&'a str>,
    /// All its words.
    pub(super) words: Range<usize>,
    /// The words that belong to no other item.
    pub(super) own: Vec<Range<usize>>,
}

/// Returns the items of a text, in order; `None` if the brackets do not match.
pub(super) fn items<'a>(words: &[Word<'a>], marks: Marks) -> Option<Vec<Item<'a>>> {
    let mut reader = Reader {
        words,
        marks,
        items: Vec::new(),
        depth: 0,
    };
    let end = reader.scope(0, None)?;
    (end == words.len()).then_some(reader.items)
}

struct Reader<'t, 'a> {
    words: &'t [Word<'a>],
    marks: Marks,
    items: Vec<Item<'a>>,
    /// Number of scopes around the current one.
    depth: usize,
}

/// Most scopes inside of each other. Sources have ten.
const DEEPEST: usize = 256;

/// The head of an item.
struct Head {
    /// The end of the head: a `{` or `;`.
    end: usize,
    /// The opening parenthesis of a function's parameters.
    parameters: Option<usize>,
    /// An `=` before them.
    assigned: Option<usize>,
    /// A keyword such as `struct`.
    of_type: Option<usize>,
}

impl<'a> Reader<'_, 'a> {
    fn text(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| word.text)
    }

    /// Reads items up to the end of the text or to the `}` of the scope. Returns that position.
    fn scope(&mut self, mut at: usize, of_type: Option<&'a str>) -> Option<usize> {
        while at < self.words.len() && self.text(at) != "}" {
            at = match (self.text(at), self.text(at + 1)) {
                (";", _) => at + 1,
                ("public" | "private" | "protected", ":") => at + 2,
                ("extern", "{") => self.nested(at + 1)?,
                ("namespace" | "inline", _) if self.opens_namespace(at).is_some() => {
                    self.nested(self.opens_namespace(at)?)?
                }
                _ => self.item(at, of_type)?,
            };
        }
        Some(at)
    }

    /// Returns the `{` of a namespace that begins here.
    fn opens_namespace(&self, at: usize) -> Option<usize> {
        let named = at + usize::from(self.text(at) == "inline") + 1;
        if self.text(named - 1) != "namespace" {
            return None;
        }
        let is_name = |at: &usize| !matches!(self.text(*at), "{" | ";" | "=" | "");
        let end = (named..self.words.len()).find(|at| !is_name(at))?;
        (self.text(end) == "{").then_some(end)
    }

    /// Reads a scope inside of the current one, if there are not too many around it.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let inner = (self.depth <= DEEPEST).then(|| read(self)).flatten();
        self.depth -= 1;
        inner
    }

    /// Reads the items between the braces that open at `open`. Returns the position after them.
    fn nested(&mut self, open: usize) -> Option<usize> {
        let end = self.deeper(|reader| reader.scope(open + 1, None))?;
        (self.text(end) == "}").then_some(end + 1)
    }

    fn item(&mut self, start: usize, of_type: Option<&'a str>) -> Option<usize> {
        let begin = self.after_template_heads(start)?;
        let head = self.head(begin)?;
        let is_block = self.text(head.end) == "{";
        let is_function = head.parameters.is_some();
        if is_block && !is_function && head.assigned.is_none() && head.of_type.is_some() {
            return self.type_item(start, begin, &head, of_type);
        }
        let body_end = if is_block {
            self.after_bracket(head.end)?
        } else {
            head.end + 1
        };
        // After a function's body, the next item begins. After an initializer, the declaration goes
        // on.
        let end = if is_block && !is_function {
            self.end_of_statement(body_end)?
        } else {
            body_end
        };
        let marked = |mark: &str| (begin..head.end).any(|at| self.text(at) == mark);
        let kind = match (is_function, is_block) {
            (true, true) if marked(self.marks.global) => Kind::Kernel,
            (true, true) if marked(self.marks.device) => Kind::Device,
            (true, true) => Kind::Host,
            (true, false) if !marked(self.marks.global) && !marked(self.marks.device) => Kind::Prototype,
            _ => Kind::Declaration,
        };
        let name = self.name(begin, &head).or(of_type);
        self.items.push(Item {
            name,
            kind,
            of_type,
            words: start..end,
            own: std::iter::once(start..end).collect(),
        });
        Some(end)
    }

    fn type_item(&mut self, start: usize, begin: usize, head: &Head, of_type: Option<&'a str>) -> Option<usize> {
        let keyword = head.of_type?;
        let is_name = |at: &usize| {
            let text = self.text(*at);
            is_word(text) && !text.starts_with("__") && !matches!(text, "class" | "struct" | "alignas")
        };
        let mut names = (keyword + 1..head.end).filter(|at| !self.is_inside_parentheses(keyword, *at));
        let name = names.find(is_name).map(|at| self.text(at));
        let place = self.items.len();
        let close = match self.text(keyword) {
            "enum" => self.after_bracket(head.end)? - 1,
            _ => self.deeper(|reader| reader.scope(head.end + 1, name))?,
        };
        if self.text(close) != "}" {
            return None;
        }
        let end = self.end_of_statement(close + 1)?;
        let of_typedef = (self.text(begin) == "typedef").then(|| self.text(end.saturating_sub(2)));
        let item = Item {
            name: of_typedef.filter(|name| is_word(name)).or(name),
            kind: Kind::Type,
            of_type,
            words: start..end,
            own: match self.text(keyword) {
                "enum" => std::iter::once(start..end).collect(),
                _ => vec![start..head.end, close..end],
            },
        };
        self.items.insert(place, item);
        Some(end)
    }

    fn is_inside_parentheses(&self, from: usize, at: usize) -> bool {
        let depth = |depth: i32, at: usize| match self.text(at) {
            "(" => depth + 1,
            ")" => depth - 1,
            _ => depth,
        };
        (from..at).fold(0, depth) > 0
    }

    /// Returns the position after one or more `template <…>`. An explicit instantiation has none.
    fn after_template_heads(&self, mut at: usize) -> Option<usize> {
        while self.text(at) == "template" && self.text(at + 1) == "<" {
            at = self.after_angles(at + 1)?;
        }
        Some(at)
    }

    fn after_angles(&self, open: usize) -> Option<usize> {
        let (mut depth, mut at) = (0, open);
        while at < self.words.len() {
            match self.text(at) {
                "<" => depth += 1,
                ">" if self.text(at - 1) != "-" => depth -= 1,
                "(" | "{" => {
                    at = self.after_bracket(at)?;
                    continue;
                }
                ";" => return None,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    fn head(&self, begin: usize) -> Option<Head> {
        let mut head = Head {
            end: begin,
            parameters: None,
            assigned: None,
            of_type: None,
        };
        let mut in_initializers = false;
        let mut at = begin;
        while at < self.words.len() {
            match self.text(at) {
                ";" | "}" => break,
                "{" if in_initializers && self.is_member_initializer(at) => {
                    at = self.after_bracket(at)?;
                    continue;
                }
                "{" => break,
                "(" => {
                    let after = self.after_bracket(at)?;
                    let before = if at > begin { self.text(at - 1) } else { "" };
                    let is_attribute = before.starts_with("__") && before.ends_with("__");
                    let is_attribute =
                        is_attribute || matches!(before, "alignas" | "decltype" | "noexcept" | "explicit");
                    // The parentheses in `operator()` belong to the name.
                    let is_name = before == "operator";
                    if !is_attribute && !is_name && head.assigned.is_none() && head.parameters.is_none() {
                        head.parameters = Some(at);
                    }
                    at = after;
                    continue;
                }
                "[" => {
                    at = self.after_bracket(at)?;
                    continue;
                }
                "=" if head.parameters.is_none() && !self.follows_operator(begin, at) => {
                    head.assigned.get_or_insert(at);
                }
                ":" if head.parameters.is_some() && self.text(at + 1) != ":" && self.text(at - 1) != ":" => {
                    in_initializers = true;
                }
                "struct" | "class" | "union" | "enum" if head.parameters.is_none() => {
                    head.of_type.get_or_insert(at);
                }
                _ => {}
            }
            at += 1;
        }
        head.end = at;
        (at < self.words.len() && self.text(at) != "}").then_some(head)
    }

    fn follows_operator(&self, begin: usize, at: usize) -> bool {
        (at.saturating_sub(3).max(begin)..at).any(|at| self.text(at) == "operator")
    }

    /// Returns whether a brace in a constructor's initializer list opens the value of a member.
    fn is_member_initializer(&self, open: usize) -> bool {
        let before = self.text(open - 1);
        is_word(before) || before == ">"
    }

    /// Returns the position after the bracket that closes the one at `open`.
    fn after_bracket(&self, open: usize) -> Option<usize> {
        let mut depth = 0_u32;
        for at in open..self.words.len() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Returns the position after the next `;`.
    fn end_of_statement(&self, mut at: usize) -> Option<usize> {
        while at < self.words.len() {
            match self.text(at) {
                ";" => return Some(at + 1),
                "(" | "[" | "{" => at = self.after_bracket(at)?,
                "}" => return None,
                _ => at += 1,
            }
        }
        None
    }

    fn name(&self, begin: usize, head: &Head) -> Option<&'a str> {
        if (begin..head.end).any(|at| self.text(at) == "operator") {
            return None;
        }
        let name = match (self.text(begin), self.text(begin + 1)) {
            ("using", "namespace") => return None,
            ("using" | "namespace", name) if head.assigned.is_some() => name,
            _ => self.text(self.last_of_name(begin, head.parameters.or(head.assigned).unwrap_or(head.end))?),
        };
        Some(name).filter(|name| is_word(name))
    }

    /// Returns the last word before a position, skipping template arguments and array sizes.
    fn last_of_name(&self, begin: usize, end: usize) -> Option<usize> {
        let mut at = end.checked_sub(1).filter(|at| *at >= begin)?;
        for (close, open) in [("]", "["), (">", "<")] {
            while self.text(at) == close {
                let mut depth = 0;
                loop {
                    match self.text(at) {
                        text if text == close => depth += 1,
                        text if text == open => depth -= 1,
                        _ => {}
                    }
                    at = at.checked_sub(1).filter(|at| *at >= begin)?;
                    if depth == 0 {
                        break;
                    }
                }
            }
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_declarations::tokens;

    const MARKS: Marks = Marks {
        global: "__global__",
        device: "__device__",
    };

    fn words(text: &str) -> Vec<Word<'_>> {
        tokens(text)
            .into_iter()
            .map(|token| Word {
                text: token.text,
                start: token.start,
                file: "a.cu",
                line: token.line,
            })
            .collect()
    }

    /// Formats each item as `kind name: first word … last word`.
    fn listed(text: &str) -> Vec<String> {
        let words = words(text);
        let items = items(&words, MARKS).expect("the brackets match");
        let shown = |item: &Item<'_>| {
            let (first, last) = (words[item.words.start], words[item.words.end - 1]);
            format!(
                "{:?} {}: {}:{} … {}:{}",
                item.kind,
                item.name.unwrap_or("-"),
                first.text,
                first.line,
                last.text,
                last.line
            )
        };
        items.iter().map(shown).collect()
    }

    #[test]
    fn functions_types_and_variables_are_distinguished() {
        let text = r#"
            using namespace cooperative_groups; namespace cg = cooperative_groups;
            typedef unsigned int uint; using T = int;
            __device__ int table[4] = {1, 2, 3, 4};
            extern "C" { void prototype(int, float *); }
            namespace a { namespace b::c {
            template <class T, int N = (3 > 2)> __global__ void __launch_bounds__(256, 2) kernel(T *x) { if (x) { } }
            } }
            template <> __global__ void kernel<int, 3>(int *x) {}
            inline void __check(cudaError e) { exit(1); }
            extern "C" cudaError_t launch(void) { kernel<int, 3><<<1, 2>>>(0); return cudaSuccess; }
            struct __attribute__((aligned(16))) Pair {
                int a{3}, b;
                Pair(int n) : a{n}, b(n) {}
                __device__ int operator()(int x) const { return x; }
                ~Pair() { cudaFree(0); }
            };
            typedef struct { int x; } Old;
            enum class Mode { A, B };
            auto lambda = [](int x) { return x; };
            template void prototype<int>(int);
            int main(int argc, char **argv) { return 0; }
        "#;
        insta::assert_snapshot!(listed(text).join("\n"));
    }

    #[test]
    fn text_with_unbalanced_brackets_has_no_items() {
        for text in ["void f() {", "}", "void f() { ( }", "struct S {", "int x"] {
            assert!(items(&words(text), MARKS).is_none(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_no_panic(text in "(template|struct|__global__|operator|namespace|extern|=|[a-c(){}<>\\[\\];:,]| ){0,80}") {
            let _ = items(&words(&text), MARKS);
        }
    }
}
