//! Sources that do not become kernels, and what is said of them.

use std::path::Path;

use gpubench::catalog::{Source, SourceFile};

use super::{HostCompiler, KernelBuildError};

fn source(files: &[(&str, &str)]) -> Source {
    let file = |&(path, text): &(&str, &str)| SourceFile {
        path: path.into(),
        text: text.into(),
    };
    Source {
        name: "image.cu".into(),
        files: files.iter().map(file).collect(),
        options: Vec::new(),
    }
}

fn compile_in(cache: &Path, source: &Source, names: &[&str]) -> Result<std::path::PathBuf, KernelBuildError> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    HostCompiler::find()
        .expect("a C++ compiler")
        .compile(source, &names, cache)
}

fn rejection(files: &[(&str, &str)], names: &[&str]) -> KernelBuildError {
    let cache = tempfile::tempdir().expect("a directory");
    let error = compile_in(cache.path(), &source(files), names).expect_err("the source is rejected");
    let left = std::fs::read_dir(cache.path()).expect("the directory is there").count();
    assert_eq!(left, 0, "nothing is left in the cache");
    error
}

#[test]
fn a_compile_error_names_the_users_file_and_line() {
    let error = rejection(
        &[
            (
                "src/image.cu",
                "#include \"shared/tile.cuh\"\n__global__ void gray(float *x) {\n    x[0] = undeclared;\n}\n",
            ),
            ("src/shared/tile.cuh", "#pragma once\n"),
        ],
        &["gray"],
    );
    let text = error.to_string();
    assert!(matches!(error, KernelBuildError::Compile { .. }), "{text}");
    assert!(
        text.starts_with("could not compile `image.cu` for the CPU device\n"),
        "{text}"
    );
    assert!(text.contains("src/image.cu:3:12: error:"), "{text}");
    assert!(!text.contains("gpubench_unit"), "{text}");
}

#[test]
fn a_compile_error_in_an_included_file_names_that_file() {
    let error = rejection(
        &[
            (
                "src/image.cu",
                "#include \"../shared/tile.cuh\"\n__global__ void gray(float *x) { x[0] = f(); }\n",
            ),
            ("shared/tile.cuh", "__device__ float f() {\n  return wrong;\n}\n"),
        ],
        &["gray"],
    );
    let text = error.to_string();
    assert!(text.contains("shared/tile.cuh:2:10: error:"), "{text}");
}

#[test]
fn an_undefined_device_function_is_a_compile_error() {
    let error = rejection(
        &[(
            "a.cu",
            "__device__ float elsewhere(float);\n__global__ void k(float *x) { x[0] = elsewhere(x[1]); }\n",
        )],
        &["k"],
    );
    assert!(
        error.to_string().contains("undefined reference to `elsewhere(float)'"),
        "{error}"
    );
}

#[test]
fn an_unknown_kernel_is_named_with_those_that_exist() {
    let text = "__global__ void gray(float *) {}\nnamespace f { template <int N> __global__ void blur(float *) {} }\n";
    insta::assert_snapshot!(
        rejection(&[("a.cu", text)], &["grey"]),
        @"unknown kernel `grey`; `image.cu` defines `gray`, `f::blur`"
    );
    insta::assert_snapshot!(
        rejection(&[("a.cu", "int x;")], &["gray<3>"]),
        @"unknown kernel `gray<3>`; `image.cu` defines no kernel"
    );
}

#[test]
fn a_wrong_template_argument_names_the_expression() {
    let text = "template <int N> __global__ void blur(float *) {}\n";
    let error = rejection(&[("a.cu", text)], &["blur<float>"]);
    assert!(error.to_string().contains("kernel `blur<float>`:1"), "{error}");
}

#[test]
fn constructs_that_need_a_gpu_are_refused_by_name() {
    let text = r#"#include <mma.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2) gray(float *x, cudaTextureObject_t image) {
    // asm in a comment is fine
    asm volatile("mov.u32 %0, %laneid;" : "=r"(x[0]));
    cg::this_grid().sync();
    nvcuda::wmma::fragment<float> f;
}
"#;
    insta::assert_snapshot!(rejection(&[("src/image.cu", text)], &["gray"]), @r"
    `image.cu` cannot run on the CPU device
      src/image.cu:1: tensor cores (`include`)
      src/image.cu:4: thread block clusters (`__cluster_dims__`)
      src/image.cu:4: textures and surfaces (`cudaTextureObject_t`)
      src/image.cu:6: inline PTX (`asm`)
      src/image.cu:7: a grid-wide barrier (`this_grid`)
      src/image.cu:8: tensor cores (`nvcuda`)
      src/image.cu:8: tensor cores (`wmma`)
    ");
}

#[test]
fn what_the_preprocessor_takes_away_is_not_refused() {
    let text = "#ifdef __GPUBENCH_CPU__\n#define LANE (threadIdx.x % 32)\n#else\n#define LANE lane()\n\
        __device__ int lane() { int l; asm(\"mov.u32 %0, %laneid;\" : \"=r\"(l)); return l; }\n#endif\n\
        __global__ void k(int *x) { x[0] = LANE; }\n";
    let cache = tempfile::tempdir().expect("a directory");
    compile_in(cache.path(), &source(&[("k.cu", text)]), &["k"]).expect("the assembly is not compiled");
}

#[test]
fn refusals_keep_their_lines_behind_a_preprocessor() {
    let text = "#ifdef NEVER\nasm(\"\");\n#endif\n\n__global__ void k(int *x) {\n  asm(\"exit;\");\n}\n";
    insta::assert_snapshot!(rejection(&[("k.cu", text)], &["k"]), @r"
    `image.cu` cannot run on the CPU device
      k.cu:6: inline PTX (`asm`)
    ");
}

#[test]
fn files_above_the_crate_are_found_and_absolute_ones_refused() {
    let cache = tempfile::tempdir().expect("a directory");
    let climbing = source(&[
        (
            "../../shared/k.cu",
            "#include \"h.cuh\"\n__global__ void k(int *x) { x[0] = SEVEN; }\n",
        ),
        ("../../shared/h.cuh", "#define SEVEN 7\n"),
    ]);
    compile_in(cache.path(), &climbing, &["k"]).expect("the included file is found");
    insta::assert_snapshot!(
        rejection(&[("/etc/k.cu", "")], &["k"]),
        @"the kernel source file `/etc/k.cu` has no relative path"
    );
}

#[test]
fn a_library_is_built_once_for_each_of_what_it_depends_on() {
    let cache = tempfile::tempdir().expect("a directory");
    let first = source(&[(
        "k.cu",
        "#ifndef N\n#define N 1\n#endif\n__global__ void k(int *x) { x[0] = N; }\n",
    )]);
    let library = compile_in(cache.path(), &first, &["k"]).expect("it compiles");
    let written = std::fs::metadata(&library)
        .and_then(|data| data.modified())
        .expect("the library is there");
    assert_eq!(compile_in(cache.path(), &first, &["k"]).expect("it is found"), library);
    assert_eq!(
        std::fs::metadata(&library)
            .and_then(|data| data.modified())
            .expect("still there"),
        written
    );
    let mut other = first.clone();
    other.options.push("-DN=2".into());
    assert_ne!(compile_in(cache.path(), &other, &["k"]).expect("it compiles"), library);
    other.options.clear();
    other.files[0].text.push('\n');
    assert_ne!(compile_in(cache.path(), &other, &["k"]).expect("it compiles"), library);
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let error =
        compile_in(file.path(), &source(&[("k.cu", "__global__ void k() {}")]), &["k"]).expect_err("no directory");
    assert!(
        matches!(error, KernelBuildError::Io { action: "create", .. }),
        "{error}"
    );
}
