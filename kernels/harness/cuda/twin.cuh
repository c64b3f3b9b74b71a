// `gb_twin`: moves the bytes that every kernel of a case must move, and no more. It loads the
// inputs and stores to the outputs. The control worker runs it in place of a call.
#pragma once

#include "work.cuh"

namespace gb {

// The runs of `words` pairs of words that belong to a thread.
GB_RUN uint64_t twin_of_runs(uint64_t *words, uint64_t begin, uint64_t end, uint64_t access, const Share share) {
  uint64_t sum = 0;
#if !defined(__GPUBENCH_CPU__)
  uint4 *runs = (uint4 *)words;
#pragma unroll 4
  for (uint64_t run = begin + share.first; run < end; run += share.step) {
    uint4 found = make_uint4((uint32_t)run, 0, 1, 0);
    if (access & GB_TWIN_READ) found = runs[run];
    sum += (found.x | (uint64_t)found.y << 32) ^ (found.z | (uint64_t)found.w << 32);
    found.x += 1;
    if (access & GB_TWIN_WRITE) runs[run] = found;
  }
#else
  constexpr uint64_t RUN = GB_RUN_BYTES / 16;
  for (uint64_t first = begin + share.first * RUN; first < end; first += share.step * RUN) {
    const uint64_t last = 2 * least(first + RUN, end);
    if (access & GB_TWIN_READ) {
      for (uint64_t i = 2 * first; i < last; ++i) sum += words[i];
    }
    if (access & GB_TWIN_WRITE) {
      for (uint64_t i = 2 * first; i < last; ++i) words[i] = i;
    }
  }
#endif
  return sum;
}

}  // namespace gb

GB_KERNEL(4) gb_twin(gb_twin_args a) {
  gb::after_earlier_work();
  const gb::Share share = gb::share_of_thread();
  uint64_t sum = 0;
  GB_ONE_BY_ONE
  for (uint64_t i = 0; i < a.count; ++i) {
    const gb_twin_buffer &buffer = a.buffers[i];
    const uint64_t runs = buffer.bytes / 16;
    const uint64_t begin = runs / a.parts * a.part + gb::least(a.part, runs % a.parts);
    const uint64_t end = begin + runs / a.parts + (a.part < runs % a.parts);
    sum += gb::twin_of_runs((uint64_t *)buffer.ptr, begin, end, buffer.access, share);
  }
  // True only by an accident that does not happen, which the compiler cannot know. Without a use,
  // it would remove the loads.
  if (sum == 0x6b1d5fd40a2c9e37ull) *(uint64_t *)a.sink = sum;
}
