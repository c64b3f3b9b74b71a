// `gb_lines`: decoys. Some cache lines of an input, chosen by a keyed permutation, hold other
// contents until just before the call. `gb_reveal` restores the true lines with the same key, in
// all inputs with one launch.
#pragma once

#include "permutation.cuh"
#include "stamp.cuh"

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

GB_INLINE void copy_lines(const gb_lines_args &a, const Share share) {
  if (a.bytes == 0) return;
  const uint64_t total = pieces(a.bytes, LINE_BYTES);
  const Permutation order = permutation_of(total, a.key);
  const uint64_t parts = least(a.lines, total) * LINE_PARTS;
  for (uint64_t k = share.first; k < parts; k += share.step) {
    const uint64_t line = permuted(order, k / LINE_PARTS);
    const uint64_t start = line * LINE_BYTES + k % LINE_PARTS * PART_BYTES;
    if (start >= a.bytes) continue;
    copy_bytes((uint8_t *)a.target + start, (const uint8_t *)a.source + start, least(PART_BYTES, a.bytes - start));
  }
}

}  // namespace gb

GB_KERNEL(4) gb_lines(gb_lines_args a) {
  gb::after_earlier_work();
  gb::copy_lines(a, gb::share_of_thread());
}

GB_KERNEL(4) gb_reveal(gb_reveal_args a) {
  gb::after_earlier_work();
  const gb::Share share = gb::share_of_thread();
  if (share.first == 0 && a.out != 0) *(volatile uint64_t *)a.out = gb::device_clock();
  GB_ONE_BY_ONE
  for (uint64_t buffer = 0; buffer < a.count; ++buffer) gb::copy_lines(a.buffers[buffer], share);
}
