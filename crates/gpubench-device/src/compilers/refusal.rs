//! What the CPU device cannot run, by name.

use std::fmt;

use gpubench_harness::shim::SHIM;

use super::scan::{Token, tokens};

/// A construct the CPU device cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// File, relative to the crate's root.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// What was found, as written.
    pub word: String,
    /// What it is.
    pub construct: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} (`{}`)", self.file, self.line, self.construct, self.word)
    }
}

const TENSOR_CORES: &str = "tensor cores";
const CLUSTERS: &str = "thread block clusters";
const GRID_BARRIER: &str = "a grid-wide barrier";
const TEXTURES: &str = "textures and surfaces";
const BULK_COPIES: &str = "asynchronous copies by TMA";
const CUDA_LIBRARIES: &str = "a library of the CUDA toolkit";

/// Words, each a construct wherever it stands.
const WORDS: &[(&str, &str)] = &[
    ("wmma", TENSOR_CORES),
    ("nvcuda", TENSOR_CORES),
    ("mma_sync", TENSOR_CORES),
    ("load_matrix_sync", TENSOR_CORES),
    ("store_matrix_sync", TENSOR_CORES),
    ("__cluster_dims__", CLUSTERS),
    ("cluster_group", CLUSTERS),
    ("this_cluster", CLUSTERS),
    ("map_shared_rank", CLUSTERS),
    ("grid_group", GRID_BARRIER),
    ("this_grid", GRID_BARRIER),
    ("multi_grid_group", GRID_BARRIER),
    ("this_multi_grid", GRID_BARRIER),
    ("CUtensorMap", BULK_COPIES),
    ("cp_async_bulk", BULK_COPIES),
    ("cudaTextureObject_t", TEXTURES),
    ("cudaSurfaceObject_t", TEXTURES),
    ("tex1D", TEXTURES),
    ("tex1Dfetch", TEXTURES),
    ("tex2D", TEXTURES),
    ("tex3D", TEXTURES),
    ("texCubemap", TEXTURES),
    ("surf1Dread", TEXTURES),
    ("surf2Dread", TEXTURES),
    ("surf3Dread", TEXTURES),
    ("surf1Dwrite", TEXTURES),
    ("surf2Dwrite", TEXTURES),
    ("surf3Dwrite", TEXTURES),
    ("cudaGridDependencySynchronize", "programmatic dependent launch"),
    (
        "cudaTriggerProgrammaticLaunchCompletion",
        "programmatic dependent launch",
    ),
];

/// Headers, by the beginning of what stands between the angle brackets.
const HEADERS: &[(&[&str], &str)] = &[
    (&["mma", "."], TENSOR_CORES),
    (&["cub", "/"], CUDA_LIBRARIES),
    (&["thrust", "/"], CUDA_LIBRARIES),
    (&["cuda", "/"], CUDA_LIBRARIES),
    (&["cutlass", "/"], CUDA_LIBRARIES),
    (&["cute", "/"], CUDA_LIBRARIES),
    (&["curand_kernel", "."], CUDA_LIBRARIES),
];

/// Everything in a file that the CPU device cannot run.
pub(super) fn refusals(file: &str, text: &str) -> Vec<Refusal> {
    let tokens = tokens(text);
    let found = tokens.iter().enumerate().filter_map(|(at, token)| {
        let construct = construct_at(&tokens, at)?;
        let word = match token.text {
            "include" => directive(&tokens[at + 1..]),
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
    WORDS
        .iter()
        .find(|(known, _)| *known == word)
        .map(|(_, construct)| *construct)
}

/// The `#include` line whose words follow.
fn directive(after_include: &[Token<'_>]) -> String {
    let path = after_include.iter().take_while(|token| token.text != ">");
    let path: String = path.map(|token| token.text).collect();
    format!("#include {path}>")
}

fn is_launch(tokens: &[Token<'_>]) -> bool {
    tokens.len() > 3 && tokens[..3].iter().all(|token| token.text == "<") && tokens[3].text != "<"
}

fn header(after_include: &[Token<'_>]) -> Option<&'static str> {
    let words: Vec<&str> = after_include
        .iter()
        .map(|token| token.text)
        .take_while(|&word| word != ">")
        .collect();
    let ["<", rest @ ..] = &words[..] else { return None };
    if SHIM.iter().any(|(path, _)| *path == rest.concat()) {
        return None;
    }
    HEADERS
        .iter()
        .find(|(header, _)| rest.starts_with(header))
        .map(|(_, construct)| *construct)
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
