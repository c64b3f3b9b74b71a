// How the findings of threads become a few results. A reporter hands in one result. On a GPU, a
// reporter is a block, whose threads are folded first: the host then reads little, and one atomic
// operation serves many threads. On the CPU device, where blocks have one thread, each thread is a
// reporter.
#pragma once

#include "work.cuh"

namespace gb {

// The index of this reporter.
GB_INLINE Share share_of_reporter() {
#if !defined(__GPUBENCH_CPU__)
  return share_of_block();
#else
  return share_of_thread();
#endif
}

// The share of this thread when only the first `reporters` have work.
GB_INLINE Share share_among(uint64_t reporters) {
#if !defined(__GPUBENCH_CPU__)
  return Share{share_of_thread().first, reporters * block_threads()};
#else
  return Share{share_of_thread().first, reporters};
#endif
}

#if !defined(__GPUBENCH_CPU__)
// The result of the lane at `distance` above this one. Every field is a word.
template <class Result>
GB_INLINE Result from_lane(uint32_t lanes, Result result, uint32_t distance) {
  uint64_t words[sizeof(Result) / 8];
  memcpy(words, &result, sizeof(Result));
  GB_UNROLL for (uint32_t i = 0; i < sizeof(Result) / 8; ++i) words[i] = __shfl_down_sync(lanes, words[i], distance);
  memcpy(&result, words, sizeof(Result));
  return result;
}
#endif

// Folds the results of a reporter's threads with `Merge(Result &, const Result &)`. All of its
// threads must call it. Returns whether this thread has the combined result.
template <auto Merge, class Result>
GB_INLINE bool folded(Result &result) {
#if !defined(__GPUBENCH_CPU__)
  __shared__ Result of_warp[GB_MOST_THREADS / 32];
  const uint32_t threads = (uint32_t)block_threads(), thread = (uint32_t)thread_in_block();
  const uint32_t warp = thread / 32, lane = thread % 32, lanes = (uint32_t)least(32, threads - 32 * warp);
  GB_ONE_BY_ONE for (uint32_t distance = 16; distance > 0; distance /= 2) {
    const Result other = from_lane(0xffffffffu >> (32 - lanes), result, distance);
    if (lane + distance < lanes) Merge(result, other);
  }
  if (lane == 0) of_warp[warp] = result;
  __syncthreads();
  if (thread != 0) return false;
  GB_ONE_BY_ONE for (uint32_t other = 1; other < (threads + 31) / 32; ++other) Merge(result, of_warp[other]);
#else
  (void)result;
#endif
  return true;
}

}  // namespace gb
