//! The limit of `__constant__` memory.

use std::collections::BTreeSet;

use gpubench::catalog::Source;
use object::LittleEndian;
use object::elf::{FileHeader64, SHT_SYMTAB, STT_OBJECT};
use object::read::elf::{FileHeader as _, Sym as _};

use super::static_shared::written;
use gpubench_declarations::{Token, is_word, tokens};

/// The most constant memory of a file in bytes, on every GPU. It is part of the cache key.
pub(super) const MOST_BYTES: u64 = 64 << 10;

/// Returns what is wrong if the variables of a source that an object has need more constant memory
/// than a GPU has. `ptxas` refuses such a file, whatever its kernels use. Returns `None` for an
/// object of another format, too.
pub(super) fn too_much_constant_memory(source: &Source, object: &[u8]) -> Option<String> {
    let texts: Vec<_> = source.files.iter().map(|file| file.text()).collect();
    let all_of = |mark: Mark| -> BTreeSet<String> {
        texts
            .iter()
            .flat_map(|text| declared_with(mark, &tokens(text)))
            .collect()
    };
    // A branch of `#if`, or another namespace, may declare the name in another memory space.
    let declared = &all_of(Mark::Constant) - &all_of(Mark::Device);
    if declared.is_empty() {
        return None;
    }
    let found: Vec<(String, u64)> = variables(object)?
        .into_iter()
        .filter(|(name, _)| declared.contains(name))
        .collect();
    let all = found.iter().fold(0_u64, |all, (_, size)| all.saturating_add(*size));
    if all <= MOST_BYTES {
        return None;
    }
    let names: Vec<String> = found
        .iter()
        .map(|(name, size)| format!("`{name}` ({size} bytes)"))
        .collect();
    Some(format!(
        "too much constant memory: {all:#x} bytes, {MOST_BYTES:#x} max, for {} (hint: pass a buffer instead, or declare large tables \
         `__device__`)",
        names.join(", ")
    ))
}

/// The memory space of a variable, as it is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Constant,
    Device,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Mark::Constant => "__constant__",
            Mark::Device => "__device__",
        }
    }
}

/// Returns the names that are declared with a mark. `__device__` next to `__constant__` says no
/// more.
fn declared_with(mark: Mark, tokens: &[Token<'_>]) -> Vec<String> {
    let is = |at: usize, mark: Mark| tokens.get(at).is_some_and(|token| token.text == mark.word());
    let is_marked = |&at: &usize| {
        let is_constant =
            is(at + 1, Mark::Constant) || at.checked_sub(1).is_some_and(|before| is(before, Mark::Constant));
        is(at, mark) && (mark == Mark::Constant || !is_constant)
    };
    let marks = (0..tokens.len()).filter(is_marked);
    marks.flat_map(|at| declarators(&tokens[at + 1..])).collect()
}

/// Returns the names that a declaration declares: each word before a `[`, `=`, `{`, `,` or `;`,
/// outside of brackets.
fn declarators(tokens: &[Token<'_>]) -> Vec<String> {
    let (mut names, mut last, mut is_of_name) = (Vec::new(), None, true);
    let (mut depth, mut angles) = (0_u32, 0_u32);
    for token in tokens {
        if depth + angles == 0 {
            match token.text {
                "[" | "=" | "{" | "," | ";" => names.extend(last.take()),
                // A name in an initializer is not declared.
                word if is_word(word) && is_of_name => last = Some(word.to_owned()),
                _ => {}
            }
        }
        match token.text {
            "=" if depth + angles == 0 => is_of_name = false,
            "," if depth + angles == 0 => is_of_name = true,
            ";" => break,
            "[" | "{" | "(" => depth += 1,
            "]" | "}" | ")" => depth = depth.saturating_sub(1),
            "<" if depth == 0 => angles += 1,
            ">" if depth == 0 => angles = angles.saturating_sub(1),
            _ => {}
        }
    }
    names
}

/// Returns the source names and sizes of the variables of an object.
fn variables(object: &[u8]) -> Option<Vec<(String, u64)>> {
    let header = FileHeader64::<LittleEndian>::parse(object).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, object).ok()?;
    let symbols = sections.symbols(endian, object, SHT_SYMTAB).ok()?;
    let variables = symbols.iter().filter(|symbol| symbol.st_type() == STT_OBJECT);
    let named = variables.filter_map(|symbol| {
        let name = std::str::from_utf8(symbols.symbol_name(endian, symbol).ok()?).ok()?;
        let is_in_a_function = name.starts_with("_ZZ");
        (!is_in_a_function).then(|| (written(name).to_owned(), symbol.st_size(endian)))
    });
    Some(named.collect())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::compilers::tests::source_of;
    use crate::compilers::{Compiler as _, HostCompiler, Wanted};

    fn compiled(text: &str) -> Result<(), String> {
        let cache = tempfile::tempdir().expect("a directory");
        let compiler = HostCompiler::find().expect("a C++ compiler");
        let wanted = Wanted {
            source: &source_of(text),
            names: &["k".to_owned()],
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        };
        compiler.compile(wanted).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn more_constant_memory_than_a_gpu_has_is_refused() {
        let source = |bytes: u32| {
            format!(
                "namespace tables {{ __constant__ float small[1 << 10]; }}\n\
                 static __constant__ const unsigned char one[3] = {{1, 2, 3}}, large[{bytes}] = {{}};\n\
                 __device__ float elsewhere[1 << 16];\n\
                 __global__ void k(float *y) {{ y[0] = tables::small[threadIdx.x] + large[threadIdx.x]; }}\n"
            )
        };
        assert_eq!(compiled(&source(65536 - 4096 - 3)), Ok(()), "64 KiB");
        let refused = compiled(&source(65536 - 4096 - 2)).expect_err("one byte more");
        assert!(
            refused.contains("too much constant memory: 0x10001 bytes, 0x10000 max, for"),
            "{refused}"
        );
        for part in ["`small` (4096 bytes)", "`one` (3 bytes)", "`large` (61438 bytes)"] {
            assert!(refused.contains(part), "{refused}");
        }
        assert!(!refused.contains("elsewhere"), "{refused}");
    }

    #[test]
    fn every_declared_variable_is_found() {
        let text = "__constant__ float weights[64];\nstatic __constant__ const int a = f(1, 2), b[2] = {1, 2};\n\
            extern \"C\" __constant__ Pair<int, long> pairs[N * 2]; __device__ float c[3];\n\
            alignas(16) __constant__ unsigned char bytes[2][3]{};\n";
        let found = declared_with(Mark::Constant, &tokens(text));
        assert_eq!(found, ["weights", "a", "b", "pairs", "bytes"]);
    }

    #[test]
    fn a_name_that_is_also_in_another_memory_space_is_not_counted() {
        let branches = "#define N 32768\n#if N <= 16384\n__constant__ float w[N];\n#else\n__device__ float w[N];\n#endif\n\
            __global__ void k(float *y) { y[0] = w[threadIdx.x]; }\n";
        assert_eq!(compiled(branches), Ok(()));
        let namespaces = "namespace a { __constant__ float w[64]; } namespace b { __device__ float w[1 << 20]; }\n\
            __global__ void k(float *y) { y[0] = a::w[threadIdx.x] + b::w[threadIdx.x]; }\n";
        assert_eq!(compiled(namespaces), Ok(()));
        let in_a_function = "namespace a { __constant__ float w[64]; }\n\
            __device__ float large(int i) { static float w[1 << 20]; w[i] += i; return w[i]; }\n\
            __global__ void k(float *y) { y[0] = a::w[threadIdx.x] + large(threadIdx.x); }\n";
        assert_eq!(compiled(in_a_function), Ok(()));
        let marks = declared_with(
            Mark::Device,
            &tokens("__device__ __constant__ float both[4]; __constant__ __device__ int two;"),
        );
        assert_eq!(marks, Vec::<String>::new());
    }

    #[test]
    fn bytes_that_are_not_an_object_have_no_variables() {
        assert_eq!(variables(b"\x7fELF\x02\x01"), None);
    }
}
