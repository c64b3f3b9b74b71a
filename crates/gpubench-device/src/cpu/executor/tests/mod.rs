//! CUDA C++ kernels, compiled and run by a pool.

mod arithmetic;
mod dynamic_shared;
mod faults;
mod generators;
mod grids;
mod instructions;
mod language;
mod lines;
mod matrices;
mod random;
mod semantics;
mod static_shared;

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceFile, SourceForm};

use super::{Kernel, KernelFault, LaunchShape, Module, Pool, ScheduleSeed};
use crate::compilers::{Compiler as _, HostCompiler, KernelBuildError, Wanted};

static COMPILER: LazyLock<HostCompiler> = LazyLock::new(|| HostCompiler::find().expect("a C++ compiler"));
static CACHE: LazyLock<PathBuf> = LazyLock::new(|| {
    let executable = std::env::current_exe().expect("the path of this test");
    executable.with_file_name("executor-test-kernels")
});

pub(super) fn source(text: &str) -> Source {
    let file = SourceFile {
        path: "kernels/test.cu".into(),
        contents: text.into(),
    };
    Source {
        name: "test.cu".into(),
        form: SourceForm::Cuda,
        files: vec![file],
        options: Vec::new(),
    }
}

pub(super) fn build(text: &str, names: &[&str]) -> Result<Module, KernelBuildError> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let library = COMPILER.compile(Wanted {
        source: &source(text),
        names: &names,
        cache: &CACHE,
        interrupt: &AtomicBool::new(false),
        most: None,
    })?;
    // SAFETY: the library was built from this test's source.
    Ok(unsafe { Module::load(&library) }.expect("the library loads"))
}

/// Returns the only kernel of a source.
pub(super) fn kernel(text: &str, name: &str) -> Kernel {
    match build(text, &[name]) {
        Ok(module) => module.kernel(name).expect("the kernel is exported"),
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn pool(threads: usize) -> Pool {
    Pool::new(
        NonZeroUsize::new(threads).expect("at least one thread"),
        ScheduleSeed::Natural,
    )
}

pub(super) fn permuted(seed: u64) -> Pool {
    Pool::new(NonZeroUsize::MIN, ScheduleSeed::Permuted(seed))
}

pub(super) fn line(grid: u32, block: u32) -> LaunchShape {
    LaunchShape {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
    }
}

/// Returns the shape with `bytes` bytes of dynamic shared memory.
pub(super) fn requesting(shape: LaunchShape, dynamic_shared: u32) -> LaunchShape {
    LaunchShape {
        dynamic_shared,
        ..shape
    }
}

/// Launches with arguments that are addresses or 32-bit values, in 8 bytes each.
pub(super) fn launch(pool: &Pool, kernel: Kernel, shape: &LaunchShape, arguments: &[u64]) -> Result<(), KernelFault> {
    let pointers: Vec<*const c_void> = arguments.iter().map(|value| std::ptr::from_ref(value).cast()).collect();
    // SAFETY: the tests pass as many values as their kernels take, of at most 8 bytes.
    unsafe { pool.launch(kernel, shape, &pointers) }
}

pub(super) fn address<T>(values: &mut [T]) -> u64 {
    values.as_mut_ptr() as u64
}

/// Runs a kernel of one thread that counts its failed checks, and expects none.
pub(super) fn expect_checks(headers: &str, body: &str) {
    let text = format!(
        "{headers}\n#define CHECK(c) do {{ if (!(c)) {{ out[1] = __LINE__; out[0]++; }} }} while (0)\n\
         __global__ void checks(int *out) {{\n#line 1\n{body}\n}}\n"
    );
    let mut out = [0, 0];
    launch(&pool(1), kernel(&text, "checks"), &line(1, 1), &[address(&mut out)]).expect("no fault");
    assert_eq!(out, [0, 0], "number of failed checks, and the line of the last");
}
