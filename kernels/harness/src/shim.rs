//! The headers and options with which a C++ compiler builds CUDA C++ kernels for the CPU device.
//!
//! A translation unit includes `gpubench/cuda.h` before its kernels and names them with
//! `GB_EXPORT`. That defines the descriptors that the CPU device's executor runs; `gpubench/abi.h`
//! documents them.

/// Every header of the shim: its path below an include directory, and its text.
pub const SHIM: &[(&str, &str)] = &[
    ("assert.h", include_str!("../shim/assert.h")),
    ("builtin_types.h", include_str!("../shim/builtin_types.h")),
    ("cooperative_groups.h", include_str!("../shim/cooperative_groups.h")),
    (
        "cooperative_groups/reduce.h",
        include_str!("../shim/cooperative_groups/reduce.h"),
    ),
    ("cuComplex.h", include_str!("../shim/cuComplex.h")),
    ("cuda.h", include_str!("../shim/cuda.h")),
    ("cuda/std/array", include_str!("../shim/cuda/std/array")),
    ("cuda/std/cfloat", include_str!("../shim/cuda/std/cfloat")),
    ("cuda/std/climits", include_str!("../shim/cuda/std/climits")),
    ("cuda/std/cmath", include_str!("../shim/cuda/std/cmath")),
    ("cuda/std/cstddef", include_str!("../shim/cuda/std/cstddef")),
    ("cuda/std/cstdint", include_str!("../shim/cuda/std/cstdint")),
    ("cuda/std/functional", include_str!("../shim/cuda/std/functional")),
    ("cuda/std/limits", include_str!("../shim/cuda/std/limits")),
    ("cuda/std/tuple", include_str!("../shim/cuda/std/tuple")),
    ("cuda/std/type_traits", include_str!("../shim/cuda/std/type_traits")),
    ("cuda/std/utility", include_str!("../shim/cuda/std/utility")),
    ("cuda_bf16.h", include_str!("../shim/cuda_bf16.h")),
    ("cuda_fp16.h", include_str!("../shim/cuda_fp16.h")),
    ("cuda_fp8.h", include_str!("../shim/cuda_fp8.h")),
    ("cuda_runtime.h", include_str!("../shim/cuda_runtime.h")),
    ("cuda_runtime_api.h", include_str!("../shim/cuda_runtime_api.h")),
    ("curand_kernel.h", include_str!("../shim/curand_kernel.h")),
    (
        "device_atomic_functions.h",
        include_str!("../shim/device_atomic_functions.h"),
    ),
    ("device_functions.h", include_str!("../shim/device_functions.h")),
    (
        "device_launch_parameters.h",
        include_str!("../shim/device_launch_parameters.h"),
    ),
    ("gpubench/abi.h", include_str!("../shim/gpubench/abi.h")),
    ("gpubench/atomics.h", include_str!("../shim/gpubench/atomics.h")),
    ("gpubench/bits.h", include_str!("../shim/gpubench/bits.h")),
    ("gpubench/cuda.h", include_str!("../shim/gpubench/cuda.h")),
    ("gpubench/dpx.h", include_str!("../shim/gpubench/dpx.h")),
    ("gpubench/export.h", include_str!("../shim/gpubench/export.h")),
    ("gpubench/fp8.h", include_str!("../shim/gpubench/fp8.h")),
    ("gpubench/half.h", include_str!("../shim/gpubench/half.h")),
    (
        "gpubench/half_conversions.h",
        include_str!("../shim/gpubench/half_conversions.h"),
    ),
    (
        "gpubench/half_functions.h",
        include_str!("../shim/gpubench/half_functions.h"),
    ),
    ("gpubench/half_pairs.h", include_str!("../shim/gpubench/half_pairs.h")),
    ("gpubench/index.h", include_str!("../shim/gpubench/index.h")),
    ("gpubench/math.h", include_str!("../shim/gpubench/math.h")),
    ("gpubench/qualifiers.h", include_str!("../shim/gpubench/qualifiers.h")),
    ("gpubench/rounding.h", include_str!("../shim/gpubench/rounding.h")),
    ("gpubench/runtime.h", include_str!("../shim/gpubench/runtime.h")),
    ("gpubench/simd.h", include_str!("../shim/gpubench/simd.h")),
    ("gpubench/spaces.h", include_str!("../shim/gpubench/spaces.h")),
    ("gpubench/special.h", include_str!("../shim/gpubench/special.h")),
    ("gpubench/std.h", include_str!("../shim/gpubench/std.h")),
    ("gpubench/sync.h", include_str!("../shim/gpubench/sync.h")),
    (
        "gpubench/vector_types.h",
        include_str!("../shim/gpubench/vector_types.h"),
    ),
    ("host_defines.h", include_str!("../shim/host_defines.h")),
    ("math_constants.h", include_str!("../shim/math_constants.h")),
    ("mma.h", include_str!("../shim/mma.h")),
    (
        "sm_60_atomic_functions.h",
        include_str!("../shim/sm_60_atomic_functions.h"),
    ),
    ("vector_functions.h", include_str!("../shim/vector_functions.h")),
    ("vector_types.h", include_str!("../shim/vector_types.h")),
];

/// Options for every host compiler: the language, and the features that the shim relies on.
pub const REQUIRED_OPTIONS: &[&str] = &[
    "-std=gnu++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-strict-aliasing",
    "-pthread",
];

/// Options for host compilers that know them. Without them kernels are slower but correct.
///
/// - Vectorised straight-line code would take the address of the running thread's state, which
///   would then be written for every thread.
/// - TLS descriptors make that state cheap to reach from a loaded library.
/// - Unique symbols would share the `__shared__` arrays of templates between libraries.
/// - CUDA's functions set no `errno` and raise no floating-point traps.
/// - The number of threads in a block does not follow from the size of a `__shared__` array that
///   they index.
/// - A kernel that stores to null must fault. The compiler must not remove it as unreachable code.
pub const OPTIONAL_OPTIONS: &[&str] = &[
    "-fno-tree-slp-vectorize",
    "-mtls-dialect=gnu2",
    "-fno-gnu-unique",
    "-fno-extern-tls-init",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-aggressive-loop-optimizations",
    "-fno-delete-null-pointer-checks",
    "-fstack-clash-protection",
];

/// Options that silence warnings that are normal in kernels, for compilers that know them.
pub const SILENCED_WARNINGS: &[&str] = &[
    "-Wno-unknown-pragmas",
    "-Wno-unused-function",
    "-Wno-attributes",
    "-Wno-psabi",
];
