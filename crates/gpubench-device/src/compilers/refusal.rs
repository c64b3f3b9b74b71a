//! What the CPU device cannot run, by name.

use std::fmt;

use gpubench_harness::shim::SHIM;

use super::scan::{Token, tokens};

/// A construct the CPU device cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// File, relative to the crate's root.
    pub(super) file: String,
    /// Line in it.
    pub(super) line: u32,
    /// What was found, as written.
    pub(super) word: String,
    /// What it is.
    pub(super) construct: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} (`{}`)", self.file, self.line, self.construct, self.word)
    }
}

const TENSOR_CORES: &str = "tensor cores";

/// Constructs, each with words that mean it wherever they stand.
const WORDS: &[(&str, &str)] = &[
    (TENSOR_CORES, "wmma nvcuda mma_sync load_matrix_sync store_matrix_sync"),
    (
        "thread block clusters",
        "__cluster_dims__ cluster_group this_cluster map_shared_rank",
    ),
    (
        "a grid-wide barrier",
        "grid_group this_grid multi_grid_group this_multi_grid",
    ),
    ("asynchronous copies by TMA", "CUtensorMap cp_async_bulk"),
    (
        "textures and surfaces",
        "cudaTextureObject_t cudaSurfaceObject_t tex1D tex1Dfetch tex2D tex3D texCubemap \
         surf1Dread surf2Dread surf3Dread surf1Dwrite surf2Dwrite surf3Dwrite",
    ),
    (
        "programmatic dependent launch",
        "cudaGridDependencySynchronize cudaTriggerProgrammaticLaunchCompletion",
    ),
];

/// Constructs, each with what the headers for it begin with.
const HEADERS: &[(&str, &str)] = &[
    (TENSOR_CORES, "mma."),
    (
        "a library of the CUDA toolkit",
        "cub/ thrust/ cuda/ cutlass/ cute/ curand_kernel.",
    ),
];

/// Everything in a file that the CPU device cannot run.
pub(super) fn refusals(file: &str, text: &str) -> Vec<Refusal> {
    let tokens = tokens(text);
    let found = tokens.iter().enumerate().filter_map(|(at, token)| {
        let construct = construct_at(&tokens, at)?;
        let word = match token.text {
            "include" => format!("#include {}>", included(&tokens[at + 1..])),
            word => word.to_owned(),
        };
        Some(Refusal {
            file: file.to_owned(),
            line: token.line,
            word,
            construct,
        })
    });
    found.collect()
}

fn construct_at(tokens: &[Token<'_>], at: usize) -> Option<&'static str> {
    let word = tokens[at].text;
    match word {
        "asm" | "__asm__" | "__asm" => return Some("inline PTX"),
        "include" if at > 0 && tokens[at - 1].text == "#" => return header(&tokens[at + 1..]),
        "<" if is_launch(&tokens[at..]) && !(at > 0 && tokens[at - 1].text == "<") => {
            return Some("a launch from a kernel");
        }
        _ => {}
    }
    let meant = WORDS
        .iter()
        .find(|(_, words)| words.split(' ').any(|known| known == word))?;
    Some(meant.0)
}

/// What stands between `#include` and `>`.
fn included(after_include: &[Token<'_>]) -> String {
    let path = after_include.iter().take_while(|token| token.text != ">");
    path.map(|token| token.text).collect()
}

fn is_launch(tokens: &[Token<'_>]) -> bool {
    tokens.len() > 3 && tokens[..3].iter().all(|token| token.text == "<") && tokens[3].text != "<"
}

fn header(after_include: &[Token<'_>]) -> Option<&'static str> {
    let included = included(after_include);
    let path = included.strip_prefix('<')?;
    if SHIM.iter().any(|(known, _)| *known == path) {
        return None;
    }
    let means = |words: &str| words.split(' ').any(|beginning| path.starts_with(beginning));
    HEADERS
        .iter()
        .find(|(_, words)| means(words))
        .map(|(construct, _)| *construct)
}

/// The same in what a preprocessor makes of a source, for lines of the user's files alone: `#if` may have taken a construct away.
pub(super) fn refusals_after_preprocessing(preprocessed: &str, is_users: impl Fn(&str) -> bool) -> Vec<Refusal> {
    let mut found = Vec::new();
    let mut chunk = String::new();
    let mut place = (String::new(), 1);
    for line in preprocessed.lines().chain(["# 1 \"\""]) {
        let Some(next) = line_marker(line) else {
            chunk.push_str(line);
            chunk.push('\n');
            continue;
        };
        if is_users(&place.0) {
            found.extend(refusals(&place.0, &chunk).into_iter().map(|it| Refusal {
                line: it.line + place.1 - 1,
                ..it
            }));
        }
        chunk.clear();
        place = next;
    }
    found
}

/// The file and line of a marker such as `# 12 "a.cu" 2`.
fn line_marker(line: &str) -> Option<(String, u32)> {
    let rest = line.strip_prefix("# ")?;
    let (number, rest) = rest.split_once(' ')?;
    let file = rest.strip_prefix('"')?.split('"').next()?;
    Some((file.to_owned(), number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructs_are_named_with_their_lines() {
        let text = "#include <mma.h>\n#include <cuda/std/limits>\n#include <cuda/atomic>\n// asm\n__device__ void f() { asm volatile(\"\"); }\nauto g = this_grid();\nk<<<1, 2>>>();\nint x = a << b;\n";
        let found: Vec<String> = refusals("k.cu", text).iter().map(Refusal::to_string).collect();
        assert_eq!(
            found,
            [
                "k.cu:1: tensor cores (`#include <mma.h>`)",
                "k.cu:3: a library of the CUDA toolkit (`#include <cuda/atomic>`)",
                "k.cu:5: inline PTX (`asm`)",
                "k.cu:6: a grid-wide barrier (`this_grid`)",
                "k.cu:7: a launch from a kernel (`<`)",
            ]
        );
    }

    #[test]
    fn only_the_users_lines_of_a_preprocessed_source_count() {
        let text = "# 1 \"shim.h\"\nasm\n# 10 \"k.cu\" 2\n\nasm(\"\")\n# 3 \"shim.h\"\nasm\n";
        let found = refusals_after_preprocessing(text, |file| file == "k.cu");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 11);
    }
}
