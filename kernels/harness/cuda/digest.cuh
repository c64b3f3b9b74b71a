// `gb_digest`: the seal of a window and its early check. A keyed sum over words of a bijection of each word, so that the
// order of visiting does not matter and a single changed word always shows; several changed words cancel with a
// probability near 2^-64 for anyone without the key.
#pragma once

#include "permutation.cuh"

namespace gb {

// Word i is masked with base + i * step before it is mixed; both are secrets.
struct Mask {
  uint64_t base;
  uint64_t step;
};

GB_INLINE Mask mask_of(uint64_t key) { return Mask{derived(key, 1), derived(key, 2) | 1}; }

GB_INLINE uint64_t digest_word(uint64_t word, uint64_t mask) {
  uint64_t x = word ^ mask;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull;
  return x ^ (x >> 32);
}

// `n` bytes from `bytes`, whose first word is word `index` of the buffer.
GB_RUN uint64_t digest_run(const uint8_t *bytes, uint32_t n, uint64_t index, const Mask mask) {
  uint64_t sum = 0;
  uint64_t pad = mask.base + index * mask.step;
  const uint32_t words = n / 8;
  GB_EACH(i, words, GB_RUN_BYTES / 8) {
    sum += digest_word(word_at(bytes + 8 * i), pad);
    pad += mask.step;
  }
  if (n % 8 != 0) {
    uint64_t last = 0;
    for (uint32_t i = 8 * words; i < n; ++i) last |= (uint64_t)bytes[i] << (8 * (i % 8));
    sum += digest_word(last, mask.base + (index + words) * mask.step);
  }
  return sum;
}

}  // namespace gb

extern "C" __global__ void gb_digest(gb_digest_args a) {
  if (a.bytes == 0 || a.tile_bytes == 0) return;
  // Volatile: they are written after the launch was queued.
  const volatile gb_digest_keys *keys = (const volatile gb_digest_keys *)a.keys;
  const gb::Mask mask = gb::mask_of(keys->digest);
  const uint64_t total = gb::pieces(a.bytes, a.tile_bytes);
  const gb::Permutation order = gb::permutation_of(total, keys->order);
  const uint64_t tiles = a.tiles == 0 ? total : gb::least(a.tiles, total);
  const uint64_t runs = gb::pieces(a.tile_bytes, GB_RUN_BYTES);
  const gb::Share share = gb::share_of_thread();
  uint64_t sum = 0;
  for (uint64_t k = share.first; k < tiles * runs; k += share.step) {
    const uint64_t tile = gb::permuted(order, k / runs);
    const uint64_t start = tile * a.tile_bytes + k % runs * GB_RUN_BYTES;
    const uint64_t end = gb::least(gb::least(start + GB_RUN_BYTES, (tile + 1) * a.tile_bytes), a.bytes);
    if (start < end) sum += gb::digest_run((const uint8_t *)a.ptr + start, (uint32_t)(end - start), start / 8, mask);
  }
  if (share.first < tiles * runs) atomicAdd((unsigned long long *)a.out, (unsigned long long)sum);
}
