#pragma once
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
