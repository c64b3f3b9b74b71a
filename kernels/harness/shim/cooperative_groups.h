/* Cooperative groups within a block: the block itself, its tiles, and coalesced threads. The
 * grid group has ranks but no barrier. */
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

 public:
  static unsigned int gb_mask() { return (Size == 32 ? ~0u : (1u << (Size & 31u)) - 1u) << (gb_lane() & ~(Size - 1u)); }
  static constexpr unsigned int size() { return Size; }
  static constexpr unsigned int num_threads() { return Size; }
  static unsigned int thread_rank() { return gb_lane() & (Size - 1u); }
  static unsigned int meta_group_rank() { return gb_linear_thread() / Size; }
  static unsigned int meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }
  static void sync(GB_LINE) { __syncwarp(gb_mask(), gb_line); }
  template <class T>
  static T shfl(T v, int rank, GB_LINE) { return __shfl_sync(gb_mask(), v, rank, Size, gb_line); }
  template <class T>
  static T shfl_up(T v, unsigned int delta, GB_LINE) { return __shfl_up_sync(gb_mask(), v, delta, Size, gb_line); }
  template <class T>
  static T shfl_down(T v, unsigned int delta, GB_LINE) { return __shfl_down_sync(gb_mask(), v, delta, Size, gb_line); }
  template <class T>
  static T shfl_xor(T v, int lanes, GB_LINE) { return __shfl_xor_sync(gb_mask(), v, lanes, Size, gb_line); }
  static int any(int predicate, GB_LINE) { return __any_sync(gb_mask(), predicate, gb_line); }
  static int all(int predicate, GB_LINE) { return __all_sync(gb_mask(), predicate, gb_line); }
  static unsigned int ballot(int predicate, GB_LINE) {
    return (__ballot_sync(gb_mask(), predicate, gb_line) & gb_mask()) >> (gb_lane() & ~(Size - 1u));
  }
  template <class T>
  static unsigned int match_any(T v, GB_LINE) {
    return (__match_any_sync(gb_mask(), v, gb_line) & gb_mask()) >> (gb_lane() & ~(Size - 1u));
  }
};
template <unsigned int Size, class Parent>
static inline thread_block_tile<Size> tiled_partition(const Parent &) { return {}; }

/* A block, or a tile whose size is not known at compile time. */
class thread_group {
  unsigned int tile; /* 0 for a block */

 public:
  explicit thread_group(unsigned int tile) : tile(tile) {}
  thread_group(const thread_block &) : tile(0) {}
  template <unsigned int Size>
  thread_group(const thread_block_tile<Size> &) : tile(Size) {}
  unsigned int size() const { return tile ? tile : thread_block::num_threads(); }
  unsigned int num_threads() const { return size(); }
  unsigned int thread_rank() const { return tile ? gb_lane() & (tile - 1u) : thread_block::thread_rank(); }
  void sync(GB_LINE) const {
    if (!tile) return __syncthreads(gb_line);
    __syncwarp((tile == 32 ? ~0u : (1u << (tile & 31u)) - 1u) << (gb_lane() & ~(tile - 1u)), gb_line);
  }
};
static inline thread_group tiled_partition(const thread_group &, unsigned int size) {
  if (size == 0 || size > 32 || (size & (size - 1))) gb_stop_here(GB_STOP_TRAP, __builtin_LINE());
  return thread_group(size);
}

/* Blocks run in any order and never wait for each other, so a barrier of the grid is refused at
 * the call. */
class grid_group {
 public:
  static unsigned long long size() { return num_threads(); }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long group_size() { return num_blocks(); }
  static unsigned long long block_rank() {
    return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
  }
  static unsigned long long thread_rank() { return block_rank() * thread_block::num_threads() + thread_block::thread_rank(); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
  static bool is_valid() { return false; }
  static void sync(GB_LINE) { gb_stop_here(GB_STOP_TRAP, gb_line); }
};
static inline grid_group this_grid() { return {}; }

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
/* The threads of a group for which `predicate` is the same. */
template <unsigned int Size>
static inline coalesced_group binary_partition(const thread_block_tile<Size> &tile, bool predicate, GB_LINE) {
  const unsigned int votes = __ballot_sync(tile.gb_mask(), predicate, gb_line);
  return coalesced_group(tile.gb_mask() & (predicate ? votes : ~votes));
}
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

template <class T, class F>
static inline T reduce(const coalesced_group &group, T v, F &&f, GB_LINE) {
  T all = group.shfl(v, 0, gb_line);
  for (unsigned int rank = 1; rank < group.size(); rank++) all = f(all, group.shfl(v, rank, gb_line));
  return all;
}

template <class Group>
static inline void sync(const Group &group, GB_LINE) { group.sync(gb_line); }

}  // namespace cooperative_groups
