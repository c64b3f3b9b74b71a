//! The headers and options with which a C++ compiler builds CUDA C++ kernels for the CPU device.
//!
//! A translation unit that includes `gpubench/cuda.h` before its kernels and names them with `GB_EXPORT` defines descriptors the CPU
//! device's executor runs; `gpubench/abi.h` documents them.

/// Every header of the shim: its path below an include directory, and its text.
pub const SHIM: &[(&str, &str)] = &[
    ("gpubench/abi.h", include_str!("../shim/gpubench/abi.h")),
    ("gpubench/atomics.h", include_str!("../shim/gpubench/atomics.h")),
    ("gpubench/bits.h", include_str!("../shim/gpubench/bits.h")),
    ("gpubench/cuda.h", include_str!("../shim/gpubench/cuda.h")),
    ("gpubench/export.h", include_str!("../shim/gpubench/export.h")),
    ("gpubench/index.h", include_str!("../shim/gpubench/index.h")),
    ("gpubench/math.h", include_str!("../shim/gpubench/math.h")),
    ("gpubench/qualifiers.h", include_str!("../shim/gpubench/qualifiers.h")),
    ("gpubench/sync.h", include_str!("../shim/gpubench/sync.h")),
    (
        "gpubench/vector_types.h",
        include_str!("../shim/gpubench/vector_types.h"),
    ),
];

/// Options every compiler for the host must get: the language, and what the shim relies on.
pub const REQUIRED_OPTIONS: &[&str] = &[
    "-std=gnu++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-strict-aliasing",
    "-pthread",
];

/// Options a compiler gets if it knows them; without them kernels are slower, but right.
///
/// - Vectorising straight-line code would take the address of the state of a running thread, which then is written for every thread.
/// - TLS descriptors make that state cheap to reach from a library that is loaded.
/// - Unique symbols would share `__shared__` arrays of templates between libraries.
/// - CUDA's functions set no `errno` and raise no floating-point traps.
pub const OPTIONAL_OPTIONS: &[&str] = &[
    "-fno-tree-slp-vectorize",
    "-mtls-dialect=gnu2",
    "-fno-gnu-unique",
    "-fno-extern-tls-init",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fstack-clash-protection",
];

/// Warnings that are normal in kernels, silenced if the compiler knows them.
pub const SILENCED_WARNINGS: &[&str] = &[
    "-Wno-unknown-pragmas",
    "-Wno-unused-function",
    "-Wno-attributes",
    "-Wno-psabi",
];
