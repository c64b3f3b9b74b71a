// `gb_flush`: goes through a buffer as large as the last-level cache, so that the call that is timed starts cold.
#pragma once

#include "work.cuh"

namespace gb {

constexpr uint32_t RUN_WORDS = GB_RUN_BYTES / 8;

GB_RUN uint64_t read_run(const uint64_t *words, uint32_t n) {
  uint64_t sum = 0;
  GB_EACH(i, n, RUN_WORDS) sum += words[i];
  return sum;
}

GB_RUN void write_run(uint64_t *words, uint32_t n) {
  GB_EACH(i, n, RUN_WORDS) words[i] = i;
}

}  // namespace gb

extern "C" __global__ void gb_flush(gb_flush_args a) {
  const gb::Share share = gb::share_of_thread();
  const uint64_t words = a.bytes / 16 * 2;
  uint64_t *buffer = (uint64_t *)a.ptr;
  uint64_t sum = 0;
  for (uint64_t run = share.first; run < gb::pieces(words, gb::RUN_WORDS); run += share.step) {
    const uint64_t start = run * gb::RUN_WORDS;
    const uint32_t n = (uint32_t)gb::least(gb::RUN_WORDS, words - start);
    if (a.kind == GB_FLUSH_WRITE) {
      gb::write_run(buffer + start, n);
    } else {
      sum += gb::read_run(buffer + start, n);
    }
  }
  // Never so by accident, and the compiler cannot know: without a use the loads would be left out.
  if (a.kind == GB_FLUSH_READ && sum == 0x6b1d5fd40a2c9e37ull) *(uint64_t *)a.sink = sum;
}
