// `gb_noise` and `gb_noise_check`: keyed noise for memory that must be written (outputs) and memory
// that must not (the redzones around buffers). Byte i is a function of (key, offset + i), so any
// part of a stream can be made or compared on its own.
#pragma once

#include "fold.cuh"
#include "philox.cuh"

namespace gb {

// Makes `n` bytes of noise from any place of the stream, block by block.
GB_INLINE void make_noise(uint64_t key, uint64_t position, uint32_t n, uint8_t *noise) {
  const Stream stream = {key, 0, STREAM_NOISE};
  uint32_t words[4];
  GB_ONE_BY_ONE for (uint32_t i = 0; i < n; ++i) {
    const uint32_t byte = (uint32_t)((position + i) % PHILOX_BYTES);
    if (i == 0 || byte == 0) random_block(stream, (position + i) / PHILOX_BYTES, words);
    noise[i] = (uint8_t)(words[byte / 4] >> (8 * (byte % 4)));
  }
}

// Returns the part of run `run` inside [offset, offset + bytes). Runs are aligned in the stream,
// not in memory.
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

GB_INLINE gb_noise_partial no_noise() { return gb_noise_partial{0, 0, GB_NO_INDEX, GB_NO_INDEX}; }

GB_INLINE void merge_noise(gb_noise_partial &all, const gb_noise_partial &other) {
  all.checked += other.checked;
  all.different += other.different;
  all.first = least(all.first, other.first);
  // Indices are stored plus one, so that zero means none.
  all.last = greatest(all.last + 1, other.last + 1) - 1;
}

// Compares byte by byte: how many differ, and where.
GB_INLINE void describe_noise(const uint8_t *bytes, const uint8_t *noise, uint32_t n, uint64_t place,
                              gb_noise_partial &partial) {
  GB_ONE_BY_ONE for (uint32_t i = 0; i < n; ++i) {
    if (bytes[i] == noise[i]) continue;
    partial.different += 1;
    partial.first = least(partial.first, place + i);
    partial.last = greatest(partial.last + 1, place + i + 1) - 1;
  }
}

#if !defined(__GPUBENCH_CPU__)
GB_RARE void describe_noise_run(const gb_noise_check_args &a, uint64_t run, gb_noise_partial &partial) {
  const StreamPart part = stream_part(a.offset, a.bytes, run);
  const uint64_t place = part.start - a.offset;
  uint8_t noise[GB_RUN_BYTES];
  const uint32_t n = (uint32_t)(part.end - part.start);
  make_noise(a.key, part.start, n, noise);
  partial.checked += n;
  describe_noise((const uint8_t *)a.ptr + place, noise, n, place, partial);
}

GB_INLINE bool is_block(const uint4 found, const uint32_t *words) {
  return ((found.x ^ words[0]) | (found.y ^ words[1]) | (found.z ^ words[2]) | (found.w ^ words[3])) == 0;
}

GB_INLINE void check_noise(const gb_noise_check_args &a, const Share share, gb_noise_partial &partial) {
  const uint64_t runs = stream_runs(a.offset, a.bytes), first_block = a.offset / GB_RUN_BYTES, step = kept(share.step);
  // The whole runs, if loads of a run are aligned.
  const uint64_t first_whole = a.offset % GB_RUN_BYTES != 0;
  const uint64_t whole_end = (a.ptr - a.offset) % GB_RUN_BYTES == 0 ? (a.offset + a.bytes) / GB_RUN_BYTES - first_block : 0;
  const uint4 *const found = (const uint4 *)((const uint8_t *)a.ptr - a.offset) + first_block;
  const Stream stream = {a.key, 0, STREAM_NOISE};
  const RoundKeys keys = RoundKeys::of(stream);
  uint64_t run = share.first;
  if (run < runs && run < first_whole) {
    describe_noise_run(a, run, partial);
    run += step;
  }
  // A counter of its own, so that it stays in a register.
  uint64_t untouched = 0;
  const auto check = [&](uint64_t run, const uint4 loaded) {
    uint32_t words[4];
    keys.block(stream, (uint32_t)((first_block + run) >> 32), (uint32_t)(first_block + run), words);
    if (is_block(loaded, words)) untouched += GB_RUN_BYTES;
    else describe_noise_run(a, run, partial);
  };
  for (; run + step < whole_end; run += 2 * step) {
    // Both loads are in flight together.
    const uint4 one = found[run], other = found[run + step];
    check(run, one);
    check(run + step, other);
  }
  if (run < whole_end) {
    check(run, found[run]);
    run += step;
  }
  for (; run < runs; run += step) describe_noise_run(a, run, partial);
  partial.checked += untouched;
}
#else
GB_RUN void noise_check_run(const gb_noise_check_args &a, uint64_t run, gb_noise_partial &partial) {
  const StreamPart part = stream_part(a.offset, a.bytes, run);
  uint32_t words[BATCH_WORDS];
  random_words(Stream{a.key, 0, STREAM_NOISE}, part.run_start / PHILOX_BYTES, words);
  const uint64_t place = part.start - a.offset;
  const uint8_t *bytes = (const uint8_t *)a.ptr + place;
  const uint32_t skip = (uint32_t)(part.start - part.run_start), n = (uint32_t)(part.end - part.start);
  partial.checked += n;
  if (__builtin_memcmp(bytes, (const uint8_t *)words + skip, n) == 0) return;
  describe_noise(bytes, (const uint8_t *)words + skip, n, place, partial);
}

GB_INLINE void check_noise(const gb_noise_check_args &a, const Share share, gb_noise_partial &partial) {
  const uint64_t runs = stream_runs(a.offset, a.bytes);
  for (uint64_t run = share.first; run < runs; run += share.step) noise_check_run(a, run, partial);
}
#endif

}  // namespace gb

GB_KERNEL(4) gb_noise(gb_noise_args a) {
  gb::after_earlier_work();
  const gb::Share share = gb::share_of_thread();
  const uint64_t runs = gb::stream_runs(a.offset, a.bytes);
  for (uint64_t run = share.first; run < runs; run += share.step) gb::noise_run(a, run);
}

GB_KERNEL(4) gb_noise_check(const __grid_constant__ gb_noise_check_args a) {
  gb::after_earlier_work();
  const gb::Share reporter = gb::share_of_reporter();
  const uint64_t reporters = gb::least(reporter.step, a.partial_count);
  if (reporter.first >= reporters) return;
  gb_noise_partial partial = gb::no_noise();
  gb::check_noise(a, gb::share_among(reporters), partial);
  if (!gb::folded<gb::merge_noise>(partial)) return;
  gb_noise_partial *partials = (gb_noise_partial *)a.partials;
  partials[reporter.first] = partial;
  for (uint64_t idle = reporter.first + reporters; idle < a.partial_count; idle += reporters) partials[idle] = gb::no_noise();
}
