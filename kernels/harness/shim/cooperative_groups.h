/* Cooperative groups within a block: the block itself, its tiles, and coalesced threads. */
#pragma once
#include "gpubench/cuda.h"

namespace cooperative_groups {

class thread_block {
 public:
  static unsigned int size() { return num_threads(); }
  static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned int thread_rank() { return gb_linear_thread(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }
  static void sync(GB_LINE) { __syncthreads(gb_line); }
};
static inline thread_block this_thread_block() { return {}; }

/* Lanes of a warp that act together; `ranks` maps a rank in the group to a lane. */
template <unsigned int Size>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  static unsigned int mask() { return (Size == 32 ? ~0u : (1u << (Size & 31u)) - 1u) << (gb_lane() & ~(Size - 1u)); }

 public:
  static constexpr unsigned int size() { return Size; }
  static constexpr unsigned int num_threads() { return Size; }
  static unsigned int thread_rank() { return gb_lane() & (Size - 1u); }
  static unsigned int meta_group_rank() { return gb_linear_thread() / Size; }
  static unsigned int meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }
  static void sync(GB_LINE) { __syncwarp(mask(), gb_line); }
  template <class T>
  static T shfl(T v, int rank, GB_LINE) { return __shfl_sync(mask(), v, rank, Size, gb_line); }
  template <class T>
  static T shfl_up(T v, unsigned int delta, GB_LINE) { return __shfl_up_sync(mask(), v, delta, Size, gb_line); }
  template <class T>
  static T shfl_down(T v, unsigned int delta, GB_LINE) { return __shfl_down_sync(mask(), v, delta, Size, gb_line); }
  template <class T>
  static T shfl_xor(T v, int lanes, GB_LINE) { return __shfl_xor_sync(mask(), v, lanes, Size, gb_line); }
  static int any(int predicate, GB_LINE) { return __any_sync(mask(), predicate, gb_line); }
  static int all(int predicate, GB_LINE) { return __all_sync(mask(), predicate, gb_line); }
  static unsigned int ballot(int predicate, GB_LINE) {
    return (__ballot_sync(mask(), predicate, gb_line) & mask()) >> (gb_lane() & ~(Size - 1u));
  }
  template <class T>
  static unsigned int match_any(T v, GB_LINE) {
    return (__match_any_sync(mask(), v, gb_line) & mask()) >> (gb_lane() & ~(Size - 1u));
  }
};
template <unsigned int Size, class Parent>
static inline thread_block_tile<Size> tiled_partition(const Parent &) { return {}; }

class coalesced_group {
  unsigned int lanes;

 public:
  explicit coalesced_group(unsigned int lanes) : lanes(lanes) {}
  unsigned int size() const { return unsigned(__popc(lanes)); }
  unsigned int num_threads() const { return size(); }
  unsigned int thread_rank() const { return unsigned(__popc(lanes & ((1u << gb_lane()) - 1u))); }
  void sync(GB_LINE) const { __syncwarp(lanes, gb_line); }
  template <class T>
  T shfl(T v, unsigned int rank, GB_LINE) const {
    unsigned int left = lanes;
    for (; rank > 0; rank--) left &= left - 1;
    return __shfl_sync(lanes, v, __ffs(int(left)) - 1, 32, gb_line);
  }
  int any(int predicate, GB_LINE) const { return __any_sync(lanes, predicate, gb_line); }
  int all(int predicate, GB_LINE) const { return __all_sync(lanes, predicate, gb_line); }
};
static inline coalesced_group coalesced_threads(GB_LINE) { return coalesced_group(__activemask(gb_line)); }

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <unsigned int Size, class T, class F>
static inline T reduce(const thread_block_tile<Size> &tile, T v, F &&f, GB_LINE) {
  for (unsigned int lanes = Size / 2; lanes > 0; lanes /= 2) v = f(v, tile.shfl_xor(v, int(lanes), gb_line));
  return v;
}

template <class Group>
static inline void sync(const Group &group, GB_LINE) { group.sync(gb_line); }

}  // namespace cooperative_groups
