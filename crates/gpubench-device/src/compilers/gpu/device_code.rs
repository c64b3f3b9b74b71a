//! Reduces a source to its device code.

use std::ops::Range;

use gpubench::catalog::{Source, SourceFile};

use super::super::cut::{Macros, not_of_device, without};
use super::super::items::{Marks, Word, items};
use super::super::scan::{Token, tokens};

const MARKS: Marks = Marks {
    global: "__global__",
    device: "__device__",
};

/// The NVRTC option that makes unmarked functions, such as small ones in headers, device functions.
pub(super) const DEFAULT_SPACE: &str = "--device-as-default-execution-space";

/// Returns the source without its host code, with every unmarked function a device function. Line
/// numbers stay the same. A file whose brackets do not match, as with branches of `#if`, is
/// unchanged.
pub(super) fn device_code_of(source: &Source) -> Source {
    let texts: Vec<String> = source.files.iter().map(|file| file.text().into_owned()).collect();
    let tokens: Vec<Vec<Token<'_>>> = texts.iter().map(|text| tokens(text)).collect();
    let read: Vec<File<'_>> = tokens.iter().map(|tokens| File::read(tokens)).collect();
    let macros: Macros<'_> = read.iter().flat_map(|file| file.macros.iter().cloned()).collect();
    let (mut words, mut all, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    let mut base = 0;
    for (file, text) in read.iter().zip(&texts) {
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
    let removed = not_of_device(&words, &all, &macros);
    let of_file = |at: usize| -> Vec<Range<usize>> {
        let (start, end) = (starts[at], starts[at] + texts[at].len());
        let inside = removed.iter().filter(|range| start <= range.start && range.end <= end);
        inside.map(|range| range.start - start..range.end - start).collect()
    };
    let files = source.files.iter().enumerate().map(|(at, file)| SourceFile {
        path: file.path.clone(),
        contents: without(&texts[at], &of_file(at)).into_bytes(),
    });
    let mut options = source.options.clone();
    options.push(DEFAULT_SPACE.to_owned());
    Source {
        files: files.collect(),
        options,
        ..source.clone()
    }
}

/// The words of a file, except those of directives, and its macros.
struct File<'a> {
    words: Vec<Word<'a>>,
    macros: Macros<'a>,
}

impl<'a> File<'a> {
    fn read(tokens: &[Token<'a>]) -> File<'a> {
        let (mut words, mut macros) = (Vec::new(), Macros::new());
        let mut at = 0;
        while at < tokens.len() {
            let token = tokens[at];
            let begins_line = at == 0 || tokens[at - 1].line < token.line;
            if token.text != "#" || !begins_line {
                words.push(Word {
                    text: token.text,
                    start: token.start,
                    file: "",
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
        let left = device_code_of(&source);
        assert_eq!(left.options, [DEFAULT_SPACE]);
        let lines: Vec<String> = left.files[0]
            .text()
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
