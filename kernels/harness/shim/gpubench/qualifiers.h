/* CUDA's qualifiers in host C++. */
#pragma once

#define __CUDACC__ 1
#define __CUDA_ARCH_LIST__ 0
#define __GPUBENCH_CPU__ 1

/* The tool asks for marks where it takes a source apart. */
#ifdef GB_MARKED
#define __global__ gb_mark_global
#define __device__ gb_mark_device
#else
#define __global__
#define __device__
#endif
#define __host__
/* The tool writes constants before a run. It finds them by name, and the compiler must not
 * assume their values. */
#define __constant__ __attribute__((visibility("default"), used))
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
/* The word is also the name of an attribute, which the standard library's headers write as
 * `__attribute__((__noinline__))`. With the constant, that is an unknown attribute with an
 * argument, which compilers ignore. */
enum { __noinline__ };
#define __noinline__ __attribute__((__noinline__))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __device_builtin__
#define CUDARTAPI

/* A block runs on one OS thread, so shared memory of a block is memory of an OS thread. */
#define __shared__ thread_local
