// `gb_digest`: the output digest of a window and its early check. It is a keyed sum over words,
// each passed through a bijection. The order of visits therefore does not matter, and a single
// changed word always shows. Several changed words cancel with a probability near 2^-64 for anyone
// without the key.
#pragma once

#include "fold.cuh"
#include "permutation.cuh"

namespace gb {

// Word i is masked with base + i * step before it is mixed. Both are secret.
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

// Reads `n` bytes from `bytes`, whose first word is word `index` of the buffer.
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

struct Digest {
  uint64_t sum;
};

GB_INLINE void merge_digests(Digest &all, const Digest &other) { all.sum += other.sum; }

#if !defined(__GPUBENCH_CPU__)
constexpr uint32_t LOADS = 8;

// Another kernel may still be writing, so this reads from the level of memory that it writes to.
GB_INLINE uint4 loaded_run(const uint8_t *tile, uint32_t run) { return __ldcg((const uint4 *)tile + run); }

GB_INLINE uint64_t digest_loaded(const uint4 found, uint64_t pad, const Mask mask) {
  return digest_word(found.x | (uint64_t)found.y << 32, pad) + digest_word(found.z | (uint64_t)found.w << 32, pad + mask.step);
}
#endif

// The runs of `bytes` bytes from `start` that belong to a member of a team.
GB_INLINE uint64_t digest_tile(const gb_digest_args &a, uint64_t start, uint64_t bytes, const Team &team, const Mask mask) {
  const uint8_t *tile = (const uint8_t *)a.ptr + start;
  uint64_t sum = 0;
#if !defined(__GPUBENCH_CPU__)
  if (((uint64_t)tile & 15) == 0 && bytes % GB_RUN_BYTES == 0) {
    uint64_t pad = mask.base + (start / 8 + 2 * team.member) * mask.step;
    const uint64_t next = 2 * team.members * mask.step;
    const uint32_t runs = (uint32_t)(bytes / GB_RUN_BYTES);
    uint32_t run = team.member;
    // A member of a warp issues all of its loads in a tile of 4 KiB at once. One at a time, they
    // would not keep the memory busy.
    for (; run + (LOADS - 1) * team.members < runs; run += LOADS * team.members) {
      uint4 found[LOADS];
      GB_UNROLL for (uint32_t i = 0; i < LOADS; ++i) found[i] = loaded_run(tile, run + i * team.members);
      GB_UNROLL for (uint32_t i = 0; i < LOADS; ++i) {
        sum += digest_loaded(found[i], pad, mask);
        pad += next;
      }
    }
    for (; run < runs; run += team.members) {
      sum += digest_loaded(loaded_run(tile, run), pad, mask);
      pad += next;
    }
    return sum;
  }
#endif
  for (uint64_t run = team.member * GB_RUN_BYTES; run < bytes; run += team.members * GB_RUN_BYTES) {
    sum += digest_run(tile + run, (uint32_t)least(GB_RUN_BYTES, bytes - run), (start + run) / 8, mask);
  }
  return sum;
}

#if !defined(__GPUBENCH_CPU__)
// The sum of the blocks that have ended, and their number. The last block leaves zeros for the next
// digest, which waits for it.
__device__ unsigned long long sum_of_blocks;
__device__ unsigned int ended_blocks;
#endif

// The keys at an address. On a GPU they are in host memory, where each read of a warp is a
// transaction on the bus. So one thread of a block reads them.
GB_INLINE gb_digest_keys keys_at(uint64_t address) {
  // Volatile, because they are written after the launch was queued.
  const volatile gb_digest_keys *keys = (const volatile gb_digest_keys *)address;
#if !defined(__GPUBENCH_CPU__)
  __shared__ gb_digest_keys found;
  if (thread_in_block() == 0) found = gb_digest_keys{keys->digest, keys->order};
  __syncthreads();
  return found;
#else
  return gb_digest_keys{keys->digest, keys->order};
#endif
}

// Adds the sum of a reporter to the digest at `out`. On a GPU this may be host memory, where each
// addition is a transaction on the bus. So the blocks add to a variable, and the last adds their
// sum to the digest.
GB_INLINE void report_digest(uint64_t sum, uint64_t out) {
#if !defined(__GPUBENCH_CPU__)
  const unsigned int last = (unsigned int)(share_of_block().step - 1);
  atomicAdd(&sum_of_blocks, (unsigned long long)sum);
  __threadfence();
  if (atomicInc(&ended_blocks, last) != last) return;
  __threadfence();
  sum = atomicExch(&sum_of_blocks, 0ull);
#endif
  if (sum != 0) atomicAdd_system((unsigned long long *)out, (unsigned long long)sum);
}

}  // namespace gb

GB_KERNEL(4) gb_digest(gb_digest_args a) {
  gb::after_earlier_work();
  if (a.bytes == 0 || a.tile_bytes == 0) return;
  const gb_digest_keys keys = gb::keys_at(a.keys);
  const gb::Mask mask = gb::mask_of(keys.digest);
  const uint64_t total = gb::pieces(a.bytes, a.tile_bytes);
  const gb::Permutation order = gb::permutation_of(total, keys.order);
  const uint64_t tiles = a.tiles == 0 ? total : gb::least(a.tiles, total);
  const gb::Team team = gb::team_of(gb::share_of_thread());
  gb::Digest digest = {0};
  for (uint64_t k = team.tiles.first; k < tiles; k += team.tiles.step) {
    const uint64_t start = gb::permuted(order, k) * a.tile_bytes;
    digest.sum += gb::digest_tile(a, start, gb::least(a.tile_bytes, a.bytes - start), team, mask);
  }
  if (gb::folded<gb::merge_digests>(digest)) gb::report_digest(digest.sum, a.out);
}
