// How work is divided among threads, the same for every kernel.
//
// The unit is a run: neighbouring elements that one thread handles at once. On a GPU, a run is 16
// bytes, so that the threads of a warp access neighbouring memory. On the CPU device it is 4 KiB,
// which the host compiler turns into vector loops. Runs are assigned by global thread index, so
// every grid is correct, with every block of up to `GB_MOST_THREADS` threads.
#pragma once

#include "gb_harness.h"

#if !defined(__GPUBENCH_CPU__)
#define GB_RUN_BYTES 16u
// The most threads of a block, and the number of such blocks that a multiprocessor must have room
// for.
#define GB_MOST_THREADS 256u
#define GB_KERNEL(blocks) extern "C" __global__ void __launch_bounds__(GB_MOST_THREADS, blocks)
#define GB_INLINE __device__ __forceinline__
#define GB_LAMBDA
// A function that handles one run.
#define GB_RUN static __device__ __forceinline__
// For loops over the terms of a formula, and for loops over the elements of a run, which stay loops
// where they become vector code.
#define GB_UNROLL _Pragma("unroll")
#define GB_LANES _Pragma("unroll")
// Code that rarely runs should be small rather than fast.
#define GB_RARE static __device__ __noinline__
#define GB_ONE_BY_ONE _Pragma("unroll 1")
// A constant trip count and a predicate keep the loop's array in registers.
#define GB_EACH(i, n, most) GB_LANES for (uint32_t i = 0; i < (most); ++i) if (i < (n))
#else
#define GB_RUN_BYTES 4096u
#define GB_KERNEL(blocks) extern "C" __global__ void
#define GB_INLINE inline __attribute__((always_inline))
#define GB_LAMBDA __attribute__((always_inline))
// If the compiler and the C library support it, the code for newer processors is chosen when the
// tool is loaded.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(GB_BASELINE)
#define GB_RUN static __attribute__((noinline, target_clones("avx2", "default")))
#else
#define GB_RUN static __attribute__((noinline))
#endif
#define GB_UNROLL _Pragma("GCC unroll 16")
#define GB_LANES
#define GB_RARE static __attribute__((noinline))
#define GB_ONE_BY_ONE
#define GB_EACH(i, n, most) for (uint32_t i = 0; i < (n); ++i)
#endif

namespace gb {

// A thread's share of `count` runs: it starts at `first` and advances by `step`.
struct Share {
  uint64_t first;
  uint64_t step;
};

GB_INLINE uint64_t block_threads() { return (uint64_t)blockDim.x * blockDim.y * blockDim.z; }

GB_INLINE uint64_t thread_in_block() {
  return threadIdx.x + (uint64_t)blockDim.x * (threadIdx.y + (uint64_t)blockDim.y * threadIdx.z);
}

GB_INLINE Share share_of_block() {
  const uint64_t block = blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z);
  return Share{block, (uint64_t)gridDim.x * gridDim.y * gridDim.z};
}

GB_INLINE Share share_of_thread() {
  const Share block = share_of_block();
  return Share{block.first * block_threads() + thread_in_block(), block.step * block_threads()};
}

// A team: threads that go through a tile together, run by run. On a GPU it is a warp, whose loads
// then cover one piece of memory. Tiles are divided among teams.
#if !defined(__GPUBENCH_CPU__)
constexpr uint32_t TEAM_THREADS = 32;
#else
constexpr uint32_t TEAM_THREADS = 1;
#endif

struct Team {
  Share tiles;
  uint32_t member;
  uint32_t members;
};

// Left-over threads form a team only if there is no other.
GB_INLINE Team team_of(const Share thread) {
  if (thread.step < TEAM_THREADS) return Team{Share{0, 1}, (uint32_t)thread.first, (uint32_t)thread.step};
  const uint64_t teams = thread.step / TEAM_THREADS, team = thread.first / TEAM_THREADS;
  return Team{Share{team < teams ? team : ~0ull, teams}, (uint32_t)(thread.first % TEAM_THREADS), TEAM_THREADS};
}

// The first statement of every kernel. A kernel that was launched with programmatic stream
// serialization may start before the previous kernel has ended; only this orders its reads after
// the stores of that kernel. Without such a launch it waits for nothing.
GB_INLINE void after_earlier_work() {
#if !defined(__GPUBENCH_CPU__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// A number that loops keep in a register. The compiler would otherwise compute it again each time.
// All threads of a warp must call this together.
GB_INLINE uint32_t kept(uint32_t x) {
#if !defined(__GPUBENCH_CPU__)
  // A separate value in each thread.
  asm volatile("shfl.sync.bfly.b32 %0, %0, 0, 0x1f, 0xffffffff;" : "+r"(x));
#endif
  return x;
}

GB_INLINE uint64_t kept(uint64_t x) { return kept((uint32_t)x) | (uint64_t)kept((uint32_t)(x >> 32)) << 32; }

GB_INLINE uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

GB_INLINE uint64_t greatest(uint64_t a, uint64_t b) { return a < b ? b : a; }

GB_INLINE uint64_t pieces(uint64_t whole, uint64_t piece) { return whole / piece + (whole % piece != 0); }

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014, after Stafford's variant 13): a bijection
// on 64 bits.
GB_INLINE uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The n-th number derived from a key.
GB_INLINE uint64_t derived(uint64_t key, uint64_t n) { return mixed(mixed(key + 0x9e3779b97f4a7c15ull) + n * 0x9e3779b97f4a7c15ull); }

GB_INLINE uint64_t word_at(const uint8_t *bytes) {
#if !defined(__GPUBENCH_CPU__)
  if (((uint64_t)bytes & 7) == 0) return *(const uint64_t *)bytes;
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= (uint64_t)bytes[i] << (8 * i);
  return word;
#else
  uint64_t word;
  __builtin_memcpy(&word, bytes, 8);
  return word;
#endif
}

}  // namespace gb
