//! Headers that NVRTC lacks and that kernels include out of habit. They are looked for last: a
//! toolkit's own come first.

/// Types and functions that NVRTC knows without a header, or needs one line for.
const EMPTY: &str = "#pragma once\n";

/// The same types as in CUDA's own C++ library.
const STDINT: &str = include_str!("headers/stdint.h");

const CSTDINT: &str = include_str!("headers/cstdint");

/// NVRTC knows `size_t` and `ptrdiff_t` by itself.
const STDDEF: &str = include_str!("headers/stddef.h");

const CSTDDEF: &str = include_str!("headers/cstddef");

const LIMITS: &str = include_str!("headers/limits.h");

const FLOAT: &str = include_str!("headers/float.h");

const MATH: &str = include_str!("headers/math.h");

/// Programmatic dependent launch, which only toolkits' headers declare.
const DEVICE_RUNTIME: &str = include_str!("headers/cuda_device_runtime_api.h");

/// Where nvcc is at home, sources need not include what it includes by itself.
const DEVICE_RUNTIME_HEADER: &str = "cuda_device_runtime_api.h";

/// Headers that nvcc includes by itself, and the beginnings of words that a source needs them for.
pub(super) const INCLUDED_BY_NVCC: &[(&str, &[&str])] = &[
    (
        DEVICE_RUNTIME_HEADER,
        &[
            "cudaGridDependencySynchronize",
            "cudaTriggerProgrammaticLaunchCompletion",
        ],
    ),
    (
        "math.h",
        &[
            "INFINITY", "NAN", "HUGE_VAL", "M_E", "M_PI", "M_LN", "M_LOG", "M_SQRT", "M_1_PI", "M_2_",
        ],
    ),
];

/// Of the standard library, what CUDA's has under the same names.
macro_rules! standard {
    ($($name:literal)*) => {
        &[$((
            $name,
            concat!(
                "#pragma once\n#if __has_include(<cuda/std/", $name, ">)\n#include <cuda/std/", $name,
                ">\nnamespace std { using namespace ::cuda::std; }\n#else\n#error \"<", $name,
                "> needs CUDA's C++ library: `pip install nvidia-cuda-cccl`, or that of the CUDA toolkit\"\n#endif\n"
            ),
        )),*]
    };
}

/// Headers that are there where CUDA's C++ library is.
pub(super) const STANDARD_HEADERS: &[(&str, &str)] =
    standard!("array" "functional" "limits" "tuple" "type_traits" "utility");

/// The driver's interface is host code, which NVRTC takes from no toolkit's header; kernels want
/// its version and the type of tensor maps.
const CUDA: &str = include_str!("headers/cuda.h");

/// The folder of headers that go before a toolkit's own, inside of that of all headers.
pub(super) const FIRST: &str = "first";

/// What is in it.
pub(super) const FIRST_HEADERS: &[(&str, &str)] = &[("first/cuda.h", CUDA)];

/// The headers by the names they are included with.
pub(super) const HEADERS: &[(&str, &str)] = &[
    ("stdint.h", STDINT),
    ("cstdint", CSTDINT),
    ("stddef.h", STDDEF),
    ("cstddef", CSTDDEF),
    ("limits.h", LIMITS),
    ("climits", LIMITS),
    ("float.h", FLOAT),
    ("cfloat", FLOAT),
    ("math.h", MATH),
    ("cmath", MATH),
    ("assert.h", EMPTY),
    ("cassert", EMPTY),
    ("stdio.h", EMPTY),
    ("cstdio", EMPTY),
    ("stdlib.h", EMPTY),
    ("cstdlib", EMPTY),
    ("string.h", EMPTY),
    ("cstring", EMPTY),
    ("time.h", EMPTY),
    ("ctime", EMPTY),
    ("cuda_runtime.h", EMPTY),
    ("cuda_runtime_api.h", EMPTY),
    (DEVICE_RUNTIME_HEADER, DEVICE_RUNTIME),
    ("device_launch_parameters.h", EMPTY),
];
