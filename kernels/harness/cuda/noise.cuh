// `gb_noise` and `gb_noise_check`: keyed noise for what must be written (outputs) and what must not (the slack behind
// buffers). Byte i is a function of (key, offset + i), so any part of a stream can be made or compared on its own.
#pragma once

#include "philox.cuh"

namespace gb {

// `n` bytes of noise from any place of the stream, block by block.
GB_INLINE void make_noise(uint64_t key, uint64_t position, uint32_t n, uint8_t *noise) {
  const Stream stream = {key, 0, STREAM_NOISE};
  uint32_t words[4];
  GB_ONE_BY_ONE for (uint32_t i = 0; i < n; ++i) {
    const uint32_t byte = (uint32_t)((position + i) % PHILOX_BYTES);
    if (i == 0 || byte == 0) random_block(stream, (position + i) / PHILOX_BYTES, words);
    noise[i] = (uint8_t)(words[byte / 4] >> (8 * (byte % 4)));
  }
}

// Runs are aligned in the stream, not in memory. The part of run `run` inside [offset, offset + bytes).
struct StreamPart {
  uint64_t start;
  uint64_t end;
  uint64_t run_start;
};

GB_INLINE uint64_t stream_runs(uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return 0;
  return (offset + bytes - 1) / GB_RUN_BYTES - offset / GB_RUN_BYTES + 1;
}

GB_INLINE StreamPart stream_part(uint64_t offset, uint64_t bytes, uint64_t run) {
  const uint64_t run_start = (offset / GB_RUN_BYTES + run) * GB_RUN_BYTES;
  const uint64_t end = least(run_start + GB_RUN_BYTES, offset + bytes);
  return StreamPart{run_start < offset ? offset : run_start, end, run_start};
}

GB_RUN void noise_run(const gb_noise_args &a, uint64_t run) {
  const StreamPart part = stream_part(a.offset, a.bytes, run);
  uint32_t words[BATCH_WORDS];
  random_words(Stream{a.key, 0, STREAM_NOISE}, part.run_start / PHILOX_BYTES, words);
  uint8_t *out = (uint8_t *)a.out + (part.start - a.offset);
  const uint32_t skip = (uint32_t)(part.start - part.run_start), n = (uint32_t)(part.end - part.start);
#if !defined(__GPUBENCH_CPU__)
  if (n == GB_RUN_BYTES && ((uint64_t)out & 15) == 0) {
    *(uint4 *)out = make_uint4(words[0], words[1], words[2], words[3]);
    return;
  }
  GB_LANES for (uint32_t i = 0; i < GB_RUN_BYTES; ++i) {
    if (i >= skip && i < skip + n) out[i - skip] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
  }
#else
  __builtin_memcpy(out, (const uint8_t *)words + skip, n);
#endif
}

GB_RUN void noise_check_run(const gb_noise_check_args &a, uint64_t run, gb_noise_partial &partial) {
  const StreamPart part = stream_part(a.offset, a.bytes, run);
  uint32_t words[BATCH_WORDS];
  random_words(Stream{a.key, 0, STREAM_NOISE}, part.run_start / PHILOX_BYTES, words);
  const uint64_t place = part.start - a.offset;
  const uint8_t *bytes = (const uint8_t *)a.ptr + place;
  const uint32_t skip = (uint32_t)(part.start - part.run_start), n = (uint32_t)(part.end - part.start);
  partial.checked += n;
#if defined(__GPUBENCH_CPU__)
  if (__builtin_memcmp(bytes, (const uint8_t *)words + skip, n) == 0) return;
#endif
  GB_EACH(i, n, GB_RUN_BYTES) {
    const uint32_t byte = skip + i;
    if (bytes[i] != (uint8_t)(words[byte / 4] >> (8 * (byte % 4)))) {
      partial.different += 1;
      partial.first = least(partial.first, place + i);
      partial.last = partial.last == GB_NO_INDEX || partial.last < place + i ? place + i : partial.last;
    }
  }
}

}  // namespace gb

extern "C" __global__ void gb_noise(gb_noise_args a) {
  const gb::Share share = gb::share_of_thread();
  const uint64_t runs = gb::stream_runs(a.offset, a.bytes);
  for (uint64_t run = share.first; run < runs; run += share.step) gb::noise_run(a, run);
}

extern "C" __global__ void gb_noise_check(gb_noise_check_args a) {
  const gb::Share share = gb::share_of_thread();
  const uint64_t step = gb::least(share.step, a.partial_count);
  if (share.first >= step) return;
  gb_noise_partial partial = {0, 0, GB_NO_INDEX, GB_NO_INDEX};
  const uint64_t runs = gb::stream_runs(a.offset, a.bytes);
  for (uint64_t run = share.first; run < runs; run += step) gb::noise_check_run(a, run, partial);
  gb_noise_partial *partials = (gb_noise_partial *)a.partials;
  partials[share.first] = partial;
  for (uint64_t idle = share.first + step; idle < a.partial_count; idle += step) {
    partials[idle] = gb_noise_partial{0, 0, GB_NO_INDEX, GB_NO_INDEX};
  }
}
