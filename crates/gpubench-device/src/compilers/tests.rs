//! Sources that do not compile, and their error messages.

mod bad_kernels;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceFile, SourceForm};

use super::{Compiler as _, HostCompiler, KernelBuildError, Wanted};

fn source(files: &[(&str, &str)]) -> Source {
    let file = |&(path, text): &(&str, &str)| SourceFile {
        path: path.into(),
        contents: text.into(),
    };
    Source {
        name: "image.cu".into(),
        form: SourceForm::Cuda,
        files: files.iter().map(file).collect(),
        options: Vec::new(),
    }
}

/// Returns a source of one file.
pub(super) fn source_of(text: &str) -> Source {
    Source {
        name: "a.cu".into(),
        ..source(&[("a.cu", text)])
    }
}

fn compile_in(cache: &Path, source: &Source, names: &[&str]) -> Result<std::path::PathBuf, KernelBuildError> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    HostCompiler::find().expect("a C++ compiler").compile(Wanted {
        source,
        names: &names,
        cache,
        interrupt: &AtomicBool::new(false),
        most: None,
    })
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
fn a_missing_definition_is_reported_once_with_the_users_file() {
    let text = "namespace n { __device__ float elsewhere(float); }\n\
        __device__ float further(float, int);\n\
        __global__ void j(float *x) { x[0] = n::elsewhere(x[1]); }\n\
        __global__ void k(float *x) { x[0] = n::elsewhere(x[1]) + further(x[0], 3); }\n";
    insta::assert_snapshot!(rejection(&[("a.cu", text)], &["j", "k"]), @r"
    could not compile `image.cu` for the CPU device
    a.cu:1: error: `n::elsewhere(float)` is declared but not defined in `image.cu` or its includes
    a.cu:2: error: `further(float, int)` is declared but not defined in `image.cu` or its includes
    ");
}

#[test]
fn the_error_for_an_unknown_kernel_lists_the_existing_ones() {
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

/// Returns the messages about one name of a source with several kernels.
fn rejection_of_name(name: &str) -> String {
    let text = "namespace image {\n\
        template <int N> __global__ void blur(float *x) { static_assert(N < 10, \"too large\"); x[0] = N; }\n\
        template <class T> __global__ void rotate(T *x) { x[0] = __shfl_sync(~0u, x[0], 3); }\n\
        }\n\
        struct Wide { double a, b, c, d, e; };\n\
        __global__ void remainder(float *x) { x[0] = 1; }\n\
        __global__ int answers(float *x) { return 1; }\n\
        __global__ void refers(float *x, const int &n) { x[0] = n; }\n";
    rejection(&[("src/a.cu", text)], &[name]).to_string()
}

#[test]
fn an_error_in_a_name_is_reported_for_the_name() {
    insta::assert_snapshot!(rejection_of_name("image::blur<no_such_radius>"), @r"
    could not compile `image.cu` for the CPU device
    kernel `image::blur<no_such_radius>`: error: 'no_such_radius' was not declared in this scope
    src/a.cu:2: note: `image::blur` is declared here
    ");
    insta::assert_snapshot!(rejection_of_name("image::blur<float>"), @r"
    could not compile `image.cu` for the CPU device
    src/a.cu:2: error: kernel `image::blur<float>`: the template arguments match no declaration or more than one
    ");
    insta::assert_snapshot!(rejection_of_name("image::blur"), @r#"
    could not compile `image.cu` for the CPU device
    src/a.cu:2: error: kernel `image::blur`: it is a template: give its arguments, as in `image::blur<…>`
    src/a.cu:2:34: note: candidate is: 'template<int N> void image::blur(float*)'
        2 | template <int N> __global__ void blur(float *x) { static_assert(N < 10, "too large"); x[0] = N; }
          |                                  ^~~~
    "#);
    insta::assert_snapshot!(rejection_of_name("answers<256>"), @r"
    could not compile `image.cu` for the CPU device
    src/a.cu:7: error: kernel `answers<256>`: it is not a template: write `answers`
    ");
    insta::assert_snapshot!(rejection_of_name("answers"), @r"
    could not compile `image.cu` for the CPU device
    kernel `answers`: error: static assertion failed: a kernel must be a function that returns void
    src/a.cu:7: note: `answers` is declared here
    ");
    insta::assert_snapshot!(rejection_of_name("refers"), @r"
    could not compile `image.cu` for the CPU device
    kernel `refers`: error: static assertion failed: kernel parameters must be values or pointers, not references
    src/a.cu:8: note: `refers` is declared here
    ");
}

#[test]
fn a_kernel_named_like_a_library_function_must_be_renamed() {
    insta::assert_snapshot!(rejection_of_name("remainder"), @r"
    could not compile `image.cu` for the CPU device
    src/a.cu:6: error: kernel `remainder`: its name is overloaded, for example by a C library function; rename the kernel
    ");
}

#[test]
fn an_error_in_an_instantiation_has_the_users_place() {
    insta::assert_snapshot!(rejection_of_name("image::blur<20>"), @r#"
    could not compile `image.cu` for the CPU device
    src/a.cu: In instantiation of 'void image::blur(float*) [with int N = 20]':
    kernel `image::blur<20>`:   required from here
    src/a.cu:2:67: error: static assertion failed: too large
        2 | template <int N> __global__ void blur(float *x) { static_assert(N < 10, "too large"); x[0] = N; }
          |                                                                 ~~^~~~
    src/a.cu:2:67: note: the comparison reduces to '(20 < 10)'
    "#);
    insta::assert_snapshot!(rejection_of_name("image::rotate<Wide>"), @r"
    could not compile `image.cu` for the CPU device
    src/a.cu:3:69:   required from 'void image::rotate(T*) [with T = Wide]'
    kernel `image::rotate<Wide>`:   required from here
    src/a.cu:3:69: error: static assertion failed: a warp exchanges values of at most 32 bytes
    ");
}

#[test]
fn notes_about_generated_files_are_left_out() {
    let text = "__global__ void k(float *x) {\n  atomicAdd(x, \"a\");\n}\n";
    insta::assert_snapshot!(rejection(&[("src/a.cu", text)], &["k"]), @r#"
    could not compile `image.cu` for the CPU device
    src/a.cu: In function 'void k(float*)':
    src/a.cu:2:12: error: no matching function for call to 'atomicAdd(float*&, const char [2])'
        2 |   atomicAdd(x, "a");
          |   ~~~~~~~~~^~~~~~~~
    "#);
}

#[test]
fn a_name_that_does_not_compile_does_not_affect_others() {
    let cache = tempfile::tempdir().expect("a directory");
    let text = "template <int N> __global__ void blur(float *x) { x[0] = N; }\n__global__ void gray(float *x) {}\n";
    let names = ["blur<2>", "blur<none>", "gray", "grey"].map(str::to_owned);
    let compiled = HostCompiler::find()
        .expect("a C++ compiler")
        .compile_separately(Wanted {
            source: &source(&[("a.cu", text)]),
            names: &names,
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        })
        .expect("the source compiles");
    assert!(compiled.library.is_some_and(|library| library.is_file()));
    let rejected: Vec<&str> = compiled.rejected.keys().map(String::as_str).collect();
    assert_eq!(rejected, ["blur<none>", "grey"]);
    assert!(matches!(compiled.rejected["grey"], KernelBuildError::UnknownKernel(_)));
}

#[test]
fn a_missing_kernel_has_a_hint_if_macros_or_an_architecture_may_define_it() {
    let text = "#define OP(NAME, T) \\\nextern \"C\" __global__ void NAME(T *x) { x[0] = T(1); }\n\
        #if __CUDA_ARCH__ >= 800\nOP(one_u8, char)\n#endif\nOP(one_f32, float)\n";
    insta::assert_snapshot!(
        rejection(&[("src/image.cu", text)], &["one_u8"]),
        @"unknown kernel `one_u8`; `image.cu` defines its kernels with macros (hint: code under `#if __CUDA_ARCH__` exists only for some architectures; for the CPU device, define the macro with an option such as `-D__CUDA_ARCH__=800`)"
    );
    let mut shown = source(&[("src/image.cu", text)]);
    shown.options = vec!["-D__CUDA_ARCH__=800".to_owned()];
    let cache = tempfile::tempdir().expect("a directory");
    compile_in(cache.path(), &shown, &["one_u8", "one_f32"]).expect("both are there");
}

#[test]
fn an_error_in_the_source_is_reported_once_for_all_names() {
    let cache = tempfile::tempdir().expect("a directory");
    let text = "template <int N> __global__ void blur(float *x) { x[0] = N; }\nint wrong = true_;\n";
    let names = ["blur<2>", "blur<none>"].map(str::to_owned);
    let error = HostCompiler::find()
        .expect("a C++ compiler")
        .compile_separately(Wanted {
            source: &source(&[("a.cu", text)]),
            names: &names,
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        })
        .expect_err("nothing compiles");
    let text = error.to_string();
    assert!(text.contains("a.cu:2:13: error: 'true_'"), "{text}");
    assert!(!text.contains("blur"), "{text}");
}

#[test]
fn the_c_librarys_clock_and_cudas_both_work() {
    let cache = tempfile::tempdir().expect("a directory");
    let text = "#include <time.h>\n#include <chrono>\n#include <ctime>\n\
        __global__ void k(long long *x) { x[0] = clock64(); x[1] = clock(); x[2] = std::clock(); }\n";
    compile_in(cache.path(), &source(&[("a.cu", text)]), &["k"]).expect("it compiles");
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
    nvcuda::wmma::experimental::precision::b1 bit;
}
"#;
    insta::assert_snapshot!(rejection(&[("src/image.cu", text)], &["gray"]), @r"
    `image.cu` cannot run on the CPU device
      src/image.cu:4: thread block clusters (`__cluster_dims__`)
      src/image.cu:4: textures and surfaces (`cudaTextureObject_t`)
      src/image.cu:6: inline PTX (`asm`)
      src/image.cu:7: a grid-wide barrier (`sync`)
      src/image.cu:8: tensor cores on numbers of 1 or 4 bits (`experimental`)
    (hint: exclude GPU-only code with `#ifndef __GPUBENCH_CPU__`, or skip the benchmark here with `requires(cuda)`)
    ");
}

#[test]
fn generators_other_than_xorwow_are_refused_by_name() {
    let text = "#include <curand_kernel.h>\n__global__ void draw(unsigned *x) {\n  curandStatePhilox4_32_10_t state;\n  \
                curand_init(1, 2, 3, &state);\n  x[0] = curand(&state);\n}\n";
    insta::assert_snapshot!(rejection(&[("src/image.cu", text)], &["draw"]), @r"
    `image.cu` cannot run on the CPU device
      src/image.cu:3: a CUDA toolkit library (`curandStatePhilox4_32_10_t`)
    (hint: exclude GPU-only code with `#ifndef __GPUBENCH_CPU__`, or skip the benchmark here with `requires(cuda)`)
    ");
}

/// A typical file: kernels, and code that allocates, launches and measures.
const WITH_HOST_CODE: &str = r#"#include <cuda_runtime.h>
#include <cuda_profiler_api.h>
#include <cublas_v2.h>
#include <thrust/sort.h>
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
#define CHECK(call) do { cudaError_t error = call; if (error != cudaSuccess) printf("%s", cudaGetErrorString(error)); } while (0)
#define LAUNCH(kernel, n, ...) kernel<<<(n + 255) / 256, 256>>>(__VA_ARGS__)
static cudaGraphExec_t graph;
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
__device__ unsigned lane() { unsigned l; asm("mov.u32 %0, %laneid;" : "=r"(l)); return l; }
__global__ void scale(float *x, int n) { if (ceil_div(n, 2) > 0) x[0] = cg::this_grid().thread_rank() + cg::this_grid().size(); }
__global__ void in_ptx(unsigned *x) { x[0] = lane(); }
__global__ void all_blocks(unsigned *x) { cg::grid_group grid = cg::this_grid(); grid.sync(); x[0] = 1; }
__global__ void nested(float *x) { scale<<<1, 1>>>(x, 1); }
struct Buffer { float *data; cudaStream_t stream; Buffer() { CHECK(cudaMalloc(&data, 4)); } ~Buffer() { cudaFree(data); } };
struct Context { cublasHandle_t handles[4]; void multiply() { cublasSgemm(handles[0], CUBLAS_OP_N); } };
extern "C" void run(cudaGraph_t g, int n) { Buffer b; LAUNCH(scale, n, b.data, n); thrust::sort(b.data, b.data + n); }
template <class T> void host(T) { run(0, 1); scale<<<1, 1, 0, 0>>>(nullptr, 1); }
template void host<int>(int);
int main() { host(1); cudaProfilerStop(); return 0; }
"#;

#[test]
fn host_code_does_not_affect_kernels() {
    let cache = tempfile::tempdir().expect("a directory");
    let source = source(&[("src/image.cu", WITH_HOST_CODE)]);
    compile_in(cache.path(), &source, &["scale"]).expect("it compiles");
    compile_in(cache.path(), &source, &[]).expect("the source itself compiles");
}

#[test]
fn an_unsupported_construct_refuses_only_the_kernels_that_use_it() {
    let cache = tempfile::tempdir().expect("a directory");
    let names = ["scale", "in_ptx", "all_blocks", "nested"].map(str::to_owned);
    let compiled = HostCompiler::find()
        .expect("a C++ compiler")
        .compile_separately(Wanted {
            source: &source(&[("src/image.cu", WITH_HOST_CODE)]),
            names: &names,
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        })
        .expect("the source compiles");
    assert!(compiled.library.is_some_and(|library| library.is_file()));
    let first_of = |error: &KernelBuildError| error.to_string().lines().nth(1).unwrap_or_default().trim().to_owned();
    let rejected: Vec<String> = compiled
        .rejected
        .iter()
        .map(|(name, error)| format!("{name}: {}", first_of(error)))
        .collect();
    insta::assert_snapshot!(rejected.join("\n"), @r"
    all_blocks: src/image.cu:15: a grid-wide barrier (`sync`)
    in_ptx: src/image.cu:12: inline PTX (`asm`)
    nested: src/image.cu:16: a launch from a kernel (`<<<`)
    ");
}

#[test]
fn errors_keep_their_places_when_host_code_is_removed() {
    let text = "void f() { cudaFree(0); }\n__global__ void k(float *x) {\n  x[0] = wrong;\n}\n";
    insta::assert_snapshot!(rejection(&[("k.cu", text)], &["k"]), @r"
    could not compile `image.cu` for the CPU device
    k.cu: In function 'void k(float*)':
    k.cu:3:10: error: 'wrong' was not declared in this scope
        3 |   x[0] = wrong;
          |          ^~~~~
    ");
}

#[test]
fn launches_in_text_with_unbalanced_brackets_are_counted() {
    let text = "__global__ void k(float *x) { x[0] = 1; }\nvoid f() {\n  k<<<1, 1>>>(0);\n  k<<<1, 2>>>(0);\n  (;\n}\n";
    insta::assert_snapshot!(rejection(&[("k.cu", text)], &["k"]), @r"
    `image.cu` cannot run on the CPU device
      k.cu:3: a launch in a file with unbalanced brackets, where host code cannot be recognized (`<<<`), and 1 more
    (hint: exclude GPU-only code with `#ifndef __GPUBENCH_CPU__`, or skip the benchmark here with `requires(cuda)`)
    ");
}

#[test]
fn a_source_that_preprocessing_makes_too_long_is_refused() {
    let doubled: String = (1..=20)
        .map(|step| format!("#define M{step} M{} M{}\n", step - 1, step - 1))
        .collect();
    let text = format!(
        "#define M0 int_of_sixteen_b;\n{doubled}M20\nvoid host() {{ gray<<<1, 1>>>(0); }}\n__global__ void gray(float *x) {{}}\n"
    );
    let error = rejection(&[("a.cu", &text)], &["gray"]).to_string();
    assert!(
        error.starts_with("preprocessing expands `image.cu` to more than 16 MiB, which is too much to analyze (hint: "),
        "{error}"
    );
}

#[test]
fn objects_have_a_size_limit() {
    let text = "__device__ char big[300 << 20] = {1};\n__global__ void gray(char *x) { x[0] = big[1]; }\n";
    let error = rejection(&[("a.cu", text)], &["gray"]).to_string();
    assert!(error.contains("File too large"), "{error}");
}

#[test]
fn code_that_the_preprocessor_removes_is_not_refused() {
    let text = "#ifdef __GPUBENCH_CPU__\n#define LANE (threadIdx.x % 32)\n#else\n#define LANE lane()\n\
        __device__ int lane() { int l; asm(\"mov.u32 %0, %laneid;\" : \"=r\"(l)); return l; }\n#endif\n\
        __global__ void k(int *x) { x[0] = LANE; }\n";
    let cache = tempfile::tempdir().expect("a directory");
    compile_in(cache.path(), &source(&[("k.cu", text)]), &["k"]).expect("the assembly is not compiled");
}

#[test]
fn refusals_keep_their_lines_after_preprocessing() {
    let text = "#ifdef NEVER\nasm(\"\");\n#endif\n\n__global__ void k(int *x) {\n  asm(\"exit;\");\n}\n";
    insta::assert_snapshot!(rejection(&[("k.cu", text)], &["k"]), @r"
    `image.cu` cannot run on the CPU device
      k.cu:6: inline PTX (`asm`)
    (hint: exclude GPU-only code with `#ifndef __GPUBENCH_CPU__`, or skip the benchmark here with `requires(cuda)`)
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
        @"the path of the kernel source file `/etc/k.cu` is not relative"
    );
}

#[test]
fn a_library_is_built_once_per_set_of_inputs() {
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
    other.files[0].contents.push(b'\n');
    assert_ne!(compile_in(cache.path(), &other, &["k"]).expect("it compiles"), library);
}

#[test]
fn an_unwritable_cache_is_an_error() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let error =
        compile_in(file.path(), &source(&[("k.cu", "__global__ void k() {}")]), &["k"]).expect_err("no directory");
    assert!(
        matches!(error, KernelBuildError::Io { action: "create", .. }),
        "{error}"
    );
}

#[test]
fn a_damaged_library_in_the_cache_is_compiled_again() {
    let cache = tempfile::tempdir().expect("a directory");
    let source = source(&[("a.cu", "__global__ void gray(float *x) { x[0] = 1; }\n")]);
    let library = compile_in(cache.path(), &source, &["gray"]).expect("it compiles");
    let good = std::fs::read(&library).expect("it is there");
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for damaged in [&good[..good.len() / 2], &flipped, b""] {
        std::fs::write(&library, damaged).expect("it can be damaged");
        let again = compile_in(cache.path(), &source, &["gray"]).expect("it compiles");
        assert_eq!(again, library);
        assert!(std::fs::read(&library).expect("it is there") == good);
    }
    // An intact file is not compiled again.
    let written = || {
        std::fs::metadata(&library)
            .and_then(|metadata| metadata.modified())
            .expect("it is there")
    };
    let before = written();
    compile_in(cache.path(), &source, &["gray"]).expect("it is there");
    assert_eq!(written(), before);
}

/// Messages and libraries end up in records and archives, which are published.
#[test]
fn a_source_can_quote_no_file_that_is_not_its_own_or_a_toolkits() {
    if gpubench_sandbox::FileClosing::here() == gpubench_sandbox::FileClosing::Missing {
        return;
    }
    const SECRET: &str = "correct_horse_battery_staple";
    let folder = tempfile::tempdir().expect("a directory");
    let secret = folder.path().join("secret");
    std::fs::write(&secret, SECRET).expect("a file");
    let secret = secret.display();
    let environment = "/proc/self/environ";
    let kernel = "__global__ void k(float *x) { x[0] = 1; }\n";
    for (quoting, path) in [
        (format!("#include \"{secret}\"\n"), secret.to_string()),
        (format!("#include <{environment}>\n"), environment.to_owned()),
        ("#include \"/etc/shadow\"\n".to_owned(), "/etc/shadow".to_owned()),
        ("#include \"/dev/zero\"\n".to_owned(), "/dev/zero".to_owned()),
        ("#include \"/dev/urandom\"\n".to_owned(), "/dev/urandom".to_owned()),
        (
            format!("#define CAT(a, b) a##b\nCAT(__as, m__)(\".incbin \\\"{secret}\\\"\");\n"),
            secret.to_string(),
        ),
        (
            format!("#define CAT(a, b) a##b\nCAT(__as, m__)(\".include \\\"{secret}\\\"\");\n"),
            secret.to_string(),
        ),
    ] {
        let cache = tempfile::tempdir().expect("a directory");
        let text = match compile_in(
            cache.path(),
            &source(&[("a.cu", &format!("{quoting}{kernel}"))]),
            &["k"],
        ) {
            Err(error) => {
                assert!(matches!(error, KernelBuildError::Compile { .. }), "{path}: {error}");
                error.to_string()
            }
            // No kernel needs the assembly, so it is left out.
            Ok(library) => String::from_utf8_lossy(&std::fs::read(library).expect("it is there")).into_owned(),
        };
        assert!(!text.contains(SECRET) && !text.contains("HOME="), "{path}: {text}");
    }
}
