//! Reduces a source to its device code.

use std::ops::Range;

use gpubench::catalog::{Source, SourceFile};

use super::super::cut::{Macros, host_functions_called, host_library_used, not_needed, not_of_device, without};
use super::super::items::{Item, Marks, Word, items};
use gpubench_declarations::{Token, tokens};

const MARKS: Marks = Marks {
    global: "__global__",
    device: "__device__",
};

/// The NVRTC option that makes unmarked functions, such as small ones in headers, device functions.
const DEFAULT_SPACE: &str = "--device-as-default-execution-space";

/// The names of the same option.
const DEFAULT_SPACES: &[&str] = &[DEFAULT_SPACE, "-default-device"];

/// What a function without a mark is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unmarked {
    /// A device function, if a kernel needs it.
    #[default]
    IsDeviceCode,
    /// A host function, as in CUDA.
    IsHostCode,
}

/// Returns the source without its host code. Line numbers stay the same. A file whose brackets do
/// not match, as with branches of `#if`, is unchanged.
pub(super) fn device_code_of(source: &Source, unmarked: Unmarked) -> Source {
    let files = read(source, |whole, texts| {
        let removed = not_of_device(&whole.words, &whole.items, &whole.macros);
        whole.files_without(source, texts, &removed)
    });
    let mut options = source.options.clone();
    if unmarked == Unmarked::IsDeviceCode {
        options.push(DEFAULT_SPACE.to_owned());
    }
    Source {
        files,
        options,
        ..source.clone()
    }
}

/// Returns the source without the functions that kernels of these names do not need. Line numbers
/// stay the same. `None` if it needs all.
pub(super) fn needed_code_of(source: &Source, names: &[String]) -> Option<Source> {
    read(source, |whole, texts| {
        let removed = not_needed(&whole.words, &whole.items, &whole.macros, names);
        (!removed.is_empty()).then(|| Source {
            files: whole.files_without(source, texts, &removed),
            ..source.clone()
        })
    })
}

/// Returns the functions without a mark that kernels of these names call. On a GPU they are host
/// functions.
pub(super) fn host_functions(source: &Source, names: &[String]) -> Vec<String> {
    if source
        .options
        .iter()
        .any(|option| DEFAULT_SPACES.contains(&option.as_str()))
    {
        return Vec::new();
    }
    read(source, |whole, _| {
        let called = host_functions_called(&whole.words, &whole.items, &whole.macros, names);
        called.into_iter().map(str::to_owned).collect()
    })
}

/// Returns the parts of the standard library for hosts that kernels of these names use, as in
/// `std::vector`.
pub(super) fn host_library(source: &Source, names: &[String]) -> Vec<String> {
    read(source, |whole, _| {
        let used = host_library_used(&whole.words, &whole.items, &whole.macros, names);
        used.into_iter().map(|name| format!("std::{name}")).collect()
    })
}

/// Reads a source into words and items, and hands them to `take` with the text of each file.
fn read<T>(source: &Source, take: impl FnOnce(&Whole<'_>, &[String]) -> T) -> T {
    let texts: Vec<String> = source.files.iter().map(|file| file.text().into_owned()).collect();
    let tokens: Vec<Vec<Token<'_>>> = texts.iter().map(|text| tokens(text)).collect();
    take(&Whole::of(source, &tokens, &texts), &texts)
}

/// The words, items and macros of all files whose brackets match.
struct Whole<'a> {
    words: Vec<Word<'a>>,
    items: Vec<Item<'a>>,
    macros: Macros<'a>,
    /// The offset of each file, as if one followed the other.
    starts: Vec<usize>,
}

impl<'a> Whole<'a> {
    fn of(source: &'a Source, tokens: &[Vec<Token<'a>>], texts: &[String]) -> Whole<'a> {
        let files = source.files.iter().zip(tokens);
        let read: Vec<File<'_>> = files.map(|(file, tokens)| File::read(&file.path, tokens)).collect();
        let macros = read.iter().flat_map(|file| file.macros.iter().cloned()).collect();
        let (mut words, mut all, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let mut base = 0;
        for (file, text) in read.iter().zip(texts) {
            starts.push(base);
            if let Some(found) = items(&file.words, MARKS) {
                let first = words.len();
                let shifted = |range: &Range<usize>| range.start + first..range.end + first;
                all.extend(found.into_iter().map(|mut item| {
                    item.words = shifted(&item.words);
                    item.own = item.own.iter().map(shifted).collect();
                    item
                }));
                words.extend(file.words.iter().map(|word| Word {
                    start: word.start + base,
                    ..*word
                }));
            }
            base += text.len();
        }
        Whole {
            words,
            items: all,
            macros,
            starts,
        }
    }

    /// Returns the files without these bytes. Line numbers stay the same.
    fn files_without(&self, source: &Source, texts: &[String], removed: &[Range<usize>]) -> Vec<SourceFile> {
        let of_file = |start: usize, end: usize| -> Vec<Range<usize>> {
            let inside = removed.iter().filter(|range| start <= range.start && range.end <= end);
            inside.map(|range| range.start - start..range.end - start).collect()
        };
        let files = source.files.iter().zip(texts).zip(&self.starts);
        let files = files.map(|((file, text), &start)| SourceFile {
            path: file.path.clone(),
            contents: without(text, &of_file(start, start + text.len())).into_bytes(),
        });
        files.collect()
    }
}

/// The words of a file, except those of directives, and its macros.
struct File<'a> {
    words: Vec<Word<'a>>,
    macros: Macros<'a>,
}

impl<'a> File<'a> {
    fn read(path: &'a str, tokens: &[Token<'a>]) -> File<'a> {
        let (mut words, mut macros) = (Vec::new(), Macros::new());
        let mut at = 0;
        while at < tokens.len() {
            let token = tokens[at];
            let begins_line = at == 0 || tokens[at - 1].line < token.line;
            if token.text != "#" || !begins_line {
                words.push(Word {
                    text: token.text,
                    start: token.start,
                    file: path,
                    line: token.line,
                });
                at += 1;
                continue;
            }
            let end = end_of_directive(tokens, at);
            if let [_, define, name, rest @ ..] = &tokens[at..end]
                && define.text == "define"
            {
                macros.push((name.text, rest.iter().map(|token| token.text).collect()));
            }
            at = end;
        }
        File { words, macros }
    }
}

/// Returns the position after a directive, which a `\\` at the end of a line continues.
fn end_of_directive(tokens: &[Token<'_>], start: usize) -> usize {
    let mut line = tokens[start].line;
    let mut at = start + 1;
    while let Some(token) = tokens.get(at) {
        let continues = tokens[at - 1].text == "\\" && token.line == line + 1;
        if token.line != line && !continues {
            break;
        }
        line = token.line;
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compilers::tests::source_of;

    #[test]
    fn code_that_no_kernel_reaches_is_removed_and_line_numbers_stay() {
        let text = r#"#include <fstream>
#define TILE (side * 2)
#define check(call) \
    report(call, __LINE__)
static const int side = 4;
using Real = float;
struct Point { Real x, y; Point() {} std::string name() const; };
struct Plan { std::vector<int> sizes; cudaStream_t stream; };
std::ofstream log_file;
void report(cudaError_t e, int line) { std::cerr << line; }
int helper(int x) { return x + side; }
extern "C" void launch(int n);
__constant__ float table[4];
__device__ Real twice(Point p) { return p.x * TILE + helper(3); }
__global__ void k(float *x) { x[0] = twice(Point()); }
void launch(int n) {
    check(cudaFree(0));
    k<<<1, n>>>(nullptr);
}
"#;
        let source = source_of(text);
        let left = device_code_of(&source, Unmarked::IsDeviceCode);
        assert_eq!(left.options, [DEFAULT_SPACE]);
        let lines: Vec<String> = left.files[0]
            .text()
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    fn called(text: &str) -> Vec<String> {
        host_functions(&source_of(text), &["k".to_owned()])
    }

    #[test]
    fn unmarked_functions_that_a_kernel_calls_are_host_functions() {
        let text = "float once(float x) { return x; }\n\
            float twice(float x) { return 2 * once(x); }\n\
            float unused(float x) { return x; }\n\
            __device__ float from(float x) { return twice(x); }\n\
            __global__ void k(float *x) { x[0] = from(x[1]); }\n\
            __global__ void other(float *x) { x[0] = unused(x[1]); }\n";
        assert_eq!(called(text), ["once", "twice"]);
    }

    #[test]
    fn functions_with_a_mark_and_constant_expressions_are_none() {
        let text = "#define DEVICE __device__ __forceinline__\n\
            DEVICE float marked(float x) { return x; }\n\
            constexpr int pages(int n) { return n / 2; }\n\
            float size() { return 1; }\n\
            struct List { __device__ float size() { return 2; } };\n\
            void launch(float *x) { k<<<1, 1>>>(x, List()); }\n\
            __global__ void k(float *x, List list) { x[0] = marked(pages(3)) + list.size(); }\n";
        assert_eq!(called(text), Vec::<String>::new());
    }

    #[test]
    fn parts_of_the_standard_library_for_hosts_are_named() {
        let text = "struct List { std::vector<float> all; };\n\
            std::string name() { return std::to_string(1); }\n\
            __device__ float first(float x) { std::vector<float> one(1, x); return one[0]; }\n\
            __global__ void k(float *x) { x[0] = first(std::min(x[1], std::numeric_limits<float>::max())); }\n\
            __global__ void other(float *x) { std::map<int, int> counts; }\n";
        assert_eq!(host_library(&source_of(text), &["k".to_owned()]), ["std::vector"]);
    }
}
