// `gb_lines`: decoys. Some cache lines of an input, chosen by a keyed permutation, get other contents until just before
// the call; the same key puts the true ones back.
#pragma once

#include "permutation.cuh"

namespace gb {

constexpr uint64_t LINE_BYTES = 128;
// Threads that share a line.
constexpr uint64_t LINE_PARTS = GB_RUN_BYTES < LINE_BYTES ? LINE_BYTES / GB_RUN_BYTES : 1;
constexpr uint64_t PART_BYTES = LINE_BYTES / LINE_PARTS;

GB_INLINE void copy_bytes(uint8_t *target, const uint8_t *source, uint64_t n) {
#if !defined(__GPUBENCH_CPU__)
  if (n == 16 && (((uint64_t)target | (uint64_t)source) & 15) == 0) {
    *(uint4 *)target = *(const uint4 *)source;
    return;
  }
  for (uint64_t i = 0; i < n; ++i) target[i] = source[i];
#else
  if (n == LINE_BYTES) {
    __builtin_memcpy(target, source, LINE_BYTES);
  } else {
    __builtin_memcpy(target, source, n);
  }
#endif
}

}  // namespace gb

GB_KERNEL(4) gb_lines(gb_lines_args a) {
  gb::after_earlier_work();
  if (a.bytes == 0) return;
  const uint64_t total = gb::pieces(a.bytes, gb::LINE_BYTES);
  const gb::Permutation order = gb::permutation_of(total, a.key);
  const gb::Share share = gb::share_of_thread();
  const uint64_t parts = gb::least(a.lines, total) * gb::LINE_PARTS;
  for (uint64_t k = share.first; k < parts; k += share.step) {
    const uint64_t line = gb::permuted(order, k / gb::LINE_PARTS);
    const uint64_t start = line * gb::LINE_BYTES + k % gb::LINE_PARTS * gb::PART_BYTES;
    if (start >= a.bytes) continue;
    gb::copy_bytes((uint8_t *)a.target + start, (const uint8_t *)a.source + start, gb::least(gb::PART_BYTES, a.bytes - start));
  }
}
