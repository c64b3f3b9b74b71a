// `gb_flush`: goes through a buffer as large as the last-level cache, so that the timed call starts
// cold.
#pragma once

#include "work.cuh"

namespace gb {

#if !defined(__GPUBENCH_CPU__)
GB_INLINE uint64_t read_share(const uint64_t *words, uint64_t count, const Share share) {
  const uint4 *runs = (const uint4 *)words;
  uint64_t sum = 0;
#pragma unroll 4
  for (uint64_t run = share.first; run < count / 2; run += share.step) {
    const uint4 found = __ldcg(runs + run);
    sum += (found.x | (uint64_t)found.y << 32) ^ (found.z | (uint64_t)found.w << 32);
  }
  return sum;
}

GB_INLINE void write_share(uint64_t *words, uint64_t count, const Share share) {
  uint4 *runs = (uint4 *)words;
  for (uint64_t run = share.first; run < count / 2; run += share.step) runs[run] = make_uint4(0, 0, 1, 0);
}
#else
constexpr uint32_t RUN_WORDS = GB_RUN_BYTES / 8;

GB_RUN uint64_t read_share(const uint64_t *words, uint64_t count, const Share share) {
  uint64_t sum = 0;
  for (uint64_t run = share.first; run < pieces(count, RUN_WORDS); run += share.step) {
    const uint32_t n = (uint32_t)least(RUN_WORDS, count - run * RUN_WORDS);
    for (uint32_t i = 0; i < n; ++i) sum += words[run * RUN_WORDS + i];
  }
  return sum;
}

GB_RUN void write_share(uint64_t *words, uint64_t count, const Share share) {
  for (uint64_t run = share.first; run < pieces(count, RUN_WORDS); run += share.step) {
    const uint32_t n = (uint32_t)least(RUN_WORDS, count - run * RUN_WORDS);
    for (uint32_t i = 0; i < n; ++i) words[run * RUN_WORDS + i] = i;
  }
}
#endif

}  // namespace gb

GB_KERNEL(4) gb_flush(gb_flush_args a) {
  gb::after_earlier_work();
  const gb::Share share = gb::share_of_thread();
  const uint64_t words = a.bytes / 16 * 2;
  uint64_t *buffer = (uint64_t *)a.ptr;
  if (a.kind == GB_FLUSH_WRITE) {
    gb::write_share(buffer, words, share);
  } else if (a.kind == GB_FLUSH_READ) {
    const uint64_t sum = gb::read_share(buffer, words, share);
    // True only by an accident that does not happen, which the compiler cannot know. Without a use,
    // it would remove the loads.
    if (sum == 0x6b1d5fd40a2c9e37ull) *(uint64_t *)a.sink = sum;
  }
}
