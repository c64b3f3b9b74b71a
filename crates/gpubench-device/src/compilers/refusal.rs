//! Constructs that the CPU device does not support.

use std::fmt;
use std::ops::Range;

use gpubench_harness::shim::SHIM;

use super::cuda_functions::refused_function;
use super::items::Word;
use gpubench_declarations::{is_word, tokens};

/// An unsupported construct at a place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The file, relative to the crate's root.
    pub(super) file: String,
    /// The line in the file.
    pub(super) line: u32,
    /// The word as written.
    pub(super) word: String,
    /// The construct, for messages.
    pub(super) construct: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} (`{}`)", self.file, self.line, self.construct, self.word)
    }
}

const FEW_BITS: &str = "tensor cores on numbers of 1 or 4 bits";
const GRID_BARRIER: &str = "a grid-wide barrier";
pub(super) const LAUNCH: &str = "a launch from a kernel";
const CUDA_LIBRARIES: &str = "a CUDA toolkit library";

/// Constructs, each with the words that identify it anywhere.
const WORDS: &[(&str, &[&str])] = &[
    (
        "thread block clusters",
        &["__cluster_dims__", "cluster_group", "this_cluster", "map_shared_rank"],
    ),
    (GRID_BARRIER, &["multi_grid_group", "this_multi_grid"]),
    ("a group of several warps", &["block_tile_memory"]),
    ("asynchronous TMA copies", &["CUtensorMap", "cp_async_bulk"]),
    (
        "asynchronous copies",
        &[
            "memcpy_async",
            "__pipeline_memcpy_async",
            "__pipeline_commit",
            "__pipeline_wait_prior",
        ],
    ),
    (
        "textures and surfaces",
        &[
            "cudaTextureObject_t",
            "cudaSurfaceObject_t",
            "tex1D",
            "tex1Dfetch",
            "tex2D",
            "tex3D",
            "texCubemap",
            "surf1Dread",
            "surf2Dread",
            "surf3Dread",
            "surf1Dwrite",
            "surf2Dwrite",
            "surf3Dwrite",
        ],
    ),
    (
        "programmatic dependent launch",
        &[
            "cudaGridDependencySynchronize",
            "cudaTriggerProgrammaticLaunchCompletion",
        ],
    ),
];

/// Headers of the CUDA toolkit that the CPU device lacks; `*` matches any ending.
const HEADERS: &[&str] = &[
    "cooperative_groups/*",
    "crt/*",
    "cub/*",
    "cublas*",
    "cublasLt*",
    "cuda/*",
    "cudaGL.h",
    "cuda_awbarrier*",
    "cuda_fp4*",
    "cuda_fp6*",
    "cuda_gl_interop.h",
    "cuda_pipeline*",
    "cuda_profiler_api.h",
    "cuda_texture_types.h",
    "cudaProfiler.h",
    "cudnn*",
    "cufft*",
    "curand*",
    "cusolver*",
    "cusparse*",
    "cute/*",
    "cutlass/*",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_gl.h",
    "nccl*",
    "npp*",
    "nv/*",
    "nvToolsExt*",
    "nvrtc.h",
    "nvtx3/*",
    "surface_indirect_functions.h",
    "texture_fetch_functions.h",
    "texture_indirect_functions.h",
    "thrust/*",
];

/// The contents of a stub header: the namespaces that sources open at file scope.
const STUB: &str = "#pragma once\nnamespace nvcuda { namespace wmma {} namespace experimental {} }\nnamespace cub {}\nnamespace thrust {}\n\
    namespace cutlass {}\nnamespace cute {}\nnamespace cuda { namespace std {} }\nnamespace cooperative_groups {}\n";

/// Returns the unsupported constructs in a range of words.
pub(super) fn constructs_in(words: &[Word<'_>], texts: &[&str], range: &Range<usize>) -> Vec<Refusal> {
    let grids = grids_in(texts, range);
    let found = range.clone().filter_map(|at| {
        let construct = construct_at(texts, at).or_else(|| barrier_of(&grids, texts, at))?;
        Some(Refusal {
            file: words[at].file.to_owned(),
            line: words[at].line,
            word: match texts[at] {
                "<" => "<<<".to_owned(),
                word => word.to_owned(),
            },
            construct,
        })
    });
    found.collect()
}

/// Returns whether a file may have unsupported constructs or host code, so that it needs the full
/// analysis.
pub(super) fn needs_analysis(text: &str) -> bool {
    let tokens = tokens(text);
    let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    let grids = ["grid_group", "this_grid"];
    (0..texts.len()).any(|at| construct_at(&texts, at).is_some() || is_of_host(texts[at]) || grids.contains(&texts[at]))
        || includes(text).any(|header| stub(header).is_some())
}

/// Returns whether a word is a function or type of the CUDA runtime, the driver or a library that
/// only host code calls.
pub(super) fn is_of_host(word: &str) -> bool {
    let names_something = |prefix: &&str| {
        let rest = word.strip_prefix(*prefix);
        rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
    };
    OF_HOST.iter().any(names_something) && !OF_COMPLEX_NUMBERS.iter().any(|known| word.starts_with(known))
}

/// Prefixes of the names in the libraries of host code, each before a capital letter.
const OF_HOST: &[&str] = &[
    "cuda", "cu", "cublas", "cudnn", "cufft", "cusolver", "cusparse", "nccl", "npp",
];

/// Prefixes of the names in `<cuComplex.h>`, which kernels may use.
const OF_COMPLEX_NUMBERS: &[&str] = &["cuC", "cuFloatComplex", "cuDoubleComplex"];

/// What the CPU device has of cuRAND: its XORWOW generator.
const OF_XORWOW: &[&str] = &[
    "curand",
    "curandState",
    "curandStateXORWOW",
    "curandStateXORWOW_t",
    "curandState_t",
    "curand_init",
    "curand_log_normal",
    "curand_log_normal_double",
    "curand_normal",
    "curand_normal2",
    "curand_normal2_double",
    "curand_normal_double",
    "curand_uniform",
    "curand_uniform_double",
];

fn construct_at(texts: &[&str], at: usize) -> Option<&'static str> {
    let word = texts[at];
    match word {
        "asm" | "__asm__" | "__asm" => return Some("inline PTX"),
        "<" if is_launch(&texts[at..]) && !(at > 0 && texts[at - 1] == "<") => return Some(LAUNCH),
        "experimental" if at >= 3 && texts[at - 3] == "wmma" => return Some(FEW_BITS),
        "cub" | "thrust" | "cutlass" | "cute" if is_scope(texts, at) => return Some(CUDA_LIBRARIES),
        "cuda" if is_scope(texts, at) && texts.get(at + 3) != Some(&"std") => return Some(CUDA_LIBRARIES),
        _ if word.starts_with("curand") && !OF_XORWOW.contains(&word) => return Some(CUDA_LIBRARIES),
        _ => {}
    }
    let meant = WORDS.iter().find(|(_, words)| words.contains(&word));
    meant
        .map(|(construct, _)| *construct)
        .or_else(|| refused_function(word))
}

fn is_scope(texts: &[&str], at: usize) -> bool {
    texts.get(at + 1) == Some(&":") && texts.get(at + 2) == Some(&":")
}

fn is_launch(texts: &[&str]) -> bool {
    texts.len() > 3 && texts[..3].iter().all(|text| *text == "<") && texts[3] != "<"
}

/// Returns the variables in a range that hold a grid group.
fn grids_in<'a>(texts: &[&'a str], range: &Range<usize>) -> Vec<&'a str> {
    let named = range.clone().filter_map(|at| match texts[at] {
        "grid_group" => texts[at + 1..]
            .iter()
            .find(|text| !matches!(**text, "&" | "const"))
            .copied(),
        "this_grid" => {
            let before = texts[range.start..at].iter().rev().copied();
            let mut before =
                before.skip_while(|text| matches!(*text, ":") || *text == "cg" || *text == "cooperative_groups");
            (before.next() == Some("=")).then(|| before.next()).flatten()
        }
        _ => None,
    });
    named.filter(|name| is_word(name)).collect()
}

/// Recognizes a grid-wide barrier: `grid.sync()`, `sync(grid)`, `this_grid().sync()`.
fn barrier_of(grids: &[&str], texts: &[&str], at: usize) -> Option<&'static str> {
    if !matches!(texts[at], "sync" | "barrier_arrive" | "barrier_wait") {
        return None;
    }
    let before = |count: usize| at.checked_sub(count).map_or("", |place| texts[place]);
    let is_member = before(1) == "." && (grids.contains(&before(2)) || before(4) == "this_grid");
    let argument = texts.get(at + 2).copied().unwrap_or("");
    let is_called = texts.get(at + 1) == Some(&"(") && grids.contains(&argument);
    (is_member || is_called).then_some(GRID_BARRIER)
}

/// Returns the headers that a text includes.
pub(super) fn includes(text: &str) -> impl Iterator<Item = &str> {
    included(text).map(|(_, path)| path)
}

/// Returns the headers that a text includes with angle brackets.
pub(super) fn angled_includes(text: &str) -> impl Iterator<Item = &str> {
    included(text).filter_map(|(close, path)| (close == '>').then_some(path))
}

fn included(text: &str) -> impl Iterator<Item = (char, &str)> {
    text.lines().filter_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let named = directive.strip_prefix("include")?.trim_start();
        let close = match named.as_bytes().first()? {
            b'<' => '>',
            b'"' => '"',
            _ => return None,
        };
        named[1..].split_once(close).map(|(path, _)| (close, path))
    })
}

/// Returns the stub for an NVIDIA header that the shim lacks. It declares only the namespaces that
/// sources open.
pub(super) fn stub(header: &str) -> Option<&'static str> {
    let is_there = SHIM.iter().any(|(path, _)| *path == header);
    let is_known = HEADERS.iter().any(|known| match known.strip_suffix('*') {
        Some(beginning) => header.starts_with(beginning),
        None => header == *known,
    });
    (is_known && !is_there && !header.contains("..")).then_some(STUB)
}

/// Parses the line and file of a marker such as `# 12 "a.cu" 2`.
fn line_marker(line: &str) -> Option<(&str, u32)> {
    let rest = line.strip_prefix("# ")?;
    let (number, rest) = rest.split_once(' ')?;
    let file = rest.strip_prefix('"')?.split('"').next()?;
    Some((file.trim_start_matches("./"), number.parse().ok()?))
}

/// Returns the words of the user's files in a preprocessed source, with their original places.
pub(super) fn user_words<'a>(preprocessed: &'a str, is_users: impl Fn(&str) -> bool) -> Vec<Word<'a>> {
    let mut words = Vec::new();
    let (mut file, mut first_line, mut chunk_start) = ("", 1, 0);
    let mut at = 0;
    let ends = preprocessed.split_inclusive('\n').chain(["# 1 \"\""]);
    for line in ends {
        if let Some((next, number)) = line_marker(line) {
            if is_users(file) {
                let chunk = &preprocessed[chunk_start..at.min(preprocessed.len())];
                words.extend(tokens(chunk).into_iter().map(|token| Word {
                    text: token.text,
                    start: chunk_start + token.start,
                    file,
                    line: token.line + first_line - 1,
                }));
            }
            (file, first_line, chunk_start) = (next, number, at + line.len());
        }
        at += line.len();
    }
    words
}
