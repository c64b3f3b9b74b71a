//! Sources that NVRTC compiles.

use std::process::Command;
use std::sync::atomic::AtomicBool;

use gpubench::catalog::Source;
use gpubench_device::compilers::{Compiler as _, GpuCompiler, GpuCompilers, Wanted};

use super::tools::{CUDA_12, CUDA_13, compile, has_symbol, names, nvrtc_and_nvcc, nvrtc_in, sass_tools, sm, source};

const SOURCE: &str = "#include \"shared/tile.cuh\"\n\
    namespace image { template <int N> __global__ void blur(float *x) { x[0] = N + tile(); } }\n\
    struct Wide { double a, b; };\n\
    template <class T> __global__ void rotate(T *x) { x[0] = x[1]; }\n\
    __global__ void plain(float *x) { x[0] = 1; }\n\
    extern \"C\" __global__ void by_name(float *x) { x[0] = 1; }\n\
    namespace { __global__ void hidden(float *x) { x[0] = 1; } }\n\
    __constant__ float weights[4];\n";

fn with_tile() -> Source {
    source(&[
        ("src/image.cu", SOURCE),
        (
            "src/shared/tile.cuh",
            "#include \"../../deep.h\"\n__device__ float tile() { return DEEP; }\n",
        ),
        ("deep.h", "#define DEEP 3\n"),
    ])
}

const WANTED: &[&str] = &[
    "image::blur<2>",
    "rotate<Wide>",
    "plain",
    "by_name",
    "hidden",
    "&weights",
];

#[test]
fn kernels_of_every_kind_are_compiled_and_named() {
    for packages in [&*CUDA_12, &*CUDA_13] {
        let image = compile(nvrtc_in(packages), "sm_90", &with_tile(), WANTED).expect("it compiles");
        assert_eq!(image.symbol("image::blur<2>"), "_ZN5image4blurILi2EEEvPf");
        assert_eq!(image.symbol("by_name"), "by_name");
        assert_eq!(image.symbol("&weights"), "weights");
        for name in WANTED {
            assert!(has_symbol(&image, image.symbol(name)), "{name}");
        }
    }
}

#[test]
fn the_assembler_reports_registers_and_spills_of_each_kernel() {
    let text = "template <int N> __global__ void live(volatile float *x) {\n\
        float values[N];\n\
        #pragma unroll\n\
        for (int i = 0; i < N; i++) values[i] = x[i];\n\
        #pragma unroll\n\
        for (int i = 0; i < N; i++) x[i] = values[N - 1 - i];\n}\n";
    let mut limited = source(&[("src/live.cu", text)]);
    limited.options = names(&["--maxrregcount=24", "-Xptxas=-dlcm=cg,-v"]);
    let nvcc = || nvrtc_and_nvcc(&CUDA_13).without_nvrtc();
    for compilers in [nvrtc_in(&CUDA_12), nvrtc_in(&CUDA_13), nvcc()] {
        let image = compile(compilers, "sm_90", &limited, &["live<4>", "live<64>"]).expect("it compiles");
        let report = |name: &str| image.report(name).expect("a report").clone();
        let (few, many) = (report("live<4>"), report("live<64>"));
        assert!(few.registers > 0 && few.spill_stores + few.spill_loads == 0, "{few:?}");
        assert!(
            many.registers == 24 && many.spill_stores > 64 && many.spill_loads > 64,
            "{many:?}"
        );
    }
}

#[test]
fn common_headers_are_available() {
    let habits = "#include <stdint.h>\n#include <cstdint>\n#include <cstddef>\n#include <cmath>\n#include <climits>\n#include <cfloat>\n\
        #include <cassert>\n#include <cstdio>\n#include <cuda_runtime.h>\n\
        __global__ void k(float *x, int64_t n, std::uint32_t m) {\n\
          assert(n > 0); size_t i = m; if (i == INT_MAX) printf(\"%f\", x[0]);\n\
          x[0] = fminf(x[1], FLT_MAX) + INFINITY; cudaGridDependencySynchronize(); cudaTriggerProgrammaticLaunchCompletion(); }\n";
    let toolkit = "#include <cstdint>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cooperative_groups.h>\n#include <cuda_runtime.h>\n\
        #include <cuda/std/array>\n#include <stdint.h>\n#include <mma.h>\n\
        __global__ void k(__half *x, uint64_t n) { cuda::std::array<int, 3> a{1, 2, 3}; cooperative_groups::this_thread_block().sync();\n\
          x[0] = __float2half(a[n]); cudaGridDependencySynchronize(); }\n";
    for packages in [&*CUDA_12, &*CUDA_13] {
        let standard = "#include <cuda.h>\n#if CUDA_VERSION < 12000\n#error old\n#endif\n#include <cstdlib>\n#include <cstring>\n#include <type_traits>\n#include <limits>\n#include <utility>\n\
            template <class T> __device__ T most() { static_assert(std::is_same<T, std::remove_cv_t<const T>>::value); return std::numeric_limits<T>::max(); }\n\
            __global__ void k(float *x, int *y) { x[0] = most<float>(); y[0] = std::move(most<int>()); }\n";
        for text in [habits, toolkit, standard] {
            compile(nvrtc_in(packages), "sm_90", &source(&[("k.cu", text)]), &["k"]).expect("it compiles");
        }
    }
}

#[test]
fn headers_that_nvcc_includes_implicitly_need_no_include() {
    let text =
        "__global__ void k(float *x) { x[0] = M_PI; x[1] = -INFINITY; x[2] = NAN; cudaGridDependencySynchronize(); }\n";
    for packages in [&*CUDA_12, &*CUDA_13] {
        compile(nvrtc_in(packages), "sm_90", &source(&[("k.cu", text)]), &["k"]).expect("it compiles");
    }
}

#[test]
fn headers_in_folders_of_the_package_are_found() {
    let mut wanting = source(&[
        (
            "src/kernels/k.cu",
            "#include \"step.cuh\"\n#include <tile.cuh>\n__global__ void k(int *x) { x[0] = STEP + TILE; }\n",
        ),
        ("src/include/step.cuh", "#define STEP 3\n"),
        ("src/include/tile.cuh", "#define TILE 4\n"),
    ]);
    wanting.options = names(&["-Isrc/include", "-D__CUDA_ARCH__=700"]);
    for packages in [&*CUDA_12, &*CUDA_13] {
        compile(nvrtc_in(packages), "sm_90", &wanting, &["k"]).expect("it compiles");
    }
}

#[test]
fn a_bare_nvrtc_knows_the_headers_that_need_no_toolkit() {
    let bare = tempfile::tempdir().expect("a directory");
    for file in ["libnvrtc.so.12", "libnvrtc-builtins.so.12.9"] {
        let library = CUDA_12.join("nvidia/cuda_nvrtc/lib").join(file);
        std::os::unix::fs::symlink(library, bare.path().join(file)).expect("a link");
    }
    // The tool finds the library through the link, and its headers next to the link's target. A
    // copy has no headers next to it.
    let copied = tempfile::tempdir().expect("a directory");
    for file in ["libnvrtc.so.12", "libnvrtc-builtins.so.12.9"] {
        std::fs::copy(bare.path().join(file), copied.path().join(file)).expect("a copy");
    }
    let text = "#include <stdint.h>\n#include <cmath>\n#include <cassert>\n#include <cuda_runtime.h>\n\
        __global__ void k(float *x, int64_t n) { assert(n); x[0] = sqrtf(n) + INFINITY; cudaGridDependencySynchronize(); }\n";
    compile(nvrtc_in(copied.path()), "sm_90", &source(&[("k.cu", text)]), &["k"]).expect("it compiles");
}

#[test]
fn options_and_features_of_an_architecture_reach_the_compiler() {
    let text = "__global__ void k(float *x) { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\"); x[0] = N; }\n";
    let mut wanting = source(&[("k.cu", text)]);
    wanting.options = names(&["-DN=3", "-arch=sm_90a", "--use_fast_math", "-Xptxas=-v", "-std=c++20"]);
    for packages in [&*CUDA_12, &*CUDA_13] {
        compile(nvrtc_in(packages), "sm_90", &wanting, &["k"]).expect("it compiles");
        let error = compile(nvrtc_in(packages), "sm_80", &wanting, &["k"]).expect_err("it is another");
        assert_eq!(error.to_string(), "`image.cu` is for sm_90a, but this device is sm_80");
    }
}

#[test]
fn a_device_unknown_to_nvrtc_gets_ptx_and_a_notice() {
    let compiler = GpuCompiler::new(sm("sm_150"), nvrtc_in(&CUDA_12));
    assert_eq!(compiler.notices().len(), 1);
    assert!(
        compiler.notices()[0].starts_with("NVRTC 12.9 does not support sm_150: kernels are compiled to PTX for sm_121"),
        "{:?}",
        compiler.notices()
    );
    let plain = source(&[("k.cu", "__global__ void k(float *x) { x[0] = 1; }\n")]);
    let image = compile(nvrtc_in(&CUDA_12), "sm_150", &plain, &["k"]).expect("it compiles");
    let text = String::from_utf8(image.image).expect("a text");
    assert!(text.contains(".target sm_121") && text.ends_with('\0'), "{text}");
    assert_eq!(
        GpuCompiler::new(sm("sm_90"), nvrtc_in(&CUDA_12)).notices(),
        Vec::<String>::new()
    );
}

#[test]
fn an_image_is_cached_for_each_combination_of_its_inputs() {
    let cache = tempfile::tempdir().expect("a directory");
    let plain = source(&[("k.cu", "__global__ void k(float *x) { x[0] = 1; }\n")]);
    let made = |architecture: &str, compilers: &GpuCompilers| {
        let compiler = GpuCompiler::new(sm(architecture), compilers.clone());
        let path = compiler.compile(Wanted {
            source: &plain,
            names: &names(&["k"]),
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        });
        let path = path.expect("it compiles");
        let written = std::fs::metadata(&path)
            .and_then(|data| data.modified())
            .expect("it is there");
        (path, written)
    };
    let (twelve, thirteen) = (nvrtc_in(&CUDA_12), nvrtc_in(&CUDA_13));
    let first = made("sm_90", &twelve);
    assert_eq!(made("sm_90", &twelve), first);
    assert_ne!(made("sm_75", &twelve).0, first.0);
    assert_ne!(made("sm_90", &thirteen).0, first.0);
    // A damaged image is compiled again.
    std::fs::write(&first.0, b"GBKIMG03").expect("it is there");
    assert_ne!(made("sm_90", &twelve).1, first.1);
}

#[test]
fn programs_of_the_toolkit_print_the_code_in_a_compiled_file() {
    let cache = tempfile::tempdir().expect("a directory");
    let text = "template <int N> __global__ void k(float *x) { x[0] = N; }\n";
    let compiler = GpuCompiler::new(sm("sm_90"), nvrtc_in(&CUDA_12));
    let path = compiler.compile(Wanted {
        source: &source(&[("k.cu", text)]),
        names: &names(&["k<3>"]),
        cache: cache.path(),
        interrupt: &AtomicBool::new(false),
        most: None,
    });
    let path = path.expect("it compiles");
    for (program, option) in [("cuobjdump", "-sass"), ("nvdisasm", "--print-line-info")] {
        let output = Command::new(sass_tools().join(program)).arg(option).arg(&path).output();
        let output = output.expect("the program starts");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for part in ["_Z1kILi3EEvPf", "STG.E", "EXIT"] {
            assert!(printed.contains(part), "{program}: {printed}");
        }
    }
}

#[test]
fn an_interrupted_compilation_ends() {
    let cache = tempfile::tempdir().expect("a directory");
    let plain = source(&[("k.cu", "__global__ void k(float *x) { x[0] = 1; }\n")]);
    let compiler = GpuCompiler::new(sm("sm_90"), nvrtc_in(&CUDA_12));
    let error = compiler
        .compile(Wanted {
            source: &plain,
            names: &names(&["k"]),
            cache: cache.path(),
            interrupt: &AtomicBool::new(true),
            most: None,
        })
        .expect_err("it is interrupted");
    assert_eq!(error.to_string(), "interrupted");
    assert_eq!(
        std::fs::read_dir(cache.path()).expect("it is there").count(),
        0,
        "nothing is left"
    );
}
