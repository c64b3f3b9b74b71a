//! Headers that NVRTC lacks and that kernels include out of habit. They are looked for last: a toolkit's own come first.

/// Types and functions that NVRTC knows without a header, or needs one line for.
const EMPTY: &str = "#pragma once\n";

/// The same types as in CUDA's own C++ library.
const STDINT: &str = "#pragma once
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
#ifndef INT8_MIN
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#endif
";

const CSTDINT: &str = "#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t;
}
";

/// NVRTC knows `size_t` and `ptrdiff_t` by itself.
const STDDEF: &str = "#pragma once
#ifndef NULL
#define NULL 0
#endif
";

const CSTDDEF: &str = "#pragma once
#include <stddef.h>
namespace std { using ::size_t; using ::ptrdiff_t; }
";

const LIMITS: &str = "#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
";

const FLOAT: &str = "#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_EPSILON 1.19209290e-7f
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define DBL_MANT_DIG 53
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
";

const MATH: &str = "#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#endif
#ifndef M_E
#define M_E 2.7182818284590452354
#endif
#ifndef M_LOG2E
#define M_LOG2E 1.4426950408889634074
#endif
#ifndef M_LOG10E
#define M_LOG10E 0.43429448190325182765
#endif
#ifndef M_LN2
#define M_LN2 0.69314718055994530942
#endif
#ifndef M_LN10
#define M_LN10 2.30258509299404568402
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#ifndef M_PI_2
#define M_PI_2 1.57079632679489661923
#endif
#ifndef M_PI_4
#define M_PI_4 0.78539816339744830962
#endif
#ifndef M_1_PI
#define M_1_PI 0.31830988618379067154
#endif
#ifndef M_2_PI
#define M_2_PI 0.63661977236758134308
#endif
#ifndef M_2_SQRTPI
#define M_2_SQRTPI 1.12837916709551257390
#endif
#ifndef M_SQRT2
#define M_SQRT2 1.41421356237309504880
#endif
#ifndef M_SQRT1_2
#define M_SQRT1_2 0.70710678118654752440
#endif
";

/// Programmatic dependent launch, which only toolkits' headers declare.
const DEVICE_RUNTIME: &str = "#pragma once
#if __CUDA_ARCH__ >= 900
static __device__ __forceinline__ void cudaGridDependencySynchronize() { asm volatile(\"griddepcontrol.wait;\" ::: \"memory\"); }
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() { asm volatile(\"griddepcontrol.launch_dependents;\"); }
#else
static __device__ __forceinline__ void cudaGridDependencySynchronize() {}
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {}
#endif
";

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

/// The driver's interface is host code, which NVRTC takes from no toolkit's header; kernels want its version and the type of tensor maps.
const CUDA: &str = "#pragma once
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
";

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
