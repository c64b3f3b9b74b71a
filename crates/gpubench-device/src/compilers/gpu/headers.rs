//! Headers that NVRTC lacks but kernels often include. The compiler searches them last, after a
//! toolkit's headers.

/// Headers whose types and functions are built into NVRTC.
const EMPTY: &str = "#pragma once\n";

/// The same types as in CUDA's C++ library.
const STDINT: &str = include_str!("headers/stdint.h");

const CSTDINT: &str = include_str!("headers/cstdint");

/// `size_t` and `ptrdiff_t` are built into NVRTC.
const STDDEF: &str = include_str!("headers/stddef.h");

const CSTDDEF: &str = include_str!("headers/cstddef");

const LIMITS: &str = include_str!("headers/limits.h");

const FLOAT: &str = include_str!("headers/float.h");

const MATH: &str = include_str!("headers/math.h");

/// Programmatic dependent launch, which otherwise only a toolkit's headers declare.
const DEVICE_RUNTIME: &str = include_str!("headers/cuda_device_runtime_api.h");

/// The header with these functions. nvcc includes it implicitly, so sources do not.
const DEVICE_RUNTIME_HEADER: &str = "cuda_device_runtime_api.h";

/// Headers that nvcc includes implicitly, with prefixes of the words that need them.
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

/// Standard headers that CUDA's C++ library has under the same names.
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

/// Headers that work if CUDA's C++ library is installed.
pub(super) const STANDARD_HEADERS: &[(&str, &str)] =
    standard!("array" "functional" "limits" "tuple" "type_traits" "utility");

/// A replacement for the driver API's header. The toolkit's is host code, which NVRTC cannot
/// compile; kernels need only its version and the type of tensor maps.
const CUDA: &str = include_str!("headers/cuda.h");

/// The folder of headers that take precedence over a toolkit's, inside the folder of all headers.
pub(super) const FIRST: &str = "first";

/// The headers in that folder.
pub(super) const FIRST_HEADERS: &[(&str, &str)] = &[("first/cuda.h", CUDA)];

/// The other headers, with the names in `#include`.
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
