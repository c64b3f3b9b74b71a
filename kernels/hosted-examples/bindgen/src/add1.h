// nvcc compares these declarations with the functions in `add1.cu`, and rustc with their calls.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Loads the kernel, so that the first call does not. Returns an error of the CUDA runtime.
int prepare_add1(void);

// Queues `y = x + 1` for `n` elements. Returns an error of the CUDA runtime.
int launch_add1(const float *x, float *y, size_t n, void *stream);

#ifdef __cplusplus
}
#endif
